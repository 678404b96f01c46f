"""Interactive charts for plotly.js: the look of a figure, and its numbers on every point.

A chart is made from two files of a figure, its CSV and its look (`description.py`). It has the panels at the places of the
picture, the same axes, colours and marks. A point says all that its row of the CSV has.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from localentropy.figures.drawing import GREY
from localentropy.figures.mathtext import html_of
from localentropy.figures.series import SHARED
from localentropy.quantities import ALPHA, ALPHA_T, BETA, GAMMA, INV_ALPHA, NOISE

PIXELS = 110.0
"""Of an inch of the picture."""
POINT = PIXELS / 72.0
"""Pixels of a typographic point."""
LINE, PER_LINE = 22.0, 4
"""Pixels of a line of the legend, and its entries, about."""
ALONG = 9
"""Points of a line across a panel."""
LOW = 0.1
"""Length of an inset's axis, as a part of the picture's, on which there is room for two numbers only."""

DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
MARKERS = {
    "o": "circle",
    ".": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    "D": "diamond",
    "P": "cross",
    "X": "x",
    "x": "x-thin-open",
    "_": "line-ew-open",
    "p": "pentagon",
    "*": "star",
    "h": "hexagon",
}
NAMES = {
    **{each.name: each.symbol for each in (INV_ALPHA, ALPHA, ALPHA_T, GAMMA, BETA, NOISE)},
    "margin": "margin κ",
    "margin_ref": "margin of the reference κ̃",
    "margin_effective": "effective margin",
    "n": "samples n",
    "z": "z, (y − theory)/error",
    "chi_squared": "χ²",
    "x_err": "error of x",
}
"""Columns of the CSV in readers' words; of others, underscores between words become spaces."""
WORDS = {
    "ridgeless": "λ → 0",
    "optimal": "best λ",
    "gaussian": "Gaussian",
    "nonlinear": "erf",
    "relu": "ReLU",
    "focusing_bp": "focusing BP",
    "sbpi": "SBPI",
    "mct0": "MCT0",
}
"""Words of the names of series that are keys of the configuration, in readers' words."""
WORD = re.compile(rf"\b({'|'.join(WORDS)})\b")
KEY = re.compile(r"(?<=[a-z0-9])_(?=[a-z0-9])", re.ASCII)
"""Between the words of a key, and not in a symbol such as α_U."""
SUBSCRIPT = re.compile(r"(?<=[α-ω])('?)_([^\W_]+)")
"""That of such a symbol."""
EXPONENT = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e\+?(-?)0*(\d+)\b")
"""A number that Python writes with a power of ten."""
TITLE = re.compile(r"([^$]*: )?[^:]*\$(?::|(?<==\$)) (?!.*(?:\d|\\infty))")
"""The title of a legend, a quantity, in front of an entry without a number; before it there may be the panels."""


def chart(data: pd.DataFrame, look: Mapping[str, Any]) -> dict[str, Any]:
    """The chart of a figure.

    Args:
        data: the rows of its CSV.
        look: the content of its `.look.json`.

    Returns:
        `data` (traces) and `layout` for `Plotly.newPlot`. `customdata` of a point is the number of its row, counted
        from 0, or null: at gaps, where the row has its point in another trace of the panel, and where there is no row.
    """
    layout: dict[str, Any] = {"annotations": [], "shapes": []}
    traces: list[dict[str, Any]] = []
    lettered = sum("inset" not in panel["panel"] for panel in look["panels"]) > 1
    for number, panel in enumerate(look["panels"], 1):
        axes = _Axes(number, panel, {name: _title(name, panel, look["panels"]) for name in "xy"})
        layout |= {f"{name}axis{number}": axes.layout(name) for name in "xy"}
        layout["annotations"] += _annotations(axes, lettered)
        told: set[int] = set()
        for mark, name in zip(panel["marks"], _names(data, panel, look["panels"]), strict=True):
            if "across" in mark and not mark.get("rows"):
                layout["shapes"].append(_guide(axes, mark))
            elif mark["kind"] == "map":
                traces.append(_map(axes, mark, data))
            else:
                traces.append(_trace(axes, mark, data, name, told))
        layout["annotations"] += _unseen(axes, data, told)
    lines = _legend(traces)
    layout |= {
        "height": round(PIXELS * look["size"][1] + LINE * lines),
        "margin": {"l": 6, "r": 0, "t": 0, "b": round(LINE * lines)},
        "legend": {"orientation": "h", "x": 0, "y": -0.01, "yanchor": "top", "font": {"size": 12}},
        "hovermode": "closest",
        "hoverlabel": {"align": "left", "bgcolor": "white", "font": {"size": 12, "color": "black"}},
        "plot_bgcolor": "white",
        "paper_bgcolor": "white",
        "font": {"color": "black", "size": 11},
    }
    return {"data": traces, "layout": layout}


