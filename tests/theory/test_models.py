"""The perceptron and the tree committees: values of `margins`, independent quadrature, limits, refusals."""

import math
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad
from scipy.special import erf, log_ndtr, ndtr
from scipy.stats import norm

from localentropy.errors import DomainError
from localentropy.numerics.jets import log, logistic, variables
from localentropy.theory import (
    Model,
    Perceptron,
    RandomFeatures,
    Spherical,
    TeacherStudent,
    TreeCommittee,
    alpha_c,
    alpha_le,
    alpha_min,
    franz_parisi,
    kappa_max,
    kappa_min,
    kappa_u,
    stability_density,
    typical,
)
from localentropy.theory.franz_parisi_entropy import FranzParisiCurve, curve_point
from localentropy.theory.typical_solutions import typical_point
from localentropy.theory.weights import Weights
from tests.finite_differences import slope_at

MODELS: dict[str, Callable[..., Model]] = {
    "perceptron": Perceptron,
    "relu": partial(TreeCommittee, activation="relu"),
    "sign": TreeCommittee,
}
SMOOTH = {"erf": erf, "tanh": np.tanh}
POINTS = [("perceptron", 0.5, 0.0), ("perceptron", 0.7, 0.1), ("perceptron", 0.02, 3.0), ("relu", 0.7, 0.0)]
POINTS += [("relu", 0.3, 0.5), ("sign", 0.5, 0.0), ("sign", 0.9, 0.02), ("sign", 1e-6, 10.0), ("relu", 1e-9, 0.0)]
Z, WEIGHT = np.polynomial.legendre.leggauss(1500)
Z, WEIGHT = 10 * Z, 10 * WEIGHT * norm.pdf(10 * Z)


def covariance(model, q):
    """Twin: Q(q) and its derivative, from `margins`, section 4."""
    if model == "perceptron":
        return q, 1.0
    if model == "sign":
        return 2 / math.pi * math.asin(q), 2 / math.pi / math.sqrt(1 - q * q)
    if model in SMOOTH:
        # E[g(u) g(v)] and, by Price's theorem, q times E[g'(u) g'(v)], on a uniform grid.
        g, z = SMOOTH[model], np.linspace(-10, 10, 401)
        u, v = z[:, None], q * z[:, None] + math.sqrt(1 - q * q) * z
        w = norm.pdf(z) / 20

        def bend(x):
            return 1 / np.cosh(x) ** 2 if model == "tanh" else 2 / math.sqrt(math.pi) * np.exp(-x * x)

        square = w @ g(z) ** 2
        return tuple(float(w @ (f(u) * f(v)) @ w / square) for f in (g, bend))
    slope = (math.pi / 2 + math.asin(q)) / (math.pi - 1)
    return (math.sqrt(1 - q * q) - 1) / (math.pi - 1) + q * slope, slope


@pytest.mark.parametrize(("model", "threshold"), [("perceptron", 0.8330786), ("relu", 0.9039863), ("sign", 0.9469524)])
def test_largest_load(model, threshold):
    found = alpha_c(MODELS[model]())
    assert found == pytest.approx(threshold, abs=5e-8)
    assert typical(MODELS[model](found)).entropy == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_no_margin_is_left_at_the_largest_load(model):
    """Also a few last bits beside it."""
    found = alpha_c(MODELS[model]())
    for alpha in (np.nextafter(found, 0), found, np.nextafter(found, 2)):
        assert kappa_max(MODELS[model](alpha)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("model", "alpha", "margin"),
    [
        ("perceptron", 0.5, 0.418062),
        ("perceptron", 0.6, 0.262728),
        ("perceptron", 0.7, 0.136762),
        ("perceptron", 0.729033, 0.104326),
        ("relu", 0.772489, 0.129306),
        ("sign", 0.557788, 0.479141),
    ],
)
def test_largest_margin(model, alpha, margin):
    found = kappa_max(MODELS[model](alpha))
    assert found == pytest.approx(margin, abs=1e-6)
    assert typical(MODELS[model](alpha, found)).entropy == pytest.approx(0, abs=1e-12)
    assert alpha_c(MODELS[model](margin=found)) == pytest.approx(alpha, rel=1e-11)


