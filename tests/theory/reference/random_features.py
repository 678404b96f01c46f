"""Reference values of the random-features perceptron's replica theory, in 50-digit arithmetic.

Writes `random_features.csv`, next to this script. The equations are those of docs/overparam/theory.md. They are
written down here a second time: nothing is imported from the package.

    python tests/theory/reference/random_features.py            # adds the points that the table lacks
    python tests/theory/reference/random_features.py 0 17 250   # adds only these points

All points take about 20 minutes of one core, a quarter less with the gmpy2 package installed.
A run can be stopped and started again.

Method. The unknowns are ln A, ln p_hat, ln r_hat and ln q_hat, A = p_hat + p_d_hat. Every other order parameter is
a sum of positive terms in them. Integrals over the Gaussian are trapezoid sums in a variable t with
z(t) stretched around each place where the integrand changes fast, and converge exponentially. A point is first
found in double precision, by continuation from weak load. Steps of Broyden's method in 50 digits then polish it. A
step with twice as many nodes checks the integrals: it must be below 1e-27. Inputs are doubles and are taken as
exactly these numbers. Answers are correct to about 25 digits.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from mpmath import mp
from scipy import special

TABLE = Path(__file__).with_suffix(".csv")
INPUTS = ("kind", "activation", "alpha_T", "inv_alpha", "margin")
ANSWERS = (
    "threshold", "entropy", "q", "one_minus_q", "p", "p_d", "p_d_minus_p", "r",
    "q_hat", "p_hat", "p_d_hat", "A", "r_hat", "error_typical", "error_barycenter",
)  # fmt: skip
ACTIVATIONS = ("sign", "tanh", "erf", "identity")

mp.dps = 50
DIGITS = 30
"""Written to the table."""
QUADRATURE_TOLERANCE = 1e-27
LARGEST_Z = 14.0
"""End of the integrals: the Gaussian is 1e-43 there."""

Vector = Any
"""Array of doubles, or of mpmath numbers (dtype object)."""


def far_excess(h: Vector) -> Vector:
    """N(h) / H(h) - h at large h, where the difference cancels: to 1e-11 from h = 30, to 1e-43 from h = 1e4."""
    return 1 / h - 2 / h**3 + 10 / h**5 - 74 / h**7 + 706 / h**9 - 8162 / h**11


class Double:
    """Double precision: for the continuation and the Jacobian."""

    step = 1 / 8
    number = float
    exp, log, sqrt, tanh, acos, asinh = np.exp, np.log, np.sqrt, np.tanh, np.arccos, np.arcsinh
    pi = math.pi

    @staticmethod
    def array(values: Vector) -> Vector:
        return np.asarray(values, float)

    @staticmethod
    def tail(h: Vector) -> Vector:
        """H(h)."""
        return special.ndtr(-h)

    @staticmethod
    def log_tail_and_hazard(h: Vector) -> tuple[Vector, Vector, Vector]:
        """ln H, N / H, N / H - h."""
        hazard = math.sqrt(2 / math.pi) / special.erfcx(h / math.sqrt(2))
        return special.log_ndtr(-h), hazard, np.where(h > 30.0, far_excess(np.maximum(h, 30.0)), hazard - h)


class FiftyDigits:
    """The same on arrays of mpmath numbers."""

    step = 1 / 32
    number = mp.mpf
    exp, log, sqrt, tanh, acos, asinh = (
        staticmethod(np.frompyfunc(function, 1, 1))
        for function in (mp.exp, mp.log, mp.sqrt, mp.tanh, mp.acos, mp.asinh)
    )
    pi = +mp.pi
    _erfc = staticmethod(np.frompyfunc(mp.erfc, 1, 1))

    @staticmethod
    def array(values: Vector) -> Vector:
        return np.array([mp.mpf(value) for value in values], object)

    @classmethod
    def tail(cls, h: Vector) -> Vector:
        return cls._erfc(h / mp.sqrt(2)) / 2

    @classmethod
    def log_tail_and_hazard(cls, h: Vector) -> tuple[Vector, Vector, Vector]:
        tail = cls.tail(h)
        hazard = cls.exp(-h * h / 2) / (mp.sqrt(2 * mp.pi) * tail)
        return cls.log(tail), hazard, np.where(h > 1e4, far_excess(np.maximum(h, 1e4)), hazard - h)


class FiftyDigitsFiner(FiftyDigits):
    """With twice as many nodes."""

    step = FiftyDigits.step / 2


Arithmetic = type[Double] | type[FiftyDigits]


def gaussian_rule(arithmetic: Arithmetic, features: Sequence[tuple[float, float]]) -> tuple[Vector, Vector]:
    """Nodes z and weights of the average over N(0, 1).

    Equal steps in t(z) = sum over features of asinh((z - centre) / width): a feature is a place and the length over
    which an integrand changes there.
    """
    centres = [min(max(centre, -LARGEST_Z), LARGEST_Z) for centre, _ in features]
    widths = [min(width, 1.0) for _, width in features]

    def t(numbers: Arithmetic, z: Vector) -> tuple[Vector, Vector]:
        x = [(z - centre) / width for centre, width in zip(centres, widths, strict=True)]
        slopes = [1 / (width * numbers.sqrt(1 + y * y)) for y, width in zip(x, widths, strict=True)]
        return sum(numbers.asinh(y) for y in x), sum(slopes)

    # Nodes to 1 % from a table of t, then Newton steps, each of which doubles the digits.
    table = np.sort(
        np.concatenate([
            centre + width * np.sinh(np.linspace(-1, 1, 801) * math.asinh(2 * LARGEST_Z / width))
            for centre, width in zip(centres, widths, strict=True)
        ])
    )  # fmt: skip
    table = table[abs(table) <= LARGEST_Z]
    t_of_table = t(Double, table)[0]
    first, final = math.ceil(t_of_table[0] / arithmetic.step), math.floor(t_of_table[-1] / arithmetic.step)
    grid = arithmetic.step * np.arange(first, final + 1)
    z = np.interp(grid, t_of_table, table)
    for numbers, steps in ((Double, 4), (arithmetic, 0 if arithmetic is Double else 2)):
        z, target = numbers.array(z), numbers.array(grid)
        for _ in range(steps):
            value, slope = t(numbers, z)
            z = z - (value - target) / slope
    slope = t(arithmetic, z)[1]
    density = arithmetic.exp(-z * z / 2) / arithmetic.sqrt(2 * arithmetic.pi)
    return z, density * arithmetic.number(arithmetic.step) / slope


@cache
def moments(activation: str) -> tuple[Any, Any]:
    """mu_1 and mu_star^2, in 50 digits."""
    if activation == "sign":
        return mp.sqrt(2 / mp.pi), 1 - 2 / mp.pi
    if activation == "erf":
        return 2 / mp.sqrt(3 * mp.pi), 2 / mp.pi * mp.asin(mp.mpf(2) / 3) - 4 / (3 * mp.pi)
    if activation == "identity":
        return mp.mpf(1), mp.mpf(0)
    z, weight = gaussian_rule(FiftyDigitsFiner, [(0.0, 1.0)])
    values = FiftyDigits.tanh(z)
    mu_1 = sum(weight * z * values)
    return mu_1, sum(weight * values**2) - mu_1**2


@dataclass(frozen=True)
class Ensemble:
    """Control parameters. alpha = 0 is the limit of infinitely many features per pattern."""

    activation: str
    alpha_T: Any
    alpha: Any
    margin: Any


class Point:
    """Order parameters, averages, residual and entropy of trial conjugates.

    `x` is ln A, ln p_hat, ln r_hat, and ln q_hat where alpha > 0. `near` is an earlier guess of `x`, in doubles, for
    which the nodes are placed.
    """

    def __init__(self, arithmetic: Arithmetic, ensemble: Ensemble, x: Vector, near: Vector) -> None:
        self.arithmetic, self.ensemble = arithmetic, ensemble
        number = arithmetic.number
        mu_1, noise = (number(moment) for moment in moments(ensemble.activation))
        alpha_T, alpha, margin = (number(value) for value in (ensemble.alpha_T, ensemble.alpha, ensemble.margin))
        conjugates = arithmetic.exp(x)
        self.A, self.p_hat, self.r_hat = conjugates[:3]
        self.p_d_hat = self.A - self.p_hat
        if alpha > 0:
            self.q_hat = conjugates[3]
            z, weight = gaussian_rule(arithmetic, [(0.0, math.exp(-near[3] / 2))])
            field = arithmetic.sqrt(self.q_hat) * abs(z)
            self.q = sum(weight * arithmetic.tanh(field) ** 2)
            decay = arithmetic.exp(-2 * field)
            self.v = sum(weight * 4 * decay / (1 + decay) ** 2)
            student = sum(weight * (field + arithmetic.log(1 + decay)))
        else:
            self.q_hat, self.q, self.v, student = number(0), number(0), number(1), arithmetic.log(number(2))
        M = 1 + self.A * self.v
        self.p_d_minus_p = self.v / M
        self.p = (self.q + (self.p_hat + self.r_hat**2) * self.v**2) / M**2
        self.r = self.r_hat * self.v / M
        self.p_d = self.p + self.p_d_minus_p

        self.Q = noise * self.q + mu_1**2 * self.p
        self.V = noise * self.v + mu_1**2 * self.p_d_minus_p
        self.R = mu_1 * self.r
        # Q - R^2, without its cancellation.
        rest = noise * self.q + mu_1**2 * (self.q + self.p_hat * self.v**2) / M**2
        if near is x:
            self.widths = (float(self.Q), float(self.V), float(rest), float(self.R))
        else:
            self.widths = Point(Double, ensemble, near, near).widths
        wide_Q, wide_V, wide_rest, wide_R = self.widths
        kappa = float(margin)
        width = math.sqrt(wide_V / wide_Q)
        z, weight = gaussian_rule(
            arithmetic, [(0.0, math.sqrt(wide_rest) / wide_R), (kappa / math.sqrt(wide_Q), width)]
        )
        log_tail, hazard, excess = arithmetic.log_tail_and_hazard(
            (margin - arithmetic.sqrt(self.Q) * z) / arithmetic.sqrt(self.V)
        )
        weight = 2 * weight * arithmetic.tail(-self.R / arithmetic.sqrt(rest) * z)
        energy = sum(weight * log_tail)
        squares = sum(weight * hazard**2) / self.V
        curvature = sum(weight * hazard * excess) / self.V
        z, weight = gaussian_rule(
            arithmetic, [(0.0, 1.0), (kappa / math.sqrt(wide_rest), math.sqrt(wide_V / wide_rest))]
        )
        hazard = arithmetic.log_tail_and_hazard((margin - arithmetic.sqrt(rest) * z) / arithmetic.sqrt(self.V))[1]
        at_teacher = 2 * sum(weight * hazard) / arithmetic.sqrt(2 * arithmetic.pi * self.V)

        mapped = [alpha_T * mu_1**2 * curvature, alpha_T * mu_1**2 * squares, alpha_T * mu_1 * at_teacher]
        if alpha > 0:
            ratio = alpha / alpha_T
            B_squared = self.p_hat + self.r_hat**2
            mapped.append(ratio * (B_squared + self.A**2 * self.q) / M**2 + alpha * noise * squares)
            latent = (
                (self.A * self.p_d - self.p_hat * self.p_d_minus_p) / 2 - self.r_hat * self.r
                - arithmetic.log(M) / 2 + (B_squared * self.v - self.A * self.q) / (2 * M)
            )  # fmt: skip
            self.entropy = -self.q_hat * self.v / 2 + student + ratio * latent + alpha * energy
        else:
            D = self.p_d_minus_p
            self.entropy = (1 - self.p_d + arithmetic.log(D) + (self.p - self.r**2) / D) / (2 * alpha_T) + energy
        self.mapped = arithmetic.log(np.array(mapped))
        self.residual = self.mapped - x

    def answers(self) -> dict[str, Any]:
        acos, sqrt, pi = self.arithmetic.acos, self.arithmetic.sqrt, self.arithmetic.pi
        return {
            "entropy": self.entropy, "q": self.q, "one_minus_q": self.v, "p": self.p, "p_d": self.p_d,
            "p_d_minus_p": self.p_d_minus_p, "r": self.r, "q_hat": self.q_hat, "p_hat": self.p_hat,
            "p_d_hat": self.p_d_hat, "A": self.A, "r_hat": self.r_hat,
            "error_typical": acos(self.R / sqrt(self.Q + self.V)) / pi,
            "error_barycenter": acos(self.R / sqrt(self.Q)) / pi,
        }  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Ensembles along one parameter: "margin", or the logarithm of "alpha" or "alpha_T"."""

    ensemble: Ensemble
    parameter: str

    def at(self, arithmetic: Arithmetic, position: Any) -> Ensemble:
        value = position if self.parameter == "margin" else arithmetic.exp(arithmetic.number(position))
        return replace(self.ensemble, **{self.parameter: value})


