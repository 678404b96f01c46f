"""Replica-symmetry breaking with one step for the students beside a reference (`margins`, supplement II.2).

Students fall into blocks of m replicas, with overlap q1 in a block and q0 between blocks. Where q1 = q0 the free
entropy is the replica-symmetric one for every m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from localentropy.arguments import require_choice
from localentropy.errors import ConvergenceError
from localentropy.numerics.compiled import REORDERED, kernel, subroutine
from localentropy.numerics.continuation import Branch
from localentropy.numerics.curvature import Curvature, differences
from localentropy.numerics.gaussian_kernels import exp, hazard, log, log_tail
from localentropy.numerics.jets import Jet, Number, compose, expm1, logistic, plain, variables
from localentropy.numerics.jets import exp as jet_exp
from localentropy.numerics.jets import log as jet_log
from localentropy.numerics.quadrature import INVERSE_SQRT_2PI, RANGE, gaussian_node
from localentropy.numerics.saddle_point import Array, FreeEntropy, StationaryPoint, solve
from localentropy.quantities import DISTANCE_OF_CURVE, REPLICAS_OF_BLOCK
from localentropy.theory import sites
from localentropy.theory.franz_parisi_entropy import (
    UNSOLVED,
    FranzParisiCurve,
    Pair,
    ReferencePoint,
    curve_around,
    solved_rows,
)
from localentropy.theory.model import Model
from localentropy.theory.patterns import pair_gradient
from localentropy.theory.question import question
from localentropy.theory.sites import beside_reference, field_grid, reference_moments

if TYPE_CHECKING:
    import pandas as pd

SPACING = 0.12
"""Spacing of the nodes of each integral, in widths of the sharpest feature of its integrand."""
# Spacing of a Gaussian, and of uniform nodes for its products with tails in units of SPACING, that round to exact.
_GAUSSIAN_SPACING, _COARSE = 0.4, 2.0
NAMES = ("ln(1 + free)", "t_hat", "field", "ln (1 - q0)", "tau", "ln split_hat", "ln split/v", "ln block")
"""Names of the coordinates."""

SPLIT, BLOCK = 6, 7
"""Positions of the last two coordinates."""
FROZEN = 3.0
"""ln of (q1 - q0) / (1 - q1) from which students that still split further are taken to freeze, q1 -> 1."""
SMALL_BLOCK = 0.1
"""Size of blocks at which the search for it starts."""
LEAST_SHARED = 1e-3
"""What students share beyond their reference, in 1 - q, below which no splitting is searched. The replicon is then as
small, and rounding would decide where so small a splitting leads."""

Gradient = Callable[[Array], tuple[float, Array]]


@dataclass(frozen=True)
class OneStep(FreeEntropy):
    """phi_FP of broken students at a distance, nats per weight (docs/margins/theory.md eqs. 25-27).

    Coordinates may be held: the controls are these, and ln d.

    Attributes:
        student: the model at the margin of the solutions counted; it has no teacher.
        reference: the typical solution.
        log_distance: ln d.
        held: coordinates that do not vary, by position in NAMES.
        spacing: the spacing of the nodes of the integrals.

    Example:
        >>> import math
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.franz_parisi_entropy import reference_point
        >>> from localentropy.theory.one_step import OneStep
        >>> model = Perceptron(alpha=0.5)
        >>> OneStep(model, reference_point(model), math.log(0.1)).names
        ('ln(1 + free)', 't_hat', 'field', 'ln (1 - q0)', 'tau', 'ln split_hat', 'ln split/v', 'ln block')
    """

    student: Model
    reference: ReferencePoint
    log_distance: float
    held: Mapping[int, float] = field(default_factory=dict)
    spacing: float = SPACING

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the coordinates that vary."""
        return tuple(name for index, name in enumerate(NAMES) if index not in self.held)

    def controls(self) -> Array:
        """The coordinates held, ln d."""
        return np.array([*self.held.values(), self.log_distance])

    def scales(self, coordinates: Array) -> Array:
        """1, but for strong fields."""
        scales = np.ones(len(coordinates))
        scales[1:3] = np.maximum(1.0, np.abs(coordinates[1:3]))
        return scales

    def value(self, coordinates: Sequence[Jet], controls: Sequence[Jet]) -> Jet:
        """phi_FP (docs/margins/theory.md eqs. 25, 28a)."""
        varying = iter(coordinates)
        kept = dict(zip(self.held, controls[:-1], strict=True))
        y = [kept[index] if index in kept else next(varying) for index in range(len(NAMES))]
        d, ref = jet_exp(controls[-1]), self.reference.x
        S, spread = 1.0 - 2.0 * d, 4.0 * d * (1.0 - d)
        free, t_hat, pull = expm1(y[0]), y[1], y[2] + 0.5 * (jet_log(1.0 - d) - controls[-1])
        w, tau = spread * jet_exp(y[3]), spread * y[4]
        split_hat, split, v, block = jet_exp(y[5]), w * logistic(y[6]), w * logistic(-y[6]), jet_exp(y[7])
        entropy = differentiated(
            lambda point: _sites(point, ref.q_hat, self.spacing), [free, t_hat, pull, split_hat, block]
        )
        entropy = entropy + 2.0 * d * (pull + ref.v * t_hat) + t_hat * tau
        entropy = entropy - 0.5 * (
            (free + t_hat * t_hat / ref.q_hat) * (v + block * split) + (1.0 - block) * split_hat * v
        )
        between = self.student.pair_covariances(Pair(S, d, spread, free, t_hat, pull, w, spread - w, tau, None), ref)
        inside = self.student.pair_covariances(Pair(S, d, spread, free, t_hat, pull, v, spread - v, tau, None), ref)
        s, X, W, Y, Z, _ = between
        V = inside[2]
        point = [s, X, V, Y, Z, W - V, block]
        reference = np.array([*self.reference.covariances, self.student.margin])
        return entropy + self.student.alpha * differentiated(
            lambda point: _patterns(point, reference, self.spacing), point
        )


