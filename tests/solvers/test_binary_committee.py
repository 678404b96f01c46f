"""Message passing on committees of binary units: a slow twin, the perceptron, enumeration, the replica theory."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from localentropy.errors import DataError, DomainError
from localentropy.instances.committee import (
    Committee,
    FullCommittee,
    TreeCommittee,
    random_full_committee,
    random_tree_committee,
    tree_committee,
)
from localentropy.instances.perceptron import random_patterns
from localentropy.solvers.binary.belief_propagation import belief_propagation
from localentropy.solvers.binary.committee_bp import BinaryCommitteeBeliefs, binary_committee_bp
from localentropy.solvers.binary.committee_focusing_bp import FocusedBinaryCommittee, binary_committee_focusing_bp
from localentropy.solvers.binary.committee_kernels import majority_without
from localentropy.solvers.binary.committee_messages import CommitteeMessages
from localentropy.solvers.binary.messages import Messages, Update
from localentropy.theory import Perceptron, typical
from localentropy.theory import TreeCommittee as LargeTree
from tests.enumeration import all_signs


def start(instance: Committee, sums: str = "gaussian", damping: float = 0.4, epsilon: float = 0.1) -> CommitteeMessages:
    return CommitteeMessages(instance, sums, damping, 0, "test", epsilon)


class Twin:
    """One number after the other; sums over all votes, and exact sums over all inputs."""

    def __init__(self, instance: Committee, exact: bool, total: np.ndarray) -> None:
        self.inputs = instance.unit_inputs.astype(float)  # [K, P, n]
        self.exact = exact
        self.fields = np.zeros(self.inputs.shape)
        self.total = total.reshape(self.inputs.shape[::2]).copy()

    def is_plus(self, x: np.ndarray, m: np.ndarray) -> float:
        """Probability that Σ_i x_i w_i > 0."""
        if not self.exact:
            return float(ndtr(x @ m / math.sqrt((1 - m**2).sum())))
        w = all_signs(len(m))
        return float(np.where(w > 0, 1 + m, 1 - m).prod(1)[w @ x > 0].sum() / 2 ** len(m))

    def won(self, plus: list[float]) -> float:
        votes = all_signs(len(plus))
        p = np.array(plus)
        return float(np.where(votes > 0, p, 1 - p).prod(1)[votes.sum(1) > 0].sum())

    def units(self, mu: int) -> list[float]:
        m = np.tanh(self.total - self.fields[:, mu])
        return [self.is_plus(x, own) for x, own in zip(self.inputs[:, mu], m, strict=True)]

    def sweep(self, damping: float, coupling: float, replicas: float) -> None:
        K, P, n = self.inputs.shape
        new = np.empty((K, P, n))
        for mu in range(P):
            plus = self.units(mu)
            for unit in range(K):
                m, x = np.tanh(self.total[unit] - self.fields[unit, mu]), self.inputs[unit, mu]
                for i in range(n):
                    others = np.arange(n) != i
                    chances = []
                    for sign in (1, -1):
                        if self.exact:
                            fixed = m.copy()
                            fixed[i] = sign
                            p = self.is_plus(x, fixed)
                        else:
                            spread = math.sqrt((1 - m[others] ** 2).sum())
                            p = float(ndtr((x[others] @ m[others] + sign * x[i]) / spread))
                        chances.append(self.won([*plus[:unit], p, *plus[unit + 1 :]]))
                    new[unit, mu, i] = 0.5 * math.log(chances[0] / chances[1])
        self.fields = damping * self.fields + (1 - damping) * new
        own = self.fields.sum(1)
        inner = np.arctanh(np.tanh(coupling) * np.tanh(own))
        self.total = own + np.arctanh(np.tanh(coupling) * np.tanh((replicas - 1) * inner))

    def free_entropy(self) -> float:
        a: np.ndarray = self.fields
        h = self.total[:, None]
        patterns = math.fsum(math.log(self.won(self.units(mu))) for mu in range(a.shape[1]))
        weights = np.log(2 * np.cosh(self.total)) - np.log(np.cosh(a)).sum(1)
        return float(patterns + weights.sum() - np.log1p(np.tanh(a) * np.tanh(h - a)).sum()) / self.total.size


MACHINES = {
    "tree of 3": random_tree_committee(N=21, P=6, K=3, seed=1),
    "tree of 5": random_tree_committee(N=25, P=8, K=5, seed=2),
    "full": random_full_committee(N=7, P=6, K=3, seed=1),
    "one unit": TreeCommittee(random_patterns(N=9, P=3, seed=1), 1),
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("coupling", [0.0, 0.8])
@pytest.mark.parametrize("sums", ["gaussian", "exact"])
def test_messages_are_those_of_the_twin(name: str, coupling: float, sums: str) -> None:
    machine = MACHINES[name]
    fast = start(machine, sums)
    slow = Twin(machine, sums == "exact", fast.total)
    for _ in range(4):
        fast.sweep(coupling, 5.0)
        slow.sweep(0.4, coupling, 5.0)
    mine = fast.result()
    np.testing.assert_allclose(mine["messages"].swapaxes(0, 1), slow.fields, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mine["total"], slow.total, rtol=0, atol=1e-11)
    np.testing.assert_array_equal(mine["weights"], np.where(slow.total >= 0, 1, -1))
    assert fast.free_entropy() == pytest.approx(slow.free_entropy(), abs=1e-12)
    assert fast.errors() == round(machine.train_error(mine["weights"]) * machine.P)


@pytest.mark.parametrize("smallest", [0.3, 1e-6, 1e-60])
@pytest.mark.parametrize("n", [1, 3, 5, 9])
def test_votes_without_one_are_those_of_all_votes(n: int, smallest: float) -> None:
    rng = np.random.default_rng(n)
    rare = smallest * rng.uniform(0.1, 1.0, n)
    side = rng.random(n) < 0.5
    plus, minus = np.where(side, rare, 1 - rare), np.where(side, 1 - rare, rare)
    votes = all_signs(n) > 0
    chances, ups = np.where(votes, plus, minus), votes.sum(1)
    decisive, above = np.empty(n), np.empty(n)
    won, lost = majority_without(plus, minus, np.empty((n + 1, n + 1)), np.empty((n + 1, n + 1)), decisive, above)
    half = (n - 1) // 2
    assert (won, lost) == pytest.approx(
        (chances.prod(1)[ups > half].sum(), chances.prod(1)[ups <= half].sum()), rel=1e-12
    )
    for one in range(n):
        # Each set of votes of the others comes twice, so only those with a + of this one count.
        others = np.delete(chances, one, axis=1).prod(1) * votes[:, one]
        assert decisive[one] == pytest.approx(others[ups - 1 == half].sum(), rel=1e-12)
        assert above[one] == pytest.approx(others[ups - 1 > half].sum(), rel=1e-12)


@pytest.mark.parametrize("coupling", [0.0, 0.8, math.inf])
@pytest.mark.parametrize("make", [TreeCommittee, FullCommittee])
def test_one_unit_is_the_perceptron(make: Any, coupling: float) -> None:
    instance = random_patterns(N=301, P=100, seed=1)
    machine = start(make(instance, 1))
    plain = Messages(instance, 0.0, Update(damping=0.4, adaptive=False), np.random.default_rng(0), epsilon=0.1)
    plain.total[:] = machine.total
    for _ in range(15):
        machine.sweep(coupling, 5.0)
        plain.sweep(coupling, 5.0)
    np.testing.assert_allclose(machine.fields, plain.fields, rtol=0, atol=1e-12)
    assert machine.errors() == plain.errors()
    if coupling < 5.0:
        assert machine.free_entropy() == pytest.approx(plain.free_entropy(), abs=1e-12)


def test_one_unit_has_the_entropy_of_the_perceptron() -> None:
    instance = random_patterns(N=301, P=120, seed=0)
    found = binary_committee_bp(TreeCommittee(instance, 1), seed=0, tolerance=1e-11)
    expected = belief_propagation(instance, seed=0, tolerance=1e-11)
    assert found.converged and found.entropy == pytest.approx(expected.entropy, abs=1e-12)
    assert found.overlap == pytest.approx(expected.overlap, abs=1e-9)
    np.testing.assert_allclose(found.magnetizations[0], expected.magnetizations, atol=1e-9)


@pytest.mark.parametrize("K", [1, 3, 5])
def test_without_loops_exact_sums_are_exact(K: int) -> None:
    """One pattern is a tree of factors, also with fields from outside on the weights."""
    machine = random_tree_committee(N=15, P=1, K=K, seed=0)
    messages = start(machine, "exact", damping=0.0)
    messages.external = np.linspace(-0.9, 0.6, 15)
    for _ in range(3):
        messages.sweep()
    weights = all_signs(15).astype(float)
    right = weights[machine.train_error(weights.reshape(-1, K, 15 // K)) == 0]
    share = np.exp(right @ messages.external)
    assert messages.free_entropy() == pytest.approx(math.log(share.sum()) / 15, abs=1e-13)
    np.testing.assert_allclose(messages.magnetizations, share @ right / share.sum(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("sums", ["gaussian", "exact"])
def test_entropy_and_marginals_of_small_trees_against_enumeration(sums: str) -> None:
    """Two patterns, so that loops are few; the bounds are those of the perceptron's test."""
    weights = all_signs(15).astype(float).reshape(-1, 3, 5)
    entropy_gap, marginal_gap = [], []
    for seed in range(12):
        machine = random_tree_committee(N=15, P=2, K=3, seed=seed)
        solutions = weights[machine.train_error(weights) == 0]
        found = binary_committee_bp(machine, seed=0, sums=sums)
        if found.converged:
            entropy_gap.append(found.entropy - math.log(len(solutions)) / 15)
            marginal_gap.append(np.abs(found.magnetizations - solutions.mean(0)).mean())
    assert len(entropy_gap) >= 11
    assert abs(np.mean(entropy_gap)) < 0.01
    assert np.max(np.abs(entropy_gap)) < 0.06
    assert np.mean(marginal_gap) < 0.05


