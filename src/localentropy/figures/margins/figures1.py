"""Figure s1: what the text says without a figure.

Stability, symmetry breaking, equal margins, the planted perceptron, solutions of positive margin, loads of algorithms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import without_frozen_ends
from localentropy.analysis.thresholds import large_deviations_threshold, success_fractions
from localentropy.figures.algorithms import ALGORITHMS
from localentropy.figures.drawing import GREY, Drawing, clipped_bars, colors_of, enumerated, in_style, letter, panels
from localentropy.figures.franz_parisi_panels import LINEAR, curve_name, draw_curves
from localentropy.figures.frozen_ends import frozen_ends
from localentropy.figures.margins.largest_margin import TRANSITIONS
from localentropy.figures.series import DOT
from localentropy.solvers.names import NAMES

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

STORED = ("focusing_bp", "sbpi")
"""The solvers of (i)."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) replicon, (b) splitting, (c) equal margins, (d) the four transitions, (e), (f) the planted perceptron.

    (g), (h) curves of solutions of positive margin; (i) shares of the runs of two algorithms that store all patterns.
    """
    searched, regions = tables["margins/one_step"], tables["margins/dense_regions"]
    equal = pd.concat([tables[f"margins/{name}"] for name in ("franz_parisi", "franz_parisi_text")])
    equal = equal[equal["curve"] == "same_margin"].sort_values("margin_ref", kind="stable")
    equal = without_frozen_ends(equal, ["margin_ref"])
    planted, deviations = tables["margins/planted"], tables["margins/large_deviations"]
    positive = without_frozen_ends(tables["margins/franz_parisi_margin"], ["curve", "margin_ref"])
    figure, axes = panels(3, 8.2, 7.2, rows=3)
    _replicon(axes[0], searched)
    _splitting(axes[1], searched)
    _equal_margins(axes[2], equal)
    _transitions(axes[3], regions, deviations)
    _planted(axes[4], planted, "entropy")
    _planted(axes[5], planted, "slope")
    draw_curves(axes[6:8], positive)
    # Where the linear part of the axis ends, labels of this small panel would lie on that of 0.
    axes[7].set_yticks([tick for tick in axes[7].get_yticks() if abs(tick) != LINEAR])
    axes[6].legend(
        fontsize=6,
        loc="lower center",
        bbox_to_anchor=(0.57, 0.13),
        ncols=2,
        labelspacing=0.3,
        handlelength=1.2,
        columnspacing=1.0,
        borderpad=0.0,
    )
    _stored(axes[8], {solver: tables[f"margins/storage_{solver}"] for solver in STORED}, regions, deviations)
    axes[0].set(ylabel=r"replicon $\lambda$")
    letter(axes)
    return Drawing(figure, *_told(searched, equal, tables))


def _replicon(axis: Panel, searched: pd.DataFrame) -> None:
    """One line for each reference."""
    rows = searched.drop_duplicates(["curve", "alpha", "reference", "distance"])
    colors = colors_of(sorted(rows.loc[rows["reference"] == "max", "alpha"].unique()), of="load")
    for (alpha, reference), curve in rows.groupby(["alpha", "reference"], sort=False):
        largest = reference == "max"
        style: dict[str, Any] = {"color": GREY, "linewidth": 0.7, "zorder": 1}
        if largest:
            style = {"color": colors[alpha], "label": f"{alpha:g}"}
        name = f"replicon, κ̃ = {'κ_max' if largest else reference}"
        axis.line(curve["distance"], curve["replicon"], name, style, alpha=alpha)
    axis.axhline(1.0, color="black", linewidth=0.6)
    axis.set(xscale="log", yscale="log", xlabel="distance $d$", ylim=(1e-4, 200.0))
    title = r"$\tilde\kappa = \kappa_{\max}$, $\alpha =$"
    axis.legend(title=title, title_fontsize=7, loc="upper left", ncols=3, columnspacing=1.0, handlelength=1.2)


def _splitting(axis: Panel, searched: pd.DataFrame) -> None:
    """q1 - q0 in units of 1 - q1 for each size of blocks, at the loads where there is one; zero elsewhere."""
    rows = searched.assign(split=(searched["q1"] - searched["q0"]) / (1.0 - searched["q1"]))
    unstable = rows[rows["curve"] == "unstable"]
    colors = colors_of(rows["blocks"].unique(), of="other")
    for index, (blocks, curve) in enumerate(unstable.groupby("blocks", sort=False)):
        # Many are zero: rings of different sizes show each other.
        ring = {"color": colors[blocks], "markersize": 7.5 - 1.5 * index, "markerfacecolor": "none", "label": blocks}
        look = DOT | ring
        axis.line(curve["distance"], curve["split"], f"splitting, m {blocks}", look, alpha=curve["alpha"])
    stable = rows[rows["curve"] != "unstable"]
    look = {"marker": "x", "linestyle": "none", "color": GREY, "markersize": 2, "label": "other curves of (a)"}
    axis.line(stable["distance"], stable["split"], "splitting, all other curves", look, alpha=stable["alpha"])
    axis.set(xscale="log", xlabel="distance $d$", ylabel=r"splitting $(q_1 - q_0)/(1 - q_1)$")
    axis.set_ylim(top=1.7 * max(unstable["split"].max(), 0.1))
    title = rf"$\alpha = {unstable['alpha'].iloc[0]:g}$, $m =$"
    axis.legend(title=title, title_fontsize=7, loc="upper left", ncols=2, columnspacing=1.0)


def _equal_margins(axis: Panel, equal: pd.DataFrame) -> None:
    """Entropies of solutions of the reference's own margin."""
    colors = colors_of(equal["margin_ref"].unique(), of="margin")
    for margin, curve in equal.groupby("margin_ref"):
        look = {"color": colors[margin], "label": f"{margin:.3g}"}
        axis.signed(curve["distance"], curve["entropy"], f"κ = κ̃ = {margin:.4g}", look, alpha=curve["alpha"])
    axis.axhline(0.0, color="black", linewidth=0.6)
    solved = equal.loc[equal["entropy"].notna(), "distance"]
    axis.set(xscale="log", xlabel="distance $d$", ylabel=r"$\phi_{\mathrm{FP}}(d)$")
    axis.set_xlim(0.8 * solved.min(), solved.max())
    axis.legend(title=r"$\kappa = \tilde\kappa =$", title_fontsize=7, loc="upper left")


