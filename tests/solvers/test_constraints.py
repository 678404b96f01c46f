"""Solvers under any constraint: the margin as the case that is known, and the theory of bands and square waves."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localentropy import solvers
from localentropy.errors import DataError, DomainError
from localentropy.instances.perceptron import hidden_manifold, random_patterns
from localentropy.solvers.binary.constrained_bp import ConstrainedBeliefs, constrained_bp, constrained_focusing_bp
from localentropy.solvers.binary.constraints import allowed_sums, anneal_constrained, constraint_error
from localentropy.theory import Perceptron, SquareWave, Steps, SymmetricPerceptron, typical
from localentropy.theory.symmetric_perceptron import Band


@dataclass(frozen=True)
class AtLeast(Steps):
    margin: float
    energies = (math.inf, 0.0)

    @property
    def edges(self) -> tuple[float, ...]:  # type: ignore[override]
        return (self.margin,)


CONSTRAINTS: list[tuple[Steps, Any]] = [
    (AtLeast(0.0), lambda x: x > 0),
    (AtLeast(0.7), lambda x: x >= 0.7),
    (Band(1.0), lambda x: abs(x) <= 1.0),
    (SquareWave(3.0), lambda x: math.floor(x / 1.5) % 2 == 0),
]


@pytest.mark.parametrize(("constraint", "right"), CONSTRAINTS, ids=[str(each) for each, _ in CONSTRAINTS])
def test_allowed_sums_are_those_of_the_plain_words(constraint: Steps, right: Any) -> None:
    N = 101
    found = allowed_sums(constraint, N)
    assert found.tolist() == [right(s / math.sqrt(N)) for s in range(-N, N + 1, 2)]
    instance = random_patterns(N=N, P=200, seed=0)
    weights = np.random.default_rng(0).choice([-1, 1], N)
    stabilities = [label * (pattern @ weights) / math.sqrt(N) for pattern, label in
                   zip(instance.patterns, instance.labels, strict=True)]  # fmt: skip
    assert constraint_error(instance, constraint, weights) == np.mean([not right(x) for x in stabilities])


def test_a_sum_at_an_edge_is_allowed() -> None:
    N = 9
    assert allowed_sums(Band(3 / math.sqrt(N)), N).tolist() == [abs(s) <= 3 for s in range(-N, N + 1, 2)]


@pytest.mark.parametrize("energy", ["errors", "linear"])
@pytest.mark.parametrize("margin", [0.0, 0.4])
def test_a_margin_as_a_constraint_gives_the_weights_of_annealing(energy: str, margin: float) -> None:
    instance = random_patterns(N=101, P=30, seed=1)
    schedule: dict[str, Any] = {"seed": 2, "energy": energy, "sweeps": 300, "beta_start": 0.5, "beta_step": 0.01}
    found = anneal_constrained(instance, AtLeast(margin), **schedule)
    expected = solvers.anneal(instance, margin=margin, **schedule)
    assert np.array_equal(found.weights, expected.weights)
    assert np.array_equal(found.train_errors, expected.train_errors)
    assert found.solved == expected.solved and found.iterations > 3


@pytest.mark.parametrize("energy", ["errors", "linear"])
@pytest.mark.parametrize("constraint", [Band(1.0), SquareWave(3.0)], ids=str)
def test_annealing_finds_solutions_of_other_constraints(constraint: Steps, energy: str) -> None:
    instance = random_patterns(N=201, P=60, seed=0)
    found = anneal_constrained(instance, constraint, seed=0, energy=energy)
    assert found.solved and found.train_errors[-1] == 0 and found.train_errors[0] > 0.2
    assert constraint_error(instance, constraint, found.weights) == 0
    unsolved = anneal_constrained(random_patterns(N=51, P=200, seed=0), constraint, seed=0, sweeps=3, energy=energy)
    assert not unsolved.solved and len(unsolved.train_errors) == 4
    again = constraint_error(random_patterns(N=51, P=200, seed=0), constraint, unsolved.weights)
    assert unsolved.train_errors[-1] == again > 0


@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_the_messages_of_a_margin_are_those_of_belief_propagation(margin: float) -> None:
    instance = random_patterns(N=201, P=80, seed=0)
    found = constrained_bp(instance, AtLeast(margin), seed=0, tolerance=1e-9)
    expected = solvers.belief_propagation(instance, margin=margin, seed=0, tolerance=1e-9)
    assert found.converged and expected.converged
    assert found.entropy == pytest.approx(expected.entropy, abs=1e-9)
    np.testing.assert_allclose(found.magnetizations, expected.magnetizations, atol=1e-7)


def test_the_entropy_of_a_band_is_that_of_the_symmetric_perceptron() -> None:
    """Its solutions have no overlap, so the Bethe entropy is the theory's at any size."""
    N, P, kappa = 301, 240, 1.0
    # The edge is half-way between the last sum in the band and the next one.
    edge = max(s for s in range(-N, N + 1, 2) if abs(s) <= kappa * math.sqrt(N)) + 1
    found = constrained_bp(random_patterns(N=N, P=P, seed=0), Band(kappa), seed=0, tolerance=1e-9)
    theory = typical(SymmetricPerceptron(alpha=P / N, kappa=edge / math.sqrt(N)))
    assert found.converged and np.abs(found.magnetizations).max() < 1e-6
    assert found.entropy == pytest.approx(theory.entropy, abs=1e-9)


