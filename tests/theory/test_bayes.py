"""Bayes-optimal learning: thresholds, written integrals, state evolution, other programs, Monte Carlo, refusals."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr, ndtr

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.channels import Absolute, Door, Linear
from localentropy.numerics.priors import GaussBernoulli, Gaussian, TwoGaussians
from localentropy.theory import TeacherStudent, alpha_c, bayes, typical
from tests.finite_differences import five_point_slope, five_points
from tests.written_integrals import WEIGHT, Z, ratio, written

INF = math.inf


def sign_conjugate(m, alpha):
    x = math.sqrt(m / (1 - m))
    return alpha / (math.pi * (1 - m)) * written(lambda v: math.exp(-((x * v) ** 2) - log_ndtr(-x * v)), [0.0])


def absolute_conjugate(m, alpha):
    """The formula as it stands, on a plain grid."""
    V = 1 - m
    omega = math.sqrt(m) * Z[:, None]
    z = omega + math.sqrt(V) * Z
    mean = WEIGHT @ (z**2 * (1 - np.tanh(omega * z / V) ** 2)) @ WEIGHT
    return alpha * (1 / V - mean / V**2)


def absolute_potential(m):
    V = 1 - m
    omega = math.sqrt(m) * Z[:, None]
    z = omega + math.sqrt(V) * Z
    return -0.5 * math.log(2 * math.pi * math.e * V) + WEIGHT @ np.logaddexp(0, -2 * omega * z / V) @ WEIGHT


def gaussian_prior(m_hat):
    return m_hat / (1 + m_hat)


def binary_prior(m_hat):
    return written(lambda z: math.tanh(m_hat + math.sqrt(m_hat) * z), [0.0])


def state_evolution(prior, conjugate, alpha, m, steps=4000):
    for _ in range(steps):
        after = prior(conjugate(m, alpha))
        if abs(after - m) < 1e-12:
            return after
        m = after
    raise AssertionError("state evolution did not converge")


@pytest.mark.parametrize(
    ("prior", "channel", "weak", "spinodal", "information_theoretic", "algorithmic"),
    [
        ("binary", "sign", 0, 0, 1.244684, 1.492632),
        ("gaussian", "absolute", 0.5, 1, 1, 1.128471),
    ],
)
def test_transitions(prior, channel, weak, spinodal, information_theoretic, algorithmic):
    found = bayes.transitions(prior, channel)
    assert (found.weak, found.spinodal) == pytest.approx((weak, spinodal), abs=6e-7)
    assert found.information_theoretic == pytest.approx(information_theoretic, abs=6e-7)
    assert found.algorithmic == pytest.approx(algorithmic, abs=6e-7)


@pytest.mark.parametrize("alpha", [0.37, 1.9, 4.2])
def test_gaussian_perceptron_is_a_fixed_point_of_state_evolution(alpha):
    found = bayes.learning(alpha)
    assert found.overlap == pytest.approx(state_evolution(gaussian_prior, sign_conjugate, alpha, 1e-3), abs=1e-9)
    assert found == bayes.learning(alpha, start="informed")
    # The three errors, from the overlap.
    m, x = found.overlap, math.sqrt(ratio(found.overlap))
    assert found.bayes_error == pytest.approx(written(lambda v: min(ndtr(x * v), ndtr(-x * v)), [0.0]), abs=1e-10)
    assert found.gibbs_error == pytest.approx(math.acos(m) / math.pi, abs=1e-10)
    assert found.label_error == pytest.approx(1 - written(lambda v: (1 - 2 * ndtr(x * v)) ** 2), abs=1e-10)
    free_entropy = 0.5 * m + 0.5 * math.log(1 - m) + alpha * written(lambda v: 2 * ndtr(x * v) * log_ndtr(x * v))
    assert found.free_entropy == pytest.approx(free_entropy, abs=1e-10)


@pytest.mark.parametrize("alpha", [0.2, 0.9, 1.31])
def test_binary_perceptron_is_a_fixed_point_of_state_evolution(alpha):
    found = bayes.learning(alpha, "binary")
    assert found.overlap == pytest.approx(state_evolution(binary_prior, sign_conjugate, alpha, 1e-3), abs=1e-9)


def test_binary_perceptron_beyond_the_branch():
    algorithmic = bayes.transitions("binary", "sign").algorithmic
    for alpha, start in ((0.3, "informed"), (algorithmic + 1e-6, "uninformed")):
        found = bayes.learning(alpha, "binary", start=start)
        assert (found.overlap, found.bayes_error, found.mse) == (1, 0, 0)
        assert found.free_entropy == -math.log(2)
    assert bayes.learning(algorithmic - 1e-9, "binary").overlap == pytest.approx(0.89366, abs=1e-4)


@pytest.mark.parametrize("alpha", [0.05, 0.6, 1.1, 1.24])
def test_binary_perceptron_is_the_solution_of_the_teachers_labels(alpha):
    """Newton's method in four order parameters, another program: at margin 0 students and teacher are alike."""
    found, other = bayes.learning(alpha, "binary"), typical(TeacherStudent(alpha))
    assert (found.overlap, found.overlap) == pytest.approx((other.r, other.q), abs=1e-10)
    assert found.free_entropy == pytest.approx(other.entropy - math.log(2), abs=1e-11)
    assert bayes.transitions("binary", "sign").information_theoretic == pytest.approx(alpha_c(TeacherStudent()))


