"""The network, folding, normalising and aligning: gradients, functions that stay, permutations that are found."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from localentropy.errors import DomainError
from localentropy.networks.align import _permuted, align, layer_overlaps, overlap
from localentropy.networks.cnn.folding import fold
from localentropy.networks.cnn.network import (
    CNN,
    POOLS,
    Statistics,
    random_cnn,
    statistics,
)
from localentropy.networks.cnn.sizes import parameter_count
from localentropy.networks.normalise import normalise
from tests.generators import generators


def networks(width=3, count=2, dtype=torch.float64):
    """Networks whose batch norms do something, negative factors included."""
    cnn = random_cnn(width, generators(count)).to("cpu", dtype)
    random = np.random.default_rng(99)
    for scale, shift in zip(cnn.scales, cnn.shifts, strict=True):
        scale.copy_(torch.from_numpy(random.standard_normal(scale.shape)))
        shift.copy_(torch.from_numpy(random.standard_normal(shift.shape)))
    return cnn


def pictures(count=24, dtype=torch.float64):
    random = np.random.default_rng(7)
    images = torch.from_numpy(random.standard_normal((count, 3, 32, 32))).to(dtype)
    return images, torch.from_numpy(random.integers(0, 10, count))


def reference(cnn, network, over=None):
    """The same network of torch.nn's modules."""
    modules: list[torch.nn.Module] = []
    for layer, pool in enumerate(POOLS):
        filters = cnn.convolutions[layer][network]
        convolution = torch.nn.Conv2d(filters.shape[1], filters.shape[0], 3, padding=1, bias=False)
        convolution.weight.data = filters
        norm = torch.nn.BatchNorm2d(len(filters), dtype=filters.dtype)
        norm.weight.data, norm.bias.data = cnn.scales[layer][network], cnn.shifts[layer][network]
        if over is not None:
            norm.running_mean, norm.running_var = over.means[layer][network], over.variances[layer][network]
            norm.eval()
        modules += [convolution, norm, torch.nn.ReLU(), torch.nn.MaxPool2d(pool)]
    linear = torch.nn.Linear(cnn.linear.shape[2], 10)
    linear.weight.data, linear.bias.data = cnn.linear[network], cnn.bias[network]
    return torch.nn.Sequential(*modules, torch.nn.Flatten(), linear)


def test_scores_are_those_of_the_same_modules():
    cnn = networks(count=3)
    images, _ = pictures()
    over = statistics(cnn, images)
    for network in range(3):
        for mode in (None, over):
            expected = reference(cnn, network, mode)(images)
            torch.testing.assert_close(cnn.scores(images, mode)[network], expected)


@pytest.mark.parametrize("rule", ["pytorch", "he"])
def test_initializations_are_those_of_pytorch(rule):
    cnn = random_cnn(32, [np.random.default_rng(0)], rule)
    module = reference(cnn, 0)
    assert sum(p.numel() for p in module.parameters()) == parameter_count(32)
    for own, other in zip(
        [*cnn.convolutions, cnn.linear],
        [m for m in module if isinstance(m, torch.nn.Conv2d | torch.nn.Linear)],
        strict=True,
    ):
        other.reset_parameters()
        if rule == "he" and isinstance(other, torch.nn.Conv2d):
            torch.nn.init.kaiming_uniform_(other.weight, nonlinearity="relu")
        assert own.std().item() == pytest.approx(other.weight.std().item(), rel=0.05)
        assert own.abs().max().item() == pytest.approx(other.weight.abs().max().item(), rel=0.02)
    with pytest.raises(DomainError, match="width"):
        random_cnn(0, [np.random.default_rng(0)])
    with pytest.raises(DomainError, match=r"initialization = 'hee' .* nearest is 'he'"):
        random_cnn(1, [np.random.default_rng(0)], "hee")  # type: ignore[arg-type]


def test_gradient_equals_finite_differences():
    cnn = networks()
    images, labels = pictures(8)
    leaves = [tensor.clone().requires_grad_() for tensor in cnn.tensors]

    def loss(tensors):
        scores = CNN.of_tensors(tensors).scores(images)
        return functional.cross_entropy(scores.flatten(0, 1), labels.repeat(2))

    gradients = torch.autograd.grad(loss(leaves), leaves)
    random = np.random.default_rng(3)
    step = 1e-8  # small, for each kink of a ReLU or a maximum on the way adds an error of the order of the step
    for index, gradient in enumerate(gradients):
        direction = torch.from_numpy(random.standard_normal(gradient.shape))
        values = []
        for sign in (1, -1):
            moved = list(cnn.tensors)
            moved[index] = moved[index] + sign * step * direction
            values.append(loss(moved).item())
        slope = (values[0] - values[1]) / (2 * step)
        assert slope == pytest.approx((gradient * direction).sum().item(), rel=1e-4, abs=1e-6)


