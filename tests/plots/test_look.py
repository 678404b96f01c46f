"""The look of a figure names the row of each point that is drawn, whatever mark draws it."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from localentropy.plots.drawing import COLORS, curve_rows, draw_signed, letter, panels, threshold_line
from localentropy.plots.look import look

X = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def look_of(figure: Figure, *frames: pd.DataFrame) -> list[dict[str, Any]]:
    """The panels of a figure that was saved, through JSON as it is written."""
    figure.savefig(io.BytesIO(), format="png")
    found: dict[str, Any] = json.loads(json.dumps(look(figure, pd.concat(frames)), allow_nan=False))
    assert found["size"] == [6.0, 3.0]
    panels: list[dict[str, Any]] = found["panels"]
    return panels


def test_lines_points_and_thresholds_are_tied_to_their_rows() -> None:
    figure, axes = panels(2, 6.0, 3.0)
    y = np.array([-2.0, -1.0, 4.0, np.nan, 3.0])
    draw_signed(axes[0], X, y, {"color": COLORS[0], "label": r"$\alpha$ = 1"})
    axes[0].plot(X, X, color="black")
    axes[1].errorbar(X, 2 * X, 0.1 * X, color=COLORS[1], marker="o", linestyle="none", markerfacecolor="white")
    axes[1].plot([], [], "o", color=COLORS[1], label="solver")
    axes[1].legend(title="kind")
    axes[1].set(xscale="log", xlabel="$x$", xlim=(0.5, 8.0), title="points")
    axes[1].set_yscale("symlog", linthresh=0.5)
    axes[0].set_xticks([1.0, 5.0], ["one", "$5$"])
    axes[0].tick_params(labelbottom=False)
    threshold_line(axes[1], 2.5, "here")
    letter(axes)
    points = pd.DataFrame({"panel": "b", "series": "points", "x": X, "y": 2 * X, "y_err": 0.1 * X})
    threshold = pd.DataFrame({"panel": ["a, b"], "series": ["threshold"], "x": [2.5]})
    undrawn = curve_rows("b", "other", X, 5 * X)
    a, b = look_of(figure, curve_rows("a", "curve", X, y), points, threshold, undrawn)

    # The dashed part ends at zero between two rows, where the solid one begins. A gap is null.
    dashed, solid, diagonal = a["marks"]
    assert (dashed["rows"], dashed["style"]) == ([0, 1, None], "--")
    assert (solid["rows"], solid["style"], solid["label"]) == ([None, 2, None, 4], "-", r"$\alpha$ = 1")
    assert (dashed["x"], dashed["y"]) == ([1.0, 2.0, 2.2], [-2.0, -1.0, 0.0])
    assert (solid["x"], solid["y"]) == ([2.2, 3.0, 4.0, 5.0], [0.0, 4.0, None, 3.0])
    assert "rows" not in diagonal and diagonal["x"] == diagonal["y"] == list(X)

    line, marks = b["marks"]
    assert line["rows"] == [10, 10] and line["across"] == "y" and line["ends"] == [0.0, 0.99]
    assert marks["rows"] == [5, 6, 7, 8, 9] and marks["bars"] == "y" and marks["face"] == "#ffffff"
    assert marks["label"] == "kind: solver" and marks["marker"] == "o" and "style" not in marks
    assert a["x"]["ticks"] == [[1.0, "one"], [5.0, "$5$"]] and "ticks" not in a["y"]
    assert b["title"] == "points" and [text["text"] for text in b["texts"]] == ["here"]
    assert b["x"]["label"] == "$x$" and b["x"]["scale"] == "log" and b["x"]["limits"] == [0.5, 8.0]
    assert b["y"]["scale"] == "symlog" and b["y"]["linear"] == 0.5 and "ticks" in b["y"] and "ticks" not in b["x"]
    left, right = a["place"], b["place"]
    assert left[0] + left[2] < right[0] and right[0] + right[2] <= 1.0


def test_points_drawn_side_by_side_have_the_rows_of_their_place() -> None:
    figure, (axis,) = panels(1, 6.0, 3.0)
    frames = []
    for number, factor in enumerate((1.01, 0.99)):
        axis.plot(factor * X, X + number, "o")
        frames.append(curve_rows("a", f"beside {number}", X, X + number))
    # Curves one above the other, and differences from them.
    axis.plot(X, np.sqrt(X) + 40.0)
    axis.errorbar(X, 0.01 * X - 8.0, 0.02 * X)
    frames.append(curve_rows("a", "above", X, np.sqrt(X)))
    frames.append(curve_rows("a", "differences", X, X**2).assign(y_err=0.02 * X))
    # What is at infinity stands at the end of the axis.
    axis.plot([5.0], [7.25], "_")
    frames.append(curve_rows("a", "limit", [np.inf], [7.25]))
    (panel,) = look_of(figure, *frames)
    assert [mark["rows"] for mark in panel["marks"]] == [
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9],
        [10, 11, 12, 13, 14],
        [20],
        [15, 16, 17, 18, 19],
    ]
    np.testing.assert_allclose([mark["x"] for mark in panel["marks"][:2]], [1.01 * X, 0.99 * X], rtol=1e-5)
    np.testing.assert_allclose(panel["marks"][2]["y"], np.sqrt(X) + 40.0, rtol=1e-5)


def test_curves_that_share_points_each_have_their_own_rows() -> None:
    figure, (axis,) = panels(1, 6.0, 3.0)
    falls, same = np.array([3.0, 2.0, 1.0, 0.0, 0.0]), np.array([4.0, 2.0, 0.0, 0.0, 0.0])
    axis.fill_between(X, 0.0, falls)
    axis.axvline(2.5)
    axis.axvline(2.5, color="red")
    for y in (same, falls):
        axis.plot(X, y)
    rows = [curve_rows("a", "falls", X, falls), curve_rows("a", "same", X, same)]
    rows.append(curve_rows("a", "thresholds", [2.5, 2.5], [np.nan, np.nan]))
    (panel,) = look_of(figure, *rows)
    area, *lines = panel["marks"]
    assert area["kind"] == "area" and "rows" not in area and set(falls) <= set(area["y"])
    assert [line["rows"] for line in lines] == [[10, 10], [11, 11], [5, 6, 7, 8, 9], [0, 1, 2, 3, 4]]


def test_an_inset_a_map_and_steps_have_their_rows() -> None:
    figure, axes = panels(2, 6.0, 3.0)
    axes[0].plot(X, X)
    axes[0].inset_axes((0.5, 0.5, 0.4, 0.4)).plot(X[:2], X[:2])
    axes[1].pcolormesh(X[:3], X[:2], np.arange(6.0).reshape(2, 3), shading="gouraud")
    axes[1].stairs([7.0, np.nan, 9.0], [1.0, 2.0, 3.0, 4.0])
    letter(axes)
    heat = curve_rows("b", "map", [1.0, 2.0, 3.0, 1.0, 2.0, 3.0], np.arange(6.0))
    bins = curve_rows("b", "bins", [1.5, 2.5, 3.5], [7.0, 0.0, 9.0])
    a, inset, b = look_of(figure, curve_rows("a", "line", X, X), heat, bins)
    assert [panel["panel"] for panel in (a, inset, b)] == ["a", "a, inset", "b"]
    assert a["marks"][0]["rows"] == [0, 1, 2, 3, 4] and inset["marks"][0]["rows"] == [0, 1]
    colors, steps = b["marks"]
    assert (colors["kind"], colors["rows"], colors["levels"]) == ("map", [5, 6, 7, 8, 9, 10], [1.0, 2.0])
    assert (steps["kind"], steps["rows"]) == ("steps", [11, None, 13])


def test_figures_with_little_or_nothing_to_draw_have_a_look() -> None:
    figure, axes = panels(2, 6.0, 3.0)
    axes[0].errorbar(X[:2], X[:2], [np.nan, 0.5], marker="o", label="few")
    axes[0].errorbar([1.0, np.nan], [np.nan, 2.0], [0.1, 0.1])
    axes[0].errorbar([], [], [])
    letter(axes)
    columns = {"panel": "a", "series": "few", "x": X[:2], "y": X[:2], "y_err": [None, 0.5]}
    axes[1].errorbar(X, X, 0.5 * X)
    a, b = look_of(figure, pd.DataFrame(columns, dtype=object))
    assert [mark["rows"] for mark in a["marks"]] == [[0, 1]] and "rows" not in b["marks"][0]
    assert b["marks"][0]["y_err"] == (0.5 * X).tolist()
    a, _ = look_of(figure, curve_rows("a", "none", [], []))
    assert [mark["x"] for mark in a["marks"]] == [[1.0, 2.0]]
