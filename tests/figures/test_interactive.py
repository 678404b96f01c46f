"""A chart has every drawn row of its figure once in each panel, where the row says, and no formula of TeX."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from localentropy.figures.description import look
from localentropy.figures.drawing import COLORS, letter, panels
from localentropy.figures.interactive import chart, symlog, with_names
from localentropy.figures.mathtext import SYMBOLS, html_of
from localentropy.figures.series import DOT, Series
from localentropy.pipeline.config import ROOT
from tests.figures.charts import faults

GALLERY = ROOT / "figures/gallery"
X = np.array([0.0, 1.0, 2.0, 3.0, 4.0])


def drawn() -> tuple[pd.DataFrame, dict[str, Any]]:
    """Numbers and look of a figure of two panels, one with an inset, one with a map of colours."""
    figure, axes = panels(2, 6.0, 3.0)
    y = np.array([-0.2, -0.1, 0.01, 0.5, 30.0])
    inset = axes[0].inset_axes((0.6, 0.1, 0.3, 0.3))
    series: Series = "curve"
    for axis in (axes[0], inset):
        look_of = {"color": COLORS[0], "label": r"$\tilde\kappa = \kappa_{\max}$"}
        series = axis.signed(X, y, series, look_of, inv_alpha=0.5)
    axes[0].set_yscale("symlog", linthresh=0.1)
    axes[0].set(xlabel=r"distance $d$", ylabel=r"$\phi_{\mathrm{FP}}(d)$", title="curves")
    points = pd.DataFrame({"x": X, "y": X + 1.0, "y_err": 0.5 * X, "n": 8})
    axes[1].points(points, "runs", DOT | {"color": COLORS[1], "markerfacecolor": "white"})
    axes[1].axhline(2.0, color="black")
    axes[1].set(xscale="log", xlim=(0.5, 5.0))
    axes[1].threshold(2.5, r"$\alpha_c$ = 2.5", axes[0].threshold(2.5, "", "threshold"))
    plane = {"x": [1.0, 2.0, 1.0, 2.0], "height": [2.0, 2.0, 3.0, 3.0], "y": [0.1, 0.2, 0.3, 0.4], "y_err": 0.0}
    axes[1].colors(pd.DataFrame(plane), "x", "height", "map")
    figure.add(points, series="other")
    letter(axes)
    figure.savefig(io.BytesIO(), format="png")
    return figure.data, look(figure)


def test_every_drawn_row_has_one_point_at_its_place() -> None:
    data, seen = drawn()
    made = chart(data, json.loads(json.dumps(seen)))
    assert faults(data, seen, made) == []
    rows: dict[str, set[int]] = {trace["xaxis"]: set() for trace in made["data"]}
    for trace in made["data"]:
        rows[trace["xaxis"]] |= {row for row in np.ravel(trace.get("customdata", [])) if row is not None}
    assert rows == {"x1": {0, 1, 2, 3, 4, 10}, "x2": set(range(5)), "x3": set(range(5, 15))}


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda made: made["data"][1]["x"].__setitem__(0, 9.0), "row 0 is not at its place"),
        (lambda made: made["data"][1]["y"].__setitem__(0, None), "row 0 is not at its place"),
        (lambda made: made["data"][1]["customdata"].__setitem__(0, None), "rows 0 are missing"),
        (lambda made: made["data"][2]["customdata"].__setitem__(-1, 0), "rows 0 are there twice"),
        (lambda made: made["layout"]["xaxis1"]["title"].update(text=r"$\alpha$"), "TeX"),
    ],
)
def test_a_spoilt_chart_is_noticed(spoil: Any, fault: str) -> None:
    data, seen = drawn()
    made = chart(data, seen)
    spoil(made)
    assert any(fault in told for told in faults(data, seen, made))


def test_points_say_what_their_rows_have() -> None:
    data, seen = drawn()
    traces = chart(data, seen)["data"]
    (runs,) = [trace for trace in traces if trace.get("name") == "runs"]
    assert runs["text"][3] == "<b>runs</b><br>x: 3<br>ϕ<sub>FP</sub>(<i>d</i>): 4.0 ± 1.5<br>samples n: 8"
    assert runs["error_y"]["array"] == [0.0, 0.5, 1.0, 1.5, 2.0] and runs["marker"]["color"] == "#ffffff"
    name = "κ\N{COMBINING TILDE} = κ<sub>max</sub>"
    dashed, solid, again = traces[1:4]
    assert dashed["name"] == solid["name"] == name and dashed["line"]["dash"] == "dash"
    assert (dashed["showlegend"], solid["showlegend"], again["showlegend"]) == (False, True, False)
    assert solid["text"][-1] == (
        f"<b>{name}</b><br>curve<br>distance <i>d</i>: 4<br>ϕ<sub>FP</sub>(<i>d</i>): 30<br>1/α: 0.5"
    )


def test_legends_have_the_words_of_the_figure() -> None:
    figure, (axis,) = panels(1, 4.0, 3.0)
    runs = {"committee_sgd": ("SGD", 1.0), "committee_bp": ("BP", 3.0)}
    axis.line(X, X**2 + 7.0, "train_error", {"color": "black"})
    for number, (solver, (label, threshold)) in enumerate(runs.items()):
        axis.line(X, threshold * X + number, "error", {"color": COLORS[number], "label": label}, solver=solver)
        axis.threshold(threshold, "", "threshold", color=COLORS[number], solver=solver)
    figure.savefig(io.BytesIO(), format="png")
    names = {trace["name"] for trace in chart(figure.data, look(figure))["data"]}
    assert names == {"train error", "SGD", "BP", "threshold, SGD", "threshold, BP"}


@pytest.mark.parametrize(
    ("title", "label", "name"),
    [
        (r"$\alpha$", "0.5", "α: 0.5"),
        (r"$\alpha$", "1.76 (clustering)", "α: 1.76 (clustering)"),
        (r"$\alpha$", "around fBP", "around fBP"),
        (r"(a)–(d): $1/\alpha$", "20", "(a)–(d): 1/α: 20"),
        (r"(a)–(d): $1/\alpha$", "typical", "(a)–(d): typical"),
        (r"$\tilde\kappa = \kappa_{\max}$, $\alpha =$", "0.5", "κ\N{COMBINING TILDE} = κ<sub>max</sub>, α = 0.5"),
        (r"$\alpha = 0.8$, $m =$", r"$\infty$", "α = 0.8, <i>m</i> = ∞"),
        (r"$\alpha = 0.8$, $m =$", "stationary", "stationary"),
        ("size $D$", "fBP 67", "size <i>D</i>: fBP 67"),
        ("in (c) and (d)", "all runs", "in (c) and (d): all runs"),
    ],
)
def test_the_title_of_a_legend_stands_before_numbers_only(title: str, label: str, name: str) -> None:
    figure, (axis,) = panels(1, 4.0, 3.0)
    axis.line(X, X, "curve", {"color": COLORS[0], "label": label})
    axis.legend(title=title)
    figure.savefig(io.BytesIO(), format="png")
    data, seen = figure.data, look(figure)
    (trace,) = chart(data, seen)["data"]
    assert trace["name"] == name
    assert set(with_names(data, seen)["name"]) == {re.sub("<[^>]*>", "", name.replace("<sub>", "_"))}


@pytest.mark.parametrize(
    ("series", "name", "plain"),
    [
        ("theory, r = 1e-05", "theory, r = 10<sup>−5</sup>", "theory, r = 10^−5"),
        ("theory, r = 2.5e+20", "theory, r = 2.5·10<sup>20</sup>", "theory, r = 2.5·10^20"),
        ("threshold, interpolation threshold", "interpolation threshold", "interpolation threshold"),
        ("large deviations, α_U", "large deviations, α<sub>U</sub>", "large deviations, α_U"),
    ],
)
def test_names_of_series_are_those_of_print_without_a_word_twice(series: Series, name: str, plain: str) -> None:
    figure, (axis,) = panels(1, 4.0, 3.0)
    axis.line(X, 1e-7 * X, series, {"color": COLORS[0]})
    figure.savefig(io.BytesIO(), format="png")
    data, seen = figure.data, look(figure)
    (trace,) = chart(data, seen)["data"]
    assert trace["name"] == name and trace["text"][1].endswith("<br>y: 10<sup>−7</sup>")
    assert set(with_names(data, seen)["name"]) == {plain}


@pytest.mark.parametrize(
    "file", sorted(GALLERY.glob("*/*.look.json")), ids=lambda file: f"{file.parent.name}-{file.name}"
)
def test_no_legend_of_the_gallery_shows_a_key(file: Path) -> None:
    data = pd.read_csv(file.with_name(file.name.replace(".look.json", ".csv")))
    shown = [one["name"] for one in chart(data, json.loads(file.read_text()))["data"] if one.get("showlegend")]
    assert [name for name in shown if re.search(r"[a-z]{2}_[a-z]{2}|  |\de[-+]\d", name)] == []


def test_axes_are_those_of_the_picture_and_what_they_cannot_show_is_told() -> None:
    data, seen = drawn()
    made = chart(data, seen)
    layout = made["layout"]
    assert layout["xaxis3"]["type"] == "log"
    np.testing.assert_allclose(layout["xaxis3"]["range"], np.log10([0.5, 5.0]), rtol=1e-5)
    assert layout["yaxis1"]["type"] == "linear" and layout["yaxis1"]["tickvals"][0] < layout["yaxis1"]["tickvals"][-1]
    thresholds = [trace for trace in made["data"] if trace.get("name") == "threshold"]
    for trace, axis in zip(thresholds, ("yaxis1", "yaxis3"), strict=True):
        low, high = layout[axis]["range"]
        along = np.log10(trace["y"]) if layout[axis]["type"] == "log" else trace["y"]
        np.testing.assert_allclose([along[0], along[-1]], [low, low + 0.99 * (high - low)], atol=1e-5)
    left, right = (layout[f"xaxis{number}"]["domain"] for number in (1, 3))
    assert left[1] < right[0]
    texts = [note["text"] for note in layout["annotations"]]
    assert texts == [
        "<b>(a)</b>",
        "curves",
        "<b>(b)</b>",
        "α<sub><i>c</i></sub> = 2.5",
        "not on this axis: 1<br>with x ≤ 0",
    ]
    assert [shape["y0"] for shape in layout["shapes"]] == [2.0]


def test_symlog_is_linear_near_zero_and_counts_decades_beyond() -> None:
    np.testing.assert_allclose(symlog([-1.0, -0.1, 0.0, 0.05, 0.1, 10.0], 0.1, 0.9), [-2, -1, 0, 0.5, 1, 3])


@pytest.mark.parametrize(
    ("label", "html"),
    [
        (r"$1/\alpha_{\mathrm{LE}} - 1/\alpha_c$", "1/α<sub>LE</sub>−1/α<sub><i>c</i></sub>"),
        (r"$\mathdefault{-10^{-3}}$", "−10<sup>−3</sup>"),
        (r"$E\,(y - w\cdot v)^2$", "<i>E</i>\N{THIN SPACE}(<i>y</i>−<i>w</i>·<i>v</i>)<sup>2</sup>"),
        (r"$\mathcal{V}_1$ at $D$ = 0.1 & < 1", "𝒱<sub>1</sub> at <i>D</i> = 0.1 &amp; &lt; 1"),
        (r"$-\alpha\ln 2$", "−αln 2"),
    ],
)
def test_formulas_become_html(label: str, html: str) -> None:
    assert html_of(label) == html


def test_an_unknown_command_is_told_and_no_known_one_is_left() -> None:
    with pytest.raises(ValueError, match=r"\\frac: no such command"):
        html_of(r"$\frac{1}{2}$")
    assert not any(re.search(r"[\\$]", html_of(rf"$\{name}$")) for name in SYMBOLS)
