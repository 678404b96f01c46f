"""The result of a figure's module, and the style of all figures.

A figure's module has one function, `draw(tables, scale) -> Drawing`. `tables` maps the names of experiments to their
rows. Their `attrs["parameters"]` are the parameters they were computed with. A figure computes only what summarizes or
compares the drawn numbers: means, errors, agreement with a theory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import matplotlib as mpl
import numpy as np
import pandas as pd

from localentropy.figures.series import Panel, Picture

T = TypeVar("T")

COLUMN_WIDTH = 3.4
"""Inches: one column of a journal page."""

COLORS = ["#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9"]
"""Seaborn's palette `colorblind`. Seaborn itself is imported only where it mixes colours: it takes longer than a plot."""
GREY = "#767676"

Kind = Literal["margin", "load", "distance", "other"]
PALETTES: Mapping[Kind, tuple[str, float, float]] = {
    "margin": ("viridis", 0.0, 0.74),
    "load": ("flare", 0.1, 1.0),
    "distance": ("PuRd", 0.42, 1.0),
    "other": ("cividis", 0.0, 0.76),
}
"""For each kind of quantity a scale of colours, and the part of it that can be read on white."""

NO_CORNER = 0.9 / math.log(10.0)
"""The `linscale` of a "symlog" axis whose linear part is as steep as its logarithmic one where they meet."""

BINOMIAL = "binomial distribution at (k + 1)/(n + 2) for k of n runs"
"""Whose standard errors are those of fractions."""

PHASES: Mapping[str, str] = {"wide": "#d3e6f5", "hard": "#f8dcae", "none": "#c9c9c9"}
"""Colours of the regions of phase diagrams: wide flat minima; solutions that are hard to find; none."""

STYLE: Mapping[str, object] = {
    "figure.dpi": 200,
    "savefig.dpi": 200,
    "font.size": 8,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 7,
    "legend.title_fontsize": 9.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "lines.solid_capstyle": "round",
    "patch.linewidth": 0.8,
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "errorbar.capsize": 2,
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "text.color"), ".15"),
    **{f"{axis}tick.major.{what}": value for axis in "xy" for what, value in (("size", 4.8), ("width", 1.0))},
    **{f"{axis}tick.minor.{what}": value for axis in "xy" for what, value in (("size", 3.2), ("width", 0.8))},
    "pdf.fonttype": 42,
    "svg.hashsalt": "localentropy",
    "mathtext.fontset": "dejavusans",
}
"""Seaborn's style `ticks` at the size `paper`, with changes of ours, as far as it is not matplotlib's own."""


in_style = mpl.rc_context(STYLE)  # type: ignore[arg-type]
"""Decorator of functions that draw: the style holds while they run."""


@dataclass(frozen=True)
class Drawing:
    """A drawn figure.

    Attributes:
        figure: to be saved as PNG and PDF.
        caption: one paragraph of at most 120 words: what is seen.
        settings: what → how it was computed. A table below the figure has them, among them what was chosen here, and
            sizes below the paper's.
    """

    figure: Picture
    caption: str
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> pd.DataFrame:
        """Every plotted number: columns panel, series, x, y, y_err and the series' parameters."""
        return self.figure.data

    @property
    def told(self) -> str:
        """Caption and settings as one paragraph."""
        return in_one_paragraph(self.caption, self.settings)


def in_one_paragraph(caption: str, settings: Mapping[str, str]) -> str:
    """The caption of a figure, and its settings as sentences."""
    return " ".join(
        [caption, *(f"{name[:1].upper()}{name[1:]}: {value.removesuffix('.')}." for name, value in settings.items())]
    )


def panels(columns: int, width: float, height: float, rows: int = 1) -> tuple[Picture, Sequence[Panel]]:
    """A figure of a size in inches, and its rows × columns panels, row by row."""
    figure = Picture(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, subplot_kw={"axes_class": Panel}).ravel())


def plane_beside_two(width: float, height: float) -> tuple[Picture, Sequence[Panel]]:
    """A figure of a size in inches, and its three panels: a tall one, and two beside it, one above the other."""
    figure = Picture(figsize=(width, height), layout="constrained")
    mosaic = figure.subplot_mosaic("ab;ac", subplot_kw={"axes_class": Panel})
    return figure, [mosaic[name] for name in "abc"]  # type: ignore[misc]


def colors_of(values: Iterable[T], *, of: Kind) -> dict[T, Any]:
    """A colour for each value, along the scale of colours of a kind of quantity. So a colour means one thing.

    Args:
        values: in their order along the scale.
        of: what they are: margins; loads (α, 1/α, α_T); distances; or anything else. The sizes of an algorithm have
            shades of its colour (`algorithms.shades_of`).
    """
    keys = list(values)
    name, low, high = PALETTES[of]
    places = np.linspace(low, high, len(keys)) if len(keys) > 1 else [0.5 * (low + high)]
    if name not in mpl.colormaps:
        import seaborn  # noqa: F401 (it adds its scales to matplotlib's)
    scale = mpl.colormaps[name]
    return {key: tuple(scale(place)[:3]) for key, place in zip(keys, places, strict=True)}


def clipped_bars(points: pd.DataFrame) -> np.ndarray:
    """Error bars of fractions, [2, points], that end at 0 and 1. The points have columns y and y_err."""
    return np.array([np.minimum(points["y_err"], points["y"]), np.minimum(points["y_err"], 1.0 - points["y"])])


def span(numbers: pd.Series) -> str:
    """Numbers in words, such as "8" or "4 to 12"."""
    low, high = numbers.min(), numbers.max()
    return f"{low}" if low == high else f"{low} to {high}"


def enumerated(words: Sequence[str]) -> str:
    """Words after one another, such as "50, 100 and 200"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def letter(axes: Iterable[Panel]) -> None:
    """Letter the panels (a), (b), …"""
    for number, axis in enumerate(axes):
        axis.letter = chr(ord("a") + number)
        axis.set_title(f"({axis.letter})", loc="left", fontweight="bold")
