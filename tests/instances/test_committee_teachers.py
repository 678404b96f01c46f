"""The tree committee machine: what its units see and how they vote."""

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.instances.committee import TreeCommittee, nearest_divisible, random_tree_committee, tree_committee
from localentropy.instances.perceptron import hidden_manifold, random_patterns


def answer(weights, pattern):
    """The machine, unit by unit."""
    size = len(pattern) // len(weights)
    votes = [np.sign(w @ pattern[unit * size : (unit + 1) * size]) for unit, w in enumerate(weights)]
    return np.sign(sum(votes))


def test_errors_are_those_of_the_machine_pattern_by_pattern():
    instance = tree_committee(D=11, P=40, N=63, K=9, seed=3)
    weights = np.random.default_rng(0).standard_normal((2, 9, 7))
    for students in (weights, weights[0]):
        train, test = instance.train_error(students), instance.test_error(students, 300)
        assert np.shape(train) == np.shape(test) == students.shape[:-2]
    data = instance.data
    for student, train, test in zip(
        weights, instance.train_error(weights), instance.test_error(weights, 300), strict=True
    ):
        wrong = [answer(student, x) != y for x, y in zip(data.patterns, data.labels, strict=True)]
        assert train == np.mean(wrong)
        fresh = [
            answer(student, x) != y
            for patterns, labels in data.test_patterns(300)
            for x, y in zip(patterns, labels, strict=True)
        ]
        assert test == np.mean(fresh)
    signed = data.patterns * data.labels[:, None]
    np.testing.assert_allclose(instance.preactivations(weights[1])[:, 2], signed[:, 14:21] @ weights[1, 2], rtol=1e-12)


def test_one_unit_is_the_perceptron_and_data_are_the_perceptrons():
    perceptron = hidden_manifold(D=11, P=40, N=63, seed=3)
    single, nine = (tree_committee(D=11, P=40, N=63, K=K, seed=3) for K in (1, 9))
    np.testing.assert_array_equal(nine.data.patterns, perceptron.patterns)
    weights = np.random.default_rng(0).standard_normal(63)
    assert single.train_error(weights[None]) == perceptron.train_error(weights)
    assert single.test_error(weights[None], 500) == perceptron.test_error(weights, 500)


def test_a_unit_at_zero_votes_for_neither_side():
    instance = random_tree_committee(N=6, P=50, K=3, seed=0)
    weights = np.zeros((3, 2))
    assert instance.train_error(weights) == 1.0  # no majority
    weights[0] = [1.0, 0.5]
    signs = instance.preactivations(weights)[:, 0] > 0
    assert instance.train_error(weights) == np.mean(~signs)


def test_nearest_divisible():
    assert [nearest_divisible(N, 9) for N in (0.1, 9, 13.4, 13.6, 1000)] == [9, 9, 9, 18, 999]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TreeCommittee(random_patterns(32, 5, 0), 4), "units = 4: must be odd"),
        (lambda: random_tree_committee(N=32, P=5, K=9, seed=0), "N = 32 is not divisible by units = 9.* 27, 36"),
        (lambda: random_tree_committee(N=32, P=5, K=-1, seed=0), "units = -1"),
        (lambda: random_tree_committee(N=27, P=5, K=9, seed=0).train_error(np.ones((3, 9))), r"\(9, 3\)"),
        (lambda: random_tree_committee(N=27, P=5, K=9, seed=0).test_error(np.ones((9, 3)), 5), "no teacher"),
        (lambda: tree_committee(D=5, P=5, N=27, K=9, seed=0).test_error(np.ones((9, 3)), 0), "n = 0"),
        (lambda: tree_committee(D=5, P=5, N=27, K=9, seed=0, activation="sing"), "'sign'"),
        (lambda: TreeCommittee(random_patterns(27, 5, 0), 9.0), "units = 9.0 is not an integer"),  # type: ignore[arg-type]
        (lambda: tree_committee(D=5, P=5, N=27, K=9, seed=0).test_error(np.ones((9, 3)), 2.5), "n = 2.5 is not an"),  # type: ignore[arg-type]
        (lambda: random_tree_committee(N=27, P=5, K=9, seed=0).train_error(np.full((9, 3), np.nan)), "must be finite"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(make, message):
    with pytest.raises(DomainError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
