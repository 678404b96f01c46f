"""The result of a plot module, and the style of all figures.

A plot module has one function, `draw(tables, scale) -> Drawing`. `tables` maps the names of experiments to their rows.
Their `attrs["parameters"]` are the parameters they were computed with. A plot computes only what summarizes or compares
the drawn numbers: means, errors, agreement with a theory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")

COLUMN_WIDTH = 3.4
"""Inches: one column of a journal page."""

COLORS = sns.color_palette("colorblind").as_hex()
GREY = "#767676"

Kind = Literal["margin", "load", "size", "other"]
PALETTES: Mapping[Kind, tuple[str, float, float]] = {
    "margin": ("viridis", 0.0, 0.74),
    "load": ("flare", 0.1, 1.0),
    "size": ("Blues", 0.48, 1.0),
    "other": ("cividis", 0.0, 0.76),
}
"""For each kind of quantity a scale of colours, and the part of it that can be read on white."""

PHASES: Mapping[str, str] = {"wide": "#d3e6f5", "hard": "#f8dcae", "none": "#c9c9c9"}
"""Colours of the regions of phase diagrams: wide flat minima; solutions that are hard to find; none."""

STYLE: Mapping[str, object] = {
    **sns.axes_style("ticks"),
    **sns.plotting_context("paper"),
    "figure.dpi": 200,
    "savefig.dpi": 200,
    "font.size": 8,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "errorbar.capsize": 2,
    "pdf.fonttype": 42,
    "svg.hashsalt": "localentropy",
    "mathtext.fontset": "dejavusans",
}


in_style = mpl.rc_context(STYLE)  # type: ignore[arg-type]
"""Decorator of functions that draw: the style holds while they run."""


@dataclass(frozen=True)
class Drawing:
    """A drawn figure.

    Attributes:
        figure: to be saved as PNG and PDF.
        data: every plotted number: columns panel, series, x, y, y_err and the series' parameters.
        caption: one paragraph. It names choices made here, and sizes below the paper's.
    """

    figure: Figure
    data: pd.DataFrame
    caption: str


def panels(columns: int, width: float, height: float, rows: int = 1) -> tuple[Figure, Sequence[Axes]]:
    """A figure of a size in inches, and its rows × columns panels, row by row."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).ravel())


def colors_of(values: Iterable[T], *, of: Kind) -> dict[T, Any]:
    """A colour for each value, along the scale of colours of a kind of quantity. So a colour means one thing.

    Args:
        values: in their order along the scale.
        of: what they are: margins; loads (α, 1/α, α_T); sizes (D, N, d, P); or anything else.
    """
    keys = list(values)
    name, low, high = PALETTES[of]
    places = np.linspace(low, high, len(keys)) if len(keys) > 1 else [0.5 * (low + high)]
    scale = sns.color_palette(name, as_cmap=True)
    return {key: tuple(scale(place)[:3]) for key, place in zip(keys, places, strict=True)}


def curve_rows(panel: str, series: str, x: Any, y: Any, **more: Any) -> pd.DataFrame:
    """Rows of a figure's CSV for a curve without errors; `more` are further columns."""
    return pd.DataFrame({"panel": panel, "series": series, "x": x, "y": y, "y_err": 0.0, **more})


def draw_signed(axis: Axes, x: np.ndarray, y: np.ndarray, style: Mapping[str, Any]) -> None:
    """A line, dashed at negative values. Both parts end at zero, by linear interpolation."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    at = np.flatnonzero(y[:-1] * y[1:] < 0.0)
    zeros = x[at] - y[at] * (x[at + 1] - x[at]) / (y[at + 1] - y[at])
    x, y = np.insert(x, at + 1, zeros), np.insert(y, at + 1, 0.0)
    axis.plot(x, np.where(y >= 0.0, y, np.nan), **style)
    negative = np.pad(y < 0.0, 1)
    dashed = negative[1:-1] | ((y == 0.0) & (negative[2:] | negative[:-2]))
    axis.plot(x, np.where(dashed, y, np.nan), **{**style, "linestyle": "--", "label": None, "zorder": 1.5})


def clipped_bars(points: pd.DataFrame) -> np.ndarray:
    """Error bars of fractions, [2, points], that end at 0 and 1. The points have columns y and y_err."""
    return np.array([np.minimum(points["y_err"], points["y"]), np.minimum(points["y_err"], 1.0 - points["y"])])


def threshold_line(
    axis: Axes, x: float, text: str, *, color: Any = "black", linestyle: Any = ":", side: str = "left", at: float = 0.99
) -> None:
    """A thin vertical line at a threshold, up to a fraction of the axis, its value written along its end on one side."""
    axis.axvline(x, ymax=at, color=color, linestyle=linestyle, linewidth=0.8, zorder=0)
    axis.annotate(
        text,
        (x, at),
        xycoords=("data", "axes fraction"),
        xytext=(-1.5 if side == "left" else 1.5, 0),
        textcoords="offset points",
        rotation=90,
        ha="right" if side == "left" else "left",
        va="top",
        fontsize=6,
        color=color,
    )


def letter(axes: Iterable[Axes]) -> None:
    """Letter the panels (a), (b), …"""
    for number, axis in enumerate(axes):
        axis.set_title(f"({chr(ord('a') + number)})", loc="left", fontweight="bold")