@pytest.mark.parametrize(("model", "threshold"), [("perceptron", 0.729033), ("relu", 0.772489), ("sign", 0.557788)])
def test_local_entropy_threshold(model, threshold):
    assert alpha_le(MODELS[model]()) == pytest.approx(threshold, abs=2e-6)


@pytest.mark.parametrize(
    ("alpha", "positive", "monotonic"),
    [(0.5, 0.029117, 0.036430), (0.6, 0.042871, 0.054557), (0.7, 0.065581, 0.087235)],
)
def test_smallest_reference_margins(alpha, positive, monotonic):
    assert kappa_min(Perceptron(alpha)) == pytest.approx(positive, abs=2e-6)
    assert kappa_u(Perceptron(alpha)) == pytest.approx(monotonic, abs=2e-6)


@pytest.mark.parametrize(("model", "alpha"), [("perceptron", 0.747736), ("relu", 0.795513), ("sign", 0.573080)])
def test_where_the_smallest_positive_margin_is_the_largest(model, alpha):
    assert kappa_min(MODELS[model](alpha - 2e-6)) == pytest.approx(kappa_max(MODELS[model](alpha - 2e-6)), abs=1e-5)
    assert alpha_min(MODELS[model]()) == pytest.approx(alpha, abs=1e-6)
    with pytest.raises(DomainError, match=r"is above alpha_min = 0\.[57]\d+: no margin of a reference makes"):
        kappa_min(MODELS[model](alpha + 2e-4))


@pytest.mark.parametrize(("model", "alpha", "margin"), POINTS)
def test_entropy_is_the_free_entropy_of_the_paper(model, alpha, margin):
    solution = typical(MODELS[model](alpha, margin))
    Q, _ = covariance(model, solution.q)
    student = WEIGHT @ np.logaddexp(math.sqrt(solution.q_hat) * Z, -math.sqrt(solution.q_hat) * Z)
    pattern = WEIGHT @ log_ndtr((math.sqrt(Q) * Z - margin) / math.sqrt(1 - Q))
    expected = -0.5 * solution.q_hat * (1 - solution.q) + student + alpha * pattern
    assert solution.entropy == pytest.approx(expected, abs=1e-13)
    assert 0 <= solution.residual < 1e-9
    assert (solution.alpha, solution.margin) == (alpha, margin)


def test_residuals_are_the_last_corrections_of_the_solver():
    """That these bound the error is tested in `test_saddle_point.py`."""
    model = Perceptron(0.5)
    assert typical(model).residual == typical_point(model).residual > 0
    curve, log_distance = FranzParisiCurve(model, model), math.log(0.05)
    point = curve.point(log_distance)
    assert curve_point(curve.problem(log_distance), point).residual == point.residual > 0


@pytest.mark.parametrize(("model", "alpha", "margin"), POINTS)
def test_order_parameters_solve_the_explicit_equations(model, alpha, margin):
    solution = typical(MODELS[model](alpha, margin))
    Q, slope = covariance(model, solution.q)
    h = (margin - math.sqrt(Q) * Z) / math.sqrt(1 - Q)
    hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
    assert solution.q == pytest.approx(WEIGHT @ np.tanh(math.sqrt(solution.q_hat) * Z) ** 2, rel=1e-9)
    assert solution.q_hat == pytest.approx(alpha * slope / (1 - Q) * WEIGHT @ hazard**2, rel=1e-9)


@pytest.mark.parametrize(("model", "alpha", "margin"), POINTS)
def test_stabilities_are_those_of_a_gaussian_above_the_margin(model, alpha, margin):
    Q, _ = covariance(model, typical(MODELS[model](alpha, margin)).q)
    field, width = math.sqrt(Q) * Z, math.sqrt(1 - Q)
    for delta in (margin, margin + 0.1, margin + 1.5):
        density = np.exp(norm.logpdf(delta, field, width) - log_ndtr((field - margin) / width))
        assert stability_density(MODELS[model](alpha, margin), delta) == pytest.approx(WEIGHT @ density, rel=1e-9)


