"""What is wrong with the chart of a figure, told from the figure's numbers and look."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from localentropy.figures.interactive import symlog


def faults(data: pd.DataFrame, look: Mapping[str, Any], chart: Mapping[str, Any]) -> list[str]:
    """In words: rows that a panel lacks or has twice, points off their place, and formulas of TeX."""
    return [*_rows(data, look, chart), *_tex(chart)]


def _rows(data: pd.DataFrame, look: Mapping[str, Any], chart: Mapping[str, Any]) -> Iterator[str]:
    for number, panel in enumerate(look["panels"], 1):
        points: list[int] = []
        # Points that the picture shows beside their place, or across the whole panel, are not where the row says.
        placed = [mark for mark in panel["marks"] if "x" in mark and "rows" in mark]
        told = [place for mark in placed for place in zip(mark["rows"], mark["x"], mark["y"], strict=True)]
        loose = {row for row, *_ in told}
        free = {row for row, *at in told if row is not None and not _near(at, data.loc[row, ["x", "y"]], 1e-5)}
        for row, x, y in _points(chart, f"x{number}"):
            points.append(row)
            # A row of a line across the panel has no x, or no y.
            ours = [_place(panel[name], data.at[row, name]) for name in ("x", "y")]
            # A look has six digits.
            if row not in free and not _near((x, y), ours, 1e-5 if row in loose else 1e-12):
                yield f"{panel['panel']}: row {row} is not at its place"
        wanted = {row for mark in panel["marks"] for row in mark.get("rows", ()) if row is not None}
        if missing := wanted - set(points):
            yield f"{panel['panel']}: rows {_listed(missing)} are missing"
        if twice := {row for row, count in Counter(points).items() if count > 1}:
            yield f"{panel['panel']}: rows {_listed(twice)} are there twice"


def _points(chart: Mapping[str, Any], panel: str) -> Iterator[tuple[int, float, float]]:
    """Row, x and y of each point of a panel; of a map of colours, y is the number that the colour shows."""
    for trace in chart["data"]:
        if trace["xaxis"] == panel:
            rows, x, y = (trace.get(key, ()) for key in ("customdata", "x", "y"))
            if trace["type"] == "heatmap":
                rows, x, y = np.ravel(rows), x * len(y), np.ravel(trace["z"])
                y = 10.0**y if trace["meta"] == "logarithms" else y
            yield from ((row, *place) for row, *place in zip(rows, x, y, strict=False) if row is not None)


def _near(at: Iterable[float | None], own: Iterable[float], relative: float) -> bool:
    """Whether a point is where a row has numbers for it."""
    pairs = zip(at, own, strict=True)
    return all(np.isnan(there) or (here is not None and np.isclose(here, there, relative)) for here, there in pairs)


def _place(scale: Mapping[str, Any], value: float) -> float:
    if scale["scale"] == "symlog":
        return float(symlog(value, scale["linear"], scale["linear_length"]))
    return value


def _listed(rows: set[int]) -> str:
    return ", ".join(map(str, sorted(rows)))


def _tex(chart: Mapping[str, Any]) -> Iterator[str]:
    text = json.dumps(chart, ensure_ascii=False)
    if "$" in text or "\\\\" in text:
        yield "a label has a formula of TeX"
