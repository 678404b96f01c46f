"""Franz-Parisi entropy of any ensemble: solutions at a given distance from a typical reference.

Written in what a student differs from its reference: u = w - S w_ref, with S = 1 - 2d their overlap. All order
parameters of u vanish with the distance, so that no digits cancel there, and they vanish together where the student
does not feel the patterns: it is then the reference with random flips. Curves start from that point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import entr, xlog1py

from localentropy.arguments import require_array, require_between, require_choice
from localentropy.errors import ConvergenceError
from localentropy.numerics.continuation import Branch
from localentropy.numerics.jets import Jet, exp, expm1, log, variables
from localentropy.numerics.saddle_point import TOLERANCE, Array, FreeEntropy, StationaryPoint, solve, solve_equilibrated
from localentropy.replica import sites
from localentropy.replica.ensemble import LARGEST_MARGIN, Ensemble
from localentropy.replica.pair_energy import NODES, PairEnergy, Reference, SoftReference
from localentropy.replica.typical import largest_margin, typical_point

if TYPE_CHECKING:
    import pandas as pd

WEAK = 1e-6
"""Size of the deviation from random flips below which its square does not count."""
WEAKLY_COUPLED = 0.05
"""The same, below which the first order is a good start."""
CLOSE_MARGINS = 0.05
"""Margins closer than this, in their unit, leave student and reference almost the same measure: the free entropy is
then singular at its maximum, where the fields that both feel coincide."""
SAME_MARGINS = 1e-6
"""Margins closer than this have the overlap at the maximum in closed form, to the square of it."""
START_GAPS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
"""How far below the reference's margin a student's is tried, in its unit, so that the patterns hardly pull."""
SMALLEST_DISTANCE = 1e-9
"""Of a curve: nearer, the entropy is that of random flips."""
AROUND_MAXIMUM = np.array([-0.085, -0.07, -0.055, -0.04, 0.04, 0.055, 0.07, 0.085])
"""Relative distances from the maximum at which the slope is computed to find it."""


class Pair(NamedTuple):
    """Order parameters of the difference u = w - S w_ref of a student and its reference.

    Attributes:
        s: S = 1 - 2d.
        d: distance.
        free: q_hat - t_hat^2 / q_hat_ref, what the students' common field has beyond the references'.
        t_hat: conjugate of t.
        field: S_hat - t_hat.
        v: 1 - q.
        chi: q - S^2, overlap of the differences of two students.
        tau: t - S q_ref, overlap of a difference with another reference.
        latent: what the model adds.
    """

    s: Jet
    d: Jet
    free: Jet
    t_hat: Jet
    field: Jet
    v: Jet
    chi: Jet
    tau: Jet
    latent: Any


@dataclass(frozen=True)
class ReferencePoint:
    """A configuration to measure distances from.

    Attributes:
        x: its order parameters.
        covariances: those of its pre-activations, and what its patterns weigh.
    """

    x: Any
    covariances: Reference | SoftReference


@dataclass(frozen=True)
class FranzParisi(FreeEntropy):
    """phi_FP at a distance, nats per weight. Its control is ln d.

    Attributes:
        student: the model at the margin of the solutions counted.
        reference: the typical solution.
        log_distance: ln d.
        energy: the energetic term, shared along a curve.
    """

    student: Ensemble
    reference: ReferencePoint
    log_distance: float
    energy: PairEnergy

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Of the coordinates."""
        return ("ln(1 + free)", "t_hat", "field", "ln v", "tau", *self.student.pair_names)

    def controls(self) -> Array:
        """ln d."""
        return np.array([self.log_distance])

    def scales(self, coordinates: Array) -> Array:
        """1, but for strong fields."""
        scales = np.ones(len(coordinates))
        scales[1:3] = np.maximum(1.0, np.abs(coordinates[1:3]))
        return scales

    def refresh(self) -> bool:
        """Take differences of the energetic term's gradient again."""
        self.energy.forget()
        return True

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi_FP (`overparam`, eq. 96; `margins`, eq. 26)."""
        site_entropy, energy = self.parts(coordinates, controls)
        return site_entropy + self.student.alpha * energy

    def pair(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Pair:
        """The order parameters."""
        d = exp(controls[0])
        S, spread = 1.0 - 2.0 * d, 4.0 * d * (1.0 - d)
        chi = -spread * expm1(coordinates[3])
        return Pair(
            S, d, expm1(coordinates[0]), coordinates[1],
            coordinates[2] + 0.5 * (log(1.0 - d) - controls[0]), spread * exp(coordinates[3]), chi,
            spread * coordinates[4], self.student.pair_order_parameters(coordinates[5:], spread),
        )  # fmt: skip

    def parts(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> tuple[Jet, Jet]:
        """The terms of the sites (docs/margins/theory.md eq. 16, and what the model adds), and the energetic term."""
        x, d, ref = self.pair(coordinates, controls), exp(controls[0]), self.reference.x
        site_entropy = (
            sites.binary_pair(x.free, x.t_hat, x.field, *self.student.pair_site_fields(x, ref))
            + 2.0 * d * (x.field + ref.v * x.t_hat)
            + x.t_hat * x.tau
            - 0.5 * (x.free + x.t_hat * x.t_hat / ref.q_hat) * x.v
        )
        latent = self.student.pair_latent_entropy(x, ref)
        if latent is not None:
            site_entropy = site_entropy + latent
        return site_entropy, self.energy(self.student.margin, self.student.pair_covariances(x, ref))

    def replicon(self, coordinates: Array) -> float:
        """lambda: by how much the saddle-point equations enlarge a small splitting of the students' overlaps.

        It shrinks, and the replica-symmetric solution is stable, where lambda < 1 (docs/margins/theory.md eq. 24).
        """
        jets = variables(np.append(coordinates, self.log_distance))
        x = self.pair(jets[:-1], jets[-1:])
        ref = self.reference.x
        softness = sites.binary_pair_softness(x.free, x.t_hat, x.field, *self.student.pair_site_fields(x, ref))
        pulls = self.energy.pulls(self.student.margin, self.student.pair_covariances(x, ref))
        return softness * self.student.pair_stiffness(x, *pulls)


class CurvePoint(NamedTuple):
    """One point of a Franz-Parisi curve.

    Attributes:
        distance: d.
        entropy: phi_FP, nats per weight.
        slope: d phi_FP / d d.
        replicon: lambda; the replica-symmetric solution is stable below 1.
        residual: the error of the coordinates.
    """

    distance: float
    entropy: float
    slope: float
    replicon: float
    residual: float


def from_random_flips(problem: FranzParisi) -> tuple[CurvePoint, Array, float]:
    """The student as its reference with random flips, to first order in the pull of the patterns.

    Returns:
        the point of the curve, to second order (the replicon only below WEAK); the deviation; its size.
    """
    n = len(problem.names)
    jets = variables(np.append(np.zeros(n), problem.log_distance))
    site_entropy, energy = problem.parts(jets[:n], jets[n:])
    gradient = site_entropy.gradient + problem.student.alpha * energy.gradient
    hessian = site_entropy.hessian
    step = -solve_equilibrated(hessian[:n, :n], gradient[:n])
    value = site_entropy.value + problem.student.alpha * energy.value + 0.5 * float(gradient[:n] @ step)
    distance = math.exp(problem.log_distance)
    slope = float(gradient[n] + hessian[n, :n] @ step) / distance
    size = float(np.max(np.abs(step)))
    replicon = problem.replicon(step) if size < WEAK else math.nan
    return CurvePoint(distance, value, slope, replicon, size**2), step, size


class FranzParisiCurve:
    """phi_FP(d) around one reference; cheap next to the distance asked for before.

    Args:
        student: the model at the margin of the solutions counted; it has solutions.
        reference: the same model at the reference's margin, or another reference.
        nodes: of the energetic term.

    Raises:
        ConvergenceError: the curve could not be started.
    """

    def __init__(
        self, student: Ensemble, reference: Ensemble | ReferencePoint, nodes: tuple[int, int, int] = NODES
    ) -> None:
        self.student = student
        self.reference = reference_point(reference) if isinstance(reference, Ensemble) else reference
        self.energy = PairEnergy(self.reference.covariances, nodes)
        self._unit = math.sqrt(student.variance)
        self._gap = abs(self.reference.covariances.margin - student.margin) / self._unit
        typical = student.values(typical_point(student).coordinates)
        # The overlap of two independent solutions of different margins, nearly.
        self._near = 0.5 * (1.0 - math.sqrt(typical.q * self.reference.x.q))
        # Where the branches start: beside the maximum.
        self.start_distance = 0.9 * self._near
        self._starts: dict[float, Array] = {}
        self._branches: dict[bool, Branch] = {}
        self._lost: dict[bool, ConvergenceError] = {}
        self._maximum: float | None = None
        self._around: tuple[float, Polynomial, Polynomial, float] | None = None

    def problem(self, log_distance: float) -> FranzParisi:
        """phi_FP at a distance."""
        return FranzParisi(self.student, self.reference, log_distance, self.energy)

    @property
    def typical_distance(self) -> float:
        """Where phi_FP has its maximum: the distance of a typical solution from the reference."""
        if self._gap < CLOSE_MARGINS:
            return self._around_maximum()[0]
        if self._maximum is None:
            position = math.log(self._near)
            for _ in range(20):
                point = self.point(position)
                move = -point.slope(0) / point.curvature(0)
                position += min(max(move, -0.2), 0.2)
                if abs(move) < TOLERANCE:
                    break
            else:
                raise ConvergenceError("distance of typical solutions", {"distance": math.exp(position)}, abs(move))
            self._maximum = math.exp(position)
        return self._maximum

    def outwards(self, distances: Iterable[float]) -> list[float]:
        """Distances from where the branches start, so that each point starts from its neighbour."""
        below = sorted((d for d in set(distances) if d <= self.start_distance), reverse=True)
        return [*below, *sorted(set(distances) - set(below))]

    def at(self, distance: float) -> CurvePoint:
        """The curve at one distance in (0, 1).

        Raises:
            ConvergenceError: the branch could not be followed that far.
        """
        if self._gap < CLOSE_MARGINS and abs(distance / self._near - 1.0) < AROUND_MAXIMUM[4]:
            maximum, slope, replicon, residual = self._around_maximum()
            offset, top = distance / self._near - 1.0, maximum / self._near - 1.0
            entropy = typical_point(self.student).value + self._near * float(slope.integ()(offset) - slope.integ()(top))
            return CurvePoint(distance, entropy, float(slope(offset)), float(replicon(offset)), residual)
        flips = self._from_random_flips(math.log(distance))
        point, _, size = flips
        return point if size < WEAK else self._followed(distance, flips)

    def _followed(self, distance: float, flips: tuple[CurvePoint, Array, float] | None = None) -> CurvePoint:
        """The curve at one distance, from its saddle point."""
        return curve_point(self.problem(math.log(distance)), self.point(math.log(distance), flips))

    def point(self, log_distance: float, flips: tuple[CurvePoint, Array, float] | None = None) -> StationaryPoint:
        """The saddle point at a distance.

        Args:
            log_distance: ln d.
            flips: what `from_random_flips` returns there, if it is known.

        Raises:
            ConvergenceError: as for `at`.
        """
        _, start, size = flips or self._from_random_flips(log_distance)
        if size < WEAKLY_COUPLED:
            try:
                return solve(self.problem(log_distance), start)
            except ConvergenceError:
                pass
        beyond = log_distance > math.log(self._near if self._gap < CLOSE_MARGINS else self.start_distance)
        lost = self._lost.get(beyond)
        if lost is not None and (math.log(lost.point["distance"]) > log_distance) != beyond:
            raise lost
        branch = self._branch(beyond)
        try:
            return branch.to(log_distance)
        except ConvergenceError as failure:
            d = math.exp(branch.position)
            q = 1.0 - 4.0 * d * (1.0 - d) * math.exp(branch.point.coordinates[3])
            point = {key: value for key, value in failure.point.items() if key != "log_distance"}
            self._lost[beyond] = ConvergenceError(
                "Franz-Parisi entropy", {"distance": d, "q": q, **point}, failure.residual
            )
            # The branch is nearly singular at its end: the next point is followed from the start again.
            del self._branches[beyond]
            raise self._lost[beyond] from None

    def _from_random_flips(self, log_distance: float, margin: float | None = None) -> tuple[CurvePoint, Array, float]:
        """What `from_random_flips` returns, for the curve's student or one of another margin."""
        student = self.student if margin is None else self.student.at(margin=margin)
        energy = PairEnergy(self.reference.covariances, self.energy.nodes, curved=False)
        return from_random_flips(FranzParisi(student, self.reference, log_distance, energy))

    def _branch(self, beyond: bool) -> Branch:
        """The branch in ln d, from beside the maximum."""
        if beyond not in self._branches:
            close = self._gap < CLOSE_MARGINS
            log_distance = math.log(1.1 * self._near if beyond and close else self.start_distance)
            if log_distance not in self._starts:
                self._starts[log_distance] = self._started(log_distance)
            self._branches[beyond] = Branch(
                self.problem, "log_distance", 0, log_distance, self._starts[log_distance], step=0.3, smallest_step=1e-3
            )
        return self._branches[beyond]

    def _started(self, log_distance: float) -> Array:
        """Coordinates at a distance, followed from a student of so small a margin that the patterns hardly pull."""

        def family(margin: float) -> FranzParisi:
            return FranzParisi(self.student.at(margin=margin), self.reference, log_distance, self.energy)

        lost = ConvergenceError("random flips", {"distance": math.exp(log_distance)}, math.inf)
        margin_ref = self.reference.covariances.margin
        # Flips make a stability of many units smaller by more than a few units. Then only the second start is near.
        after_flips = self.student.flip_correlation(1.0 - 2.0 * math.exp(log_distance)) * margin_ref
        for top in (margin_ref, after_flips):
            for gap in START_GAPS:
                margin = top - gap * self._unit
                _, start, size = self._from_random_flips(log_distance, margin)
                if size > 0.3:
                    continue
                self.energy.forget()
                try:
                    branch = Branch(family, "margin", None, margin, start, step=0.5 * self._unit, smallest_step=1e-2)
                    return branch.to(self.student.margin).coordinates
                except ConvergenceError as error:
                    lost = error
            if math.isfinite(lost.residual):
                break
        raise lost

    def _around_maximum(self) -> tuple[float, Polynomial, Polynomial, float]:
        """For nearly equal margins: the maximum; slope and replicon as polynomials in d / _near - 1; the residual.

        It is the largest one of the points that the polynomials go through.
        """
        if self._around is None:
            points = [self._followed(d) for d in (self._near * (1.0 + AROUND_MAXIMUM)).tolist()]
            slopes = np.array([point.slope for point in points])
            roots = _through(slopes).roots()
            real = roots[np.abs(roots.imag) < 1e-6].real
            top = 0.0 if self._gap < SAME_MARGINS else float(real[np.argmin(np.abs(real))])
            # The slope over its distance from the root, so that it vanishes there exactly.
            factor = _through(slopes / (AROUND_MAXIMUM - top)).convert()
            replicon = _through(np.array([point.replicon for point in points]))
            residual = max(point.residual for point in points)
            self._around = (self._near * (1.0 + top), factor * Polynomial([-top, 1.0]), replicon, residual)
        return self._around


