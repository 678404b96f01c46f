"""How a figure is drawn: its axes, and the look of each row of its CSV. An interactive chart is made from both.

The look is read from the finished figure. A mark (a line, a set of points, …) is tied to the rows that it draws by their
values. So the modules of the figures need not say anything twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import LogNorm, to_hex, to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.contour import ContourSet
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

NEAR = 0.05
"""Points that would hide each other are drawn side by side, at most this part of the axis away from their place."""


@dataclass
class _Mark:
    """Something that is drawn: what it looks like, its points, and the rows of the points; NaN is a gap.

    A coordinate that counts in parts of the axis, from 0 to 1, is not among the points.
    """

    about: dict[str, Any]
    height: float
    x: np.ndarray
    y: np.ndarray
    errors: np.ndarray | None = None
    rows: dict[int, int] = field(default_factory=dict)
    moved: bool = False

    @property
    def points(self) -> list[int]:
        """The numbers of its points that are no gaps."""
        known = np.isfinite([self.x, self.y])
        return np.flatnonzero(known.any(axis=0) if "across" in self.about else known.all(axis=0)).tolist()


def look(figure: Figure, data: pd.DataFrame) -> dict[str, Any]:
    """What a chart must know to look like a figure, besides the figure's numbers.

    Args:
        figure: it was saved before, so that everything has its place.
        data: the rows of its CSV.

    Returns:
        `size` (width and height in inches), and `panels`. Of each panel: `panel` (its letter), `place` (left, bottom,
        width, height, as parts of the figure), `title`, the axes `x` and `y`, `texts` and `marks`. The `rows` of a
        mark are the numbers of the rows that it draws, counted from 0; null where a point is in no row, and in gaps. It
        has `x` and `y` too if the points are not just where the rows say, and `y_err` if there are no rows.
    """
    data = data.reset_index(drop=True).astype({"x": float, "y": float, "y_err": float})
    panels = [_panel(axis, name, figure, data) for axis, name in _named_axes(figure)]
    return {"size": _numbers(figure.get_size_inches()), "panels": panels}


def _named_axes(figure: Figure) -> Iterator[tuple[Axes, str]]:
    """The panels by their letters, each before its insets. A figure without letters has one panel, a."""
    for axis in figure.axes:
        letter = re.fullmatch(r"\(([a-z])\)", axis.get_title(loc="left"))
        if letter or axis is figure.axes[0]:
            name = letter[1] if letter else "a"
            yield axis, name
            for inset in axis.child_axes:
                if isinstance(inset, Axes):
                    yield inset, f"{name}, inset"


def _panel(axis: Axes, name: str, figure: Figure, data: pd.DataFrame) -> dict[str, Any]:
    marks = [mark for mark in _marks(axis) if mark.points]
    rows = data.loc[[_shown(panel, name) for panel in data["panel"]]]
    # The corners of areas are points of lines.
    _tie([mark for mark in marks if mark.about["kind"] != "area"], rows, axis)
    words = _words_of_legends(figure, axis)
    return {
        "panel": name,
        "place": _numbers(axis.get_position().bounds),
        "title": axis.get_title() or axis.get_title(loc="right"),
        "x": _scale(axis.xaxis),
        "y": _scale(axis.yaxis),
        "texts": [_text(axis, text) for text in axis.texts if text.get_text()],
        "marks": [_written(mark, words) for mark in sorted(marks, key=lambda mark: mark.height)],
    }


def _shown(panel: str, name: str) -> bool:
    """Whether axes may draw the rows of a panel of the CSV: an inset may show again what its panel does."""
    of, (letter, *inset) = panel.split(", "), name.split(", ")
    return of == inset or (letter in of and ("inset" not in of or bool(inset)))


def _scale(axis: Axis) -> dict[str, Any]:
    """Label, scale and limits of an axis, and its ticks if they were chosen for it."""
    scale: dict[str, Any] = {
        "label": axis.get_label_text(),
        "scale": axis.get_scale(),
        "limits": _numbers(axis.get_view_interval()),
    }
    symlog = scale["scale"] == "symlog"
    if symlog:
        transform: Any = axis.get_transform()
        scale |= {"linear": float(transform.linthresh), "linear_length": float(transform.linscale)}
    if symlog or isinstance(axis.get_major_locator(), FixedLocator):
        ticks = axis.get_majorticklocs().tolist()
        labels = axis.get_major_formatter().format_ticks(ticks)
        scale["ticks"] = [list(tick) for tick in zip(_numbers(ticks), labels, strict=True)]
    return scale


def _marks(axis: Axes) -> Iterator[_Mark]:
    """Everything that is drawn in the axes besides text."""
    containers = [container for container in axis.containers if isinstance(container, ErrorbarContainer)]
    bars = {container.lines[0]: container for container in containers}
    caps = {cap for container in containers for cap in container.lines[1]}
    about: dict[str, Any]
    for artist in axis.get_children():
        if isinstance(artist, Line2D) and artist not in caps:
            yield _line(axis, artist, bars.get(artist))
        elif isinstance(artist, StepPatch):
            values, edges, _ = artist.get_data()
            about = {"kind": "steps", "color": _color(artist.get_edgecolor()), "width": artist.get_linewidth()}
            about["label"] = artist.get_label()
            yield _Mark(about, artist.zorder, 0.5 * (edges[1:] + edges[:-1]), np.asarray(values))
        elif isinstance(artist, ContourSet):
            about = {"kind": "line", "style": "-", "width": float(np.atleast_1d(artist.get_linewidth())[0])}
            for color, path in zip(artist.get_edgecolor(), artist.get_paths(), strict=True):
                for part in path.to_polygons(closed_only=False):
                    yield _Mark(about | {"color": _color(color)}, artist.zorder, *np.asarray(part).T)
        elif isinstance(artist, PolyCollection):
            about = {"kind": "area", "color": _color(artist.get_facecolor()[0])}
            for path in artist.get_paths():
                yield _Mark(about, artist.zorder, *np.asarray(path.vertices).T)
        elif isinstance(artist, Rectangle) and artist is not axis.patch:
            about = {"kind": "area", "color": _color(artist.get_facecolor())}
            yield _placed(axis, artist, about, artist.get_corners())
        elif isinstance(artist, QuadMesh):
            yield _map(artist)


def _line(axis: Axes, line: Line2D, bars: ErrorbarContainer | None) -> _Mark:
    """A line or points, with error bars or without."""
    about: dict[str, Any] = {"kind": "line", "color": _color(line.get_color(), line.get_alpha())}
    about["label"] = (bars or line).get_label()
    if line.get_linestyle() != "None":
        about |= {"style": line.get_linestyle(), "width": line.get_linewidth()}
    if line.get_marker() not in ("", "None"):
        about |= {"marker": line.get_marker(), "size": line.get_markersize()}
        about["face"] = _color(line.get_markerfacecolor(), line.get_alpha())
    mark = _placed(axis, line, about, np.asarray(line.get_xydata(), dtype=float))
    if bars is not None:
        about["bars"] = "x" * bars.has_xerr + "y" * bars.has_yerr
        ends = bars.lines[2][-1].get_segments() if bars.has_yerr else []
        if len(ends) == len(mark.x):
            # Where there is no point, the bar has no ends.
            mark.errors = np.array([0.5 * np.ptp(end[:, 1]) if len(end) else np.nan for end in ends])
    return mark


def _placed(axis: Axes, artist: Line2D | Rectangle, about: dict[str, Any], points: np.ndarray) -> _Mark:
    """The mark at its points. If one coordinate counts in parts of the axis, `across` names it."""
    in_data = artist.get_transform().contains_branch_seperately(axis.transData)
    for name, inside, values in zip("xy", in_data, points.T, strict=True):
        if not inside:
            about |= {"across": name, "ends": _numbers([values.min(), values.max()])}
    return _Mark(about, artist.zorder, *np.where(in_data, points, np.nan).T)


def _map(mesh: QuadMesh) -> _Mark:
    """A map of colours. Its points are x and the number that the colour shows; `levels` are their y, row by row."""
    x, y = np.moveaxis(np.asarray(mesh.get_coordinates()), -1, 0)
    about = {
        "kind": "map",
        "levels": _numbers(y[:, 0]),
        "colors": mesh.get_cmap().name,
        "limits": _numbers(mesh.get_clim()),
        "scale": "log" if isinstance(mesh.norm, LogNorm) else "linear",
        "label": mesh.colorbar.ax.get_ylabel() if mesh.colorbar else "",
    }
    return _Mark(about, mesh.zorder, x.ravel(), np.asarray(mesh.get_array()).ravel())


def _tie(marks: Sequence[_Mark], rows: pd.DataFrame, axis: Axes) -> None:
    """Find the rows of all points of a panel's marks: first of the points at their place, then of those moved."""
    series, x, y = (rows[name].to_dict() for name in ("series", "x", "y"))
    free = dict.fromkeys(number for number in rows.index if np.isfinite([x[number], y[number]]).any())
    places: dict[tuple[str, str], list[int]] = {}
    for number in free:
        places.setdefault((_same(x[number]), _same(y[number])), []).append(number)
    for mark in marks:
        found = {point: places.get((_same(mark.x[point]), _same(mark.y[point])), []) for point in mark.points}
        # Several series may have a point in common: the mark draws the one that has most of its points.
        hits = Counter(name for numbers in found.values() for name in {series[number] for number in numbers})
        unseen = Counter(name for numbers in found.values() for name in {series[n] for n in numbers if n in free})
        for point, numbers in found.items():
            if numbers:
                best = max(numbers, key=lambda n: (hits[series[n]], unseen[series[n]], n in free, -n))
                # Both ends of a line across the panel are one row. Another line may be at the same place.
                mark.rows[point] = best = mark.rows.get(0, best) if "across" in mark.about else best
                free.pop(best, None)
    for mark in marks:
        if mark.about["kind"] == "line" and "across" not in mark.about:
            for point, number in _moved(mark, rows.loc[list(free)], axis).items():
                mark.rows[point] = number
                mark.moved = True
                free.pop(number)


