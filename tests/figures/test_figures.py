"""What figures draw and say for parameters other than the default ones, from small tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localentropy.figures.franz_parisi_panels import curve_name
from localentropy.figures.frozen_ends import frozen_ends
from localentropy.figures.overparam import (
    figure1,
    figure3,
    figure4,
    figure6,
    figure7,
    figure8,
    figure9,
    figure10,
    figure11,
    figure12,
    figure13,
)
from tests.claims.margins import tables as margins_tables
from tests.claims.overparam import network_tables, run_tables, theory_tables

THEORY = {"alpha_T": 3.0, "ensemble": theory_tables.ENSEMBLE}


def thresholds(**parameters) -> pd.DataFrame:
    table = theory_tables.thresholds()
    table.attrs["parameters"] = THEORY | parameters
    return table


@pytest.mark.parametrize(("activation", "lines"), [("sign", 2), ("tanh", 0)])
def test_figure1_marks_the_thresholds_of_the_solvers_features_only(activation, lines) -> None:
    tables = {"overparam/thresholds": thresholds(ensemble=theory_tables.ENSEMBLE | {"activation": activation})}
    tables["margins/dense_regions"] = margins_tables.dense_regions()
    for name in ("anneal", "focusing_bp", "sbpi", "binarynet"):
        runs = getattr(run_tables, f"solve_{name}")()
        for quantity in ("train_error_best", "train_error_last"):
            more = runs[runs["quantity"] == "solved"].assign(quantity=quantity, value=0.0)
            runs = pd.concat([runs, more], ignore_index=True)
        runs.attrs["parameters"] = {"alpha_T": 3.0, "activation": "sign"}
        tables[f"overparam/solve_{name}"] = runs
    drawing = figure1.draw(tables, "smoke")
    marks = drawing.data[drawing.data["series"].str.startswith("threshold")]
    assert len(marks) == lines and set(marks["x"]) <= {0.87748, 0.87748 + 0.1386}
    assert ("no thresholds are drawn" in drawing.told) == (lines == 0)
    # The storage problem is the perceptron of the other paper.
    ends = drawing.data[drawing.data["x"] == 0.0].set_index("series")["y"]
    assert ends["local-entropy threshold, storage"] == pytest.approx(1 / 0.729) and "1.2005 and 1.3717" in drawing.told
    regions = tables["margins/dense_regions"]
    tables["margins/dense_regions"] = regions[regions["ensemble"] != "perceptron"]
    assert "Dots" not in figure1.draw(tables, "smoke").told
    fractions = drawing.data[drawing.data["panel"] == "c"]
    assert set(fractions["series"]) == {"focusing_bp, solved", "sbpi, solved"} and (fractions["y_err"] > 0.0).all()


def franz_parisi() -> pd.DataFrame:
    table = theory_tables.franz_parisi().assign(margin=0.0, residual=0.0, entropy_typical=0.2)
    table.attrs["parameters"] = THEORY | {"inv_alpha": 1.2, "margin": 0.0}
    return table


def test_figure3_says_of_which_curve_an_end_is_and_marks_kappa_u() -> None:
    caption = figure3.draw({"overparam/franz_parisi": franz_parisi()}, "smoke").told
    assert "(κ̃ = 0), " in caption and "(black, κ = κ̃ = 0.1)" in caption and "κ_u" not in caption
    more = franz_parisi().query("reference == '0.1'").assign(curve="monotonic", reference="kappa_u", margin_ref=0.0617)
    table = pd.concat([franz_parisi(), more])
    table.attrs["parameters"] = franz_parisi().attrs["parameters"]
    drawing = figure3.draw({"overparam/franz_parisi": table}, "smoke")
    assert "κ_u = 0.0617" in drawing.told and "monotonic kappa_u" in set(drawing.data["series"])


def test_a_curve_that_is_cut_begins_at_its_smallest_distance_with_an_entropy() -> None:
    x = [0.001, 0.0014, 0.002]
    cut = pd.DataFrame({"distance": x, "entropy": [np.nan, -0.02, 0.1], "curve": "same_margin", "margin_ref": 0.2})
    whole = cut.assign(entropy=0.1, margin_ref=0.3)
    keys = ["curve", "margin_ref"]
    told = frozen_ends(pd.concat([whole, cut]), keys, curve_name)["ends of curves"]
    assert told.startswith("begin at d = 0.0014 (black, κ = κ̃ = 0.2); nearer to the reference")
    assert frozen_ends(whole, keys, curve_name) == {}


def test_figure4_dashes_what_is_negative_and_tells_the_threshold() -> None:
    x = np.geomspace(1e-4, 0.3, 20)
    curve = {"distance": x, "distance_typical": 0.3, "margin_ref": 0.2}
    curves = [
        pd.DataFrame(
            curve | {"curve": name, "inv_alpha": inv_alpha, "entropy": 0.1, "slope": np.where(x < 0.01, low, 1.0)}
        )
        for name, inv_alpha, low in (("max_margin", 0.95, -5.0), ("threshold", 1.01612, 0.0), ("max_margin", 1.2, 0.5))
    ]
    table = pd.concat(curves, ignore_index=True)
    table.attrs["parameters"] = franz_parisi().attrs["parameters"]
    drawing = figure4.draw({"overparam/franz_parisi": table}, "smoke")
    assert "1/α_LE = 1.0161" in drawing.told and "down to -5.0 at 1/α = 0.95)" in drawing.told
    # Beside the curves the axis has the line at zero, of two points.
    solid = [np.asarray(line.get_ydata()) for line in drawing.figure.axes[1].lines if line.get_linestyle() == "-"]
    solid = [slopes for slopes in solid if slopes.size > 2]
    assert len(solid) == 3 and all(np.nanmin(slopes) >= 0 for slopes in solid)


def test_figures_6_and_7_have_their_threshold_lines_in_the_numbers() -> None:
    cnn = network_tables.cnn().assign(parameters=1)
    outcomes = cnn[cnn["quantity"] == "solved"]
    cnn = pd.concat([cnn, outcomes.assign(quantity="train_error", value=1 - outcomes["value"])], ignore_index=True)
    curved = ("hessian_patterns", "hessian_draws")
    sizes = ("training_patterns", "test_patterns", "epochs", "batch", "samples", "solution_errors", *curved)
    rates = ("sgd_learning_rate", "adam_learning_rate", "sgd_momentum")
    words = {"optimizers": ["sgd", "adam"], "initialization": "pytorch", "precision": "float32"}
    cnn.attrs["parameters"] = dict.fromkeys((*sizes, *rates), 1) | words
    mlp = network_tables.mlp()
    names = (
        "hidden_layers",
        "gain",
        "training_patterns",
        "margin",
        "learning_rate",
        "narrow",
        "epochs",
        "smallest_loss",
        "samples",
        "random_label_epochs",
        "random_label_learning_rate",
        "random_label_batch",
        "wide",
        "wide_samples",
        *curved,
    )
    mlp.attrs["parameters"] = dict.fromkeys(names, 1) | {"preparation": "scaled"}
    for figure, table, name, by, wanted in (
        (figure6, mlp, "mlp", "initialization", {"random_orthogonal": 400, "adversarial": 600}),
        (figure7, cnn, "cnn", "optimizer", {"sgd": 6, "adam": 4}),
    ):
        drawing = figure.draw({f"overparam/{name}": table}, "smoke")
        marks = drawing.data[drawing.data["series"] == "threshold"]
        assert marks.set_index(by)["x"].to_dict() == wanted
        assert "y" not in marks.dropna(axis=1)
        points = drawing.data[(drawing.data["panel"] == "d") & (drawing.data["series"] == "largest eigenvalue")]
        assert len(points) > 4 and (points["y"] > 0).all()
        written = {text.get_text() for text in drawing.figure.axes[0].texts}
        assert written == {str(value) for value in wanted.values()}


@pytest.mark.parametrize(
    ("moved", "words"), [(0.0, "entropy vanishes. "), (1.0, "entropy vanishes (in (b) κ = 0.5: α_T = ")]
)
def test_figure8_says_what_is_at_the_left_end(moved, words) -> None:
    table = theory_tables.typical()
    line = (table["line"] == "alpha_T") & (table["reference"] == "0.5")
    table.loc[line, "entropy"] -= moved * table.loc[line, "entropy"].min()
    table.attrs["parameters"] = THEORY | {"inv_alpha": 2.0}
    assert words in figure8.draw({"overparam/typical": table}, "smoke").told


CHOSEN = {"alpha_T": 3.0, "ensemble": theory_tables.ENSEMBLE, "sweeps": 100, "sweeps_after": 30}


def chosen(table: pd.DataFrame) -> pd.DataFrame:
    table.attrs["parameters"] = CHOSEN
    return table


def overlaps() -> pd.DataFrame:
    point = {"D": 67, "N": 1005, "inv_alpha": 5.0, "runs": 2}
    rows = [point | {"solver": "sbpi", "overlap": overlap, "solved": 2} for overlap in (0.6, 0.7)]
    return pd.DataFrame([*rows, point | {"solver": "anneal", "overlap": np.nan, "solved": 0}])


def test_figure9_without_margin_zero_has_no_differences_and_without_its_alpha_T_no_plateau() -> None:
    limits = theory_tables.overparameterized_limit()
    limits = limits.assign(error_barycenter=limits["error_typical"] - 0.05)
    tables = {
        "overparam/typical": chosen(theory_tables.typical()),
        "overparam/overparameterized_limit": limits[limits["margin"] > 0],
    }
    assert set(figure9.draw(tables, "smoke").data["panel"]) == {"a", "c", "data"}
    tables["overparam/overparameterized_limit"] = limits
    plateaus = figure9.draw(tables, "smoke").data.query("series == 'plateau'").set_index("margin")["y"]
    assert plateaus[0.5] == pytest.approx(0.45 - 0.05 * np.log(3.0 / 0.05) - 0.05 * 0.5 - 0.05, abs=1e-9)
    tables["overparam/typical"].attrs["parameters"] = CHOSEN | {"alpha_T": 100.0}
    assert figure9.draw(tables, "smoke").data.query("series == 'plateau'")["y"].isna().all()


def test_figure11_has_every_size_and_shows_all_points() -> None:
    runs = run_tables.solve_mct0()
    sizes = [runs[runs["D"] == 67].assign(D=D) for D in (33, 67, 134, 201, 501)]
    far = sizes[0].assign(inv_alpha=60.0, N=12001)
    tables = {
        "overparam/solve_mct0": chosen(pd.concat([*sizes, far])),
        "overparam/typical_points": run_tables.typical_points(),
    }
    drawing = figure11.draw(tables | {"overparam/typical": theory_tables.typical()}, "smoke")
    named = drawing.data["series"].dropna()
    assert {D for D in (33, 67, 134, 201, 501) if named.str.endswith(f", D = {D}").any()} == {33, 67, 134, 201, 501}
    assert drawing.figure.axes[0].get_xlim()[1] > 60.0
    assert named.str.startswith("MCT0, first solutions").any() and "the solutions 30 sweeps later" in drawing.told


def test_figure11_of_runs_that_stop_has_no_crosses() -> None:
    runs = run_tables.solve_mct0()
    tables = {
        "overparam/solve_mct0": runs[~runs["quantity"].str.endswith("_first")],
        "overparam/typical_points": run_tables.typical_points(),
        "overparam/typical": theory_tables.typical(),
    }
    tables["overparam/solve_mct0"].attrs["parameters"] = CHOSEN | {"sweeps_after": 0}
    drawing = figure11.draw(tables, "smoke")
    assert "Points: the first solutions of at most 100 sweeps." in drawing.told
    assert not drawing.data["series"].dropna().str.contains("first").any()


def test_figure12_without_stabilities_says_so() -> None:
    names = ("stability_density", "typical_lattice")
    runs = run_tables.solve_mct0().assign(
        quantity=lambda rows: rows["quantity"].replace("iterations", "mean_stability")
    )
    tables = {
        "overparam/solve_mct0": chosen(runs),
        **{f"overparam/{name}": getattr(run_tables, name)() for name in names},
    }
    assert "compare the stabilities with the theory" in figure12.draw(tables, "smoke").told


def test_figure13_with_nothing_solved_says_so() -> None:
    names = ("solve_mct0", "solve_sbpi", "solve_belief_propagation", "stability_density", "typical_lattice")
    tables = {f"overparam/{name}": getattr(run_tables, name)() for name in names} | {
        "overparam/typical": theory_tables.typical()
    }
    tables |= {
        "overparam/solution_overlaps": overlaps(),
        "overparam/solution_barriers": run_tables.solution_barriers(),
        "overparam/typical_points": run_tables.typical_points(),
        "overparam/solve_mct0": chosen(tables["overparam/solve_mct0"]),
    }
    drawing = figure13.draw(tables, "smoke")
    assert "(a) D = 134" in drawing.told
    assert "all runs of fBP at D = 33 end in one solution" in drawing.told
    # Means over pairs, then over instances; the hand-made barriers of these kinds are all the same.
    for panel, height in (("g", 0.02), ("h", 0.01)):
        heights = drawing.data[drawing.data["panel"] == panel].set_index("series")["y"]
        assert heights[heights.index.str.endswith("anneal, D = 33")].to_numpy() == pytest.approx(height)
        assert heights[heights.index.str.endswith("focusing_bp and sbpi, D = 67")].tolist() == [0.0] * 3
        assert not heights.index.str.contains("focusing_bp and focusing_bp").any()
    runs = tables["overparam/solve_mct0"]
    tables["overparam/solve_mct0"] = runs.assign(value=runs["value"].mask(runs["quantity"] == "solved", 0.0))
    caption = figure13.draw(tables, "smoke").told
    assert "(a) nothing to draw" in caption and "At no size are enough instances solved" in caption


def test_figure10_has_a_panel_for_each_size() -> None:
    runs, solved = run_tables.solve_anneal(), run_tables.solve_anneal()
    trained = solved[solved["quantity"] == "solved"].assign(quantity="train_error_best", value=0.1)
    runs = pd.concat([runs, trained], ignore_index=True)
    runs.attrs["parameters"] = {"alpha_T": 3.0, "beta_start": 1.0, "beta_step": 0.005, "sweeps": 4000}
    tables = {
        "overparam/solve_anneal": runs,
        "overparam/typical_points": run_tables.typical_points(),
        "overparam/typical": theory_tables.typical(),
    }
    drawing = figure10.draw(tables, "smoke")
    letters = [axis.get_title(loc="left") for axis in drawing.figure.axes]
    assert letters == ["(a)", "(c)", "(d)", "(b)", "(e)", "(f)"]
    for axis in drawing.figure.axes:
        panel, size = axis.get_title(loc="left").strip("()"), axis.get_title()
        rows = drawing.data[drawing.data["panel"] == panel]
        if panel in "cdef":
            assert set(rows["series"]) == {size.replace("$", ""), "theory"}
