"""One look for each algorithm, the same in every figure; what is left to draw where algorithms have no solutions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from localentropy.figures.drawing import COLORS
from localentropy.solvers.names import COMMITTEE_NAMES, NAMES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from pandas.core.groupby import SeriesGroupBy

    from localentropy.figures.series import Look, Panel, Rows

T = TypeVar("T")

ALGORITHMS: dict[str, dict[str, Any]] = {
    "anneal": {"label": NAMES["anneal"], "color": COLORS[3], "marker": "o"},
    "mct0": {"label": NAMES["mct0"], "color": COLORS[1], "marker": "v"},
    "sbpi": {"label": NAMES["sbpi"], "color": COLORS[2], "marker": "s"},
    "focusing_bp": {"label": NAMES["focusing_bp"], "color": COLORS[0], "marker": "D"},
    "belief_propagation": {"label": NAMES["belief_propagation"], "color": COLORS[7], "marker": "P"},
    "binarynet": {"label": NAMES["binarynet"], "color": COLORS[4], "marker": "^"},
    "sgd": {"label": NAMES["sgd"], "color": COLORS[5], "marker": "X"},
    "adam": {"label": NAMES["adam"], "color": COLORS[9], "marker": "<"},
    "elal": {"label": COMMITTEE_NAMES["elal"], "color": "#880022", "marker": "p"},
    "ce_slow": {"label": COMMITTEE_NAMES["ce_slow"], "color": "#6600cc", "marker": "*"},
    "lal": {"label": COMMITTEE_NAMES["lal"], "color": "#000022", "marker": "h"},
}

COMMITTEE: dict[str, dict[str, Any]] = {
    "fbp": ALGORITHMS["focusing_bp"],
    "elal": ALGORITHMS["elal"],
    "ce_slow": ALGORITHMS["ce_slow"],
    "ce_fast": ALGORITHMS["sgd"] | {"label": COMMITTEE_NAMES["ce_fast"]},
    "lal": ALGORITHMS["lal"],
}
"""The algorithms of the paper `shaping`, by their keys in tables and in the paper's order."""


def shades_of(algorithm: str, values: Iterable[T]) -> dict[T, Any]:
    """A shade of an algorithm's colour for each value, such as a size, from pale to dark."""
    import seaborn as sns

    keys, color = list(values), ALGORITHMS[algorithm]["color"]
    # The last shade, black, is nobody's.
    shades = sns.blend_palette([sns.light_palette(color, 5)[2], color, "black"], len(keys) + 1)
    return dict(zip(keys, shades, strict=False))


def of_committees(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the algorithms of `COMMITTEE`. The figures draw no others."""
    return table[table["algorithm"].isin(COMMITTEE)]


def of_each(points: pd.DataFrame, rows: Rows) -> Iterator[tuple[Look, pd.DataFrame, Rows]]:
    """The look, the points and their rows of each algorithm of `COMMITTEE` that has some."""
    for name, look in COMMITTEE.items():
        own = points["algorithm"] == name
        if own.any():
            yield look, points[own], rows[own]


def legend_entries(axes: Iterable[Panel]) -> tuple[list[Artist], list[str]]:
    """Handles and labels of the legend that several panels share: each label once, in the order of the panels."""
    entries: dict[str, Artist] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return list(entries.values()), list(entries)


def means_in_words(values: SeriesGroupBy) -> str:
    """Means and standard errors by algorithm, in words, the smallest mean first. Of one number there is no error."""
    rows = values.agg(["mean", "sem"]).sort_values("mean").itertuples()
    told = (
        f"{COMMITTEE[row.Index]['label']} {significant(row.mean, 3)}"
        + (f" ± {significant(row.sem, 2)}" if row.sem >= 0 else "")
        for row in rows
    )
    return ", ".join(told) or "none"


def significant(number: float, digits: int) -> str:
    """Rounded to significant digits, without an exponent."""
    return np.format_float_positional(number, digits, fractional=False, trim="-")


def nothing_drawn(data: pd.DataFrame, letters: str) -> dict[str, str]:
    """The setting that names panels without a number; empty if each panel has one.

    Args:
        data: the plotted numbers, columns panel and y.
        letters: of all panels.
    """
    drawn = "".join(data.loc[data["y"].notna(), "panel"])
    empty = [f"({letter})" for letter in letters if letter not in drawn]
    return {"nothing to draw": f"in {', '.join(empty)}"} if empty else {}
