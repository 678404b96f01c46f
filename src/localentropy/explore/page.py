"""The page of an explorer, in Bokeh: the last values that were set are solved; older ones are given up."""

from __future__ import annotations

import asyncio
import html
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from bokeh.document import Document, without_document_lock
from bokeh.layouts import column, row
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, Div, HoverTool, PreText, Range1d, Select
from bokeh.models import Slider as SliderWidget
from bokeh.plotting import figure

from localentropy.errors import LocalEntropyError
from localentropy.explore.explorer import Call, Choice, Curve, Explorer, Panel, Slider, python
from localentropy.plots.drawing import GREY

if TYPE_CHECKING:
    from bokeh.models import GlyphRenderer

FAINT = 0.4
"""Opacity of lines that are not complete, or not those of the controls' values."""

_SOLVER = ThreadPoolExecutor(max_workers=1)
"""One solve at a time, of all pages, beside the thread that answers the browser."""


class Page:
    """Controls, panels, a message, and the Python that makes the curves.

    Args:
        document: where the page is put.
        title: of the page.
        explorer: what it shows.
        shipped: rows of the committed CSV of the figure.
    """

    def __init__(self, document: Document, title: str, explorer: Explorer, shipped: pd.DataFrame) -> None:
        self._document, self._explorer = document, explorer
        self._widgets = {control.name: _widget(control) for control in explorer.controls}
        self._message = Div(name="message")
        self._python = PreText(name="python")
        start = explorer.curves(**self._values())
        self._sources = [ColumnDataSource({"x": [], "y": [], "solid": [], "dashed": []}) for _ in start]
        self._lines: list[tuple[GlyphRenderer, str]] = []
        panels = [_axes(panel, shipped) for panel in explorer.panels]
        for curve, source in zip(start, self._sources, strict=True):
            source.name = f"{curve.name}, panel {curve.panel}"
            self._lines += [(line, curve.color) for line in _lines(panels[curve.panel], curve, source)]
        for each in panels:
            each.legend.click_policy = "hide"
            each.legend.orientation = "horizontal"
            each.add_layout(each.legend[0], "below")
        for widget in self._widgets.values():
            widget.on_change("value", self._changed)
        controls = column(*self._widgets.values(), self._message, width=320)
        document.title = title
        document.add_root(column(Div(text=f"<b>{html.escape(title)}</b>"), row(controls, *panels), self._python))
        self._wanted: dict[str, Any] | None = None
        self._busy = False
        self._change: Callable[[], None]
        self._changed("value", None, None)

    def _values(self) -> dict[str, Any]:
        return {control.name: _read(control, self._widgets[control.name].value) for control in self._explorer.controls}

    def _changed(self, attribute: str, old: object, new: object) -> None:
        self._wanted = self._values()
        if not self._busy:
            self._busy = True
            self._document.add_next_tick_callback(self._work)

    @without_document_lock
    async def _work(self) -> None:
        """Solve until nothing newer is wanted."""
        try:
            while self._wanted is not None:
                values, self._wanted = self._wanted, None
                try:
                    await self._solve(values)
                except LocalEntropyError as error:
                    self._later(partial(self._refuse, str(error)))
        finally:
            self._busy = False

    async def _solve(self, values: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        curves = await loop.run_in_executor(_SOLVER, partial(self._explorer.curves, **values))
        calls = list(dict.fromkeys(curve.call for curve in curves))
        solved: dict[Call, list[pd.DataFrame]] = {each: [] for each in calls}
        steps = [(each, piece) for piece in range(max(each.pieces for each in calls)) for each in calls]
        for each, piece in steps:
            if piece < each.pieces:
                solved[each].append(await loop.run_in_executor(_SOLVER, each.solve, piece))
                if self._wanted is not None:
                    return
                if all(solved.values()):
                    tables = {known: pd.concat(parts[::-1]) for known, parts in solved.items()}
                    complete = sum(map(len, solved.values())) == sum(known.pieces for known in calls)
                    self._later(partial(self._draw, curves, tables, complete))

    def _later(self, change: Callable[[], None]) -> None:
        """Change the page when its document is free. Of several changes only the last one is made."""
        self._change = change
        self._document.add_next_tick_callback(self._apply)

    def _apply(self) -> None:
        self._change()

    def _draw(self, curves: Sequence[Curve], tables: dict[Call, pd.DataFrame], complete: bool) -> None:
        ends = [end for end in map(_unsolved, tables.values()) if end]
        if "any distance" in ends:
            if complete:
                self._refuse("no solution was found at any distance")
            return
        for curve, source in zip(curves, self._sources, strict=True):
            source.data = _columns(curve, tables[curve.call])
        for line, color in self._lines:
            line.glyph.update(line_color=color, line_alpha=1.0 if complete else FAINT)
        self._message.text = (
            html.escape(f"no solution was found at {', '.join(ends)}" if ends else "") if complete else "solving …"
        )
        self._python.text = python([curve.call for curve in curves])

    def _refuse(self, message: str) -> None:
        """Say why there is no curve. The last one stays, in grey."""
        for line, _ in self._lines:
            line.glyph.update(line_color=GREY, line_alpha=FAINT)
        self._message.text = f'<span style="color: #b00020">{html.escape(message)}</span>'
        self._python.text = ""


def _unsolved(table: pd.DataFrame) -> str:
    """Where a Franz–Parisi curve has no solution, in words; empty if it has them everywhere."""
    missing = table["entropy"].isna() if "entropy" in table else pd.Series(False, table.index)
    if missing.all():
        return "any distance"
    return f"d ≤ {table.loc[missing, 'distance'].max():.3g}: there the curve ends" if missing.any() else ""


def _columns(curve: Curve, rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """The points of a curve; of a signed one also those of each sign, which share the points between them."""
    x, y = rows["x"].to_numpy(float), curve.values(rows)
    solid = np.where(y >= 0.0, y, np.nan) if curve.signed else y
    negative = np.pad(y < 0.0, 1)
    near = negative[1:-1] | negative[2:] | negative[:-2]
    return {"x": x, "y": y, "solid": solid, "dashed": np.where(near & curve.signed, y, np.nan)}


def _lines(axes: Any, curve: Curve, source: ColumnDataSource) -> list[GlyphRenderer]:
    look = {"source": source, "line_color": curve.color, "line_width": 2, "name": curve.name}
    lines = [axes.line("x", "solid", line_dash=curve.dash, legend_label=curve.name, **look)]
    return [*lines, axes.line("x", "dashed", line_dash="dashed", **look)] if curve.signed else lines


def _axes(panel: Panel, shipped: pd.DataFrame) -> Any:
    """Empty axes, and behind them the lines of the committed figure."""
    axes = figure(
        width=520,
        height=420,
        x_axis_label=panel.x,
        y_axis_label=panel.y,
        x_axis_type="log" if panel.x_log else "linear",
        y_axis_type="log" if panel.y_log else "linear",
        tools="pan,wheel_zoom,box_zoom,save,reset",
    )
    axes.toolbar.logo = None
    if panel.x_range:
        axes.x_range = Range1d(*panel.x_range)
    if panel.y_range:
        axes.y_range = Range1d(*panel.y_range)
    if panel.shipped:
        letters, pattern = panel.shipped
        rows = shipped[(shipped["panel"] == letters) & shipped["series"].str.fullmatch(pattern)]
        # A series may hold several curves: each begins where x goes back.
        begins = (rows["series"] != rows["series"].shift()) | (rows["x"].diff() <= 0.0)
        for _, line in rows.groupby(begins.cumsum()):
            look = {"line_color": GREY, "line_alpha": FAINT, "line_width": 1.5, "level": "underlay"}
            axes.line(line["x"], line["y"], legend_label="figure of the gallery", **look)
    hover = HoverTool(
        tooltips=[("", "$name"), ("x", "@x{%.6g}"), ("y", "@y{%.6g}")], formatters={"@x": "printf", "@y": "printf"}
    )
    axes.add_tools(hover)
    return axes


def _widget(control: Slider | Choice) -> Any:
    if isinstance(control, Choice):
        return Select(name=control.name, title=control.symbol, value=control.start, options=list(control.options))
    common = {"name": control.name, "title": control.symbol}
    if control.step is not None:
        ends = {"start": control.low, "end": control.high, "step": control.step}
        return SliderWidget(value=control.start, format="0.[0000]", **ends, **common)
    low, start, high = map(math.log10, (control.low, control.start, control.high))
    power = CustomJSTickFormatter(code="return String(Number(Math.pow(10, tick).toPrecision(3)))")
    return SliderWidget(value=start, start=low, end=high, step=0.02, format=power, **common)


def _read(control: Slider | Choice, value: Any) -> Any:
    """The value of a control, of as many digits as the page shows."""
    if isinstance(control, Choice):
        return value
    return float(f"{10.0**value:.3g}") if control.step is None else float(f"{value:.10g}")
