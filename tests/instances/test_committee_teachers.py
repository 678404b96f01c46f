"""Committee machines: what their units see and how they vote."""

from itertools import combinations

import numpy as np
import pytest

from localentropy.data.dress_coat import training_subset
from localentropy.data.embedded import read_embedded
from localentropy.data.prepared import Dataset
from localentropy.data.registry import DATA_DIR
from localentropy.errors import DomainError
from localentropy.instances.committee import (
    FullCommittee,
    TreeCommittee,
    check_committee,
    dress_coat_committee,
    nearest_divisible,
    random_full_committee,
    random_tree_committee,
    tree_committee,
)
from localentropy.instances.perceptron import Instance, hidden_manifold, random_patterns


def answer(weights, pattern):
    """The machine, unit by unit. A pattern as long as the weights of a unit is the input of every unit."""
    size = weights.shape[1]
    inputs = [pattern] * len(weights) if len(pattern) == size else pattern.reshape(-1, size)
    return np.sign(sum(np.sign(w @ x) for w, x in zip(weights, inputs, strict=True)))


@pytest.mark.parametrize("machine", [TreeCommittee, FullCommittee])
def test_errors_are_those_of_the_machine_pattern_by_pattern(machine):
    instance = machine(hidden_manifold(D=11, P=40, N=63, seed=3), 9)
    size = {TreeCommittee: 7, FullCommittee: 63}[machine]
    assert (instance.inputs_per_unit, instance.weights_count) == (size, 9 * size)
    weights = np.random.default_rng(0).standard_normal((2, 9, size))
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
    seen = data.patterns[:, 14:21] if machine is TreeCommittee else data.patterns
    np.testing.assert_allclose(
        instance.preactivations(weights[1])[:, 2], data.labels * (seen @ weights[1, 2]), rtol=1e-12
    )


def test_machines_of_one_unit_are_the_same():
    data = hidden_manifold(D=11, P=40, N=63, seed=3)
    weights = np.random.default_rng(0).standard_normal((4, 1, 63))
    tree, full = TreeCommittee(data, 1), FullCommittee(data, 1)
    np.testing.assert_allclose(tree.preactivations(weights), full.preactivations(weights), atol=1e-12)
    np.testing.assert_array_equal(tree.test_error(weights, 50), full.test_error(weights, 50))


def test_blocks_of_patterns_change_nothing(monkeypatch):
    instance = dress_coat()
    weights = np.random.default_rng(0).standard_normal((2, 3, 784))
    whole = instance.preactivations(weights), instance.test_error(weights)
    monkeypatch.setattr("localentropy.instances.committee._BLOCK", 100 * 784 + 5)
    np.testing.assert_allclose(instance.preactivations(weights), whole[0], atol=1e-10)
    np.testing.assert_array_equal(instance.test_error(weights), whole[1])


def test_dress_and_coat_are_judged_on_their_test_set():
    dataset = read_embedded("dress_coat", DATA_DIR)
    instance = dress_coat_committee(dataset, 9)
    assert (instance.P, instance.inputs_per_unit, instance.weights_count) == (500, 784, 9 * 784)
    weights = np.random.default_rng(0).standard_normal((9, 784))
    chosen = training_subset(dataset.train.labels, dataset.train.source_indices)
    for error, split in (
        (instance.train_error(weights), dataset.train.take(chosen)),
        (instance.test_error(weights), dataset.test),
        (instance.test_error(weights, 100), dataset.test.take(np.arange(100))),
    ):
        wrong = [answer(weights, x) != y for x, y in zip(split.inputs.astype(float), split.labels, strict=True)]
        assert error == pytest.approx(np.mean(wrong), abs=1e-12) and len(wrong) in (100, 500, 677)
    check_committee(instance)


def test_training_sets_of_images_share_few_coats_and_many_dresses():
    """Of 344 dresses two sets of 250 share 182 on average, of 3583 coats 17."""
    dataset = read_embedded("dress_coat", DATA_DIR)
    labels, indices = dataset.train.labels, dataset.train.source_indices
    sets = [training_subset(labels, indices, number) for number in range(8)]
    shared = [labels[np.intersect1d(a, b)] for a, b in combinations(sets, 2)]
    assert np.mean([(both == 1).sum() for both in shared]) == pytest.approx(250**2 / 344, abs=5)
    assert np.mean([(both == -1).sum() for both in shared]) == pytest.approx(250**2 / 3583, abs=4)
    machine = dress_coat_committee(dataset, 9, number=3)
    np.testing.assert_array_equal(machine.data.patterns, dataset.train.inputs[sets[3]])


