"""Smallest margins and largest loads of a monotonic or positive Franz-Parisi entropy, for models without teacher."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.theory import (
    Model,
    Perceptron,
    RandomFeatures,
    TeacherStudent,
    TreeCommittee,
    alpha_c,
    alpha_le,
    alpha_min,
    franz_parisi,
    kappa_max,
    kappa_min,
    kappa_u,
    monotonicity,
    thresholds,
)
from localentropy.theory.model import OPEN, Covariances, PairCovariances
from localentropy.theory.pair_energy import NODES

PERCEPTRON = [
    # alpha, kappa_min, kappa_u, kappa_max
    (0.5, 0.029117, 0.036430, 0.418062),
    (0.6, 0.042871, 0.054557, 0.262728),
    (0.7, 0.065581, 0.087235, 0.136762),
]
LOCAL_ENTROPY = [
    # model, alpha_LE, kappa_max there, distance of the horizontal tangent
    (Perceptron, 0.729033, 0.104326, 0.00500),
    (partial(TreeCommittee, activation="relu"), 0.772489, 0.129306, 0.00545),
    (TreeCommittee, 0.557788, 0.479140, 0.00173),
]
NAMES = ["perceptron", "relu", "sign"]


def step(x):
    """An activation with a jump beside 0."""
    return (x > 0.5) * 1.0


FINE = np.geomspace(1e-5, 0.2, 120)


@pytest.mark.parametrize(("alpha", "smallest", "monotonic", "largest"), PERCEPTRON)
def test_quoted_margins_of_the_perceptron(alpha, smallest, monotonic, largest):
    assert kappa_min(Perceptron(alpha)) == pytest.approx(smallest, abs=1e-6)
    assert kappa_u(Perceptron(alpha)) == pytest.approx(monotonic, abs=1e-6)
    assert kappa_max(Perceptron(alpha)) == pytest.approx(largest, abs=1e-6)


@pytest.mark.parametrize(("model", "alpha", "margin", "distance"), LOCAL_ENTROPY, ids=NAMES)
def test_quoted_local_entropy_thresholds(model, alpha, margin, distance):
    found = alpha_le(model())
    assert found == pytest.approx(alpha, abs=2e-6)
    # The margin falls by about two where the load grows by one.
    assert kappa_max(model(found)) == pytest.approx(margin, abs=1e-5)
    grid = distance * np.geomspace(0.8, 1.25, 31)
    slopes = franz_parisi(model(found), grid).slope
    assert grid[slopes.idxmin()] == pytest.approx(distance, rel=0.02)
    assert slopes.min() == pytest.approx(0.0, abs=1e-6)
    assert slopes[0] > 1e-5
    assert slopes.iloc[-1] > 1e-5


@pytest.mark.parametrize(("model", "alpha", "margin", "distance"), LOCAL_ENTROPY, ids=NAMES)
def test_monotonic_below_the_threshold_and_not_above(model, alpha, margin, distance):
    found = alpha_le(model())
    for factor, monotonic in ((0.998, True), (1.002, False)):
        assert (franz_parisi(model(factor * found), FINE).slope > 0).all() == monotonic


@pytest.mark.parametrize(("function", "alpha", "distance"), [(kappa_min, 0.5, 0.00107), (kappa_u, 0.5, 0.00052)])
def test_distance_of_the_dip(function, alpha, distance):
    grid = distance * np.geomspace(0.5, 2.0, 61)
    table = franz_parisi(Perceptron(alpha), grid, function(Perceptron(alpha)))
    dip = table.entropy if function is kappa_min else table.slope
    assert grid[dip.idxmin()] == pytest.approx(distance, rel=0.03)


@pytest.mark.parametrize(
    ("model", "nearest"),
    [
        (Perceptron(0.5), 1e-5),
        (Perceptron(0.7), 1e-5),
        (TreeCommittee(0.5, activation="sign"), 1e-5),
        (TreeCommittee(0.5, activation="relu"), 1e-5),
        (TeacherStudent(0.1), 1e-6),
        (TeacherStudent(1.0), 1e-6),
    ],
    ids=repr,
)
def test_definitions_of_the_smallest_positive_and_the_smallest_monotonic_margin(model, nearest):
    smallest, monotonic = kappa_min(model), kappa_u(model)
    assert 0 < smallest < monotonic < kappa_max(model)
    curve = partial(franz_parisi, model, np.geomspace(nearest, 0.2, 120))
    assert (curve(margin_ref=1.002 * smallest).entropy > 0).all()
    assert (curve(margin_ref=0.998 * smallest).entropy < 0).any()
    assert (curve(margin_ref=1.002 * monotonic).slope > 0).all()
    assert (curve(margin_ref=0.998 * monotonic).slope < 0).any()


@pytest.mark.parametrize(
    "model",
    [
        Perceptron,
        TeacherStudent,
        partial(TreeCommittee, activation="relu"),
        TreeCommittee,
        partial(TreeCommittee, activation="tanh"),
        partial(TreeCommittee, activation=step),
    ],
    ids=["perceptron", "planted", "relu", "sign", "tanh", "step"],
)
def test_all_thresholds_of_a_model(model):
    """alpha_LE and alpha_min from their definitions: curves around the largest margin on both sides, and in order."""
    found = thresholds(model())
    assert (found.alpha_c, found.alpha_le, found.alpha_min) == tuple(f(model()) for f in (alpha_c, alpha_le, alpha_min))
    assert found.kappa_max == kappa_max(model(found.alpha_le))
    assert found.alpha_le < found.alpha_min < found.alpha_c
    grid = np.geomspace(0.05, 20, 120) * found.distance
    at_threshold = franz_parisi(model(found.alpha_le), grid)
    assert grid[at_threshold.slope.idxmin()] == pytest.approx(found.distance, rel=0.05)
    offsets = 0.05 * np.arange(-3, 4)
    slopes = franz_parisi(model(found.alpha_le), found.distance * np.exp(offsets)).slope
    flat = np.polynomial.Polynomial.fit(offsets, slopes, 6).deriv().roots()
    assert np.abs(flat).min() < 1e-7
    assert at_threshold.slope.min() == pytest.approx(0.0, abs=1e-3)
    for factor in (0.999, 1.001):
        around = franz_parisi(model(factor * found.alpha_le), grid)
        assert (around.slope > 0).all() == (factor < 1)
        around = franz_parisi(model(factor * found.alpha_min), grid)
        assert (around.entropy > 0).all() == (factor < 1)


@pytest.mark.parametrize("alpha", [5e-3, 0.02])
def test_smallest_margins_at_few_patterns(alpha):
    """The law of small distances holds there (docs/overparam/theory.md eq. 28)."""
    model = Perceptron(alpha)
    for function, criterion in ((kappa_u, monotonicity.MONOTONIC), (kappa_min, monotonicity.POSITIVE)):
        assert function(model) == pytest.approx(monotonicity.small_distance_guess(model, criterion)[0], rel=0.02)


@pytest.mark.parametrize(("function", "wanted"), [(kappa_u, "grow with distance.*"), (kappa_min, "nowhere negative")])
def test_so_few_patterns_that_the_margins_are_not_computed_are_refused(function, wanted):
    which = rf"which margins make the Franz-Parisi entropy {wanted} is decided"
    with pytest.raises(DomainError, match=rf"^too few patterns at alpha = 0\.0001: {which}"):
        function(Perceptron(1e-4))


def test_the_smallest_margins_join_the_largest_one_at_their_thresholds():
    threshold = alpha_le(Perceptron())
    assert kappa_u(Perceptron(threshold - 1e-6)) == pytest.approx(kappa_max(Perceptron(threshold - 1e-6)), abs=1e-4)
    with pytest.raises(DomainError, match="no margin of a reference makes the Franz-Parisi entropy grow with distance"):
        kappa_u(Perceptron(threshold + 1e-4))
    assert kappa_min(Perceptron(0.747735)) == pytest.approx(kappa_max(Perceptron(0.747735)), abs=1e-4)
    with pytest.raises(DomainError, match="no margin of a reference makes the Franz-Parisi entropy nowhere negative"):
        kappa_min(Perceptron(0.7479))


@pytest.mark.slow
def test_thresholds_are_stable_under_node_doubling():
    fine = (2 * NODES[0], 2 * NODES[1], NODES[2])
    model = Perceptron(0.6)
    for question, criterion in ((kappa_min, monotonicity.POSITIVE), (kappa_u, monotonicity.MONOTONIC)):
        assert monotonicity.threshold_margin(model, criterion, fine) == pytest.approx(question(model), abs=1e-7)


@pytest.mark.parametrize("question", [alpha_le, alpha_min, thresholds])
@pytest.mark.parametrize(
    ("model", "allowed"), [(Perceptron(margin=5.1), "-4, 5"), (RandomFeatures(3.0, margin=2.1), r"-3\.5, 2")]
)
def test_margins_at_which_no_search_was_tried_are_refused(question, model, allowed):
    with pytest.raises(DomainError, match=rf"^margin = {model.margin} is out of range: allowed are \[{allowed}\]"):
        question(model)


def test_margins_at_the_ends_of_the_range():
    """Where the slope has no minimum, as at large margins below alpha_LE, the search ends at the maximum of phi_FP."""
    for model in (Perceptron(margin=-4.0), Perceptron(margin=5.0)):
        found = thresholds(model)
        assert 0.4 * found.alpha_c < found.alpha_le < found.alpha_min < found.alpha_c


@dataclass(frozen=True)
class NoisyPatterns(Model):
    """Each student sees the patterns through noise of its own, also at distance 0 from its reference."""

    alpha: float = OPEN
    margin: float = 0.0
    noise: float = 0.1

    @property
    def response(self):
        return 1.0 - self.noise

    def covariances(self, x):
        return Covariances(self.response * x.q, self.noise + self.response * x.v, 0.0)

    def pair_covariances(self, x, ref):
        seen, q, t = self.response, x.chi + x.s * x.s, x.tau + x.s * ref.q
        return PairCovariances(0.0, seen * q, self.noise + seen * x.v, seen * x.s, seen * t, 0.0)

    def group_covariances(self, x):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("question", "model", "message"),
    [
        (alpha_le, NoisyPatterns(), r"\(margin=0\.0, noise=0\.1\): the slope of its .* at a load, so no load is a"),
        (alpha_le, NoisyPatterns(noise=0.01), r"at a load, so no load is a threshold$"),
        (alpha_min, NoisyPatterns(noise=0.003), r"at a load, so no load is a threshold$"),
        (
            kappa_u,
            NoisyPatterns(alpha=0.05),
            r"\(alpha=0\.05, margin=0\.0, noise=0\.1\): .* no margin is a threshold$",
        ),
        (kappa_u, NoisyPatterns(alpha=0.5, noise=0.001), r"at a margin, so no margin is a threshold$"),
        (
            kappa_min,
            NoisyPatterns(alpha=0.5),
            r": its Franz-Parisi entropy has no minimum .* at a margin,",
        ),
        (kappa_min, NoisyPatterns(alpha=0.7, noise=0.001), r"at the distance 1e-10, the entropy is still negative"),
    ],
)
def test_a_model_whose_curves_have_no_minimum_that_vanishes_has_no_threshold(question, model, message):
    with pytest.raises(DomainError, match=rf"^{question.__name__} is not computed for NoisyPatterns.*{message}"):
        question(model)


def test_a_response_that_is_not_above_0_is_refused():
    for noise in (1.0, 2.0):
        with pytest.raises(DomainError, match=rf"^response = {1 - noise:g} is out of range: .* above 0$"):
            kappa_max(NoisyPatterns(alpha=0.5, noise=noise))


def test_little_noise_of_each_student_moves_the_threshold_little():
    assert alpha_le(NoisyPatterns(noise=0.0)) == pytest.approx(alpha_le(Perceptron()), abs=1e-8)
    found = alpha_le(NoisyPatterns(noise=1e-3))
    for factor, grows in ((0.999, True), (1.001, False)):
        curve = franz_parisi(NoisyPatterns(alpha=factor * found, noise=1e-3), FINE)
        assert (curve.slope > 0).all() == grows