def replica_theory(alpha: float, K: int, points: int = 2**13) -> tuple[float, float]:
    """Entropy and overlap of typical solutions of a tree of K binary units, replica-symmetric."""
    fields = ndtri(qmc.Sobol(K, seed=0).random(points)).T
    z, share = np.polynomial.hermite_e.hermegauss(80)
    share /= share.sum()

    def patterns(q: float) -> float:
        votes = np.zeros((K + 1, points))
        votes[0] = 1.0
        for plus in ndtr(math.sqrt(q / (1 - q)) * fields):
            votes[1:] = votes[1:] * (1 - plus) + votes[:-1] * plus
            votes[0] *= 1 - plus
        return float(np.log(votes[(K + 1) // 2 :].sum(0)).mean())

    def conjugate(q: float) -> float:
        return -alpha * (patterns(q + 1e-3) - patterns(q - 1e-3)) / 1e-3

    q = float(brentq(lambda q: share @ np.tanh(math.sqrt(conjugate(q)) * z) ** 2 - q, 0.05, 0.5, xtol=1e-7))
    q_hat = conjugate(q)
    weights = share @ np.log(2 * np.cosh(math.sqrt(q_hat) * z))
    return float(weights - 0.5 * q_hat * (1 - q) + alpha * patterns(q)), q


def test_the_replica_theory_goes_from_the_perceptron_to_many_units() -> None:
    one, many = typical(Perceptron(alpha=0.5)), typical(LargeTree(alpha=0.5))
    assert replica_theory(0.5, K=1) == pytest.approx((one.entropy, one.q), abs=3e-4)
    few, more = (np.array(replica_theory(0.5, K)) for K in (9, 51))
    limit = np.array([many.entropy, many.q])
    # The differences are 0.0014 and 0.012 at K = 9. Without the term of order 1/K little is left.
    np.testing.assert_allclose((51 * more - 9 * few) / 42, limit, atol=5e-4)
    assert (few - limit)[0] < -0.001 and (few - limit)[1] > 0.01


@pytest.mark.parametrize("K", [3, 9])
def test_trees_obey_the_replica_theory(K: int) -> None:
    N, P = 945, 472
    runs = [binary_committee_bp(random_tree_committee(N, P, K, seed), seed=0) for seed in range(8)]
    found = np.array([(run.entropy, run.overlap) for run in runs])
    error = found.std(0, ddof=1) / math.sqrt(len(found))
    assert (np.abs(found.mean(0) - replica_theory(P / N, K)) < 3.5 * error).all()


MANY = {
    "tree": random_tree_committee(N=297, P=180, K=3, seed=0),
    "full": random_full_committee(N=99, P=180, K=3, seed=0),
    "features": tree_committee(D=41, P=123, N=297, K=9, seed=0),
}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize(
    "option",
    [
        {},
        {"stop": "first"},
        {"stop": "first", "protocol": "pseudo_reinforcement", "exponent": 0.0, "cap": 1.0, "steps": 50},
    ],
    ids=["end", "first", "reinforcement"],
)
def test_focusing_finds_solutions(name: str, option: dict[str, Any]) -> None:
    machine = MANY[name]
    found = binary_committee_focusing_bp(machine, seed=0, **option)
    assert found.solved and machine.train_error(found.weights) == 0
    assert set(np.unique(found.weights)) == {-1.0, 1.0}
    assert found.weights.shape == found.magnetizations.shape == (machine.units, machine.inputs_per_unit)
    assert len(found.train_errors) == found.iterations + 1 == found.steps.iterations.sum() + 1
    if not option:
        assert found.steps.overlap[-1] > found.steps.overlap[0] + 0.3 and len(found.steps.coupling) == 30
        np.testing.assert_allclose(np.tanh(found.steps.coupling[:-1]), np.sqrt(np.arange(1, 30) / 30))


@pytest.mark.parametrize("name", MANY)
def test_reinforcement_finds_solutions(name: str) -> None:
    machine = MANY[name]
    found = binary_committee_bp(machine, seed=0, reinforcement=0.01)
    assert found.solved and machine.train_error(found.weights) == 0 and math.isnan(found.entropy)
    assert found.train_errors[-1] == 0 < found.train_errors[0]


def test_beyond_capacity_nothing_is_claimed() -> None:
    machine = random_tree_committee(N=27, P=60, K=3, seed=0)
    found = binary_committee_focusing_bp(machine, seed=0, steps=5)
    assert not found.solved and found.best_train_error > 0
    stopped = binary_committee_bp(machine, seed=0, max_iterations=2)
    assert not stopped.converged and math.isnan(stopped.entropy)


def test_units_of_a_full_machine_part() -> None:
    machine = random_full_committee(N=99, P=180, K=3, seed=0)
    found = binary_committee_focusing_bp(machine, seed=0)
    overlaps = found.weights @ found.weights.T / 99
    assert np.abs(overlaps[np.triu_indices(3, 1)]).max() < 0.9


RUNS: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "propagation": (binary_committee_bp, BinaryCommitteeBeliefs, "max_iterations", {"tolerance": 1e-12}),
    "reinforced": (binary_committee_bp, BinaryCommitteeBeliefs, "max_iterations", {"reinforcement": 0.001}),
    "focused": (binary_committee_focusing_bp, FocusedBinaryCommittee, "until", {"max_iterations": 3}),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_was_saved_goes_on_to_the_bit(tmp_path: Path, name: str) -> None:
    solve, kind, length, given = RUNS[name]
    machine = random_tree_committee(N=99, P=60, K=3, seed=0)
    whole = solve(machine, seed=0, **given, **{length: 12})
    part = solve(machine, seed=0, **given, **{length: 5})
    part.save(tmp_path / "run.npz")
    read = kind.load(tmp_path / "run.npz")
    for one in dataclasses.fields(part):
        mine, theirs = getattr(read, one.name), getattr(part, one.name)
        if one.name == "steps":
            mine, theirs = vars(mine), vars(theirs)
        np.testing.assert_equal(mine, theirs)
    on = solve(machine, seed=0, start=read, **given, **{length: 12})
    assert part.iterations < on.iterations == whole.iterations
    for array in ("messages", "total", "weights", "magnetizations"):
        assert np.array_equal(getattr(on, array), getattr(whole, array))
    assert np.array_equal(np.concatenate([part.train_errors, on.train_errors[1:]]), whole.train_errors)
    if name == "focused":
        np.testing.assert_equal(vars(on.steps), vars(whole.steps))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    binary_committee_bp(random_tree_committee(N=27, P=5, K=3, seed=0), seed=0).save(tmp_path / "run.npz")
    with pytest.raises(DataError, match="no saved run, a FocusedBinaryCommittee") as refused:
        FocusedBinaryCommittee.load(tmp_path / "run.npz")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"instance": random_patterns(N=11, P=5, seed=0)}, "instance = Instance object"),
        ({"instance": random_tree_committee(N=30, P=5, K=3, seed=0)}, "inputs_per_unit = 10 is even"),
        ({"instance": tree_committee(D=5, P=5, N=27, K=3, seed=0, activation="tanh")}, "instance: its patterns"),
        ({"instance": random_full_committee(N=9, P=5, K=3, seed=0), "epsilon": 0.0}, "epsilon = 0"),
        ({"sums": "gauss"}, "sums = 'gauss'"),
        ({"seed": 0.5}, "seed = 0.5"),
        ({"start": 3}, "start = int object"),
    ],
)
@pytest.mark.parametrize("solver", [binary_committee_bp, binary_committee_focusing_bp])
def test_wrong_arguments_are_refused(solver: Any, change: dict[str, Any], said: str) -> None:
    with pytest.raises(DomainError, match=said):
        solver(**{"instance": random_tree_committee(N=27, P=5, K=3, seed=0), "seed": 0, **change})


def test_a_start_of_another_size_is_refused() -> None:
    first = binary_committee_bp(random_tree_committee(N=27, P=5, K=3, seed=0), seed=0, max_iterations=1)
    with pytest.raises(DomainError, match=r"with messages \[6, 3, 9\]"):
        binary_committee_bp(random_tree_committee(N=27, P=6, K=3, seed=0), seed=0, start=first)
    with pytest.raises(DomainError, match="until = 4"):
        binary_committee_focusing_bp(random_tree_committee(N=27, P=6, K=3, seed=0), seed=0, steps=3, until=4)
