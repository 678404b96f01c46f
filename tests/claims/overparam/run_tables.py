"""Tables of the solvers' runs, made by hand with seeded noise so that every claim about them holds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from tests.claims.overparam.theory_tables import (
    ALPHA_T,
    error_barycenter,
    error_typical,
    local_energy,
    stability_density,
)

D_NOISE = [0.0, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1]


def sizes(D: int, inv_alpha: float) -> dict[str, Any]:
    P = round(ALPHA_T * D)
    N = 2 * round((inv_alpha * P - 1) / 2) + 1
    return {"D": D, "P": P, "N": N, "inv_alpha": N / P}


def norm(inv_alpha: float) -> float:
    return 0.6 + 0.1 * np.log(inv_alpha)


def mean_stability(inv_alpha: float) -> float:
    return 0.7 + 0.05 * np.log(inv_alpha)


def point(
    stream: np.random.Generator,
    D: int,
    inv_alpha: float,
    n: int,
    solved: int,
    values: Mapping[str, tuple[float, float]],
    margin: float = 0.0,
    flatness: float = 1.0,
) -> pd.DataFrame:
    """The runs of one size and margin, the first `solved` of n solved; `values` are means and spreads.

    Local energies are `flatness` times those of typical solutions.
    """
    rows: list[tuple[str, int, float, float]] = []
    for sample in range(n):
        rows.append(("solved", sample, np.nan, float(sample < solved)))
        rows += [(name, sample, np.nan, stream.normal(mean, spread)) for name, (mean, spread) in values.items()]
        levels = flatness * local_energy(np.array(D_NOISE)) * stream.normal(1.0, 0.03, len(D_NOISE))
        rows += [("local_energy", sample, d, level) for d, level in zip(D_NOISE, levels, strict=True)]
    table = pd.DataFrame(rows, columns=["quantity", "sample", "x", "value"])
    return table.assign(**sizes(D, inv_alpha), margin=margin, margin_effective=margin)


def runs(points: list[pd.DataFrame]) -> pd.DataFrame:
    table = pd.concat(points, ignore_index=True)
    table.attrs["parameters"] = {"alpha_T": ALPHA_T, "activation": "sign"}
    return table


def solve_anneal() -> pd.DataFrame:
    """Typical solutions; half of the runs solve from a 1/α on that grows with the size."""
    stream, points = np.random.default_rng(1), []
    for D, half in {33: 1.6, 67: 2.5, 134: 3.7, 201: 5.5}.items():
        for x in (0.947, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0):
            solved = round(20 / (1 + np.exp(-(x - half) / 0.2)))
            at = sizes(D, x)["inv_alpha"]
            spreads = {"test_error": 0.01, "p_d": 0.03, "mean_stability": 0.03}
            means = {"test_error": error_typical(at), "p_d": norm(at), "mean_stability": mean_stability(at)}
            points.append(point(stream, D, x, 20, solved, {name: (means[name], spreads[name]) for name in means}))
    return runs(points)


def _efficient(seed: int, grid: Mapping[int, Mapping[float, int]], better: float) -> pd.DataFrame:
    """Runs that err less than typical solutions, in minima that get flatter; grid: D → 1/α → solved of 20."""
    stream, points = np.random.default_rng(seed), []
    for D, line in grid.items():
        for x, solved in line.items():
            size = sizes(D, x)
            values = {
                "test_error": (error_typical(size["inv_alpha"]) - better, 0.008),
                "iterations": (11.0 * np.sqrt(size["N"] / 403), 1.0),
            }
            points.append(point(stream, D, x, 20, solved, values, flatness=0.57 * (1.2 / x) ** 0.8))
    return runs(points)


def solve_focusing_bp() -> pd.DataFrame:
    easy = {1.2: 20, 1.5: 20, 2.0: 20, 5.0: 20}
    large = {467: {0.947: 0, 1.0: 4, 1.03: 20}, 1001: {1.0: 0}}
    return _efficient(2, {67: {0.9: 1, 1.0: 12} | easy, 201: {0.9: 0, 1.0: 10} | easy} | large, better=0.06)


def solve_sbpi() -> pd.DataFrame:
    easy = {1.2: 20, 1.5: 20, 2.0: 20, 5.0: 20, 10.0: 20, 15.0: 20}
    large = {467: {0.947: 0, 1.0: 4, 1.04: 20, 1.2: 20, 2.0: 20}, 1001: {1.0: 0}}
    return _efficient(3, {67: {0.9: 2, 1.0: 13} | easy, 201: {0.9: 0, 1.0: 10} | easy} | large, better=0.05)


def solve_belief_propagation() -> pd.DataFrame:
    return _efficient(4, {201: {1.2: 20, 2.0: 20, 5.0: 20, 10.0: 20, 15.0: 20}}, better=0.06)


def solve_binarynet() -> pd.DataFrame:
    return _efficient(5, {201: {0.947: 0, 1.0: 0, 1.2: 2, 2.0: 19, 3.0: 20, 5.0: 20}}, better=0.08)


def solve_mct0() -> pd.DataFrame:
    """Typical solutions of three margins, sharp everywhere, the larger margins later and more rarely."""
    stream, points = np.random.default_rng(6), []
    for D in (67, 134):
        for x in (5.0, 10.0, 15.0, 20.0, 30.0):
            for margin, sweeps, solved in ((0.0, 100.0, 20), (0.25, 160.0, 19), (0.5, 300.0, 18 if x == 30.0 else 12)):
                at = sizes(D, x)["inv_alpha"]
                values = {"test_error": (error_typical(at, margin), 0.004), "iterations": (sweeps, 0.1 * sweeps)}
                values["test_error_first"] = (error_typical(at, margin) - 0.003, 0.004)
                points.append(point(stream, D, x, 20, solved, values, margin))
                energies = points[-1][points[-1]["quantity"] == "local_energy"]
                points.append(energies.assign(quantity="local_energy_first", value=0.97 * energies["value"]))
    return runs(points)


def lattice_probabilities(D: int, inv_alpha: float, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The stabilities on the lattice of one size and their probabilities, those of the density moved by `shift`."""
    theory, root = stability_density(), np.sqrt(sizes(D, inv_alpha)["N"])
    line = theory[(theory["quantity"] == "density") & (theory["inv_alpha"] == inv_alpha)]
    stabilities = np.arange(1, 3.9 * root, 2) / root
    weights = np.interp(stabilities - shift, line["x"], line["value"], left=0.0)
    return stabilities, weights / weights.sum()


