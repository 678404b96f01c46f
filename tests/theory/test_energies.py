"""Energies of a model: against plain integrals, the hard margin, Gibbs learning, enumeration, finite differences."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import norm

from localentropy.errors import ConvergenceError, DomainError
from localentropy.numerics.jets import variables
from localentropy.theory import (
    CrossEntropy,
    GibbsLoss,
    HardMargin,
    Labels,
    Perceptron,
    RandomFeatures,
    SquareWave,
    Steps,
    TeacherStudent,
    TreeCommittee,
    alpha_c,
    franz_parisi,
    generalization_errors,
    gibbs,
    kappa_max,
    local_entropy,
    replicon,
    typical,
)
from localentropy.theory.energies import SIGN, step_levels
from localentropy.theory.model import Covariances
from localentropy.theory.pair_energy import NODES, StepReference
from localentropy.theory.step_patterns import step_slopes
from tests.enumeration import all_signs
from tests.finite_differences import five_point_slope, five_points, slope_at, slopes_of_jet

Z = np.linspace(-9, 9, 2001)
WEIGHT = norm.pdf(Z) * (Z[1] - Z[0])


@dataclass(frozen=True)
class Levels(Steps):
    """Any energy that is constant between edges."""

    edges: tuple[float, ...]
    energies: tuple[float, ...]
    log_beta: float = 0.0


@dataclass(frozen=True)
class Stated(Steps):
    """What a user may write by mistake."""

    edges: Any
    energies: Any
    log_beta: Any = 0.0


@dataclass
class Unfrozen(Steps):
    """A dataclass that can be changed."""

    largest: float
    edges = (0.0, 1.0)
    energies = (math.inf, 0.0, math.inf)


@dataclass(frozen=True)
class WithoutEnergies(Steps):
    """Half of an energy."""

    edges = (0.0, 1.0)


BAND = Levels((-0.8, 0.8), (math.inf, 0.0, math.inf))
DOOR = Levels((-0.6, 0.6), (0.0, math.inf, 0.0))
WINDOW = Levels((0.0, 1.0), (math.inf, 0.0, math.inf))
STAIRS = Levels((-1.0, 0.0, 0.5), (3.0, 1.5, 0.4, 0.0), 0.3)
ENERGIES = [BAND, DOOR, WINDOW, STAIRS, GibbsLoss(0.4), GibbsLoss(0.0)]
POINTS = [(0.3, 0.7, 0.0), (0.5, 0.2, 0.4), (0.05, 0.9, -0.2), (0.2, 0.03, 0.6)]


def mean_weight(energy, omega, root):
    """Of omega + root x, from the Gaussian's distribution function."""
    ends = (np.array([-math.inf, *energy.edges, math.inf]) - np.asarray(omega)[..., None]) / root
    low, high = ends[..., :-1], ends[..., 1:]
    inside = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    return inside @ np.exp(-math.exp(energy.log_beta) * np.array(energy.energies))


def plain_term(energy, C, V, R, labels):
    """Mean of the logarithm over the teacher's u with the label 1 and omega = R u + sqrt(C) y, by two integrals."""
    ends = [-9.0, *labels.edges, 9.0]
    total = chance = 0.0
    for low, high, weight in zip(ends[:-1], ends[1:], labels.weights, strict=True):

        def inner(u):
            return norm.pdf(u) * (WEIGHT @ np.log(mean_weight(energy, R * u + math.sqrt(C) * Z, math.sqrt(V))))

        total += weight * quad(inner, low, high, epsabs=1e-12, limit=200)[0] if weight else 0.0
        chance += weight * (ndtr(high) - ndtr(low))
    return total / chance


@pytest.mark.parametrize("labels", [SIGN, Labels((-1.0, 0.0, 1.0), (1.0, 0.0, 1.0, 0.0))], ids=["sign", "wave"])
@pytest.mark.parametrize("energy", ENERGIES, ids=str)
def test_the_term_is_the_mean_over_the_teacher_and_the_common_part(energy, labels):
    for point in POINTS[:2]:
        found = energy.term(Covariances(*variables(point)), energy.control, labels)
        assert found.value == pytest.approx(plain_term(energy, *point, labels), rel=1e-8)


