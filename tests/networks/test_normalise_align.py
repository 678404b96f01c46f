"""Normalisation and alignment leave functions unchanged, and find a planted permutation."""

import numpy as np
import pytest
import torch

from localentropy.networks.align import _permuted, align, layer_overlaps, overlap
from localentropy.networks.mlp.network import Ensemble, Shape, random_orthogonal
from localentropy.networks.normalise import normalise
from tests.generators import generators

INPUTS = torch.from_numpy(np.random.default_rng(1).standard_normal((1000, 10))).float()


def networks(models=3, width=16, first=0):
    """Networks with rows of different norms and with biases."""
    random = np.random.default_rng(50 + first)
    ensemble = random_orthogonal(Shape(10, width, 5), generators(models, first))
    scale = [torch.from_numpy(np.exp(random.standard_normal(b.shape))).float() for b in ensemble.biases]
    return Ensemble(
        tuple(w * s[:, :, None] for w, s in zip(ensemble.weights, scale, strict=True)),
        tuple(torch.from_numpy(0.3 * random.standard_normal(b.shape)).float() for b in ensemble.biases),
    )


def random_permutations(models=3, width=16):
    random = np.random.default_rng(8)
    return [torch.from_numpy(np.stack([random.permutation(width) for _ in range(models)])) for _ in range(5)]


def test_normalisation_scales_the_function():
    before = networks()
    after, dead = normalise(before)
    for weight in after.weights:
        torch.testing.assert_close(weight.norm(dim=2), torch.ones(weight.shape[:2]))
    f, g = before(INPUTS), after(INPUTS)
    assert torch.equal(f > 0, g > 0)
    ratio = (f * g).sum(1, keepdim=True) / g.square().sum(1, keepdim=True)
    assert (ratio > 0).all()
    torch.testing.assert_close(f, ratio * g, rtol=1e-4, atol=1e-5 * f.abs().max().item())
    assert not dead.any()
    again, _ = normalise(after)
    torch.testing.assert_close(again.weights, after.weights)


def test_dead_units_are_counted_and_left():
    ensemble = networks()
    ensemble.weights[2][1, 4] = 0
    ensemble.weights[2][1, 7] = 0
    ensemble.weights[0][0, 3] = 0
    normalised, dead = normalise(ensemble)
    expected = torch.zeros(3, 5, dtype=torch.long)
    expected[1, 2], expected[0, 0] = 2, 1
    assert torch.equal(dead, expected)
    assert not normalised.weights[2][1, 4].any()
    assert all(tensor.isfinite().all() for tensor in normalised.weights + normalised.biases)
    assert torch.equal(ensemble(INPUTS) > 0, normalised(INPUTS) > 0)


def test_permutation_leaves_the_function():
    ensemble, inputs = networks().to("cpu", torch.float64), INPUTS.double()
    torch.testing.assert_close(_permuted(ensemble, random_permutations())(inputs), ensemble(inputs))


def test_alignment_recovers_a_planted_permutation():
    reference, _ = normalise(networks())
    planted = random_permutations()
    aligned, found = align(reference, _permuted(reference, planted))
    for order, inverse in zip(planted, found, strict=True):
        assert torch.equal(order.take_along_dim(inverse, 1), torch.arange(16).expand(3, -1))
    torch.testing.assert_close(overlap(reference, aligned), torch.ones(3).double())


def test_alignment_recovers_it_through_noise():
    reference, _ = normalise(networks())
    noise = np.random.default_rng(2)
    noisy = Ensemble(
        tuple(w * (1 + 0.2 * torch.from_numpy(noise.standard_normal(w.shape)).float()) for w in reference.weights),
        reference.biases,
    )
    planted = random_permutations()
    _, found = align(reference, normalise(_permuted(noisy, planted))[0])
    for order, inverse in zip(planted, found, strict=True):
        assert torch.equal(order.take_along_dim(inverse, 1), torch.arange(16).expand(3, -1))


def test_alignment_keeps_the_function_and_does_not_lower_the_first_overlap():
    reference, other = normalise(networks())[0], normalise(networks(first=20))[0]
    aligned, permutations = align(reference, other)
    torch.testing.assert_close(aligned(INPUTS), other(INPUTS))
    assert (layer_overlaps(reference, aligned)[:, 0] > layer_overlaps(reference, other)[:, 0]).all()
    for order in permutations:
        assert torch.equal(order.sort(1).values, torch.arange(16).expand(3, -1))


def test_overlap_of_normalised_networks():
    first, second = normalise(networks())[0], normalise(networks(first=20))[0]
    q = overlap(first, second)
    assert first.units == 81
    sizes = torch.tensor([16.0] * 5 + [1.0]).double()
    torch.testing.assert_close(q, layer_overlaps(first, second) @ sizes / 81, rtol=1e-6, atol=1e-8)
    assert overlap(first, first).tolist() == pytest.approx([1, 1, 1])
