"""Binary multilayer perceptrons: BinaryNet against a twin in plain loops and autograd; same bits; symmetries."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from localentropy.errors import DomainError
from localentropy.networks.align import _permuted, _turned
from localentropy.networks.binary_mlp import training
from localentropy.networks.binary_mlp.network import BinaryNetworks, Shape, uniform_initialization
from localentropy.networks.binary_mlp.training import ERROR_BITS, StraightThrough, train
from localentropy.networks.checkpoint import Checkpoint
from localentropy.networks.layers import Layers
from tests.generators import generators
from tests.networks.interruption import Interrupted, StopsAt
from tests.networks.same_bits import same_bits

SHAPE = Shape(inputs=31, width=9, hidden_layers=3, classes=4)
SETTINGS: dict[str, Any] = {"logit_scale": 4.0, "learning_rate": 1.0, "batch": 7}


def start(shape=SHAPE, count=3):
    return uniform_initialization(shape, generators(count), 0.3)


def patterns(count=40, shape=SHAPE):
    random = np.random.default_rng(5)
    inputs = torch.from_numpy(random.choice([-1.0, 1.0], (count, shape.inputs))).float()
    return inputs, torch.from_numpy(random.integers(0, shape.classes, count))


def trained(epochs=30, *, networks=None, seed=9, **more):
    inputs, labels = patterns()
    return train(
        networks or start(), inputs, labels, epochs=epochs, generator=np.random.default_rng(seed), **SETTINGS | more
    )


class Twin:
    """One network, one pattern, one weight at a time."""

    def __init__(self, weights, *, logit_scale, learning_rate, batch):
        self.sizes = [len(weights[0][0]), *(len(layer) for layer in weights)]
        last = len(weights) - 1
        self.scales = [(logit_scale if i == last else 1.0) / math.sqrt(n) for i, n in enumerate(self.sizes[:-1])]
        self.limits = [math.floor(batch * 2**ERROR_BITS / (learning_rate * s)) + 0.5 for s in self.scales]
        self.real = [
            [[math.floor(np.float32(w) * np.float32(limit)) + 0.5 for w in unit] for unit in layer]
            for layer, limit in zip(weights, self.limits, strict=True)
        ]

    def signs(self):
        return [[[1 if w > 0 else -1 for w in unit] for unit in layer] for layer in self.real]

    def pass_through(self, inputs, label):
        """Sums of every layer, and the errors at what leaves it."""
        signs, activations, sums = self.signs(), [list(inputs)], []
        for layer in signs:
            sums.append([sum(w * x for w, x in zip(unit, activations[-1], strict=True)) for unit in layer])
            activations.append([1 if s > 0 else -1 for s in sums[-1]])
        logits = [self.scales[-1] * s for s in sums[-1]]
        weights = [math.exp(x - max(logits)) for x in logits]
        wanted = [w / sum(weights) - (k == label) for k, w in enumerate(weights)]
        errors = [[round(2**ERROR_BITS * e) for e in wanted]]
        for layer in range(len(signs) - 1, 0, -1):
            below = []
            for k in range(self.sizes[layer]):
                arriving = sum(signs[layer][i][k] * errors[0][i] for i in range(self.sizes[layer + 1]))
                product = np.float32(arriving) * np.float32(self.scales[layer])
                inside = sums[layer - 1][k] ** 2 <= self.sizes[layer - 1]
                below.append(round(float(product)) if inside else 0)
            errors.insert(0, below)
        return activations[:-1], sums, errors

    def step(self, inputs, labels):
        """Gradients of a mini-batch in the layers' units, and the update."""
        passes = [self.pass_through(x, y) for x, y in zip(inputs, labels, strict=True)]
        gradients = []
        for layer, real in enumerate(self.real):
            gradient = [[0] * self.sizes[layer] for _ in real]
            for activations, _, errors in passes:
                for i, k in np.ndindex(len(real), self.sizes[layer]):
                    gradient[i][k] += errors[layer][i] * activations[layer][k]
            gradients.append(gradient)
            for i, k in np.ndindex(len(real), self.sizes[layer]):
                real[i][k] = max(-self.limits[layer], min(self.limits[layer], real[i][k] - gradient[i][k]))
        return gradients


