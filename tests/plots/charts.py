"""What is wrong with the chart of a figure, told from the figure's numbers and look."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from localentropy.plots.interactive import symlog


def faults(data: pd.DataFrame, look: Mapping[str, Any], chart: Mapping[str, Any]) -> list[str]:
    """In words: rows that a panel lacks or has twice, points off their place, and formulas of TeX."""
    return [*_rows(data, look, chart), *_tex(chart)]


def _rows(data: pd.DataFrame, look: Mapping[str, Any], chart: Mapping[str, Any]) -> Iterator[str]:
    for number, panel in enumerate(look["panels"], 1):
        points: list[int] = []
        # Points that the picture shows beside their place, or across the whole panel, are not where the row says.
        free = {row for mark in panel["marks"] if "x" in mark for row in mark.get("rows", ())}
        for row, x, y in _points(chart, f"x{number}"):
            points.append(row)
            # A row of a line across the panel has no x, or no y.
            ours = [(at, _place(panel[name], data.at[row, name])) for name, at in (("x", x), ("y", y))]
            if row not in free and not all(np.isnan(own) or np.isclose(at, own, 1e-12) for at, own in ours):
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