def stability_counts(shift: float = 0.0, n: int = 20) -> pd.DataFrame:
    """Runs of zero-temperature Monte Carlo whose stabilities follow the density, moved by `shift`."""
    stream, points = np.random.default_rng(7), []
    for x in (5.0, 10.0):
        size, (stabilities, probabilities) = sizes(267, x), lattice_probabilities(267, x, shift)
        mean = float(stabilities @ probabilities)
        points.append(point(stream, 267, x, n, n, {"mean_stability": (mean, 0.01)}))
        for sample, counts in enumerate(stream.multinomial(size["P"], probabilities, size=n)):
            rows = {"quantity": "stability_count", "sample": sample, "x": stabilities, "value": counts.astype(float)}
            table = pd.DataFrame(rows).assign(**size, margin=0.0, margin_effective=0.0)
            points += [table[table["value"] > 0], table[table["value"] > 0].assign(quantity="stability_count_first")]
    return runs(points)


def _points(table: pd.DataFrame) -> pd.DataFrame:
    return table[["D", "N", "inv_alpha", "margin", "margin_effective"]].drop_duplicates()


def typical_points() -> pd.DataFrame:
    """The theory at every point of the runs."""
    points = _points(pd.concat([solve_anneal(), solve_mct0(), two_level_amp()]))
    x = points["inv_alpha"]
    errors = {"error_typical": error_typical(x, points["margin"]), "error_barycenter": error_barycenter(x)}
    return points.assign(**errors, p_d=norm(x), q=0.7)


