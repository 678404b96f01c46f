"""Training: batched against one by one and against torch.optim; stopping; resuming to the same bits."""

from typing import Any

import numpy as np
import pytest
import torch

from localentropy.errors import ConvergenceError, DomainError
from localentropy.networks.checkpoint import Checkpoint
from localentropy.networks.mlp.gradient import SquareHinge
from localentropy.networks.mlp.network import Ensemble, Shape, random_orthogonal
from localentropy.networks.mlp.training import train_adam, train_sgd
from tests.generators import generators
from tests.networks.interruption import Interrupted, StopsAt
from tests.networks.same_bits import same_bits


def networks(width=12, models=4):
    return random_orthogonal(Shape(10, width, 5), generators(models))


def patterns(count=600):
    random = np.random.default_rng(7)
    inputs = random.standard_normal((count, 10)).astype(np.float32)
    labels = np.sign(inputs[:, 0] * inputs[:, 1] + 0.3 * inputs[:, 2])
    return torch.from_numpy(inputs), torch.from_numpy(labels)


def adam(ensemble, count=600, **options):
    settings = {"margin": 1.0, "learning_rate": 1e-3, "epochs": 20, "smallest_loss": 1e-4} | options
    return train_adam(ensemble, *patterns(count), **settings)


def sgd(ensemble, epochs=3, checkpoint=None, learning_rate=0.01):
    inputs, _ = patterns(230)
    coins = np.random.default_rng(5).choice([-1.0, 1.0], (ensemble.networks, 230)).astype(np.float32)
    return train_sgd(
        ensemble,
        inputs,
        torch.from_numpy(coins),
        margin=1.0,
        learning_rate=learning_rate,
        batch=50,
        epochs=epochs,
        generators=generators(ensemble.networks, 100),
        checkpoint=checkpoint,
    )


def assert_close(first, second, tolerance):
    for a, b in zip(first.weights + first.biases, second.weights + second.biases, strict=True):
        assert (a - b).abs().max() <= tolerance


@pytest.mark.parametrize("width", [10, 30])
def test_batched_equals_sequential(width):
    start = networks(width)
    together = adam(start).ensemble
    for model in range(start.networks):
        assert_close(together.select([model]), adam(start.select([model])).ensemble, 1e-5)


def test_adam_equals_torch_optim():
    start = networks(8, 1)
    inputs, labels = patterns()
    linears: list[torch.nn.Linear] = []
    for weight, bias in zip(start.weights, start.biases, strict=True):
        linear = torch.nn.Linear(*reversed(weight.shape[1:]))
        linear.weight.data, linear.bias.data = weight[0].clone(), bias[0].clone()
        linears.append(linear)
    network = torch.nn.Sequential(*(part for linear in linears for part in (linear, torch.nn.ReLU())))[:-1]
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    for _ in range(20):
        optimizer.zero_grad()
        (0.5 * (1 - labels * network(inputs)[:, 0]).clamp_min(0).square().mean()).backward()
        optimizer.step()
    trained = adam(start).ensemble
    for linear, weight, bias in zip(linears, trained.weights, trained.biases, strict=True):
        assert (linear.weight - weight[0]).abs().max() <= 1e-5
        assert (linear.bias - bias[0]).abs().max() <= 1e-5


def test_sgd_batched_equals_sequential():
    start = networks()
    inputs, _ = patterns(230)
    coins = np.random.default_rng(5).choice([-1.0, 1.0], (4, 230)).astype(np.float32)
    together = sgd(start)
    for model in range(4):
        alone = train_sgd(
            start.select([model]),
            inputs,
            torch.from_numpy(coins[[model]]),
            margin=1.0,
            learning_rate=0.01,
            batch=50,
            epochs=3,
            generators=generators(1, 100 + model),
        )
        assert_close(together.select([model]), alone, 1e-5)


def test_training_reaches_zero_errors_and_stops_there():
    start = networks(20)
    trained = adam(start, count=200, epochs=6000)
    inputs, labels = patterns(200)
    assert (trained.ensemble.errors(inputs, labels) == 0).all()
    assert ((trained.loss > 0) & (trained.loss <= 1e-4)).all()
    assert (trained.zero_error_epoch > 0).all()
    assert (trained.zero_error_epoch <= trained.stop_epoch).all()
    assert (trained.stop_epoch < 6000).all()
    stopped = int(trained.stop_epoch.min())
    before = adam(start, count=200, epochs=int(trained.zero_error_epoch.min()) - 1)
    assert (before.zero_error_epoch == -1).all()
    # A network without a gradient stays as it is while others go on.
    first = int(trained.stop_epoch.argmin())
    early = adam(start, count=200, epochs=stopped + 1).ensemble
    assert same_bits(early.select([first]), trained.ensemble.select([first]))


def test_training_may_go_on_until_no_pattern_is_inside_the_margin():
    start, (inputs, labels) = networks(20, models=2), patterns(100)
    trained, earlier = (adam(start, count=100, epochs=9000, smallest_loss=loss) for loss in (0.0, 1e-4))
    assert not trained.loss.any()
    assert ((labels * trained.ensemble(inputs)).amin(1) >= 1.0).all()
    assert ((labels * earlier.ensemble(inputs)).amin(1) < 1.0).all()
    assert (earlier.stop_epoch < trained.stop_epoch).all() and (trained.stop_epoch < 9000).all()
    # The loss is in units of the square of the margin.
    assert (adam(start, count=100, epochs=9000, margin=0.5).loss <= 0.25e-4).all()