def _transitions(axis: Panel, regions: pd.DataFrame, deviations: pd.DataFrame) -> None:
    """The lines of the perceptron near their ends, and its threshold of large deviations."""
    rows = regions[regions["ensemble"] == "perceptron"]
    for line, style in TRANSITIONS.items():
        curve = rows[rows["line"] == line].sort_values("alpha")
        points = axis.line(curve["alpha"], curve["margin"], line, style)
        if line != "kappa_max":
            end = curve.iloc[-1]
            axis.line(end["alpha"], end["margin"], points[-1:], DOT | {"color": style["color"], "zorder": 3})
    upper = large_deviations_threshold(deviations, {"model": "perceptron"})
    if upper is not None:
        name = rf"$\alpha_U$ = {upper['alpha']:.4f}"
        axis.threshold(upper["alpha"], name, "large deviations, α_U", y_err=0.0)
    typical = large_deviations_threshold(deviations, {"model": "perceptron"}, "alpha_u_typical")
    if typical is not None:
        name = "zero external entropy"
        at = typical["alpha"]
        axis.threshold(at, f"{name}, {at:.4f}", f"large deviations, {name}", side="right", y_err=0.0)
    ends = rows[rows["end"]].set_index("line")
    axis.set(xlabel=r"patterns per weight $\alpha$", ylabel=r"margin of the reference $\tilde\kappa$")
    axis.set(xlim=(0.45, ends.loc["kappa_max", "alpha"]), ylim=(0.0, 0.3))
    axis.legend(loc="upper left")


