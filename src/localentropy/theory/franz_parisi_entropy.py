"""Franz-Parisi entropy of any model: solutions at a given distance from a typical reference.

Written in what a student differs from its reference: u = w - S w_ref, with S = 1 - 2d their overlap. All order
parameters of u vanish with the distance, so that no digits cancel there, and they vanish together where the student
does not feel the patterns: it is then the reference with random flips. Curves start from that point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import entr, xlog1py

from localentropy.arguments import require_choice, shown
from localentropy.errors import ConvergenceError, DomainError, EndOfCurveError
from localentropy.numerics.continuation import Branch
from localentropy.numerics.jets import Jet, exp, expm1, log, variables
from localentropy.numerics.saddle_point import TOLERANCE, Array, FreeEntropy, StationaryPoint, solve, solve_equilibrated
from localentropy.numerics.waiting import counted
from localentropy.quantities import DISTANCE_OF_CURVE, FLIPS, MARGIN_OF_REFERENCE
from localentropy.theory import sites
from localentropy.theory.energies import Labels, Steps
from localentropy.theory.model import Covariances, Model
from localentropy.theory.pair_energy import NODES, PairEnergy, Reference, SoftReference, StepReference
from localentropy.theory.question import question
from localentropy.theory.typical_solutions import largest_margin, typical_point
from localentropy.theory.weights import Overlap

if TYPE_CHECKING:
    import pandas as pd

WEAK = 1e-6
"""Size of the deviation from random flips below which its square does not count."""
WEAKLY_COUPLED = 0.05
"""Size of the deviation from random flips below which its first order is a good start."""
HARDLY_COUPLED = (0.2, 0.05, 0.01, 0.001)
"""Sizes of the deviation from random flips at which curves around the weights of an energy are tried to start."""
CLOSE_MARGINS = 0.05
"""Margins closer than this, in their unit, leave student and reference almost the same measure: the free entropy is
then singular at its maximum, where the fields that both feel coincide."""
SAME_MARGINS = 1e-6
"""Margins closer than this have the overlap at the maximum in closed form, to the square of it."""
FAR_MARGINS = 150.0
"""Margins further apart than this, in their unit, leave so few references that rounding hides what a student and its
reference share. At 130 the maximum was always found, at 200 it was not."""
CLOSEST = 0.005
"""Relative distance from the maximum up to which the branches start nearer to it where the patterns hardly pull."""
START_GAPS = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
"""How far below the reference's margin a student's is tried, in its unit, so that the patterns hardly pull."""
AROUND_MAXIMUM = np.array([-0.085, -0.07, -0.055, -0.04, 0.04, 0.055, 0.07, 0.085])
"""Relative distances from the maximum at which the slope is computed to find it."""
UNSOLVED = ("raise", "nan")
"""What a table of distances does about one that is not solved: it raises the error, or has a row of NaN."""


class Pair(NamedTuple):
    """Order parameters of the difference u = w - S w_ref of a student and its reference.

    Attributes:
        s: S = 1 - 2d.
        d: distance.
        spread: 1 - S^2.
        free: q_hat - t_hat^2 / q_hat_ref, the part of the students' common field that is not the references'.
        t_hat: conjugate of t.
        field: S_hat - t_hat.
        v: 1 - q.
        chi: q - S^2, overlap of the differences of two students.
        tau: t - S q_ref, overlap of a difference with another reference.
        latent: what the model adds.
    """

    s: Jet
    d: Jet
    spread: Jet
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
        covariances: the covariances of its pre-activations, and the weights of its patterns.
    """

    x: Any
    covariances: Reference | SoftReference | StepReference