class NotFound(Exception):
    """Newton's method does not converge from this guess."""


def jacobian(equations: Callable[[Vector], Vector], x: Vector) -> Vector:
    """By central differences, given in doubles."""
    size = 1e-6 if x.dtype == float else mp.mpf("1e-16")
    unit = np.eye(len(x)).astype(x.dtype)
    slopes = [(equations(x + size * step) - equations(x - size * step)) / (2 * size) for step in unit]
    return np.array(slopes).T.astype(float)


def newton(equations: Callable[[Vector], Vector], guess: Vector, slopes: Vector, smallest_step: float) -> Vector:
    """Root near a guess by Broyden's method; a root far from the guess is on another branch and is refused."""
    array = FiftyDigits.array if guess.dtype == object else Double.array
    y, value = guess, equations(guess)
    for _ in range(30):
        step = -np.linalg.solve(slopes, value.astype(float))
        size = np.max(np.abs(step))
        y = y + array(step)
        if not np.isfinite(size) or np.max(np.abs((y - guess).astype(float))) > 0.5:
            break
        if size < smallest_step:
            return y
        value = equations(y)
        direction = step / size
        slopes = slopes + np.outer(value.astype(float) / size, direction) / np.sum(direction**2)
    raise NotFound


def newton_in_doubles(equations: Callable[[Vector], Vector], guess: Vector) -> Vector:
    return newton(equations, guess, jacobian(equations, guess), 1e-9)