@pytest.mark.parametrize("model", [*MODELS.values(), TeacherStudent], ids=[*MODELS, "planted"])
def test_a_larger_margin_costs_what_lies_at_the_margin(model):
    """dS/dκ = −α P(κ)."""
    slope = slope_at(lambda margin: typical(model(0.5, margin)).entropy, 0.2, 1e-3)
    assert slope == pytest.approx(-0.5 * stability_density(model(0.5, 0.2), 0.2), rel=1e-8)


@pytest.mark.parametrize(("activation", "threshold"), [("erf", 0.8698142), ("tanh", 0.8632566)])
@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_largest_load_of_smooth_activations_against_another_quadrature(activation, threshold, margin):
    """The written entropy vanishes at alpha_c, at overlaps that solve the written equations."""
    found = alpha_c(TreeCommittee(margin=margin, activation=activation))
    if margin == 0.0:
        assert found == pytest.approx(threshold, abs=5e-8)
    solution = typical(TreeCommittee(found, margin, activation))
    Q, slope = covariance(activation, solution.q)
    h, root = (margin - math.sqrt(Q) * Z) / math.sqrt(1 - Q), math.sqrt(solution.q_hat)
    hazard = np.exp(norm.logpdf(h) - log_ndtr(-h))
    assert solution.q == pytest.approx(WEIGHT @ np.tanh(root * Z) ** 2, rel=1e-9)
    assert solution.q_hat == pytest.approx(found * slope / (1 - Q) * WEIGHT @ hazard**2, rel=1e-9)
    entropy = -0.5 * solution.q_hat * (1 - solution.q) + WEIGHT @ np.logaddexp(root * Z, -root * Z)
    assert entropy + found * WEIGHT @ log_ndtr(-h) == pytest.approx(0, abs=1e-11)


@pytest.mark.parametrize("activation", ["identity", lambda x: 2 * x - 1])
def test_a_committee_of_linear_units_is_the_perceptron(activation):
    distances = [1e-7, 1e-5, 1e-3, 0.01, 0.1, 0.3, 0.6]
    for margin_ref, margin, further in (("max", 0.0, []), (0.2, 0.1, []), (0.3, 0.0, [0.9])):  # the last is frozen
        distances += further
        found = franz_parisi(TreeCommittee(0.5, margin, activation), distances, margin_ref, unsolved="nan")
        expected = franz_parisi(Perceptron(0.5, margin), distances, margin_ref, unsolved="nan")
        for column in ("entropy", "slope", "replicon"):
            np.testing.assert_allclose(found[column], expected[column], rtol=1e-6, atol=1e-9)
    assert typical(TreeCommittee(0.7, 0.1, activation)).q == pytest.approx(typical(Perceptron(0.7, 0.1)).q, rel=1e-11)
    assert alpha_le(TreeCommittee(activation=activation)) == pytest.approx(alpha_le(Perceptron()), rel=1e-8)


def test_a_reference_of_a_margin_far_above_that_of_the_students():
    """Few patterns that are stored very well: the curve's start is a student whom flips leave far above its margin."""
    table = franz_parisi(TreeCommittee(2.3e-4, 17.5, "tanh"), [0.1, 0.4, 0.5], "max")
    assert table.attrs["margin_ref"] > 50
    assert table.entropy[0] == pytest.approx(-0.1 * math.log(0.1) - 0.9 * math.log(0.9), abs=1e-12)
    at_top = franz_parisi(TreeCommittee(2.3e-4, 17.5, "tanh"), table.attrs["typical_distance"], "max")
    assert at_top.entropy[0] == pytest.approx(typical(TreeCommittee(2.3e-4, 17.5, "tanh")).entropy, abs=1e-7)


@pytest.mark.parametrize(
    ("model", "margin_ref"),
    [
        (Perceptron(0.001, 15.0), 20.0),
        (Perceptron(0.01, 7.5), 7.1),
        (Perceptron(0.03, 3.0), 4.0),
        (TeacherStudent(0.01, 5.0), 6.0),
    ],
)
def test_at_the_typical_distance_of_few_patterns_the_curve_counts_all_solutions(model, margin_ref):
    """Such margins are at many standard deviations of what two references share."""
    distance = franz_parisi(model, 0.1, margin_ref).attrs["typical_distance"]
    top = franz_parisi(model, distance, margin_ref)
    assert top.entropy[0] == pytest.approx(typical(model).entropy, abs=1e-11)


