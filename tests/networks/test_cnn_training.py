"""Training: against torch.nn modules, together or one by one, resuming to the same bits, bfloat16."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from localentropy.errors import ConvergenceError
from localentropy.networks.checkpoint import Checkpoint
from localentropy.networks.cnn.network import random_cnn
from localentropy.networks.cnn.training import train
from tests.generators import generators
from tests.networks.interruption import Interrupted, StopsAt
from tests.networks.same_bits import same_bits
from tests.networks.test_cnn import reference


def networks(count=2, width=2):
    return random_cnn(width, generators(count))


def pictures(count=70):
    """Images of two classes that a few epochs can tell apart: the sign of a stripe pattern."""
    random = np.random.default_rng(7)
    labels = random.integers(0, 2, count)
    stripes = np.sin(np.arange(32) / 2)[None, None, None, :] * (2 * labels - 1)[:, None, None, None]
    images = (random.standard_normal((count, 3, 32, 32)) + stripes).astype(np.float32)
    return torch.from_numpy(images), torch.from_numpy(labels)


def run(start=None, optimizer="sgd", epochs=3, first=100, **options):
    start = networks() if start is None else start
    settings = {"learning_rate": 0.01 if optimizer == "sgd" else 1e-3, "momentum": 0.9, "batch": 32} | options
    orders = generators(start.networks, first)
    return train(start, *pictures(), optimizer=optimizer, epochs=epochs, generators=orders, **settings)


def assert_same_bits(one, two):
    assert same_bits(one.cnn, two.cnn)
    assert torch.equal(one.loss, two.loss)
    assert torch.equal(one.start_overlaps, two.start_overlaps)


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_training_equals_torch_modules(name):
    """Also: a mini-batch of an epoch is the next part of the network's own order."""
    start = networks(1)
    trained = run(start, name, epochs=2)
    images, labels = pictures()
    module = reference(start.to("cpu"), 0)
    for parameter in module.parameters():
        parameter.data = parameter.data.clone()
    kinds = {"sgd": lambda p: torch.optim.SGD(p, 0.01, 0.9), "adam": lambda p: torch.optim.Adam(p, 1e-3)}
    optimizer = kinds[name](module.parameters())
    random = np.random.default_rng(100)
    for _ in range(2):
        for chosen in torch.from_numpy(random.permutation(len(images))).split(32):
            optimizer.zero_grad()
            functional.cross_entropy(module(images[chosen]), labels[chosen]).backward()
            optimizer.step()
    linear = module[-1]
    torch.testing.assert_close(trained.cnn.linear[0], linear.weight, rtol=1e-3, atol=1e-4)
    torch.testing.assert_close(trained.cnn.convolutions[3][0], module[12].weight, rtol=1e-3, atol=1e-4)
    cosine = functional.cosine_similarity(linear.weight.flatten(), start.linear[0].flatten(), dim=0)
    assert trained.start_overlaps[-1, 0, 4].item() == pytest.approx(cosine.item(), abs=1e-5)


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_together_equals_one_by_one(name):
    start = networks(3)
    together = run(start, name)
    for network in range(3):
        alone = run(start.select([network]), name, first=100 + network)
        torch.testing.assert_close(together.loss[:, [network]], alone.loss, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(together.start_overlaps[:, [network]], alone.start_overlaps, rtol=0, atol=1e-3)


def test_loss_falls_and_overlaps_begin_at_one():
    trained = run(epochs=6)
    assert (trained.loss[-1] < 0.5 * trained.loss[0]).all()
    assert (trained.start_overlaps[0] == 1).all()
    assert (trained.start_overlaps[-1] < trained.start_overlaps[1]).all()


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_resuming_gives_the_same_bits_also_after_a_corrupt_checkpoint(name, tmp_path):
    whole = run(optimizer=name, epochs=5)

    def begin():
        with pytest.raises(Interrupted):
            run(optimizer=name, epochs=5, checkpoint=StopsAt(tmp_path / "run", "key", 3))

    begin()
    lines: list[str] = []
    resumed = run(
        optimizer=name, epochs=5, checkpoint=Checkpoint(tmp_path / "run", "key", seconds=1e9, report=lines.append)
    )
    assert_same_bits(resumed, whole)
    assert lines == [f"going on from checkpoint {tmp_path / 'run'}"]
    # The finished state was saved: asked again, nothing is trained.
    again = run(optimizer=name, epochs=5, checkpoint=Checkpoint(tmp_path / "run", "key", seconds=1e9, report=print))
    assert_same_bits(again, whole)

    for file in tmp_path.iterdir():
        file.unlink()
    begin()
    (tmp_path / "run").write_bytes((tmp_path / "run").read_bytes()[:-9])
    lines = []
    resumed = run(
        optimizer=name, epochs=5, checkpoint=Checkpoint(tmp_path / "run", "key", seconds=1e9, report=lines.append)
    )
    assert_same_bits(resumed, whole)
    assert "corrupt" in lines[0] and "going on from" in lines[1] and len(lines) == 2


def test_bfloat16_follows_the_same_curve():
    """Losses of an epoch: the difference of precisions is far below the spread over networks."""
    start = networks(4, width=4)
    full, half = (run(start, epochs=6, precision=precision).loss for precision in ("float32", "bfloat16"))
    assert not torch.equal(full, half)
    spread = full.std(1)
    assert ((full.mean(1) - half.mean(1)).abs() < spread).all()
    assert (full[-1].mean() - half[-1].mean()).abs() < 0.1 * full[0].mean()


def test_divergence_is_an_error():
    with pytest.raises(ConvergenceError, match="CNN"):
        run(learning_rate=1e30, epochs=2)