class BrokenPoint(NamedTuple):
    """The students at one distance.

    Attributes:
        distance: d.
        entropy: phi_FP, nats per weight.
        entropy_rs: phi_FP of the replica-symmetric solution, nats per weight.
        q0: overlap of students of different blocks.
        q1: overlap of students of one block; q0 where there is no solution with q1 > q0.
        block: m; NaN where it was to be found and there is none.
        replicon: lambda of the replica-symmetric solution, which is unstable where it is above 1.
        residual: the error of the coordinates.
    """

    distance: float
    entropy: float
    entropy_rs: float
    q0: float
    q1: float
    block: float
    replicon: float
    residual: float


def broken_point(curve: FranzParisiCurve, distance: float, block: float | None) -> BrokenPoint:
    """The solution with q1 > q0 if there is one, or the replica-symmetric one.

    A splitting q1 - q0 is prescribed, and all other coordinates are stationary. Where phi_FP falls with the splitting,
    the students split further. Where it grows, they come back together. The splitting grows from a small one to half of
    what students share beyond their reference, and on as long as they split further. A solution is where they stop.

    Args:
        curve: of a model without a teacher.
        distance: d.
        block: m in (0, 1], or None for the m in (0, 1) at which phi_FP is stationary.

    Returns:
        The students at this distance.

    Raises:
        ConvergenceError: a point could not be solved.

    Example:
        >>> from localentropy.theory import Perceptron
        >>> from localentropy.theory.franz_parisi_entropy import curve_around
        >>> from localentropy.theory.one_step import broken_point
        >>> point = broken_point(curve_around(Perceptron(alpha=0.5), 0.0), distance=0.1, block=0.5)
        >>> round(point.entropy, 6), round(point.entropy_rs, 6)
        (0.164659, 0.164659)
    """
    log_distance = math.log(distance)
    symmetric = curve.point(log_distance)
    problem = curve.problem(log_distance)
    jets = variables(np.append(symmetric.coordinates, log_distance))
    x, ref = problem.pair(jets[:-1], jets[-1:]), curve.reference
    replicon = problem.replicon(symmetric.coordinates)
    v = x.v.value
    unbroken = BrokenPoint(
        distance, symmetric.value, symmetric.value, 1.0 - v, 1.0 - v, math.nan if block is None else block, replicon,
        symmetric.residual,
    )  # fmt: skip
    shared = float(x.chi.value - x.tau.value**2 * (1.0 / ref.x.q + 1.0 / ref.x.v)) / v
    if shared < LEAST_SHARED or block == 1.0:  # at m = 1 phi_FP does not depend on q1
        return unbroken
    log_block = math.log(SMALL_BLOCK if block is None else block)

    def family(log_split: float) -> OneStep:
        return OneStep(curve.student, ref, log_distance, {SPLIT: log_split, BLOCK: log_block})

    smallest, largest = math.log(0.03 * min(shared, 1.0)), math.log(0.5 * min(shared, 1.0))
    # To first order the overlaps move by m times the splitting in a block and by m - 1 between blocks.
    softness = sites.binary_pair_softness(x.free, x.t_hat, x.field, 0.0, ref.x.q_hat)
    part = math.exp(smallest)
    split_hat, others = part * v / softness, 1.0 - math.exp(log_block)
    start = np.append(symmetric.coordinates, math.log(split_hat))
    start[0] = math.log1p(max(x.free.value - others * split_hat, 0.0))
    start[3] += math.log1p(others * part)
    branch = Branch(family, "ln split/v", 0, smallest, start, step=1.0)
    growing = grew = branch.point.slope(0) < 0.0
    while growing or branch.position < largest:
        if branch.position >= FROZEN:
            return unbroken
        grew, growing = growing, branch.advance(FROZEN if growing else largest).slope(0) < 0.0
        if grew and not growing:
            break
    if growing or not grew:
        return unbroken
    at_block = OneStep(curve.student, ref, log_distance, {BLOCK: log_block})
    found = solve(at_block, np.append(branch.point.coordinates, branch.position))
    if block is None:
        stationary = _stationary_block(curve, log_distance, found.coordinates)
        if stationary is None:
            return unbroken
        found, block = stationary, math.exp(stationary.coordinates[BLOCK])
    w = 4.0 * distance * (1.0 - distance) * math.exp(found.coordinates[3])
    v = w / (1.0 + math.exp(found.coordinates[SPLIT]))
    return unbroken._replace(entropy=found.value, q0=1.0 - w, q1=1.0 - v, block=block, residual=found.residual)


