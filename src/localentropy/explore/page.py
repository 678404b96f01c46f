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
from bokeh.events import ClientReconnected, ConnectionLost
from bokeh.layouts import column, row
from bokeh.models import (
    ColumnDataSource,
    CustomJSTickFormatter,
    Div,
    FixedTicker,
    HoverTool,
    PreText,
    Range1d,
    Select,
)
from bokeh.models import Slider as SliderWidget
from bokeh.plotting import figure

from localentropy.errors import LocalEntropyError
from localentropy.explore.explorer import Axes, Call, Choice, Curve, Explorer, Slider, python
from localentropy.figures.drawing import GREY, NO_CORNER
from localentropy.figures.interactive import symlog

if TYPE_CHECKING:
    from bokeh.models import GlyphRenderer

CONTROLS: dict[str, int] = {"min_width": 260, "max_width": 320}
"""Width of the column of controls, in pixels."""
MOST_NAMES, ROW, GAP = 8, 20, 8
"""So many grey lines have a name of their own in the legend. Two of them stand in a row of so many pixels, with a gap
of so many between them."""
FAINT = 0.4
"""Opacity of lines that are not complete, or not those of the controls' values."""

_SOLVER = ThreadPoolExecutor(max_workers=1)
"""The thread that solves for all pages, one piece at a time. Another thread answers the browser."""


class Page:
    """Controls, panels, a message, and the Python that draws the curves.

    Args:
        document: where the page is put.
        title: of the page.
        explorer: what it shows.
        shipped: rows of the committed CSV of the figure, and `name`, what its legend calls them.
    """

    def __init__(self, document: Document, title: str, explorer: Explorer, shipped: pd.DataFrame) -> None:
        self._document, self._explorer = document, explorer
        self._widgets = {control.name: _widget(control) for control in explorer.controls}
        self._message = Div(name="message")
        self._python = PreText(name="python", sizing_mode="stretch_width", styles={"overflow-x": "auto"})
        start = explorer.curves(**self._values())
        self._sources = [ColumnDataSource({"x": [], "y": [], "solid": [], "dashed": []}) for _ in start]
        self._lines: list[tuple[GlyphRenderer, str]] = []
        panels = [_axes(panel, shipped) for panel in explorer.panels]
        for curve, source in zip(start, self._sources, strict=True):
            source.name = f"{curve.name}, panel {curve.panel}"
            self._lines += [(line, curve.color) for line in _lines(panels[curve.panel], curve, source)]
        for each in panels:
            each.legend.update(click_policy="hide", label_text_font_size="9pt", padding=4, ncols=2)
            each.legend.update(spacing=GAP, label_height=ROW - GAP, glyph_height=ROW - GAP)
            each.add_layout(each.legend[0], "below")
        for widget in self._widgets.values():
            widget.on_change("value", self._changed)
        controls = column(*self._widgets.values(), self._message, sizing_mode="stretch_width", **CONTROLS)
        document.title = title
        # On a narrow screen the panels stand below each other.
        parts = row(controls, *panels, sizing_mode="stretch_width", styles={"flex-wrap": "wrap"})
        name = Div(text=f"<b>{html.escape(title)}</b>", sizing_mode="stretch_width")
        document.add_root(column(name, parts, self._python, sizing_mode="stretch_width"))
        self._wanted: dict[str, Any] | None = None
        self._busy = False
        self._work_task: asyncio.Task[Any] | None = None
        document.on_event(ConnectionLost, self._give_up)
        document.on_event(ClientReconnected, self._resume)
        document.on_session_destroyed(self._give_up)
        self._change: Callable[[], None]
        self._changed("value", None, None)

    def _values(self) -> dict[str, Any]:
        return {control.name: _read(control, self._widgets[control.name].value) for control in self._explorer.controls}

    def _changed(self, attribute: str, old: object, new: object) -> None:
        self._wanted = self._values()
        if not self._busy:
            self._busy = True
            self._document.add_next_tick_callback(self._work)

    def _give_up(self, closed: object) -> None:
        """End the work of a page that nobody looks at. A piece that is being solved is the last one."""
        self._wanted = None
        if self._work_task is not None:
            self._work_task.cancel()

    def _resume(self, event: object) -> None:
        """Solve again for a page whose connection was lost for a while."""
        self._changed("value", None, None)

    @without_document_lock
    async def _work(self) -> None:
        """Solve until nothing newer is wanted."""
        self._work_task = asyncio.current_task()
        try:
            while self._wanted is not None:
                values, self._wanted = self._wanted, None
                try:
                    await self._solve(values)
                except LocalEntropyError as error:
                    self._later(partial(self._refuse, str(error)))
                except Exception as error:
                    self._later(partial(self._refuse, repr(error)))
                    raise
        finally:
            self._busy, self._work_task = False, None

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
        try:
            self._change()
        except Exception as error:
            self._refuse(repr(error))
            raise

    def _draw(self, curves: Sequence[Curve], tables: dict[Call, pd.DataFrame], complete: bool) -> None:
        ends = [end for end in map(_unsolved, tables.values()) if end]
        if "any distance" in ends:
            if complete:
                self._refuse("no solution was found at any distance")
            return
        for curve, source in zip(curves, self._sources, strict=True):
            source.data = _columns(curve, tables[curve.call], self._explorer.panels[curve.panel])
        for line, color in self._lines:
            line.glyph.update(line_color=color, line_alpha=1.0 if complete else FAINT)
        self._message.text = (
            html.escape(f"no solution was found at {', '.join(ends)}" if ends else "") if complete else "solving …"
        )
        self._python.text = python(self._explorer, curves)

    def _refuse(self, message: str) -> None:
        """Say why there is no curve. That of the last values is not of these, and goes."""
        for source in self._sources:
            source.data = {name: [] for name in source.data}
        self._message.text = f'<span style="color: #b00020">{html.escape(message)}</span>'
        self._python.text = ""