@pytest.mark.parametrize("shape", [SHAPE, Shape(25, 11, 1, 2), Shape(31, 49, 2, 10)], ids=["3", "1", "2"])
def test_signs_and_gradients_are_those_of_the_twin(shape):
    # 25 and 49 are squares: a sum may lie on the edge of the window.
    inputs, labels = patterns(20, shape)
    targets = torch.nn.functional.one_hot(labels, shape.classes).T.double()
    state = StraightThrough(start(shape), **SETTINGS)
    twins = [Twin([layer[n].tolist() for layer in start(shape).weights], **SETTINGS) for n in range(3)]
    turned = 0
    for part in torch.arange(20).repeat(3).split(7):
        before = torch.cat([signs.flatten() for signs in state.signs])
        sums = state.networks().outputs(inputs[part])
        activations, errors = state.signals(inputs[part], targets[:, part])
        gradients = [torch.matmul(e, a.mT) for e, a in zip(errors, activations, strict=True)]
        state.update(activations, errors)
        turned += int((torch.cat([signs.flatten() for signs in state.signs]) != before).sum())
        for n, twin in enumerate(twins):
            found = [twin.pass_through(inputs[p].int().tolist(), int(labels[p])) for p in part]
            assert sums[n].T.tolist() == [own_sums[-1] for _, own_sums, _ in found]
            for layer, expected in enumerate(twin.step(inputs[part].int().tolist(), labels[part].tolist())):
                assert torch.equal(gradients[layer][n], torch.tensor(expected, dtype=torch.float32))
            for real, expected in zip(state.real, twin.real, strict=True):
                assert torch.equal(real[n], torch.tensor(expected, dtype=torch.float32))
            for signs, expected in zip(state.signs, twin.signs(), strict=True):
                assert torch.equal(signs[n], torch.tensor(expected, dtype=torch.float32))
    assert turned > 0


class _Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= 1)


def test_gradients_are_those_of_autograd_up_to_the_rounding_of_errors():
    inputs, labels = patterns(20)
    state = StraightThrough(start(), **SETTINGS)
    weights = [signs.double().requires_grad_() for signs in state.signs]
    hidden = inputs.T.double()
    for weight in weights[:-1]:
        hidden = _Sign.apply(weight @ hidden / math.sqrt(weight.shape[2]))
    logits = SETTINGS["logit_scale"] * (weights[-1] @ hidden) / math.sqrt(weights[-1].shape[2])
    loss = cross_entropy(logits, labels.expand(3, -1), reduction="sum")
    expected = torch.autograd.grad(loss, weights)
    activations, errors = state.signals(inputs, torch.nn.functional.one_hot(labels, SHAPE.classes).T.double())
    rounding, sizes = 0.5, SHAPE.layers
    for layer in range(len(sizes) - 1, -1, -1):
        scale = state.scales[layer]
        found = (errors[layer] @ activations[layer].mT).double() * scale * 2.0**-ERROR_BITS
        bound = len(inputs) * rounding * scale * 2.0**-ERROR_BITS
        assert (found - expected[layer]).abs().max() <= bound * (1 + 1e-6)
        # The bound says something: gradients are larger.
        assert expected[layer].abs().max() > 3 * bound
        rounding = scale * sizes[layer][0] * rounding + 0.5


def test_real_weights_stay_exact_and_within_the_clip():
    inputs, labels = patterns()
    targets = torch.nn.functional.one_hot(labels, SHAPE.classes).T.double()
    state = StraightThrough(start(), logit_scale=4.0, learning_rate=50.0, batch=7)
    for part in torch.arange(40).repeat(10).split(7):
        state.update(*state.signals(inputs[part], targets[:, part]))
    for real, limit in zip(state.real, state.limits, strict=True):
        assert torch.equal(real.floor() + 0.5, real) and real.abs().max() == limit
    assert all(torch.equal(signs, real.sign()) for signs, real in zip(state.signs, state.real, strict=True))


def real_weights(networks, order):
    """The networks with their real weights after 40 mini-batches of 20 patterns, which are met in an order."""
    shape = Shape(301, 63, 3, 10)
    inputs, labels = patterns(100, shape)
    targets = torch.nn.functional.one_hot(labels, shape.classes).T.double()
    state = StraightThrough(networks, **SETTINGS | {"batch": 20})
    for part in torch.arange(100).repeat(8).view(-1, 20)[:, order]:
        state.update(*state.signals(inputs[part], targets[:, part]))
    return Layers(tuple(state.real), ())


