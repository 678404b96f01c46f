"""Figure s1: what the text says without a figure. Stability, symmetry breaking, equal margins, the planted perceptron."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from localentropy.analysis.local_entropy import LARGE_DEVIATIONS
from localentropy.plots.drawing import (
    GREY,
    Drawing,
    colors_of,
    curve_rows,
    draw_signed,
    in_style,
    letter,
    panels,
    threshold_line,
)
from localentropy.plots.frozen_ends import frozen_ends, without_frozen_ends
from localentropy.plots.margins.largest_margin import TRANSITIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) replicon, (b) splitting, (c) equal margins, (d) the four transitions, (e), (f) the planted perceptron."""
    searched, regions = tables["margins/one_step"], tables["margins/dense_regions"]
    equal = pd.concat([tables[f"margins/{name}"] for name in ("franz_parisi", "franz_parisi_text")])
    equal = equal[equal["curve"] == "same_margin"].sort_values("margin_ref", kind="stable")
    equal = without_frozen_ends(equal, ["margin_ref"])
    planted = tables["margins/planted"]
    figure, axes = panels(3, 8.2, 4.8, rows=2)
    frames = [
        _replicon(axes[0], searched),
        _splitting(axes[1], searched),
        _equal_margins(axes[2], equal),
        _transitions(axes[3], regions),
        _planted(axes[4], planted, "entropy", "e"),
        _planted(axes[5], planted, "slope", "f"),
    ]
    axes[0].set(ylabel=r"replicon $\lambda$")
    letter(axes)
    return Drawing(figure, pd.concat(frames), _caption(searched, equal, regions, planted))


def _replicon(axis: Axes, searched: pd.DataFrame) -> pd.DataFrame:
    """One line for each reference."""
    rows = searched.drop_duplicates(["curve", "alpha", "reference", "distance"])
    colors = colors_of(sorted(rows.loc[rows["reference"] == "max", "alpha"].unique()), of="load")
    frames = []
    for (alpha, reference), curve in rows.groupby(["alpha", "reference"], sort=False):
        largest = reference == "max"
        style: dict[str, Any] = {"color": GREY, "linewidth": 0.7, "zorder": 1}
        if largest:
            style = {"color": colors[alpha], "label": f"{alpha:g}"}
        axis.plot(curve["distance"], curve["replicon"], **style)
        name = f"replicon, κ̃ = {'κ_max' if largest else reference}"
        frames.append(curve_rows("a", name, curve["distance"], curve["replicon"], alpha=alpha))
    axis.axhline(1.0, color="black", linewidth=0.6)
    axis.set(xscale="log", yscale="log", xlabel="distance $d$", ylim=(1e-4, 200.0))
    title = r"$\tilde\kappa = \kappa_{\max}$, $\alpha =$"
    axis.legend(title=title, title_fontsize=7, loc="upper left", ncols=3, columnspacing=1.0, handlelength=1.2)
    return pd.concat(frames)


def _splitting(axis: Axes, searched: pd.DataFrame) -> pd.DataFrame:
    """q1 - q0 in units of 1 - q1 for each size of blocks, at the loads where there is one; zero elsewhere."""
    rows = searched.assign(split=(searched["q1"] - searched["q0"]) / (1.0 - searched["q1"]))
    unstable = rows[rows["curve"] == "unstable"]
    colors = colors_of(rows["blocks"].unique(), of="other")
    frames = []
    for index, (blocks, curve) in enumerate(unstable.groupby("blocks", sort=False)):
        # Many are zero: rings of different sizes show each other.
        ring = {"color": colors[blocks], "markersize": 7.5 - 1.5 * index, "markerfacecolor": "none"}
        axis.plot(curve["distance"], curve["split"], "o", label=blocks, **ring)
        frames.append(
            curve_rows("b", f"splitting, m {blocks}", curve["distance"], curve["split"], alpha=curve["alpha"])
        )
    stable = rows[rows["curve"] != "unstable"]
    axis.plot(stable["distance"], stable["split"], "x", color=GREY, markersize=2, label="other curves of (a)")
    frames.append(
        curve_rows("b", "splitting, all other curves", stable["distance"], stable["split"], alpha=stable["alpha"])
    )
    axis.set(xscale="log", xlabel="distance $d$", ylabel=r"splitting $(q_1 - q_0)/(1 - q_1)$")
    axis.set_ylim(top=1.7 * max(unstable["split"].max(), 0.1))
    title = rf"$\alpha = {unstable['alpha'].iloc[0]:g}$, $m =$"
    axis.legend(title=title, title_fontsize=7, loc="upper left", ncols=2, columnspacing=1.0)
    return pd.concat(frames)


def _equal_margins(axis: Axes, equal: pd.DataFrame) -> pd.DataFrame:
    """Entropies of solutions of the reference's own margin."""
    colors, frames = colors_of(equal["margin_ref"].unique(), of="margin"), []
    for margin, curve in equal.groupby("margin_ref"):
        d, phi = curve["distance"].to_numpy(), curve["entropy"].to_numpy()
        draw_signed(axis, d, phi, {"color": colors[margin], "label": f"{margin:.3g}"})
        frames.append(curve_rows("c", f"κ = κ̃ = {margin:.4g}", d, phi, alpha=curve["alpha"]))
    axis.axhline(0.0, color="black", linewidth=0.6)
    solved = equal.loc[equal["entropy"].notna(), "distance"]
    axis.set(xscale="log", xlabel="distance $d$", ylabel=r"$\phi_{\mathrm{FP}}(d)$")
    axis.set_xlim(0.8 * solved.min(), solved.max())
    axis.legend(title=r"$\kappa = \tilde\kappa =$", title_fontsize=7, loc="upper left")
    return pd.concat(frames)


