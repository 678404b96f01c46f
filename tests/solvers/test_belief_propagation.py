"""Belief propagation against a slow twin, exact enumeration and the replica theory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr

from localentropy.closure import code_closure
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, effective_margin, hidden_manifold, random_patterns
from localentropy.solvers.batch import solve_many
from localentropy.solvers.binary.belief_propagation import BeliefSolution, belief_propagation
from localentropy.solvers.binary.messages import Messages, Update, threshold_of
from tests.enumeration import all_signs


class TwinMessages:
    """One number after the other, in the words of the paper: u = tanh a, m = tanh(h − a)."""

    def __init__(self, instance: Instance, margin: float, start: np.ndarray) -> None:
        self.patterns = instance.signed_patterns.astype(float)
        self.threshold = threshold_of(instance, margin)
        self.fields = np.zeros(self.patterns.shape)
        self.total = np.arctanh(start)

    def answer(self, mu: int, expanded: bool) -> np.ndarray:
        xi = self.patterns[mu]
        m = np.tanh(self.total - self.fields[mu])
        v = xi**2 / np.cosh(self.total - self.fields[mu]) ** 2
        if expanded:
            x = (self.threshold - xi @ m) / math.sqrt(v.sum())
            hazard = math.exp(-0.5 * x * x - log_ndtr(-x)) / math.sqrt(2 * math.pi)
            return xi * hazard / math.sqrt(v.sum()) + xi**2 * m * hazard * (hazard - x) / v.sum()
        out = np.empty_like(m)
        for i in range(len(m)):
            omega = xi @ m - xi[i] * m[i]
            scale = math.sqrt(v.sum() - v[i])
            up = log_ndtr((omega + xi[i] - self.threshold) / scale)
            down = log_ndtr((omega - xi[i] - self.threshold) / scale)
            out[i] = np.clip(0.5 * (up - down), -30, 30)
        return out

    def sweep(
        self,
        damping: float = 0.0,
        expanded: bool = False,
        order: np.ndarray | None = None,
        coupling: float = 0.0,
        replicas: float = 1.0,
        external: float | np.ndarray = 0.0,
    ) -> None:
        new = self.fields.copy()
        for mu in range(len(new)) if order is None else order:
            new[mu] = damping * self.fields[mu] + (1 - damping) * self.answer(mu, expanded)
            if order is not None:
                self.total = self.total + new[mu] - self.fields[mu]
                self.fields[mu] = new[mu]
        self.fields = new
        own = new.sum(0) + external
        centre = np.arctanh(np.tanh(coupling) * np.tanh((replicas - 1) * np.arctanh(np.tanh(coupling) * np.tanh(own))))
        self.total = np.clip(own + centre, -30, 30)

    def free_entropy(self) -> float:
        xi, a, h = self.patterns, self.fields, self.total
        m = np.tanh(h - a)
        x = (self.threshold - (xi * m).sum(1)) / np.sqrt((xi**2 * (1 - m**2)).sum(1))
        weights = np.log(2 * np.cosh(h)) - np.log(np.cosh(a)).sum(0)
        return float((log_ndtr(-x).sum() + weights.sum() - np.log1p(np.tanh(a) * m).sum()) / len(h))


def krauth_mezard(alpha: float, margin: float) -> tuple[float, float]:
    """Entropy and overlap of typical solutions of random patterns (margins, supplement I)."""
    z = np.linspace(-9, 9, 1201)
    weight = np.exp(-0.5 * z * z)
    weight /= weight.sum()
    q, before = 0.1, 0.0
    while abs(q - before) > 1e-13:
        before = q
        x = (margin - math.sqrt(q) * z) / math.sqrt(1 - q)
        log_tail = log_ndtr(-x)
        hazard = np.exp(-0.5 * x * x - log_tail) / math.sqrt(2 * math.pi)
        q_hat = alpha / (1 - q) * weight @ hazard**2
        q = float(weight @ np.tanh(math.sqrt(q_hat) * z) ** 2)
    entropy = -0.5 * q_hat * (1 - q) + weight @ np.log(2 * np.cosh(math.sqrt(q_hat) * z)) + alpha * weight @ log_tail
    return float(entropy), q


def z_score(values: list[float], theory: float) -> float:
    return float((np.mean(values) - theory) / (np.std(values, ddof=1) / math.sqrt(len(values))))


INSTANCES = {
    "series": (lambda: random_patterns(N=301, P=60, seed=1), 0.0),
    "few weights": (lambda: random_patterns(N=21, P=8, seed=1), 0.0),
    "margin": (lambda: random_patterns(N=101, P=30, seed=2), 0.4),
    "real patterns": (lambda: hidden_manifold(D=40, P=30, N=201, seed=1, activation="tanh"), 0.1),
}


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("coupling", [0.0, 0.8])
@pytest.mark.parametrize("order", ["parallel", "sequential"])
def test_messages_are_those_of_the_twin(name, coupling, order):
    make, margin = INSTANCES[name]
    instance = make()
    how = Update(order=order, damping=0.4, adaptive=False)
    fast = Messages(instance, margin, how, np.random.default_rng(3), epsilon=0.1)
    slow = TwinMessages(instance, margin, fast.magnetizations)
    shuffle = np.random.default_rng(3)
    shuffle.uniform(size=instance.N)
    external = np.linspace(-0.1, 0.2, instance.N)
    fast.external = external
    for _ in range(6):
        fast.sweep(coupling, 5.0)
        slow.sweep(
            damping=0.4,
            order=shuffle.permutation(instance.P) if order == "sequential" else None,
            coupling=coupling,
            replicas=5.0,
            external=external,
        )
    np.testing.assert_allclose(fast.fields, slow.fields, rtol=0, atol=1e-11)
    np.testing.assert_allclose(fast.total, slow.total, rtol=0, atol=1e-10)
    np.testing.assert_allclose(fast.incoming, fast.fields.sum(0), rtol=0, atol=1e-12)
    assert fast.free_entropy() == pytest.approx(slow.free_entropy(), abs=1e-11)
    assert fast.errors() == round(instance.train_error(fast.weights, margin) * instance.P)


@pytest.mark.parametrize("order", ["parallel", "sequential"])
def test_expanded_messages_are_those_of_the_twin(order):
    instance = random_patterns(N=301, P=60, seed=1)
    fast = Messages(instance, 0.0, Update("expanded", order, 0.2, False), np.random.default_rng(3), epsilon=0.1)
    slow = TwinMessages(instance, 0.0, fast.magnetizations)
    shuffle = np.random.default_rng(3)
    shuffle.uniform(size=instance.N)
    for _ in range(6):
        fast.sweep()
        permutation = shuffle.permutation(instance.P) if order == "sequential" else None
        slow.sweep(damping=0.2, expanded=True, order=permutation)
    np.testing.assert_allclose(fast.fields, slow.fields, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, 4.0, 8.0, 12.0])
@pytest.mark.parametrize("margin", [0.0, 0.5, 2.0])
def test_nearly_frozen_weights_get_the_messages_of_the_twin(scale, margin):
    instance = random_patterns(N=61, P=25, seed=5)
    fast = Messages(instance, margin, Update(damping=0.0, adaptive=False), np.random.default_rng(3), epsilon=0.9)
    fast.total *= scale
    slow = TwinMessages(instance, margin, np.zeros(instance.N))
    slow.total = fast.total.copy()
    fast.send()
    slow.sweep()
    # The variance of a cavity is a difference; the answer is as uncertain as that makes it.
    np.testing.assert_allclose(fast.fields, slow.fields, rtol=1e-7, atol=1e-9)


def test_frozen_weights_get_finite_messages():
    instance = random_patterns(N=61, P=25, seed=5)
    messages = Messages(instance, 0.0, Update(damping=0.0), np.random.default_rng(3), epsilon=0.9)
    messages.total = np.copysign(30.0, messages.total)
    for _ in range(5):
        messages.sweep(math.inf, 20.0)
    assert np.all(np.isfinite(messages.fields))
    assert np.abs(messages.fields).max() <= 30


def test_one_pattern_halves_the_configurations():
    solution = belief_propagation(random_patterns(N=21, P=1, seed=0), seed=0)
    assert solution.converged
    assert solution.entropy == pytest.approx(math.log(2) * 20 / 21, abs=1e-9)


def test_entropy_and_marginals_against_enumeration():
    weights = all_signs(15)
    entropy_gap, marginal_gap = [], []
    for seed in range(25):
        instance = random_patterns(N=15, P=5, seed=seed)
        solutions = weights[instance.train_error(weights) == 0]
        found = belief_propagation(instance, seed=seed)
        # On so few weights some messages run away; then there is no entropy to compare.
        assert found.converged != math.isnan(found.entropy)
        if found.converged:
            entropy_gap.append(found.entropy - math.log(len(solutions)) / 15)
            marginal_gap.append(np.abs(found.magnetizations - solutions.mean(0)).mean())
    assert len(entropy_gap) >= 20
    assert abs(np.mean(entropy_gap)) < 0.01
    assert np.max(np.abs(entropy_gap)) < 0.06
    assert np.mean(marginal_gap) < 0.05


@pytest.mark.slow
def test_entropy_against_enumeration_grows_more_exact():
    gaps: dict[int, list[float]] = {}
    for N in (11, 21):
        weights = all_signs(N)
        gaps[N] = []
        for seed in range(25):
            instance = random_patterns(N=N, P=(N - 1) // 3, seed=seed)
            found = belief_propagation(instance, seed=0)
            if found.converged:
                solutions = np.count_nonzero(instance.train_error(weights) == 0)
                gaps[N].append(abs(found.entropy - math.log(solutions) / N))
        assert len(gaps[N]) >= 22
    assert np.mean(gaps[21]) < 0.7 * np.mean(gaps[11])
    assert np.mean(gaps[21]) < 0.006


def test_messages_that_run_away_are_not_converged():
    """On 15 weights, the messages of some instances raise each other without bound."""
    for seed, damping in ((0, 0.3), (22, 0.3), (11, 0.7)):
        run = belief_propagation(random_patterns(N=15, P=5, seed=seed), seed=seed, damping=damping)
        assert not run.converged
        assert math.isnan(run.entropy)


@pytest.mark.parametrize(("N", "P", "margin"), [(1001, 500, 0.0), (501, 125, 0.2)])
def test_random_patterns_obey_the_replica_theory(N, P, margin):
    runs = [belief_propagation(random_patterns(N, P, seed), margin=margin, seed=0) for seed in range(30)]
    entropy, overlap = krauth_mezard(P / N, effective_margin(margin, N))
    assert all(run.converged for run in runs)
    assert abs(z_score([run.entropy for run in runs], entropy)) < 3.5
    assert abs(z_score([run.overlap for run in runs], overlap)) < 3.5


def test_krauth_mezard_values():
    assert krauth_mezard(0.5, 0.0) == pytest.approx((0.31439, 0.32239), abs=1e-5)
    assert krauth_mezard(0.833078, 0.0)[0] == pytest.approx(0, abs=1e-5)


def test_expansion_changes_the_entropy_at_order_one_over_N():
    instance = random_patterns(N=1001, P=500, seed=0)
    exact = belief_propagation(instance, seed=0)
    expanded = belief_propagation(instance, seed=0, update="expanded")
    assert expanded.entropy == pytest.approx(exact.entropy, abs=1e-6)
    np.testing.assert_allclose(expanded.magnetizations, exact.magnetizations, atol=0.02)


@pytest.mark.parametrize("make", [lambda: random_patterns(401, 160, 3), lambda: hidden_manifold(67, 201, 805, 3)])
def test_fixed_point_does_not_depend_on_the_start(make):
    instance = make()
    options: list[dict[str, Any]] = [
        {"seed": 0, "epsilon": 0.0},
        {"seed": 1, "epsilon": 0.1},
        {"seed": 2, "epsilon": 0.5},
        {"seed": 3, "order": "sequential"},
        {"seed": 4, "damping": 0.7},
    ]
    runs = [belief_propagation(instance, tolerance=1e-11, **option) for option in options]
    assert all(run.converged for run in runs)
    for run in runs[1:]:
        assert run.entropy == pytest.approx(runs[0].entropy, abs=1e-11)
        np.testing.assert_allclose(run.magnetizations, runs[0].magnetizations, atol=1e-9)


def test_what_has_not_converged_says_so():
    run = belief_propagation(random_patterns(201, 100, 0), seed=0, max_iterations=3)
    assert not run.converged
    assert math.isnan(run.entropy)
    assert run.iterations == len(run.residuals) == 3
    assert len(run.train_errors) == 4


def test_solved_means_that_the_signs_make_no_error():
    easy = belief_propagation(random_patterns(1001, 20, 0), seed=0)
    assert easy.solved
    assert easy.train_errors[-1] == 0
    hard = belief_propagation(random_patterns(1001, 500, 0), seed=0)
    assert not hard.solved
    assert hard.train_errors[-1] > 0
    assert hard.weights.dtype == np.float64


def test_no_bit_depends_on_threads():
    instances = [random_patterns(201, 80, seed) for seed in range(6)]
    options: dict[str, Any] = {"seeds": range(6), "order": "sequential", "tolerance": 1e-4}
    one = solve_many(belief_propagation, instances, threads=1, **options)
    three = solve_many(belief_propagation, instances, threads=3, **options)
    for a, b in zip(one, three, strict=True):
        assert isinstance(a, BeliefSolution)
        assert isinstance(b, BeliefSolution)
        np.testing.assert_array_equal(a.magnetizations, b.magnetizations)
        np.testing.assert_array_equal(a.residuals, b.residuals)
        assert a.entropy == b.entropy


@pytest.mark.parametrize(
    "wrong",
    [
        {"margin": -0.1},
        {"margin": 1e3},
        {"damping": 1.0},
        {"epsilon": 1.0},
        {"max_iterations": 0},
        {"tolerance": 0.0},
        {"update": "exat"},
        {"order": "random"},
    ],
)
def test_wrong_arguments_are_refused_in_one_line(wrong):
    with pytest.raises(DomainError) as error:
        belief_propagation(random_patterns(21, 5, 0), seed=0, **wrong)
    assert "\n" not in str(error.value)


def test_message_passing_and_annealing_do_not_depend_on_each_other():
    files = {module.rpartition(".")[2] for module in code_closure("localentropy.solvers.binary.focusing_bp")}
    assert "message_kernels" in files
    assert not files & {"anneal", "annealing_kernels", "sbpi", "sbpi_kernels", "amp"}
    for solver in ("anneal", "sbpi"):
        assert "localentropy.solvers.binary.messages" not in code_closure(f"localentropy.solvers.binary.{solver}")