def _moved(mark: _Mark, rows: pd.DataFrame, axis: Axes) -> dict[int, int]:
    """Points drawn off their place, so that they do not hide others: point → its row, among rows not drawn elsewhere.

    Points may be moved along x, or all of them by one step along y. Or y is the difference from something else, and its
    errors are those of the rows. A row may have no y, and its point stand at any height.
    """
    points = [point for point in mark.points if point not in mark.rows]
    if not points:
        return {}
    in_axis = axis.transScale + axis.transLimits
    heights = [(number, _same(y)) for number, y in rows["y"].items()]
    found: dict[int, int] = {}
    for point in points:
        here = in_axis.transform((mark.x[point], mark.y[point]))[0]
        beside = [number for number, y in heights if y == _same(mark.y[point]) and number not in found.values()]
        places = {number: (rows.at[number, "x"], mark.y[point]) for number in beside}
        # Infinity is drawn anywhere.
        off = {n: 0.0 if np.isinf(at[0]) else abs(in_axis.transform(at)[0] - here) for n, at in places.items()}
        if off and min(off.values()) < NEAR:
            found[point] = min(off, key=lambda number: off[number])
    if found:
        return found
    for _, own in rows.groupby("series", sort=False):
        place = {_same(x): number for number, x in own["x"].items()}
        above = {point: place[_same(mark.x[point])] for point in points if _same(mark.x[point]) in place}
        if len(above) == len(points):
            y, errors = (own.loc[list(above.values()), name].to_numpy() for name in ("y", "y_err"))
            step = np.ptp(mark.y[points] - y) < 1e-9 and len(points) > 2
            alike = mark.errors is not None and np.allclose(mark.errors[points], errors, rtol=1e-6, atol=0.0)
            if step or (alike and len(points) > 1) or (np.isnan(y).all() and len(points) == 1):
                return above
    return {}