@pytest.mark.parametrize(("function", "activation"), [(np.sign, "sign"), (lambda x: max(x, 0.0), "relu")])
def test_an_activation_by_its_function_is_the_one_by_its_name(function, activation):
    assert alpha_c(TreeCommittee(margin=0.1, activation=function)) == pytest.approx(
        alpha_c(TreeCommittee(margin=0.1, activation=activation)), rel=1e-11
    )
    found, named = (
        franz_parisi(TreeCommittee(0.5, activation=g), [1e-5, 0.01, 0.3, 0.8]) for g in (function, activation)
    )
    for column in ("entropy", "slope", "replicon"):
        np.testing.assert_allclose(found[column], named[column], rtol=1e-7, atol=1e-10)
    assert named.attrs["activation"] == activation


@pytest.mark.parametrize("q", [-0.7, 0.0, 0.1, 0.5, 0.9, 0.999])
def test_covariance_of_the_committees_is_that_of_their_units(q):
    """E g(x) g(y) at correlation q, the mean over y done in closed form."""
    rest = math.sqrt(1 - q * q)
    sign = quad(lambda x: 2 * norm.pdf(x) * (2 * ndtr(q * x / rest) - 1), 0, 12, epsabs=1e-14)[0]

    def rectified(x):
        return norm.pdf(x) * x * (q * x * ndtr(q * x / rest) + rest * norm.pdf(q * x / rest))

    mean = 1 / math.sqrt(2 * math.pi)
    relu = (quad(rectified, 0, 12, epsabs=1e-14)[0] - mean**2) / (0.5 - mean**2)
    for activation, expected in (("sign", sign), ("relu", relu)):
        found = TreeCommittee(1.0, 0.0, activation).units.covariance(variables([q])[0])
        assert found.value == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("activation", ["sign", "relu"])
@pytest.mark.parametrize("v", [1e-30, 1e-15, 1e-9, 1e-5, 4.9e-3, 5.1e-3, 0.1, 0.5, 1.0])
def test_what_is_lost_of_a_covariance_keeps_its_digits(activation, v):
    """1 - Q(1 - v) and its derivatives near v = 0, and Q(q) at q = v, against 200 digits."""
    model = TreeCommittee(1.0, 0.0, activation)

    def exact(q):
        if activation == "sign":
            return 2 / mp.pi * mp.asin(q)
        return (mp.sqrt(1 - q * q) + q * (mp.pi / 2 + mp.asin(q)) - 1) / (mp.pi - 1)

    found = model.units.lost(variables([v])[0])
    with mp.workdps(200):
        value = 1 - exact(1 - mp.mpf(v))
        assert found.value == pytest.approx(float(value), rel=2e-15)
        if v < 1.0:
            assert model.units.covariance(variables([v])[0]).value == pytest.approx(float(exact(mp.mpf(v))), rel=2e-15)
        step = mp.mpf(v) * mp.mpf("1e-20")
        first = (1 - exact(1 - mp.mpf(v) - step) - (1 - exact(1 - mp.mpf(v) + step))) / (2 * step)
        second = (1 - exact(1 - mp.mpf(v) - step) + (1 - exact(1 - mp.mpf(v) + step)) - 2 * value) / step**2
        assert found.gradient[0] == pytest.approx(float(first), rel=1e-14)
        if v < 1.0:
            assert found.hessian[0, 0] == pytest.approx(float(second), rel=1e-13)


@pytest.mark.parametrize("activation", ["sign", "relu"])
def test_response_is_the_slope_of_the_covariance(activation):
    model = TreeCommittee(1.0, 0.0, activation)
    assert model.response == pytest.approx(model.units.covariance(variables([0.0])[0]).gradient[0], rel=1e-15)
    assert model.flip_correlation(0.3) == pytest.approx(covariance(activation, 0.3)[0], rel=1e-15)


