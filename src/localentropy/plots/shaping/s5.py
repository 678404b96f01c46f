"""Figure s5: simulated annealing on the number of errors and on the cross-entropy, with one schedule."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from localentropy.analysis.annealing import RUN, averages
from localentropy.analysis.thresholds import success_fractions
from localentropy.plots.drawing import COLORS, Drawing, clipped_bars, in_style, letter
from localentropy.plots.layout import two_columns
from localentropy.plots.perceptron_points import small_rates

ENERGIES = {"errors": "number of errors", "cross_entropy": "cross-entropy"}
TRACED = 0.5
"""The load nearest to this one is that of panel (c)."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train error against α, at the end and at best; (b) fraction solved; (c) train error on the way."""
    runs = tables["shaping/annealing"]
    p = runs.attrs["parameters"]
    nearest = min(runs["alpha"].unique(), key=lambda alpha: abs(alpha - TRACED))
    last, best = averages(runs, "train_error_last"), averages(runs, "train_error_best")
    once, trace = _shares(runs), averages(runs, "train_error")
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
        " γ is where the local entropy of the theory is near its highest at α = 0.6 (figure s4)."
        if gammas == "3"
        else ""
    )
    step = (p["beta_end"] - p["beta_start"]) / p["sweeps"]
    caption = (
        f"Figure s5. Simulated annealing of the binary perceptron on random patterns, N = {p['N']}, {p['samples']} instances at each load: "
        f"{energies}. One schedule: β grows linearly from {p['beta_start']:g} to "
        f"{p['beta_end']:g} in {p['sweeps']} sweeps, by {step:.3g} a sweep, with the same starts and random numbers. β is the inverse of a "
        "temperature in the units of the energy: an error costs 1; a pattern of stability Δ < 0 costs about |Δ| in the cross-entropy, and "
        "a flip changes Δ by 2/√N. So the two freeze at different β, and the range of β covers both. (a) Fraction of patterns in error, at the "
        "end and at best. (b) Fraction of the runs that met a solution; error bars: binomial, after adding one success and one failure. (c) Train error on the way; "
        "the axis is linear up to 0.001. (a), (c): mean and standard error over instances. Loads, N, the schedule and γ are chosen here; the paper gives none of them."
        f"{optimum}"
    )
    return Drawing(figure, caption)


def _shares(runs: pd.DataFrame) -> pd.DataFrame:
    """Fractions of the runs that met a solution, with binomial errors."""
    # The number of errors has no γ, and a missing key would drop the row.
    rows = runs[runs["quantity"] == "solved_once"].fillna({"gamma": 0.0})
    shares = success_fractions(rows, RUN, rows["value"])
    return shares.assign(gamma=shares["gamma"].replace(0.0, np.nan)).rename(columns={"runs": "n"})