def _stationary_block(curve: FranzParisiCurve, log_distance: float, start: Array) -> StationaryPoint | None:
    """The solution with the m in (0, 1) at which phi_FP is stationary, followed from blocks of SMALL_BLOCK."""

    def family(log_block: float) -> OneStep:
        return OneStep(curve.student, curve.reference, log_distance, {BLOCK: log_block})

    branch = Branch(family, "ln block", 0, math.log(SMALL_BLOCK), start, step=0.3, smallest_step=0.5)
    falling = branch.point.slope(0) < 0.0
    try:
        while (branch.advance(0.0).slope(0) < 0.0) == falling:
            if branch.position == 0.0:
                return None
    except ConvergenceError:  # larger blocks have no solution
        return None
    problem = OneStep(curve.student, curve.reference, log_distance)
    return solve(problem, np.append(branch.point.coordinates, branch.position))


@question(pairs=True, teacher=False)
def franz_parisi_one_step(
    model: Model,
    distances: Iterable[float] | float,
    margin_ref: float | str = "max",
    block: float | None = None,
    *,
    unsolved: str = "raise",
) -> pd.DataFrame:
    """Franz-Parisi entropy in one step of replica-symmetry breaking: the solutions counted may fall into blocks.

    A row has q1 > q0 where such a solution branches off the replica-symmetric one, or is found from any splitting up to
    half of what two solutions of different blocks share beyond the reference. Every other row has q1 = q0, the
    replica-symmetric solution, which is stable if its replicon is below 1. With a replicon above 1 no solution with
    q1 > q0 was found, for example because blocks shrink to a point. Source: `margins`, supplement II.2;
    docs/margins/theory.md eqs. 25-28.

    Args:
        model: without a teacher and without an energy; its margin is that of the solutions counted.
        distances: Hamming distances per weight, each in [1e-9, 1), in any order.
        margin_ref: margin of the reference in [-4, kappa_max], or "max" for kappa_max.
        block: m in [1e-3, 1], or None for the m in (0, 1) at which the entropy is stationary.
        unsolved: "raise", or "nan" for NaN at distances where the solve failed, with the residual reached.

    Returns:
        One row per distance: distance, entropy (nats per weight), entropy_rs (replica-symmetric), q0, q1, block (m; NaN
        where none was given and there is no stationary one), replicon, residual. `attrs`: the model's parameters and
        margin_ref.

    Raises:
        DomainError: an argument out of range, a model with a teacher, no such margin, no solutions.
        ConvergenceError: a distance that was not solved, if `unsolved` is "raise".

    Example:
        >>> from localentropy.theory import Perceptron, franz_parisi_one_step
        >>> found = franz_parisi_one_step(Perceptron(alpha=0.5), [0.01])
        >>> bool(found.q0[0] == found.q1[0])  # the replica-symmetric solution is stable
        True
    """
    if block is not None:
        block = REPLICAS_OF_BLOCK.require(block)
    require_choice("unsolved", unsolved, UNSOLVED)
    requested = DISTANCE_OF_CURVE.require_all(distances).ravel().tolist()
    curve = curve_around(model, margin_ref)
    found = solved_rows(
        "franz_parisi_one_step", BrokenPoint._fields, lambda distance: broken_point(curve, distance, block), requested,
        curve.outwards(requested), unsolved,
    )  # fmt: skip
    found.attrs = model.parameters() | {"margin_ref": curve.reference.covariances.margin}
    return found