def test_the_order_of_the_terms_of_a_sum_changes_no_bit():
    random, networks = np.random.default_rng(2), start(Shape(301, 63, 3, 10))
    units = [torch.from_numpy(np.stack([random.permutation(63) for _ in range(3)])) for _ in range(3)]
    expected = _permuted(real_weights(networks, torch.arange(20)), units)
    # Sums over the patterns of a mini-batch, and over the units of a layer.
    found = real_weights(_permuted(networks, units), torch.from_numpy(random.permutation(20)))
    assert same_bits(found, expected)


def test_networks_train_alone_as_together_to_the_same_bits():
    networks, order = start(Shape(301, 63, 3, 10)), torch.arange(20)
    together = real_weights(networks, order)
    for network in range(3):
        assert same_bits(together.select([network]), real_weights(networks.select([network]), order))
    assert not same_bits(trained().networks, trained(seed=10).networks)


def test_an_interrupted_training_ends_with_the_same_bits(tmp_path):
    whole = trained()
    with pytest.raises(Interrupted):
        trained(checkpoint=StopsAt(tmp_path / "run", "key", 10))
    lines: list[str] = []
    again = trained(checkpoint=Checkpoint(tmp_path / "run", "key", report=lines.append))
    assert same_bits(again.networks, whole.networks) and again.epochs == whole.epochs and "going on" in lines[0]


def learned(epochs=400):
    """Networks that are large for what they learn, with the patterns."""
    shape = Shape(101, 21, 2, 4)
    inputs, labels = patterns(40, shape)
    generator = np.random.default_rng(0)
    return train(start(shape), inputs, labels, epochs=epochs, generator=generator, **SETTINGS), inputs, labels


def test_it_learns():
    before, after = ((found.networks, inputs, labels) for found, inputs, labels in (learned(1), learned()))
    assert before[0].errors(*before[1:]).min() > 0.2
    assert after[0].errors(*after[1:]).tolist() == [0, 0, 0]


def test_it_stops_where_nothing_moves_any_more(monkeypatch):
    early, _, _ = learned()
    monkeypatch.setattr(training, "_LOOK_EVERY", 1000)
    late, _, _ = learned()
    assert early.epochs < 400 == late.epochs
    assert same_bits(early.networks, late.networks)


def test_a_tie_is_an_error():
    inputs = torch.tensor([[1.0, 1.0, -1.0]])
    # Three hidden units that copy the inputs; outputs 3, 3 and −1, then 3, 1 and −1.
    copies = (2 * torch.eye(3) - 1)[None]
    for second, wrong in (([1.0, 1.0, -1.0], 1.0), ([1.0, -1.0, -1.0], 0.0)):
        hidden = (copies[0] @ inputs[0]).sign()
        outputs = torch.stack([hidden, hidden * torch.tensor(second) * torch.tensor([1.0, 1.0, -1.0]), -hidden])[None]
        networks = BinaryNetworks((copies, outputs), ())
        assert networks.outputs(inputs)[0, 0, 0] == 3
        assert networks.errors(inputs, torch.tensor([0])).tolist() == [wrong]
    assert networks.errors(inputs, torch.tensor([1])).tolist() == [1.0]


def test_units_can_be_permuted_and_turned():
    inputs, _ = patterns(200)
    networks = BinaryNetworks.of(start())
    random = np.random.default_rng(3)
    orders = [torch.from_numpy(np.stack([random.permutation(9) for _ in range(3)])) for _ in range(3)]
    signs = [torch.from_numpy(random.choice([-1.0, 1.0], (3, 9))).float() for _ in range(3)]
    assert torch.equal(_turned(_permuted(networks, orders), signs).outputs(inputs), networks.outputs(inputs))
    assert not same_bits(_turned(_permuted(networks, orders), signs), networks)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [((30, 9, 2, 4), "inputs = 30 must be odd"), ((31, 8, 2, 4), "width = 8 must be odd"), ((31, 9, 2, 1), "classes")],
)
def test_shapes_are_checked(sizes, message):
    with pytest.raises(DomainError, match=message):
        Shape(*sizes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learning_rate": 1e-4}, "larger learning rate"),
        ({"logit_scale": 1e6}, "smaller logit scale"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"batch": 0}, "batch"),
    ],
)
def test_settings_that_would_round_are_refused(change, message):
    with pytest.raises(DomainError, match=message):
        trained(1, **change)