def _unsolved(table: pd.DataFrame) -> str:
    """The distances at which a Franz–Parisi curve has no solution, in words; empty if there are none."""
    missing = table["entropy"].isna() if "entropy" in table else pd.Series(False, table.index)
    if missing.all():
        return "any distance"
    return f"d ≤ {table.loc[missing, 'distance'].max():.3g}: there the curve ends" if missing.any() else ""


def _columns(curve: Curve, rows: pd.DataFrame, panel: Axes) -> dict[str, np.ndarray]:
    """The points of a curve, and the places on the axis of y of its two lines."""
    x, y = rows["x"].to_numpy(float), curve.values(rows)
    if curve.across:
        return {"x": y, "y": x, "solid": _placed(panel, x), "dashed": np.full(len(x), np.nan)}
    solid, dashed = curve.parts(rows)
    return {"x": x, "y": y, "solid": _placed(panel, solid), "dashed": _placed(panel, dashed)}


def _placed(panel: Axes, y: Any) -> np.ndarray:
    """Where values are on the axis of y: Bokeh has none that is linear around 0 and logarithmic beyond."""
    return symlog(y, panel.y_linear, NO_CORNER) if panel.y_linear else np.asarray(y, float)


def _lines(axes: Any, curve: Curve, source: ColumnDataSource) -> list[GlyphRenderer]:
    look = {"source": source, "line_color": curve.color, "line_width": 2, "name": curve.name}
    lines = [axes.line("x", "solid", line_dash=curve.dash, legend_label=curve.name, **look)]
    return [*lines, axes.line("x", "dashed", line_dash="dashed", **look)] if curve.signed else lines


def _axes(panel: Axes, shipped: pd.DataFrame) -> Any:
    """Empty axes, and behind them the lines of the committed figure."""
    axes = figure(
        height=420,
        sizing_mode="stretch_width",
        min_width=300,
        max_width=520,
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
        axes.y_range = Range1d(*_placed(panel, panel.y_range))
    if panel.y_linear:
        decades = panel.y_linear * 10.0 ** np.arange(8)
        axes.yaxis.ticker = FixedTicker(ticks=_placed(panel, [*-decades[::-1], 0.0, *decades]).tolist())
        unit = float(_placed(panel, panel.y_linear))
        axes.yaxis.formatter = CustomJSTickFormatter(
            args={"linear": panel.y_linear, "unit": unit},
            code="""
                const size = Math.abs(tick)
                const value = linear * (size < unit ? size / unit : Math.pow(10, size - unit))
                return String(Number((Math.sign(tick) * value).toPrecision(3)))
            """,
        )
    if panel.shipped:
        letters, pattern = panel.shipped
        rows = shipped[(shipped["panel"] == letters) & shipped["series"].str.fullmatch(pattern)]
        names = rows["name"].unique()
        axes.height += ROW * min(len(names), MOST_NAMES) // 2
        # A series may hold several curves: each begins where x goes back.
        begins = (rows["series"] != rows["series"].shift()) | (rows["x"].diff() <= 0.0)
        for _, line in rows.groupby(begins.cumsum()):
            name = f"figure: {line['name'].iloc[0]}" if len(names) <= MOST_NAMES else "figure of the gallery"
            look = {"line_color": GREY, "line_alpha": FAINT, "line_width": 1.5, "level": "underlay", "name": name}
            points = line[["x", "y"]].assign(place=_placed(panel, line["y"]))
            axes.line("x", "place", source=ColumnDataSource(points), legend_label=name, **look)
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
