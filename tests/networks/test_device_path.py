"""What a GPU would run, on the CPU: no step waits for the device, and without written-out kernels the MLP trains alike.

A program waits for a GPU where it asks for the value of a tensor, which every operation below shows to PyTorch's
dispatcher, whatever the device.
"""

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from localentropy.networks import cnn, cnn_training, mlp, mlp_gradient, mlp_training
from tests.networks.test_cnn import one_thread  # noqa: F401 (a fixture)

WAITING = {"_local_scalar_dense", "nonzero", "masked_select", "unique_dim", "_unique2"}


class Waits(TorchDispatchMode):
    """Counts the operations for whose result a program waits."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func.overloadpacket.__name__ in WAITING
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_the_cnn_waits_once_in_ten_epochs_however_many_batches(optimizer):
    random = np.random.default_rng(0)
    images = torch.from_numpy(random.standard_normal((12, 3, 32, 32)).astype(np.float32))
    labels = torch.from_numpy(random.integers(0, 10, 12))
    counts = []
    for batch in (12, 2):
        start = cnn.standard_initialization(2, [np.random.default_rng(1), np.random.default_rng(2)])
        with Waits() as waits:
            cnn_training.train(
                start,
                images,
                labels,
                optimizer=optimizer,
                learning_rate=1e-3,
                momentum=0.9,
                batch=batch,
                epochs=8,
                generators=[np.random.default_rng(3), np.random.default_rng(4)],
            )
        counts.append(waits.count)
    # The first epoch's loss is looked at, and the last one's.
    assert counts == [2, 2]


@pytest.fixture
def without_kernels(monkeypatch):
    monkeypatch.setattr(mlp_gradient.SquareHinge, "_kernel", mlp_gradient.SquareHinge._autograd)


def mlp_run(epochs=60):
    random = np.random.default_rng(0)
    inputs = torch.from_numpy(random.standard_normal((200, 10)).astype(np.float32))
    labels = torch.sign(inputs[:, 0] * inputs[:, 1] + 0.1)
    start = mlp.random_orthogonal(mlp.Shape(10, 8, 3), [np.random.default_rng(seed) for seed in range(2)])
    return mlp_training.train_adam(start, inputs, labels, margin=1.0, learning_rate=1e-3, epochs=epochs)


def test_the_mlp_trains_alike_without_kernels(request):
    expected = mlp_run()
    request.getfixturevalue("without_kernels")
    found = mlp_run()
    torch.testing.assert_close(found.loss, expected.loss, rtol=1e-4, atol=0)
    for one, two in zip(found.ensemble.weights, expected.ensemble.weights, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-3, atol=1e-4)


@pytest.mark.usefixtures("without_kernels")
def test_the_mlp_waits_once_in_a_hundred_epochs():
    counts = []
    for epochs in (20, 90, 150):
        with Waits() as waits:
            mlp_run(epochs)
        counts.append(waits.count)
    assert counts[0] == counts[1] < counts[2] <= 2 * counts[0]