@pytest.mark.parametrize("energy", [*ENERGIES, CrossEntropy(2.0, 1.3)], ids=str)
def test_derivatives_of_the_term_are_differences(energy):
    taught = not isinstance(energy, CrossEntropy)
    for C, V, R in POINTS if taught else POINTS[:1]:

        def term(values):
            *at, control = variables(values)
            return energy.term(Covariances(at[0], at[1], at[2] if taught else 0.0), control)

        here = np.array([C, V, R, energy.control])
        found, step = term(here), 2e-4 * V
        for index in range(4):
            slope, second = slopes_of_jet(term, here, step, index)
            assert found.gradient[index] == pytest.approx(slope, abs=2e-9)
            np.testing.assert_allclose(found.hessian[index], second, atol=1e-6)


@pytest.mark.parametrize("margin", [0.0, 0.7, -1.5])
@pytest.mark.parametrize("point", [*POINTS, (0.5, 1e-7, 0.0), (1e-6, 1e-4, 0.9)])
def test_one_step_is_a_hard_margin(point, margin):
    """Its kernel has other nodes and other formulas."""
    jets = Covariances(*variables(point))
    found = Levels((margin,), (math.inf, 0.0)).term(jets, 0.0)
    expected = HardMargin(margin).term(jets, margin)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(found.gradient, expected.gradient, rtol=1e-10, atol=1e-290)


def test_slopes_and_cost_of_random_weights():
    """The closed forms, and what every energy gets from its term."""
    for energy in ENERGIES:
        first, second = energy.slopes(1.7)
        step = 1e-3
        values = np.log(mean_weight(energy, np.array(five_points(0.0, step)), math.sqrt(1.7)))
        assert first == pytest.approx(five_point_slope(values, step), abs=1e-9)
        by_term = super(Steps, energy).slopes(1.7)
        assert (first, second) == pytest.approx((math.copysign(by_term[0], first), by_term[1]), abs=1e-6)
        assert energy.cost(1.7) == pytest.approx(-math.log(mean_weight(energy, 0.0, math.sqrt(1.7))), rel=1e-9)


@pytest.mark.parametrize("alpha, temperature", [(0.4, 0.7), (1.1, 0.25), (1.7, 0.4), (15.0, 10.0)])
def test_learning_at_a_temperature_is_a_model_with_this_energy(alpha, temperature):
    """`gibbs.learning` finds its states along the field on the teacher, with another integral over the sites."""
    state, model = gibbs.learning(alpha, temperature), TeacherStudent(alpha, energy=GibbsLoss(temperature))
    found = typical(model)
    expected = (state.teacher_overlap, state.overlap, state.entropy, state.energy, state.free_entropy)
    numbers = (found.r, found.q, found.entropy, found.mean_energy, found.free_entropy)
    assert numbers == pytest.approx(expected, abs=1e-10)
    assert generalization_errors(model).typical == pytest.approx(state.generalization_error, abs=1e-10)


def test_the_load_where_a_state_ends_is_named():
    """Beyond it there is the teacher alone (`gibbs.learning`)."""
    with pytest.raises(ConvergenceError, match=r"followed up to alpha = \S+ and may end there") as lost:
        typical(TeacherStudent(1.8, energy=GibbsLoss(0.4)))
    named = float(str(lost.value).split("alpha = ")[1].split()[0])
    assert named == pytest.approx(gibbs.spinodal(0.4), abs=1e-3)


@pytest.mark.parametrize("energy, alpha", [(WINDOW, 0.3), (DOOR, 0.0), (STAIRS, 0.8)], ids=str)
def test_typical_weights_solve_the_written_equations(energy, alpha):
    """The free entropy on a plain grid, and its two stationarity conditions by differences."""
    if energy is DOOR:
        energy, alpha = Levels((-1.0, 0.2), (0.0, math.inf, 0.0)), 0.6
    found = typical(Perceptron(alpha, energy=energy))

    def phi(q, q_hat):
        sites = WEIGHT @ np.logaddexp(math.sqrt(q_hat) * Z, -math.sqrt(q_hat) * Z)
        pattern = WEIGHT @ np.log(mean_weight(energy, math.sqrt(q) * Z, math.sqrt(1 - q)))
        return -0.5 * q_hat * (1 - q) + sites + alpha * pattern

    value = found.entropy if energy.hard else found.free_entropy
    assert value == pytest.approx(phi(found.q, found.q_hat), abs=1e-10)
    for index in range(2):
        slope = slope_at(lambda at: phi(*at), (found.q, found.q_hat), 1e-4, index)
        assert slope == pytest.approx(0.0, abs=1e-8)