def saddle_point(ensemble: Ensemble, guess: Vector) -> Vector:
    return newton_in_doubles(lambda x: Point(Double, ensemble, x, x).residual, guess)


def follow(family: Family, x: Vector, start: float, step: float, end: float) -> Iterator[tuple[float, Vector]]:
    """Points of the branch from `start`, whose solution is `x`, to `end`; steps adapt."""
    known = [(start, x)]
    yield known[0]
    while known[-1][0] != end:
        position = known[-1][0]
        ahead = position + step
        if (end - ahead) * math.copysign(1.0, step) < 0:
            ahead = end
        guess = known[-1][1]
        if len(known) > 1:
            guess = guess + (guess - known[-2][1]) * (ahead - position) / (position - known[-2][0])
        try:
            x = saddle_point(family.at(Double, ahead), guess)
        except (NotFound, np.linalg.LinAlgError):
            step /= 2
            if abs(step) < 1e-12:
                raise
            continue
        step *= 1.5 if np.max(np.abs(x - guess)) < 0.02 else 0.8
        known.append((ahead, x))
        yield known[-1]


def last(points: Iterator[tuple[float, Vector]]) -> Vector:
    *_, (_, x) = points
    return x


WEAK = 1e-6
"""alpha and alpha_T at which the fixed-point map converges at once."""


