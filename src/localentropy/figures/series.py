"""A figure states each panel and series once: from one call come what is drawn, the rows of the CSV, and the chart.

A method of `Panel` that draws takes the name of a series. It declares the rows of the CSV, and remembers which row each
point draws. The letter of a row is that of the panel which draws it:

>>> figure, (left, right) = panels(2, 6.0, 3.0)
>>> rows = left.line([1.0, 2.0], [0.5, 0.25], "typical", {"color": "black"}, margin=0.5)
>>> letter([left, right])
>>> figure.data[["panel", "series", "x", "y", "margin"]].to_numpy().tolist()
[['a', 'typical', 1.0, 0.5, 0.5], ['a', 'typical', 2.0, 0.25, 0.5]]

Rows that were declared can be drawn again, by handing them over in place of a name: in another panel, beside their
place, or a part of them. Then the panel is `a, b`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.collections import QuadMesh

Rows = npt.NDArray[np.int64]
"""Numbers of rows of the CSV, counted from 0."""
Series = str | Rows | None
"""Name of a series whose rows are declared; or rows that were declared before; or none, of a guide to the eye."""
Look = Mapping[str, Any]
"""Properties of Matplotlib."""
NO_ROW = -1
"""In place of a row's number: the point is in no row."""
PLAIN: Look = MappingProxyType({})
DOT: dict[str, Any] = {"marker": "o", "linestyle": "none"}
"""Of a single point that has no error."""
SHARED = ("panel", "series", "x", "y", "y_err")
"""Columns of the CSV that all figures have. The others are parameters of the series, and what else is known of them."""
MEASURED = (
    {"y", "y_err", "x_err", "n", "runs", "samples", "solved", "theory", "z", "score", "slope", "residual"}
    | {"distance_typical", "entropy_typical", "distance_raw"}
    | {"chi_squared", "points", "drift", "drift_err", "spread", "solutions", "rate", "largest_eigenvalue"}
    | {"generalization_error", "best_regularization", "median_steps"}
)
"""Columns of the CSV that are results. All others say what a number is, and tell rows apart for `diff`."""
UNDRAWN = "data"
"""Panel of rows that nothing draws, if they have no other word for it."""