@pytest.mark.parametrize("activation", ["sign", "erf", "identity"])
@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_random_features_without_latent_space_are_a_perceptron(activation, margin):
    """alpha_T -> 0: the labels tell nothing; the margin counts in units of the activation's deviation."""
    unit = {"sign": 1.0, "erf": math.sqrt(2 / math.pi * math.asin(2 / 3)), "identity": 1.0}[activation]
    storing, latent = typical(Perceptron(0.5, margin)), typical(RandomFeatures(1e-9, 2.0, margin * unit, activation))
    assert latent.entropy == pytest.approx(storing.entropy, abs=1e-8)
    assert (latent.q, latent.q_hat) == pytest.approx((storing.q, storing.q_hat), rel=1e-7)
    assert alpha_c(RandomFeatures(1e-9, margin=margin * unit, activation=activation)) == pytest.approx(
        alpha_c(Perceptron(margin=margin)), rel=1e-7
    )
    assert kappa_max(RandomFeatures(1e-9, 2.0, activation=activation)) == pytest.approx(
        unit * kappa_max(Perceptron(0.5)), rel=1e-7
    )


def test_few_patterns_leave_all_solutions():
    """alpha -> 0 at no margin: each pattern halves the students."""
    for model in MODELS.values():
        assert typical(model(1e-9)).entropy == pytest.approx(math.log(2) * (1 - 1e-9), abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("question", "arguments", "own", "message"),
    [
        (typical, (-0.5,), (), r"alpha = -0.5 is out of range: allowed are \[1e-09, 1e\+09\]"),
        (typical, (math.nan,), (), "alpha"),
        (typical, ("half",), (), "alpha"),
        (kappa_max, (0.0,), (), r"alpha = 0 is out of range: allowed are \[1e-09, 1e\+09\]"),
        (kappa_u, (math.inf,), (), "alpha"),
        (kappa_min, (True,), (), "alpha"),
        (typical, (0.5, -4.1), (), r"margin = -4.1 is out of range: allowed are \[-4, 1000\]"),
        (alpha_c, (None, 1e4), (), r"margin = 10000 is out of range: allowed are \[-4, 1000\]"),
        (typical, (2.0,), (), r"alpha = 2 is above alpha_c = 0\.[89]\d+: there are no solutions"),
        (
            kappa_max,
            (1e6,),
            (),
            r"alpha = 1000000 is above alpha_c = 21885\.\d+ at margin = -4: there are no solutions",
        ),
        (typical, (30.0, -1.0), (), r"alpha = 30 is above alpha_c = 3\.\d+ at margin = -1: there are no solutions"),
        (
            kappa_u,
            (2.0,),
            (),
            r"kappa_max = -0\.\d+ at alpha = 2 is not above margin = 0 by more than 0.0001 of itself",
        ),
        (
            kappa_u,
            (0.82,),
            (),
            r"alpha = 0.82 is above alpha_LE = 0\.[57]\d+: no margin of a reference makes",
        ),
        (
            typical,
            (0.5, 5.0),
            (),
            r"margin = 5 is out of range: allowed are \[-4, kappa_max = 0\.[45]\d+\] at alpha = 0.5",
        ),
        (
            franz_parisi,
            (0.5,),
            ([0.1], 5.0),
            r"margin_ref = 5 is out of range: allowed are \[-4, kappa_max = 0\.[45]\d+\] at alpha = 0.5",
        ),
        (franz_parisi, (0.5,), ([0.1], "most"), r"margin_ref = 'most' is not known: allowed are max, and a number"),
        (franz_parisi, (0.5,), ([0.1, 1.0],), r"distance = 1 is out of range: allowed are \[1e-09, 1\)"),
        (franz_parisi, (0.5,), ([],), "no distance given"),
    ],
)
def test_refusals_name_the_argument_its_value_and_what_is_allowed(model, question, arguments, own, message):
    with pytest.raises(DomainError, match=message) as refused:
        question(MODELS[model](*arguments), *own)
    assert "\n" not in str(refused.value)