def unloaded(activation: str, alpha_T: float, limit: bool) -> tuple[float, Vector]:
    """A weak load alpha and its solution at margin 0."""
    ensemble = Ensemble(activation, WEAK, 0.0 if limit else WEAK, 0.0)
    x = np.log(np.full(3 if limit else 4, WEAK))
    for _ in range(20):
        x = Point(Double, ensemble, x, x).mapped
    family = Family(ensemble, "alpha_T")
    return ensemble.alpha, last(follow(family, saddle_point(ensemble, x), math.log(WEAK), 1.0, math.log(alpha_T)))


def loaded(ensemble: Ensemble) -> Vector:
    """Solution in double precision: alpha_T, then alpha, then the margin from 0."""
    alpha, x = unloaded(ensemble.activation, float(ensemble.alpha_T), ensemble.alpha == 0)
    at_zero = replace(ensemble, margin=0.0)
    if alpha > 0:
        x = last(follow(Family(at_zero, "alpha"), x, math.log(alpha), 1.0, math.log(ensemble.alpha)))
    return last(follow(Family(at_zero, "margin"), x, 0.0, 0.1, float(ensemble.margin)))


def zero_of_entropy(family: Family, x: Vector, start: float, step: float) -> Vector:
    """Solution and position, one array, where the entropy vanishes first, in double precision."""
    before = None
    for position, at in follow(family, x, start, step, math.inf):
        ensemble = family.at(Double, position)
        value = float(Point(Double, ensemble, at, at).entropy)
        if value < 0 and before is not None:
            return root_between(family, before, (np.append(at, position), value))
        before = (np.append(at, position), value)
    raise NotFound