def differentiated(
    function: Gradient, point: Sequence[Number], central: bool = False, curvature: Curvature | None = None
) -> Jet:
    """A function as a jet: its gradient is exact, its second derivatives are differences of that.

    Args:
        function: value and gradient at a point.
        point: arguments of the function.
        central: whether differences are taken on both sides: relative errors are 1e-9 instead of 1e-5.
        curvature: second derivatives at the points before, which are corrected; otherwise all differences are taken.

    Returns:
        The jet.

    Raises:
        ValueError: outside of the domain.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.jets import variables
        >>> from localentropy.theory.one_step import differentiated
        >>> cube = differentiated(lambda x: (x[0] ** 3, 3.0 * x**2), variables([2.0]), central=True)
        >>> float(cube.value), cube.gradient.tolist(), cube.hessian.round(4).tolist()
        (8.0, [12.0], [[12.0]])
    """
    values = np.array([*map(plain, point)])
    value, gradient = function(values)
    if math.isnan(value):
        raise ValueError("outside of the domain")
    units = np.where(values == 0.0, 1e-3, np.minimum(np.abs(values), 1.0))
    places = [index for index, part in enumerate(point) if isinstance(part, Jet)]

    def gradient_at(moved: Array) -> Array:
        return function(moved)[1]

    if central:
        return compose(value, gradient, differences(gradient_at, values, units, places), point)
    hessian = (curvature or Curvature()).at(gradient_at, values, gradient, units, places)
    return compose(value, gradient, hessian, point)


