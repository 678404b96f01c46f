"""Claims about stabilities and local energies of the binary perceptron's solutions (figures 12 and 13)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from localentropy.analysis.agreement import agreement_by_size, normal_score
from localentropy.analysis.solver_runs import averages, deviations
from localentropy.analysis.stability_histogram import StabilityHistogram, histogram_deviations, stability_histogram
from localentropy.claims.finding import FEWEST, Bounds, Finding, Untestable, largest, numbers
from localentropy.claims.overparam.agreement_rule import LEAST, least_p_value

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
    quantity = "largest mode of P(Δ), < 0.35, growing with 1/α"
    return Finding.of_theory(quantity, value, value < 0.35 and grows, detail, Bounds(upper=0.35))


def stabilities_follow_the_theory(
    solve_mct0: pd.DataFrame, stability_density: pd.DataFrame, typical_lattice: pd.DataFrame
) -> Finding:
    """The stabilities of zero-temperature Monte Carlo's solutions have the replica density."""
    quantity = (
        "largest χ² per lattice bin but the first, over 1/α, < 1.5, at two values at least; p of the stabilities "
        f"and of their mean at the largest D ≥ {LEAST:g}"
    )
    runs, lattice = (table[table["margin"] == 0.0] for table in (solve_mct0, typical_lattice))
    sizes = runs[runs["quantity"] == "stability_count"].groupby(["D", "N", "inv_alpha"])["sample"].nunique()
    sizes = sizes[sizes >= FEWEST].reset_index()
    ratios, words = {}, []
    for inv_alpha in sorted(stability_density["inv_alpha"].unique()):
        here = sizes[(sizes["inv_alpha"] / inv_alpha - 1.0).abs() < 0.02]
        if here.empty:
            continue
        D, N = here.loc[here["D"].idxmax(), ["D", "N"]].astype(int)
        chi_squared, bins = _lattice_chi_squared(stability_histogram(runs, lattice, D, N), runs, D, N)
        if bins >= 10:
            ratios[inv_alpha] = chi_squared / bins
            words.append(f"{ratios[inv_alpha]:.2f} over {bins} bins at 1/α = {inv_alpha:g}, D = {D}")
    if len(ratios) < 2:
        return Finding.untestable(quantity, f"two values of 1/α with {FEWEST} solved runs needed. {'; '.join(words)}")
    means = lattice[lattice["quantity"] == "mean_stability"].rename(columns={"value": "theory"})
    p_value, agreement = least_p_value(
        {
            "stabilities": agreement_by_size(histogram_deviations(runs, lattice), ["x"]),
            "mean stability": agreement_by_size(deviations(runs, "mean_stability", means, "theory"), ["margin"]),
        }
    )
    worst = largest(ratios.values())
    return Finding(quantity, worst, worst < 1.5 and p_value >= LEAST, "; ".join([*words, agreement]))


def zero_temperature_is_sharp(
    solve_mct0: pd.DataFrame, stability_density: pd.DataFrame, typical_lattice: pd.DataFrame
) -> Finding:
    """Monte Carlo's solutions are as sharp as typical ones, at every 1/α."""
    quantity = (
        "largest |E(d)/E_RS(d) − 1| for dN ≥ 10, < 0.15; spread of E(0.02) over 1/α < 20 %; p of all at the largest "
        f"D ≥ {LEAST:g}"
    )
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
    lattice = typical_lattice[(typical_lattice["quantity"] == "local_energy") & (typical_lattice["margin"] == 0.0)]
    lattice = lattice.rename(columns={"value": "energy"})
    sizes = agreement_by_size(deviations(solve_mct0, "local_energy", lattice, "energy", ("x",)), ["x"])
    p_value, agreement = least_p_value({"local energy": sizes})
    detail = (
        f"E({DISTANCE}) = {numbers(at['y'])} at 1/α = {numbers(at['inv_alpha'], '.3g')}: spread {100 * spread:.0f} %; "
        f"{agreement}"
    )
    return Finding(quantity, worst, bool(worst < 0.15 and spread < 0.20 and p_value >= LEAST), detail)


def efficient_minima_flatten(solve_sbpi: pd.DataFrame, solve_belief_propagation: pd.DataFrame) -> Finding:
    """The minima of SBPI and BP get flatter with 1/α."""
    quantity = f"largest step of E({DISTANCE}) along 1/α in standard errors, < 0, and all steps together < −3"
    steps, scores, words = [], [], []
    for name, table in {"SBPI": solve_sbpi, "BP": solve_belief_propagation}.items():
        energies = _energies(table)
        here = energies[np.isclose(energies["x"], DISTANCE)].sort_values("inv_alpha")
        here = here[here["D"] == here.groupby(here["inv_alpha"].round(1))["D"].transform("max")]
        # Values closer together would differ by less than their errors.
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

    It is missing if a value of the density is missing.
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


def _lattice_chi_squared(histogram: StabilityHistogram, runs: pd.DataFrame, D: int, N: int) -> tuple[float, int]:
    """χ² over the bins of the lattice 2/√N with at least five patterns an instance, but the first, and their number.

    Each bin's mean over instances is compared with the theory. Its t value becomes a normal score.
    """
    patterns = runs.loc[(runs["D"] == D) & (runs["N"] == N), "P"].iloc[0]
    fractions, theory = histogram.fractions, histogram.theory
    kept = ~(theory * patterns < 5) & (fractions.std() > 0) & (theory.index > 0)
    t = ((fractions.mean() - theory) / fractions.sem())[kept]
    scores = normal_score(t.to_numpy(), np.full(len(t), len(fractions)))
    return float(np.sum(np.square(scores))), len(scores)
