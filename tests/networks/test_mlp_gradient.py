"""The CPU kernel against autograd, finite differences and torch.optim; packing; random orthogonal networks."""

import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.networks.mlp.gradient import Packed, Patterns, SquareHinge
from localentropy.networks.mlp.network import Ensemble, Shape, random_orthogonal
from tests.generators import generators


def networks(width=7, models=3, layers=5, dtype=torch.float64, biases=True):
    ensemble = random_orthogonal(Shape(10, width, layers), generators(models)).to("cpu", dtype)
    if not biases:
        return ensemble
    noise = np.random.default_rng(99)
    shifted = tuple(b + torch.from_numpy(0.1 * noise.standard_normal(b.shape)).to(dtype) for b in ensemble.biases)
    return Ensemble(ensemble.weights, shifted)


def patterns(count=300, models=None, dtype=torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    random = np.random.default_rng(7)
    inputs = torch.from_numpy(random.standard_normal((count, 10) if models is None else (models, count, 10)))
    labels = torch.from_numpy(random.choice([-1.0, 1.0], (count,) if models is None else (models, count)))
    return inputs.to(dtype), labels.to(dtype)


def autograd(ensemble, inputs, labels, margin):
    """Loss and gradients of weights and biases, by the networks' own forward pass."""
    leaves = [tensor.clone().requires_grad_() for tensor in (*ensemble.weights, *ensemble.biases)]
    copy = Ensemble(tuple(leaves[: len(leaves) // 2]), tuple(leaves[len(leaves) // 2 :]))
    loss = 0.5 * (margin - labels * copy(inputs)).clamp_min(0).square().mean(1)
    return loss.detach(), torch.autograd.grad(loss.sum(), leaves)


def kernel(ensemble, blocks, margin):
    """Loss, errors and gradients of weights and biases, by the kernel."""
    packed = Packed(ensemble)
    hinge = SquareHinge(packed, margin)
    hinge(blocks)
    packed.flat.copy_(hinge.gradient)
    gradient = packed.ensemble()
    return hinge.loss, hinge.wrong, (*gradient.weights, *gradient.biases)


@pytest.mark.parametrize(("width", "layers"), [(1, 1), (3, 2), (7, 5), (30, 5)])
@pytest.mark.parametrize("length", [None, 64])
def test_gradient_equals_autograd(width, layers, length):
    ensemble = networks(width, layers=layers)
    inputs, labels = patterns()
    loss, wrong, gradients = kernel(ensemble, Patterns.blocked(inputs, labels, length), 0.7)
    expected, expected_gradients = autograd(ensemble, inputs, labels, 0.7)
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=0)
    for gradient, reference in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(gradient, reference, rtol=1e-10, atol=1e-13)
    assert torch.equal(wrong.double() / len(labels), ensemble.errors(inputs, labels))


def test_gradient_in_single_precision():
    ensemble = networks(30, dtype=torch.float32)
    inputs, labels = patterns(1000, dtype=torch.float32)
    _, _, gradients = kernel(ensemble, Patterns.blocked(inputs, labels), 1.0)
    _, expected = autograd(ensemble.to("cpu", torch.float64), inputs.double(), labels.double(), 1.0)
    for gradient, reference in zip(gradients, expected, strict=True):
        torch.testing.assert_close(gradient.double(), reference, rtol=1e-4, atol=1e-6)


def test_gradient_with_own_patterns_for_each_network():
    ensemble = networks()
    inputs, labels = patterns(models=3)
    blocks = Patterns.blocked(inputs, labels, 50)
    loss, _, gradients = kernel(ensemble, blocks.batch(1), 1.0)
    for model in range(3):
        expected, reference = autograd(ensemble.select([model]), inputs[model, 50:100], labels[model, 50:100], 1.0)
        assert loss[model].item() == pytest.approx(expected.item(), rel=1e-12)
        torch.testing.assert_close(gradients[1][model], reference[1][0], rtol=1e-10, atol=1e-13)


def test_last_batch_is_shorter():
    blocks = Patterns.blocked(*patterns(130), 50)
    assert [blocks.batch(index).count for index in range(3)] == [50, 50, 30]


def test_gradient_equals_finite_differences():
    ensemble = networks(5, models=2)
    packed = Packed(ensemble)
    hinge = SquareHinge(packed, 1.0)
    blocks = Patterns.blocked(*patterns(100))
    hinge(blocks)
    gradient = hinge.gradient * packed.trainable
    random = np.random.default_rng(3)
    start, step = packed.flat.clone(), 1e-6
    for _ in range(10):
        direction = torch.from_numpy(random.standard_normal(len(start))) * packed.trainable
        values = []
        for sign in (1, -1):
            packed.flat.copy_(start + sign * step * direction)
            hinge(blocks)
            values.append(hinge.loss.sum().item())
        slope = (values[0] - values[1]) / (2 * step)
        assert slope == pytest.approx((gradient @ direction).item(), rel=1e-5, abs=1e-8)


def test_autograd_path_equals_kernel():
    ensemble = networks()
    packed = Packed(ensemble)
    hinge = SquareHinge(packed, 1.0)
    blocks = Patterns.blocked(*patterns(), 128)
    hinge(blocks)
    expected = hinge.gradient * packed.trainable, hinge.loss.clone(), hinge.wrong.clone()
    for result in (hinge.gradient, hinge.loss, hinge.wrong):
        result.zero_()
    hinge._autograd(blocks)
    torch.testing.assert_close(hinge.gradient * packed.trainable, expected[0], rtol=1e-10, atol=1e-13)
    torch.testing.assert_close(hinge.loss, expected[1], rtol=1e-12, atol=0)
    assert torch.equal(hinge.wrong, expected[2])


def test_threads_change_no_bit():
    ensemble = networks(12, models=5, dtype=torch.float32)
    blocks = Patterns.blocked(*patterns(dtype=torch.float32))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        one = kernel(ensemble, blocks, 1.0)
        torch.set_num_threads(2)
        two = kernel(ensemble, blocks, 1.0)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(one[2], two[2], strict=True))


def test_packing_keeps_networks_and_counts_parameters():
    ensemble = networks(9)
    packed = Packed(ensemble)
    unpacked = packed.ensemble()
    for before, after in zip(ensemble.weights + ensemble.biases, unpacked.weights + unpacked.biases, strict=True):
        assert torch.equal(before, after)
    assert packed.trainable.sum() == 3 * ensemble.shape.parameters
    assert ensemble.shape.parameters == 10 * 9 + 9 + 4 * (81 + 9) + 9 + 1


@pytest.mark.parametrize("width", [4, 10, 25])
def test_random_orthogonal(width):
    ensemble = networks(width, models=2, biases=False)
    for weight, gain in zip(ensemble.weights, [2.0] * 5 + [1.0], strict=True):
        rows, columns = weight.shape[1:]
        gram = weight @ weight.mT if rows <= columns else weight.mT @ weight
        torch.testing.assert_close(
            gram, gain * torch.eye(min(rows, columns)).double().expand_as(gram), atol=1e-6, rtol=0
        )
    assert not torch.equal(ensemble.weights[1][0], ensemble.weights[1][1])
    assert all(not bias.any() for bias in ensemble.biases)


def test_the_gain_is_that_of_hidden_layers():
    usual, plain = (random_orthogonal(Shape(10, 8, 3), generators(2), gain) for gain in (np.sqrt(2), 1.0))
    for layer, (one, other) in enumerate(zip(usual.weights, plain.weights, strict=True)):
        torch.testing.assert_close(one, other * (np.sqrt(2) if layer < 3 else 1.0))


def test_random_orthogonal_is_uniform():
    """The first entry of a uniform orthogonal 3 × 3 matrix is uniform on [−1, 1] (Archimedes)."""
    ensemble = random_orthogonal(Shape(3, 3, 1), generators(2000))
    entry = ensemble.weights[0][:, 0, 0] / np.sqrt(2)
    assert abs(entry.mean()) < 4 / np.sqrt(3 * 2000)
    assert entry.square().mean().item() == pytest.approx(1 / 3, abs=0.03)
    assert (entry > 0).float().mean().item() == pytest.approx(0.5, abs=0.05)


def test_outputs_do_not_depend_on_the_block():
    ensemble = networks()
    inputs, labels = patterns()
    assert torch.equal(ensemble.errors(inputs, labels, 7), ensemble.errors(inputs, labels))


def test_refuses_sizes_out_of_range():
    with pytest.raises(DomainError, match="width"):
        Shape(10, 0, 5)
