"""Reference values of the replica theory of random patterns, with and without a teacher, by a second solver.

Writes `random_patterns.csv`, next to this script. The equations are those of docs/margins/theory.md. They are written
down here a second time: nothing is imported from the package.

    python tests/theory/reference/random_patterns.py            # adds the points that the table lacks
    python tests/theory/reference/random_patterns.py 0 17       # computes these points again

All points take about fifteen minutes of one core. A run can be stopped and started again.

Method. Double precision. The unknowns are conjugate order parameters, and the equations are iterated: the overlaps
from the conjugates, the conjugates from the overlaps. Anderson's method speeds this up. The energetic term is the
three-dimensional integral of eq. 12: trapezoid sums in the two Gaussian fields, and composite Gauss-Legendre sums in
the reference's own part, with panels that shrink towards the student's margin. Thresholds are roots in ln d and the
control parameter together. Answers are correct to about 1e-9, thresholds to about 1e-8.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.optimize import brentq, root

TABLE = Path(__file__).with_suffix(".csv")
INPUTS = ("kind", "model", "alpha", "margin_ref", "margin", "distance")
ANSWERS = ("threshold", "entropy", "q", "r", "slope", "replicon")
MODELS = ("perceptron", "relu", "sign", "planted")
ROOT_2PI = math.sqrt(2 * math.pi)
PANEL, PANEL_WEIGHT = np.polynomial.legendre.leggauss(16)
NODES_X, NODES_Y = 145, 69
"""Of the fields that references, and that students beside one reference, have in common."""


@njit(cache=True)
def hazard(x):
    """G(x) / H(x)."""
    if x < 20.0:
        return math.exp(-0.5 * x * x) / ROOT_2PI / (0.5 * math.erfc(x / math.sqrt(2.0)))
    fraction = x
    for k in range(14, 0, -1):
        fraction = x + k / fraction
    return fraction


@njit(cache=True)
def log_tail(x):
    """ln H(x)."""
    if x < -1.0:
        return math.log1p(-0.5 * math.erfc(-x / math.sqrt(2.0)))
    if x < 20.0:
        return math.log(0.5 * math.erfc(x / math.sqrt(2.0)))
    return -0.5 * x * x - math.log(ROOT_2PI * hazard(x))


@njit(cache=True)
def gaussian_nodes(end, largest_step):
    """Nodes and weights of a trapezoid sum over a Gaussian on [-end, end]."""
    nodes = np.linspace(-end, end, math.ceil(2 * end / largest_step) + 1)
    return nodes, (nodes[1] - nodes[0]) / ROOT_2PI * np.exp(-0.5 * nodes**2)


def covariance(model: str, q: float) -> tuple[float, float, float]:
    """Q(q) and its first two derivatives."""
    sine = math.sqrt(1 - q * q)
    if model == "sign":
        return 2 / math.pi * math.asin(q), 2 / math.pi / sine, 2 / math.pi * q / sine**3
    if model == "relu":
        slope = math.pi / 2 + math.asin(q)
        return (sine + q * slope - 1) / (math.pi - 1), slope / (math.pi - 1), 1 / sine / (math.pi - 1)
    return q, 1.0, 0.0


@njit(cache=True)
def typical_energy(margin, Q, R, planted):
    """Averages over a pattern: ln H(h), G(h), G(h)^2, and the teacher's part of eq. 36."""
    out = np.zeros(4)
    z, weight = gaussian_nodes(9.0, 0.015)
    for i in range(len(z)):
        h = (margin - math.sqrt(Q) * z[i]) / math.sqrt(1 - Q)
        g, w = hazard(h), weight[i]
        if planted:
            rest = math.sqrt(1 - R * R / Q)
            of_teacher = R / math.sqrt(Q) * z[i] / rest
            out[3] += 2 * w * math.exp(-0.5 * of_teacher**2) / ROOT_2PI / rest * g
            w *= math.erfc(-of_teacher / math.sqrt(2.0))
        out[0] += w * log_tail(h)
        out[1] += w * g
        out[2] += w * g * g
    return out