def test_law_of_large_loads():
    C = 2.263980
    for alpha, accuracy in ((1e3, 1e-3), (1e8, 1e-6)):
        found = bayes.learning(alpha)
        assert alpha * found.bayes_error == pytest.approx(1 / C, rel=accuracy)
        assert alpha * found.gibbs_error == pytest.approx(math.sqrt(2) / C, rel=accuracy)
        assert alpha**2 * found.mse == pytest.approx((math.pi / C) ** 2, rel=2 * accuracy)
    assert 1e-7 * bayes.learning(1e-7).overlap == pytest.approx(2 / math.pi * 1e-14, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.62, 0.95, 1.09])
def test_phase_retrieval_is_a_fixed_point_of_state_evolution(alpha):
    found = bayes.learning(alpha, channel="absolute")
    m = found.overlap
    assert m == pytest.approx(state_evolution(gaussian_prior, absolute_conjugate, alpha, 0.05), abs=1e-7)
    free_entropy = 0.5 * m + 0.5 * math.log(1 - m) + alpha * absolute_potential(m)
    assert found.free_entropy == pytest.approx(free_entropy, abs=1e-9)
    informed = bayes.learning(alpha, channel="absolute", start="informed")
    assert informed == found if alpha <= 1 else informed.overlap == 1 and informed.free_entropy == INF


def test_phase_retrieval_at_both_ends():
    """Weak recovery at 1/2: the curve starts there. Full recovery at 1: it ends there (docs/glm/theory.md eq. 13)."""
    load = bayes._curve(Gaussian(), Absolute()).load
    assert load(1e-9) == pytest.approx(Absolute().weak, rel=1e-8)
    assert load(1e12) == pytest.approx(1, rel=2e-6)
    assert bayes.learning(0.5, channel="absolute").overlap == 0
    assert bayes.learning(0.1, channel="absolute").label_error == pytest.approx(1 - 2 / math.pi)
    assert 0 < bayes.learning(0.5 + 1e-6, channel="absolute").overlap < 1e-5
    assert bayes.learning(1.2, channel="absolute").mse == 0


@pytest.mark.parametrize("prior", ["gaussian", "binary"])
def test_state_evolution_ends_on_the_curve(prior):
    m = bayes.state_evolution(1.2, 400, prior=prior)
    field = 1.2 * 2 / math.pi  # of labels about which nothing is known, 4 phi(0)^2 each
    first = written(lambda v: math.tanh(field + math.sqrt(field) * v))
    assert m[0] == pytest.approx(field / (1 + field) if prior == "gaussian" else first, rel=1e-9)
    assert m[-1] == pytest.approx(bayes.learning(1.2, prior).overlap, rel=1e-9)
    assert np.all(np.diff(m) > -1e-15)


