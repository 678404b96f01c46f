"""Matching of networks with odd units: by permutations and signs."""

from itertools import permutations, product

import numpy as np
import pytest
import torch

from localentropy.networks.align import _permuted, _turned, align_with_signs, layer_overlaps, overlap
from localentropy.networks.binary_mlp.network import BinaryNetworks, Shape, uniform_initialization
from tests.generators import generators


def networks(shape, count=3, first=0):
    return BinaryNetworks.of(uniform_initialization(shape, generators(count, first), 1.0))


@pytest.mark.parametrize("shape", [Shape(101, 15, 2, 10), Shape(301, 33, 3, 2)], ids=["2 layers", "3 layers"])
def test_a_planted_transformation_is_recovered_exactly(shape):
    random, reference = np.random.default_rng(1), networks(shape)
    orders = [
        torch.from_numpy(np.stack([random.permutation(shape.width) for _ in range(3)]))
        for _ in range(shape.hidden_layers)
    ]
    signs = [torch.from_numpy(random.choice([-1.0, 1.0], order.shape)).float() for order in orders]
    other = _turned(_permuted(reference, orders), signs)
    assert overlap(reference, other).abs().max() < 0.3
    matched, found_orders, found_signs = align_with_signs(reference, other)
    assert overlap(reference, matched).tolist() == [1.0, 1.0, 1.0]
    for order, inverse, sign, found in zip(orders, found_orders, signs, found_signs, strict=True):
        assert torch.equal(order.take_along_dim(inverse, 1), torch.arange(shape.width).expand(3, -1))
        assert torch.equal(sign.take_along_dim(inverse, 1), found)


def test_it_is_recovered_through_flipped_weights():
    random, reference = np.random.default_rng(2), networks(Shape(101, 15, 2, 10))
    flips = [torch.from_numpy(random.random(weight.shape) < 0.1) for weight in reference.weights]
    noisy = BinaryNetworks(tuple(torch.where(f, -w, w) for f, w in zip(flips, reference.weights, strict=True)), ())
    orders = [torch.from_numpy(np.stack([random.permutation(15) for _ in range(3)])) for _ in range(2)]
    signs = [torch.from_numpy(random.choice([-1.0, 1.0], (3, 15))).float() for _ in range(2)]
    matched, _, _ = align_with_signs(reference, _turned(_permuted(noisy, orders), signs))
    assert torch.equal(overlap(reference, matched), overlap(reference, noisy))


def best_of_all(reference, other):
    """All permutations and signs of each layer, layer by layer, one network."""
    own, others = ([layer[0].numpy() for layer in n.weights] for n in (reference, other))
    width = len(own[0])
    scores = []
    for layer in range(len(own) - 1):
        best = max(
            (
                (float(np.sum(own[layer] * (np.array(turned)[:, None] * others[layer][list(order)]))), order, turned)
                for order in permutations(range(width))
                for turned in product((-1, 1), repeat=width)
            ),
            key=lambda found: found[0],
        )
        scores.append(best[0] / own[layer].size)
        order, turned = list(best[1]), np.array(best[2])
        others[layer] = turned[:, None] * others[layer][order]
        others[layer + 1] = others[layer + 1][:, order] * turned
    return scores, np.mean(np.concatenate([(a * b).ravel() for a, b in zip(own, others, strict=True)]))


def test_each_layer_is_matched_as_well_as_by_all_permutations_and_signs():
    # Many inputs: the best matching of the first layer is then unique, and the second layers meet the same networks.
    compared = 0
    for seed in range(8):
        reference, other = (networks(Shape(91, 5, 2, 3), 1, first) for first in (seed, 100 + seed))
        scores, whole = best_of_all(reference, other)
        matched, _, _ = align_with_signs(reference, other)
        found = layer_overlaps(reference, matched)[0].tolist()
        assert found[0] == pytest.approx(scores[0], abs=1e-12)
        assert found[1] == pytest.approx(scores[1], abs=1e-12)
        # The second layer has few inputs, where several matchings may be as good: what reaches the outputs may differ.
        compared += overlap(reference, matched).item() == pytest.approx(whole, abs=1e-12)
    assert compared >= 4


def test_matching_keeps_the_function_and_random_networks_reach_the_chance_level():
    shape = Shape(783, 33, 2, 10)
    reference, other = networks(shape), networks(shape, first=50)
    inputs = torch.from_numpy(np.random.default_rng(0).choice([-1.0, 1.0], (50, 783))).float()
    matched, _, _ = align_with_signs(reference, other)
    assert torch.equal(matched.outputs(inputs), other.outputs(inputs))
    # The largest of 2h overlaps of n random signs is about √(2 ln 2h / n); a matching reaches less than that.
    chance = np.sqrt(2 * np.log(2 * 33) / 783)
    for first in layer_overlaps(reference, matched)[:, 0].tolist():
        assert 0.6 * chance < first < chance
    assert layer_overlaps(reference, matched)[:, 2].abs().max() < 4 / np.sqrt(330)
    assert (overlap(reference, matched) > overlap(reference, other)).all()


def test_equally_good_matchings_are_chosen_alike_in_any_order_of_the_inputs():
    # In another order sums are rounded otherwise, as on another processor. Cosines of signs are often equal.
    reference, other = networks(Shape(51, 33, 1, 2)), networks(Shape(51, 33, 1, 2), first=50)
    order = np.random.default_rng(3).permutation(51)

    def reordered(networks):
        return BinaryNetworks((networks.weights[0][:, :, order].contiguous(), networks.weights[1]), ())

    found = align_with_signs(reference, other)[1:]
    again = align_with_signs(reordered(reference), reordered(other))[1:]
    assert all(torch.equal(a, b) for one, two in zip(found, again, strict=True) for a, b in zip(one, two, strict=True))
