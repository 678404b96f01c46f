"""What a GPU would run, on the CPU: no step waits for the device, and without written-out kernels the MLP trains alike.

A program waits for a GPU where it asks for the value of a tensor. Most such operations pass PyTorch's dispatcher
whatever the device; those that on a CPU read the memory and pass nothing are seen where they are called. What neither
shows is `.to(device)` of a tensor that is on the CPU already.
"""

import warnings
from functools import partial

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from localentropy.networks.binary_mlp.network import Shape as BinaryShape
from localentropy.networks.binary_mlp.network import uniform_initialization
from localentropy.networks.binary_mlp.training import train as train_binary
from localentropy.networks.cnn.network import random_cnn
from localentropy.networks.cnn.training import train
from localentropy.networks.mlp.gradient import SquareHinge
from localentropy.networks.mlp.network import Shape, random_orthogonal
from localentropy.networks.mlp.training import train_adam
from tests.generators import generators

WAITING = {
    *("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "bincount", "repeat_interleave"),
    *("unique_dim", "_unique", "_unique2", "unique_consecutive", "unique_dim_consecutive"),
}
CALLS = {torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__array__, torch.Tensor.cpu}
INDEXING = {"index", "index_put", "index_put_", "_unsafe_index", "_unsafe_index_put", "_index_put_impl_"}
MASKS = {torch.bool, torch.uint8}


class Operations(TorchDispatchMode):
    """Counts the operations for whose result a program waits."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        # An index by a mask has as many entries as the mask has ones.
        masked = name in INDEXING and any(index is not None and index.dtype in MASKS for index in args[1])
        self.count += masked or name in WAITING
        return func(*args, **(kwargs or {}))


class Calls(TorchFunctionMode):
    """Counts the calls that fetch values without an operation where the device is the CPU."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        # A device that is passed as such is the images' own; a word is a wish to look.
        self.count += func in CALLS or (func is torch.Tensor.to and args[1:2] == ("cpu",))
        return func(*args, **(kwargs or {}))


class Waits:
    """Counts both inside a block."""

    def __enter__(self):
        self.modes = Calls(), Operations()
        for mode in self.modes:
            mode.__enter__()
        return self

    def __exit__(self, *error):
        for mode in reversed(self.modes):
            mode.__exit__(*error)

    @property
    def count(self):
        return sum(mode.count for mode in self.modes)


@pytest.mark.parametrize(
    "look",
    [
        lambda t: t[0].item(),
        lambda t: bool((t > 0).any()),
        lambda t: t.tolist(),
        lambda t: t.numpy(),
        np.asarray,
        lambda t: t.cpu(),
        lambda t: t.to("cpu"),
        lambda t: t[t > 0],
        lambda t: t.index_put_((t > 0,), torch.zeros(())),
        lambda t: t.__setitem__(t > 0, torch.ones(2)),
        lambda t: torch.equal(t, t + 1),
        lambda t: t.nonzero(),
        lambda t: t.masked_select(t > 0),
        lambda t: t.unique(),
    ],
)
def test_the_counter_sees_what_waits(look):
    values = torch.tensor([1.0, -1.0, 2.0])
    with Waits() as waits:
        look(values)
    assert waits.count


def test_the_counter_sees_nothing_else():
    values, places = torch.tensor([1.0, -1.0, 2.0]), torch.tensor([0, 2])
    with Waits() as waits:
        values[places] = values[places] + 1
        values.masked_fill_(values > 0, 0.0).to(values.device, torch.float64)
    assert waits.count == 0


def cnn_run(optimizer, batch, device="cpu", epochs=8):
    """A training that is ready to be started."""
    random = np.random.default_rng(0)
    images = torch.from_numpy(random.standard_normal((12, 3, 32, 32)).astype(np.float32)).to(device)
    labels = torch.from_numpy(random.integers(0, 10, 12)).to(device)
    start = random_cnn(2, [np.random.default_rng(1), np.random.default_rng(2)])
    return partial(
        train,
        start.to(device),
        images,
        labels,
        optimizer=optimizer,
        learning_rate=1e-3,
        momentum=0.9,
        batch=batch,
        epochs=epochs,
        generators=[np.random.default_rng(3), np.random.default_rng(4)],
    )


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_cnn_waits_once_in_ten_epochs_however_many_batches(optimizer):
    counts = []
    for batch, epochs in ((12, 8), (2, 8), (12, 18)):
        run = cnn_run(optimizer, batch, epochs=epochs)
        with Waits() as waits:
            run()
        counts.append(waits.count)
    # Arguments are looked at before the first epoch. Then every tenth loss is, and the last one.
    assert counts[0] == counts[1] == counts[2] - 1


@pytest.fixture
def without_kernels(monkeypatch):
    monkeypatch.setattr(SquareHinge, "_kernel", SquareHinge._autograd)


def mlp_run(epochs=60, device="cpu"):
    """A training that is ready to be started."""
    random = np.random.default_rng(0)
    inputs = torch.from_numpy(random.standard_normal((200, 10)).astype(np.float32))
    labels = torch.sign(inputs[:, 0] * inputs[:, 1] + 0.1)
    start = random_orthogonal(Shape(10, 8, 3), generators(2))
    return partial(
        train_adam,
        start.to(device),
        inputs.to(device),
        labels.to(device),
        margin=1.0,
        learning_rate=1e-3,
        epochs=epochs,
        smallest_loss=1e-4,
    )


def test_the_mlp_trains_alike_without_kernels(request):
    expected = mlp_run()()
    request.getfixturevalue("without_kernels")
    found = mlp_run()()
    torch.testing.assert_close(found.loss, expected.loss, rtol=1e-4, atol=0)
    for one, two in zip(found.ensemble.weights, expected.ensemble.weights, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-3, atol=1e-4)


@pytest.mark.usefixtures("without_kernels")
def test_the_mlp_waits_once_in_a_hundred_epochs():
    counts = []
    for epochs in (20, 90, 150):
        run = mlp_run(epochs)
        with Waits() as waits:
            run()
        counts.append(waits.count)
    assert counts[0] == counts[1] < counts[2] <= 2 * counts[0]


def binary_run(batch, device="cpu", epochs=25):
    """A training that is ready to be started."""
    random = np.random.default_rng(0)
    inputs = torch.from_numpy(random.choice([-1.0, 1.0], (120, 31)).astype(np.float32)).to(device)
    start = uniform_initialization(BinaryShape(31, 9, 2, 4), generators(2), 0.3)
    return partial(
        train_binary,
        start,
        inputs,
        torch.from_numpy(random.integers(0, 4, 120)).to(device),
        logit_scale=4.0,
        learning_rate=1.0,
        batch=batch,
        epochs=epochs,
        generator=np.random.default_rng(3),
    )


def test_binary_networks_wait_once_in_ten_epochs_however_many_batches():
    counts = []
    for batch, epochs in ((60, 25), (10, 25), (60, 35)):
        run = binary_run(batch, epochs=epochs)
        with Waits() as waits:
            run()
        counts.append(waits.count)
    # Arguments are looked at before the first epoch. Then every tenth epoch is.
    assert counts[0] == counts[1] == counts[2] - 1


def synchronisations(run):
    """How often the host waited for the GPU, as PyTorch itself counts."""
    run()  # what is done once in a process
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing CUDA operation" in str(warning.message) for warning in caught)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU")
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_on_a_gpu_the_cnn_waits_as_often_however_many_batches(optimizer):
    # Counted and not forbidden: the orders of an epoch are copied to the GPU at its begin, which waits.
    few, many = (synchronisations(cnn_run(optimizer, batch, "cuda")) for batch in (12, 2))
    assert 0 < few == many


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU")
def test_on_a_gpu_the_mlp_waits_once_in_a_hundred_epochs():
    few, many, more = (synchronisations(mlp_run(epochs, "cuda")) for epochs in (20, 90, 150))
    assert 0 < few == many < more <= 2 * few


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no GPU")
def test_on_a_gpu_binary_networks_wait_as_often_however_many_batches():
    few, many = (synchronisations(binary_run(batch, "cuda")) for batch in (60, 10))
    assert 0 < few == many