@subroutine(fastmath=REORDERED)
def block_of_weights(h_0, split_hat, block, spacing):  # type: ignore[no-untyped-def]
    """Means over the states of a weight in a field h_0 that is common to all blocks.

    A block has the field h = h_0 + m split_hat + sqrt(split_hat) z, z normal, and the weight (1 + exp(-2h))^m.

    Args:
        h_0: the field.
        split_hat: conjugate of the splitting.
        block: m.
        spacing: of the nodes.

    Returns:
        (1/m) ln of the mean of the weight over z; the means, with this weight, of ln(1 + exp(-2h)), 1 - tanh h,
        (1 - tanh h)^2 and 1 - tanh^2 h.
    """
    root = math.sqrt(split_hat)
    centre_field = h_0 + block * split_hat
    far = -2.0 * block * root
    one, other = centre_field, centre_field + root * far
    top = max(block * _log_states(one), block * _log_states(other) - 0.5 * far * far)
    low, high = far - RANGE, RANGE
    scale = max(root, 1.0)
    kink = min(max(-centre_field / root, low + 3.0), high - 3.0) if root > 1.0 else 0.0
    first = math.asinh((low - kink) * scale)
    span = math.asinh((high - kink) * scale) - first
    spread = max(abs(kink), abs(kink - far))
    nodes = int(span / min(spacing, _GAUSSIAN_SPACING / math.hypot(spread, 1.0 / scale))) + 2
    step = span / (nodes - 1)
    total = logs = less = square = deficit = 0.0
    for i in range(nodes):
        grown = exp(first + step * i)
        z = kink + 0.5 * (grown - 1.0 / grown) / scale
        h = centre_field + root * z
        states, small = states_in_field(h)
        lacking, of_square = deficits_in_field(h, small)
        w = (grown + 1.0 / grown) * exp(max(block * states - 0.5 * z * z - top, -700.0))
        total += w
        logs += w * states
        less += w * lacking
        square += w * lacking * lacking
        deficit += w * of_square
    log_sum = math.log(0.5 * total * step / scale * INVERSE_SQRT_2PI) + top
    return log_sum / block, logs / total, less / total, square / total, deficit / total


@subroutine(fastmath=REORDERED)
def states_in_field(h):  # type: ignore[no-untyped-def]
    """How many states a weight has in a field, without cancellation.

    Args:
        h: the field.

    Returns:
        ln(1 + exp(-2 h)), and exp(-2 |h|), of which `deficits_in_field` makes the rest.
    """
    small = exp(-2.0 * min(abs(h), 300.0))
    return log(1.0 + small) + (0.0 if h > 0.0 else -2.0 * h), small


@subroutine(fastmath=REORDERED)
def deficits_in_field(h, small):  # type: ignore[no-untyped-def]
    """How much a weight's mean in a field lacks to 1, without cancellation.

    Args:
        h: the field.
        small: exp(-2 |h|).

    Returns:
        1 - tanh h and 1 - tanh^2 h.
    """
    return (2.0 * small if h > 0.0 else 2.0) / (1.0 + small), 4.0 * small / (1.0 + small) ** 2


@subroutine
def _log_states(h):  # type: ignore[no-untyped-def]
    """ln(1 + exp(-2 h))."""
    return math.log1p(math.exp(-2.0 * min(abs(h), 300.0))) + (0.0 if h > 0.0 else -2.0 * h)


@kernel
def _sites(point, q_hat_ref, spacing):  # type: ignore[no-untyped-def]
    """The mean in docs/margins/theory.md eq. 28a; its gradient by free, t_hat, field, split_hat, block."""
    free, t_hat, field, split_hat, block = point
    gradient = np.zeros(5)
    if not (free >= 0.0 and split_hat >= 0.0 and block > 0.0):
        return np.nan, gradient
    root_ref, root, c, rest = beside_reference(free, t_hat, q_hat_ref)
    slope = abs(c) * root_ref / math.hypot(rest * root_ref, 1.0)
    scale = max(root, slope, 1.0)
    centre, first, step, nodes = field_grid(root, slope, -field / root if root > 0.0 else math.inf, 0.0, spacing)
    value = 0.0
    for i in range(nodes):
        g, weight = gaussian_node(centre, scale, first + step * i, step)
        m0, m1, _ = reference_moments(g, c, rest, root_ref, 0.0, spacing)
        m0, m1 = weight * m0, weight * m1 / root_ref
        psi, logs, less, square, deficit = block_of_weights(root * g + field, split_hat, block, spacing)
        value += m0 * psi
        gradient[0] += 0.5 * m0 * (deficit + block * (square - less * less))
        gradient[1] -= m1 * less
        gradient[2] -= m0 * less
        gradient[3] += 0.5 * m0 * (1.0 - block) * deficit
        gradient[4] += m0 * ((logs - psi) / block - split_hat * less)
    return value, gradient


