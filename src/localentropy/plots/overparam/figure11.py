"""Figure 11: test error of zero-temperature Monte Carlo at several margins, on the lines of the theory."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import pandas as pd

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.solver_runs import averages, deviations, with_theory
from localentropy.plots.agreement import csv_rows, in_words
from localentropy.plots.drawing import COLUMN_WIDTH, Drawing, colors_of, curve_rows, in_style, panels
from localentropy.plots.perceptron_points import apart, draw_points, one_two_five, series, typical_line, without_errors

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Lines at the margins asked for; the z-scores compare with the theory at the effective margin of each point."""
    runs, theory, typical = (tables[f"overparam/{name}"] for name in ("solve_mct0", "typical_points", "typical"))
    p = runs.attrs["parameters"]
    points = with_theory(averages(runs, "test_error"), theory, "error_typical")
    agreement = agreement_by_size(deviations(runs, "test_error", theory, "error_typical"), ["margin"])
    margins, sizes = sorted(runs["margin"].unique()), sorted(runs["D"].unique())
    markers = dict(zip(sizes, cycle(MARKERS), strict=False))
    frames = [csv_rows(agreement)]
    figure, (axis,) = panels(1, COLUMN_WIDTH, 3.2)
    for margin, color in colors_of(margins).items():
        line = typical_line(typical, str(margin))
        axis.plot(line["inv_alpha"], line["error_typical"], color=color, label=rf"$\kappa = {margin:g}$")
        frames.append(curve_rows("a", f"theory, margin {margin:g}", line["inv_alpha"], line["error_typical"]))
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
