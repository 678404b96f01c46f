"""Spectra of models of PyTorch against dense Hessians, and against matrices that are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.nn import functional

from localentropy.errors import DomainError
from localentropy.instances.committee import TreeCommittee
from localentropy.instances.perceptron import random_patterns
from localentropy.landscape.hessian import hessian_eigenvalues
from localentropy.landscape.spectra import Hessian, largest_eigenvalues, spectral_density, trace

Loss = Callable[[torch.nn.Module], torch.Tensor]


@pytest.fixture(scope="module")
def network() -> tuple[Loss, torch.nn.Module]:
    """A network of 48 parameters and its cross-entropy on 40 patterns."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 6), torch.nn.Tanh(), torch.nn.Linear(6, 2, bias=False)).double()
    inputs = torch.randn(40, 5, dtype=torch.float64)
    labels = (inputs[:, 0] * inputs[:, 1] > 0).long()
    return lambda model: functional.cross_entropy(model(inputs), labels), model


@pytest.fixture(scope="module")
def quadratic() -> tuple[Loss, torch.nn.Module, np.ndarray]:
    """½ w·A w with a random symmetric A."""
    matrix = np.random.default_rng(0).normal(size=(40, 40))
    matrix = matrix + matrix.T
    model = torch.nn.Linear(40, 1, bias=False).double()
    tensor = torch.from_numpy(matrix)
    return lambda model: 0.5 * model.weight[0] @ tensor @ model.weight[0], model, matrix


def dense(loss: Loss, model: torch.nn.Module) -> np.ndarray:
    """The Hessian of all parameters by PyTorch's own function."""
    named = dict(model.named_parameters())
    sizes = [one.numel() for one in named.values()]

    def at(flat: torch.Tensor) -> torch.Tensor:
        parts = [part.reshape(one.shape) for part, one in zip(flat.split(sizes), named.values(), strict=True)]

        class Bound(torch.nn.Module):
            def forward(self, inputs: torch.Tensor) -> torch.Tensor:
                return torch.func.functional_call(model, dict(zip(named, parts, strict=True)), (inputs,))

        return loss(Bound())

    start = torch.cat([one.detach().ravel() for one in named.values()])
    return torch.autograd.functional.hessian(at, start).numpy()


def test_the_matrix_is_that_of_pytorch_and_of_differences(network: tuple[Loss, torch.nn.Module]) -> None:
    loss, model = network
    hessian = Hessian(loss, model)
    exact = dense(loss, model)
    assert hessian.size == 48 and hessian.names == ("0.weight", "0.bias", "2.weight")
    np.testing.assert_allclose(hessian.matrix(), exact, atol=1e-12)
    vector = np.random.default_rng(1).normal(size=48)
    np.testing.assert_allclose(hessian.product(vector), exact @ vector, atol=1e-12)
    slopes, step, start = [], 1e-5, torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    for sign in (1, -1):
        torch.nn.utils.vector_to_parameters(start + sign * step * torch.from_numpy(vector), model.parameters())
        found = torch.autograd.grad(loss(model), list(model.parameters()))
        slopes.append(torch.cat([one.ravel() for one in found]).numpy())
    torch.nn.utils.vector_to_parameters(start, model.parameters())
    np.testing.assert_allclose(hessian.product(vector), (slopes[0] - slopes[1]) / (2 * step), atol=1e-8)


@pytest.mark.parametrize(("layer", "rows"), [("0", slice(0, 36)), ("0.bias", slice(30, 36)), ("2", slice(36, 48))])
def test_a_layer_is_a_block(network: tuple[Loss, torch.nn.Module], layer: str, rows: slice) -> None:
    loss, model = network
    block = dense(loss, model)[rows, rows]
    hessian = Hessian(loss, model, layer)
    np.testing.assert_allclose(hessian.matrix(), block, atol=1e-12)
    np.testing.assert_allclose(largest_eigenvalues(hessian, 3), np.linalg.eigvalsh(block)[::-1][:3], atol=1e-9)


@pytest.mark.parametrize("count", [1, 5, 30, 48])
def test_largest_eigenvalues_are_the_dense_ones(network: tuple[Loss, torch.nn.Module], count: int) -> None:
    loss, model = network
    exact = np.linalg.eigvalsh(dense(loss, model))[::-1][:count]
    np.testing.assert_allclose(largest_eigenvalues(Hessian(loss, model), count), exact, atol=1e-8)


def test_the_trace_and_its_error(quadratic: tuple[Loss, torch.nn.Module, np.ndarray]) -> None:
    """The variance of v·Av over random signs is 2 Σ_{i≠j} A_ij²."""
    loss, model, matrix = quadratic
    found = trace(Hessian(loss, model), draws=2000, seed=0)
    assert abs(found.mean - np.trace(matrix)) < 3 * found.error
    exact = np.sqrt(2 * (matrix**2).sum() - 2 * (np.diag(matrix) ** 2).sum()) / np.sqrt(2000)
    assert found.error == pytest.approx(exact, rel=0.06)
    assert np.isnan(trace(Hessian(loss, model), draws=1, seed=0).error)