class Picture(Figure):
    """A figure that has the rows of its CSV, in the order in which they are declared."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._declared: list[pd.DataFrame] = []

    def add(self, frame: pd.DataFrame, **columns: Any) -> Rows:
        """Declare rows, and return their numbers. They are drawn by handing these to a method of `Panel`.

        Args:
            frame: columns series, x, y, y_err and parameters. A missing number is NaN. Of rows that are never drawn
                `panel` may say what they are.
            columns: further columns, or others in place of the frame's.
        """
        first = sum(map(len, self._declared))
        self._declared.append(frame.assign(**columns))
        return np.arange(first, first + len(frame))

    @property
    def data(self) -> pd.DataFrame:
        """All rows of the CSV: the columns `SHARED`, and those of the series."""
        data = pd.concat(self._declared or [pd.DataFrame()], ignore_index=True)
        data = data.reindex(columns=[*SHARED, *data.columns.difference(SHARED, sort=False)])
        told = data["panel"].astype(object).fillna(UNDRAWN)
        letters: list[list[str]] = [[] for _ in range(len(data))]
        for name, panel in self.named_panels():
            for row in np.unique(np.concatenate([[NO_ROW], *panel.rows.values()])).tolist():
                # An inset may show again what its panel does.
                if row != NO_ROW and not (letters[row] and "inset" in name):
                    letters[row].append(name)
        return data.assign(panel=[", ".join(own) or word for own, word in zip(letters, told, strict=True)])

    def named_panels(self) -> Iterator[tuple[str, Panel]]:
        """The panels by their letters, each before its insets. A figure without letters has one panel, a."""
        own = [axis for axis in self.axes if isinstance(axis, Panel)]
        lettered = [axis for axis in own if axis.letter]
        for axis in lettered or own[:1]:
            yield axis.letter or "a", axis
            for inset in axis.child_axes:
                if isinstance(inset, Panel):
                    yield f"{axis.letter}, inset" if axis.letter else "inset", inset


class Panel(Axes):
    """Axes whose methods below draw rows of the figure's CSV. Each returns the numbers of these rows.

    Attributes:
        letter: of the panel; empty before `letter` was called, in insets, and where a figure has one panel.
        rows: what was drawn → the row of each of its points.
    """

    letter = ""

    def __init__(self, *args: Any, **more: Any) -> None:
        self.rows: dict[Artist, Rows] = {}
        super().__init__(*args, **more)

    @property
    def picture(self) -> Picture:
        """The figure that it is in."""
        figure = self.get_figure(root=True)
        assert isinstance(figure, Picture)
        return figure

    def inset_axes(self, bounds: tuple[float, float, float, float], **more: Any) -> Panel:  # type: ignore[override]
        """A panel in the panel."""
        return super().inset_axes(bounds, axes_class=Panel, **more)  # type: ignore[return-value]

    def line(
        self, x: npt.ArrayLike, y: npt.ArrayLike, series: Series = None, look: Look = PLAIN, **columns: Any
    ) -> Rows:
        """A line, or points without errors; `columns` are the parameters of the series."""
        (artist,) = self.plot(x, y, **look)
        return self._tie(artist, series, _curve(x, y, columns))

    def signed(
        self,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        series: Series = None,
        look: Look = PLAIN,
        *,
        negative_style: str = "--",
        **columns: Any,
    ) -> Rows:
        """A line, dashed at negative values, or of another style. Both parts end at zero, by linear interpolation."""
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        rows = self.declare(series, _curve(x, y, columns))
        at = np.flatnonzero(y[:-1] * y[1:] < 0.0)
        zeros = x[at] - y[at] * (x[at + 1] - x[at]) / (y[at + 1] - y[at])
        x, y, ties = np.insert(x, at + 1, zeros), np.insert(y, at + 1, 0.0), np.insert(rows, at + 1, NO_ROW)
        negative = np.pad(y < 0.0, 1)
        dashed = negative[1:-1] | ((y == 0.0) & (negative[2:] | negative[:-2]))
        for part, more in ((y >= 0.0, {}), (dashed, {"linestyle": negative_style, "label": None, "zorder": 1.5})):
            self.line(x, np.where(part, y, np.nan), ties, {**look, **more})
        return rows

    def points(
        self,
        frame: pd.DataFrame,
        series: Series,
        look: Look = PLAIN,
        x: str = "x",
        *,
        at: npt.ArrayLike | None = None,
        bars: npt.ArrayLike | None = None,
    ) -> Rows:
        """Points with error bars, and a line through them if the look has one.

        Args:
            frame: columns y, y_err, that named by `x`, and parameters; x_err for bars along x.
            series: their name, or the rows that they are.
            look: how they look.
            x: the column of their abscissa.
            at: where they stand instead, if they would hide others.
            bars: error bars other than y_err, [points] or [2, points].
        """
        place = frame[x] if at is None else at
        errors = frame.get("y_err") if bars is None else bars
        drawn = self.errorbar(place, frame["y"], errors, frame.get("x_err"), **look)
        return self._tie(drawn.lines[0], series, frame.assign(x=frame[x]))

    def steps(self, frame: pd.DataFrame, edges: npt.ArrayLike, series: Series, look: Look = PLAIN) -> Rows:
        """A histogram: y of a bin between two edges. It has gaps where y is 0."""
        heights = frame["y"].to_numpy()
        artist = self.stairs(np.where(heights > 0.0, heights, np.nan), edges, **look)
        return self._tie(artist, series, frame)

    def colors(self, frame: pd.DataFrame, x: str, level: str, series: Series, look: Look = PLAIN) -> QuadMesh:
        """A map of colours, which is returned: y in the plane of two columns, whose values make a grid."""
        rows = self.declare(series, frame.assign(x=frame[x]))
        grids = (
            frame.assign(row=rows).pivot(index=level, columns=x, values=name).sort_index() for name in ("y", "row")
        )
        values, numbers = grids
        artist = self.pcolormesh(values.columns, values.index, values.to_numpy(), shading="gouraud", **look)
        self.rows[artist] = numbers.to_numpy().ravel()
        return artist

    def level(self, y: float, series: Series = None, look: Look = PLAIN, **columns: Any) -> Rows:
        """A horizontal line across the panel; its row has no x."""
        return self._tie_ends(self.axhline(y, **look), series, _curve(np.nan, y, columns))

    def threshold(
        self,
        x: float,
        text: str,
        series: Series = None,
        *,
        color: Any = "black",
        linestyle: Any = ":",
        side: str = "left",
        at: float = 0.99,
        **columns: Any,
    ) -> Rows:
        """A thin vertical line up to a fraction of the axis, its value written along its end on one side.

        Its row has no y.
        """
        line = self.axvline(x, ymax=at, color=color, linestyle=linestyle, linewidth=0.8, zorder=0)
        self.annotate(
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
        return self._tie_ends(line, series, pd.DataFrame({"x": [x], **columns}))

    def declare(self, series: Series, frame: pd.DataFrame) -> Rows:
        """The rows of a series that is drawn in parts. They are new if it is a name."""
        if series is None:
            return np.full(len(frame), NO_ROW)
        return self.picture.add(frame, series=series) if isinstance(series, str) else series

    def _tie(self, artist: Artist, series: Series, frame: pd.DataFrame) -> Rows:
        """Remember the row of each point of what was drawn."""
        self.rows[artist] = self.declare(series, frame)
        return self.rows[artist]

    def _tie_ends(self, artist: Artist, series: Series, frame: pd.DataFrame) -> Rows:
        """Both ends of a line across the panel are one row."""
        rows = self._tie(artist, series, frame)
        self.rows[artist] = np.repeat(rows, 2)
        return rows


def _curve(x: npt.ArrayLike, y: npt.ArrayLike, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Rows without errors."""
    places = np.broadcast_arrays(*(np.atleast_1d(np.asarray(values, dtype=float)) for values in (x, y)))
    return pd.DataFrame({"x": places[0], "y": places[1], "y_err": 0.0} | _by_place(columns))


def _by_place(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns without an index, so that values belong to the points in their order."""
    return {name: values.to_numpy() if isinstance(values, pd.Series) else values for name, values in columns.items()}