@subroutine(fastmath=REORDERED)
def tilted_means(h_0, ratio, y, place, scale, first, step, nodes, top):  # type: ignore[no-untyped-def]
    """Means over a standard Gaussian z with weights H(h)^y, where h = h_0 - ratio z.

    The nodes are z = place + sinh(first + step i) / scale, and exp(top) is near the largest weight.

    Args:
        h_0: h at z = 0.
        ratio: how much h falls with z.
        y: the exponent.
        place: where the nodes crowd.
        scale: how sharply they do.
        first: argument of the sinh at the first node.
        step: from node to node.
        nodes: number of nodes.
        top: ln of about the largest weight.

    Returns:
        ln of the mean of H^y; the means of ln H, of the hazard g = -d ln H / dh, of g^2 and of g h.
    """
    total = logs = slope = square = slope_h = 0.0
    for i in range(nodes):
        grown = exp(first + step * i)
        z = place + 0.5 * (grown - 1.0 / grown) / scale
        h = h_0 - ratio * z
        f, g = log_tail(h), hazard(h)
        w = (grown + 1.0 / grown) * exp(max(y * f - 0.5 * z * z - top, -700.0))
        total += w
        logs += w * f
        slope += w * g
        square += w * g * g
        slope_h += w * g * h
    log_sum = math.log(0.5 * total * step / scale * INVERSE_SQRT_2PI) + top
    return log_sum, logs / total, slope / total, square / total, slope_h / total


@subroutine(fastmath=REORDERED)
def _block_of_patterns(h_0, ratio, block, spacing):  # type: ignore[no-untyped-def]
    """Means over the students in a block. Their common part is h_0 widths short of the margin: see `_patterns`."""
    middle = max(h_0, 0.0) * block * ratio / (1.0 + block * ratio * ratio)
    top = block * log_tail(h_0 - ratio * middle) - 0.5 * middle * middle
    low, high = middle - RANGE, middle + RANGE
    scale = max(ratio, 1.0)
    kink = min(max(h_0 / ratio, low + 3.0), high - 3.0) if ratio > 1.0 else middle
    first = math.asinh((low - kink) * scale)
    span = math.asinh((high - kink) * scale) - first
    nodes = int(span / min(spacing, _GAUSSIAN_SPACING / math.hypot(kink - middle, 1.0 / scale))) + 2
    step = span / (nodes - 1)
    log_sum, logs, slope, square, slope_h = tilted_means(h_0, ratio, block, kink, scale, first, step, nodes, top)
    return log_sum / block, logs, slope, square, slope_h


@subroutine
def _where(t, low, high, one, width, other, narrow):  # type: ignore[no-untyped-def]
    """omega in [low, high] where asinh((omega - one) / width) + asinh((omega - other) / narrow) = t."""
    omega = low
    for _ in range(100):
        excess_t = math.asinh((omega - one) / width) + math.asinh((omega - other) / narrow) - t
        if excess_t > 0.0:
            high = omega
        else:
            low = omega
        slope = 1.0 / math.hypot(omega - one, width) + 1.0 / math.hypot(omega - other, narrow)
        move = -excess_t / slope
        if abs(move) < 1e-12 * (width + narrow):
            break
        omega = omega + move
        if not low < omega < high:
            omega = 0.5 * (low + high)
    return omega


@subroutine(fastmath=REORDERED)
def _densities(omega, z, bounds, tails, pulls, weights, a, b, radius, gamma):  # type: ignore[no-untyped-def]
    """Densities of omega: of all references, of these times their pull, of those at their margin times their pull."""
    density = pulled = at_margin = 0.0
    for j in range(len(z)):
        nu = (omega - a * z[j]) / radius
        limit = (b * nu - radius * bounds[j]) / gamma
        y = (omega - a * z[j] - b * bounds[j]) / gamma
        share = weights[j] * exp(max(log_tail(-limit) - tails[j] - 0.5 * nu * nu, -700.0))
        density += share
        pulled += share * pulls[j]
        at_margin += weights[j] * pulls[j] * exp(max(-0.5 * y * y, -700.0))
    return density, pulled, at_margin


