"""Speed of the replica theory, each piece next to its target and to a peer, in one run on one core.

python benchmarks/theory.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import root
from scipy.special import log_ndtr, ndtr
from timing import fastest

from localentropy.numerics.saddle_point import solve
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
    alpha_u,
    barycenter,
    bayes,
    committee,
    cross_entropy,
    franz_parisi,
    franz_parisi_entropy,
    franz_parisi_one_step,
    group_entropy,
    hidden_manifold,
    kappa_max,
    kappa_opt,
    kappa_u,
    local_entropies,
    local_entropy,
    monotonicity,
    optimal_margin_onset,
    patterns,
    spherical_tree,
    typical,
    typical_solutions,
)
from localentropy.theory.model import Typical

ALPHA_T, INV_ALPHA = 3.0, 1.2
DISTANCES = np.geomspace(1e-3, 0.5, 14)
FIGURE_3 = ((0.0, 0.0), (0.03, 0.0), (0.05, 0.0), (0.1, 0.0), ("max", 0.0), (0.1, 0.1))
CACHED = [
    function
    for module in (typical_solutions, monotonicity, barycenter, cross_entropy, local_entropies)
    for function in vars(module).values()
    if hasattr(function, "cache_clear")
]


def seconds(function: Callable[[], object], calls: int = 1) -> float:
    """CPU time of one call, the fastest of three batches, with nothing remembered from calls before."""

    def cold() -> object:
        for cached in CACHED:
            cached.cache_clear()
        return function()

    return fastest(cold, 3, calls)


def report(what: str, measured: float, against: str, reference: float) -> None:
    ratio = measured / reference
    print(f"{what:42s} {1e3 * measured:10.3f} ms   {against:42s} {1e3 * reference:10.3f} ms   ratio {ratio:6.2f}")


def energetic_term() -> None:
    """Value, gradient and Hessian in one kernel, next to the bare value on as many nodes."""
    C, V, R, margin = 0.4, 0.5, 0.9, 0.1
    z = np.linspace(-9.0, 9.0, 288)

    def value() -> float:
        weight = np.exp(-0.5 * z * z) * (z[1] - z[0]) / math.sqrt(2.0 * math.pi)
        students = log_ndtr((math.sqrt(C + R * R) * z - margin) / math.sqrt(V))
        return float(2.0 * weight @ (ndtr(R / math.sqrt(C) * z) * students))

    exact = patterns._hard_margin(C, V, R, margin, patterns.SPACING)[0]
    assert abs(value() - exact) < 1e-10
    kernel = fastest(lambda: patterns._hard_margin(C, V, R, margin, patterns.SPACING), 3, 1000)
    report(
        "energetic term, two derivatives", kernel, "scipy.special.log_ndtr, value, 288 nodes", fastest(value, 3, 1000)
    )


def by_hand(ensemble: RandomFeatures, start: np.ndarray) -> np.ndarray:
    """The peer: scipy.optimize.root on docs/overparam/theory.md eq. 8, for logit q, ln(p_d - p), ln(p - r^2) and r."""
    alpha_T, alpha_D = ensemble.alpha_T, ensemble.alpha / ensemble.alpha_T
    mu_1, noise = ensemble.moments.mu_1, ensemble.moments.mu_star_squared
    z = np.linspace(-9.0, 9.0, 181)
    weight = np.exp(-0.5 * z * z) * (z[1] - z[0]) / math.sqrt(2.0 * math.pi)

    def equations(y: np.ndarray) -> np.ndarray:
        q, delta, rest, r = 1.0 / (1.0 + math.exp(-y[0])), math.exp(y[1]), math.exp(y[2]), y[3]
        C, V, R = noise * q + mu_1**2 * rest, noise * (1.0 - q) + mu_1**2 * delta, mu_1 * r
        Q = C + R * R
        h = (ensemble.margin - math.sqrt(Q) * z) / math.sqrt(V)
        hazard = np.exp(-0.5 * h * h - log_ndtr(-h)) / math.sqrt(2.0 * math.pi)
        agree = 2.0 * weight * ndtr(R / math.sqrt(C) * z)
        squared = float(agree @ hazard**2) / V
        A = alpha_T * mu_1**2 * float(agree @ (hazard * (hazard - h))) / V
        # The teacher's field at zero leaves the common part the variance C.
        bell = np.exp(-0.5 * (R * z) ** 2 / C) / math.sqrt(2.0 * math.pi * C / Q)
        r_hat = alpha_T * mu_1 * 2.0 * float(weight @ (bell * hazard)) / math.sqrt(V)
        p_hat, v = alpha_T * mu_1**2 * squared, 1.0 - q
        M = 1.0 + A * v
        q_hat = alpha_D * (p_hat + r_hat**2 + A * A * q) / M**2 + ensemble.alpha * noise * squared
        new_q = float(weight @ np.tanh(math.sqrt(q_hat) * z) ** 2)
        new_r = r_hat * v / M
        new_p = (q + (p_hat + r_hat**2) * v**2) / M**2
        return np.array([new_q - q, v / M - delta, new_p - (rest + r * r), new_r - r])

    found = root(equations, start, tol=1e-10)
    assert found.success
    answer: np.ndarray = found.x
    return answer


def saddle_points() -> None:
    ensemble, neighbour = (RandomFeatures(ALPHA_T, inv_alpha, 0.0, "sign") for inv_alpha in (2.0, 2.02))
    fixed = np.array([0.0, -1.0, 0.0, 1.0])
    peer = by_hand(ensemble, fixed)
    point = typical_solutions.typical_point(ensemble)
    assert abs(1.0 / (1.0 + math.exp(-peer[0])) - typical(RandomFeatures(ALPHA_T, 2.0)).q) < 1e-8
    cold = seconds(lambda: typical_solutions.typical_point(ensemble), 20)
    warm = seconds(lambda: solve(Typical(neighbour), point.coordinates), 50)
    report("typical solution, cold", cold, "target", 0.8e-3)
    report(
        "typical solution, cold",
        cold,
        "scipy.optimize.root, hand-derived",
        fastest(lambda: by_hand(ensemble, fixed), 3, 20),
    )
    report("typical solution, warm", warm, "target", 0.5e-3)
    report(
        "typical solution, warm", warm, "scipy.optimize.root, warm", fastest(lambda: by_hand(neighbour, peer), 3, 20)
    )


def thresholds() -> None:
    report("kappa_max", seconds(lambda: kappa_max(RandomFeatures(ALPHA_T, INV_ALPHA)), 5), "target", 0.02)
    report("alpha_c", seconds(lambda: alpha_c(RandomFeatures(ALPHA_T)), 5), "target", 0.02)
    report("kappa_opt", seconds(lambda: kappa_opt(RandomFeatures(ALPHA_T, 6.0)), 5), "target", 0.02)
    report(
        "onset of the optimal margin", seconds(lambda: optimal_margin_onset(RandomFeatures(ALPHA_T)), 5), "target", 0.02
    )
    report("1/alpha_LE", seconds(lambda: 1 / alpha_le(RandomFeatures(ALPHA_T))), "target", 0.6)
    report("kappa_u", seconds(lambda: kappa_u(RandomFeatures(ALPHA_T, INV_ALPHA))), "target", 0.6)


def curves() -> None:
    whole = seconds(lambda: franz_parisi(RandomFeatures(ALPHA_T, INV_ALPHA), DISTANCES, "max"))
    report("Franz-Parisi curve, 14 points", whole, "target", 0.2)
    student = RandomFeatures(ALPHA_T, INV_ALPHA, 0.0, "sign")

    def start() -> None:
        curve = franz_parisi_entropy.curve_around(student, "max")
        curve.at(curve.start_distance)

    report("  of which its start", seconds(start), "the curve", whole)
    fine = np.geomspace(1e-4, 0.5, 60)

    def figure() -> None:
        for margin_ref, margin in FIGURE_3:
            franz_parisi(RandomFeatures(ALPHA_T, INV_ALPHA, margin), fine, margin_ref, unsolved="nan")

    report("figure 3, six curves of 60 points", seconds(figure), "six curves of 14 points", 6.0 * whole)


def random_patterns() -> None:
    """Models without features: thresholds and curves of 14 points."""
    models: dict[str, Callable[..., Model]] = {
        "perceptron": Perceptron, "planted perceptron": TeacherStudent,
        "committee, relu": partial(TreeCommittee, activation="relu"),
        "committee, tanh": partial(TreeCommittee, activation="tanh"),
    }  # fmt: skip
    for name, model in models.items():
        loaded = model(0.6 * alpha_c(model()))
        for function, arguments, target in (
            (alpha_c, (), 0.02), (alpha_le, (), 1.0), (alpha_min, (), 1.0), (kappa_u, (), 1.0),
            (franz_parisi, (DISTANCES,), 0.25),
        ):  # fmt: skip
            report(f"{name}: {function.__name__}", seconds(partial(function, loaded, *arguments)), "target", target)
    for distance, alpha in ((0.05, 0.6), (0.005, 0.8)):
        called = partial(franz_parisi_one_step, Perceptron(alpha), distance)
        report(f"perceptron: franz_parisi_one_step, alpha = {alpha:g}", seconds(called), "target", 1.0)


def large_deviations() -> None:
    """Local entropies around the best references, a point after another, and where their slope touches 0."""
    models = {"perceptron": Perceptron(0.6), "random features": RandomFeatures(ALPHA_T, 2.0)}
    distances = np.linspace(0.02, 0.2, 10)
    for name, model in models.items():
        for replicas in (math.inf, 10.0, "zero external entropy"):
            called = partial(local_entropy, model, distances, replicas)
            what = f"{name}: local_entropy, y = {'zero ext.' if isinstance(replicas, str) else f'{replicas:g}'}"
            report(what, seconds(called) / len(distances), "target for a point", 0.05)
        report(f"{name}: alpha_u", seconds(partial(alpha_u, model)), "target", 2.0)


def groups() -> None:
    """Groups of solutions of tree machines: a grid of overlaps and loads that share the pattern's averages."""
    overlaps, loads = np.linspace(0.41, 0.98, 12), (0.25, 0.5, 0.75, 1.0, 1.5, 1.76, 2.5, 3.0)

    def grid(units: float) -> None:
        spherical_tree._averages.cache_clear()
        for alpha in loads:
            group_entropy(Spherical(alpha, units), overlaps)

    for units in (3, math.inf):
        group_entropy(Spherical(1.0, units), 0.5)  # compiles
        report(f"local entropy of groups, K = {units}, 12 x 8", fastest(partial(grid, units), 1, 1), "target", 60.0)


