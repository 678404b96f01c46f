"""Figure 11: test error of zero-temperature Monte Carlo at several margins, on the lines of the theory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import matplotlib as mpl
import pandas as pd
import seaborn as sns

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.solver_runs import averages, deviations, with_theory
from localentropy.plots.agreement import csv_rows, in_words
from localentropy.plots.drawing import COLUMN_WIDTH, STYLE, Drawing, panels
from localentropy.plots.perceptron_points import apart, draw_points, one_two_five, series, without_errors

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Lines at the margins asked for; the z-scores compare with the theory at the effective margin of each point."""
    runs, theory, typical = (
        tables["overparam/solve_mct0"],
        tables["overparam/typical_points"],
        tables["overparam/typical"],
    )
    p = runs.attrs["parameters"]
    points = with_theory(averages(runs, "test_error"), theory, "error_typical")
    agreement = agreement_by_size(deviations(runs, "test_error", theory, "error_typical"), ["margin"])
    margins, sizes = sorted(runs["margin"].unique()), sorted(runs["D"].unique())
    markers = dict(zip(sizes, cycle(MARKERS), strict=False))
    frames = [csv_rows(agreement)]
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, (axis,) = panels(1, COLUMN_WIDTH, 3.2)
        for margin, color in zip(margins, sns.color_palette("viridis", len(margins)), strict=True):
            line = typical[(typical["line"] == "inv_alpha") & (typical["reference"] == str(margin))]
            line = line.sort_values("inv_alpha")
            axis.plot(line["inv_alpha"], line["error_typical"], color=color, label=rf"$\kappa = {margin:g}$")
            x, y = line["inv_alpha"], line["error_typical"]
            frames.append(
                pd.DataFrame({"panel": "a", "series": f"theory, margin {margin:g}", "x": x, "y": y, "y_err": 0.0})
            )
            for index, (D, marker) in enumerate(markers.items()):
                here = points[(points["margin"] == margin) & (points["D"] == D)]
                # The theory between the margin of the line and the effective one of each point.
                shown = apart(here, index, len(sizes))
                axis.plot(shown["inv_alpha"], shown["theory"], "_", color=color, markersize=9)
                draw_points(axis, shown, {"color": color, "marker": marker})
                frames.append(series(here, "a", f"MCT0, margin {margin:g}, D = {D}"))
        for D, marker in markers.items():
            axis.plot([], [], marker, color="black", label=f"$D = {D}$")
        axis.plot([], [], "_", color="black", markersize=9, label=r"theory at $\kappa_{\mathrm{eff}}$")
        one_two_five(axis, (5, 10, 20, 30), (4.0, 36.0), points)
        axis.set_ylabel("test error of solutions")
        axis.set_ylim(0.21, 0.34)
        axis.legend(ncols=2)
    caption = (
        f"Figure 11. Test error of solutions of margin κ found by zero-temperature Monte Carlo (at most {p['sweeps']} "
        f"sweeps), α_T = {p['alpha_T']:g}; lines: typical solutions, replica theory; dashes: the theory at each point's "
        "effective margin, half-way to the first sum that the margin forbids. Hollow: fewer than 90 % of the instances "
        f"solved. {in_words(agreement, 'test error')} Error bars: standard errors over instances.{without_errors(points)} Sizes are drawn a little apart. Sizes, margins and α_T are chosen here: the text lost them."
    )
    return Drawing(figure, pd.concat(frames), caption)
