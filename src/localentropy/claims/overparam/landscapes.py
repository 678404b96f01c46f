"""Claims about stabilities and local energies of the binary perceptron's solutions (figures 12 and 13)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats
from scipy.integrate import cumulative_trapezoid

from localentropy.claims.finding import FEWEST, Finding, Untestable, largest, numbers
from localentropy.landscape.solver_runs import averages

DISTANCE = 0.02
"""The distance at which sharpness is compared."""


def stabilities_peak_near_zero(stability_density: pd.DataFrame) -> Finding:
    """The stability density of typical solutions peaks near the origin, the nearer the smaller 1/α."""
    rows = stability_density[(stability_density["quantity"] == "density") & (stability_density["margin"] == 0.0)]
    modes = pd.Series({at: _mode(here) for at, here in rows.groupby("inv_alpha")}).sort_index()
    if (modes > 0).sum() < 2:
        raise Untestable("two values of 1/α with a mode away from zero needed")
    # Next to the interpolation threshold the mode is at zero itself.
    grows = bool(((np.diff(modes) > 0) | (modes.cummax().to_numpy()[1:] == 0)).all())
    detail = ", ".join(f"{mode:.3f} at 1/α = {at:g}" for at, mode in modes.items())
    value = largest(modes)
    return Finding("largest mode of P(Δ), < 0.35, growing with 1/α", value, value < 0.35 and grows, detail)


def stabilities_follow_the_theory(solve_mct0: pd.DataFrame, stability_density: pd.DataFrame) -> Finding:
    """The stabilities of zero-temperature Monte Carlo's solutions have the replica density."""
    quantity = "largest χ² per lattice bin over 1/α, < 1.5, at two values at least"
    densities = stability_density[stability_density["quantity"] == "density"]
    ratios, words = {}, []
    for inv_alpha, theory in densities.groupby("inv_alpha"):
        counts = solve_mct0[(solve_mct0["quantity"] == "stability_count") & (solve_mct0["margin"] == 0.0)]
        counts = counts[(counts["inv_alpha"] / inv_alpha - 1.0).abs() < 0.02]
        counts = counts[counts.groupby("D")["sample"].transform("nunique") >= FEWEST]
        if counts.empty:
            continue
        counts = counts[counts["D"] == counts["D"].max()]
        chi_squared, bins = _lattice_chi_squared(counts, theory)
        if bins >= 10:
            ratios[inv_alpha] = chi_squared / bins
            words.append(f"{ratios[inv_alpha]:.2f} over {bins} bins at 1/α = {inv_alpha:g}, D = {counts['D'].iloc[0]}")
    if len(ratios) < 2:
        return Finding.untestable(quantity, f"two values of 1/α with {FEWEST} solved runs needed. {'; '.join(words)}")
    worst = largest(ratios.values())
    return Finding(quantity, worst, worst < 1.5, "; ".join(words))


def zero_temperature_is_sharp(solve_mct0: pd.DataFrame, stability_density: pd.DataFrame) -> Finding:
    """Monte Carlo's solutions are as sharp as typical ones, at every 1/α."""
    quantity = "largest |E(d)/E_RS(d) − 1| for dN ≥ 10, < 0.15; spread of E(0.02) over 1/α < 20 %"
    energies = _energies(solve_mct0)
    theory = stability_density[stability_density["quantity"] == "local_energy"]
    ratios = []
    for inv_alpha, line in theory.groupby("inv_alpha"):
        here = energies[(energies["inv_alpha"] / inv_alpha - 1.0).abs() < 0.02]
        here = here[(here["D"] == here["D"].max()) & (here["x"] * here["N"] >= 10)]
        ratios += (here["y"] / np.interp(here["x"], line["x"], line["value"]) - 1.0).tolist()
    if not ratios:
        return Finding.untestable(quantity, f"no 1/α with {FEWEST} solved runs")
    at = energies[np.isclose(energies["x"], DISTANCE)]
    at = at[at["D"] == at.groupby(at["inv_alpha"].round(1))["D"].transform("max")]
    if len(at) < 2:
        return Finding.untestable(quantity, f"fewer than two values of 1/α with {FEWEST} solved runs")
    spread = float(at["y"].max() / at["y"].min() - 1.0)
    worst = largest(np.abs(ratios))
    detail = (
        f"E({DISTANCE}) = {numbers(at['y'])} at 1/α = {numbers(at['inv_alpha'], '.3g')}: spread {100 * spread:.0f} %"
    )
    return Finding(quantity, worst, bool(worst < 0.15 and spread < 0.20), detail)


