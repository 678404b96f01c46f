"""Figure s1: as figure 1, for infinitely many units, and for the parity machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from localentropy.analysis.flatness import around_parity_solutions
from localentropy.analysis.printed import CLUSTERING
from localentropy.figures.drawing import Drawing, colors_of, in_style, letter
from localentropy.figures.layout import two_columns
from localentropy.figures.shaping.wide_minima import WHAT, draw_curves, theory_in_words, thresholds

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

WIDE = 0.9
"""Overlap of the entropies of the parity machine in the caption: the nearest that was computed."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) V₁ against q₁ for K → ∞; (b) for the parity machine, with the constant of the paper; (c) simulations."""
    many, parity, solutions = (
        tables[f"shaping/{name}"] for name in ("wide_minima_many_units", "wide_minima_parity", "parity_solutions")
    )
    figure, axes = two_columns(3, 2.7)
    load = solutions.attrs["parameters"]["alpha"]
    colors = colors_of(sorted({*many["alpha"], *parity["alpha"], load}), of="load")
    draw_curves(axes[0], many, {CLUSTERING[math.inf]: "paper's clustering"}, colors)
    draw_curves(axes[1], parity, {}, colors)
    for alpha, curve in parity.sort_values("overlap").groupby("alpha"):
        look = {"color": colors[alpha], "linestyle": ":"}
        axes[1].line(curve["overlap"], curve["annealed"], f"paper, α = {alpha:g}", look, alpha=alpha)
    axes[1].plot([], [], color="black", linestyle=":", label=r"$-\alpha\ln 2$ (paper)")
    points = around_parity_solutions(solutions)
    _measured(axes[2], points, parity[parity["alpha"] == load], colors[load])
    for axis, table in zip(axes[:2], (many, parity), strict=True):
        axis.set(xlim=(round(table["overlap"].min(), 1), 1.0), ylim=(None, 0.05))
    # There is room for one legend below the lines, and for the other one beside them.
    axes[0].set_ylim(bottom=1.4 * axes[0].get_ylim()[0])
    axes[0].legend(
        title=r"$\alpha$", title_fontsize=7, loc="lower center", ncols=3, columnspacing=1.0, handlelength=1.5
    )
    axes[1].legend(title=r"$\alpha$", title_fontsize=7, loc="lower right", bbox_to_anchor=(1.02, 0.03))
    letter(axes)
    clustering = thresholds(tables["shaping/typical_volume"], math.inf).get("clustering")
    wide = parity[parity["overlap"] == min(parity["overlap"], key=lambda overlap: abs(overlap - WIDE))]
    shares = (wide["entropy"] / wide["annealed"]).groupby(wide["alpha"]).mean()
    # Below the accuracy of the entropies a fraction is 0, whatever its sign.
    left = ", ".join(f"{abs(round(share, 6)):.2g} (α = {alpha:g})" for alpha, share in shares.items())
    sizes = ", ".join(f"N = {N} ({count})" for N, count in solutions.groupby("N")["sample"].nunique().items())
    caption = (
        f"Figure s1. (a) Tree committee of infinitely many units: the {WHAT}. The dashed line has the load "
        f"{CLUSTERING[math.inf]} that the paper gives for the clustering of typical solutions. (b) The same for the parity "
        "machine of three units. Dotted lines are the paper's constant −α ln 2. The full minimisation (lines) is larger at "
        f"every q₁ > 0. (c) Points are random weights around solutions made by hand at α = {load:g}, which are a lower bound "
        "on the line."
    )
    settings = {
        "theory of (a)": theory_in_words(many),
        **({} if clustering is None else {"clustering in our theory": f"the replicon is 1 at {clustering:.4f}"}),
        "theory of (b)": theory_in_words(parity),
        "the constant −α ln 2": "the value on the branch q₀ = 0, u = 0, where each replica is right on a pattern with "
        "probability ½; it is exact at q₁ = 0",
        "full minimisation": f"over d₀; at q₁ = {wide['overlap'].iloc[0]:g} it is this fraction of the constant: {left}",
        "points in (c)": f"{sizes}; {solutions.attrs['parameters']['draws']} draws at each overlap; error bars are standard "
        "errors of the mean",
        "chosen here": "the values of α other than the marked one",
    }
    return Drawing(figure, caption, settings)


def _measured(axis: Panel, points: pd.DataFrame, theory: pd.DataFrame, color: object) -> None:
    """Measured entropies, a marker for each size, beside theory and constant at their load."""
    near = points["overlap"].min() - 0.02
    for column, series, linestyle in (("entropy", "theory", "-"), ("annealed", "paper", ":")):
        line = theory[theory["overlap"] >= near].sort_values("overlap")
        look = {"color": color, "linestyle": linestyle, "label": series}
        axis.line(line["overlap"], line[column], series, look, alpha=line["alpha"])
    for marker, (N, own) in zip("o^sD", points.groupby("N"), strict=False):
        look = {"color": color, "marker": marker, "linestyle": "none", "label": f"$N = {N}$"}
        axis.points(own.rename(columns={"overlap": "x"}), f"N = {N}", look)
    axis.set(
        xlabel="overlap $q_1$",
        ylabel="log of the fraction of solutions\n(nats per weight)",
        xlim=(near, 1.002),
        ylim=(-0.23, 0.02),
    )
    axis.legend(loc="center right")
