"""Figure 10: simulated annealing against size: train error, and test error of its solutions."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.solver_runs import averages, deviations, with_theory
from localentropy.plots.agreement import csv_rows, in_words
from localentropy.plots.drawing import Drawing, colors_of, curve_rows, in_style, letter, panels
from localentropy.plots.perceptron_points import apart, draw_points, one_two_five, series, typical_line, without_errors


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train error, mean over all instances; (b) test error of solutions on the line of typical ones."""
    runs, theory, typical = (tables[f"overparam/{name}"] for name in ("solve_anneal", "typical_points", "typical"))
    p = runs.attrs["parameters"]
    line = typical_line(typical, "0.0")
    train = averages(runs, "train_error_best", solved_only=False)
    test = with_theory(averages(runs, "test_error"), theory, "error_typical")
    agreement = agreement_by_size(deviations(runs, "test_error", theory, "error_typical"), ["margin"])
    sizes = sorted(runs["D"].unique())
    frames = [csv_rows(agreement), curve_rows("b", "theory", line["inv_alpha"], line["error_typical"])]
    figure, axes = panels(2, 6.8, 2.9)
    axes[1].plot(line["inv_alpha"], line["error_typical"], color="black", label="theory")
    for index, (D, color) in enumerate(colors_of(sizes).items()):
        style = {"color": color, "marker": "o", "label": f"$D = {D}$"}
        here = train[train["D"] == D]
        axes[0].errorbar(here["inv_alpha"], here["y"], here["y_err"], **style)
        draw_points(axes[1], apart(test[test["D"] == D], index, len(sizes)), style)
        frames += [series(here, "a", f"D = {D}"), series(test[test["D"] == D], "b", f"D = {D}")]
    for axis in axes:
        one_two_five(axis, (1, 2, 5, 10, 20), (0.85, 24.0), train)
    axes[0].set(ylabel="train error of SA (best)")
    axes[1].set(ylabel="test error of solutions")
    axes[1].set_ylim(0.23, 0.34)
    axes[0].legend()
    axes[1].legend()
    letter(axes)
    caption = (
        f"Figure 10. Simulated annealing, α_T = {p['alpha_T']:g}, inverse temperature from {p['beta_start']:g} by "
        f"{p['beta_step']:g} a sweep, at most {p['sweeps']} sweeps. (a) Smallest train error of a run, mean over all "
        "instances. (b) Test error of solutions and the replica theory of typical ones; hollow: fewer than 90 % of the "
        f"instances solved, where only the easier ones are averaged. {in_words(agreement, 'test error')} "
        f"Error bars: standard errors over instances.{without_errors(test)} In (b) sizes are drawn a little apart. Sizes, "
        "schedule and α_T are chosen here: the text lost them."
    )
    return Drawing(figure, pd.concat(frames), caption)