def efficient_minima_flatten(solve_sbpi: pd.DataFrame, solve_belief_propagation: pd.DataFrame) -> Finding:
    """The minima of SBPI and BP get flatter with 1/α."""
    quantity = f"largest step of E({DISTANCE}) along 1/α in standard errors, < 0, and all steps together < −3"
    steps, scores, words = [], [], []
    for name, table in {"SBPI": solve_sbpi, "BP": solve_belief_propagation}.items():
        energies = _energies(table)
        here = energies[np.isclose(energies["x"], DISTANCE)].sort_values("inv_alpha")
        here = here[here["D"] == here.groupby(here["inv_alpha"].round(1))["D"].transform("max")]
        # Every other value of a fine grid would differ by less than its error.
        here = here[here["inv_alpha"].round(1).isin([1.2, 2.0, 5.0, 10.0, 15.0])]
        if len(here) < 2:
            return Finding.untestable(quantity, f"{name}: fewer than two values of 1/α with {FEWEST} solved runs")
        errors = np.hypot(here["y_err"].to_numpy()[1:], here["y_err"].to_numpy()[:-1])
        steps += (np.diff(here["y"]) / errors).tolist()
        (first, last), error = here["y"].iloc[[0, -1]], np.hypot(*here["y_err"].iloc[[0, -1]])
        if error > first / 6:
            why = f"{name}: E falls from {first:.2g} by {first - last:.2g} ± {error:.2g}, a halving would not be seen"
            return Finding.untestable(quantity, why)
        scores.append((last - first) / error)
        words.append(f"{name}: {numbers(here['y'])} at 1/α = {numbers(here['inv_alpha'], '.3g')}")
    step = largest(steps)
    return Finding(quantity, step, step < 0 and largest(scores) < -3, "; ".join(words))


def efficient_minima_are_flatter(
    solve_mct0: pd.DataFrame, solve_sbpi: pd.DataFrame, solve_belief_propagation: pd.DataFrame
) -> Finding:
    """At equal 1/α SBPI and BP find flatter minima than zero-temperature Monte Carlo."""
    quantity = f"largest E({DISTANCE}) of SBPI and BP over MCT0's at equal 1/α, < 0.3"
    sharp = _energies(solve_mct0)
    sharp = sharp[np.isclose(sharp["x"], DISTANCE)]
    ratios: list[float] = []
    words = []
    for name, table in {"SBPI": solve_sbpi, "BP": solve_belief_propagation}.items():
        flat, before = _energies(table), len(ratios)
        for _, point in flat[np.isclose(flat["x"], DISTANCE)].iterrows():
            same = sharp[(sharp["inv_alpha"] / point["inv_alpha"] - 1.0).abs() < 0.02]
            if len(same):
                ratios.append(float(point["y"] / same.loc[same["D"].idxmax(), "y"]))
                words.append(f"{name} {ratios[-1]:.3f} at {point['inv_alpha']:.3g}")
        if len(ratios) == before:
            return Finding.untestable(quantity, f"no 1/α at which {name} and MCT0 have {FEWEST} solved runs")
    worst = largest(ratios)
    return Finding(quantity, worst, worst < 0.3, ", ".join(words))


def _mode(density: pd.DataFrame) -> float:
    """Where the density is largest: the top of a parabola through three points, or the first point itself.

    Missing where a value of the density is.
    """
    line = density.sort_values("x")
    x, y = line["x"].to_numpy(), line["value"].to_numpy()
    if np.isnan(y).any():
        return np.nan
    top = int(np.argmax(y))
    if not 0 < top < len(x) - 1:
        return float(x[top])
    a, b, _ = np.polyfit(x[top - 1 : top + 2] - x[top], y[top - 1 : top + 2], 2)
    return float(x[top] - b / (2 * a))


def _energies(table: pd.DataFrame) -> pd.DataFrame:
    """Mean local energies of solutions at margin zero, where enough runs are solved."""
    points = averages(table[table["margin"] == 0.0], "local_energy", by=("x",))
    return points[points["n"] >= FEWEST]


def _lattice_chi_squared(counts: pd.DataFrame, theory: pd.DataFrame) -> tuple[float, int]:
    """χ² over the bins of the lattice 2/√N with at least five patterns an instance, but the first, and their number.

    Each bin's mean over instances is held against the density integrated over the bin; its t value, as a normal score.
    """
    root = np.sqrt(counts["N"].iloc[0])
    table = counts.pivot_table(index="sample", columns="x", values="value", aggfunc="sum", fill_value=0.0)
    lattice = np.round((np.arange(1, 1 + 2 * 4000, 2)) / root, 12)
    lattice = lattice[lattice < theory["x"].max() - 1.0 / root]
    # Sums are odd integers: the bins of neighbouring lattice values touch at even ones.
    index = np.rint((table.columns.to_numpy() * root - 1) / 2).astype(int)
    density = theory.sort_values("x")
    cumulative = cumulative_trapezoid(density["value"], density["x"], initial=0.0)
    patterns = table.sum(axis=1).mean()
    samples = len(table)
    scores = []
    for k in range(1, len(lattice)):
        ends = (2 * k / root, 2 * (k + 1) / root)
        expected = patterns * float(np.diff(np.interp(ends, density["x"], cumulative))[0])
        if expected < 5:
            continue
        observed = table.loc[:, index == k].sum(axis=1)
        if observed.std() == 0:
            continue
        t = (observed.mean() - expected) / observed.sem()
        scores.append(float(stats.norm.isf(stats.t.sf(abs(t), samples - 1))))
    return float(np.sum(np.square(scores))), len(scores)