def test_statistics_are_those_of_one_batch_in_any_order_and_blocks():
    cnn = networks()
    images, _ = pictures()
    over = statistics(cnn, images)
    torch.testing.assert_close(cnn.scores(images, over), cnn.scores(images))
    shuffled = images[torch.from_numpy(np.random.default_rng(1).permutation(len(images)))]
    other = statistics(cnn, shuffled, block=7)
    for one, two in zip(over.means + over.variances, other.means + other.variances, strict=True):
        torch.testing.assert_close(one, two)


def test_evaluation_does_not_depend_on_the_order_or_the_block():
    cnn = networks(dtype=torch.float32)
    images, labels = pictures(dtype=torch.float32)
    folded = fold(cnn, statistics(cnn, images))
    order = torch.from_numpy(np.random.default_rng(1).permutation(len(images)))
    torch.testing.assert_close(folded.scores(images[order], block=5), folded.scores(images)[:, order])
    assert torch.equal(folded.errors(images[order], labels[order]), folded.errors(images, labels))
    assert 0 < folded.errors(images, labels).mean() < 1


def test_folding_and_normalising_keep_the_answers():
    cnn = networks()
    images, _ = pictures()
    over = statistics(cnn, images)
    folded = fold(cnn, over)
    scores = cnn.scores(images, over)
    torch.testing.assert_close(folded.scores(images), scores)
    normalised, dead = normalise(folded)
    assert (dead == 0).all()
    for weight in normalised.weights[:-1]:
        torch.testing.assert_close(weight.flatten(2).norm(dim=2), torch.ones(weight.shape[:2]).double())
    torch.testing.assert_close(normalised.weights[-1].flatten(1).norm(dim=1), torch.full((2,), 10**0.5).double())
    # All scores of a network are divided by one positive number.
    factor = scores / normalised.scores(images)
    torch.testing.assert_close(factor, factor[:, :1, :1].expand_as(factor), rtol=1e-9, atol=0)
    assert (factor > 0).all()


def test_a_dead_channel_is_left_and_counted():
    cnn = networks()
    cnn.scales[1][1, 2] = 0
    images, _ = pictures()
    over = statistics(cnn, images)
    normalised, dead = normalise(fold(cnn, over))
    assert dead.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0]]
    assert torch.equal(normalised.scores(images).argmax(2), cnn.scores(images, over).argmax(2))


def permuted_with_batch_norm(cnn, over, permutations):
    """The channels of unfolded networks in another order: filters, batch norms and their statistics."""
    convolutions, scales, shifts = list(cnn.convolutions), list(cnn.scales), list(cnn.shifts)
    means, variances, linear = list(over.means), list(over.variances), cnn.linear
    for layer, order in enumerate(permutations):
        convolutions[layer] = convolutions[layer].take_along_dim(order[:, :, None, None, None], 1)
        for tensors in (scales, shifts, means, variances):
            tensors[layer] = tensors[layer].take_along_dim(order, 1)
        if layer + 1 < len(permutations):
            convolutions[layer + 1] = convolutions[layer + 1].take_along_dim(order[:, None, :, None, None], 2)
        else:
            linear = linear.take_along_dim(order[:, None, :], 2)
    tensors = [*convolutions, *scales, *shifts, linear, cnn.bias]
    return CNN.of_tensors(tensors), Statistics(tuple(means), tuple(variances))


def test_alignment_recovers_a_planted_permutation_through_batch_norm():
    cnn = networks(width=4)
    images, _ = pictures()
    over = statistics(cnn, images)
    random = np.random.default_rng(5)
    planted = [
        torch.stack([torch.from_numpy(random.permutation(scale.shape[1])) for _ in range(2)]) for scale in cnn.scales
    ]
    moved, moved_over = permuted_with_batch_norm(cnn, over, planted)
    torch.testing.assert_close(moved.scores(images, moved_over), cnn.scores(images, over))
    own, other = normalise(fold(cnn, over))[0], normalise(fold(moved, moved_over))[0]
    assert (overlap(own, other) < 0.9).all()
    aligned, found = align(own, other)
    for order, back in zip(planted, found, strict=True):
        assert torch.equal(order.take_along_dim(back, 1), torch.arange(order.shape[1]).expand_as(order))
    for one, two in zip(own.weights + own.biases, aligned.weights + aligned.biases, strict=True):
        torch.testing.assert_close(one, two)


def test_alignment_keeps_the_answers_and_brings_networks_closer():
    cnn = networks(width=4)
    images, _ = pictures()
    normalised, _ = normalise(fold(cnn, statistics(cnn, images)))
    own, other = normalised.select([0]), normalised.select([1])
    aligned, permutations = align(own, other)
    torch.testing.assert_close(aligned.scores(images), other.scores(images))
    assert torch.equal(aligned.weights[2], _permuted(other, permutations).weights[2])
    assert (layer_overlaps(own, aligned)[:, 0] > layer_overlaps(own, other)[:, 0]).all()
    assert overlap(own, aligned) > overlap(own, other)