def root_between(family: Family, low: tuple[Vector, float], high: tuple[Vector, float]) -> Vector:
    """Zero of the entropy between two points of the branch, (solution and position, entropy), of opposite signs."""
    share = low[1] / (low[1] - high[1])
    try:
        return newton_in_doubles(lambda y: with_entropy(Double, family, y, y), low[0] + share * (high[0] - low[0]))
    except (NotFound, np.linalg.LinAlgError):
        middle = (low[0] + high[0]) / 2
        ensemble = family.at(Double, middle[-1])
        x = saddle_point(ensemble, middle[:-1])
        value = float(Point(Double, ensemble, x, x).entropy)
        inside = (np.append(x, middle[-1]), value)
        return root_between(family, inside, high) if value > 0 else root_between(family, low, inside)


def with_entropy(arithmetic: Arithmetic, family: Family, y: Vector, near: Vector) -> Vector:
    """Residuals of the saddle point, and the entropy per pattern."""
    ensemble = family.at(arithmetic, y[-1])
    x = y[:-1]
    point = Point(arithmetic, ensemble, x, x if near is y else near[:-1])
    return np.append(point.residual, point.entropy / arithmetic.number(ensemble.alpha))


def polish(equations: Callable[[Arithmetic, Vector, Vector], Vector], start: Vector) -> Vector:
    """Root in 50 digits near a root in double precision."""
    guess = FiftyDigits.array(start)
    slopes = jacobian(lambda y: equations(FiftyDigits, y, start), guess)
    y = newton(lambda y: equations(FiftyDigits, y, start), guess, slopes, 1e-32)
    change = np.linalg.solve(slopes, equations(FiftyDigitsFiner, y, start).astype(float))
    if np.max(np.abs(change)) > QUADRATURE_TOLERANCE:
        raise ArithmeticError(f"twice as many nodes move the solution by {np.max(np.abs(change)):.1e}")
    return y