def _same(number: float) -> str:
    """Equal for numbers that are the same to nine digits."""
    return f"{number + 0.0:.9g}"


def _kind(about: Mapping[str, Any]) -> tuple[str, str, str]:
    """What a legend tells apart."""
    return about["color"], about.get("marker", ""), about.get("style", "")


def _words_of_legends(figure: Figure, axis: Axes) -> dict[Any, str]:
    """What legends say of a label, or of a colour with a marker and a line style; the panel's own legend counts most."""
    words: dict[Any, str] = {}
    others = [legend for other in figure.axes for legend in other.findobj(Legend)]
    for legend in [*others, *figure.legends, *axis.findobj(Legend)]:
        title = legend.get_title().get_text()
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            label = text.get_text()
            told = f"{title}{' ' if title.endswith(('=', '=$')) else ': '}{label}" if title else label
            if legend.axes in (None, axis):
                words[label] = told
            if isinstance(handle, Line2D):
                drawn = str(handle.get_marker()), str(handle.get_linestyle())
                marker, style = ("" if one == "None" else one for one in drawn)
                color = _color(handle.get_color())
                words |= {(color, label): told, (color, marker, style): told}
                # Points on a line in a legend may stand for points alone.
                words |= {(color, marker, ""): told} if marker else {}
    return words