@njit(cache=True)
def typical_sites(q_hat, r_hat):
    """Averages over a weight: ln 2 cosh h, tanh h, tanh^2 h."""
    out = np.zeros(3)
    z, weight = gaussian_nodes(9.0, min(0.015, 0.25 / math.sqrt(q_hat)))
    for i in range(len(z)):
        h = math.sqrt(q_hat) * z[i] + r_hat
        out[0] += weight[i] * (abs(h) + math.log1p(math.exp(-2 * abs(h))))
        out[1] += weight[i] * math.tanh(h)
        out[2] += weight[i] * math.tanh(h) ** 2
    return out


class Typical(NamedTuple):
    """A typical solution, with the derivatives of its entropy by alpha and by the margin."""

    q: float
    r: float
    q_hat: float
    r_hat: float
    entropy: float
    by_alpha: float
    by_margin: float


def typical(model: str, alpha: float, margin: float) -> Typical:
    """Typical solutions: the fixed point reached from few patterns, polished by a root finder."""
    planted = model == "planted"

    def updated(y: Any) -> Any:
        _, r, q = typical_sites(math.exp(y[0]), math.exp(y[1]) if planted else 0.0)
        Q, slope, _ = covariance(model, q)
        energy = typical_energy(margin, Q, r, planted)
        new = [math.log(alpha * slope / (1 - Q) * energy[2])]
        return np.array([*new, math.log(alpha / math.sqrt(1 - Q) * energy[3])] if planted else new)

    y = np.full(2 if planted else 1, -12.0)
    for _ in range(40):
        y = updated(y)
    y = root(lambda y: updated(y) - y, y, tol=1e-14).x
    q_hat, r_hat = math.exp(y[0]), math.exp(y[1]) if planted else 0.0
    sites, r, q = typical_sites(q_hat, r_hat)
    Q = covariance(model, q)[0]
    energy = typical_energy(margin, Q, r, planted)
    entropy = -0.5 * q_hat * (1 - q) - r * r_hat + sites + alpha * energy[0]
    return Typical(q, r if planted else 0.0, q_hat, r_hat, entropy, energy[0], -alpha / math.sqrt(1 - Q) * energy[1])


def alpha_c(model: str, margin: float) -> float:
    """Newton's method, from few patterns."""
    alpha = 0.1 / (1 + margin**2)
    for _ in range(30):
        point = typical(model, alpha, margin)
        alpha -= point.entropy / point.by_alpha
    return alpha


def kappa_max(model: str, alpha: float) -> float:
    """Newton's method, from margin 0: the entropy is concave."""
    margin = 0.0
    for _ in range(100):
        point = typical(model, alpha, margin)
        # Half of the first steps, which may lead beyond the end of the solutions.
        step = -point.entropy / point.by_margin
        margin += step if abs(step) < 1e-2 else 0.5 * step
        if abs(step) < 1e-14:
            break
    return margin


