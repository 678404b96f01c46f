"""Figure s5: simulated annealing on the number of errors and on the cross-entropy, with one schedule."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from localentropy.analysis.runs import RUN, annealed_averages
from localentropy.analysis.thresholds import success_fractions
from localentropy.figures.drawing import BINOMIAL, COLORS, Drawing, clipped_bars, in_style, letter
from localentropy.figures.layout import two_columns
from localentropy.figures.perceptron_points import small_rates

ENERGIES = {"errors": "number of errors", "cross_entropy": "cross-entropy"}
TRACED = 0.5
"""The load nearest to this one is that of panel (c)."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train error against α, at the end and at best; (b) fraction solved; (c) train error on the way."""
    runs = tables["shaping/annealing"]
    p = runs.attrs["parameters"]
    nearest = min(runs["alpha"].unique(), key=lambda alpha: abs(alpha - TRACED))
    last, best = annealed_averages(runs, "train_error_last"), annealed_averages(runs, "train_error_best")
    once, trace = _shares(runs), annealed_averages(runs, "train_error")
    trace = trace[trace["alpha"] == nearest]
    figure, axes = two_columns(3, 2.6)
    for number, (energy, name) in enumerate(ENERGIES.items()):
        if energy not in runs["energy"].to_numpy():
            continue
        style = {"color": COLORS[number], "marker": "os"[number]}
        hollow = style | {"markerfacecolor": "white", "linestyle": ":"}
        at_end, at_best, shares, on_the_way = (rows[rows["energy"] == energy] for rows in (last, best, once, trace))
        axes[0].points(at_end, f"{name}, end", style | {"label": name}, "alpha")
        axes[0].points(at_best, f"{name}, best", hollow, "alpha")
        axes[1].points(shares, name, style, "alpha", bars=clipped_bars(shares))
        axes[2].points(on_the_way, name, style | {"markersize": 3})
    axes[0].plot([], [], color="black", marker="o", label="at the end")
    axes[0].plot([], [], color="black", marker="o", linestyle=":", markerfacecolor="white", label="at best")
    for axis in axes[:2]:
        axis.set(xlabel=r"patterns per weight $\alpha$")
    axes[0].set(ylabel="train error")
    axes[0].legend()
    axes[1].set(ylabel="fraction solved", ylim=(-0.05, 1.05))
    small_rates(axes[2])
    axes[2].set(xscale="log", xlabel=r"inverse temperature $\beta$", ylabel=rf"train error, $\alpha = {nearest:.2g}$")
    axes[2].set_ylim(bottom=-1e-4)
    letter(axes)
    gammas = " and ".join(f"{gamma:g}" for entry in p["energies"] for gamma in entry["gammas"] or ())
    energies = ", and ".join(
        f"on the {ENERGIES[entry['energy']]}" + (f" with γ = {gammas}" if entry["gammas"] else "")
        for entry in p["energies"]
    )
    optimum = (
        "; at this γ the local entropy of the theory is near its highest at α = 0.6 (figure s4)"
        if gammas == "3"
        else ""
    )
    step = (p["beta_end"] - p["beta_start"]) / p["sweeps"]
    caption = (
        "Figure s5. Simulated annealing of the binary perceptron on two energies, with the same schedule, starts and random "
        "numbers. (a) Fraction of patterns in error against the load, at the end of the run (filled) and at best (hollow). "
        "(b) Fraction of the runs that met a solution. (c) Train error on the way, against the inverse temperature β. An "
        "error costs 1, and a pattern of negative stability Δ costs about |Δ| in the cross-entropy, so the two freeze at "
        "different β."
    )
    settings = {
        "instances": f"random patterns, N = {p['N']}, {p['samples']} at each load",
        "energies": energies,
        "schedule": f"β grows linearly from {p['beta_start']:g} to {p['beta_end']:g} in {p['sweeps']} sweeps, by {step:.3g} a "
        "sweep; in this range both energies freeze",
        "points": "(a), (c): mean and standard error over instances; (b): error bars of a " + BINOMIAL,
        "axis of (c)": "linear up to 0.001",
        "chosen here": f"loads, N, the schedule and γ; the paper gives none of them{optimum}",
    }
    return Drawing(figure, caption, settings)


def _shares(runs: pd.DataFrame) -> pd.DataFrame:
    """Fractions of the runs that met a solution, with binomial errors."""
    # The number of errors has no γ, and a missing key would drop the row.
    rows = runs[runs["quantity"] == "solved_once"].fillna({"gamma": 0.0})
    shares = success_fractions(rows, RUN, rows["value"])
    return shares.assign(gamma=shares["gamma"].replace(0.0, np.nan)).rename(columns={"runs": "n"})