def _text(axis: Axes, text: Text) -> dict[str, Any]:
    """A text and its place in the data, or in parts of an axis where `across` names it."""
    place, across, moved = text.get_position(), "", (0.0, 0.0)
    if isinstance(text, Annotation):
        given: Any = text.xycoords
        coordinates = (given, given) if isinstance(given, str) else given
        across = "".join(name for name, where in zip("xy", coordinates, strict=True) if where != "data")
        if text.anncoords == "offset points":
            place, moved = text.xy, text.get_position()
    else:
        inside = text.get_transform().contains_branch_seperately(axis.transData)
        across = "".join(name for name, data in zip("xy", inside, strict=True) if not data)
    return {
        "text": text.get_text(),
        "place": _numbers(place),
        "across": across,
        "moved": _numbers(moved),
        "align": [text.get_horizontalalignment(), text.get_verticalalignment()],
        "rotation": round(text.get_rotation()),
        "size": text.get_fontsize(),
        "color": _color(text.get_color()),
    }


def _written(mark: _Mark, words: Mapping[Any, str]) -> dict[str, Any]:
    """The description of a mark with its points: gaps are shortened, and numbers that the rows have are left out."""
    written = {key: value for key, value in mark.about.items() if key != "label"}
    own = mark.about.get("label", "_")
    if own.startswith("_"):
        label = words.get(_kind(mark.about)) if mark.rows else None
    else:
        label = words.get(own) or words.get((mark.about.get("color"), own), own)
    written |= {"label": label} if label else {}
    kept: list[int] = []
    for point in range(len(mark.x)) if mark.about["kind"] == "map" else mark.points:
        if kept and point > kept[-1] + 1:
            kept.append(kept[-1] + 1)
        kept.append(point)
    if mark.rows:
        written["rows"] = [mark.rows.get(point) for point in kept]
    if mark.moved or any(point not in mark.rows for point in mark.points):
        told = {"x": mark.x, "y": mark.y}
        if mark.errors is not None and not mark.rows:
            told["y_err"] = mark.errors
        for name, values in told.items():
            written[name] = [_numbers([number])[0] if np.isfinite(number) else None for number in values[kept]]
    return written


def _color(color: Any, alpha: float | None = None) -> str:
    """As #rrggbb, or #rrggbbaa where it lets something through."""
    rgba = to_rgba(color, alpha)
    return to_hex(rgba, keep_alpha=rgba[3] < 1.0)


def _numbers(values: Iterable[float]) -> list[float]:
    """Six digits, which are more than can be seen."""
    return [float(f"{value:.6g}") for value in values]
