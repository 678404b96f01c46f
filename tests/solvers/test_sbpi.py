import math

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.perceptron import hidden_manifold, random_patterns, smallest_allowed
from localentropy.numerics.bits import pack_signs, unpack_signs
from localentropy.solvers.batch import solve_many
from localentropy.solvers.binary.sbpi import sbpi
from localentropy.solvers.binary.sbpi_kernels import sbpi_passes
from tests.random_streams import random_word


class Twin:
    """The rule in plain Python."""

    def __init__(self, instance, margin, theta, reinforcement, hidden, key):
        self.patterns = instance.signed_patterns.astype(int)
        self.hidden = hidden.astype(int)
        self.offset = smallest_allowed(margin, instance.N) - 1
        self.theta, self.reinforcement = theta, reinforcement
        self.order = list(range(instance.P))
        self.key, self.counter = key, 0

    def word(self):
        self.counter += 1
        return random_word(self.key, self.counter)

    def run(self):
        """One pass; returns the number of errors after it."""
        for k in range(len(self.order) - 1, 0, -1):
            place = ((self.word() >> 32) * (k + 1)) >> 32
            self.order[k], self.order[place] = self.order[place], self.order[k]
        for mu in self.order:
            pattern = self.patterns[mu]
            weights = np.sign(self.hidden)
            s = weights @ pattern - self.offset
            if s <= 0:
                self.hidden = self.hidden + 2 * pattern
            elif s <= self.theta and (self.word() & 0xFFFFFFFF) < math.floor(2**32 * self.reinforcement):
                self.hidden = self.hidden + np.where(weights == pattern, 2 * weights, 0)
        return int((self.patterns @ np.sign(self.hidden) <= self.offset).sum())


@pytest.mark.parametrize("N, P", [(33, 20), (63, 40), (65, 64), (129, 90), (1, 1)])
@pytest.mark.parametrize("margin, theta, reinforcement", [(0, 1, 0.3), (0, 3, 1.0), (0.5, 1, 0.3), (0, 1, 0.0)])
def test_the_kernel_follows_the_rule_to_the_integer(N, P, margin, theta, reinforcement):
    instance = random_patterns(N=N, P=P, seed=0)
    hidden = 2 * np.random.default_rng(1).integers(0, 2, N, dtype=np.int32) - 1
    twin = Twin(instance, margin, theta, reinforcement, hidden, key=9)
    weights, order, stream = pack_signs(hidden), np.arange(P), np.array([9, 0], np.uint64)
    patterns, errors = pack_signs(instance.signed_patterns), np.zeros(1, np.int64)
    least, below = smallest_allowed(margin, N), np.uint64(math.floor(2**32 * reinforcement))
    for _ in range(15):
        sbpi_passes(patterns, hidden, weights, order, stream, least, theta, below, errors)
        assert errors[0] == twin.run()
        np.testing.assert_array_equal(hidden, twin.hidden)
        np.testing.assert_array_equal(unpack_signs(weights, N), np.sign(twin.hidden))
        assert order.tolist() == twin.order and int(stream[1]) == twin.counter
        assert (hidden % 2 == 1).all()


@pytest.mark.parametrize("margin, over", [(0.0, 1.5), (0.2, 3)])
def test_solutions_have_no_errors(margin, over):
    instance = hidden_manifold(D=67, P=201, N=int(201 * over) // 2 * 2 + 1, seed=0)
    solution = sbpi(instance, margin=margin, seed=0)
    assert solution.solved and instance.train_error(solution.weights, margin) == 0
    assert instance.stabilities(solution.weights).min() >= margin
    assert len(solution.train_errors) == solution.iterations + 1 and solution.train_errors[-1] == 0
    assert (solution.train_errors[:-1] > 0).all()


def test_what_cannot_be_solved_is_said_to_be_unsolved():
    instance = random_patterns(N=101, P=120, seed=0)
    solution = sbpi(instance, seed=0, passes=50)
    assert not solution.solved and solution.iterations == 50
    assert solution.train_errors[-1] == instance.train_error(solution.weights)
    assert 0 < solution.best_train_error <= solution.train_errors[-1]


def test_random_patterns_are_stored_up_to_0_6_per_weight():
    instances = [random_patterns(N=1001, P=600, seed=seed) for seed in range(3)]
    assert all(solution.solved for solution in solve_many(sbpi, instances, seeds=range(3), threads=1))


def test_the_default_size_is_solved_as_fast_and_generalises_as_known():
    instances = [hidden_manifold(D=201, P=603, N=725, seed=seed) for seed in range(20)]
    solutions = solve_many(sbpi, instances, seeds=range(20), threads=1)
    assert all(solution.solved for solution in solutions)
    assert 45 < np.mean([solution.iterations for solution in solutions]) < 95
    errors = [one.test_error(found.weights, 4000) for one, found in zip(instances, solutions, strict=True)]
    # 0.2818(25) elsewhere, 20 instances.
    assert abs(np.mean(errors) - 0.2818) < 3 * math.hypot(0.0025, np.std(errors, ddof=1) / math.sqrt(20))


def test_results_do_not_depend_on_threads():
    instances = [hidden_manifold(D=33, P=99, N=151, seed=seed) for seed in range(5)]
    runs = [solve_many(sbpi, instances, seeds=range(5), threads=threads, passes=200) for threads in (1, 4)]
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.train_errors, other.train_errors)


@pytest.mark.parametrize(
    "instance, options, message",
    [
        (random_patterns(N=32, P=9, seed=0), {}, "N = 32 is even"),
        (hidden_manifold(D=5, P=9, N=33, seed=0, activation="tanh"), {}, "±1 patterns"),
        (random_patterns(N=33, P=9, seed=0), {"theta": 2}, "theta = 2"),
        (random_patterns(N=33, P=9, seed=0), {"theta": -1}, "theta = -1"),
        (random_patterns(N=33, P=9, seed=0), {"reinforcement": 1.5}, "reinforcement = 1.5"),
        (random_patterns(N=33, P=9, seed=0), {"passes": 0}, "passes = 0"),
        (random_patterns(N=33, P=9, seed=0), {"passes": 10**9}, "overflow"),
        (random_patterns(N=33, P=9, seed=0), {"margin": 6.0}, "margin = 6.0"),
    ],
)
def test_wrong_arguments_are_refused(instance, options, message):
    with pytest.raises(DomainError, match=message):
        sbpi(instance, seed=0, **options)