def test_activation_of_a_committee_by_name():
    with pytest.raises(
        DomainError, match=r"activation = 'rellu' is not known: allowed are sign, relu, .*; nearest is 'relu'"
    ):
        typical(TreeCommittee(0.5, activation="rellu"))
    with pytest.raises(DomainError, match=r"^activation = \['sign'\] is not known"):
        alpha_c(TreeCommittee(activation=["sign"]))  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["RandomFeatures(3.0, 1.2)", "Perceptron(0.5)", "TreeCommittee(0.5)"])
def test_theory_neither_imports_torch_nor_asks_for_threads(model):
    """A fresh process without any thread setting computes a curve, and torch is nowhere."""
    program = f"""
import sys
from localentropy.theory import *
assert franz_parisi({model}, [0.1]).entropy[0] > 0
assert "torch" not in sys.modules
"""
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_an_activation_without_linear_part_stores_random_patterns():
    """Its patterns do not see the teacher: the perceptron in other units."""
    blind = typical(RandomFeatures(3.0, 2.0, activation=lambda z: (z * z - 1) / math.sqrt(2)))
    assert (blind.entropy, blind.q) == pytest.approx(
        (typical(Perceptron(0.5)).entropy, typical(Perceptron(0.5)).q), abs=1e-9
    )
    assert blind.error_typical == blind.error_barycenter == 0.5


@pytest.mark.parametrize("margin", [0.42, 1.0, 500.0])
def test_a_margin_beyond_the_largest_names_the_largest(margin):
    with pytest.raises(DomainError, match=r"margin = .* is out of range: allowed are \[-4, kappa_max = 0.418062"):
        typical(Perceptron(0.5, margin))


@pytest.mark.parametrize("margin_ref", [True, [0.1], None, "large"])
def test_a_margin_of_the_reference_that_is_none_is_refused(margin_ref):
    with pytest.raises(DomainError, match="margin_ref"):
        franz_parisi(Perceptron(0.5), [0.1], margin_ref)


class OnASphere(Weights):
    """Weights on a sphere: the log of their volume at an overlap."""

    binary = False
    names = ("logit q",)

    def order_parameters(self, y):
        return SphericalOverlap(logistic(y[0]), logistic(-y[0]))

    def entropy(self, x, alpha):
        return 0.5 * (log(x.v) + x.q / x.v)

    def reported(self, x):
        return {"q": x.q}

    def start(self, model, load):
        return np.log([load * model.alpha * model.response * model.asked.slopes(model.variance)[0] ** 2])


SphericalOverlap = namedtuple("SphericalOverlap", "q v")


class SphericalPerceptron(Perceptron):
    weights = OnASphere()


@pytest.mark.parametrize("alpha", [0.01, 0.5, 1.0, 1.5, 1.9, 1.99])
def test_weights_on_a_sphere_give_the_spherical_perceptron(alpha):
    ours, known = typical(SphericalPerceptron(alpha)), typical(Spherical(alpha, units=1))
    assert ours.q == pytest.approx(known.q, rel=1e-8) and ours.entropy == pytest.approx(known.entropy, rel=1e-9)


@pytest.mark.parametrize("margin", [-0.7, 0.3])
def test_weights_on_a_sphere_are_stationary_at_a_margin(margin):
    """Twin: Gardner's saddle point, q / (1 - q)^2 = alpha E[(h(x) / (1 - q)^1/2)^2] with the hazard h, on a grid."""
    q = typical(SphericalPerceptron(0.6, margin=margin)).q
    x = (margin - math.sqrt(q) * Z) / math.sqrt(1 - q)
    hazard = np.exp(norm.logpdf(x) - log_ndtr(-x))
    assert q / (1 - q) == pytest.approx(0.6 * WEIGHT @ hazard**2, rel=1e-8)


@pytest.mark.parametrize("question", [alpha_c, kappa_max, lambda model: franz_parisi(model, [0.1])])
def test_other_questions_refuse_weights_that_are_not_binary(question):
    with pytest.raises(
        DomainError, match="is computed for binary weights only: those of SphericalPerceptron are others"
    ):
        question(SphericalPerceptron(0.5))
