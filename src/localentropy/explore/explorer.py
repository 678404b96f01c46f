"""What an explorer states: controls, panels, and the calls of the library whose results are its curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from localentropy.experiments.franz_parisi import log_and_linear

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = ("distances", "overlaps")
"""Arguments that take all points of a curve. Any other takes one."""


@dataclass(frozen=True)
class Slider:
    """A number.

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
    """One of a few words.

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
class Grid:
    """The points of a curve: `log`, `linear`, or half of them so and half so."""

    ends: tuple[float, float]
    points: int
    spacing: str = "log"

    def values(self) -> np.ndarray:
        """The points, increasing."""
        if self.spacing == "log":
            return np.geomspace(*self.ends, self.points)
        if self.spacing == "linear":
            return np.linspace(*self.ends, self.points)
        return log_and_linear(self.ends, self.points)

    def __str__(self) -> str:
        ends, half = ", ".join(repr(float(end)) for end in self.ends), self.points // 2
        if self.spacing == "log":
            return f"np.geomspace({ends}, {self.points})"
        if self.spacing == "linear":
            return f"np.linspace({ends}, {self.points})"
        return f"np.union1d(np.geomspace({ends}, {self.points - half}), np.linspace({ends}, {half}))"


@dataclass(frozen=True)
class Call:
    """A function of `localentropy.replica` over a grid; see `call`.

    Attributes:
        function: `<module>.<function>`.
        arguments: names and values. One value is a `Grid`.
        pieces: how many parts of the grid are solved one after the other, the right one first.
    """

    function: str
    arguments: tuple[tuple[str, Any], ...]
    pieces: int = 1

    @property
    def along(self) -> str:
        """The argument whose value is the grid."""
        return next(name for name, value in self.arguments if isinstance(value, Grid))

    @property
    def grid(self) -> Grid:
        """The points."""
        return next(value for _, value in self.arguments if isinstance(value, Grid))

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
        """The same at any points."""
        import pandas as pd

        module, name = self.function.split(".")
        function = getattr(import_module(f"localentropy.replica.{module}"), name)
        others = {key: value for key, value in self.arguments if key != self.along}
        if self.along in AT_ONCE:
            found = function(np.asarray(points), **others)
            if isinstance(found, pd.DataFrame):
                return found.assign(x=points, **{key: found.attrs[key] for key in found.attrs if key not in others})
            return pd.DataFrame({"x": points, "value": found})
        results = [function(**{self.along: float(x)}, **others) for x in points]
        rows = [{"value": result} if isinstance(result, float) else asdict(result) for result in results]
        return pd.DataFrame(rows).assign(x=points)

    def __str__(self) -> str:
        written = [f"{name}={_written(value)}" for name, value in self.arguments if name != self.along]
        if self.along in AT_ONCE:
            return f"{self.function}({', '.join([str(self.grid), *written])})"
        return f"[{self.function}({', '.join([f'{self.along}=x', *written])}) for x in {self.grid}]"


@lru_cache(maxsize=4096)
def _solve(call: Call, piece: int) -> pd.DataFrame:
    return call.at(np.array_split(call.grid.values(), call.pieces)[::-1][piece])


def call(function: str, pieces: int = 1, **arguments: Any) -> Call:
    """A function of `localentropy.replica` over the grid that is one of its arguments."""
    return Call(function, tuple(arguments.items()), pieces)


def python(calls: Sequence[Call]) -> str:
    """The calls as lines of Python."""
    lines = [str(each) for each in dict.fromkeys(calls)]
    modules = sorted({each.function.split(".")[0] for each in calls})
    math_first = ["import math", ""] if any("math." in line for line in lines) else []
    return "\n".join(
        [*math_first, "import numpy as np", "", f"from localentropy.replica import {', '.join(modules)}", "", *lines]
    )


def _written(value: Any) -> str:
    return "math.inf" if value == math.inf else repr(value)


@dataclass(frozen=True)
class Curve:
    """A line of the page.

    Attributes:
        name: in the legend.
        call: what is solved for it.
        y: the column that is drawn, or a function of the rows.
        panel: the panel's place among `Explorer.panels`.
        color: of the line.
        dash: `solid`, `dashed`, `dotted` or `dotdash`.
        signed: whether negative values are dashed.
    """

    name: str
    call: Call
    y: str | Callable[[pd.DataFrame], Any]
    panel: int = 0
    color: str = "black"
    dash: str = "solid"
    signed: bool = False

    def values(self, rows: pd.DataFrame) -> np.ndarray:
        """What is drawn at the rows of the call's results."""
        return np.asarray(rows[self.y] if isinstance(self.y, str) else self.y(rows), float)


@dataclass(frozen=True)
class Panel:
    """Axes.

    Attributes:
        x: label; TeX between $$ signs.
        y: label.
        x_log: whether the axis of x is logarithmic.
        y_log: whether the axis of y is.
        x_range: ends of the axis; without them those of the data.
        y_range: likewise.
        shipped: a panel of the figure's CSV, and a pattern for its series, that are drawn in grey.
    """

    x: str
    y: str
    x_log: bool = False
    y_log: bool = False
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
    panels: tuple[Panel, ...]
    curves: Callable[..., list[Curve]]