def typical_lattice() -> pd.DataFrame:
    annealing, sharp = _points(solve_anneal()), _points(solve_mct0())
    tables = [annealing.assign(quantity="mean_stability", x=np.nan, value=mean_stability(annealing["inv_alpha"]))]
    tables += [sharp.assign(quantity="local_energy", x=d, value=local_energy(d)) for d in D_NOISE]
    for x in (5.0, 10.0):
        size = sizes(267, x) | {"margin": 0.0, "margin_effective": 0.0}
        stabilities, probabilities = lattice_probabilities(267, x)
        for quantity, places, values in (
            ("stability_probability", stabilities, probabilities),
            ("mean_stability", [np.nan], [stabilities @ probabilities]),
        ):
            tables.append(pd.DataFrame({"quantity": quantity, "x": places, "value": values}).assign(**size))
    return pd.concat(tables, ignore_index=True).drop(columns="P")


def equivalent_features() -> pd.DataFrame:
    """Errors of typical solutions, those of `activation_errors` on tanh and erf features."""
    stream, rows = np.random.default_rng(8), []
    real = {"tanh": 0.24, "tanh_binary": 0.24, "erf": 0.25}
    signs = dict.fromkeys(("gaussian", "binary", "gaussian_covariate"), error_typical(10.0))
    kinds = {
        "sbpi": (201, 2.0, dict.fromkeys(("gaussian", "binary"), error_typical(2.0))),
        "anneal": (67, 10.0, signs | real),
    }
    for solver, (D, x, errors) in kinds.items():
        for kind, mean in errors.items():
            for sample, error in enumerate(_centred(stream, mean, 0.01, 20)):
                run = {"solver": solver, "features": kind, "sample": sample, "solved": 1.0, "test_error": error}
                rows.append(sizes(D, x) | run)
    return pd.DataFrame(rows)


def _centred(stream: np.random.Generator, mean: float, spread: float, n: int) -> np.ndarray:
    """Numbers with exactly this mean."""
    noise = stream.normal(0.0, spread, n)
    return mean + noise - noise.mean()


def solve_mct0_sizes(exponential: bool = True) -> pd.DataFrame:
    """Runs of 2000 sweeps at most, fewer and fewer of which solve: an exponential in N, or a power."""
    tables = []
    for D, (solved, number) in {
        15: (180, 200), 21: (170, 200), 33: (140, 200), 45: (110, 200), 67: (60, 200), 89: (30, 240),
    }.items():  # fmt: skip
        size = sizes(D, 5.0)
        wanted = 3.0 * np.exp(0.004 * size["N"]) if exponential else 0.02 * size["N"] ** 1.5
        sweeps = wanted * solved / number * (1.0 + 0.3 * (-1.0) ** np.arange(number))
        for quantity, values in (("solved", (np.arange(number) < solved).astype(float)), ("iterations", sweeps)):
            rows = {"quantity": quantity, "sample": np.arange(number), "x": np.nan, "value": values}
            tables.append(pd.DataFrame(rows).assign(**size, margin=0.0, margin_effective=0.0))
    return runs(tables)


def solve_sbpi_at_one() -> pd.DataFrame:
    """α_T = 1: half of the runs are solved at 1/α = 1.27, which is 1.04 of the threshold of `activations`."""
    tables = []
    for x, solved in {1.14: 0, 1.22: 1, 1.25: 6, 1.28: 13, 1.34: 20}.items():
        size = {"D": 1401, "P": 1401, "N": 2 * round((x * 1401 - 1) / 2) + 1}
        rows = {"quantity": "solved", "sample": np.arange(20), "x": np.nan, "value": np.arange(20) < solved}
        table = pd.DataFrame(rows).assign(**size, inv_alpha=size["N"] / 1401, margin=0.0, margin_effective=0.0)
        tables.append(table.assign(value=table["value"].astype(float)))
    table = pd.concat(tables, ignore_index=True)
    table.attrs["parameters"] = {"alpha_T": 1.0, "activation": "sign"}
    return table