@njit(cache=True)
def pair_energy(margin_ref, margin, Q_ref, R_ref, Q, T, P, R, planted, panel, panel_weight):
    """Averages over a pattern seen by a reference and a student beside it (eq. 12; with a teacher O21).

    Returns:
        ln H(h), G(h)^2, G(a) G(h), G(a) G(h) at the reference's margin, G'(h)^2, the teacher's part.
    """
    out = np.zeros(6)
    own, root_ref = math.sqrt(1 - Q), math.sqrt(Q_ref)
    shared, c_1 = T / root_ref, (P - T) / math.sqrt(1 - Q_ref)
    c_2 = math.sqrt(Q - shared**2 - c_1**2)
    x, weight_x = gaussian_nodes(9.0, 18.0 / (NODES_X - 1))
    y, weight_y = gaussian_nodes(8.5, 17.0 / (NODES_Y - 1))
    agree, at_border = weight_y.copy(), np.zeros(len(y))
    edges = np.empty(128)
    for i in range(len(x)):
        a = (margin_ref - root_ref * x[i]) / math.sqrt(1 - Q_ref)
        g_ref, low = hazard(a), max(a, -9.0)
        high = math.sqrt(a * a + 84.0) if a > 0 else 9.2
        if planted:
            by_x = R_ref / root_ref
            by_y = (R - shared * by_x) / c_2
            rest = math.sqrt(1 - by_x**2 - by_y**2)
            for j in range(len(y)):
                m = (by_x * x[i] + by_y * y[j]) / rest
                agree[j] = weight_y[j] * math.erfc(-m / math.sqrt(2.0))
                at_border[j] = weight_y[j] * 2 * math.exp(-0.5 * m * m) / ROOT_2PI / rest
        for j in range(len(y)):
            out[3] += weight_x[i] * g_ref * agree[j] * hazard((margin - shared * x[i] - c_1 * a - c_2 * y[j]) / own)
        # Panels: twelve of one length, and more of doubling length around the student's margin.
        count = 13
        for k in range(count):
            edges[k] = low + (high - low) * k / 12
        kink, distance = (margin - shared * x[i]) / c_1, own / abs(c_1)
        while distance < 40.0:
            for edge in (kink - distance, kink + distance):
                if low < edge < high:
                    edges[count] = edge
                    count += 1
            distance *= 2
        ends = np.sort(edges[:count])
        for k in range(count - 1):
            half = 0.5 * (ends[k + 1] - ends[k])
            for n in range(len(panel)):
                eta = 0.5 * (ends[k] + ends[k + 1]) + half * panel[n]
                w = weight_x[i] * half * panel_weight[n] * g_ref * math.exp(-0.5 * (eta - a) * (eta + a))
                if a < -5:
                    w = weight_x[i] * half * panel_weight[n] * math.exp(-0.5 * eta**2 - log_tail(a)) / ROOT_2PI
                centre = (margin - shared * x[i] - c_1 * eta) / own
                if w < 1e-22 or centre + 8.5 * c_2 / own < -11.0:
                    continue
                for j in range(len(y)):
                    h = centre - c_2 / own * y[j]
                    if h > -12.0:
                        g, both = hazard(h), w * agree[j]
                        out[0] += both * log_tail(h)
                        out[1] += both * g * g
                        out[2] += both * g_ref * g
                        out[4] += both * (g * (g - h)) ** 2
                        out[5] += w * at_border[j] * g
    return out


@njit(cache=True)
def pair_sites(q_hat_ref, r_hat_ref, free, t_hat, field, r_hat):
    """Averages over a weight of a reference and a student beside it, w the reference's sign (eqs. 11, 39).

    Returns:
        ln 2 cosh h, w tanh h, tanh^2 h, the same with another reference's mean, tanh h, and (1 - tanh^2 h)^2.
    """
    out = np.zeros(6)
    root_ref = math.sqrt(q_hat_ref)
    by_x, by_y = t_hat / root_ref, math.sqrt(free)
    x, weight_x = gaussian_nodes(9.0, max(3e-3, min(0.1, 0.25 / max(root_ref, by_x))))
    y, weight_y = gaussian_nodes(9.0, max(3e-3, min(0.1, 0.25 / max(by_y, 1e-9))))
    for i in range(len(x)):
        of_ref = root_ref * x[i] + r_hat_ref
        for w in (-1.0, 1.0):
            part = weight_x[i] / (1 + math.exp(-2 * w * of_ref))
            for j in range(len(y)):
                h = by_x * x[i] + by_y * y[j] + field * w + r_hat
                tanh, both = math.tanh(h), part * weight_y[j]
                out[0] += both * (abs(h) + math.log1p(math.exp(-2 * abs(h))))
                out[1] += both * w * tanh
                out[2] += both * tanh**2
                out[3] += both * math.tanh(of_ref) * tanh
                out[4] += both * tanh
                out[5] += both * (1 - tanh**2) ** 2
    return out