def with_names(data: pd.DataFrame, look: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of a figure with the column `name`: what its legend calls the line or the points that draw them.

    Args:
        data: the rows of the figure's CSV.
        look: the content of its `.look.json`.

    Returns:
        The rows. A name is plain text, such as `κ̃ = κ_max = 0.234`. Rows at gaps of a line have its name, and those of
        series that nothing draws have none.
    """
    names: dict[int, str] = {}
    for panel in look["panels"]:
        for mark, name in zip(panel["marks"], _names(data, panel, look["panels"]), strict=True):
            names |= dict.fromkeys(set(_rows(mark)) - set(names), _plain(name))
    named = data.assign(name=data.index.map(names).astype(object))
    series = named.groupby(["panel", "series"], sort=False)["name"]
    return named.assign(name=series.transform(lambda own: own.ffill().bfill()))


def _plain(text: str) -> str:
    """The text of HTML; of a subscript `_` is left, and `^` of a power."""
    return html.unescape(re.sub(r"<[^>]+>", "", text.replace("<sub>", "_").replace("<sup>", "^")))


def symlog(values: npt.ArrayLike, linear: float, linear_length: float) -> np.ndarray:
    """The coordinate of an axis that is linear up to a value, on both sides of 0, and logarithmic beyond, in decades.

    Args:
        values: any shape.
        linear: where the logarithmic part begins.
        linear_length: 0.9 times the length of the linear part on either side, in decades (Matplotlib's `linscale`).
    """
    values = np.asarray(values, dtype=float)
    length, size = linear_length / 0.9, np.abs(values) / linear
    return np.sign(values) * np.where(size <= 1.0, length * size, length + np.log10(np.maximum(size, 1.0)))


@dataclass(frozen=True)
class _Axes:
    """A panel's axes in the chart: their number, what the look says of the panel, and their titles."""

    number: int
    panel: Mapping[str, Any]
    titles: Mapping[str, str]

    def place(self, name: str, values: npt.ArrayLike) -> np.ndarray:
        """Numbers as the chart draws them on the axis x or y."""
        scale = self.panel[name]
        if scale["scale"] == "symlog":
            return symlog(values, scale["linear"], scale["linear_length"])
        return np.asarray(values, dtype=float)

    def along(self, name: str, values: npt.ArrayLike) -> np.ndarray:
        """Places in the units in which Plotly has ranges and annotations: those of logarithmic axes are exponents."""
        places = self.place(name, values)
        return np.log10(places) if self.panel[name]["scale"] == "log" else places

    def layout(self, name: str) -> dict[str, Any]:
        """Of the axis x or y, as in the picture."""
        scale, (left, bottom, width, height) = self.panel[name], self.panel["place"]
        start, length = (left, width) if name == "x" else (bottom, height)
        low, high = self.along(name, scale["limits"])
        axis: dict[str, Any] = {
            "domain": [start, min(start + length, 1.0)],
            "anchor": f"{'y' if name == 'x' else 'x'}{self.number}",
            "range": [low, high],
            "title": {"text": html_of(scale["label"]), "standoff": 5 if name == "x" else 3, "font": {"size": 13}},
            "type": "log" if scale["scale"] == "log" else "linear",
            "exponentformat": "power",
            "nticks": 6,
            "tickangle": 0,
            "showline": True,
            "linecolor": "black",
            "ticks": "outside",
            "ticklen": 4,
            "ticklabelstandoff": 2 if name == "x" else 0,
            "showgrid": False,
            "zeroline": False,
        }
        if "inset" in self.panel["panel"]:
            axis |= {"tickfont": {"size": 9}, "nticks": 4 if length > LOW else 2}
            axis["title"]["font"] = {"size": 10}
        if "ticks" in scale:
            ticks = [tick for tick, _ in scale["ticks"]]
            axis |= {"tickvals": _listed(self.place(name, ticks))}
            axis["ticktext"] = [html_of(label) for _, label in scale["ticks"]]
        elif scale["scale"] == "log" and abs(high - low) > 0.6:
            # Powers of ten, or 1, 2, 5 of each.
            axis["dtick"] = 1 if abs(high - low) > 2.0 else "D2"
        return axis


def _title(name: str, panel: Mapping[str, Any], panels: Sequence[Mapping[str, Any]]) -> str:
    """What an axis shows, for the words at a point. Panels side by side may have one label for all."""
    same = 1 if name == "y" else 0
    beside = [other for other in panels if other["place"][same] == panel["place"][same]]
    labels = [one[name]["label"] for one in (panel, *beside) if one[name]["label"]]
    return html_of(labels[0]) if labels else name


def _names(data: pd.DataFrame, panel: Mapping[str, Any], panels: Sequence[Mapping[str, Any]]) -> list[str]:
    """The name of each mark of a panel: its label, or that of marks of the same series and colour, or the series."""
    labels = {
        _kind(mark, data): _label(mark) for one in panels for mark in one["marks"] if "label" in mark and "rows" in mark
    }
    marks = panel["marks"]
    unnamed = [mark for mark in marks if "rows" in mark and not mark.get("label", labels.get(_kind(mark, data)))]
    names = []
    for mark in marks:
        label = _label(mark) or labels.get(_kind(mark, data))
        if label or "rows" not in mark:
            names.append(html_of(label or ""))
            continue
        series = _kind(mark, data)[0]
        rivals = [other for other in unnamed if _kind(other, data)[0] == series and _look(other) != _look(mark)]
        words = _symbols(_column(series))
        difference = _difference(data, mark, [mark, *rivals], panels)
        parts = [*words.split(", "), *filter(None, [difference])]
        names.append(", ".join(part for at, part in enumerate(parts) if not _is_said(part, parts[at + 1 :])))
    return names


def _is_said(part: str, others: Iterable[str]) -> bool:
    """Whether the words of a part of a name are in others."""
    return any(re.search(rf"\b{re.escape(part)}\b", other) for other in others)


def _label(mark: Mapping[str, Any]) -> str:
    """The label of a mark, empty if it has none. The title of its legend stands before numbers only."""
    return TITLE.sub(r"\1", mark.get("label", ""), count=1)


def _kind(mark: Mapping[str, Any], data: pd.DataFrame) -> tuple[str, str]:
    """The series that a mark draws most of, and its colour."""
    rows = _rows(mark)
    return (data.loc[rows, "series"].mode()[0] if rows else ""), mark.get("color", "")


def _look(mark: Mapping[str, Any]) -> tuple[str, str]:
    """What tells the marks of one series apart. A hollow marker is the same as a filled one."""
    return mark.get("color", ""), mark.get("marker", "")


def _rows(mark: Mapping[str, Any]) -> list[int]:
    return [row for row in mark.get("rows", ()) if row is not None]


def _difference(
    data: pd.DataFrame,
    mark: Mapping[str, Any],
    rivals: Sequence[Mapping[str, Any]],
    panels: Sequence[Mapping[str, Any]],
) -> str:
    """The parameter in which marks of one series differ, with its value; nothing if there is none.

    If all marks of this value that have a label have the same one, this label says it.
    """
    for column in data.columns.difference(SHARED, sort=False):
        values = [set(data.loc[_rows(rival), column]) for rival in rivals]
        if all(len(value) == 1 for value in values) and len(set().union(*values)) > 1:
            value = data.loc[_rows(mark)[0], column]
            labelled = [one for panel in panels for one in panel["marks"] if _rows(one) and "label" in one]
            words = {_label(one) for one in labelled if set(data.loc[_rows(one), column]) == {value}}
            return html_of(words.pop()) if len(words) == 1 else f"{_column(column)} = {_number(value)}"
    return ""


def _trace(axes: _Axes, mark: Mapping[str, Any], data: pd.DataFrame, name: str, told: set[int]) -> dict[str, Any]:
    """A line, points, steps or an area. `told` are the rows that have their point in the panel; its own are added."""
    rows = mark.get("rows", [None] * len(mark.get("x", ())))
    own = data.reindex([-1 if row is None else row for row in rows])
    x, y = (np.array(mark.get(key, own[key]), dtype=float) for key in "xy")
    places = axes.place("x", x), axes.place("y", y)
    if "across" in mark:
        rows = [rows[0]] + [None] * (ALONG - 1)
        places = _along(axes, mark, *places)
    new = [row is not None and row not in told and row not in rows[:at] for at, row in enumerate(rows)]
    told.update(row for row in rows if row is not None)
    shown = iter(data.loc[[row for row, first in zip(rows, new, strict=True) if first]].to_dict("records"))
    words = [_words(axes, next(shown), name) if first else "" for first in new]
    trace: dict[str, Any] = {
        "type": "scatter",
        "name": name,
        "legendgroup": name,
        "showlegend": "label" in mark,
        "xaxis": f"x{axes.number}",
        "yaxis": f"y{axes.number}",
        "x": _listed(places[0]),
        "y": _listed(places[1]),
        "mode": "+".join(["lines"] * ("style" in mark or mark["kind"] == "steps") + ["markers"] * ("marker" in mark)),
        "hoverinfo": "text" if any(new) else "skip",
    }
    color = _color(mark["color"])
    if mark["kind"] == "area":
        return trace | {"mode": "none", "fill": "toself", "fillcolor": color}
    if any(new):
        trace["customdata"] = [row if first else None for row, first in zip(rows, new, strict=True)]
        trace["text"] = words if "across" not in mark else words[:1] * ALONG
    trace["line"] = {"color": color, "width": mark.get("width", 1.0) * POINT}
    trace["line"] |= {"shape": "hvh"} if mark["kind"] == "steps" else {"dash": DASHES[mark.get("style", "-")]}
    if "marker" in mark:
        edge = {"color": color, "width": 1.2}
        symbol, size = MARKERS[mark["marker"]], mark["size"] * POINT
        trace["marker"] = {"symbol": symbol, "size": size, "color": _color(mark["face"]), "line": edge, "opacity": 1}
    for key, values in (("x", x), ("y", y)):
        errors = np.array(mark.get(f"{key}_err", own.get(f"{key}_err", [])), dtype=float)
        if key in mark.get("bars", "") and len(errors):
            trace[f"error_{key}"] = _bars(axes, key, values, errors) | {"color": color}
    return trace


def _along(axes: _Axes, mark: Mapping[str, Any], x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points all along a line across the panel, so that its words are found everywhere on it."""
    across = mark["across"]
    low, high = axes.along(across, axes.panel[across]["limits"])
    places = low + np.linspace(mark["ends"][0], mark["ends"][1], ALONG) * (high - low)
    places = 10.0**places if axes.panel[across]["scale"] == "log" else places
    return (places, np.full(ALONG, y[0])) if across == "x" else (np.full(ALONG, x[0]), places)


def _bars(axes: _Axes, name: str, values: np.ndarray, errors: np.ndarray) -> dict[str, Any]:
    """Error bars up and down, in the coordinate of the axis; on a logarithmic one they end above zero."""
    errors = np.nan_to_num(errors)
    down = np.minimum(errors, 0.999 * values) if axes.panel[name]["scale"] == "log" else errors
    here, above, below = (axes.place(name, end) for end in (values, values + errors, values - down))
    bars = {"array": _listed(above - here), "arrayminus": _listed(here - below), "symmetric": False}
    return bars | {"thickness": 1, "width": 2}


def _map(axes: _Axes, mark: Mapping[str, Any], data: pd.DataFrame) -> dict[str, Any]:
    """A map of colours: `z` is the numbers of its rows, or their logarithms to base ten if the colours are so."""
    levels, rows = mark["levels"], mark["rows"]
    grid = [rows[at : at + len(rows) // len(levels)] for at in range(0, len(rows), len(rows) // len(levels))]
    own = data.reindex([-1 if row is None else row for row in rows])
    logarithmic = mark["scale"] == "log"
    scaled = np.log10 if logarithmic else np.asarray
    shown = [digit * 10.0**power for power in range(-6, 7) for digit in (1, 2, 5)]
    ticks = [tick for tick in shown if mark["limits"][0] <= tick <= mark["limits"][1]]
    left, bottom, width, height = axes.panel["place"]
    label = html_of(mark.get("label", ""))
    bar = {
        "title": {"text": label},
        "x": left + width,
        "y": bottom,
        "yanchor": "bottom",
        "len": height,
        "thickness": 10,
    }
    titled = replace(axes, titles={**axes.titles, "y": label})
    return {
        "type": "heatmap",
        "xaxis": f"x{axes.number}",
        "yaxis": f"y{axes.number}",
        "x": _listed(axes.place("x", own["x"].to_numpy()[: len(grid[0])])),
        "y": _listed(axes.place("y", levels)),
        "z": [_listed(line) for line in scaled(own["y"].to_numpy(dtype=float)).reshape(len(levels), -1)],
        "meta": "logarithms" if logarithmic else "numbers",
        "zmin": float(scaled(mark["limits"][0])),
        "zmax": float(scaled(mark["limits"][1])),
        "colorscale": mark["colors"].capitalize(),
        "colorbar": bar | {"tickvals": _listed(scaled(ticks)), "ticktext": [f"{tick:g}" for tick in ticks]},
        "customdata": grid,
        "text": [["" if row is None else _words(titled, data.loc[row], "") for row in line] for line in grid],
        "hoverinfo": "text",
    }


def _guide(axes: _Axes, mark: Mapping[str, Any]) -> dict[str, Any]:
    """A line or band across the panel that is no row of the CSV."""
    other = "y" if mark["across"] == "x" else "x"
    values = axes.place(other, [value for value in mark[other] if value is not None])
    shape = {
        "layer": "below",
        f"{other}ref": f"{other}{axes.number}",
        f"{other}0": float(values.min()),
        f"{other}1": float(values.max()),
        f"{mark['across']}ref": f"{mark['across']}{axes.number} domain",
        f"{mark['across']}0": mark["ends"][0],
        f"{mark['across']}1": mark["ends"][1],
    }
    if mark["kind"] == "area":
        return shape | {"type": "rect", "fillcolor": _color(mark["color"]), "line": {"width": 0}}
    line = {"color": _color(mark["color"]), "width": mark["width"] * POINT, "dash": DASHES[mark["style"]]}
    return shape | {"type": "line", "line": line}


def _annotations(axes: _Axes, lettered: bool) -> Iterator[dict[str, Any]]:
    """The letter and the title of the panel, and the texts in it."""
    panel = axes.panel
    left, bottom, width, height = panel["place"]
    at: dict[str, Any]
    above = {"xref": "paper", "yref": "paper", "y": bottom + height, "yanchor": "bottom", "showarrow": False}
    if lettered and "inset" not in panel["panel"]:
        yield above | {"x": left, "xanchor": "left", "text": f"<b>({panel['panel']})</b>", "font": {"size": 13}}
    if panel["title"]:
        at = {"x": left + width, "xanchor": "right"} if lettered else {"x": left + width / 2}
        size = 10 if "inset" in panel["panel"] else 12
        yield above | at | {"text": html_of(panel["title"]), "font": {"size": size}}
    for text in panel["texts"]:
        at = {}
        for name, value, shift in zip("xy", text["place"], text["moved"], strict=True):
            across = name in text["across"]
            at[f"{name}ref"] = f"{name}{axes.number}" + " domain" * across
            at[name] = value if across else float(axes.along(name, value))
            at[f"{name}shift"] = shift * POINT
        horizontal, vertical = text["align"]
        yield at | {
            "text": html_of(text["text"]),
            "xanchor": horizontal,
            "yanchor": {"top": "top", "bottom": "bottom", "baseline": "bottom"}.get(vertical, "middle"),
            "textangle": -text["rotation"],
            "font": {"size": text["size"] * POINT, "color": _color(text["color"])},
            "showarrow": False,
        }


def _unseen(axes: _Axes, data: pd.DataFrame, rows: Iterable[int]) -> Iterator[dict[str, Any]]:
    """A line in the panel on points that a logarithmic axis cannot show."""
    own = data.loc[sorted(rows)]
    for name in "xy":
        count = int((own[name] <= 0.0).sum()) if axes.panel[name]["scale"] == "log" else 0
        if count:
            yield {
                "xref": f"x{axes.number} domain",
                "yref": f"y{axes.number} domain",
                "x": 0.01,
                "y": 0.99,
                "xanchor": "left",
                "yanchor": "top",
                "align": "left",
                "text": f"not on this axis: {count}<br>with {name} ≤ 0",
                "font": {"size": 9, "color": GREY},
                "showarrow": False,
            }


def _legend(traces: list[dict[str, Any]]) -> int:
    """Show each name once in the legend, best with the mark that has it as its label. Returns the number of lines."""
    shown: dict[str, dict[str, Any]] = {}
    for trace in traces:
        name = trace.get("name", "")
        if name and (trace["showlegend"] or "customdata" in trace):
            known = shown.setdefault(name, trace)
            if trace["showlegend"] and not known["showlegend"]:
                shown[name] = trace
    for trace in traces:
        trace["showlegend"] = trace is shown.get(trace.get("name", ""))
    return math.ceil(len(shown) / PER_LINE)


def _words(axes: _Axes, row: Mapping[Any, Any], name: str) -> str:
    """What a point says: its series, x, y with its error, and the parameters."""
    series = _symbols(str(row["series"]))
    lines = [f"<b>{name}</b>"] * bool(name) + [series] * (series != name)
    if pd.notna(row["x"]):
        lines.append(f"{axes.titles['x']}: {_number(row['x'])}")
    if pd.notna(row["y"]):
        lines.append(f"{axes.titles['y']}: {_measured(row['y'], row['y_err'])}")
    for column, value in row.items():
        if column not in SHARED and pd.notna(value):
            lines.append(f"{_column(column)}: {_number(value)}")
    return "<br>".join(lines)


def _symbols(words: str) -> str:
    """HTML of the name of a series, with powers of ten and subscripts of symbols."""
    return SUBSCRIPT.sub(r"\1<sub>\2</sub>", _powers(html.escape(words, quote=False)))


def _column(name: str) -> str:
    return NAMES.get(name) or KEY.sub(" ", WORD.sub(lambda word: WORDS[word[0]], name))


def _number(value: Any) -> str:
    """Five digits; a text as it is."""
    if isinstance(value, str):
        return html.escape(value, quote=False)
    return _powers(f"{value:.5g}").replace("-", "−").replace("inf", "∞")


def _powers(text: str) -> str:
    """Text in which 1e-05 is written 10<sup>−5</sup>, and 2e-05 is written 2·10<sup>−5</sup>."""
    return EXPONENT.sub(
        lambda number: f"{number[1]}·10<sup>{number[2]}{number[3]}</sup>".replace("-", "−").removeprefix("1·"), text
    )


def _measured(value: float, error: float) -> str:
    """A number to two digits of its error, if it has one."""
    if not error > 0.0:
        return _number(value)
    decimals = 1 - math.floor(math.log10(error))
    if not 0 <= decimals <= 8:
        return f"{_number(value)} ± {_powers(f'{error:.2g}')}"
    return f"{value:.{decimals}f} ± {error:.{decimals}f}".replace("-", "−")


def _color(color: str) -> str:
    """#rrggbb as it is, #rrggbbaa as rgba(…)."""
    if len(color) == 7:
        return color
    red, green, blue, alpha = bytes.fromhex(color[1:])
    return f"rgba({red},{green},{blue},{alpha / 255:.3g})"


def _listed(values: Iterable[float]) -> list[float | None]:
    """Numbers for JSON: what is missing is null, a gap."""
    return [float(value) if np.isfinite(value) else None for value in values]
