"""What figures s4 and s5 of `shaping` draw and say, from small tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import ErrorbarContainer
from scipy.special import entr

from localentropy.figures.shaping import s4, s5
from tests.claims.shaping import annealing_tables as made


def figure4_tables() -> dict[str, pd.DataFrame]:
    names = ("optimal_gamma", "optimal_gamma_annealing")
    return {f"shaping/{name}": getattr(made, name)() for name in names}


def test_figure_s5_draws_the_end_the_best_and_the_way_of_both_energies() -> None:
    table = made.annealing()
    drawing = s5.draw({"shaping/annealing": table}, "smoke")
    data = drawing.data.set_index(["panel", "series", "x"])
    errors = table[(table["energy"] == "errors") & (table["alpha"] == 0.4)].set_index("quantity")["value"]
    end = data.loc[("a", "number of errors, end", 0.4)]
    assert end["y"] == pytest.approx(errors["train_error_last"].mean(), rel=1e-12)
    assert end["y_err"] == pytest.approx(errors["train_error_last"].sem(), rel=1e-12)
    assert data.loc[("a", "number of errors, best", 0.4), "y"] < end["y"]
    assert data.loc[("b", "cross-entropy", 0.6), "y"] == 1.0 and data.loc[("b", "cross-entropy", 0.7), "y"] == 0.0
    # One success and one failure more than 10 of 10, and than 0 of 10.
    expected = np.sqrt(11 / 12 * 1 / 12 / 12)
    assert data.loc[("b", "cross-entropy", 0.6), "y_err"] == pytest.approx(expected)
    assert data.loc[("b", "number of errors", 0.6), "y_err"] == pytest.approx(expected)
    drawn = drawing.figure.axes[1].containers[1]
    assert isinstance(drawn, ErrorbarContainer)
    bars = [segment[:, 1].tolist() for segment in drawn.lines[2][0].get_segments()]
    assert bars[0] == pytest.approx([1 - expected, 1.0]) and bars[-1] == pytest.approx([0.0, expected])
    trace = drawing.data[drawing.data["panel"] == "c"]
    assert set(trace["alpha"]) == {0.5} and set(trace["x"]) == set(np.geomspace(1, 301, 5))
    assert "cross-entropy with γ = 3." in drawing.told and "by 0.015 a sweep" in drawing.told


def test_figure_s4_puts_entropies_in_units_of_their_bound_and_tells_the_optimum() -> None:
    tables = figure4_tables()
    drawing = s4.draw(tables, "smoke")
    data = drawing.data
    line = data[(data["panel"] == "b") & (data["series"] == "theory, d = 0.02")].set_index("x")["y"]
    assert line.idxmin() == 3.0 and line[3.0] == pytest.approx(0.6 * 0.3) and line[np.inf] == pytest.approx(0.8)
    optima = "3, 3 at α = 0.4 (d = 0.01, 0.02); 3, 3 at α = 0.6 (d = 0.01, 0.02)"
    assert f"the theory is highest at γ = {optima}" in drawing.told
    runs = tables["shaping/optimal_gamma_annealing"]
    here = runs[(runs["gamma"] == 5.0) & (runs["x"] == 0.01) & (runs["quantity"] == "local_entropy")]
    bound = entr(0.01) + entr(0.99)
    points = data[(data["panel"] == "a") & (data["series"] == "annealing, d = 0.01")].set_index("x")
    expected = 1.0 - here[here["alpha"] < 0.5]["value"] / bound
    assert points.loc[5.0, "y"] == pytest.approx(expected.mean(), rel=1e-12)
    assert points.loc[5.0, "y_err"] == pytest.approx(expected.sem(), rel=1e-12)
    assert points.loc[0.2, "solved"] == 0.0 and "left out" not in drawing.told


def test_figure_s4_leaves_out_what_often_did_not_converge() -> None:
    tables = figure4_tables()
    runs = tables["shaping/optimal_gamma_annealing"]
    lost = (runs["gamma"] == 0.2) & (runs["x"] == 0.01) & (runs["alpha"] > 0.5) & (runs["sample"] < 2)
    runs.loc[lost, "value"] = np.nan
    drawing = s4.draw(tables, "smoke")
    points = drawing.data[drawing.data["series"] == "annealing, d = 0.01"]
    assert 0.2 in set(points[points["panel"] == "a"]["x"]) and 0.2 not in set(points[points["panel"] == "b"]["x"])
    assert "fewer than 90 % of the instances, γ = 0.2 at α = 0.6, d = 0.01." in drawing.told


def test_figure_s4_names_the_first_solutions_that_it_leaves_out() -> None:
    tables = figure4_tables()
    runs = tables["shaping/optimal_gamma_annealing"]
    first = (runs["quantity"] == "local_entropy_first") & (runs["alpha"] > 0.5)
    runs = runs[~(first & (runs["gamma"] == 10.0))]  # no instance met a solution
    runs.loc[first & (runs["gamma"] == 0.2) & (runs["sample"] < 2), "value"] = np.nan
    runs.attrs["parameters"] = tables["shaping/optimal_gamma_annealing"].attrs["parameters"]
    drawing = s4.draw(tables | {"shaping/optimal_gamma_annealing": runs}, "smoke")
    drawn = drawing.data[drawing.data["series"] == "first solution, α = 0.6, d = 0.02"]
    assert drawn["x"].tolist() == [1.0, 2.0, 3.0, 5.0]
    assert "Points left out" not in drawing.told
    assert drawing.told.endswith(
        "First solutions left out in (c): where fewer than 90 % of the instances met a solution around which the "
        "messages converged, γ = 0.2, 10 at α = 0.6."
    )