def equations_of(ensemble: Ensemble) -> Callable[[Arithmetic, Vector, Vector], Vector]:
    return lambda arithmetic, x, near: Point(arithmetic, ensemble, x, near).residual


def solve(kind: str, activation: str, alpha_T: float, inv_alpha: float | None, margin: float | None) -> dict[str, Any]:
    """Answers of one row of the table, mpmath numbers.

    Args:
        kind: "typical", "kappa_max" (threshold: kappa_max), "alpha_c" (threshold: alpha_c) or "limit" (entropy: per
            pattern, the s_1 of entropy = ln 2 + alpha s_1).
        activation: one of `ACTIVATIONS`.
        alpha_T: exactly this double, as are the others.
        inv_alpha: not for "alpha_c" and "limit".
        margin: not for "kappa_max".
    """
    alpha = 1 / mp.mpf(inv_alpha) if inv_alpha is not None else mp.mpf(0)
    ensemble = Ensemble(activation, mp.mpf(alpha_T), alpha, mp.mpf(margin or 0.0))
    if kind in {"typical", "limit"}:
        start = loaded(replace(ensemble, alpha=float(alpha)))
        x = polish(equations_of(ensemble), start)
        return {"threshold": None, **Point(FiftyDigits, ensemble, x, start).answers()}
    family, start = threshold(kind, ensemble)
    y = polish(lambda arithmetic, y, near: with_entropy(arithmetic, family, y, near), start)
    at_root = family.at(FiftyDigits, y[-1])
    value = at_root.margin if kind == "kappa_max" else at_root.alpha
    return {"threshold": value, **Point(FiftyDigits, at_root, y[:-1], start[:-1]).answers()}


def threshold(kind: str, ensemble: Ensemble) -> tuple[Family, Vector]:
    """The family in which kappa_max or alpha_c is searched, and its root in double precision."""
    if kind == "kappa_max":
        family = Family(ensemble, "margin")
        return family, zero_of_entropy(family, loaded(replace(ensemble, alpha=float(ensemble.alpha))), 0.0, 0.1)
    family = Family(ensemble, "alpha")
    x = loaded(replace(ensemble, alpha=WEAK))
    return family, zero_of_entropy(family, x, math.log(WEAK), 1.0)


@dataclass(frozen=True)
class Request:
    """One point to solve.

    Attributes:
        kind: see `solve`.
        activation: see `solve`.
        alpha_T: see `solve`.
        inv_alpha: see `solve`.
        margin: see `solve`.
        depth: place of ln inv_alpha between the interpolation threshold at margin 0 (0) and ln 1e3 (1), in place of
            `inv_alpha`.
        share: margin in units of kappa_max, in place of `margin`.
    """

    kind: str
    activation: str
    alpha_T: float
    inv_alpha: float | None = None
    margin: float | None = None
    depth: float | None = None
    share: float | None = None

    def inputs(self) -> tuple[str, str, float, float | None, float | None]:
        """Arguments of `solve`. A threshold itself is rounded to the nearest double on the side with solutions."""
        inv_alpha, margin = self.inv_alpha, self.margin
        if self.depth == 0.0:
            exact = 1 / solve("alpha_c", self.activation, self.alpha_T, None, 0.0)["threshold"]
            inv_alpha = float(exact)
            if mp.mpf(inv_alpha) < exact:
                inv_alpha = math.nextafter(inv_alpha, math.inf)
        elif self.depth is not None:
            ensemble = Ensemble(self.activation, mp.mpf(self.alpha_T), mp.mpf(0), mp.mpf(0))
            lowest = -threshold("alpha_c", ensemble)[1][-1]
            inv_alpha = rounded(math.exp(lowest + self.depth * (math.log(1e3) - lowest)))
        if self.share == 1.0:
            exact = solve("kappa_max", self.activation, self.alpha_T, inv_alpha, None)["threshold"]
            margin = float(exact)
            if mp.mpf(margin) > exact:
                margin = math.nextafter(margin, 0.0)
        elif self.share == 0.0:
            margin = 0.0
        elif self.share is not None:
            ensemble = Ensemble(self.activation, mp.mpf(self.alpha_T), 1 / mp.mpf(inv_alpha), mp.mpf(0))
            margin = rounded(self.share * float(threshold("kappa_max", ensemble)[1][-1]))
        return self.kind, self.activation, self.alpha_T, inv_alpha, margin