def test_each_vector_sees_the_eigenvalues_with_its_own_weights(
    quadratic: tuple[Loss, torch.nn.Module, np.ndarray],
) -> None:
    """After as many steps as there are parameters, the points are the eigenvalues; moments are right before."""
    loss, model, matrix = quadratic
    hessian = Hessian(loss, model)
    exact = np.linalg.eigvalsh(matrix)
    full = spectral_density(hessian, steps=100, draws=1, seed=0)
    np.testing.assert_allclose(full.values, exact, atol=1e-9)
    assert full.weights.sum() == pytest.approx(1)
    few = spectral_density(hessian, steps=4, draws=1, seed=0)
    assert len(few.values) == 4
    for power in range(8):
        assert few.moment(power) == pytest.approx(full.moment(power), rel=1e-9, abs=1e-9)
    assert few.moment(8) != pytest.approx(full.moment(8), rel=1e-6)


def test_the_density_is_that_of_all_eigenvalues(quadratic: tuple[Loss, torch.nn.Module, np.ndarray]) -> None:
    loss, model, matrix = quadratic
    draws = [spectral_density(Hessian(loss, model), steps=40, draws=10, seed=seed) for seed in range(30)]
    exact = np.linalg.eigvalsh(matrix)
    for power in (1, 2, 3):
        found = [one.moment(power) for one in draws]
        assert abs(np.mean(found) - (exact**power).mean()) < 3 * np.std(found, ddof=1) / np.sqrt(30)
    grid = np.linspace(-40, 40, 4001)
    density = draws[0].at(grid, width=1.5)
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-6)
    expected = np.exp(-(((grid[:, None] - exact) / 1.5) ** 2) / 2).mean(1) / (1.5 * np.sqrt(2 * np.pi))
    mean = np.mean([one.at(grid, width=1.5) for one in draws], axis=0)
    assert np.abs(mean - expected).max() < 0.1 * expected.max()


def test_a_few_distinct_eigenvalues_end_the_steps() -> None:
    scales = torch.tensor([1.0, 1.0, 1.0, 5.0, 5.0, -2.0] * 5, dtype=torch.float64)
    model = torch.nn.Linear(30, 1, bias=False).double()
    density = spectral_density(
        Hessian(lambda model: (scales * model.get_parameter("weight") ** 2).sum() / 2, model), draws=1, seed=0
    )
    np.testing.assert_allclose(density.values, [-2, 1, 5], atol=1e-9)


def test_the_committee_has_the_spectrum_of_its_own_formula() -> None:
    """The Hessian of a tree committee in `landscape.hessian` is written by hand."""
    machine = TreeCommittee(random_patterns(N=33, P=20, seed=0), units=3)
    weights = np.random.default_rng(0).normal(size=(3, 11))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    inputs = torch.from_numpy(np.ascontiguousarray(machine.unit_inputs).astype(float))

    class Committee(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = torch.nn.Parameter(torch.from_numpy(weights))

    def loss(model: torch.nn.Module) -> torch.Tensor:
        fields = torch.einsum("kpi,ki->kp", inputs, model.weights)
        return ((1 - torch.tanh(torch.tanh(2.0 * fields).sum(0) / 3**0.5)) ** 2).mean()

    found = np.linalg.eigvalsh(Hessian(loss, Committee()).matrix())
    np.testing.assert_allclose(found, hessian_eigenvalues(machine, weights, 2.0), atol=1e-10)
    top = largest_eigenvalues(Hessian(loss, Committee()), 2)
    np.testing.assert_allclose(top, hessian_eigenvalues(machine, weights, 2.0)[::-1][:2], atol=1e-8)


def test_a_linear_loss_has_no_curvature() -> None:
    model = torch.nn.Linear(30, 1)
    hessian = Hessian(lambda model: model.get_parameter("weight").sum(), model)
    assert hessian.size == 31 and not hessian.product(np.ones(31)).any()
    assert not largest_eigenvalues(hessian, 2).any()
    assert spectral_density(hessian, seed=0).values.tolist() == [0.0] * 10


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": 3}, "model = int object"),
        ({"layer": "1"}, "layer = '1' has no parameters that take derivatives: allowed are 'weight', 'bias'"),
        ({"loss": lambda model: model.weight}, "loss: what it returned is no single finite number"),
        ({"loss": lambda model: model.weight.sum() / 0}, "loss: what it returned is no single finite number"),
        ({"loss": lambda model: torch.tensor(1.0)}, "loss: what it returned does not depend"),
        ({"loss": lambda model: model.bias.sum(), "layer": "weight"}, "loss: what it returned does not depend"),
    ],
)
def test_what_has_no_hessian_is_refused(change: dict[str, object], said: str) -> None:
    given = {"loss": lambda model: model.weight.sum(), "model": torch.nn.Linear(3, 1), "layer": None}
    with pytest.raises(DomainError, match=said):
        Hessian(**{**given, **change})  # type: ignore[arg-type]


def test_second_derivatives_that_are_infinite_are_refused() -> None:
    model = torch.nn.Linear(3, 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    hessian = Hessian(lambda model: (model.get_parameter("weight").abs() ** 1.5).sum(), model)
    with pytest.raises(DomainError, match="second derivatives are not finite"):
        hessian.product(np.ones(3))
    with pytest.raises(DomainError, match="count = 4: there are 3 parameters"):
        largest_eigenvalues(hessian, 4)