def test_the_entropy_of_a_square_wave_is_that_of_the_theory() -> None:
    """Half a period is an even number of steps of the lattice, so both have the same edges."""
    N, P = 501, 200
    half = 66 / math.sqrt(N)
    found = [constrained_bp(random_patterns(N=N, P=P, seed=seed), SquareWave(2 * half), seed=0) for seed in range(12)]
    assert all(one.converged for one in found)
    entropies = [one.entropy for one in found]
    theory = typical(Perceptron(alpha=P / N, energy=SquareWave(2 * half))).entropy
    assert abs(np.mean(entropies) - theory) < 3 * np.std(entropies, ddof=1) / math.sqrt(len(found))


@pytest.mark.parametrize("constraint", [Band(1.0), AtLeast(0.0), SquareWave(3.0)], ids=str)
def test_reinforcement_finds_solutions(constraint: Steps) -> None:
    instance = random_patterns(N=201, P=80, seed=3)
    found = constrained_bp(instance, constraint, seed=0, reinforcement=0.02)
    assert found.solved and constraint_error(instance, constraint, found.weights) == 0
    assert math.isnan(found.entropy)


@pytest.mark.parametrize("without", [{"coupling": 0.0}, {"coupling": 0.9, "replicas": 1 + 1e-12}], ids=["γ", "y"])
def test_without_replicas_it_is_belief_propagation(without: dict[str, Any]) -> None:
    instance = random_patterns(N=201, P=80, seed=0)
    given: dict[str, Any] = {"seed": 0, "tolerance": 1e-12, "max_iterations": 25}
    plain = constrained_bp(instance, SquareWave(3.0), **given)
    found = constrained_bp(instance, SquareWave(3.0), **given, **without)
    assert found.iterations == 25 and found.train_errors.min() > 0
    np.testing.assert_allclose(found.total, plain.total, atol=1e-9)


@pytest.mark.parametrize("coupling", [0.3, 0.6])
def test_the_focused_messages_of_a_margin_are_those_of_focusing(coupling: float) -> None:
    """One step of `focusing_bp` at a small coupling, until it has converged and has no solution yet, from any start."""
    instance = random_patterns(N=301, P=120, seed=0)
    found = constrained_bp(
        instance, AtLeast(0.0), seed=0, coupling=coupling, replicas=3.0, tolerance=1e-11, damping=0.5
    )
    expected = solvers.focusing_bp(
        instance, seed=0, steps=1, cap=math.tanh(coupling), replicas=3.0, max_iterations=1000, tolerance=1e-11
    )
    assert found.iterations < 1000 and expected.converged and math.isnan(found.entropy)
    np.testing.assert_allclose(found.magnetizations, expected.magnetizations, atol=1e-8)


