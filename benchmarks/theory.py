"""Speed of the theory engine, each piece next to its limit or target, in one run on one core.

python benchmarks/theory.py
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from scipy.integrate import quad
from scipy.special import log_ndtr
from timing import fastest

from localentropy.numerics.quadrature import gaussian_rule
from localentropy.numerics.saddle_point import hessian, solve, value_and_gradient
from localentropy.numerics.special import log_tail, tail
from localentropy.replica import random_features as rf
from localentropy.replica import random_features_thresholds as thresholds
from localentropy.replica.random_features_curve import FranzParisiCurve
from localentropy.replica.random_features_typical import TypicalFreeEntropy, add_patterns

ALPHA_T, INV_ALPHA = 3.0, 1.2
FIGURE_3 = ((0.0, 0.0), (0.03, 0.0), (0.05, 0.0), (0.1, 0.0), ("max", 0.0), (0.1, 0.1))


def seconds(function: Callable[[], object], repeats: int = 1) -> float:
    """CPU time of one call; of a short one the fastest of three batches."""
    return fastest(function, 3 if repeats > 1 else 1, repeats, warm=False)


def report(what: str, measured: float, against: str, reference: float) -> None:
    ratio = measured / reference
    print(f"{what:42s} {1e3 * measured:10.3f} ms   {against:40s} {1e3 * reference:10.3f} ms   ratio {ratio:6.2f}")


def special_functions() -> None:
    h = np.random.default_rng(1).normal(0.0, 3.0, 50_000)
    report(
        "ln H, 50,000 values",
        seconds(lambda: log_tail(torch.from_numpy(h)), 20),
        "scipy.special.log_ndtr",
        seconds(lambda: log_ndtr(-h), 20),
    )


def quadrature() -> None:
    a = math.sqrt(0.9 / 0.1)

    def by_rule() -> float:
        z, weight = gaussian_rule(a, 56)
        return float((weight * tail(-a * z) * log_tail(-a * z)).sum())

    def by_quad() -> float:
        def integrand(z: float) -> float:
            return math.exp(-0.5 * z * z) * 0.5 * math.erfc(-a * z / math.sqrt(2)) * float(log_ndtr(a * z))

        return quad(integrand, -9, 9, epsabs=1e-10, limit=200)[0] / math.sqrt(2 * math.pi)

    assert abs(by_rule() - by_quad()) < 1e-9
    report("int Dx H ln H at q = 0.9, 56 nodes", seconds(by_rule, 200), "scipy.integrate.quad", seconds(by_quad, 20))


def typical_solutions() -> None:
    ensemble = rf._ensemble(ALPHA_T, 2.0, 0.0, "sign")
    problem = TypicalFreeEntropy(ensemble)
    point = solve(problem, thresholds.typical_point(ensemble).parameters)
    neighbour = TypicalFreeEntropy(rf._ensemble(ALPHA_T, 2.02, 0.0, "sign"))
    gradient = seconds(lambda: value_and_gradient(problem, point.parameters), 100)
    report("RS free entropy, gradient", gradient, "one eighth of a warm solve's target", 5e-3 / 8)
    report(
        "RS free entropy, Hessian",
        seconds(lambda: hessian(problem.value, point.parameters), 20),
        "one gradient",
        gradient,
    )
    warm = seconds(lambda: solve(neighbour, point.parameters, point.inverse_hessian), 50)
    report("RS solve, warm", warm, "target", 5e-3)
    report("RS solve, cold", seconds(lambda: add_patterns(ensemble), 5), "warm solve", warm)


def franz_parisi() -> None:
    student = rf._ensemble(ALPHA_T, INV_ALPHA, 0.0, "sign")
    curve = FranzParisiCurve(student, thresholds.typical_point(student).parameters, 0.1)
    parameters = curve.at(0.05).parameters
    problem = curve.problem_at(curve.reference, 0.05)
    gradient = seconds(lambda: value_and_gradient(problem, parameters), 50)
    grid = torch.linspace(-8, 8, math.prod(problem.energy.nodes), dtype=torch.float64)
    erfc = seconds(lambda: torch.erfc(grid), 50)
    report("Franz-Parisi free entropy, gradient", gradient, "bare erfc on its three-dimensional grid", erfc)
    curvature = seconds(lambda: hessian(problem.value, parameters), 5)
    report("Franz-Parisi free entropy, Hessian", curvature, "one gradient", gradient)
    distances = np.geomspace(1e-3, 0.5, 14)
    short = seconds(lambda: rf.franz_parisi(distances, ALPHA_T, INV_ALPHA, "max"))
    report("Franz-Parisi curve, 14 points", short, "target", 2.0)
    fine = np.geomspace(1e-4, 0.5, 60)

    def figure() -> None:
        for margin_ref, margin in FIGURE_3:
            rf.franz_parisi(fine, ALPHA_T, INV_ALPHA, margin_ref, margin, unsolved="nan")

    report("figure 3, six curves of 60 points", seconds(figure), "target", 40.0)


def threshold() -> None:
    report("1/alpha_LE", seconds(lambda: rf.inv_alpha_le(ALPHA_T)), "target", 15.0)
    report("kappa_u", seconds(lambda: rf.kappa_u(ALPHA_T, INV_ALPHA)), "1/alpha_LE's target", 15.0)


def main() -> None:
    torch.set_num_threads(1)
    for part in (special_functions, quadrature, typical_solutions, franz_parisi, threshold):
        part()


if __name__ == "__main__":
    main()