class Curve:
    """Franz-Parisi entropy around typical solutions of a margin; each point starts from the last one."""

    def __init__(self, model: str, alpha: float, margin_ref: float, margin: float) -> None:
        self.model, self.alpha, self.margin_ref, self.margin = model, alpha, margin_ref, margin
        self.planted = model == "planted"
        self.ref = typical(model, alpha, margin_ref)
        weak = math.log(1e-3 * self.ref.q_hat)
        self.y = np.array([weak, weak, 1e-3] if self.planted else [weak, weak])

    def updated(self, y: Any, p: float) -> tuple[Any, dict[str, float]]:
        """New ln(q_hat - t_hat^2 / q_hat_ref), ln t_hat, r_hat; entropy, q, r, slope, replicon at the old ones."""
        ref, alpha = self.ref, self.alpha
        free, t_hat, r_hat = math.exp(y[0]), math.exp(y[1]), y[2] if self.planted else 0.0

        def missed(S_hat: float) -> float:
            reached = pair_sites(ref.q_hat, ref.r_hat, free, t_hat, S_hat - t_hat, r_hat)[1]
            return math.atanh(min(reached, 1 - 1e-16)) - math.atanh(p)

        S_hat = brentq(missed, -40.0, 40.0, xtol=1e-15)
        sites, _, q, t, r, bent = pair_sites(ref.q_hat, ref.r_hat, free, t_hat, S_hat - t_hat, r_hat)
        (Q, slope_q, curve_q), (T, slope_t, _), (P, slope_p, _) = (covariance(self.model, o) for o in (q, t, p))
        Q_ref = covariance(self.model, ref.q)[0]
        value, pulled, pulled_ref, border, stiff, taught = pair_energy(
            self.margin_ref, self.margin, Q_ref, ref.r, Q, T, P, r, self.planted, PANEL, PANEL_WEIGHT
        )
        both = math.sqrt((1 - Q) * (1 - Q_ref))
        new_t_hat = alpha * slope_t * pulled_ref / both
        new_free = alpha * slope_q * pulled / (1 - Q) - new_t_hat**2 / ref.q_hat
        new = [math.log(max(new_free, 1e-280)), math.log(max(new_t_hat, 1e-280))]
        q_hat = free + t_hat**2 / ref.q_hat
        answers = {
            "entropy": -0.5 * q_hat * (1 - q) - p * S_hat + t * t_hat - r * r_hat + sites + alpha * value,
            "q": q,
            "slope": 2 * (S_hat - alpha * slope_p * border / both),
            "replicon": alpha * bent * (slope_q**2 * stiff / (1 - Q) ** 2 + curve_q * pulled / (1 - Q)),
        }
        if self.planted:
            new.append(alpha * taught / math.sqrt(1 - Q))
            answers["r"] = r
        return np.array(new), answers

    def at(self, distance: float) -> dict[str, float]:
        """Entropy, q, r, slope, replicon."""
        y, tried, changes = self.y, [], []
        for _ in range(100):
            new, answers = self.updated(y, 1 - 2 * distance)
            change = new - y
            if np.max(np.abs(change)) * min(1.0, math.exp(max(y[0], y[1]))) < 1e-12:
                self.y = y
                return answers
            tried.append(y)
            changes.append(change)
            last = range(2, min(len(tried), 5) + 1)
            y = y + np.clip(change, -5, 5)
            if len(tried) > 3 and np.max(np.abs(change)) < 1:
                of_changes = np.array([change - changes[-k] for k in last]).T
                of_tried = np.array([tried[-1] - tried[-k] for k in last]).T
                share = np.linalg.lstsq(of_changes, change, rcond=1e-10)[0]
                faster = tried[-1] + change - (of_tried + of_changes) @ share
                y = faster if np.max(np.abs(faster - tried[-1])) < 3 else y
        raise RuntimeError(f"no convergence at {vars(self)}, distance {distance}")


def least(model: str, alpha: float, margin_ref: float, log_distance: float, quantity: str) -> tuple[float, float]:
    """Entropy or slope, and a number that vanishes at its minimum in d."""
    curve, step = Curve(model, alpha, margin_ref, 0.0), 2e-3
    here = curve.at(math.exp(log_distance))
    if quantity == "entropy":
        return here["entropy"], here["slope"]
    up, down = (curve.at(math.exp(log_distance + part)) for part in (step, -step))
    return here["slope"], (up["slope"] - down["slope"]) / (2 * step)


GUESSES = {
    "perceptron": {
        "kappa_min": (4e-4, 0.018), "kappa_u": (2e-4, 0.022), "alpha_le": (5e-3, 0.73),
        "alpha_min": (0.011, 0.75),
    },
    "relu": {"kappa_min": (7e-4, 0.029), "alpha_le": (6e-3, 0.77)},
    "sign": {"kappa_min": (2e-3, 0.38), "alpha_le": (2e-3, 0.56)},
    "planted": {"kappa_min": (7e-4, 0.025), "alpha_le": (4e-3, 1.05)},
}  # fmt: skip
"""Distances and thresholds from which the roots are sought."""


