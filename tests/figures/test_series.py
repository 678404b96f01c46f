"""What a panel draws and the rows of the CSV are one declaration: letters, numbers, and the row of each point."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import ErrorbarContainer

from localentropy.figures.drawing import letter, panels
from localentropy.figures.series import NO_ROW, Picture

X = np.array([1.0, 2.0, 3.0])
FRAME = pd.DataFrame({"alpha": X, "y": 2.0 * X, "y_err": [0.1, np.nan, 0.2], "n": 8}, index=[7, 7, 9])


def letters(figure: Picture) -> list[str]:
    return list(figure.data["panel"])


def test_a_row_has_the_letters_of_the_panels_that_draw_it() -> None:
    figure, axes = panels(2, 6.0, 3.0)
    line = axes[0].line(X, X**2, "squares", margin=0.5)
    points = axes[1].points(FRAME, "runs", x="alpha")
    inset = axes[1].inset_axes((0.5, 0.5, 0.4, 0.4))
    inset.line(X, X, points)
    axes[0].line(X[1:], X[1:], line[1:])
    axes[1].line(X[2:], X[2:], line[2:])
    inset.line(X[:1], X[:1], "closer")
    figure.add(FRAME, series="undrawn", x=FRAME["alpha"])
    figure.add(FRAME[:1], series="D = 8", panel="agreement")
    axes[0].threshold(2.5, "here", "threshold")
    letter(axes)
    assert letters(figure) == [
        *["a", "a", "a, b"],
        *["b"] * 3,
        "b, inset",
        *["data"] * 3,
        "agreement",
        "a",
    ]
    data = figure.data.set_index("series")
    assert data.loc["squares", ["x", "y", "y_err", "margin"]].to_numpy().tolist() == [
        [1.0, 1.0, 0.0, 0.5],
        [2.0, 4.0, 0.0, 0.5],
        [3.0, 9.0, 0.0, 0.5],
    ]
    pd.testing.assert_series_equal(
        data.loc["runs", "y_err"], FRAME["y_err"].set_axis(["runs"] * 3), check_names=False, check_index_type=False
    )
    assert data.loc["threshold", "x"] == 2.5 and np.isnan(data.loc["threshold", "y"])


def test_a_figure_without_letters_has_one_panel() -> None:
    figure, (axis,) = panels(1, 3.0, 2.0)
    axis.line(X, X, "line")
    axis.inset_axes((0.5, 0.5, 0.4, 0.4)).line(X[:1], X[:1], "other")
    assert letters(figure) == ["a", "a", "a", "inset"]


def test_points_may_stand_beside_their_place_and_have_other_bars() -> None:
    figure, (axis,) = panels(1, 3.0, 2.0)
    rows = axis.points(FRAME, "runs", x="alpha", at=X + 0.1, bars=[[0.0, 0.0, 0.5], [1.0, 0.0, 0.0]])
    (drawn,) = axis.containers
    assert isinstance(drawn, ErrorbarContainer) and drawn.lines[0] is not None
    assert (
        np.asarray(drawn.lines[0].get_xdata()).tolist() == (X + 0.1).tolist()
        and figure.data["x"].tolist() == X.tolist()
    )
    ends = [bar[:, 1].tolist() for bar in drawn.lines[2][0].get_segments()]
    assert ends == [[2.0, 3.0], [4.0, 4.0], [5.5, 6.0]]
    assert axis.rows == {drawn.lines[0]: pytest.approx(rows)}


def test_a_signed_line_is_dashed_below_zero_and_both_parts_meet_there() -> None:
    figure, (axis,) = panels(1, 3.0, 2.0)
    rows = axis.signed([1.0, 2.0, 4.0, 5.0], [-2.0, 2.0, 0.0, 1.0], "curve", {"label": "name"})
    solid, dashed = axis.lines
    assert (solid.get_linestyle(), dashed.get_linestyle()) == ("-", "--")
    np.testing.assert_array_equal(solid.get_xydata(), [[1, np.nan], [1.5, 0], [2, 2], [4, 0], [5, 1]])
    np.testing.assert_array_equal(dashed.get_ydata(), [-2.0, 0.0, np.nan, np.nan, np.nan])
    for part in (solid, dashed):
        assert axis.rows[part].tolist() == [rows[0], NO_ROW, *rows[1:]]
    assert figure.data["y"].tolist() == [-2.0, 2.0, 0.0, 1.0]


def test_a_map_and_a_histogram_know_the_row_of_each_cell() -> None:
    _, axes = panels(2, 6.0, 3.0)
    plane = pd.DataFrame({"alpha": [1.0, 2.0, 1.0, 2.0], "lambda": [0.2, 0.1, 0.1, 0.2], "y": [1.0, 2.0, 3.0, 4.0]})
    mesh = axes[0].colors(plane, "alpha", "lambda", "map")
    bins = axes[1].steps(pd.DataFrame({"x": X, "y": [0.5, 0.0, 0.5]}), [0.5, 1.5, 2.5, 3.5], "bins")
    assert np.asarray(mesh.get_array()).ravel().tolist() == [3.0, 2.0, 1.0, 4.0] and axes[0].rows[mesh].tolist() == [
        2,
        1,
        0,
        3,
    ]
    (stairs,) = axes[1].patches
    np.testing.assert_array_equal(stairs.get_data().values, [0.5, np.nan, 0.5])  # type: ignore[attr-defined]
    assert axes[1].rows[stairs].tolist() == bins.tolist() == [4, 5, 6]


def test_a_level_is_one_row_without_an_abscissa() -> None:
    figure, (axis,) = panels(1, 3.0, 2.0)
    axis.level(0.3, "mean", {"color": "black"}, y_err=0.1, n=5)
    (row,) = figure.data.to_dict("records")
    assert np.isnan(row.pop("x")) and row == {"panel": "a", "series": "mean", "y": 0.3, "y_err": 0.1, "n": 5}
