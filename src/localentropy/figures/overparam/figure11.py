"""Figure 11: test error of zero-temperature Monte Carlo at several margins, on the lines of the theory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import pandas as pd

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.runs import averages, deviations, with_theory
from localentropy.analysis.thresholds import success_fractions, typical_line
from localentropy.figures.agreement import csv_rows, in_words
from localentropy.figures.drawing import BINOMIAL, Drawing, clipped_bars, colors_of, in_style, letter
from localentropy.figures.layout import two_columns
from localentropy.figures.perceptron_points import FIRST, apart, draw_points, one_two_five, sweeps_of, without_errors

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
APART = 1.05
"""Factor in 1/α between sizes that are drawn apart."""
APART_TOO = 1.026
"""The same between sizes and margins, of fractions that may be equal."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Lines at the margins asked for; the z-scores compare with the theory at the effective margin of each point."""
    runs, theory, typical = (tables[f"overparam/{name}"] for name in ("solve_mct0", "typical_points", "typical"))
    p = runs.attrs["parameters"]
    points = with_theory(averages(runs, "test_error"), theory, "error_typical")
    first = averages(runs, "test_error_first")
    agreement = agreement_by_size(deviations(runs, "test_error", theory, "error_typical"), ["margin"])
    margins, sizes = sorted(runs["margin"].unique()), sorted(runs["D"].unique())
    markers = dict(zip(sizes, cycle(MARKERS), strict=False))
    outcomes = runs[runs["quantity"] == "solved"]
    solved = success_fractions(outcomes, ["margin", "D", "inv_alpha"], outcomes["value"])
    figure, (axis, fractions, difference) = two_columns(3, 2.7)
    figure.add(csv_rows(agreement))
    for step, (margin, color) in enumerate(colors_of(margins, of="margin").items()):
        line = typical_line(typical, str(margin))
        look = {"color": color, "label": rf"$\kappa = {margin:g}$"}
        axis.line(line["inv_alpha"], line["error_typical"], f"theory, margin {margin:g}", look)
        for index, (D, marker) in enumerate(markers.items()):
            here, began, counted = (
                rows[(rows["margin"] == margin) & (rows["D"] == D)] for rows in (points, first, solved)
            )
            # The theory between the margin of the line and the effective one of each point.
            name, look = f"margin {margin:g}, D = {D}", {"color": color, "marker": marker}
            at = apart(here["inv_alpha"], index, len(sizes), APART)
            axis.plot(at, here["theory"], "_", color=color, markersize=8)
            rows = axis.declare(f"MCT0, {name}", here.assign(x=here["inv_alpha"]))
            draw_points(axis, here, rows, look, at=at)
            near = apart(here["inv_alpha"], index * len(margins) + step, len(sizes) * len(margins), APART_TOO)
            draw_points(difference, here.assign(y=here["y"] - here["theory"]), rows, look, at=near)
            at = apart(began["inv_alpha"], index, len(sizes), APART)
            rows = axis.declare(f"MCT0, first solutions, {name}", began.assign(x=began["inv_alpha"]))
            axis.line(at, began["y"], rows, FIRST | {"color": color})
            place = index * len(margins) + step
            at = apart(counted["inv_alpha"], place, len(sizes) * len(margins), APART_TOO)
            look |= {"markersize": 3, "linewidth": 1.0}
            fractions.points(counted, f"solved, {name}", look, "inv_alpha", at=at, bars=clipped_bars(counted))
    for D, marker in markers.items():
        axis.plot([], [], marker, color="black", label=f"$D = {D}$")
    if len(first):
        axis.plot([], [], **FIRST, color="black", label="first solutions")
    axis.plot([], [], "_", color="black", markersize=8, label=r"theory at $\kappa_{\mathrm{eff}}$")
    difference.axhline(0.0, color="black", linewidth=0.8)
    difference.set(ylabel="test error minus theory")
    for panel in (axis, fractions, difference):
        one_two_five(panel, (5, 10, 20, 30), (4.0, 36.0), points)
    axis.set_ylabel("test error of solutions")
    axis.set_ylim(min(0.225, 0.98 * points["y"].min()), max(0.305, 1.02 * points["y"].max()))
    fractions.set(ylabel="fraction solved", ylim=(-0.05, 1.15))
    figure.legend(*axis.get_legend_handles_labels(), loc="outside right center")
    letter([axis, fractions, difference])
    caption = (
        f"Figure 11. Zero-temperature Monte Carlo at several margins κ, α_T = {p['alpha_T']:g}. (a) Test error of its "
        "solutions. Lines are typical solutions in replica theory, and dashes are this theory at the effective margin of "
        "each point. Hollow points are where fewer than 90 % of the instances are "
        f"solved. {sweeps_of(p)} (b) Fraction of the instances solved. (c) The points of (a) minus the theory at the "
        "effective margin. Sizes, and in (b) and (c) also margins, are drawn a little apart."
    )
    settings = {
        "effective margin": "half-way between the smallest sum that the margin allows and the largest that it forbids: a "
        "sum of N signs takes steps of 2",
        "agreement with the theory": in_words(agreement, "test error"),
        "error bars": f"(a) standard errors over instances{without_errors(points)}; (b) of a {BINOMIAL}",
        "chosen here": "sweeps, sizes, margins and α_T",
    }
    return Drawing(figure, caption, settings)