def _transitions(axis: Axes, regions: pd.DataFrame) -> pd.DataFrame:
    """The lines of the perceptron near their ends."""
    rows, frames = regions[regions["ensemble"] == "perceptron"], []
    for line, style in TRANSITIONS.items():
        curve = rows[rows["line"] == line].sort_values("alpha")
        axis.plot(curve["alpha"], curve["margin"], **style)
        frames.append(curve_rows("d", line, curve["alpha"], curve["margin"]))
        if line != "kappa_max":
            end = curve.iloc[-1]
            axis.plot(end["alpha"], end["margin"], "o", color=style["color"], zorder=3)
    threshold_line(axis, LARGE_DEVIATIONS, f"large deviations {LARGE_DEVIATIONS:g}", side="left")
    ends = rows[rows["end"]].set_index("line")
    axis.set(xlabel=r"patterns per weight $\alpha$", ylabel=r"margin of the reference $\tilde\kappa$")
    axis.set(xlim=(0.45, ends.loc["kappa_max", "alpha"]), ylim=(0.0, 0.3))
    axis.legend(loc="upper left")
    return pd.concat(frames)


def _planted(axis: Axes, planted: pd.DataFrame, column: str, panel: str) -> pd.DataFrame:
    """Curves around solutions of the largest margin; black at the threshold."""
    alphas = sorted(planted.loc[planted["curve"] != "threshold", "alpha"].unique())
    colors, frames = colors_of(alphas, of="load"), []
    rising = planted[planted["distance"] < 0.999 * planted["distance_typical"]]
    for alpha, curve in rising.groupby("alpha"):
        d, y = curve["distance"].to_numpy(), curve[column].to_numpy()
        draw_signed(axis, d, y, {"color": colors.get(alpha, "black"), "label": f"{alpha:.3f}"})
        frames.append(curve_rows(panel, f"planted, {column}", d, y, alpha=alpha, margin_ref=curve["margin_ref"]))
    axis.axhline(0.0, color="black", linewidth=0.6)
    axis.set(xscale="log", xlabel="distance $d$", xlim=(1e-4, None))
    if column == "entropy":
        axis.set(ylabel=r"$\phi_{\mathrm{FP}}(d)$, planted")
        axis.legend(title=r"$\alpha =$", title_fontsize=7, loc="upper left")
    else:
        axis.set(ylabel=r"$d\phi_{\mathrm{FP}}/dd$, planted", ylim=(-2.0, 4.0))
    return pd.concat(frames)


def _distances(found: pd.Series, searched: pd.Series) -> str:
    """Distances in words: from the first to the last if all that were searched between them are found, else each."""
    first, last = found.min(), found.max()
    if len(found) > 2 and found.nunique() == searched[searched.between(first, last)].nunique():
        return f"for d from {first:.2g} to {last:.2g}"
    told = [f"{d:.2g}" for d in sorted(found.unique())]
    return f"at d = {' and '.join([', '.join(told[:-1]), told[-1]] if len(told) > 1 else told)}"


def _caption(searched: pd.DataFrame, equal: pd.DataFrame, regions: pd.DataFrame, planted: pd.DataFrame) -> str:
    stable = searched[searched["curve"] != "unstable"]
    unstable = searched[searched["curve"] == "unstable"]
    others, split = int((stable["q1"] > stable["q0"]).sum()), unstable[unstable["q1"] > unstable["q0"]]
    ends = regions[regions["end"] & (regions["ensemble"] == "perceptron")].set_index("line")["alpha"]
    threshold = planted[planted["curve"] == "threshold"].iloc[0]
    where = "nowhere"
    if len(split):
        where = " and ".join(
            f"in blocks of m = {blocks} {_distances(found['distance'], unstable['distance'])}"
            for blocks, found in split.groupby("blocks", sort=False)
        )
        where += ". The entropy is negative there" if (split["entropy"] < 0).all() else ""
    if "stationary" in set(unstable["blocks"]) - set(split["blocks"]):
        where += ". No m is stationary"
    return (
        "Figure s1. Statements of the text that have no figure there; binary perceptron, replica theory. (a) Replicon along curves around "
        "solutions of the largest margin (colours) and of smaller margins at α = "
        f"{stable.loc[stable['reference'] != 'max', 'alpha'].max():g} (grey). The replica-symmetric solution is stable below the line. "
        f"The largest value is {stable['replicon'].max():.3f} on all curves except that of α = {unstable['alpha'].iloc[0]:g}. (b) Result of "
        f"a search for two overlaps, q₁ in blocks of m replicas and q₀ between blocks. q₁ − q₀ is {f'not zero at {others} points of' if others else 'zero on all'} other curves of (a). "
        f"At α = {unstable['alpha'].iloc[0]:g} students split {where}. "
        "(c) Entropy of solutions of the same margin as their reference; dashed: negative. "
        f"{frozen_ends(equal, ['margin_ref'], 'κ = {:.3g}'.format)}(d) The four transitions: κ_min and κ_u at each load, and the loads at "
        f"which they meet κ_max, α'_LE = {ends['kappa_u']:.6f} and α_min = {ends['kappa_min']:.6f}. (e), (f) Entropy and its derivative "
        f"around solutions of the largest margin of the planted perceptron; black: α'_LE = {threshold['alpha']:.6f}. The loads, "
        "margins and sizes of blocks are chosen here."
    )
