"""The look of a figure has every mark with its axes, words and rows, whatever draws it and wherever it stands."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pandas as pd

from localentropy.figures.description import look
from localentropy.figures.drawing import COLORS, letter, panels
from localentropy.figures.series import DOT, Picture

X = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
POINTS = pd.DataFrame({"x": X, "y": 2 * X, "y_err": 0.1 * X})


def look_of(figure: Picture) -> list[dict[str, Any]]:
    """The panels of a figure that was saved, through JSON as it is written."""
    figure.savefig(io.BytesIO(), format="png")
    found: dict[str, Any] = json.loads(json.dumps(look(figure), allow_nan=False))
    assert found["size"] == [6.0, 3.0]
    panels: list[dict[str, Any]] = found["panels"]
    return panels


def test_lines_points_and_thresholds_have_their_rows_and_axes() -> None:
    figure, axes = panels(2, 6.0, 3.0)
    y = np.array([-2.0, -1.0, 4.0, np.nan, 3.0])
    axes[0].signed(X, y, "curve", {"color": COLORS[0], "label": r"$\alpha$ = 1"})
    axes[0].plot(X, X, color="black")
    axes[1].points(POINTS, "points", DOT | {"color": COLORS[1], "markerfacecolor": "white"})
    axes[1].plot([], [], "o", color=COLORS[1], label="solver")
    axes[1].legend(title="kind")
    axes[1].set(xscale="log", xlabel="$x$", xlim=(0.5, 8.0), title="points")
    axes[1].set_yscale("symlog", linthresh=0.5)
    axes[0].set_xticks([1.0, 5.0], ["one", "$5$"])
    axes[0].tick_params(labelbottom=False)
    axes[1].threshold(2.5, "here", "threshold")
    letter(axes)
    a, b = look_of(figure)

    # The dashed part ends at zero between two rows, where the solid one begins. A gap is null.
    dashed, solid, diagonal = a["marks"]
    assert (dashed["rows"], dashed["style"]) == ([0, 1, None], "--")
    assert (solid["rows"], solid["style"], solid["label"]) == ([None, 2, None, 4], "-", r"$\alpha$ = 1")
    assert (dashed["x"], dashed["y"]) == ([1.0, 2.0, 2.2], [-2.0, -1.0, 0.0])
    assert (solid["x"], solid["y"]) == ([2.2, 3.0, 4.0, 5.0], [0.0, 4.0, None, 3.0])
    assert "rows" not in diagonal and diagonal["x"] == diagonal["y"] == list(X)

    line, marks = b["marks"]
    assert line["rows"] == [10, 10] and line["across"] == "y" and line["ends"] == [0.0, 0.99] and "x" not in line
    assert marks["rows"] == [5, 6, 7, 8, 9] and marks["bars"] == "y" and marks["face"] == "#ffffff"
    assert marks["label"] == "kind: solver" and marks["marker"] == "o" and not {"style", "x", "y"} & set(marks)
    assert a["x"]["ticks"] == [[1.0, "one"], [5.0, "$5$"]] and "ticks" not in a["y"]
    assert b["title"] == "points" and [text["text"] for text in b["texts"]] == ["here"]
    assert b["x"]["label"] == "$x$" and b["x"]["scale"] == "log" and b["x"]["limits"] == [0.5, 8.0]
    assert b["y"]["scale"] == "symlog" and b["y"]["linear"] == 0.5 and "ticks" in b["y"] and "ticks" not in b["x"]
    left, right = a["place"], b["place"]
    assert left[0] + left[2] < right[0] and right[0] + right[2] <= 1.0


def test_points_beside_their_place_say_where_they_are_and_which_row_they_have() -> None:
    figure, (axis,) = panels(1, 6.0, 3.0)
    # At one place: a value says nothing of the series.
    for factor in (1.01, 0.99):
        axis.points(POINTS, f"set {factor}", DOT, at=factor * X)
    axis.points(POINTS, "same place", DOT)
    rows = axis.declare("limit", pd.DataFrame({"x": [np.inf], "y": [7.25]}))
    axis.line([5.0], [7.25], rows, {"marker": "_", "linestyle": "none"})
    (panel,) = look_of(figure)
    limit, *moved, there = panel["marks"]
    assert [mark["rows"] for mark in (*moved, there)] == [[*range(5)], [*range(5, 10)], [*range(10, 15)]]
    np.testing.assert_allclose([mark["x"] for mark in moved], [1.01 * X, 0.99 * X], rtol=1e-5)
    assert "x" not in there and limit["rows"] == [15] and limit["x"] == [5.0]


def test_an_inset_a_map_and_steps_have_their_rows_and_an_area_has_none() -> None:
    figure, axes = panels(2, 6.0, 3.0)
    rows = axes[0].line(X, X, "line")
    axes[0].fill_between(X, 0.0, X)
    axes[0].inset_axes((0.5, 0.5, 0.4, 0.4)).line(X[:2], X[:2], rows[:2])
    plane = pd.DataFrame({"x": [1.0, 2.0, 3.0] * 2, "level": [1.0] * 3 + [2.0] * 3, "y": np.arange(6.0)})
    axes[1].colors(plane, "x", "level", "map")
    axes[1].steps(pd.DataFrame({"x": [1.5, 2.5, 3.5], "y": [7.0, 0.0, 9.0]}), [1.0, 2.0, 3.0, 4.0], "bins")
    letter(axes)
    a, inset, b = look_of(figure)
    assert [panel["panel"] for panel in (a, inset, b)] == ["a", "a, inset", "b"]
    area, line = a["marks"]
    assert area["kind"] == "area" and "rows" not in area and set(X) <= set(area["y"])
    assert line["rows"] == [0, 1, 2, 3, 4] and inset["marks"][0]["rows"] == [0, 1]
    colors, steps = b["marks"]
    assert (colors["kind"], colors["rows"], colors["levels"]) == ("map", [5, 6, 7, 8, 9, 10], [1.0, 2.0])
    assert (steps["kind"], steps["rows"]) == ("steps", [11, None, 13]) and "x" not in steps


def test_figures_with_little_or_nothing_to_draw_have_a_look() -> None:
    figure, axes = panels(2, 6.0, 3.0)
    axes[0].points(pd.DataFrame({"x": X[:2], "y": X[:2], "y_err": [np.nan, 0.5]}), "few", {"marker": "o"})
    axes[0].points(pd.DataFrame({"x": [1.0, np.nan], "y": [np.nan, 2.0], "y_err": 0.1}), "gaps")
    axes[0].points(POINTS[:0], "none")
    axes[1].errorbar(X, X, 0.5 * X)
    letter(axes)
    a, b = look_of(figure)
    assert [mark["rows"] for mark in a["marks"]] == [[0, 1]] and "rows" not in b["marks"][0]
    assert b["marks"][0]["y_err"] == (0.5 * X).tolist()
    figure, _ = panels(1, 6.0, 3.0)
    (empty,) = look_of(figure)
    assert empty["marks"] == [] and list(figure.data) == ["panel", "series", "x", "y", "y_err"] and figure.data.empty