def rounded(value: float) -> float:
    """To five digits, so that another processor asks for the same point."""
    return float(f"{value:.5g}")


def plane(count: int) -> Iterator[tuple[int, float, float]]:
    """Quasi-random points of the unit square (Roberts' R2 sequence), with their numbers."""
    ratio = 1.3247179572447460
    for index in range(count):
        yield index, (0.5 + index / ratio) % 1.0, (0.5 + index / ratio**2) % 1.0


def requests() -> list[Request]:
    """All points: alpha_T from 1e-3 to 1e3, 1/alpha from the threshold to 1e3, margins from 0 to kappa_max."""
    named = [
        Request("typical", "sign", 1000.0, 40.0, 2.7),
        Request("typical", "sign", 300.0, 200.0, 2.7),
        Request("limit", "sign", 300.0, None, 2.7),
        Request("kappa_max", "erf", 10.0, 30.0),
        Request("kappa_max", "identity", 10.0, 30.0),
        Request("kappa_max", "sign", 3.0, 1e4),
        Request("kappa_max", "sign", 100.0, 50.0),
        Request("alpha_c", "sign", 3.0, None, 10.0),
    ]
    shares = (0.0, 0.3, 0.6, 0.9, 0.99, 1.0)
    corners = [
        Request("typical", activation, alpha_T, depth=0.0, margin=0.0)
        for activation in ACTIVATIONS
        for alpha_T in (1e-3, 1.0, 30.0, 1e3)
    ]
    spread: list[Request] = []
    for index, first, second in plane(4 * len(shares) * 8):
        alpha_T, activation = rounded(10 ** (6 * first - 3)), ACTIVATIONS[index % 4]
        share = shares[index // 4 % len(shares)]
        spread.append(Request("typical", activation, alpha_T, depth=second, share=share))
    for index, first, second in plane(32):
        alpha_T, activation = rounded(10 ** (6 * first - 3)), ACTIVATIONS[index % 4]
        margin = 0.0 if index % 8 < 2 else rounded(10 ** (3 * second - 2))
        spread += [
            Request("kappa_max", activation, alpha_T, rounded(2.0 * 500.0**second)),
            Request("alpha_c", activation, alpha_T, None, margin),
            Request("limit", activation, alpha_T, None, margin),
        ]
    return named + corners + spread


def text(value: Any) -> str:
    """A double exactly, an answer to `DIGITS` digits, nothing for None."""
    if isinstance(value, mp.mpf):
        return str(mp.nstr(mp.chop(value, mp.mpf("1e-40")), DIGITS))
    return "" if value is None else str(value)


def main(wanted: Sequence[int]) -> None:
    """Append the wanted points that the table lacks (all where none is named), and sort the table."""
    columns = ("point", *INPUTS, *ANSWERS)
    if not TABLE.exists():
        TABLE.write_text(",".join(columns) + "\n")
    with TABLE.open(newline="") as table:
        known = {int(row["point"]) for row in csv.DictReader(table)}
    for number, request in enumerate(requests()):
        if number in known or (wanted and number not in wanted):
            continue
        inputs = request.inputs()
        answers = solve(*inputs)
        line = ",".join(map(text, (number, *inputs, *(answers[name] for name in ANSWERS))))
        with TABLE.open("a") as table:
            table.write(line + "\n")
        print(line[:100], flush=True)
    header, *rows = TABLE.read_text().splitlines()
    rows.sort(key=lambda row: int(row.split(",")[0]))
    TABLE.write_text("\n".join([header, *rows]) + "\n")


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]])
