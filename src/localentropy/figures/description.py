"""The look of a figure: its axes, and how each row of its CSV is drawn. An interactive chart is made from both.

Which rows a mark draws (a line, a set of points, …) was declared when it was drawn (`series.py`). The rest is what
Matplotlib says of the finished figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import LogNorm, to_hex, to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.contour import ContourSet
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle, StepPatch
from matplotlib.text import Annotation, Text
from matplotlib.ticker import FixedLocator

from localentropy.figures.series import NO_ROW

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from localentropy.figures.series import Panel, Picture, Rows


@dataclass
class _Mark:
    """Something that is drawn: what it looks like, and its points; NaN is a gap.

    A coordinate that counts in parts of the axis, from 0 to 1, is not among the points.
    """

    artist: Artist
    about: dict[str, Any]
    x: np.ndarray
    y: np.ndarray
    errors: np.ndarray | None = None

    @property
    def points(self) -> list[int]:
        """The numbers of its points that are no gaps."""
        known = np.isfinite([self.x, self.y])
        return np.flatnonzero(known.any(axis=0) if "across" in self.about else known.all(axis=0)).tolist()


def look(figure: Picture) -> dict[str, Any]:
    """What a chart must know to look like a figure, besides the figure's numbers.

    Args:
        figure: it was saved before, so that everything has its place.

    Returns:
        `size` (width and height in inches), and `panels`. Of each panel: `panel` (its letter), `place` (left, bottom,
        width, height, as parts of the figure), `title`, the axes `x` and `y`, `texts` and `marks`. The `rows` of a
        mark are the numbers of the rows that it draws, counted from 0; null where a point is in no row, and in gaps. It
        has `x` and `y` too if the points are not just where the rows say, and `y_err` if there are no rows.
    """
    places = figure.data[["x", "y"]].to_numpy(dtype=float)
    panels = [_panel(panel, name, places) for name, panel in figure.named_panels()]
    return {"size": _numbers(figure.get_size_inches()), "panels": panels}


def _panel(axis: Panel, name: str, places: np.ndarray) -> dict[str, Any]:
    """Of one panel; `places` are x and y of all rows, [rows, 2]."""
    marks = [mark for mark in _marks(axis) if mark.points]
    words = _words_of_legends(axis)
    return {
        "panel": name,
        "place": _numbers(axis.get_position().bounds),
        "title": axis.get_title() or axis.get_title(loc="right"),
        "x": _scale(axis.xaxis),
        "y": _scale(axis.yaxis),
        "texts": [_text(axis, text) for text in axis.texts if text.get_text()],
        "marks": [
            _written(mark, axis.rows.get(mark.artist), places, words)
            for mark in sorted(marks, key=lambda mark: mark.artist.zorder)
        ],
    }


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
            yield _Mark(artist, about, 0.5 * (edges[1:] + edges[:-1]), np.asarray(values))
        elif isinstance(artist, ContourSet):
            about = {"kind": "line", "style": "-", "width": float(np.atleast_1d(artist.get_linewidth())[0])}
            for color, path in zip(artist.get_edgecolor(), artist.get_paths(), strict=True):
                for part in path.to_polygons(closed_only=False):
                    yield _Mark(artist, about | {"color": _color(color)}, *np.asarray(part).T)
        elif isinstance(artist, PolyCollection):
            about = {"kind": "area", "color": _color(artist.get_facecolor()[0])}
            for path in artist.get_paths():
                yield _Mark(artist, about, *np.asarray(path.vertices).T)
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
    return _Mark(artist, about, *np.where(in_data, points, np.nan).T)


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
    return _Mark(mesh, about, x.ravel(), np.asarray(mesh.get_array()).ravel())


def _kind(about: Mapping[str, Any]) -> tuple[str, str, str]:
    """What a legend tells apart."""
    return about["color"], about.get("marker", ""), about.get("style", "")


def _words_of_legends(axis: Panel) -> dict[Any, str]:
    """What legends say of a label, or of a colour with a marker and a line style; the panel's own legend counts most."""
    words: dict[Any, str] = {}
    figure = axis.picture
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


def _written(mark: _Mark, rows: Rows | None, places: np.ndarray, words: Mapping[Any, str]) -> dict[str, Any]:
    """The description of a mark with its points: gaps are shortened, and numbers that the rows have are left out."""
    written = {key: value for key, value in mark.about.items() if key != "label"}
    ties = None if rows is None else np.where(np.isin(np.arange(len(rows)), mark.points), rows, NO_ROW)
    if ties is not None and (ties == NO_ROW).all():
        ties = None
    own = mark.about.get("label", "_")
    if own.startswith("_"):
        label = None if ties is None else words.get(_kind(mark.about))
    else:
        label = words.get(own) or words.get((mark.about.get("color"), own), own)
    written |= {"label": label} if label else {}
    kept: list[int] = []
    for point in range(len(mark.x)) if mark.about["kind"] == "map" else mark.points:
        if kept and point > kept[-1] + 1:
            kept.append(kept[-1] + 1)
        kept.append(point)
    told = {"x": mark.x, "y": mark.y}
    if ties is not None:
        written["rows"] = [None if row == NO_ROW else row for row in ties[kept].tolist()]
        here, own_places = np.transpose([mark.x, mark.y])[mark.points], places[ties[mark.points]]
        same = np.isclose(here, own_places, 1e-9, 0.0) | np.isnan(here)
        if same.all() and (ties[mark.points] != NO_ROW).all():
            told = {}
    elif mark.errors is not None:
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