def _planted(axis: Panel, planted: pd.DataFrame, column: str) -> None:
    """Curves around solutions of the largest margin; black at the threshold."""
    alphas = sorted(planted.loc[planted["curve"] != "threshold", "alpha"].unique())
    colors = colors_of(alphas, of="load")
    rising = planted[planted["distance"] < 0.999 * planted["distance_typical"]]
    for alpha, curve in rising.groupby("alpha"):
        look = {"color": colors.get(alpha, "black"), "label": f"{alpha:.3f}"}
        own = {"alpha": alpha, "margin_ref": curve["margin_ref"]}
        axis.signed(curve["distance"], curve[column], f"planted, {column}", look, **own)
    axis.axhline(0.0, color="black", linewidth=0.6)
    axis.set(xscale="log", xlabel="distance $d$", xlim=(1e-4, None))
    if column == "entropy":
        axis.set(ylabel=r"$\phi_{\mathrm{FP}}(d)$, planted")
        axis.legend(title=r"$\alpha =$", title_fontsize=7, loc="upper left")
    else:
        axis.set(ylabel=r"$d\phi_{\mathrm{FP}}/dd$, planted", ylim=(-2.0, 4.0))


def _stored(axis: Panel, runs: Mapping[str, pd.DataFrame], regions: pd.DataFrame, deviations: pd.DataFrame) -> None:
    """Share of the runs that store all patterns, a line for each solver and size, and the two thresholds."""
    for solver, table in runs.items():
        shares = success_fractions(table, ["N", "alpha"], table["solved"])
        for shade, (size, own) in enumerate(shares.groupby("N")):
            largest = size == shares["N"].max()
            look = ALGORITHMS[solver] | {"markersize": 3, "linewidth": 0.9, "label": f"{NAMES[solver]}, $N = {size}$"}
            look |= {} if largest else {"alpha": 0.3 + 0.2 * shade, "markerfacecolor": "white"}
            axis.points(own, f"share stored, {NAMES[solver]}", look, "alpha", bars=clipped_bars(own))
    end = regions[regions["end"] & (regions["ensemble"] == "perceptron")].set_index("line").loc["kappa_u", "alpha"]
    axis.threshold(end, rf"$\alpha'_{{LE}}$ = {end:.3f}", "α'_LE", side="left", y_err=0.0)
    upper = large_deviations_threshold(deviations, {"model": "perceptron"})
    if upper is not None:
        axis.threshold(upper["alpha"], rf"$\alpha_U$ = {upper['alpha']:.4f}", "α_U", side="right", y_err=0.0)
    axis.set(xlabel=r"patterns per weight $\alpha$", ylabel="share of runs that store all")
    axis.set(ylim=(-0.05, 1.45), yticks=np.linspace(0.0, 1.0, 6))  # above 1 there is room for the names of thresholds
    axis.legend(fontsize=6, loc="lower left", labelspacing=0.3, handlelength=1.2, borderpad=0.0)


def _distances(found: pd.Series, searched: pd.Series) -> str:
    """Distances in words: from the first to the last if all that were searched between them are found, else each."""
    first, last = found.min(), found.max()
    if len(found) > 2 and found.nunique() == searched[searched.between(first, last)].nunique():
        return f"for d from {first:.2g} to {last:.2g}"
    return f"at d = {enumerated([f'{d:.2g}' for d in sorted(found.unique())])}"


def _upper(deviations: pd.DataFrame, model: str, words: str) -> str:
    """The thresholds of large deviations in words, with what follows the first number."""
    upper = large_deviations_threshold(deviations, {"model": model})
    if upper is None:
        return ""
    typical = large_deviations_threshold(deviations, {"model": model}, "alpha_u_typical")
    other = "" if typical is None else f", and at zero external entropy {typical['alpha']:.6f}"
    return f"; by large deviations α_U = {upper['alpha']:.6f}{words}{other}"


