"""Figure 10: simulated annealing against size: train error, fraction solved, and test error of its solutions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.runs import averages, deviations, with_theory
from localentropy.analysis.thresholds import last_half_point, success_fractions, typical_line
from localentropy.figures.agreement import csv_rows, in_words
from localentropy.figures.algorithms import shades_of
from localentropy.figures.drawing import BINOMIAL, Drawing, clipped_bars, in_style, letter, panels
from localentropy.figures.perceptron_points import draw_points, one_two_five, without_errors


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train error, (b) fraction solved; then for each size the test error of solutions on the line of typical ones."""
    runs, theory, typical = (tables[f"overparam/{name}"] for name in ("solve_anneal", "typical_points", "typical"))
    p = runs.attrs["parameters"]
    line = typical_line(typical, "0.0")
    outcomes = runs[runs["quantity"] == "solved"]
    train = averages(runs, "train_error_best", solved_only=False)
    solved = success_fractions(outcomes, ["D", "inv_alpha"], outcomes["value"])
    test = with_theory(averages(runs, "test_error"), theory, "error_typical")
    agreement = agreement_by_size(deviations(runs, "test_error", theory, "error_typical"), ["margin"])
    sizes = shades_of("anneal", sorted(runs["D"].unique()))
    columns = 1 + (len(sizes) + 1) // 2
    figure, grid = panels(columns, 2.5 * columns, 4.6, rows=2)
    figure.add(csv_rows(agreement))
    errors, fractions = grid[0], grid[columns]
    strips = [axis for axis in grid if axis not in (errors, fractions)]
    for (D, color), axis in zip(sizes.items(), strips, strict=False):
        style = {"color": color, "marker": "o", "label": f"$D = {D}$"}
        here, counted, found = (table[table["D"] == D] for table in (train, solved, test))
        errors.points(here, f"D = {D}", style, "inv_alpha")
        fractions.points(counted, f"D = {D}", style, "inv_alpha", bars=clipped_bars(counted))
        draw_points(axis, found, f"D = {D}", style)
        axis.line(line["inv_alpha"], line["error_typical"], "theory", {"color": "black"})
        half, spread = last_half_point(counted.rename(columns={"inv_alpha": "alpha"}))
        row = fractions.declare(f"half solved, D = {D}", pd.DataFrame({"x": [half], "x_err": [spread]}))
        if np.isfinite(half):
            fractions.threshold(half, f"{half:.2f}", row, color=color, side="right")
        axis.set(ylabel="test error of solutions", title=style["label"])
        axis.set_ylim(min(0.26, 0.99 * test["y"].min()), max(0.33, 1.01 * test["y"].max()))
    for axis in grid:
        one_two_five(axis, (1, 2, 5, 10, 20), (0.85, 24.0), train)
    fractions.axhline(0.5, color="black", linewidth=0.6, zorder=0)
    errors.set(ylabel="train error of SA (best)")
    # The values of the dotted lines stand above the points.
    fractions.set(ylabel="fraction solved", ylim=(-0.05, 1.3), yticks=[0.0, 0.5, 1.0])
    errors.legend()
    for axis in strips[len(sizes) :]:
        axis.remove()
    letter([errors, fractions, *strips[: len(sizes)]])
    caption = (
        "Figure 10. Simulated annealing at several sizes. (a) Smallest train error of a run, mean over all instances. "
        "(b) Fraction of the instances solved; at the dotted lines it is one half. The other panels have one size each: "
        "the test error of the solutions, and as a line the replica theory of typical solutions. Hollow points are where "
        "fewer than 90 % of the instances are solved, so that only the easier ones are averaged."
    )
    settings = {
        "schedule": f"inverse temperature from {p['beta_start']:g} by {p['beta_step']:g} a sweep, at most {p['sweeps']} "
        "sweeps",
        "load": f"α_T = {p['alpha_T']:g}",
        "dotted lines of (b)": "interpolated between the points next to one half",
        "agreement with the theory": in_words(agreement, "test error"),
        "error bars": f"standard errors over instances, in (b) of a {BINOMIAL}{without_errors(test)}",
        "chosen here": "sizes, schedule and α_T",
    }
    return Drawing(figure, caption, settings)