def test_weights_without_overlap_are_stable_up_to_the_replicon_one():
    """A price of 2 between -1 and 1 lowers the mean weight, whose second derivative by the pre-activation is known."""
    energy, lost = Levels((-1.0, 1.0), (0.0, 2.0, 0.0)), 1 - math.exp(-2.0)
    bend = lost * 2 * norm.pdf(1.0) / (1 - lost * (ndtr(1.0) - ndtr(-1.0)))
    assert typical(Perceptron(0.999 / bend**2, energy=energy)).q == 0.0
    with pytest.raises(DomainError, match=r"solutions without overlap are unstable \(replicon = 1\.001\)"):
        typical(Perceptron(1.001 / bend**2, energy=energy))


def test_energy_and_entropy_at_a_temperature_are_derivatives():
    def at(log_beta):
        return typical(Perceptron(0.8, energy=Levels(STAIRS.edges, STAIRS.energies, log_beta)))

    found, slope = at(0.3), slope_at(lambda log_beta: at(log_beta).free_entropy, 0.3, 1e-3)
    assert found.mean_energy == pytest.approx(-slope * math.exp(-0.3), abs=1e-9)
    assert found.entropy == pytest.approx(found.free_entropy + math.exp(0.3) * found.mean_energy, abs=1e-12)


def test_enumeration_counts_about_as_many_solutions():
    """Mean of ln of the number of solutions per weight at two sizes, against the entropy: within 5 % of it."""
    rng = np.random.default_rng(3)
    expected = typical(Perceptron(4 / 13, energy=WINDOW)).entropy
    for N, P in ((13, 4), (26, 8)):
        found = []
        signs = all_signs(13).astype(float)
        for _ in range(30):
            patterns = rng.standard_normal((N, P)) / math.sqrt(N)
            if N == 13:
                counts = ((s := signs @ patterns) >= 0).all(1) & (s <= 1).all(1)
                number = int(counts.sum())
            else:
                left, right = signs @ patterns[:13], signs @ patterns[13:]
                chosen = rng.integers(0, len(left), 400)
                hits = [(((s := left[row] + right) >= 0) & (s <= 1)).all(1).sum() for row in chosen]
                number = np.mean(hits) * len(left)
            found.append(math.log(max(number, 0.5)) / N)
        assert np.mean(found) == pytest.approx(expected, rel=0.05)


def test_a_committee_of_linear_units_is_the_perceptron_for_any_energy():
    committee, perceptron = (kind for kind in (TreeCommittee(0.3, activation="identity", energy=WINDOW),
                                               Perceptron(0.3, energy=WINDOW)))  # fmt: skip
    assert typical(committee).entropy == pytest.approx(typical(perceptron).entropy, abs=1e-11)
    assert alpha_c(committee) == pytest.approx(alpha_c(perceptron), rel=1e-10)


def test_features_without_latent_space_are_a_perceptron_for_any_energy():
    """The labels of a teacher that is not seen are random."""
    latent, storing = typical(RandomFeatures(1e-9, 1.25, energy=STAIRS)), typical(Perceptron(0.8, energy=STAIRS))
    assert (latent.entropy, latent.q) == pytest.approx((storing.entropy, storing.q), abs=1e-7)


def test_edges_and_energies_may_be_any_sequence_of_numbers():
    @dataclass(frozen=True)
    class Listed(Steps):
        edges = [-0.8, 0.8]  # type: ignore[assignment] # noqa: RUF012 (what users write)
        energies = np.array([math.inf, 0, math.inf])  # type: ignore[assignment]

    assert typical(Perceptron(0.5, energy=Listed())).entropy == typical(Perceptron(0.5, energy=BAND)).entropy


def test_solutions_around_solutions_are_those_of_the_hard_margin():
    """Franz-Parisi entropies by the kernel of edges and by that of margins."""
    found = franz_parisi(Perceptron(0.5, energy=GibbsLoss(0.0)), [0.3, 0.01])
    expected = franz_parisi(Perceptron(0.5), [0.3, 0.01], 0.0)
    for column, close in (("entropy", 1e-9), ("slope", 1e-7), ("replicon", 1e-6)):
        np.testing.assert_allclose(found[column], expected[column], atol=close)
    assert found.attrs["typical_distance"] == pytest.approx(expected.attrs["typical_distance"], abs=1e-9)
    assert replicon(Perceptron(0.5, energy=GibbsLoss(0.0))) == pytest.approx(replicon(Perceptron(0.5)), abs=1e-8)