def threshold(kind: str, model: str, alpha: float) -> float:
    """The root in ln d and the reference margin, or alpha for references of largest margin."""
    quantity = "slope" if kind in ("kappa_u", "alpha_le") else "entropy"
    of_alpha = kind in ("alpha_le", "alpha_min")
    guess = [math.log(GUESSES[model][kind][0]), GUESSES[model][kind][1]]

    def equations(y: Any) -> tuple[float, float]:
        if of_alpha:
            return least(model, y[1], kappa_max(model, y[1]), y[0], quantity)
        return least(model, alpha, y[1], y[0], quantity)

    found = root(equations, guess, tol=1e-10)
    if np.max(np.abs(found.fun)) > 1e-7:
        raise RuntimeError(f"{kind} of {model} at {alpha}: {found.message}")
    return float(found.x[1])


LARGEST = {"perceptron": 0.8330786, "relu": 0.9039863, "sign": 0.9469524, "planted": 1.2446839}
"""alpha_c, nearly."""


def requests() -> list[dict[str, Any]]:
    """Inputs of all points."""
    rows: list[dict[str, Any]] = []
    for model in MODELS:
        most = LARGEST[model]
        for alpha, margin in (
            (1e-6, 0.0),
            (1e-3, 8.0),
            (0.07, 1.9),
            (0.31, 0.43),
            (0.93 * most, 0.017),
            (0.9999 * most, 0.0),
        ):
            rows.append({"kind": "typical", "model": model, "alpha": alpha, "margin": margin})
        rows.append({"kind": "alpha_c", "model": model, "margin": 0.57})
        rows.append({"kind": "kappa_max", "model": model, "alpha": 0.37})
        for alpha, margin_ref, margin, distances in (
            (0.37, 0.52, 0.0, (0.41, 0.03, 1e-3)),
            (0.37, 0.13, 0.13, (0.23, 0.02)),
            (0.81 * most, 0.03, 0.06, (0.33, 0.06)),
            (0.6 * most, 0.09, 0.0, (0.09, 2e-3)),
            (1e-3, 22.0, 0.0, (0.44,)),
        ):
            for distance in distances:
                inputs = {"alpha": alpha, "margin_ref": margin_ref, "margin": margin, "distance": distance}
                rows.append({"kind": "franz_parisi", "model": model, **inputs})
        for kind in GUESSES[model]:
            load = {"alpha": 0.46 * most} if kind in ("kappa_min", "kappa_u") else {}
            rows.append({"kind": kind, "model": model, **load})
    return rows


def solve(request: dict[str, Any]) -> dict[str, float]:
    """The answers to a request."""
    given = dict(request)
    kind, model = given.pop("kind"), given.pop("model")
    if kind == "typical":
        point = typical(model, **given)
        return {"entropy": point.entropy, "q": point.q} | ({"r": point.r} if model == "planted" else {})
    if kind == "franz_parisi":
        distance = given.pop("distance")
        return Curve(model, **given).at(distance)
    if kind in ("alpha_c", "kappa_max"):
        return {"threshold": (alpha_c if kind == "alpha_c" else kappa_max)(model, **given)}
    return {"threshold": threshold(kind, model, given.get("alpha", math.nan))}


def main() -> None:
    """Adds the points that the table lacks, or computes those named by their numbers."""
    done: dict[int, dict[str, str]] = {}
    if TABLE.exists():
        with TABLE.open(newline="") as table:
            done = {int(row["point"]): row for row in csv.DictReader(table)}
    everything = requests()
    for number in [int(part) for part in sys.argv[1:]] or [n for n in range(len(everything)) if n not in done]:
        try:
            values = everything[number] | {name: f"{value:.15g}" for name, value in solve(everything[number]).items()}
        except RuntimeError as error:
            print(error)
            continue
        done[number] = {"point": str(number), **values}
        with TABLE.open("w", newline="") as table:
            writer = csv.DictWriter(table, ("point", *INPUTS, *ANSWERS), lineterminator="\n")
            writer.writeheader()
            writer.writerows(done[n] for n in sorted(done))


if __name__ == "__main__":
    main()