def solution_surroundings() -> pd.DataFrame:
    """Dense regions, the flattest of them nearest to the barycentre."""
    stream, tables = np.random.default_rng(10), []
    d = np.array([0.003, 0.01, 0.02, 0.05, 0.1, 0.2])
    grid = {"sbpi": (1.2, 2.0, 5.0), "focusing_bp": (1.2, 2.0, 5.0), "binarynet": (2.0, 5.0), "anneal": (5.0,)}
    levels = {"sbpi": 1.0, "focusing_bp": 0.5, "binarynet": 0.7, "anneal": 4.0}
    for name, places in grid.items():
        for x in places:
            for sample in range(8):
                level = levels[name] * (1.0 + 0.05 * stream.standard_normal())
                own = {"solver": name, **sizes(101, x), "sample": sample, "solved": 1.0, "converged": 1.0}
                own |= {"small_stabilities": 0.01 * level, "barycentre_overlap": 0.9 - 0.1 * level}
                curve = {"distance": d, "entropy": 2.0 * d * (1.0 - 0.1 * level), "slope": 2.0 * (1.0 - 0.1 * level)}
                noise = 1.0 + 0.05 * stream.standard_normal(len(d))
                tables.append(pd.DataFrame(own | curve | {"local_energy": 0.01 * level * np.sqrt(d) * noise}))
    table = pd.concat(tables, ignore_index=True)
    table.attrs["parameters"] = {"small_stability": 0.2, "alpha_T": ALPHA_T, "activation": "sign"}
    return table


def solution_barriers() -> pd.DataFrame:
    """fBP's solution sees all of SBPI's, which see each other only with a bend. Annealing's are behind barriers."""
    stream, rows = np.random.default_rng(11), []
    grid: list[tuple[int, float, tuple[str, ...]]] = [(67, x, ("focusing_bp", "sbpi")) for x in (1.2, 2.0, 5.0)]
    grid += [(33, x, ("focusing_bp", "sbpi", "anneal")) for x in (3.0, 5.0)]
    means = {"focusing_bp": 0.002, "sbpi": 0.01, "anneal": 0.1}
    for D, x, solvers in grid:
        ends = list(combinations([(name, run) for name in solvers for run in (0, 1)], 2))
        for sample in range(10):
            for (first, first_run), (second, second_run) in ends:
                runs = {"first": first, "second": second, "first_run": first_run, "second_run": second_run}
                own = sizes(D, x) | {"sample": sample, "solved": 1.0}
                own |= {"distance": (0.1 + 0.03 * x) * stream.normal(1.0, 0.02)}
                own |= {"barrier_mean": (means[first] + means[second]) * stream.normal(1.0, 0.1)}
                own |= {"barrier_greedy": 0.005 if first == second == "sbpi" else 0.0, "barrier_bent": 0.0}
                if second == "anneal":
                    own |= {"barrier_greedy": 0.02, "barrier_bent": 0.01}
                if first == second == "focusing_bp":
                    own |= {"distance": 0.0, "barrier_mean": 0.0}
                rows.append(runs | own)
    table = pd.DataFrame(rows)
    table.attrs["parameters"] = {"alpha_T": ALPHA_T, "activation": "sign", "proposals": 20}
    return table


def two_level_amp() -> pd.DataFrame:
    stream, rows = np.random.default_rng(9), []
    for x in (1.2, 2.0, 5.0):
        for sample in range(10):
            measured = {
                "overlap": stream.normal(0.7, 0.01),
                "test_error_barycenter": stream.normal(error_barycenter(x), 0.01),
            }
            point = sizes(201, x) | {"margin": 0.0, "margin_effective": 0.0}
            rows.append(point | {"sample": sample, "converged": 1.0} | measured)
    return pd.DataFrame(rows)