def _through(values: Array) -> Polynomial:
    """The polynomial through values at AROUND_MAXIMUM."""
    return Polynomial.fit(AROUND_MAXIMUM, values, len(AROUND_MAXIMUM) - 1)


def reference_point(ensemble: Ensemble) -> ReferencePoint:
    """The typical solution of an ensemble, as a reference."""
    y = typical_point(ensemble, "margin_ref").coordinates
    return ReferencePoint(ensemble.values(y), Reference(*ensemble.covariance_values(y), ensemble.margin))


def curve_point(problem: FranzParisi, point: StationaryPoint) -> CurvePoint:
    """Entropy, slope and replicon at a saddle point."""
    distance = math.exp(problem.log_distance)
    slope, replicon = point.slope(0) / distance, problem.replicon(point.coordinates)
    return CurvePoint(distance, point.value, slope, replicon, point.residual)


def curve_around(student: Ensemble, margin_ref: float | str) -> FranzParisiCurve:
    """The curve around typical solutions of a margin, a number or "max", for solutions of the student's margin.

    Raises:
        DomainError: no such margin, or no solutions at one of the two.
        ConvergenceError: the curve could not be started.
    """
    if isinstance(margin_ref, str):
        require_choice("margin_ref", margin_ref, ("max",))
        margin_ref = largest_margin(student)
    else:
        margin_ref = require_between("margin_ref", margin_ref, 0.0, LARGEST_MARGIN)
    # Not kept for the next call: the last digits of a point depend on where the curve stood before.
    return FranzParisiCurve(student, student.at(margin=margin_ref))


