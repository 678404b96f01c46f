import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localentropy.errors import DomainError
from localentropy.instances import perceptron
from localentropy.instances.perceptron import (
    HiddenManifold,
    Instance,
    effective_margin,
    hidden_manifold,
    random_patterns,
    smallest_allowed,
)
from localentropy.numerics.bits import pack_signs, unpack_signs
from localentropy.solvers import focusing_bp, sbpi


def random_weights(N, students=None, seed=0):
    shape = N if students is None else (students, N)
    return np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), shape)


def test_public_names_load_lazily():
    code = (
        "import sys, localentropy.instances, localentropy.solvers\n"
        "assert not {'numpy', 'numba', 'torch'} & set(sys.modules)\n"
        "from localentropy.instances import hidden_manifold, random_patterns\n"
        "import localentropy.solvers.binary.sbpi\n"
        "from localentropy import solvers\n"
        "assert 'localentropy.solvers.binary.anneal' not in sys.modules\n"
        "assert all(callable(f) for f in (solvers.anneal, solvers.mct0, solvers.sbpi))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_stabilities_and_train_error_follow_their_definitions():
    instance = hidden_manifold(D=21, P=63, N=125, seed=3)
    weights = random_weights(125, students=4)
    fields = weights.astype(int) @ instance.patterns.astype(int).T / math.sqrt(125)
    expected = fields * instance.labels
    np.testing.assert_allclose(instance.stabilities(weights), expected, rtol=1e-14)
    np.testing.assert_array_equal(instance.train_error(weights), (expected < 0).mean(1))
    np.testing.assert_array_equal(instance.train_error(weights, margin=0.3), (expected < 0.3).mean(1))
    assert instance.train_error(weights[2]) == (expected[2] < 0).mean()
    assert instance.train_error(0.25 * weights[2], margin=0.3) == (expected[2] < 1.2).mean()


def test_patterns_and_labels_follow_their_definitions():
    instance = hidden_manifold(D=21, P=63, N=125, seed=3, activation="tanh")
    assert instance.latent is not None and instance.features is not None and instance.teacher is not None
    fields = instance.latent @ instance.features.T / math.sqrt(21)
    np.testing.assert_allclose(instance.patterns, np.tanh(fields), atol=1e-6)
    np.testing.assert_array_equal(instance.labels, np.sign(instance.latent @ instance.teacher))
    binary = hidden_manifold(D=21, P=63, N=125, seed=3)
    assert binary.compact_patterns.dtype == np.int8
    np.testing.assert_array_equal(binary.patterns, np.sign(fields))


def test_rounding_decides_no_sign_of_a_pattern():
    D, N = 1001, 60
    stream = np.random.default_rng(0)
    latent, features = stream.standard_normal((40, D)), stream.standard_normal((N, D))
    # Features almost orthogonal to the first latent pattern: single precision alone gets half of their signs wrong.
    first, wanted = latent[0], stream.choice([-1.0, 1.0], N)
    features += np.outer(wanted * 1e-7 - features @ first, first) / (first @ first)
    assert (np.sign(latent.astype(np.float32) @ features.astype(np.float32).T)[0] != wanted).sum() > N / 5
    products = perceptron._products_with_right_signs(latent, features)
    np.testing.assert_array_equal(np.sign(products[0]), wanted)
    np.testing.assert_array_equal(np.sign(products), np.sign(latent @ features.T))
    np.testing.assert_allclose(products, latent @ features.T, atol=1e-3)


def test_integers_of_numpy_are_integers():
    one = hidden_manifold(D=np.int64(5), P=np.int32(4), N=np.uint8(7), seed=np.int64(0))  # type: ignore[arg-type]
    np.testing.assert_array_equal(one.patterns, hidden_manifold(D=5, P=4, N=7, seed=0).patterns)
    assert one.test_error(np.ones(7), n=np.int64(10)) == one.test_error([1] * 7, n=10)  # type: ignore[arg-type]


@pytest.mark.parametrize("activation", [math.tanh, np.tanh])
def test_an_activation_may_be_a_function(activation):
    given_by_name = hidden_manifold(D=5, P=4, N=7, seed=0, activation="tanh")
    given = hidden_manifold(D=5, P=4, N=7, seed=0, activation=activation)
    np.testing.assert_allclose(given.patterns, given_by_name.patterns, rtol=1e-6)


def test_sign_features_have_the_arcsine_covariance():
    P, N = 200_000, 3
    instance = hidden_manifold(D=4, P=P, N=N, seed=1)
    norms = np.linalg.norm(instance.features, axis=1)
    cosines = instance.features @ instance.features.T / np.outer(norms, norms)
    expected = 2 / np.pi * np.arcsin(np.clip(cosines, -1, 1))
    measured = instance.patterns.astype(float).T @ instance.patterns / P
    np.testing.assert_allclose(measured, expected, atol=4 / math.sqrt(P))


def gaussian_error(instance: HiddenManifold, weights: np.ndarray, mu_1: float, mu_star: float) -> float:
    """Test error of fields that are Gaussian given the features: exact for linear features and the covariate model."""
    D = len(instance.teacher)
    projected = instance.features.T @ weights / math.sqrt(instance.N)
    r, p = instance.teacher @ projected / D, projected @ projected / D
    norm = weights @ weights / instance.N
    return float(np.arccos(mu_1 * r / math.sqrt(mu_star**2 * norm + mu_1**2 * p)) / np.pi)


@pytest.mark.parametrize(
    "options, mu_1, mu_star, bias",
    [
        ({"activation": "identity"}, 1.0, 0.0, 0.0),
        ({"gaussian_covariate": True}, math.sqrt(2 / math.pi), math.sqrt(1 - 2 / math.pi), 0.0),
        # Sign features are Gaussian in the limit only.
        ({"activation": "sign"}, math.sqrt(2 / math.pi), math.sqrt(1 - 2 / math.pi), 0.01),
        ({"activation": "sign", "features": "binary"}, math.sqrt(2 / math.pi), math.sqrt(1 - 2 / math.pi), 0.01),
    ],
)
def test_test_error_is_that_of_gaussian_fields(options, mu_1, mu_star, bias):
    instance = hidden_manifold(D=101, P=30, N=801, seed=5, **options)
    weights = np.where(instance.features @ instance.teacher + 5 * random_weights(801) > 0, 1, -1)
    expected = gaussian_error(instance, weights, mu_1, mu_star)
    n = 40_000
    measured = instance.test_error(weights, n)
    assert 0.05 < expected < 0.45
    assert abs(measured - expected) < 4 * math.sqrt(0.25 / n) + bias


def test_test_error_of_several_students_and_of_real_weights():
    instance = hidden_manifold(D=21, P=63, N=125, seed=0)
    weights = random_weights(125, students=3)
    several = instance.test_error(weights, 3000)
    assert [instance.test_error(w, 3000) for w in weights] == list(several)
    assert instance.test_error(0.3 * weights[1], 3000) == several[1]
    assert instance.test_error(np.zeros(125), 3000) == 0.5


def test_more_test_patterns_begin_with_the_same():
    instance = hidden_manifold(D=21, P=63, N=2001, seed=0, gaussian_covariate=True)
    few = next(iter(instance.test_patterns(10)))
    blocks = list(instance.test_patterns(5000))
    assert len(blocks) > 1 and sum(len(labels) for _, labels in blocks) == 5000
    np.testing.assert_allclose(blocks[0][0][:10], few[0], rtol=1e-6)
    np.testing.assert_array_equal(blocks[0][1][:10], few[1])


def test_instances_depend_on_sizes_and_seed_only_and_not_on_the_activation():
    one, same, other = (hidden_manifold(D=21, P=63, N=125, seed=seed) for seed in (1, 1, 2))
    tanh = hidden_manifold(D=21, P=63, N=125, seed=1, activation="tanh")
    np.testing.assert_array_equal(one.patterns, same.patterns)
    assert (one.patterns != other.patterns).any()
    np.testing.assert_array_equal(one.latent, tanh.latent)
    np.testing.assert_array_equal(one.patterns, np.sign(tanh.patterns))


def test_random_patterns_are_unbiased_and_have_no_test_error():
    instance = random_patterns(N=1001, P=500, seed=0)
    assert instance.patterns.shape == (500, 1001) and set(np.unique(instance.patterns)) == {-1, 1}
    assert abs(instance.patterns.mean()) < 4 / math.sqrt(500 * 1001)
    assert abs(instance.labels.mean()) < 4 / math.sqrt(500)
    with pytest.raises(DomainError, match="no teacher"):
        instance.test_error(np.ones(1001))


@given(st.integers(1, 300), st.floats(0, 1))
def test_smallest_allowed_is_the_first_lattice_point_at_the_margin(N, fraction):
    margin = fraction * math.sqrt(N)
    least = smallest_allowed(margin, N)
    assert least > 0 and (least - N) % 2 == 0
    assert least >= margin * math.sqrt(N) - 1e-6
    assert least <= 2 or least - 2 < margin * math.sqrt(N)


@given(st.integers(1, 1000), st.data())
def test_a_margin_on_the_lattice_is_not_rounded_away(half, data):
    N = 2 * half + 1
    least = 2 * data.draw(st.integers(0, half)) + 1
    assert smallest_allowed(least / math.sqrt(N), N) == least
    assert effective_margin(least / math.sqrt(N), N) == (least - 1) / math.sqrt(N)


def test_margins_of_the_recipes():
    assert smallest_allowed(0.0, 2001) == 1 and effective_margin(0.0, 2001) == 0.0
    assert smallest_allowed(0.268, 2011) == 13
    assert effective_margin(0.268, 2011) == pytest.approx(0.268, abs=5e-4)


@given(st.integers(1, 200), st.integers(1, 3))
def test_packed_signs_come_back(length, rows):
    signs = np.random.default_rng(length).choice(np.array([-1, 1], np.int8), (rows, length))
    words = pack_signs(signs)
    assert words.dtype == np.uint64 and words.shape == (rows, -(-length // 64))
    np.testing.assert_array_equal(unpack_signs(words, length), signs)
    assert int(np.bitwise_count(words).sum()) == int((signs > 0).sum())


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: hidden_manifold(D=0, P=3, N=5, seed=0), "D = 0"),
        (lambda: hidden_manifold(D=3, P=3, N=5, seed=0, activation="sing"), "nearest is 'sign'"),
        (lambda: hidden_manifold(D=3, P=3, N=5, seed=0, features="uniform"), "allowed are gaussian, binary"),
        (lambda: random_patterns(N=5, P=0, seed=0), "P = 0"),
        (lambda: hidden_manifold(D=2.5, P=3, N=5, seed=0), "D = 2.5 is not an integer"),  # type: ignore[arg-type]
        (lambda: hidden_manifold(D=2, P=True, N=5, seed=0), "P = True is not an integer"),
        (lambda: hidden_manifold(D=2, P=3, N=5, seed=None), "seed = None is not an integer"),  # type: ignore[arg-type]
        (lambda: random_patterns(N=5, P=3, seed=0.5), "seed = 0.5 is not an integer"),  # type: ignore[arg-type]
        (lambda: hidden_manifold(D=3, P=3, N=5, seed=0, activation=lambda z: 1 / 0), "fails at 0.08.* .Zero"),  # type: ignore[arg-type,return-value]
        (lambda: hidden_manifold(D=3, P=3, N=5, seed=0, activation=lambda z: None), "fails at 0.08.* .TypeError"),  # type: ignore[arg-type,return-value]
        (lambda: random_patterns(N=5, P=3, seed=0).train_error(np.full(5, np.nan)), "weights: nan is among them"),
        (lambda: random_patterns(N=5, P=3, seed=0).stabilities(np.full(5, 1j)), "array of real numbers"),
        (lambda: random_patterns(N=5, P=3, seed=0).train_error(np.ones(5), margin="0"), "margin = '0' is not a number"),  # type: ignore[arg-type]
        (lambda: random_patterns(N=5, P=3, seed=0).train_error(np.ones(4)), r"allowed are \(5,\)"),
        (lambda: random_patterns(N=5, P=3, seed=0).train_error(np.ones(5), margin=-0.1), "margin = -0.1"),
        (lambda: random_patterns(N=5, P=3, seed=0).train_error(np.ones(5), margin=2.3), "margin = 2.3"),
        (lambda: hidden_manifold(D=3, P=3, N=5, seed=0).test_error(np.ones(5), n=0), "n = 0"),
        (lambda: effective_margin(0.1, 100), "N = 100 is even"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(call, message):
    with pytest.raises(DomainError, match=message) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_no_product_of_what_a_user_gets_wraps():
    instance, other = random_patterns(N=301, P=200, seed=0), random_patterns(N=301, P=200, seed=1)
    exact = instance.compact_patterns.astype(int)
    labels = instance.labels.astype(int)
    np.testing.assert_array_equal(instance.labels @ instance.patterns, labels @ exact)
    np.testing.assert_array_equal(instance.patterns @ instance.patterns.T, exact @ exact.T)
    np.testing.assert_array_equal(instance.patterns.T @ other.labels, exact.T @ other.labels.astype(int))
    assert instance.labels @ instance.labels == 200
    dense, again = (focusing_bp(instance, seed=seed, steps=5) for seed in (0, 1))
    assert dense.weights @ dense.weights == 301
    assert dense.weights @ again.weights == dense.weights.astype(int) @ again.weights.astype(int)
    fields = (instance.patterns @ dense.weights) * instance.labels
    np.testing.assert_array_equal(fields, instance.sums(dense.weights))
    taught = hidden_manifold(D=201, P=3, N=5, seed=0)
    assert taught.teacher is not None and taught.teacher @ taught.teacher == 201
    for patterns, answers in taught.test_patterns(2):
        assert (patterns.dtype, answers.dtype) == (np.float32, np.float64)


def test_signs_take_one_byte_until_the_patterns_are_asked_for():
    given = random_weights(50, 40, 3)
    given.setflags(write=False)
    instance = Instance(given, np.ones(40), 0)
    instance.train_error(np.ones(50))
    arrays = [one for one in vars(instance).values() if isinstance(one, np.ndarray)]
    assert instance.compact_patterns is given
    assert sum(one.nbytes for one in arrays) == 2 * given.nbytes + 8 * 40  # also times the labels
    assert instance.patterns is instance.patterns and instance.patterns.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64, ">i2", object])
def test_an_instance_of_signs_is_the_same_whatever_holds_them(dtype):
    patterns, labels = random_weights(31, 20), random_weights(20, seed=1)
    expected = sbpi(Instance(patterns, labels, 0), seed=0)
    found = sbpi(Instance(patterns.astype(dtype), labels.astype(dtype), 0), seed=0)
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(found.train_errors, expected.train_errors)
