"""Figure 3: Franz–Parisi entropy against distance, and local entropies measured around focusing BP's solutions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import around_solutions, largest_margin_curve, over_samples, with_excess
from localentropy.figures.algorithms import ALGORITHMS
from localentropy.figures.drawing import Drawing, in_style, letter, panels
from localentropy.figures.franz_parisi_panels import LINEAR, SMALL, curve_name, draw_curves
from localentropy.figures.frozen_ends import frozen_ends, without_frozen_ends
from localentropy.figures.margins.best_references import BEST_REFERENCES, largest_local_entropy


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
    return Drawing(figure, _caption(), _settings(table, runs))


def _caption() -> str:
    return (
        "Figure 3. Entropy of solutions at distance d from a reference. (a) Lines: Franz–Parisi entropy around typical "
        "solutions of margin κ̃ of the binary perceptron, dashed where it is negative and there are no such solutions. "
        "Black lines are solutions of the same margin as the reference, the dotted line has all configurations (α = 0), "
        "and dots mark the maximum of a curve, at the typical distance. Diamonds: local entropy around solutions of "
        "focusing BP. (b) The same at small distances. (c) The diamonds minus the curve of the largest margin. The "
        "dash-dotted line is the largest local entropy that any reference has, minus the same curve."
    )


def _settings(table: pd.DataFrame, runs: pd.DataFrame) -> dict[str, str]:
    p, q = table.attrs["parameters"], runs.attrs["parameters"]
    each = runs.drop_duplicates("sample")
    solved = each[each["solved"] == 1]
    below = " (fewer than the paper's 10)" if len(each) < 10 else ""
    stability = (
        f"; their smallest stability is {solved['smallest_stability'].mean():.2f} on average" if len(solved) else ""
    )
    lost = int((runs["converged"] == 0).sum())
    return {
        "theory": f"replica-symmetric, α = {table['alpha'].max():g}, solutions of margin κ = {p['margin']:g}",
        "entropy": "nats per weight; d is the normalised Hamming distance",
        **frozen_ends(table, ["curve", "margin_ref"], curve_name),
        "diamonds": f"by belief propagation; mean and standard error over {len(solved)} solved instances of "
        f"{len(each)}{below}, N = {each['N'].iloc[0]}, P = {each['P'].iloc[0]}{stability}",
        **({"not converged": f"{lost} of {len(runs)} entropies"} if lost else {}),
        "distances": "fixed here, so that only the entropies have errors; the paper fixed the fields",
        "axis of (b)": f"linear between −{LINEAR:g} and {LINEAR:g}, and logarithmic beyond",
        "largest local entropy": "by large deviations, y = ∞; it ends where typical solutions reach it",
        "chosen here": f"α, the margins, N, and the protocol of focusing BP (y = {q['replicas']:g} replicas, {q['steps']} "
        f"steps, damping {q['damping']:g})",
    }