def test_sgd_stops_where_nothing_is_left_to_learn():
    start = networks(40, models=2)
    inputs, _ = patterns(40)
    coins = torch.from_numpy(np.random.default_rng(5).choice([-1.0, 1.0], (2, 40)).astype(np.float32))

    def run(epochs):
        settings: dict[str, Any] = {"margin": 1.0, "learning_rate": 0.05, "batch": 20}
        return train_sgd(start, inputs, coins, epochs=epochs, generators=generators(2, 100), **settings)

    enough = run(401)
    assert same_bits(enough, run(501))
    assert not torch.equal(enough.weights[0], run(2).weights[0])
    assert not enough.errors(inputs, coins).any()
    # It stops at the errors: some patterns are still inside the margin.
    assert (coins * enough(inputs)).amin() < 0.5


def test_silent_units_are_counted():
    ensemble = networks(models=2)
    inputs, _ = patterns(100)
    ensemble.weights[2][1, 3:5] = 0.0
    ensemble.biases[2][1, 3:5] = torch.tensor([-1.0, 0.5])
    found = ensemble.silent_units(inputs, block=30)
    assert found[1, 2] > 0
    for model in range(2):
        activations = inputs.T
        for layer in range(5):
            fields = ensemble.weights[layer][model] @ activations + ensemble.biases[layer][model][:, None]
            activations = fields.clamp_min(0)
            assert found[model, layer] == sum(not (unit > 0).any() for unit in fields)


def test_change_of_the_activations():
    ensemble, (inputs, _) = networks(models=2), patterns(100)
    moved = Ensemble(tuple(1.01 * weight for weight in ensemble.weights), tuple(b + 0.02 for b in ensemble.biases))
    found = moved.activation_change(ensemble, inputs, block=30)
    assert found.shape == (2, 5) and (found > 0).all()
    for model in range(2):
        old = new = inputs.T
        for layer in range(5):
            old, new = (
                (of.weights[layer][model] @ h + of.biases[layer][model][:, None]).clamp_min(0)
                for of, h in ((ensemble, old), (moved, new))
            )
            assert found[model, layer].item() == pytest.approx((new - old).norm().item() / old.norm().item(), rel=1e-4)
    assert not ensemble.activation_change(ensemble, inputs).any()
    with pytest.raises(DomainError, match="start: 1 networks"):
        moved.activation_change(networks(models=1), inputs)


def test_divergence_is_an_error():
    with pytest.raises(ConvergenceError, match="MLP"):
        adam(networks(), learning_rate=1e30, epochs=200)
    # Of outputs that are no numbers none is wrong, and such a network has not finished.
    with pytest.raises(ConvergenceError, match="MLP did not converge"):
        sgd(networks(), epochs=60, learning_rate=1.5)


def test_resumed_adam_has_the_same_bits(tmp_path):
    start, path = networks(), tmp_path / "adam"
    whole = adam(start, epochs=40)
    with pytest.raises(Interrupted):
        adam(start, epochs=40, checkpoint=StopsAt(path, "run", 17))
    resumed = adam(start, epochs=40, checkpoint=Checkpoint(path, "run"))
    assert same_bits(whole.ensemble, resumed.ensemble)
    assert torch.equal(whole.loss, resumed.loss)
    assert torch.equal(whole.stop_epoch, resumed.stop_epoch)


def test_resumed_sgd_has_the_same_bits(tmp_path):
    start, path = networks(), tmp_path / "sgd"
    whole = sgd(start, epochs=6)
    with pytest.raises(Interrupted):
        sgd(start, epochs=6, checkpoint=StopsAt(path, "run", 4))
    # The streams of the new process are in their initial state: the checkpoint puts them where they were.
    assert same_bits(whole, sgd(start, epochs=6, checkpoint=Checkpoint(path, "run")))


def test_finished_sgd_is_not_made_again(tmp_path, monkeypatch):
    start, path = networks(), tmp_path / "sgd"
    whole = sgd(start, checkpoint=Checkpoint(path, "run"))
    monkeypatch.delattr(SquareHinge, "__call__")
    assert same_bits(whole, sgd(start, checkpoint=Checkpoint(path, "run")))


def test_outputs_that_are_no_numbers_are_errors():
    start = networks(models=2)
    start.biases[-1][1] = float("nan")
    errors = start.errors(*patterns())
    assert 0 < errors[0] < 1 and errors[1] == 1


def test_a_corrupt_checkpoint_gives_way_to_the_one_before(tmp_path):
    start, path = networks(), tmp_path / "adam"
    whole = adam(start, epochs=40)
    with pytest.raises(Interrupted):
        adam(start, epochs=40, checkpoint=StopsAt(path, "run", 17))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    lines: list[str] = []
    resumed = adam(start, epochs=40, checkpoint=Checkpoint(path, "run", report=lines.append))
    assert same_bits(whole.ensemble, resumed.ensemble)
    assert len(lines) == 2
    assert "corrupt" in lines[0]
    assert lines[1].endswith(".previous")
    assert not any("\n" in line for line in lines)


def test_refuses_margins_out_of_range():
    for margin in (0.0, -1.0, float("nan")):
        with pytest.raises(DomainError, match="margin"):
            adam(networks(), margin=margin)
