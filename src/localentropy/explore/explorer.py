"""What an explorer states: controls, panels, and the calls of the library whose results are its curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from localentropy.figures.drawing import NO_CORNER
from localentropy.programs.franz_parisi import log_and_linear
from localentropy.programs.sweep import NUMBERS

if TYPE_CHECKING:
    import pandas as pd

THEORY = "localentropy.theory"
AT_ONCE = ("distances", "overlaps", "stabilities")
"""Arguments that take all points of a curve. Any other takes one."""
ARRAYS = ("binary_entropy", "local_energy", "stability_density")
"""Functions of these whose results are arrays and no tables."""
DASHES = {"solid": "-", "dashed": "--", "dotted": ":", "dotdash": "-."}
"""Names of line styles → those of Matplotlib."""
TABLES = ("cross_entropy.franz_parisi",)
"""Functions, and no questions, whose results are tables."""
SCALARS = ("committee.state_evolution", "gibbs.equilibrium", "gibbs.spinodal")
"""Functions of one point, and no questions, whose results are numbers."""


@dataclass(frozen=True)
class Slider:
    """A control with a number.

    Attributes:
        name: the argument of `Explorer.curves`.
        symbol: what the page calls it.
        start: where the page begins.
        low: smallest value.
        high: largest value.
        step: from one value to the next; without it the slider is even in the logarithm.
    """

    name: str
    symbol: str
    start: float
    low: float
    high: float
    step: float | None = None


@dataclass(frozen=True)
class Choice:
    """A control with a few words to choose from.

    Attributes:
        name: the argument of `Explorer.curves`.
        symbol: what the page calls it.
        start: where the page begins.
        options: the words.
    """

    name: str
    symbol: str
    start: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Points:
    """The points of a curve. Their spacing is `log`, `linear`, or each of the two for one half of the points."""

    ends: tuple[float, float]
    number: int
    spacing: str = "log"

    def values(self) -> np.ndarray:
        """The points, increasing."""
        if self.spacing == "log":
            return np.geomspace(*self.ends, self.number)
        if self.spacing == "linear":
            return np.linspace(*self.ends, self.number)
        return log_and_linear(self.ends, self.number)

    def __str__(self) -> str:
        ends, half = ", ".join(repr(float(end)) for end in self.ends), self.number // 2
        if self.spacing == "log":
            return f"np.geomspace({ends}, {self.number})"
        if self.spacing == "linear":
            return f"np.linspace({ends}, {self.number})"
        return f"np.union1d(np.geomspace({ends}, {self.number - half}), np.linspace({ends}, {half}))"


@dataclass(frozen=True)
class Of:
    """A model of `localentropy.theory`; see `of`.

    Attributes:
        kind: its class.
        arguments: names and values. One value may be `Points`.
    """

    kind: str
    arguments: tuple[tuple[str, Any], ...]

    @property
    def along(self) -> str | None:
        """The argument whose value is a grid, if there is one."""
        return next((name for name, value in self.arguments if isinstance(value, Points)), None)

    def at(self, x: float) -> Any:
        """The model, with a number in the place of the grid."""
        arguments = {name: x if name == self.along else value for name, value in self.arguments}
        return getattr(import_module(THEORY), self.kind)(**arguments)

    def __str__(self) -> str:
        written = [f"{name}={'x' if name == self.along else _written(value)}" for name, value in self.arguments]
        return f"{self.kind}({', '.join(written)})"


@dataclass(frozen=True)
class Call:
    """A function over a grid; see `call`.

    Attributes:
        function: its name, or `<module>.<function>`.
        model: the model that is asked, if the function is a question.
        arguments: names and values. One value in them or in the model is `Points`.
        pieces: how many parts of the grid are solved one after the other, the right one first.
        package: where the function is.
    """

    function: str
    model: Of | None
    arguments: tuple[tuple[str, Any], ...]
    pieces: int = 1
    package: str = THEORY

    @property
    def along(self) -> str:
        """The argument whose value is the grid."""
        own = next((name for name, value in self.arguments if isinstance(value, Points)), None)
        return own or self.model.along  # type: ignore[union-attr, return-value]

    @property
    def grid(self) -> Points:
        """The points."""
        values = [value for _, value in (*self.arguments, *(self.model.arguments if self.model else ()))]
        return next(value for value in values if isinstance(value, Points))

    def solve(self, piece: int) -> pd.DataFrame:
        """The results at the points of one piece, 0 being the right one; remembered.

        Returns:
            Columns x (the point) and those of the function's result, or `value` if it is a number.

        Raises:
            DomainError: an argument is out of range, or there are no solutions.
            ConvergenceError: a solve failed.
        """
        return _solve(self, piece)

    def at(self, points: Sequence[float] | np.ndarray) -> pd.DataFrame:
        """The results at any points, with the columns of `solve`."""
        import pandas as pd

        from localentropy.theory.question import numbers

        *module, name = self.function.split(".")
        function = getattr(import_module(".".join([self.package, *module])), name)
        others = {key: value for key, value in self.arguments if key != self.along}
        if self.model is not None and self.model.along is not None:
            found = function([self.model.at(float(x)) for x in points], **others)
            return found.rename(columns={name: "value"}).assign(x=points)
        asked = [] if self.model is None else [self.model.at(math.nan)]
        if self.along in AT_ONCE:
            found = function(*asked, np.asarray(points), **others)
            if isinstance(found, pd.DataFrame):
                return found.assign(x=points, **{key: found.attrs[key] for key in found.attrs if key not in others})
            return pd.DataFrame({"x": points, "value": found})
        answers = [numbers(function(*asked, **{self.along: float(x)}, **others)) for x in points]
        if self.function in TABLES:
            return pd.concat(answers, ignore_index=True).assign(x=points)
        rows = [each if isinstance(each, dict) else {"value": np.asarray(each).item()} for each in answers]
        return pd.DataFrame(rows).assign(x=points)

    def python(self, rows: str) -> str:
        """Lines of Python that make the results, a table of this name with the columns of `solve`."""
        own = [f"{name}={_written(value)}" for name, value in self.arguments if name != self.along]
        name = self.function.rpartition(".")[2]
        if self.model is not None and self.model.along is not None:
            made = f"{self.function}({', '.join([f'[{self.model} for x in points]', *own])})"
            made += f'.rename(columns={{"{name}": "value"}})' if name in NUMBERS else ""
        else:
            asked = [] if self.model is None else [str(self.model)]
            at_once = self.along in AT_ONCE
            points = "points" if at_once else f"{self.along}=x"
            made = f"{self.function}({', '.join([*asked, points, *own])})"
            made = made if at_once else f"[{made} for x in points]"
            if self.function in SCALARS:
                made = f"np.ravel({made})"
            if self.function in (*ARRAYS, *SCALARS):
                made = f'pd.DataFrame({{"value": {made}}})'
            elif self.function in TABLES and not at_once:
                made = f"pd.concat({made}, ignore_index=True)"
            elif not at_once:
                made = f"pd.DataFrame({made})"
        return f"points = {self.grid}\n{rows} = {made}\n{rows} = {rows}.assign(x=points, **{rows}.attrs)"

    def names(self) -> set[tuple[str, str]]:
        """The names that the call needs, each behind its package."""
        models = {(THEORY, self.model.kind)} if self.model else set()
        return {(self.package, self.function.split(".")[0])} | models


@lru_cache(maxsize=4096)
def _solve(call: Call, piece: int) -> pd.DataFrame:
    return call.at(np.array_split(call.grid.values(), call.pieces)[::-1][piece])


def of(kind: str, **arguments: Any) -> Of:
    """A model of `localentropy.theory`, by its class. One of its arguments may be a grid."""
    return Of(kind, tuple(arguments.items()))


def call(function: str, model: Of | None = None, pieces: int = 1, package: str = THEORY, **arguments: Any) -> Call:
    """A function of a package over a grid, which is one argument of the function or of its model."""
    return Call(function, model, tuple(arguments.items()), pieces, package)


def _written(value: Any) -> str:
    return "math.inf" if value == math.inf else repr(value)


@dataclass(frozen=True)
class Curve:
    """A line of the page.

    Attributes:
        name: in the legend.
        call: what is solved for it.
        y: the column that is drawn, or a function of the rows, which the printed Python imports.
        panel: the panel's place among `Explorer.panels`.
        color: of the line.
        dash: one of `DASHES`.
        signed: whether negative values are dashed.
        across: whether the points lie on the axis of y, and the values on that of x.
    """

    name: str
    call: Call
    y: str | Callable[[pd.DataFrame], Any]
    panel: int = 0
    color: str = "black"
    dash: str = "solid"
    signed: bool = False
    across: bool = False

    def values(self, rows: pd.DataFrame) -> np.ndarray:
        """What is drawn at the rows of the call's results."""
        return np.asarray(rows[self.y] if isinstance(self.y, str) else self.y(rows), float)

    def parts(self, rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """The values, with NaN for others: of the line in its own dash, and of the dashed line of a signed curve.

        The dashed line goes on to the neighbours of negative values, so that there is no gap.
        """
        y = self.values(rows)
        if not self.signed:
            return y, np.full(len(y), np.nan)
        negative = np.pad(y < 0.0, 1)
        near = negative[1:-1] | negative[2:] | negative[:-2]
        return np.where(y >= 0.0, y, np.nan), np.where(near, y, np.nan)


@dataclass(frozen=True)
class Axes:
    """Axes of the page, with labels, scales and ranges.

    Attributes:
        x: label; TeX between $$ signs.
        y: label.
        x_log: whether the axis of x is logarithmic.
        y_log: whether the axis of y is.
        y_linear: up to this size an axis of y is linear, and logarithmic beyond, on both sides of 0.
        x_range: ends of the axis; without them those of the data.
        y_range: likewise.
        shipped: a panel of the figure's CSV, and a pattern for its series, that are drawn in grey.
    """

    x: str
    y: str
    x_log: bool = False
    y_log: bool = False
    y_linear: float | None = None
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    shipped: tuple[str, str] | None = None


@dataclass(frozen=True)
class Explorer:
    """A page.

    Attributes:
        controls: what the user can change.
        panels: axes, from left to right.
        curves: the curves at values of the controls, passed by name: always as many, in the same order. It may raise
            what the library raises.
    """

    controls: tuple[Slider | Choice, ...]
    panels: tuple[Axes, ...]
    curves: Callable[..., list[Curve]]


def python(explorer: Explorer, curves: Sequence[Curve]) -> str:
    """A script that draws the curves in the explorer's panels."""
    rows = {each: f"rows_{number}" for number, each in enumerate(dict.fromkeys(curve.call for curve in curves), 1)}
    lines = [each.python(name) for each, name in rows.items()]
    lines += ["", f"figure, axes = plt.subplots(1, {len(explorer.panels)}, squeeze=False)"]
    lines += [line for curve in curves for line in _plotted(curve, rows[curve.call])]
    for number, panel in enumerate(explorer.panels):
        lines += [f"axes[0, {number}].set({', '.join(_axes(panel))})"]
        scale = f'"symlog", linthresh={panel.y_linear!r}, linscale={NO_CORNER:.2g}'
        lines += [f"axes[0, {number}].set_yscale({scale})"] if panel.y_linear else []
        lines += [f"axes[0, {number}].legend()"]
    names = sorted(set().union(*(each.names() for each in rows)))
    packages = {package: [name for at, name in names if at == package] for package, _ in names}
    imports = [f"from {package} import {', '.join(own)}" for package, own in packages.items()]
    own = sorted({f"from {curve.y.__module__} import {curve.y.__name__}" for curve in curves if callable(curve.y)})
    head = ["import matplotlib.pyplot as plt", "import numpy as np", "import pandas as pd", ""]
    head = ["import math", "", *head] if any("math." in line for line in lines) else head
    return "\n".join([*head, *own, *imports, "", *lines, "plt.show()"])


def _plotted(curve: Curve, rows: str) -> list[str]:
    values = f"{curve.y.__name__}({rows})" if callable(curve.y) else f'{rows}["{curve.y}"]'
    axes, color = f"axes[0, {curve.panel}].plot", f"color={curve.color!r}"
    look = f"{color}, linestyle={DASHES[curve.dash]!r}, label={curve.name!r}"
    if curve.signed:
        return [
            f"y = {values}",
            "near = (y < 0) | (y.shift(1) < 0) | (y.shift(-1) < 0)",
            f'{axes}({rows}["x"], y.where(y >= 0), {look})',
            f'{axes}({rows}["x"], y.where(near), {color}, linestyle="--")',
        ]
    x, y = f'{rows}["x"]', values
    x, y = (y, x) if curve.across else (x, y)
    return [f"{axes}({x}, {y}, {look})"]


def _axes(panel: Axes) -> list[str]:
    scales = [f'{axis}scale="log"' for axis, log in (("x", panel.x_log), ("y", panel.y_log)) if log]
    labels = [f"{axis}label={text.replace('$$', '$')!r}" for axis, text in (("x", panel.x), ("y", panel.y))]
    ranges = [f"{axis}lim={ends!r}" for axis, ends in (("x", panel.x_range), ("y", panel.y_range)) if ends]
    return [*scales, *labels, *ranges]
