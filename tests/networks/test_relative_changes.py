"""The Hessian of networks by relative changes of their weights, against matrices, differences and noise."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from localentropy.errors import DomainError
from localentropy.landscape.spectra import Hessian, largest_eigenvalues, trace
from localentropy.networks.cnn.folding import fold
from localentropy.networks.cnn.network import random_cnn, statistics
from localentropy.networks.mlp.network import Ensemble, Shape, random_orthogonal
from localentropy.networks.relative_changes import RelativeChanges

INPUTS = torch.from_numpy(np.random.default_rng(1).standard_normal((20, 4)))
LABELS = INPUTS[:, 0].sign()


@pytest.fixture(scope="module")
def network() -> Ensemble:
    found = random_orthogonal(Shape(4, 6, 2), [np.random.default_rng(0)]).to("cpu", torch.float64)
    return replace(found, biases=tuple(bias + 0.1 for bias in found.biases))


def loss_of(network: Ensemble) -> torch.Tensor:
    return functional.softplus(-network(INPUTS)[0] * LABELS).mean()


def hessian_of(network: Ensemble, layer: str | None = None) -> Hessian:
    return Hessian(lambda model: loss_of(model()), RelativeChanges(network), layer)


def changed(network: Ensemble, by: torch.Tensor) -> float:
    flat = network.flat_weights()
    return float(loss_of(network.with_weights(flat * (1 + by))))


def test_second_differences_of_the_loss_are_the_entries(network: Ensemble) -> None:
    matrix, size, h = hessian_of(network).matrix(), hessian_of(network).size, 1e-4
    assert size == network.flat_weights().numel()
    steps = h * torch.eye(size, dtype=torch.float64)
    middle = changed(network, torch.zeros(size, dtype=torch.float64))
    diagonal = [(changed(network, one) - 2 * middle + changed(network, -one)) / h**2 for one in steps]
    np.testing.assert_allclose(np.diag(matrix), diagonal, atol=1e-6)
    for i, j in ((0, 5), (3, 40), (24, 62)):
        one, two = steps[i], steps[j]
        mixed = [changed(network, a * one + b * two) * a * b for a in (1, -1) for b in (1, -1)]
        assert matrix[i, j] == pytest.approx(sum(mixed) / (4 * h**2), abs=1e-6)


def test_small_noise_raises_the_loss_by_half_the_trace(network: Ensemble) -> None:
    # No unit comes to its kink: the nearest pre-activation is 1e-4. Noise of 1e-4 raises the loss twice as much.
    sigma, draws = 1e-5, 20_000
    matrix, many = hessian_of(network).matrix(), network.select([0] * draws)
    noise = sigma * torch.from_numpy(np.random.default_rng(2).standard_normal((draws, len(matrix))))
    sides = [many.with_weights(many.flat_weights() * (1 + side * noise)) for side in (1, 0, -1)]
    up, middle, down = (functional.softplus(-side(INPUTS) * LABELS).mean(1) for side in sides)
    rises = ((up + down) / 2 - middle).numpy()
    mean, error = rises.mean(), rises.std(ddof=1) / np.sqrt(draws)
    expected = sigma**2 * np.trace(matrix) / 2
    assert error < 0.1 * expected and abs(mean - expected) < 3 * error


def test_largest_eigenvalue_and_trace_are_those_of_the_matrix(network: Ensemble) -> None:
    hessian = hessian_of(network)
    matrix = hessian.matrix()
    exact = np.linalg.eigvalsh(matrix)[-1]
    assert largest_eigenvalues(hessian, tolerance=1e-3)[0] == pytest.approx(exact, rel=1e-3)
    found = trace(hessian, draws=2000, seed=0)
    assert found.error < 0.05 * found.mean and abs(found.mean - np.trace(matrix)) < 3 * found.error
    assert sum(part.mean for part in found.parts.values()) == pytest.approx(found.mean, rel=1e-12)
    for name, part in found.parts.items():
        block = np.trace(hessian_of(network, name).matrix())
        assert abs(part.mean - block) < 3.5 * part.error, name


def test_rescaled_units_change_nothing(network: Ensemble) -> None:
    factor = torch.linspace(0.1, 5.0, 6, dtype=torch.float64)
    first, second, last = network.weights
    before, *others = network.biases
    rescaled = replace(
        network,
        weights=(first * factor[:, None], second / factor, last),
        biases=(before * factor, *others),
    )
    np.testing.assert_allclose(hessian_of(rescaled).matrix(), hessian_of(network).matrix(), atol=1e-12)


def test_convolutional_networks() -> None:
    cnn = random_cnn(2, [np.random.default_rng(0), np.random.default_rng(1)])
    images = torch.rand(6, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    one = fold(cnn, statistics(cnn, images)).select([1])
    model, labels = RelativeChanges(one), torch.arange(6)
    hessian = Hessian(lambda model: functional.cross_entropy(model().scores(images)[0], labels), model)
    assert hessian.sizes == tuple(weight.numel() for weight in one.weights)
    vector = np.random.default_rng(3).choice([-1.0, 1.0], hessian.size)
    double = one.to("cpu", torch.float64)

    def loss(step: float) -> float:
        weights = double.flat_weights() * (1 + step * torch.from_numpy(vector))
        return float(functional.cross_entropy(double.with_weights(weights).scores(images.double())[0], labels))

    h = 1e-5
    assert vector @ hessian.product(vector) == pytest.approx((loss(h) - 2 * loss(0.0) + loss(-h)) / h**2, rel=1e-2)


def test_wrong_arguments(network: Ensemble) -> None:
    with pytest.raises(DomainError, match="network = 2 networks: allowed is one"):
        RelativeChanges(network.select([0, 0]))
