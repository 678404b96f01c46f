"""Figure 3: Franz–Parisi entropy against distance, and local entropies measured around focusing BP's solutions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from localentropy.analysis.local_entropy import around_solutions, largest_margin_curve, over_samples, with_excess
from localentropy.plots.algorithms import ALGORITHMS
from localentropy.plots.drawing import Drawing, in_style, letter, panels
from localentropy.plots.franz_parisi_panels import LINEAR, SMALL, curve_name, draw_curves
from localentropy.plots.frozen_ends import frozen_ends, without_frozen_ends
from localentropy.plots.margins.best_references import BEST_REFERENCES, largest_local_entropy


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Panel (a): all distances; (b): small ones; (c): entropies minus the curve of the largest margin."""
    table, runs = tables["margins/franz_parisi"], tables["margins/local_entropy"]
    largest = largest_margin_curve(table, runs)
    alpha = largest["alpha"].iloc[0]
    table = table[table["curve"].isin(["bound", "reference", "same_margin"]) & table["alpha"].isin([alpha, np.nan])]
    table = without_frozen_ends(table, ["curve", "margin_ref"])
    around = with_excess(around_solutions(runs), largest)
    points, excess = over_samples(around, "entropy"), over_samples(around, "excess")
    best = largest_local_entropy(tables["margins/large_deviations"], {"model": "perceptron"}, f"{alpha:g}")
    best = with_excess(best, largest).dropna(subset=["excess"])
    figure, axes = panels(3, 9.6, 3.0)
    draw_curves(axes[:2], table)
    label = f"fBP, $N = {runs['N'].iloc[0]}$"
    look = ALGORITHMS["focusing_bp"] | {"label": label, "markersize": 3, "linestyle": "none", "zorder": 3}
    rows = axes[0].points(points, "focusing BP", look, "distance")
    small = points["distance"] < SMALL
    axes[1].points(points[small], rows[small], look, "distance")
    axes[2].points(excess, "focusing BP - curve of the largest margin", look, "distance")
    axes[2].axhline(0.0, color="black", linewidth=0.6)
    name = "largest local entropy"
    of = f"{name} - curve of the largest margin"
    axes[2].line(best["distance"], best["excess"], of, BEST_REFERENCES | {"label": name})
    axes[2].legend(handles=axes[2].lines[-1:], loc="upper left")
    axes[2].threshold(largest["distance_typical"].iloc[0], "typical distance", at=0.35)
    axes[2].set(xscale="log", xlabel="distance $d$", xlim=(0.5 * excess["distance"].min(), None))
    axes[2].set_ylabel(r"$\phi(d) - \phi_{\mathrm{FP}}(d; \tilde\kappa = \kappa_{\max})$")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=10, columnspacing=1.2)
    letter(axes)
    return Drawing(figure, _caption(table, runs))


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
        "minus the curve of the largest margin. Dash-dotted: the largest local entropy that any reference has, by large "
        "deviations (y = ∞), minus the same curve. It ends where it is that of typical solutions."
    )