@pytest.mark.parametrize(("alpha", "start"), [(0.4, 0.3), (0.9, 0.01), (1.05, 0.01), (1.05, 0.9999), (1.2, 0.01)])
def test_state_evolution_of_phase_retrieval(alpha, start):
    m = bayes.state_evolution(alpha, 2000, start, channel="absolute")
    expected = bayes.learning(alpha, "gaussian", "absolute", "informed" if start > 0.9 else "uninformed").overlap
    assert m[-1] == pytest.approx(expected, abs=1e-8)
    conjugate = absolute_conjugate(start, alpha)
    assert m[0] == pytest.approx(conjugate / (1 + conjugate), rel=1e-6)


@pytest.mark.parametrize("prior", ["gaussian", "binary"])
@pytest.mark.parametrize("overlap", [1e-6, 0.3, 0.9, 0.999999])
def test_free_entropy_is_the_smallest_value_over_the_conjugate(prior, overlap):
    alpha, r = 1.3, ratio(overlap)

    def value(log_field):
        m_hat = math.exp(log_field)
        if prior == "gaussian":
            site = 0.5 * (m_hat - math.log1p(m_hat))
        else:
            fields = [-math.sqrt(m_hat)] if m_hat < 70 else []
            site = -0.5 * m_hat + written(
                lambda z: np.logaddexp(h := m_hat + math.sqrt(m_hat) * z, -h) - math.log(2), fields
            )
        return site - 0.5 * overlap * m_hat

    bounds = (math.log(1e-7), math.log(r * 10 if prior == "gaussian" else 60))
    smallest = minimize_scalar(value, bounds=bounds, method="bounded", options={"xatol": 1e-9}).fun
    step = min(1 / math.sqrt(r), 1.0)
    pattern = 2 * written(lambda v: ndtr(x := math.sqrt(r) * v) * log_ndtr(x), [-6 * step, -step, 0.0, step, 6 * step])
    expected = smallest + alpha * pattern
    assert bayes.free_entropy(overlap, alpha, prior) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("prior", "channel", "alpha"),
    [("gaussian", "sign", 0.7), ("binary", "sign", 0.4), ("binary", "sign", 1.4), ("gaussian", "absolute", 1.1)],
)
def test_a_state_is_a_maximum_of_the_free_entropy(prior, channel, alpha):
    state = bayes.learning(alpha, prior, channel)
    m = state.overlap
    below, at, above = bayes.free_entropy([m - 1e-3, m, m + 1e-3], alpha, prior, channel)
    assert at == pytest.approx(state.free_entropy, abs=1e-13)
    assert at > max(below, above)
    values = bayes.free_entropy(five_points(m, 1e-3), alpha, prior, channel)
    assert five_point_slope(values, 1e-3) == pytest.approx(0, abs=1e-7)


def test_free_entropy_at_the_ends():
    none, almost_all = bayes.free_entropy(np.array([[0.0], [math.nextafter(1.0, 0.0)]]), 1.3, "binary")
    assert none == pytest.approx([-1.3 * math.log(2)], abs=1e-13)
    assert almost_all == pytest.approx([-math.log(2)], abs=1e-7)


OTHERS = [
    ("gaussian", Linear(0.1), 1.3),
    ("gaussian", "relu", 0.9),
    ("gaussian", Door(0.67), 2.5),
    ("binary", Linear(0.01), 0.2),
    ("binary", "relu", 0.4),
    ("binary", Door(0.67), 1.5),
    (GaussBernoulli(0.1), Linear(0.01), 0.6),
    (GaussBernoulli(0.1), "sign", 2.0),
    (GaussBernoulli(0.3), "absolute", 0.6),
    (GaussBernoulli(0.3), Door(0.67), 1.42),
    (TwoGaussians(0.9), "sign", 1.5),
    (TwoGaussians(0.9), "relu", 1.0),
    (TwoGaussians(0.9), "absolute", 0.7),
]