def _told(
    searched: pd.DataFrame, equal: pd.DataFrame, tables: Mapping[str, pd.DataFrame]
) -> tuple[str, dict[str, str]]:
    """The caption, and the settings."""
    regions, planted = tables["margins/dense_regions"], tables["margins/planted"]
    deviations, counted = tables["margins/large_deviations"], tables["margins/franz_parisi_margin"]
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
        where += "; the entropy is negative there" if (split["entropy"] < 0).all() else ""
    if "stationary" in set(unstable["blocks"]) - set(split["blocks"]):
        where += "; searches that make m stationary, too (smallest, sand-coloured circles), end at q₁ = q₀"
    one, most = f"{unstable['alpha'].iloc[0]:g}", f"{stable['replicon'].max():.3f}"
    caption = (
        "Figure s1. Statements of the text that have no figure there. (a) Replicon along curves around solutions of the "
        "largest margin (colours) and of smaller margins (grey), stable below the line. "
        "(b) Where a search finds two overlaps, q₁ within blocks of m replicas and q₀ between them. (c) Entropy of "
        "solutions of their reference's margin, dashed where negative. (d) κ_min and κ_u at each load, and where they meet "
        "κ_max. Dotted: thresholds of large deviations. (e), (f) Entropy and its derivative in the planted perceptron, "
        "κ̃ = κ_max; black: its threshold. (g), (h) As figure 3, for solutions of positive margin. (i) Share of the runs "
        "of focusing BP (fBP) and of SBPI that store all patterns."
    )
    settings = {
        "model": "binary perceptron, replica theory; planted in (e) and (f)",
        "(a)": f"grey curves are at α = {stable.loc[stable['reference'] != 'max', 'alpha'].max():g}; the largest replicon is "
        f"{most} on all curves other than α = {one}",
        "(b)": f"at α = {one} students split {where}; q₁ − q₀ is "
        f"{f'not zero at {others} points of' if others else 'zero on all'} other curves of (a)",
        **{f"{name} in (c)": value for name, value in frozen_ends(equal, ["margin_ref"], "κ = {:.3g}".format).items()},
        "(d)": f"α'_LE = {ends['kappa_u']:.6f} and α_min = {ends['kappa_min']:.6f}"
        + _upper(
            deviations, "perceptron", ", above which the bound on the local entropy of any reference falls somewhere"
        ),
        "(e), (f)": f"α'_LE = {threshold['alpha']:.6f}{_upper(deviations, 'teacher_student', '')}",
        "(g), (h)": f"solutions of margin κ = {counted['margin'].max():g}, α = {counted['alpha'].max():g}",
        **{
            f"{name} in (g)": value for name, value in frozen_ends(counted, ["curve", "margin_ref"], curve_name).items()
        },
        "(i)": "; ".join(_runs_told(solver, tables[f"margins/storage_{solver}"]) for solver in STORED),
        **_algorithms_told(*(tables[f"margins/storage_{solver}"].attrs["parameters"] for solver in STORED)),
        "chosen here": "loads, margins, sizes of blocks, and the runs and parameters of both algorithms",
    }
    return caption, settings


def _runs_told(solver: str, runs: pd.DataFrame) -> str:
    """How many runs a point has at each size."""
    sizes = runs.groupby(["N", "alpha"]).size().groupby("N").min()
    return f"{NAMES[solver]}: " + ", ".join(f"{count} runs at N = {size}" for size, count in sizes.items())


def _algorithms_told(focusing: Mapping[str, Any], stochastic: Mapping[str, Any]) -> dict[str, str]:
    """The parameters of the two algorithms of (i)."""
    return {
        "algorithms of (i)": f"fBP: at most {focusing['max_iterations']} updates a step (figure 3: until convergence), "
        f"{focusing['steps']} steps, y = {focusing['replicas']:g}; SBPI: θ = {stochastic['theta']}, reinforcement "
        f"{stochastic['reinforcement']:g}, at most {stochastic['passes']} passes"
    }
