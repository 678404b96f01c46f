"""Figures 6 and 7: errors, overlaps, local energies and curvatures of trained networks of two kinds, against their width.

The column `by` of the table has the kind: one of two initializations, or of two optimizers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator
from numpy.typing import ArrayLike

from localentropy.analysis.flatness import REACHED
from localentropy.analysis.statistics import pair_mean
from localentropy.analysis.thresholds import first_solved
from localentropy.figures.drawing import GREY, span

if TYPE_CHECKING:
    from localentropy.figures.series import Look, Panel, Series

OPEN: dict[str, Any] = {"linestyle": "--", "markerfacecolor": "white"}
ERROR_BARS = "standard error of the mean; of overlaps from a jackknife over networks"
SERIES: dict[str, dict[str, Any]] = {
    "test error": {},
    "train error": OPEN,
    "trained": {},
    "untrained": {"color": GREY, "linestyle": ":", "markersize": 2.5},
    "near threshold": OPEN,
    "far above": {},
    "trace": {},
    "largest eigenvalue": OPEN,
}


def errors(table: pd.DataFrame, by: str, x: str) -> pd.DataFrame:
    """Train and test errors, panel a."""
    return _means(table, {"train_error": "train error", "test_error": "test error"}, by, x).assign(panel="a")


def overlaps(table: pd.DataFrame, by: str, x: str, series: str) -> pd.DataFrame:
    """Mean overlap of pairs of networks, trained or untrained, panel b."""
    quantity = {"trained": "overlap", "untrained": "overlap_untrained"}[series]
    rows = table[(table["quantity"] == quantity) & table["layer"].isna()]
    records = []
    for (kind, width, parameters), pairs in rows.groupby([by, "width", "parameters"], sort=False):
        mean, error = pair_mean(pairs["sample"], pairs["other"], pairs["value"])
        samples = pd.concat([pairs["sample"], pairs["other"]]).nunique()
        records.append(("b", series, kind, width, parameters, 0.0, mean, error, samples))
    columns = ["panel", "series", by, "width", "parameters", "x_err", "y", "y_err", "samples"]
    points = pd.DataFrame(records, columns=columns).sort_values([by, "width"])
    return points.assign(x=points[x])


def energies(table: pd.DataFrame, by: str, firsts: Mapping[str, float]) -> pd.DataFrame:
    """Local energies at the given width of each kind and at the largest, panel c.

    `x` is the distance per unit, `distance_raw` that of the networks.
    """
    columns = ["panel", "series", by, "width", "sigma", "x", "x_err", "distance_raw", "y", "y_err", "samples"]
    frames = [pd.DataFrame(columns=columns)]
    for kind, first in firsts.items():
        rows = table[table[by] == kind]
        largest = rows["width"].max()
        for width in sorted({first, largest}):
            here = rows[rows["width"] == width]
            distance, raw, energy = (
                here[here["quantity"] == quantity].groupby("sigma")["value"].agg(["mean", "sem", "size"])
                for quantity in ("noise_distance", "noise_distance_raw", "noise_train_error")
            )
            frame = pd.DataFrame({"sigma": distance.index, "x": distance["mean"], "x_err": distance["sem"]})
            frame = frame.assign(distance_raw=raw["mean"], y=energy["mean"], y_err=energy["sem"])
            frame = frame.assign(samples=energy["size"], width=int(width))
            series = "far above" if width == largest else "near threshold"
            frames.append(frame.assign(panel="c", series=series, **{by: kind}))
    return pd.concat(frames, ignore_index=True)


def curvatures(solutions: pd.DataFrame, by: str, x: str) -> pd.DataFrame:
    """Trace and largest eigenvalue of the Hessian of solutions by relative changes of their weights, panel d."""
    names = {"hessian_trace": "trace", "hessian_largest": "largest eigenvalue"}
    return _means(solutions[solutions["layer"].isna()], names, by, x).assign(panel="d")


def thresholds(solved: pd.Series) -> dict[str, float]:
    """Smallest width of each kind from which on half of the networks are solutions. Kinds without one are left out.

    Args:
        solved: fraction of the networks that are solutions, by kind and width.
    """
    kinds = solved.groupby(level=0, sort=False)
    firsts = {str(kind): first_solved(fractions.droplevel(0), 0.5) for kind, fractions in kinds}
    return {kind: first for kind, first in firsts.items() if first is not None}


def samples_in_words(data: pd.DataFrame) -> str:
    """The number of networks of the points of each panel.

    Args:
        data: of all panels.
    """
    told = []
    for panel, numbers in data.dropna(subset=["samples", "y"]).groupby("panel")["samples"]:
        told.append(f"{span(numbers.astype(int))} in ({panel})")
    return f"{', '.join(told)}; the CSV has each number"


def hessian(table: pd.DataFrame) -> dict[str, str]:
    """The setting on the Hessian of panel d."""
    p = table.attrs["parameters"]
    return {
        "Hessian in (d)": "of the cross-entropy of the outputs, divided by their root mean square, on "
        f"{min(p['hessian_patterns'], p['training_patterns'])} training patterns; small noise of (c) raises this loss by half "
        f"the trace times the squared distance; trace from {p['hessian_draws']} random vectors; the kinks of ReLU units are "
        "not in it"
    }


def draw_points(
    axes: Sequence[Panel],
    data: pd.DataFrame,
    by: str,
    looks: Mapping[str, Look],
    series_looks: Mapping[str, Look] = SERIES,
) -> None:
    """Draw all points: a line for each width in the panel of local energies, a line through all widths in the others.

    The column `row` of the data has the numbers of their rows.
    """
    lines = data.assign(width_drawn=data["width"].where(data["panel"] == "c", 0))
    for (panel, series, kind, _), points in lines.groupby(["panel", "series", by, "width_drawn"], sort=False):
        style = {**looks[str(kind)], **series_looks[str(series)]}
        axes["abcd".index(str(panel))].points(points, points["row"].to_numpy(), style)


def logarithmic_inset(
    axis: Panel, data: pd.DataFrame, by: str, looks: Mapping[str, Look], series_looks: Mapping[str, Look], patterns: int
) -> Panel:
    """The train errors of panel a in its upper right, linear up to one error in all training patterns.

    On the axis of test errors, some errors of thousands of patterns are none. The first arguments are those of
    `draw_points`.
    """
    inset = axis.inset_axes((0.5, 0.62, 0.49, 0.36))
    draw_points([inset], data[data["series"] == "train error"], by, looks, series_looks)
    one = 1.0 / patterns
    inset.set_yscale("symlog", linthresh=one, linscale=0.5)
    inset.set(ylim=(-0.2 * one, 1.0), yticks=[0.0, *(10.0**power for power in range(-4, 1) if 10.0**power >= one)])
    inset.yaxis.set_minor_locator(NullLocator())
    inset.tick_params(labelsize=6, pad=1)
    return inset


def draw_thresholds(
    axes: Mapping[Panel, float], positions: Mapping[str, float], by: str, looks: Mapping[str, Look]
) -> None:
    """Draw a line for each kind. Values are on the outer sides; two equal ones are one value.

    Args:
        axes: the fraction of each panel that the lines reach up to.
        positions: the threshold of each kind.
        by: column of the kinds.
        looks: of the kinds.
    """
    shared = len(set(positions.values())) == 1 < len(positions)
    for index, (kind, x) in enumerate(sorted(positions.items(), key=lambda position: position[1])):
        text, side = "" if shared and index else f"{x:.0f}", ("left", "right")[index % 2]
        # If both kinds have the same threshold, the dots of one line fill the gaps of the other.
        look = {"color": looks[kind]["color"], "linestyle": (2.5 * index, (1.5, 3.5)), "side": side}
        series: Series = "threshold"
        for axis, at in axes.items():
            series = axis.threshold(x, text, series, at=at, **look, **{by: kind})


def label_panels(
    axes: Sequence[Panel],
    data: pd.DataFrame,
    by: str,
    looks: Mapping[str, Look],
    untrained: str,
    width: str,
    places: Sequence[Any],
) -> None:
    """Label the axes, and add the legends. Colours stand for kinds in all panels; each panel explains its line styles.

    The panel of overlaps reaches from 0, where the distance is that of orthogonal weights, √2, to 1. That of local
    energies is logarithmic, and linear in errors below `REACHED`.

    Args:
        axes: of the four panels.
        data: of all panels.
        by: column of the kinds.
        looks: of the kinds, with labels.
        untrained: label of the untrained networks.
        width: text before the width in the panel of local energies.
        places: of the legends.
    """
    axes[0].set(ylabel="error rate")
    axes[1].set(ylabel="overlap of aligned networks", ylim=(0.0, 1.0))
    distance_axis(axes[1])
    axes[2].set(xlabel="distance per unit", ylabel="train error after noise", xscale="log", xlim=(8e-4, 1.0))
    axes[2].xaxis.set_major_locator(LogLocator(numticks=5))
    axes[2].xaxis.set_minor_locator(LogLocator(subs=range(2, 10), numticks=50))
    axes[2].xaxis.set_minor_formatter(NullFormatter())
    axes[2].set_yscale("symlog", linthresh=REACHED, linscale=0.5)
    axes[2].set(ylim=(-0.1 * REACHED, 0.7))
    axes[2].axhline(REACHED, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
    black: dict[str, Any] = {"color": "black", "marker": "o"}
    test, train = (Line2D([], [], **(black | SERIES[name])) for name in ("test error", "train error"))
    axes[0].legend([test, train], ["test", "train"], loc=places[0])
    shown = [looks[str(kind)] for kind in data[by].dropna().unique()]
    grey = Line2D([], [], **(black | SERIES["untrained"]))
    lines = [Line2D([], [], **style) for style in shown]
    axes[1].legend([*lines, grey], [*(style["label"] for style in shown), untrained], loc=places[1])
    axes[3].set(yscale="log", ylabel="curvature of the loss", xlim=axes[0].get_xlim())
    kinds = [name for name in ("trace", "largest eigenvalue") if name in set(data["series"])]
    axes[3].legend([Line2D([], [], **(black | SERIES[name])) for name in kinds], kinds, loc=places[3])
    widths = data[data["panel"] == "c"].groupby("series", sort=False).apply(_widths, by, looks, include_groups=False)
    if len(widths):  # there are solutions
        axes[2].legend(
            [Line2D([], [], **(black | SERIES[str(series)])) for series in widths.index],
            [f"{width}{values}" for values in widths],
            loc=places[2],
        )


def distance_axis(axis: Panel, label: str = "distance per unit") -> None:
    """The distance √(2 (1 − q)) of weights of norm 1 on the right of an axis of overlaps q."""
    distances = axis.secondary_yaxis("right", functions=(distance_of, _overlap))
    distances.set(ylabel=label, yticks=[0.0, 0.4, 0.8, 1.0, 1.2, 1.4])


def _means(table: pd.DataFrame, names: Mapping[str, str], by: str, x: str) -> pd.DataFrame:
    """Means over networks of some quantities, whose series have these names."""
    rows = table[table["quantity"].isin(names)]
    means = rows.groupby(["quantity", by, "width", "parameters"], sort=False)["value"]
    frame = means.agg(y="mean", y_err="sem", samples="size").reset_index().sort_values([by, "quantity", "width"])
    return frame.assign(series=frame["quantity"].map(names), x=frame[x], x_err=0.0).drop(columns="quantity")


def _widths(energies: pd.DataFrame, by: str, looks: Mapping[str, Look]) -> str:
    """The width that all kinds share, or the width of each kind."""
    each = energies.groupby(by, sort=False)["width"].first()
    if each.nunique() == 1:
        return str(each.iloc[0])
    return ",\n".join(f"{width} ({looks[str(kind)]['label']})" for kind, width in each.items())


def distance_of(overlap: ArrayLike) -> np.ndarray:
    """Distance per unit of normalised networks; negative above an overlap of 1, where an axis may end."""
    apart = 1 - np.asarray(overlap)
    return np.sign(apart) * np.sqrt(2 * np.abs(apart))


def _overlap(distance: ArrayLike) -> np.ndarray:
    return 1 - np.asarray(distance) * np.abs(distance) / 2