@dataclass(frozen=True)
class FranzParisi(FreeEntropy):
    """phi_FP at a distance, nats per weight. Its control is ln d.

    Attributes:
        student: the model at the margin of the solutions counted.
        reference: the typical solution.
        log_distance: ln d.
        energy: the energetic term, shared along a curve.
    """

    student: Model
    reference: ReferencePoint
    log_distance: float
    energy: PairEnergy

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the coordinates; see `pair_at`."""
        return ("ln(1 + free)", "t_hat", "field", "ln v", "tau", *self.student.weights.pair_names)

    def controls(self) -> Array:
        """ln d."""
        return np.array([self.log_distance])

    def scales(self, coordinates: Array) -> Array:
        """1, but for strong fields, and for what the model adds where it is large."""
        scales = np.maximum(1.0, np.abs(coordinates))
        scales[[0, 3, 4]] = 1.0
        return scales

    def refresh(self) -> bool:
        """Take differences of the energetic term's gradient again."""
        return self.energy.forget()

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi_FP (`overparam`, eq. 96; `margins`, eq. 26)."""
        site_entropy, energy = self.parts(coordinates, controls)
        return site_entropy + self.student.alpha * energy

    def pair(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Pair:
        """The order parameters."""
        x = pair_at(coordinates, controls[0])
        return x._replace(latent=self.student.weights.pair_order_parameters(coordinates[5:], x, self.reference.x))

    def parts(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> tuple[Jet, Jet]:
        """The terms of the sites (docs/margins/theory.md eq. 16, and what the model adds), and the energetic term."""
        x, d, ref = self.pair(coordinates, controls), exp(controls[0]), self.reference.x
        site_entropy = (
            sites.binary_pair(x.free, x.t_hat, x.field, *self.student.weights.pair_fields(x, ref))
            + 2.0 * d * (x.field + ref.v * x.t_hat)
            + x.t_hat * x.tau
            - 0.5 * (x.free + x.t_hat * x.t_hat / ref.q_hat) * x.v
            + self.student.weights.pair_entropy(x, ref, self.student.alpha)
        )
        return site_entropy, self.energy(self.student.margin, self.student.pair_covariances(x, ref))

    def replicon(self, coordinates: Array) -> float:
        """lambda: by how much the saddle-point equations enlarge a small splitting of the students' overlaps.

        It shrinks, and the replica-symmetric solution is stable, where lambda < 1 (docs/margins/theory.md eq. 24).
        """
        jets = variables(np.append(coordinates, self.log_distance))
        x = self.pair(jets[:-1], jets[-1:])
        ref = self.reference.x
        softness = sites.binary_pair_softness(x.free, x.t_hat, x.field, *self.student.weights.pair_fields(x, ref))
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

    Args:
        problem: the free entropy at a small distance.

    Returns:
        the point of the curve, to second order (the replicon only below WEAK); the deviation; its size.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.franz_parisi_entropy import FranzParisiCurve
        >>> from localentropy.theory.franz_parisi_entropy import from_random_flips
        >>> import math
        >>> curve = FranzParisiCurve(Perceptron(alpha=0.5), Perceptron(alpha=0.5))
        >>> point, deviation, size = from_random_flips(curve.problem(math.log(1e-8)))
        >>> round(1e8 * point.distance, 6), bool(size == max(abs(deviation)))
        (1.0, True)
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
    """phi_FP(d) around one reference. A distance close to the last one takes little time.

    Args:
        student: the model at the margin of the solutions counted; it has solutions.
        reference: the same model at the reference's margin, or another reference.
        nodes: of the energetic term.

    Raises:
        DomainError: the student or the reference has no solutions.
        ConvergenceError: the curve could not be started.
    """

    def __init__(self, student: Model, reference: Model | ReferencePoint, nodes: tuple[int, int, int] = NODES) -> None:
        self.student = student
        self.reference = reference_point(reference) if isinstance(reference, Model) else reference
        self.energy = PairEnergy(self.reference.covariances, nodes)
        self._unit = math.sqrt(student.variance)
        self._gap = abs(self.reference.covariances.margin - student.margin) / self._unit
        self._near = near_typical_distance(student, self.reference)
        self.start_distance = self._beside_maximum()
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
        """Distance at which phi_FP has its maximum: the distance of a typical solution from the reference."""
        if self._gap < CLOSE_MARGINS:
            return self._around_maximum()[0]
        if self._maximum is None:
            try:
                self._maximum = self._found_maximum()
            except ConvergenceError:
                if self._gap < FAR_MARGINS:
                    raise
                raise DomainError(
                    f"margin_ref = {self.reference.covariances.margin:.12g} is {self._gap:.4g} deviations of a "
                    f"pre-activation above the margin: typical distances are found up to about {FAR_MARGINS:g}"
                ) from None
        return self._maximum

    def _found_maximum(self) -> float:
        """The distance at which the slope vanishes.

        Raises:
            ConvergenceError: it was not found.
        """
        position = math.log(self._near)
        for _ in range(20):
            point = self.point(position)
            move = -point.slope(0) / point.curvature(0)
            position += min(max(move, -0.2), 0.2)
            if abs(move) < TOLERANCE:
                return math.exp(position)
        raise ConvergenceError("distance of typical solutions", {"distance": math.exp(position)}, abs(move))

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
            self._lost[beyond] = end_of(branch, 3, failure)
            # The branch is nearly singular at its end: the next point is followed from the start again.
            del self._branches[beyond]
            raise self._lost[beyond] from None

    def _from_random_flips(self, log_distance: float, margin: float | None = None) -> tuple[CurvePoint, Array, float]:
        """What `from_random_flips` returns, for the curve's student or one of another margin."""
        student = self.student if margin is None else self.student.at(margin=margin)
        energy = PairEnergy(self.reference.covariances, self.energy.nodes, curved=False)
        return from_random_flips(FranzParisi(student, self.reference, log_distance, energy))

    def _beside_maximum(self) -> float:
        """Where the branches start: below the maximum, and where the patterns pull, so that steps show how strongly."""
        gap = 0.1
        while gap > CLOSEST and self._gap >= CLOSE_MARGINS and self._weakly_coupled(1.0 - 0.5 * gap):
            gap *= 0.5
        return (1.0 - gap) * self._near

    def _weakly_coupled(self, part: float) -> bool:
        """Whether the student is nearly its reference with random flips, at a part of the distance of the maximum."""
        return self._from_random_flips(math.log(part * self._near))[2] < WEAKLY_COUPLED

    def _branch(self, beyond: bool) -> Branch:
        """The branch in ln d, from beside the maximum."""
        if beyond not in self._branches:
            close = self._gap < CLOSE_MARGINS
            log_distance = math.log(1.1 * self._near if beyond and close else self.start_distance)
            if log_distance not in self._starts:
                self._starts[log_distance] = self._started(log_distance)
            self._branches[beyond] = Branch(
                self.problem, "log_distance", 0, log_distance, self._starts[log_distance], step=0.3, smallest_step=1e-4
            )
        return self._branches[beyond]

    def _started_by_load(self, log_distance: float) -> Array:
        """Coordinates at a distance, followed from so few patterns that they hardly pull."""

        def family(log_alpha: float) -> FranzParisi:
            return FranzParisi(self.student.at(alpha=math.exp(log_alpha)), self.reference, log_distance, self.energy)

        _, start, size = self._from_random_flips(log_distance)
        lost = ConvergenceError("random flips", {"distance": math.exp(log_distance)}, math.inf)
        log_alpha = math.log(self.student.alpha)
        for small in HARDLY_COUPLED:
            share = min(1.0, small / size)
            self.energy.forget()
            try:
                branch = Branch(family, "log_alpha", None, log_alpha + math.log(share), share * start, step=0.5)
                return branch.to(log_alpha).coordinates
            except ConvergenceError as error:
                lost = error
        raise lost

    def _started(self, log_distance: float) -> Array:
        """Coordinates at a distance, followed from a student of so small a margin that the patterns hardly pull."""
        _, start, size = self._from_random_flips(log_distance)
        if size < WEAKLY_COUPLED:
            return start
        if self.student.energy is not None:
            return self._started_by_load(log_distance)

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
            distances = (self._near * (1.0 + AROUND_MAXIMUM)).tolist()
            points = [self._followed(distance) for distance in counted(distances, "typical_distance")]
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


