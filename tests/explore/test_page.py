"""The page without a browser: what a change of a control does to Bokeh's document."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from bokeh.document import Document
from bokeh.events import ClientReconnected, ConnectionLost
from bokeh.models import ColumnDataSource

from localentropy.explore.explorer import Axes, Curve, Explorer, Points, Slider, _solve, call, of
from localentropy.explore.page import Page
from localentropy.explore.typical_solutions import errors
from localentropy.pipeline.config import resolve
from localentropy.theory import RandomFeatures, alpha_c, typical

NOTHING = pd.DataFrame({"panel": [], "series": [], "name": [], "x": [], "y": []}).astype({"series": str})
STRENGTH = Slider("strength", "λ", 1.0, 0.1, 5.0, 0.1)
AXES = Axes("α", "ε")


def settle(document: Document) -> None:
    """Run what the server would run."""
    while document.session_callbacks:
        answer = document.session_callbacks[0].callback()
        if inspect.iscoroutine(answer):
            asyncio.run(answer)


def source(document: Document, name: str) -> dict[str, Any]:
    return next(each.data for each in document.select({"type": ColumnDataSource}) if each.name == name)


def text(document: Document, name: str) -> str:
    found: Any = document.get_model_by_name(name)
    return str(found.text)


def set_control(document: Document, name: str, value: object) -> None:
    widget: Any = document.get_model_by_name(name)
    widget.value = value


def page_of(curves: Callable[..., list[Curve]], slider: Slider = STRENGTH, panel: Axes = AXES) -> Document:
    """A page of one slider and one panel, before the server runs anything."""
    document = Document()
    Page(document, "", Explorer((slider,), (panel,), curves), NOTHING)
    return document


def student(strength: float, column: str = "generalization_error", **others: Any) -> list[Curve]:
    arguments: dict[str, Any] = {"alpha": Points((0.5, 2.0), 3), "loss": "square", "regularization": strength} | others
    return [Curve("student", call("erm.fit", **arguments), column)]


@pytest.fixture
def document() -> Document:
    document = Document()
    Page(document, "figure2", errors(resolve()), NOTHING)
    settle(document)
    return document


def test_a_change_solves_the_library_anew(document: Document) -> None:
    before = source(document, "barycentre, panel 0")
    set_control(document, "margin", 0.5)
    settle(document)
    after = source(document, "barycentre, panel 0")
    assert (
        after["x"][0] == pytest.approx(1.0 / alpha_c(RandomFeatures(3.0, margin=0.5)))
        and after["x"][0] > before["x"][0]
    )
    expected = typical(RandomFeatures(3.0, after["x"][7], 0.5)).error_barycenter
    assert after["y"][7] == expected and text(document, "message") == ""
    assert "typical([RandomFeatures(alpha_T=3.0, inv_alpha=x, margin=0.5, activation='sign') for x in" in text(
        document, "python"
    )


def test_outside_of_the_domain_no_curve_is_left(document: Document) -> None:
    set_control(document, "alpha_T", -1.0)
    settle(document)
    assert "alpha_T = -1 is out of range" in text(document, "message") and "\n" not in text(document, "message")
    assert all(len(column) == 0 for column in source(document, "barycentre, panel 0").values())
    assert text(document, "python") == ""
    set_control(document, "alpha_T", 3.0)
    settle(document)
    assert len(source(document, "barycentre, panel 0")["y"]) > 0 and text(document, "message") == ""


def test_a_fault_of_the_program_leaves_no_curve_either() -> None:
    document = page_of(
        lambda strength: student(strength, "generalization_error" if strength < 2.0 else "no such column")
    )
    settle(document)
    assert len(source(document, "student, panel 0")["x"]) == 3
    set_control(document, "strength", 3.0)
    with pytest.raises(KeyError):
        settle(document)
    assert len(source(document, "student, panel 0")["x"]) == 0 and "no such column" in text(document, "message")


def test_of_many_changes_the_last_one_is_solved() -> None:
    solved = []

    def curves(strength: float) -> list[Curve]:
        solved.append(strength)
        return student(strength)

    document = page_of(curves)
    settle(document)
    solved.clear()
    for value in np.linspace(1.1, 4.9, 100):
        set_control(document, "strength", float(value))
    settle(document)
    assert solved == [4.9]


def test_a_newer_value_ends_a_solve_between_two_pieces() -> None:
    def curves(strength: float) -> list[Curve]:
        if strength == 2.0:  # the control moves while this value is solved
            set_control(document, "strength", 3.0)
        return student(strength, pieces=3, alpha=Points((0.51, 2.0), 6))

    document = page_of(curves)
    settle(document)
    before = _solve.cache_info().misses
    set_control(document, "strength", 2.0)
    settle(document)
    assert _solve.cache_info().misses == before + 1 + 3 and "regularization=3.0" in text(document, "python")


def test_a_connection_that_comes_back_finds_the_page_solved() -> None:
    document = page_of(student)
    document.callbacks.trigger_event(ConnectionLost())
    settle(document)
    assert len(source(document, "student, panel 0")["x"]) == 0
    document.callbacks.trigger_event(ClientReconnected())
    settle(document)
    assert len(source(document, "student, panel 0")["x"]) == 3


def test_negative_values_are_dashed_and_missing_ones_are_told() -> None:
    def curves(largest: float) -> list[Curve]:
        model = of("Perceptron", alpha=0.5, margin=0.2)
        found = call("franz_parisi", model, distances=Points((1e-4, largest), 8), margin_ref=0.2, unsolved="nan")
        return [Curve("same margin", found, "entropy", signed=True)]

    document = page_of(curves, Slider("largest", "d", 0.3, 1e-4, 0.5), Axes("d", "φ"))
    settle(document)
    data = source(document, "same margin, panel 0")
    negative = data["y"] < 0.0
    assert negative.any() and np.isnan(data["solid"][negative]).all() and (data["dashed"][negative] < 0.0).all()
    ended = np.isnan(data["y"])
    assert ended.any() and f"d ≤ {data['x'][ended].max():.3g}: there the curve ends" in text(document, "message")
    set_control(document, "largest", -3.0)  # of its logarithm
    settle(document)
    assert "no solution was found at any distance" in text(document, "message")
    assert len(source(document, "same margin, panel 0")["y"]) == 0


def test_an_axis_that_is_linear_around_zero_has_places_of_its_own_and_true_numbers() -> None:
    def curves(largest: float) -> list[Curve]:
        return [Curve("all weights", call("binary_entropy", distances=Points((1e-6, largest), 8)), "value")]

    panel = Axes("d", "φ", y_linear=1e-3, y_range=(-0.1, 1.0))
    document = page_of(curves, Slider("largest", "d", 0.3, 1e-4, 0.5), panel)
    settle(document)
    data = source(document, "all weights, panel 0")
    large = data["y"] > 1e-3
    assert large.any() and not large.all()
    np.testing.assert_allclose(np.diff(data["solid"][large]), np.diff(np.log10(data["y"][large])), rtol=1e-12)
    np.testing.assert_allclose(data["solid"][~large] / data["y"][~large], 1e3 / np.log(10.0), rtol=1e-12)