@pytest.mark.parametrize(("constraint", "P"), [(Band(1.0), 200), (AtLeast(0.0), 80), (SquareWave(3.0), 80)], ids=str)
def test_focusing_finds_solutions(constraint: Steps, P: int) -> None:
    instance = random_patterns(N=201, P=P, seed=3)
    found = constrained_focusing_bp(instance, constraint, seed=0)
    assert found.solved and constraint_error(instance, constraint, found.weights) == 0
    assert len(found.train_errors) == found.iterations + 1
    assert found.train_errors[-1] == 0 < found.train_errors[:-1].min()


@pytest.mark.parametrize("reinforcement", [0.0, 0.01])
def test_a_run_that_was_saved_goes_on_to_the_bit(tmp_path: Path, reinforcement: float) -> None:
    instance = random_patterns(N=101, P=120, seed=0)
    given: dict[str, Any] = {"seed": 0, "reinforcement": reinforcement, "tolerance": 1e-12}
    whole = constrained_bp(instance, Band(1.0), max_iterations=30, **given)
    part = constrained_bp(instance, Band(1.0), max_iterations=12, **given)
    part.save(tmp_path / "run.npz")
    read = ConstrainedBeliefs.load(tmp_path / "run.npz")
    for one in dataclasses.fields(part):
        np.testing.assert_array_equal(getattr(read, one.name), getattr(part, one.name))
    on = constrained_bp(instance, Band(1.0), max_iterations=30, start=read, **given)
    assert (part.iterations, on.iterations, whole.iterations) == (12, 30, 30)
    assert np.array_equal(on.messages, whole.messages) and np.array_equal(on.total, whole.total)
    assert np.array_equal(np.concatenate([part.train_errors, on.train_errors[1:]]), whole.train_errors)


def test_a_file_that_is_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no run")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    for name in ("missing.npz", "text.npz", "other.npz"):
        with pytest.raises(DataError, match=f"{name}: no saved run") as refused:
            ConstrainedBeliefs.load(tmp_path / name)
        assert "\n" not in str(refused.value)


@dataclass(frozen=True)
class Odd(Steps):
    edges: tuple[float, ...] = (0.0,)
    energies: tuple[float, ...] = (0.0, math.inf)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"constraint": 1.0}, "constraint = float object"),
        ({"constraint": Odd(energies=(1.0, 0.0))}, "constraint = Odd object"),
        ({"constraint": Odd(edges=(0.0, 1.0))}, "energies = "),
        ({"constraint": Odd(edges=(-50.0,))}, "allows no sum of N = 11"),
        ({"instance": random_patterns(N=10, P=5, seed=0)}, "N = 10 is even"),
        ({"instance": hidden_manifold(D=5, P=5, N=11, seed=0, activation="tanh")}, "instance: allowed is"),
        ({"seed": 0.5}, "seed = 0.5"),
    ],
)
@pytest.mark.parametrize("solver", [anneal_constrained, constrained_bp, constrained_focusing_bp])
def test_wrong_arguments_are_refused(solver: Any, change: dict[str, Any], said: str) -> None:
    given = {"instance": random_patterns(N=11, P=5, seed=0), "constraint": Band(1.0), "seed": 0}
    with pytest.raises(DomainError, match=said):
        solver(**{**given, **change})


def test_a_start_of_another_size_is_refused() -> None:
    start = constrained_bp(random_patterns(N=11, P=5, seed=0), Band(1.0), seed=0, max_iterations=1)
    with pytest.raises(DomainError, match="a run of an instance of P = 6, N = 11"):
        constrained_bp(random_patterns(N=11, P=6, seed=0), Band(1.0), seed=0, start=start)