@dataclass(frozen=True)
class SymmetricPairs(FreeEntropy):
    """phi_FP at a distance, nats per weight, where w and -w always solve together. Its control is ln d.

    Two references then have no overlap. For its students a reference acts as a teacher: a pre-activation u of the
    reference counts with the weight exp(-beta E(u)) of its energy, as a label does with its probability.

    Attributes:
        student: the model of the weights that are counted.
        reference: the model that the reference is drawn from.
        log_distance: ln d.

    Example:
        >>> import math
        >>> from localentropy.theory import SymmetricPerceptron
        >>> from localentropy.theory.franz_parisi_entropy import SymmetricPairs
        >>> model = SymmetricPerceptron(alpha=0.5)
        >>> SymmetricPairs(model, model, math.log(0.1)).names
        ('ln(1 + q_hat)', 'field', 'ln v')
    """

    student: Model
    reference: Model
    log_distance: float

    names: ClassVar[tuple[str, ...]] = ("ln(1 + q_hat)", "field", "ln v")  # type: ignore[misc]

    def controls(self) -> Array:
        """ln d."""
        return np.array([self.log_distance])

    def scales(self, coordinates: Array) -> Array:
        """1, but for strong fields."""
        return np.array([1.0, max(1.0, abs(float(coordinates[1]))), 1.0])

    def pair(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Pair:
        """The order parameters: t and its conjugate vanish."""
        q_hat, field, log_v = coordinates
        zero = 0.0 * controls[0]
        return pair_at([q_hat, zero, field, log_v, zero], controls[0])

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi_FP."""
        x = self.pair(coordinates, controls)
        site_entropy = sites.binary_pair(x.free, x.t_hat, x.field, 0.0, 1.0) + 2.0 * x.d * x.field - 0.5 * x.free * x.v
        asked, labels = self._asked()
        return site_entropy + self.student.alpha * asked.term(self._covariances(x), asked.control, labels)

    def replicon(self, coordinates: Array) -> float:
        """lambda, as for `FranzParisi`."""
        jets = variables(np.append(coordinates, self.log_distance))
        x = self.pair(jets[:-1], jets[-1:])
        softness = sites.binary_pair_softness(x.free, x.t_hat, x.field, 0.0, 1.0)
        asked, labels = self._asked()
        pulled, bent = asked.pulls(self._covariances(x), labels)
        return softness * self.student.pair_stiffness(x, pulled, bent)

    def _asked(self) -> tuple[Steps, Labels]:
        """What is asked of the students' stabilities, and the weights of the reference's, in units of its deviation."""
        asked, energy = self.student.energy, self.reference.energy
        assert isinstance(asked, Steps)
        assert isinstance(energy, Steps)
        deviation, (edges, weights) = math.sqrt(self.student.variance), energy.labels
        return asked, Labels(tuple(edge / deviation for edge in edges), weights)

    def _covariances(self, x: Pair) -> Covariances:
        """Of the students' pre-activations, with that of the reference in units of its deviation as the teacher's."""
        at, variance = self.student.pair_covariances(x, Overlap(0.0, 0.0, 1.0)), self.student.variance
        return Covariances(
            at.rests - at.reference * at.reference / variance,
            at.free,
            (at.s * variance + at.reference) / math.sqrt(variance),
        )


class SymmetricCurve:
    """phi_FP(d) around one reference, where w and -w always solve together: as `FranzParisiCurve`.

    Args:
        student: the model of the weights that are counted.
        reference: the model that the reference is drawn from.

    Raises:
        DomainError: the student or the reference has no solutions.
        ConvergenceError: the curve could not be started.
    """

    typical_distance = 0.5

    def __init__(self, student: Model, reference: Model) -> None:
        for model in (student, reference):
            typical_point(model)
        self.problem = partial(SymmetricPairs, student, reference)
        self._branch = Branch(self.problem, "log_distance", 0, math.log(0.5), np.zeros(3), step=0.3, smallest_step=1e-3)
        self._lost: ConvergenceError | None = None

    def outwards(self, distances: Iterable[float]) -> list[float]:
        """Distances from the maximum, so that each point starts from its neighbour."""
        return sorted(set(distances), key=lambda distance: abs(0.5 - distance))

    def at(self, distance: float) -> CurvePoint:
        """The curve at one distance in (0, 1), which is that at 1 - d.

        Raises:
            ConvergenceError: the branch could not be followed that far.
        """
        log_distance = math.log(min(distance, 1.0 - distance))
        if self._lost is not None and math.log(self._lost.point["distance"]) > log_distance:
            raise self._ended(distance)
        try:
            point = self._branch.to(log_distance)
        except ConvergenceError as failure:
            self._lost = end_of(self._branch, 2, failure)
            raise self._ended(distance) from None
        found = curve_point(self.problem(log_distance), point)
        return found._replace(distance=distance, slope=math.copysign(1.0, 0.5 - distance) * found.slope)

    def _ended(self, distance: float) -> ConvergenceError:
        """Where the curve ended, on the side of 1/2 of a distance."""
        assert self._lost is not None
        end = self._lost.point["distance"]
        point = {**self._lost.point, "distance": end if distance < 0.5 else 1.0 - end}
        return EndOfCurveError("Franz-Parisi entropy", point, self._lost.residual)


def pair_at(y: Sequence[Jet], log_distance: Jet) -> Pair:
    """The order parameters of a pair at the first coordinates of `FranzParisi`, without what the model adds.

    Args:
        y: the coordinates ln(1 + free), t_hat, field - artanh S, ln[v / (1 - S^2)], tau / (1 - S^2).
        log_distance: ln d.

    Returns:
        The pair.

    Example:
        >>> import math
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.franz_parisi_entropy import pair_at
        >>> *y, log_distance = variables([0.1, 0.2, 0.3, -0.5, 0.0, math.log(0.1)])
        >>> round(pair_at(y, log_distance).s.value, 6)  # 1 - 2 d
        0.8
    """
    d = exp(log_distance)
    spread = 4.0 * d * (1.0 - d)
    field = y[2] + 0.5 * (log(1.0 - d) - log_distance)
    chi = -spread * expm1(y[3])
    return Pair(1.0 - 2.0 * d, d, spread, expm1(y[0]), y[1], field, spread * exp(y[3]), chi, spread * y[4], None)


def end_of(branch: Branch, log_v: int, failure: ConvergenceError) -> EndOfCurveError:
    """The error of a branch that was lost: where it ended, and q there, by the position of ln v / (1 - S^2).

    Args:
        branch: the branch.
        log_v: position of ln v / (1 - S^2) among its coordinates.
        failure: why it was lost.

    Returns:
        An error of the same parameters that says so.
    """
    d = math.exp(branch.position)
    q = 1.0 - 4.0 * d * (1.0 - d) * math.exp(branch.point.coordinates[log_v])
    point = {key: value for key, value in failure.point.items() if key != "log_distance"}
    return EndOfCurveError("Franz-Parisi entropy", {"distance": d, "q": q, **point}, failure.residual)


def _through(values: Array) -> Polynomial:
    """The polynomial through values at AROUND_MAXIMUM."""
    return Polynomial.fit(AROUND_MAXIMUM, values, len(AROUND_MAXIMUM) - 1)


def reference_point(model: Model) -> ReferencePoint:
    """The typical solution of a model, as a reference.

    Args:
        model: it has solutions.

    Returns:
        Its order parameters and covariances.

    Raises:
        DomainError: there are no solutions.
        ConvergenceError: the saddle point was not found.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.franz_parisi_entropy import reference_point
        >>> round(float(reference_point(Perceptron(alpha=0.5)).x.q), 6)
        0.322385
    """
    return reference_at(model, typical_point(model, "margin_ref").coordinates)


def reference_at(model: Model, y: Array) -> ReferencePoint:
    """The weights of a model at coordinates, as a reference.

    Args:
        model: the model.
        y: the coordinates of `Typical`.

    Returns:
        Its order parameters and covariances.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.franz_parisi_entropy import reference_at
        >>> from localentropy.theory.typical_solutions import typical_point
        >>> model = Perceptron(alpha=0.5)
        >>> round(float(reference_at(model, typical_point(model).coordinates).x.q), 6)
        0.322385
    """
    return ReferencePoint(model.values(y), model.asked.reference(model.covariance_values(y)))


def near_typical_distance(student: Model, reference: ReferencePoint) -> float:
    """About the distance of typical solutions of the student from the reference, where phi_FP has its maximum.

    Args:
        student: the model of the solutions counted.
        reference: the reference.

    Returns:
        d.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.franz_parisi_entropy import near_typical_distance, reference_point
        >>> model = Perceptron(alpha=0.5)
        >>> round(near_typical_distance(model, reference_point(model)), 6)
        0.338807
    """
    q = student.values(typical_point(student).coordinates).q
    # The overlap of two independent solutions of different margins, nearly.
    return 0.5 * (1.0 - math.sqrt(q * reference.x.q))


def curve_point(problem: FranzParisi | SymmetricPairs, point: StationaryPoint) -> CurvePoint:
    """Entropy, slope and replicon at a saddle point.

    Args:
        problem: the free entropy at a distance.
        point: its saddle point.

    Returns:
        The point of the curve.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.franz_parisi_entropy import FranzParisiCurve
        >>> curve = FranzParisiCurve(Perceptron(alpha=0.5), Perceptron(alpha=0.5))
        >>> round(curve.at(0.1).entropy, 6)  # at() returns what curve_point makes
        0.164659
    """
    distance = math.exp(problem.log_distance)
    slope, replicon = point.slope(0) / distance, problem.replicon(point.coordinates)
    return CurvePoint(distance, point.value, slope, replicon, point.residual)


def curve_of(model: Model, margin_ref: float | str) -> FranzParisiCurve | SymmetricCurve:
    """The curve of `curve_around`, or of a model with an energy, whose `margin_ref` is then "max".

    With an energy, the curve counts weights without errors (of a cross-entropy: of the model's margin) around weights
    that are drawn by this energy.

    Args:
        model: the model of the solutions counted.
        margin_ref: margin of the reference, a number or "max"; "max" if the model has an energy.

    Returns:
        The curve.

    Raises:
        DomainError: no such margin, or no solutions at one of the two.
        ConvergenceError: the curve could not be started.

    Example:
        >>> from localentropy.theory import SymmetricPerceptron
        >>> from localentropy.theory.franz_parisi_entropy import curve_of
        >>> round(curve_of(SymmetricPerceptron(alpha=0.5), "max").at(0.1).entropy, 6)
        0.223653
    """
    if model.energy is None:
        return curve_around(model, margin_ref)
    if not (isinstance(margin_ref, str) and margin_ref == "max"):
        raise DomainError(
            f"margin_ref = {shown(margin_ref)} beside an energy: the reference is a typical weight of this energy; "
            "leave margin_ref out"
        )
    solved = model.at(energy=model.energy.solved)
    return SymmetricCurve(solved, model) if model.energy.symmetric else FranzParisiCurve(solved, model)


def curve_around(student: Model, margin_ref: float | str) -> FranzParisiCurve:
    """The curve around typical solutions of a margin, a number or "max", for solutions of the student's margin.

    Args:
        student: the model of the solutions counted.
        margin_ref: margin of the reference, a number or "max".

    Returns:
        The curve.

    Raises:
        DomainError: no such margin, or no solutions at one of the two.
        ConvergenceError: the curve could not be started.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.franz_parisi_entropy import curve_around
        >>> round(curve_around(Perceptron(alpha=0.5), "max").at(0.1).entropy, 6)
        0.221827
    """
    if isinstance(margin_ref, str):
        require_choice("margin_ref", margin_ref, ("max",), besides=", and a number")
        margin_ref = largest_margin(student)
    else:
        margin_ref = MARGIN_OF_REFERENCE.require(margin_ref)
    # Not kept for the next call: the last digits of a point depend on where the curve stood before.
    return FranzParisiCurve(student, student.at(margin=margin_ref))


@question(pairs=True, energies="any")
def franz_parisi(
    model: Model,
    distances: Iterable[float] | float,
    margin_ref: float | str = "max",
    *,
    unsolved: str = "raise",
) -> pd.DataFrame:
    """Franz-Parisi entropy: log number of solutions, per weight, at distance d from a typical one of `margin_ref`.

    Fourteen distances take about a second, and half a minute for an energy with steps. Next to references of equal or
    almost equal margin the replica-symmetric solution freezes (q -> 1) at a small distance, where the entropy is
    already negative, and does not exist below it.

    Source: `overparam`, eqs. 82-96; `margins`, eqs. 16, 26, 27, 34-36; docs/margins/theory.md eqs. 8-14, 31, 32, 38,
    39; docs/overparam/theory.md section 7.

    Args:
        model: its margin is that of the solutions counted. A model with a teacher has no energy here.
        distances: Hamming distances per weight, each in [1e-9, 1), in any order.
        margin_ref: margin of the reference in [-4, kappa_max], or "max" for kappa_max. A model with an energy takes
            only the latter: the reference is then a typical weight of the energy, a solution or one drawn at its
            temperature, and what is counted has no energy.
        unsolved: "raise", or "nan" for entropy, slope and replicon NaN, with the residual reached, where the solve
            failed.

    Returns:
        One row per distance, in the order given: distance, entropy (nats per weight), slope (its derivative by the
        distance), replicon (below 1 the replica-symmetric solution is stable; docs/margins/theory.md eq. 24), residual
        (relative error of the order parameters: the entropy's is of the order of its square). `attrs` holds the
        model's parameters, margin_ref as a number (of a model without an energy), and typical_distance, where the
        entropy has its maximum and equals that of all solutions.

    Raises:
        DomainError: an argument out of range, margins that have no solutions, or a `margin_ref` above the margin by
            more than about 150 standard deviations of a pre-activation.
        ConvergenceError: the solve failed at the reference or at the curve's maximum, or, if `unsolved` is "raise", at
            a distance.

    Example:
        >>> from localentropy.theory import Perceptron, franz_parisi
        >>> franz_parisi(Perceptron(alpha=0.5), [0.01, 0.1]).entropy.round(6).tolist()
        [0.054532, 0.221827]
    """
    require_choice("unsolved", unsolved, UNSOLVED)
    requested = DISTANCE_OF_CURVE.require_all(distances).ravel().tolist()
    curve = curve_of(model, margin_ref)
    around = {}
    if model.energy is None and isinstance(curve, FranzParisiCurve):
        around = {"margin_ref": curve.reference.covariances.margin}
    return table(curve, requested, unsolved, **model.parameters() | around)


@question(pairs=True, energies="any")
def typical_distance(model: Model, margin_ref: float | str = "max") -> float:
    """Distance of a typical solution of the model from one of the margin `margin_ref`: the maximum of phi_FP.

    Source: `overparam`, appendix E.1; docs/overparam/theory.md section 7.

    Args:
        model: with a load at which it has solutions of its margin.
        margin_ref: margin of the reference, or "max" for the largest that solutions have.

    Returns:
        The Hamming distance per weight, d.

    Raises:
        DomainError: there are no solutions of one of the margins.
        ConvergenceError: the maximum was not found.

    Example:
        >>> from localentropy.theory import Perceptron, typical_distance
        >>> round(typical_distance(Perceptron(alpha=0.5), "max"), 6)
        0.2849
    """
    return curve_of(model, margin_ref).typical_distance


@question(pairs=True, energies="hard")
def replicon(model: Model) -> float:
    """Replicon of typical solutions: how much the saddle-point equations enlarge a small splitting of their overlaps.

    The replica-symmetric solution is stable where the replicon is below 1. It is also the replicon of the Franz-Parisi
    entropy at its maximum, between solutions of one margin. Source: docs/margins/theory.md eqs. 24, 32.

    Args:
        model: with a load at which it has solutions of its margin.

    Returns:
        The replicon of the typical solutions: below 1 they are stable.

    Raises:
        DomainError: no solutions.
        ConvergenceError: a solve failed.

    Example:
        >>> from localentropy.theory import Perceptron, replicon
        >>> round(replicon(Perceptron(alpha=0.5)), 6)
        0.233552
    """
    curve = curve_of(model, model.margin if model.energy is None else "max")
    return curve.at(curve.typical_distance).replicon


def table(
    curve: FranzParisiCurve | SymmetricCurve, requested: list[float], unsolved: str, **labels: float | str
) -> pd.DataFrame:
    """Rows as `franz_parisi` returns them, for a curve and distances in range; `attrs`: labels and typical_distance.

    Args:
        curve: the curve.
        requested: distances in range.
        unsolved: "raise" or "nan", as for `franz_parisi`.
        labels: parameters that `attrs` names.

    Returns:
        A row for each distance.

    Raises:
        ConvergenceError: a distance was not solved, with unsolved = "raise".

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.franz_parisi_entropy import curve_around, table
        >>> rows = table(curve_around(Perceptron(alpha=0.5), "max"), [0.01, 0.1], "raise", alpha=0.5)
        >>> rows.distance.tolist(), rows.attrs["alpha"]
        ([0.01, 0.1], 0.5)
    """
    typical_distance = curve.typical_distance
    order = curve.outwards(requested)
    found = solved_rows("franz_parisi", CurvePoint._fields, curve.at, requested, order, unsolved)
    found.attrs = {**labels, "typical_distance": typical_distance}
    return found


def solved_rows(
    name: str,
    columns: Sequence[str],
    at: Callable[[float], Sequence[float]],
    requested: Iterable[float],
    order: Sequence[float],
    unsolved: str,
) -> pd.DataFrame:
    """A table of a curve, whose first column is the distance and whose last is the residual.

    Args:
        name: of the question, for errors and the lines that say how far it is.
        columns: names of the numbers of a point.
        at: the point at a distance.
        requested: distances in range.
        order: the different ones, in the order in which they are solved.
        unsolved: one of `UNSOLVED`.

    Returns:
        A row for each requested distance. It is NaN but for distance and residual where the solve failed.

    Raises:
        ConvergenceError: a distance was not solved, with unsolved = "raise".

    Example:
        >>> from localentropy.theory.franz_parisi_entropy import solved_rows
        >>> solved_rows("lines", ("distance", "residual"), lambda d: (d, 0.5 * d), [0.1, 0.2], [0.2, 0.1], "nan")
           distance  residual
        0       0.1      0.05
        1       0.2      0.10
    """
    import pandas as pd

    rows: dict[float, Sequence[float]] = {}
    for distance in counted(order, name):
        try:
            rows[distance] = at(distance)
        except ConvergenceError as failure:
            if unsolved == "raise":
                raise failure.asked(name, distance) if isinstance(failure, EndOfCurveError) else failure from None
            rows[distance] = [distance, *[math.nan] * (len(columns) - 2), failure.residual]
    return pd.DataFrame([(distance, *rows[distance][1:]) for distance in requested], columns=list(columns))


def binary_entropy(distance: Iterable[float] | float) -> np.ndarray:
    """H_2(d) = -d ln d - (1-d) ln(1-d) in nats: configurations at Hamming distance dN, per weight.

    Args:
        distance: any shape, values in [0, 1].

    Returns:
        The entropy in nats per weight, one for each distance.

    Raises:
        DomainError: a value outside [0, 1], or none.

    Example:
        >>> from localentropy.theory import binary_entropy
        >>> binary_entropy([0.0, 0.5]).round(6).tolist()
        [0.0, 0.693147]
    """
    distance = FLIPS.require_all(distance)
    # At 1 the sum is -0.0.
    return entr(distance) - xlog1py(1.0 - distance, -distance) + 0.0  # type: ignore[no-any-return]