def requested_distances(distances: Iterable[float] | float) -> list[float]:
    """Distances in [1e-9, 1), in the order given.

    Raises:
        DomainError: a distance out of range, or none.
    """
    requested: list[float] = require_array("distance", distances, 0.0, 1.0, inclusive=False).reshape(-1).tolist()
    require_between("distance", min(requested), SMALLEST_DISTANCE, 1.0)
    return requested


def labelled_table(
    student: Ensemble, distances: Iterable[float] | float, margin_ref: float | str, unsolved: str, **labels: float | str
) -> pd.DataFrame:
    """A curve at given distances.

    Args:
        student: the model at the margin of the solutions counted.
        distances: each in [1e-9, 1), in any order.
        margin_ref: of the references, or "max".
        unsolved: "raise", or "nan" for entropy, slope and replicon NaN, with the residual reached, where the solve
            failed.
        labels: what else `attrs` is to hold.

    Returns:
        One row per distance, in the order given: distance, entropy, slope, replicon, residual. `attrs` holds the
        labels, margin_ref, margin and typical_distance.

    Raises:
        DomainError: a distance out of range, no such margin, no solutions, or `unsolved` is neither.
        ConvergenceError: the solve failed at the reference or at the curve's maximum, or, if `unsolved` is "raise", at
            a distance.
    """
    require_choice("unsolved", unsolved, ("raise", "nan"))
    requested = requested_distances(distances)
    curve = curve_around(student, margin_ref)
    margins = {"margin_ref": curve.reference.covariances.margin, "margin": curve.student.margin}
    return table(curve, requested, unsolved, **labels, **margins)