def test_the_curve_around_solutions_in_a_window_has_its_maximum_at_their_distance():
    model = Perceptron(0.3, energy=WINDOW)
    found = typical(model)
    curve = franz_parisi(model, 0.5 * (1 - found.q))
    assert curve.attrs["typical_distance"] == pytest.approx(0.5 * (1 - found.q), abs=1e-9)
    assert curve["entropy"][0] == pytest.approx(found.entropy, abs=1e-8)


def written_slopes(energy, omega, root):
    """ln of the mean weight and its two derivatives, with 700 digits."""
    with mp.workdps(700):
        omega, root = mp.mpf(omega), mp.mpf(root)
        weights = [
            mp.exp(-mp.exp(energy.log_beta) * each) if each < math.inf else mp.mpf(0) for each in energy.energies
        ]
        places = [(mp.mpf(edge) - omega) / root for edge in energy.edges]
        tails = [mp.mpf(1), *(mp.erfc(place / mp.sqrt(2)) / 2 for place in places), mp.mpf(0)]
        total = mp.fsum(weight * (a - b) for weight, a, b in zip(weights, tails, tails[1:], strict=False))
        jumps = [(b - a) * mp.npdf(place) / total for a, b, place in zip(weights, weights[1:], places, strict=False)]
        first, second = mp.fsum(jumps), mp.fsum(jump * place for jump, place in zip(jumps, places, strict=True))
        return float(mp.log(total)), float(first / root), float((second - first**2) / root**2)


@pytest.mark.parametrize(
    "energy", [*ENERGIES, SquareWave(5.0), Levels((-0.01, 0.01), (math.inf, 0.0, math.inf))], ids=str
)
def test_slopes_of_a_mean_weight_are_those_with_many_digits(energy):
    rng = np.random.default_rng(0)
    edges, energies = step_levels(energy.edges, energy.energies)
    for omega, root in zip(rng.uniform(-4, 4, 40), 10 ** rng.uniform(-1, 0.3, 40), strict=True):
        found = step_slopes(omega, root, edges, math.exp(energy.log_beta) * energies)
        for power, (one, written) in enumerate(zip(found, written_slopes(energy, omega, root), strict=True)):
            assert abs(one - written) < 1e-12 * max(abs(written), root**-power)


def plain_pair(reference, energy, here, V_ref, C_ref):
    """G_E of a student beside a reference by three plain integrals, over the variables z, x and y."""
    s, X, V, Y, Z_, _ = here
    z = np.linspace(-8, 8, 161)
    y = np.linspace(-8, 8, 161)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    factors = np.exp(-math.exp(reference.log_beta) * np.array(reference.energies))
    root_Q, root_V = math.sqrt(C_ref), math.sqrt(V_ref)
    a, b = s * root_Q + Z_ / root_Q, s * root_V + (Y - Z_) / root_V
    gamma = math.sqrt(X - Z_**2 / C_ref - (Y - Z_) ** 2 / V_ref)
    total = 0.0
    for at, weight in zip(z, norm.pdf(z) * (z[1] - z[0]), strict=True):
        # The pieces of x between edges.
        ends = np.clip([-8.0, *(np.array(reference.edges) - root_Q * at) / root_V, 8.0], -8.0, 8.0)
        half, middle = 0.5 * np.diff(ends)[:, None], 0.5 * (ends[1:] + ends[:-1])[:, None]
        x = (middle + half * nodes).ravel()
        of_x = (half * weights * factors[:, None]).ravel() * norm.pdf(x)
        f = np.log(mean_weight(energy, a * at + b * x[:, None] + gamma * y, math.sqrt(V))) @ (
            norm.pdf(y) * (y[1] - y[0])
        )
        total += weight * (of_x @ f) / of_x.sum()
    return total