@pytest.mark.parametrize(("prior", "channel", "alpha"), OTHERS, ids=str)
def test_states_of_other_pairs(prior, channel, alpha):
    """State evolution goes there and not beyond, and the free entropy, of other averages, is stationary there."""
    for start, overlap in (("uninformed", 1e-4), ("informed", 1 - 1e-9)):
        state = bayes.learning(alpha, prior, channel, start)
        m = state.overlap
        way = np.array([overlap, *bayes.state_evolution(alpha, 25, overlap, prior, channel)])
        assert np.all(np.diff(np.abs(way - m)) <= 1e-9)
        assert np.all((way - m)[:-1] * (way - m)[1:] >= -1e-9)
        assert m == 1 or bayes.state_evolution(alpha, 1, m, prior, channel)[0] == pytest.approx(m, abs=1e-10)
        if 0 < m < 1:
            step = 1e-3 * min(m, 1 - m)
            values = bayes.free_entropy([*five_points(m, step), m], alpha, prior, channel)
            assert five_point_slope(values[:-1], step) * step == pytest.approx(0, abs=3e-12)
            assert values[-1] == pytest.approx(state.free_entropy, abs=1e-11)


def test_linear_labels_with_noise_in_closed_form():
    """Gaussian weights and labels: r (1 - m + noise) = alpha."""
    for alpha, noise in ((0.3, 0.01), (1.0, 1e-6), (4.0, 2.0)):
        b = 1 - alpha + noise
        r = (-b + math.sqrt(b * b + 4 * noise * alpha)) / (2 * noise)
        found = bayes.learning(alpha, channel=Linear(noise))
        assert ratio(found.overlap) == pytest.approx(r, rel=1e-8)
        assert found.label_error == pytest.approx(1 / (1 + r) + noise, rel=1e-9)


@pytest.mark.parametrize("width", [0.3, 0.5, 0.6744897501960817])
def test_binary_weights_behind_a_door_by_counting(width):
    """Nothing is learned below the load at which the labels leave one teacher: ln 2 over the entropy of a label."""
    inside = 1 - 2 * ndtr(-width)
    entropy = -inside * math.log(inside) - (1 - inside) * math.log(1 - inside)
    found = bayes.transitions("binary", Door(width))
    assert found.information_theoretic == pytest.approx(math.log(2) / entropy, rel=1e-9)
    assert found.information_theoretic < found.weak < found.algorithmic


def test_loads_of_the_literature():
    """The symmetric door with equal labels: 1 and 1.566; compressed sensing of Gauss-Bernoulli weights: its density."""
    door = bayes.transitions("binary", Door(0.67449))
    assert (door.information_theoretic, door.algorithmic) == pytest.approx((1.0, 1.566), abs=5e-4)
    for density in (0.1, 0.4):
        sensing = bayes.transitions(GaussBernoulli(density), Linear())
        assert sensing.information_theoretic == sensing.spinodal == density < sensing.algorithmic < 2.1 * density
        assert bayes.transitions(GaussBernoulli(density), "relu").information_theoretic == 2 * density


@pytest.mark.parametrize(
    ("prior", "channel"),
    [("binary", Linear(0.01)), (GaussBernoulli(0.1), Door(0.67)), (TwoGaussians(0.95), Door(0.67))],
    ids=str,
)
def test_jumps_without_recovery(prior, channel):
    """Both ends of the bistable loads, and equal free entropies between."""
    found = bayes.transitions(prior, channel)
    assert found.spinodal < found.information_theoretic < found.algorithmic < INF

    def overlaps(alpha):
        return [bayes.learning(alpha, prior, channel, start).overlap for start in bayes.STARTS]

    for alpha, apart in ((found.spinodal, (False, True)), (found.algorithmic, (True, False))):
        for side, expected in zip((1 - 1e-6, 1 + 1e-6), apart, strict=True):
            low, high = overlaps(alpha * side)
            assert (high - low > 1e-3) == expected
    low, high = (bayes.learning(found.information_theoretic, prior, channel, start) for start in bayes.STARTS)
    assert low.free_entropy == pytest.approx(high.free_entropy, abs=1e-11)
    assert low.overlap + 0.1 < high.overlap


PRIORS = {
    "Gaussian": "gaussian",
    "binary": "binary",
    "sparse, ρ = 0.1": GaussBernoulli(0.1),
    "two Gaussians, a = 0.95": TwoGaussians(0.95),
}
CHANNELS = {
    "sign": "sign",
    "absolute value": "absolute",
    "z": Linear(),
    "z, Δ = 0.01": Linear(0.01),
    "ReLU": "relu",
    "door, κ = 0.6745": Door(0.6745),
}