def exactly_solvable_models() -> None:
    """Bayes curves of 60 points, and a phase diagram of the hidden manifold."""
    curves: dict[str, tuple[Callable[[float], object], np.ndarray]] = {
        "Gaussian perceptron": (bayes.learning, np.linspace(0.1, 6.0, 60)),
        "binary perceptron": (partial(bayes.learning, prior="binary"), np.linspace(0.1, 1.48, 60)),
        "phase retrieval": (partial(bayes.learning, channel="absolute"), np.linspace(0.51, 1.12, 60)),
        "committee of two units": (committee.learning, np.linspace(0.1, 6.0, 60)),
    }

    def draw(point: Callable[[float], object], loads: np.ndarray) -> None:
        committee._specialized_branch.cache_clear()
        for alpha in loads.tolist():
            point(alpha)

    for name, (point, loads) in curves.items():
        report(f"{name}, 60 points", fastest(partial(draw, point, loads), 1, 1), "target", 2.0)

    def diagram(loss: str) -> None:
        for samples in np.geomspace(0.1, 10.0, 30).tolist():
            for regularization in np.geomspace(1e-6, 1e2, 30).tolist():
                hidden_manifold.fit(samples, 0.1, loss, regularization)

    for loss in ("square", "logistic"):
        report(f"hidden manifold, {loss} loss, 30 x 30", fastest(partial(diagram, loss), 1, 1), "target", 30.0)


def minimizers() -> None:
    """Weights of least cross-entropy loss, and curves around them: a whole one, and one that ends at d = 0.003."""
    alphas = np.linspace(0.4, 0.9, 11).tolist()

    def line() -> None:
        for alpha in alphas:
            cross_entropy.minimizers(alpha, 2.0)

    report("minimizers of the cross-entropy, 11 loads", seconds(line), "target", 0.05 * len(alphas))
    for alpha, gamma, what in ((0.4, 2.0, "whole"), (0.6, 1.0, "with an end")):
        around = partial(cross_entropy.franz_parisi, DISTANCES, alpha, gamma, unsolved="nan")
        report(f"curve around them, 14 points, {what}", seconds(around), "target", 1.0)


def main() -> None:
    for part in (
        energetic_term, saddle_points, thresholds, curves, random_patterns, large_deviations, groups, minimizers,
        exactly_solvable_models,
    ):  # fmt: skip
        part()


if __name__ == "__main__":
    main()