@pytest.mark.parametrize("energy", [WINDOW, STAIRS, SquareWave(5.0)], ids=str)
@pytest.mark.parametrize(("X", "step", "close"), [(0.35, 1e-4, 1e-8), (0.01192, 2e-6, 1e-6)], ids=["broad", "narrow"])
def test_the_term_of_a_pair_is_three_integrals_and_its_gradient_differences(energy, X, step, close):
    """In the second place the students' mean hardly moves beside the reference's, and the domain ends nearby."""
    C_ref, V_ref, here = 0.3, 0.7, np.array([0.6, X, 0.3, 0.1, 0.05, 0.0])
    reference = energy.reference(Covariances(C_ref, V_ref, 0.0))
    assert isinstance(reference, StepReference)
    solved = Levels(energy.edges, tuple(0.0 if each == 0.0 else math.inf for each in energy.energies))

    def value(point):
        return reference.pair_energy(0.0, point, NODES)[0]

    assert value(here) == pytest.approx(plain_pair(energy, solved, here, V_ref, C_ref), rel=1e-9)
    gradient = reference.pair_energy(0.0, here, NODES)[1]
    for index in range(5):
        assert gradient[index] == pytest.approx(slope_at(value, here, step, index), abs=close)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: Perceptron(0.5, energy="hinge"), "energy = 'hinge' is no energy"),  # type: ignore[arg-type]
        (lambda: Perceptron(0.5, 0.1, BAND), r"margin = 0\.1 beside an energy"),
        (lambda: GibbsLoss(-1.0), r"temperature = -1 is out of range"),
        (lambda: CrossEntropy(0.01, 1.0), r"gamma = 0\.01 is out of range"),
        (lambda: CrossEntropy(1.0, math.inf), r"log_beta = inf"),
        (
            lambda: kappa_max(Perceptron(0.5, energy=WINDOW)),
            r"Perceptron with energy = Levels\(.*\): leave ",
        ),
        (
            lambda: local_entropy(Perceptron(0.5, energy=WINDOW), 0.1),
            "is not computed for Perceptron with energy",
        ),
        (
            lambda: alpha_c(Perceptron(energy=GibbsLoss(0.3))),
            "take one that is 0 or infinite, or leave energy",
        ),
        (lambda: typical(Perceptron(2.0, energy=WINDOW)), r"alpha = 2 is above alpha_c = 0\.634276977608"),
        (lambda: typical(Perceptron(3.0, energy=GibbsLoss(0.05))), "weights are frozen: allowed are higher temper"),
        (lambda: franz_parisi(Perceptron(0.3, energy=WINDOW), 0.1, 0.0), "margin_ref = 0.0"),
        (lambda: TeacherStudent(0.8, energy=CrossEntropy(2.0, 0.0)), "is not computed for a teacher's labels"),
        (lambda: TeacherStudent(0.3, energy=BAND), "energy = Levels.* does not see the teacher"),
        (lambda: franz_parisi(TeacherStudent(0.8, energy=GibbsLoss(0.4)), 0.1), "not computed for TeacherStudent with"),
        (
            lambda: replicon(RandomFeatures(3.0, 2.0, energy=GibbsLoss(0.0))),
            "Features with energy = Gibbs.*: leave energy",
        ),
        (lambda: typical(Perceptron(0.3, energy=Levels((1.0, 0.0), (0.0, 1.0, 0.0)))), "edges = .* increasing order"),
        (lambda: typical(Perceptron(0.3, energy=Levels((1.0,), (0.0, 1.0, 0.0)))), "one more than edges: 2"),
        (lambda: Perceptron(0.3, energy=Levels((1.0,), (2.0, 1.0))), "the least must be 0"),
        (lambda: Perceptron(energy=Stated(0.5, (1.0, 0.0))), r"^edges = 0\.5: allowed is a tuple of numbers in incr"),
        (lambda: Perceptron(energy=Stated(("a",), (1.0, 0.0))), r"^edges = \('a',\): allowed is a tuple of numbers"),
        (lambda: Perceptron(energy=Stated((0.0,), ("a", 0.0))), r"^energies = \('a', 0\.0\): allowed is a tuple of"),
        (lambda: Perceptron(energy=Stated((0.0,), (1.0, 0.0), "a")), "^log_beta = 'a' is not a number"),
        (lambda: Perceptron(energy=Stated((0.0,), (1.0, 0.0), 800)), r"^log_beta = 800 .*: allowed are \[-20, 300\]$"),
        (
            lambda: Perceptron(energy=Stated([0.0], (1.0, 0.0))),
            r"^Stated\(.*\) has no hash: write @dataclass",
        ),
        (lambda: Perceptron(energy=Unfrozen(1.0)), r"^Unfrozen\(largest=1\.0\) has no hash: write @dataclass\(frozen"),
        (lambda: Perceptron(energy=WithoutEnergies()), "^WithoutEnergies states no energies: allowed is a tuple of"),
    ],
)
def test_refusals(ask, message):
    with pytest.raises(DomainError, match=message) as refused:
        ask()
    assert "\n" not in str(refused.value)
