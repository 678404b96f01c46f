"""Figure 3: Franz–Parisi entropy against distance, and local entropies measured around focusing BP's solutions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from localentropy.analysis.local_entropy import around_solutions, largest_margin_curve, over_samples, with_excess
from localentropy.plots.algorithms import ALGORITHMS
from localentropy.plots.drawing import Drawing, in_style, letter, panels, threshold_line
from localentropy.plots.franz_parisi_panels import LINEAR, SMALL, curve_data, curve_name, draw_curves
from localentropy.plots.frozen_ends import frozen_ends, without_frozen_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Panel (a): all distances; (b): small ones; (c): measured entropies minus the curve of the largest margin."""
    table, runs = tables["margins/franz_parisi"], tables["margins/local_entropy"]
    largest = largest_margin_curve(table, runs)
    alpha = largest["alpha"].iloc[0]
    table = table[table["curve"].isin(["bound", "reference", "same_margin"]) & table["alpha"].isin([alpha, np.nan])]
    table = without_frozen_ends(table, ["curve", "margin_ref"])
    around = with_excess(around_solutions(runs), largest)
    points, excess = over_samples(around, "entropy"), over_samples(around, "excess")
    figure, axes = panels(3, 9.6, 3.0)
    draw_curves(axes[:2], table)
    label = f"fBP, $N = {runs['N'].iloc[0]}$"
    _points(axes[0], points, label)
    _points(axes[1], points[points["distance"] < SMALL], label)
    _points(axes[2], excess, label)
    axes[2].axhline(0.0, color="black", linewidth=0.6)
    threshold_line(axes[2], largest["distance_typical"].iloc[0], "typical distance", at=0.35)
    axes[2].set(xscale="log", xlabel="distance $d$")
    axes[2].set_ylabel(r"$\phi_{\mathrm{fBP}}(d) - \phi_{\mathrm{FP}}(d; \tilde\kappa = \kappa_{\max})$")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=10, columnspacing=1.2)
    letter(axes)
    frames = [
        curve_data(table),
        points.assign(panel="a, b", series="focusing BP", x=points["distance"]),
        excess.assign(panel="c", series="focusing BP - curve of the largest margin", x=excess["distance"]),
    ]
    return Drawing(figure, pd.concat(frames), _caption(table, runs))


def _points(axis: Axes, points: pd.DataFrame, label: str) -> None:
    style = ALGORITHMS["focusing_bp"] | {"label": label, "markersize": 3, "linestyle": "none", "zorder": 3}
    axis.errorbar(points["distance"], points["y"], points["y_err"], **style)


def _caption(table: pd.DataFrame, runs: pd.DataFrame) -> str:
    p, q = table.attrs["parameters"], runs.attrs["parameters"]
    each = runs.drop_duplicates("sample")
    solved = each[each["solved"] == 1]
    below = " (fewer than the paper's 10)" if len(each) < 10 else ""
    stability = f"The smallest stability of these solutions is {solved['smallest_stability'].mean():.2f} on average. "
    lost = int((runs["converged"] == 0).sum())
    return (
        "Figure 3. Franz–Parisi entropy (nats per weight) of solutions of margin "
        f"κ = {p['margin']:g} at normalised Hamming distance d from a typical solution of margin κ̃ of the binary "
        f"perceptron, replica-symmetric theory, α = {table['alpha'].max():g} (α and the margins are chosen here: "
        "compare with the paper's figure). Dashed: negative entropy, where no such solutions exist around typical references. Black: "
        "solutions of the same margin as the reference. Dotted: all configurations, α = 0. Dots: the maximum of a curve, at the typical "
        f"distance, with the entropy of all solutions. {frozen_ends(table, ['curve', 'margin_ref'], curve_name)}Diamonds: local "
        f"entropy, by belief propagation, around the solutions of focusing BP. Mean and standard error over {len(solved)} solved instances "
        f"of {len(each)}{below}, N = {each['N'].iloc[0]}, P = {each['P'].iloc[0]}. We fix the distances, so that only the entropies "
        f"have errors; the paper fixed the fields. The protocol (y = {q['replicas']:g} replicas, {q['steps']} steps, damping "
        f"{q['damping']:g}) and N are chosen here. "
        f"{f'Not converged: {lost} of {len(runs)} entropies. ' if lost else ''}{stability if len(solved) else ''}(b) Small "
        f"distances. The axis of the entropy is linear between −{LINEAR:g} and {LINEAR:g}, and logarithmic beyond. (c) The diamonds "
        f"minus the curve of the largest margin."
    )