def test_shuffled_images_keep_labels_and_the_mean_of_each_pixel_and_have_no_test_error():
    dataset = read_embedded("dress_coat", DATA_DIR)
    plain, shuffled = (dress_coat_committee(dataset, 9, number=2, shuffled=flag) for flag in (False, True))
    np.testing.assert_array_equal(plain.data.labels, shuffled.data.labels)
    np.testing.assert_array_equal(plain.data.patterns.sum(0), shuffled.data.patterns.sum(0))
    assert (plain.data.patterns != shuffled.data.patterns).any(0).mean() > 0.5
    with pytest.raises(DomainError, match="no teacher"):
        shuffled.test_error(np.ones((9, 784)))
    for wrong, message in (({"number": -1}, "number = -1"), ({"shuffled": "no"}, "shuffled = 'no'")):
        with pytest.raises(DomainError, match=message):
            dress_coat_committee(dataset, 9, **wrong)


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
    for size, units, message in ((1000, 0, "K = 0 is out of range"), (np.inf, 3, "N = inf must be finite")):
        with pytest.raises(DomainError, match=message):
            nearest_divisible(size, units)


def mnist() -> Dataset:
    return read_embedded("mnist", DATA_DIR)


def dress_coat() -> FullCommittee:
    return dress_coat_committee(read_embedded("dress_coat", DATA_DIR), 3)


ONES = np.ones((5, 9), np.int8)


def own(patterns, labels) -> FullCommittee:
    return FullCommittee(Instance(patterns, labels, seed=0), 3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TreeCommittee(random_patterns(32, 5, 0), 4), "units = 4: must be odd"),
        (lambda: random_tree_committee(N=32, P=5, K=9, seed=0), "N = 32 is not divisible by units = 9.* 27, 36"),
        (lambda: random_tree_committee(N=32, P=5, K=-1, seed=0), "units = -1"),
        (lambda: random_full_committee(N=32, P=5, K=4, seed=0), "units = 4: must be odd"),
        (lambda: random_full_committee(N=27, P=5, K=9, seed=0).train_error(np.ones((9, 3))), r"\(9, 27\)"),
        (lambda: dress_coat().test_error(np.ones((3, 784)), 678), "n = 678 .* integers from 1 to 677"),
        (lambda: dress_coat_committee(mnist(), 9), "dataset = mnist: allowed is dress_coat"),
        (lambda: check_committee(random_patterns(27, 5, 0)), "Instance object: allowed is a TreeCommittee or a Full"),
        (lambda: random_tree_committee(N=27, P=5, K=9, seed=0).train_error(np.ones((3, 9))), r"\(9, 3\)"),
        (lambda: random_tree_committee(N=27, P=5, K=9, seed=0).test_error(np.ones((9, 3)), 5), "no teacher"),
        (lambda: tree_committee(D=5, P=5, N=27, K=9, seed=0).test_error(np.ones((9, 3)), 0), "n = 0"),
        (lambda: tree_committee(D=5, P=5, N=27, K=9, seed=0, activation="sing"), "'sign'"),
        (lambda: TreeCommittee(random_patterns(27, 5, 0), 9.0), "units = 9.0 is not an integer"),  # type: ignore[arg-type]
        (lambda: tree_committee(D=5, P=5, N=27, K=9, seed=0).test_error(np.ones((9, 3)), 2.5), "n = 2.5 is not an"),  # type: ignore[arg-type]
        (lambda: random_tree_committee(N=27, P=5, K=9, seed=0).train_error(np.full((9, 3), np.nan)), "weights: nan is"),
        (lambda: random_tree_committee(N=27, P=5, K=9, seed=0).train_error([["one"]]), "array of real numbers"),  # type: ignore[arg-type]
        (lambda: own(ONES, np.ones(4, np.int8)), r"labels of shape \(4,\): allowed is \(5,\)"),
        (lambda: own(ONES, np.ones((5, 1), np.int8)), r"labels of shape \(5, 1\): allowed is \(5,\)"),
        (lambda: own(ONES[:0], np.ones(0, np.int8)), r"patterns of shape \(0, 9\): allowed is \(P, N\)"),
        (lambda: own(ONES[0], [1] * 5), r"patterns of shape \(9,\): allowed is \(P, N\)"),
        (
            lambda: own(ONES, np.array([1, 0, 1, 1, 1], np.int8)),
            r"labels\[1\] = 0: allowed are 1 and -1; 2 \* labels - 1",
        ),
        (lambda: FullCommittee(ONES, 3), r"data = ndarray object: allowed is Instance\("),  # type: ignore[arg-type]
        (lambda: FullCommittee(random_patterns(9, 5, 0), 3, random_patterns(6, 5, 0)), "test patterns of N = 6 inputs"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(make, message):
    with pytest.raises(DomainError, match=message) as error:
        make()
    assert "\n" not in str(error.value)