def test_the_table_of_the_page_of_theory():
    def cell(prior, channel):
        found = bayes.transitions(prior, channel)
        loads = found.weak, found.information_theoretic, found.algorithmic
        return ", ".join("–" if load == INF else f"{load:.4f}".rstrip("0").rstrip(".") for load in loads)

    lines = [f"| | {' | '.join(CHANNELS)} |", "|" + "---|" * (1 + len(CHANNELS))]
    for name, prior in PRIORS.items():
        lines.append(f"| {name} | {' | '.join(cell(prior, channel) for channel in CHANNELS.values())} |")
    page = (Path(__file__).resolve().parents[2] / "docs/glm/theory.md").read_text()
    assert page.split("<!-- priors and channels -->")[1].split("<!-- /priors")[0].strip() == "\n".join(lines)


def test_pairs_without_a_jump():
    found = bayes.transitions("gaussian", "sign")
    assert (found.weak, found.spinodal, found.information_theoretic, found.algorithmic) == (0, INF, INF, INF)


def test_recovered_teachers():
    """Labels of a continuum know all of it; discrete weights and labels have the entropy of the weights left."""
    assert bayes.learning(2.1, channel="relu").free_entropy == INF
    assert bayes.learning(0.9, "binary", Door(0.67), "informed").free_entropy == pytest.approx(-math.log(2), abs=1e-15)
    noisy = bayes.learning(50.0, "binary", Linear(0.01))
    assert (noisy.overlap, noisy.label_error) == (1.0, pytest.approx(0.01))
    expected = -math.log(2) - 25 * math.log(2 * math.pi * math.e * 0.01)
    assert noisy.free_entropy == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("start", bayes.STARTS)
@pytest.mark.parametrize("centre", [0.3, 0.8])
def test_the_load_at_which_the_teacher_becomes_a_fixed_point(centre, start):
    """The curve's load there and that of the last place on its grid differ by rounding, if at all."""
    state = bayes.learning(1.0, TwoGaussians(centre), Linear(), start)
    below, above = (bayes.learning(alpha, TwoGaussians(centre), Linear(), start) for alpha in (1 - 1e-9, 1 + 1e-9))
    assert below.overlap <= state.overlap <= above.overlap == 1.0


class OpenPrior(Gaussian):
    """Not a dataclass of its own, and without a hash."""

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bayes.learning(-1.0), "alpha = -1 is out of range"),
        (lambda: bayes.learning(1.0, "binry"), "nearest is 'binary'"),
        (lambda: bayes.learning(1.0, start="cold"), "start = 'cold' is not known"),
        (lambda: bayes.learning(math.nan, channel="absolute"), "alpha = nan is out of range"),
        (lambda: bayes.state_evolution(1.0, 0), "updates = 0 is out of range"),
        (lambda: bayes.state_evolution(1.0, 5, 1.0), "overlap = 1 is out of range"),
        (lambda: bayes.state_evolution(1.0, 5, channel="abs"), "nearest is 'absolute'"),
        (lambda: bayes.free_entropy([0.2, 1.0], 1.0), "overlap = 1 is out of range: allowed are"),
        (lambda: bayes.free_entropy(0.2, 1.0, "binry"), "nearest is 'binary'"),
        (lambda: bayes.transitions("binary", "sig"), "nearest is 'sign'"),
        (lambda: bayes.learning(1.0, 0.3), "prior = 0.3: allowed are gaussian, binary, and a Prior as in localentropy"),  # type: ignore[arg-type]
        (
            lambda: bayes.learning(1e9, GaussBernoulli(0.001)),
            r"alpha = 1000000000 is out of range: allowed are \[1e-09, 43881\d{3}",
        ),
        (lambda: bayes.learning(1.0, OpenPrior()), "allowed is a Prior that is a frozen dataclass"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(DomainError, match=words):
        call()


def test_a_failed_search_says_where(monkeypatch):
    monkeypatch.setattr(bayes, "LARGEST_RESIDUAL", 0.0)
    with pytest.raises(ConvergenceError, match=r"fixed point did not converge at alpha=0\.7, m_hat="):
        bayes.learning(0.7)


def test_many_updates_are_refused():
    with pytest.raises(DomainError, match="allowed are integers from 1 to 100000"):
        bayes.state_evolution(1.0, 10**30)
