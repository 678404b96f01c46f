"""Figure s2, beyond the paper: the phases of typical solutions in the plane of load and margin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.patches import Patch

from localentropy.analysis.thresholds import large_deviations_threshold
from localentropy.figures.drawing import GREY, PHASES, Drawing, in_style, letter, panels
from localentropy.figures.margins.largest_margin import TRANSITIONS, model_in_words
from localentropy.figures.series import DOT

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

REGIONS = {"dense": PHASES["wide"], "dip": "#fdf1dd", "gap": PHASES["hard"], "no solutions": PHASES["none"]}
"""Colours of the regions, by their names in the legend."""
TOP = 2.5
"""Upper end of the axis of margins, in units of the largest margin at α'_LE."""
BEYOND = 1.05
"""Right end of the axis of loads, in units of α_c."""
ENDS = {"kappa_max": "α_c", "kappa_u": "α'_LE", "kappa_min": "α_min"}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """A panel for each model with lines; the ends of the lines of all models are in the numbers and the caption."""
    table, deviations = tables["margins/dense_regions"], tables["margins/large_deviations"]
    p = table.attrs["parameters"]
    figure, axes = panels(len(p["lines"]), 2.4 * len(p["lines"]) + 0.2, 2.8)
    for axis, name in zip(axes, p["lines"], strict=True):
        rows = table[table["ensemble"] == name]
        lines = {line: rows[rows["line"] == line].sort_values("alpha") for line in TRANSITIONS}
        _regions(axis, lines, p["smallest_alpha"])
        drawn = {}
        for line, style in TRANSITIONS.items():
            x, y = lines[line]["alpha"], lines[line]["margin"]
            drawn[line] = axis.line(x, y, f"{name}, {line}", style, ensemble=name)
        for line in ("kappa_u", "kappa_min"):
            end, dot = lines[line].iloc[-1], DOT | {"color": TRANSITIONS[line]["color"], "zorder": 3}
            axis.line(end["alpha"], end["margin"], drawn[line][-1:], dot)
        upper = large_deviations_threshold(deviations, p["ensembles"][name])
        if upper is not None:
            text = rf"$\alpha_U$ = {upper['alpha']:.4f}"
            axis.threshold(upper["alpha"], text, f"{name}, α_U", side="right", y_err=0.0, ensemble=name)
        top, right = TOP * lines["kappa_u"]["margin"].iloc[-1], BEYOND * lines["kappa_max"]["alpha"].iloc[-1]
        axis.set(xlabel=r"patterns per weight $\alpha$", xlim=(p["smallest_alpha"], right), ylim=(0.0, top))
        axis.set_title(model_in_words(p["ensembles"][name]).partition(",")[0], fontsize=7)
    axes[0].set(ylabel=r"margin of the reference $\tilde\kappa$")
    entries, labels = axes[0].get_legend_handles_labels()
    areas = [Patch(facecolor=color, edgecolor=GREY, linewidth=0.4) for color in REGIONS.values()]
    figure.legend([*entries, *areas], [*labels, *REGIONS], loc="outside lower center", ncols=len(entries) + len(areas))
    letter(axes)
    thresholds = _thresholds(table[table["end"]])
    thresholds = thresholds.assign(**_upper_thresholds(p["ensembles"], deviations))
    for name, values in thresholds.items():
        told = pd.DataFrame({"series": name, "y": values, "y_err": 0.0, "ensemble": values.index})
        figure.add(told, panel="thresholds")
    caption = (
        "Figure s2, not in the paper. Phases of typical solutions of margin κ̃ at α patterns per weight, for several "
        "models. In the dense region the local entropy grows up to the typical distance. In the dip it is positive, with a "
        "minimum at a small distance, and in the gap it is negative in a shell of distances. The dotted line is α_U: above "
        "it the bound on the local entropy of any reference falls somewhere. Colours are as in figure 1 of the main paper."
    )
    settings = {
        "theory": "replica-symmetric, local entropy of solutions of margin κ = 0; α_U from large deviations",
        **_in_words(thresholds),
        "chosen here": "the range of α",
    }
    return Drawing(figure, caption, settings)


def _regions(axis: Panel, lines: Mapping[str, pd.DataFrame], left: float) -> None:
    """The phases between the lines, and none above κ_max. Each line goes on as that of κ_max where it has ended."""
    alphas = np.unique(np.concatenate([lines[line]["alpha"] for line in TRANSITIONS]))
    alphas = np.union1d(alphas, np.linspace(left, BEYOND * alphas[-1], 200))
    top = np.interp(alphas, lines["kappa_max"]["alpha"], lines["kappa_max"]["margin"])
    edges = [top]
    for line in ("kappa_u", "kappa_min"):
        edge = np.interp(alphas, lines[line]["alpha"], lines[line]["margin"])
        edges.append(np.where(alphas <= lines[line]["alpha"].iloc[-1], np.minimum(edge, top), top))
    edges.append(np.full(len(alphas), 1e-9))
    edges.insert(0, np.maximum(top, TOP * lines["kappa_u"]["margin"].iloc[-1]))
    for upper, lower, name in zip(edges[:-1], edges[1:], ("no solutions", "dense", "dip", "gap"), strict=True):
        axis.fill_between(alphas, lower, upper, color=REGIONS[name], linewidth=0.0, zorder=-1)


def _thresholds(ends: pd.DataFrame) -> pd.DataFrame:
    """A row for each model: where its lines end, and the margin and the distance of the tangent at α'_LE."""
    at = ends.pivot(index="ensemble", columns="line", values="alpha")[[*ENDS]].rename(columns=ENDS)
    tangents = ends[ends["line"] == "kappa_u"].set_index("ensemble")
    return at.assign(**{"κ_max(α'_LE)": tangents["margin"], "d": tangents["distance"]}).loc[tangents.index]


def _upper_thresholds(ensembles: Mapping[str, Mapping[str, Any]], deviations: pd.DataFrame) -> dict[str, pd.Series]:
    """α_U of each model, and the distance of the tangent there."""
    found = {name: large_deviations_threshold(deviations, ensemble) for name, ensemble in ensembles.items()}
    columns = {"α_U": "alpha", "d(α_U)": "distance"}
    return {
        symbol: pd.Series({name: np.nan if row is None else row[column] for name, row in found.items()})
        for symbol, column in columns.items()
    }


def _in_words(thresholds: pd.DataFrame) -> dict[str, str]:
    """A setting for each model: its thresholds."""
    settings = {}
    for name, row in thresholds.iterrows():
        numbers = ", ".join(f"{symbol} = {value:.7f}" for symbol, value in row.drop(["d", "α_U", "d(α_U)"]).items())
        upper = f", α_U = {row['α_U']:.7f}, tangent at d = {row['d(α_U)']:.4f}" if row["α_U"] > 0.0 else ""
        settings[f"ends of lines, {name}"] = f"{numbers}, tangent at d = {row['d']:.4f}{upper}"
    return settings