def table(curve: FranzParisiCurve, requested: list[float], unsolved: str, **labels: float | str) -> pd.DataFrame:
    """What `labelled_table` returns, for a curve and distances in range; `attrs` holds the labels, typical_distance."""
    import pandas as pd

    typical_distance = curve.typical_distance
    rows: dict[float, CurvePoint] = {}
    for distance in curve.outwards(requested):
        try:
            rows[distance] = curve.at(distance)
        except ConvergenceError as failure:
            if unsolved == "raise":
                raise
            rows[distance] = CurvePoint(distance, math.nan, math.nan, math.nan, failure.residual)
    found = pd.DataFrame([(d, *rows[d][1:]) for d in requested], columns=list(CurvePoint._fields))
    found.attrs = {**labels, "typical_distance": typical_distance}
    return found


def binary_entropy(distance: Iterable[float] | float) -> np.ndarray:
    """H_2(d) = -d ln d - (1-d) ln(1-d) in nats: configurations at Hamming distance dN, per weight.

    Args:
        distance: any shape, values in [0, 1].

    Raises:
        DomainError: a value outside [0, 1], or none.
    """
    distance = require_array("distance", distance, 0.0, 1.0)
    # At 1 the sum is -0.0.
    return entr(distance) - xlog1py(1.0 - distance, -distance) + 0.0  # type: ignore[no-any-return]