@kernel
def _patterns(point, reference, spacing):  # type: ignore[no-untyped-def]
    """G_E (docs/margins/theory.md eq. 27) and its gradient by s, X, V, Y, Z, D, block.

    X is the covariance of the rests of two students of different blocks, D what two of the same block share beyond it.
    The common part omega of the students in a block decides how many satisfy the pattern. So the reference is
    integrated out first, at fixed omega.
    """
    s, X, V, Y, Z, D, block = point
    Q_ref, V_ref, _, margin_ref, margin = reference
    gradient = np.zeros(7)
    root_Q, root_V = math.sqrt(Q_ref), math.sqrt(V_ref)
    gamma_squared = X - Z * Z / Q_ref - (Y - Z) ** 2 / V_ref
    if not (gamma_squared > 0.0 and V > 0.0 and D >= 0.0 and block > 0.0):
        return np.nan, gradient
    gamma = math.sqrt(gamma_squared)
    a, b = s * root_Q + Z / root_Q, s * root_V + (Y - Z) / root_V
    radius, width = math.hypot(b, gamma), math.sqrt(V)
    whole = math.hypot(a, radius)
    ratio = math.sqrt(D) / width
    # Where the reference is at its margin: omega = edge + tilt z + gamma y.
    edge, tilt = b * margin_ref / root_V, a - b * root_Q / root_V
    # omega crowds around the student's margin and around the reference's: t is the sum of two asinh.
    narrow = math.hypot(gamma, tilt)
    low, high = -RANGE * whole, RANGE * whole
    first = math.asinh((low - margin) / width) + math.asinh((low - edge) / narrow)
    span = math.asinh((high - margin) / width) + math.asinh((high - edge) / narrow) - first
    nodes = int(span / spacing) + 2
    step = span / (nodes - 1)
    omega = low
    # z resolves what two references share, both margins, and the student's share of it.
    steepness = abs(radius * root_Q / root_V - a * b / radius) / gamma
    step_z = spacing * _COARSE / max(math.hypot(a / radius, 1.0), root_Q / root_V, steepness, abs(tilt) / gamma)
    nodes_z = int(2.0 * RANGE / step_z) + 2
    step_z = 2.0 * RANGE / (nodes_z - 1)
    z = np.linspace(-RANGE, RANGE, nodes_z)
    bounds, tails, pulls, weights = np.empty(nodes_z), np.empty(nodes_z), np.empty(nodes_z), np.empty(nodes_z)
    for j in range(nodes_z):
        bounds[j] = (margin_ref - root_Q * z[j]) / root_V
        tails[j], pulls[j] = log_tail(bounds[j]), hazard(bounds[j])
        weights[j] = step_z * INVERSE_SQRT_2PI * exp(-0.5 * z[j] * z[j])
    value = by_Q = by_overlap = by_T = 0.0
    for i in range(nodes):
        omega = _where(first + step * i, omega, high, margin, width, edge, narrow)
        stretch = 1.0 / (1.0 / math.hypot(omega - margin, width) + 1.0 / math.hypot(omega - edge, narrow))
        F, logs, slope, square, slope_h = _block_of_patterns((margin - omega) / width, ratio, block, spacing)
        density, pulled, at_margin = _densities(omega, z, bounds, tails, pulls, weights, a, b, radius, gamma)
        weight = stretch * step * INVERSE_SQRT_2PI
        density, pulled, at_margin = weight * density / radius, weight * pulled / radius, weight * at_margin / gamma
        value += density * F
        by_Q += 0.5 * density * (slope_h - square + block * (square - slope * slope))
        by_T -= pulled * slope
        by_overlap += at_margin * slope
        gradient[2] += 0.5 * density * slope_h
        gradient[5] += 0.5 * density * (slope_h - (1.0 - block) * square)
        gradient[6] += density * (logs - F) / block
    by_Q, by_T, by_overlap = by_Q / V, by_T / (width * root_V), by_overlap / (width * root_V)
    gradient[0], gradient[1], gradient[3], gradient[4] = pair_gradient(s, Y, Q_ref, V_ref, by_Q, by_overlap, by_T)
    gradient[2] /= V
    gradient[5] /= V
    return value, gradient
