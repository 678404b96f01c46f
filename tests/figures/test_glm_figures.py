"""What the figures of the talk `glm` draw and say, from small tables made by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D

from localentropy.analysis.thresholds import last_half_point
from localentropy.figures.drawing import Drawing, panels
from localentropy.figures.glm import (
    binary,
    committee,
    gaussian_equivalence,
    hidden_manifold,
    perceptron,
    phase_retrieval,
    points,
    real_data,
)

TRANSITIONS = pd.DataFrame(
    [
        ("binary_perceptron", 0.0, 0.0, 1.2, 1.5),
        ("phase_retrieval", 0.5, 1.0, 1.0, 1.15),
        ("committee_2", 0.0, 2.1, 2.1, 2.1),
        ("committee_large", 0.0, 7.1, 7.7, math.inf),
    ],
    columns=["model", "weak", "spinodal", "information_theoretic", "algorithmic"],
)


def rows(*, keys: dict[str, Any], **columns: Any) -> pd.DataFrame:
    return pd.DataFrame(keys | columns)


def branch(start: str, alphas: list[float], overlaps: list[float]) -> pd.DataFrame:
    m = np.array(overlaps)
    return rows(
        keys={"start": start}, alpha=alphas, overlap=m, specialization=m, mse=1.0 - m, bayes_error=0.5 - 0.5 * m,
        gibbs_error=0.5 - 0.4 * m,
    )  # fmt: skip


def amp(cosines: dict[float, list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"alpha": alpha, "d": 100, "sample": sample, "cosine": cosine, "converged": 1}
            for alpha, own in cosines.items()
            for sample, cosine in enumerate(own)
        ]
    )


def series(drawing: Drawing, panel: str, name: str) -> pd.DataFrame:
    own = drawing.data[(drawing.data["panel"] == panel) & (drawing.data["series"] == name)]
    assert len(own), f"no {name} in panel {panel}"
    return own.set_index("x")


def words(drawing: Drawing) -> str:
    return " ".join(text.get_text() for axis in drawing.figure.axes for text in axis.texts)


# --- Points


def test_means_have_their_standard_errors_and_bars_of_fractions_end_at_one() -> None:
    runs = rows(keys={"d": 10}, alpha=[1.0, 1.0, 2.0, 2.0], value=[0.1, 0.3, 0.5, 0.5])
    found = points.means(runs, ["alpha", "d"], "value").set_index("alpha")
    assert found.loc[1.0, ["y", "y_err", "runs"]].tolist() == pytest.approx([0.2, 0.1, 2])
    _, (axis,) = panels(1, 3.0, 2.0)
    shares = rows(keys={"d": 10}, alpha=[1.0, 2.0], y=[0.5, 1.0], y_err=[0.2, 0.1])
    points.draw_shares(axis, shares, "shares", points.AMP_SIZES)
    (drawn,) = axis.containers
    assert isinstance(drawn, ErrorbarContainer)
    (bars,) = drawn.lines[2]
    assert [segment[:, 1].tolist() for segment in bars.get_segments()] == [[0.3, 0.7], [0.9, 1.0]]


def test_the_equilibrium_changes_its_branch_at_the_transition() -> None:
    table = pd.concat([branch("uninformed", [1.0, 1.3], [0.5, 0.7]), branch("informed", [1.0, 1.3], [1.0, 1.0])])
    best, other = points.branches(table, 1.2)
    assert best["overlap"].tolist() == [0.5, 1.0] and other["overlap"].tolist() == [1.0, 0.7]


# --- Figures


def perceptron_tables() -> dict[str, pd.DataFrame]:
    alphas = np.array([0.5, 1.0, 4.0])
    risk = [
        rows(keys={"student": name, "regularization": 0.1}, alpha=alphas, generalization_error=0.2 * excess / alphas)
        for name, excess in (("square", 1.5), ("hinge", 1.1), ("logistic", 1.0005))
    ]
    runs = [
        rows(keys={"student": name, "alpha": 1.0, "d": 60}, generalization_error=[0.2, 0.22])
        for name in ("square", "hinge", "logistic")
    ]
    return {
        "glm/bayes_perceptron": rows(keys={}, alpha=[*alphas, 8.0], bayes_error=0.2 / np.array([*alphas, 8.0])),
        "glm/risk": pd.concat(risk),
        "glm/risk_runs": pd.concat(runs),
        "glm/amp_perceptron": amp({1.0: [math.cos(0.18 * math.pi), math.cos(0.22 * math.pi)]}),
    }


def test_figure_perceptron_draws_the_excess_over_bayes_in_per_cent() -> None:
    drawing = perceptron.draw(perceptron_tables(), "smoke")
    excess = {name: series(drawing, "b", name)["y"] for name in ("square", "hinge", "logistic")}
    assert excess["logistic"].tolist() == pytest.approx([0.05] * 3) and excess["square"].max() == pytest.approx(50.0)
    assert "0.05 to 0.05 %" in drawing.settings["excess of the logistic loss"]
    point = series(drawing, "a", "AMP, simulation").loc[1.0]
    assert (point["y"], point["y_err"]) == pytest.approx((0.2, 0.02))
    assert series(drawing, "c", "hinge, simulation / theory").loc[1.0, "y"] == pytest.approx(0.21 / 0.22)
    assert "0.1 %" in words(drawing) and 8.0 not in excess["square"].index


def binary_tables() -> dict[str, pd.DataFrame]:
    alphas = [0.5, 1.2 - 1e-9, 1.2 + 1e-9, 1.5 - 1e-9, 1.5 + 1e-9, 2.0]
    low = branch("uninformed", alphas, [0.3, 0.7, 0.7, 0.9, 1.0, 1.0])
    glass = rows(
        keys={"glass_end": 1.66, "glass_end_temperature": 0.36},
        temperature=[0.0, 0.36, 0.6], metastable_end=[1.66, 1.67, 2.0], equilibrium=[1.2, 1.4, 1.7],
        zero_entropy=[1.2, 1.66, math.nan],
    )  # fmt: skip
    return {
        "glm/bayes_binary": pd.concat([low, branch("informed", alphas, [1.0] * 6)]),
        "glm/transitions": TRANSITIONS,
        "glm/glass": glass,
        "glm/amp_binary": amp({1.0: [0.8, 0.7], 1.6: [0.9, 1.0, 1.0, 1.0]}).assign(converged=[1, 0, 0, 1, 1, 1]),
    }


def test_figure_binary_separates_runs_that_recover_and_marks_the_slides_loads() -> None:
    drawing = binary.draw(binary_tables(), "smoke")
    assert series(drawing, "a", "equilibrium")["y"].tolist() == [0.3, 0.7, 1.0, 1.0, 1.0, 1.0]
    assert series(drawing, "a", "metastable, uninformed start")["y"].tolist() == [0.7, 0.9, 1.0, 1.0]
    low, high = (series(drawing, "a", f"AMP, {name}") for name in ("not recovered", "recovered"))
    assert low.loc[1.6, "y"] == pytest.approx(0.81) and high.loc[1.6, ["y", "runs"]].tolist() == [1.0, 3]
    assert series(drawing, "b", "equilibrium")["y"].tolist() == pytest.approx([0.35, 0.15, 0.0, 0.0, 0.0, 0.0])
    assert series(drawing, "c", "AMP, fraction recovered")["y"].tolist() == [0.0, 0.75]
    assert len(series(drawing, "d", "zero_entropy")) == 2
    for part in (
        "α_IT = 1.20000 on", "α_IT = 1.245", "from 0.150 to 0", "line α = 1.660", "α = 1.6600 at T = 0.3600", "1.63",
        "Converged: 50 % of the runs below α_AMP and 75 % of the runs above α_AMP.",
    ):  # fmt: skip
        assert part in drawing.told
    assert all(part in words(drawing) for part in ("1.2000", "1.5000", "slide: 1.63", "1.660"))


def descent() -> pd.DataFrame:
    """One unit succeeds from α = 6 on at d = 50 and from 8 on at d = 100; many units from 3 on."""
    made = []
    for student, d, alphas, first in (
        ("plain", 50, (4.0, 6.0, 8.0), 6.0), ("plain", 100, (4.0, 6.0, 8.0), 8.0), ("wide", 20, (1.0, 3.0), 3.0),
    ):  # fmt: skip
        for alpha in alphas:
            own = {"student": student, "units": 1 if student == "plain" else d, "d": d, "alpha": alpha}
            errors = [1e-3, 1e-5] if student == "wide" else [1.0, 1.0]
            made.append(
                rows(keys=own, sample=[0, 1], success=alpha >= first, test_error=errors, loss=1e-6, loss_midway=4e-6,
                     converged=False, iterations=round(100 * alpha))
            )  # fmt: skip
    table = pd.concat(made, ignore_index=True)
    table.attrs["parameters"] = {"success_overlap": 0.98}
    return table


def phase_tables() -> dict[str, pd.DataFrame]:
    alphas = [0.2, 1.0 - 1e-9, 1.0 + 1e-9, 1.15 - 1e-9, 1.15 + 1e-9, 1.5]
    low = branch("uninformed", alphas, [0.0, 0.5, 0.5, 0.8, 1.0, 1.0])
    return {
        "glm/bayes_phase_retrieval": pd.concat([low, branch("informed", [1.0 + 1e-9, 1.15, 1.5], [1.0, 1.0, 1.0])]),
        "glm/transitions": TRANSITIONS,
        "glm/amp_phase_retrieval": amp({0.9: [0.7, 0.6], 1.3: [1.0, 1.0]}),
        "glm/descent": descent(),
        "glm/uniqueness": rows(keys={"d": 20}, alpha=[1.0, 3.0], unique=[0.0, 1.0]),
        "glm/uniqueness_cavity": pd.DataFrame({"alpha": [3.25]}),
    }


def test_figure_phase_retrieval_tells_where_half_of_the_descents_succeed() -> None:
    drawing = phase_retrieval.draw(phase_tables(), "smoke")
    assert series(drawing, "a", "equilibrium")["y"].tolist() == [1.0, 0.5, 0.0, 0.0, 0.0]
    assert series(drawing, "a", "metastable, uninformed start")["y"].iloc[:2].tolist() == pytest.approx([0.5, 0.2])
    low = series(drawing, "a", "AMP, not recovered")
    assert low.loc[0.9, "y"] == pytest.approx(1.0 - (0.49 + 0.36) / 2)
    halves = (last_half_point(own) for _, own in series(drawing, "b", "fraction of successes").groupby("d"))
    told = ", ".join(f"{at:.2f} ± {error:.1g} (d = {d})" for (at, error), d in zip(halves, (50, 100), strict=True))
    assert told.startswith("5.00 ± ") and f"more than half succeed: {told}." in drawing.told
    test = series(drawing, "d", "test_error")
    assert test.loc[3.0, "y"] == pytest.approx(1e-4)
    assert test.loc[3.0, "y_err"] == pytest.approx(1e-4 * math.log(10.0))
    assert test["median_steps"].to_dict() == {1.0: 100.0, 3.0: 300.0}
    assert "100 % of these runs ended after 100 to 300 steps, before the loss at which they stop;" in drawing.told
    assert "by a factor of 4 to 4 in the second half" in drawing.told
    assert "success is an overlap above 0.98;" in drawing.told
    assert (
        "cavity (heuristic): 3.25" in words(drawing)
        and "heuristic calculation has a unique minimum above α = 3.25" in drawing.told
    )
    assert all(part in words(drawing) for part in ("talk: 7", "talk: 2", "0.5", "1.15"))


def test_figure_phase_retrieval_has_the_fraction_of_unique_minima() -> None:
    drawing = phase_retrieval.draw(phase_tables(), "smoke")
    assert series(drawing, "c", "fraction unique")["y"].to_dict() == {1.0: 0.0, 3.0: 1.0}
    assert "no zero but the teacher" in drawing.told and "above 2.00 ±" in drawing.told


def test_figure_phase_retrieval_has_one_look_for_a_number_of_inputs_in_all_panels() -> None:
    tables = phase_tables()
    table = tables["glm/descent"]
    tables["glm/descent"] = pd.concat([table, table[table["student"] == "wide"].assign(d=50)])
    drawing = phase_retrieval.draw(tables, "smoke")
    looks: dict[str, set[Any]] = {}
    for axis in drawing.figure.axes[1:4]:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            if label.startswith("$d"):
                line = handle.lines[0] if isinstance(handle, ErrorbarContainer) else handle
                assert isinstance(line, Line2D)
                looks.setdefault(label, set()).add((line.get_color(), line.get_marker()))
    assert sorted(looks) == ["$d = 100$", "$d = 20$", "$d = 50$"]
    assert all(len(own) == 1 for own in looks.values()) and len(set.union(*looks.values())) == 3


def test_figure_committee_jumps_at_its_transition_and_names_the_slides_number() -> None:
    large = [7.0, 7.1 + 1e-9, 7.7 - 1e-9, 7.7 + 1e-9, 9.0]
    low = branch("uninformed", large, [0.0] * 5)
    high = branch("informed", large[1:], [0.4, 0.6, 0.6, 0.8])
    tables = {
        "glm/bayes_committee_2": branch("uninformed", [1.0, 2.1, 4.0], [0.0, 0.0, 0.6]).assign(linear_error=0.6),
        "glm/amp_committee": rows(
            keys={"alpha": 3.0, "d": 100},
            overlap=[0.7, 0.9],
            specialization=[0.4, 0.6],
            error=0.2,
            converged=[1.0, 0.0],
        ),
        "glm/units_specialization": pd.DataFrame({"units": [3, 9], "alpha": [18.0, 243.0]}),
        "glm/bayes_committee_large": pd.concat([low, high]),
        "glm/committee_evolution": rows(keys={"alpha": 30.0}, start=[0.1, 0.01], growth=[1.0, 0.1]),
        "glm/transitions": TRANSITIONS,
    }
    drawing = committee.draw(tables, "smoke")
    for panel, name, value, error in (
        ("a", "overlap", 0.8, 0.1), ("a", "specialization", 0.5, 0.1), ("b", "error", 0.2, 0.0),
    ):  # fmt: skip
        assert series(drawing, panel, f"AMP, {name}").loc[3.0, ["y", "y_err"]].tolist() == pytest.approx([value, error])
    assert "AMP, d = 100, 2 instances at each α" in drawing.told and "50 % of the runs settled" in drawing.told
    assert series(drawing, "c", "equilibrium")["y"].tolist() == pytest.approx([0.5, 0.5, 0.5, 0.2, 0.1])
    assert series(drawing, "c", "metastable, informed start")["y"].tolist() == pytest.approx([0.3, 0.2])
    assert series(drawing, "d", "growth, α̃ = 30")["y"].tolist() == [0.1, 1.0]
    assert series(drawing, "f", "load of specialization / K²")["y"].tolist() == [2.0, 3.0]
    assert (series(drawing, "e", "excess of linear regression")["y"] > 0).all()
    assert "7.700000 Kd samples on; the error falls from 0.500000 to 0.200000 there" in drawing.told
    assert all(part in words(drawing) for part in ("2.1000", "7.1000", "7.7000", "slide: 7.65"))


def manifold_tables() -> dict[str, pd.DataFrame]:
    alphas = [0.5, 1.0, 2.0]
    theory = [
        rows(keys={"student": name, "loss": "square", "regularization": strength, "inputs_per_feature": 0.1},
             alpha=alphas, generalization_error=errors)
        for name, strength, errors in (("ridgeless", 1e-6, [0.2, 0.46, 0.15]), ("optimal", 0.3, [0.15, 0.1, 0.07]))
    ]  # fmt: skip
    plane = [
        rows(keys={"regularization": strength}, alpha=alphas, generalization_error=[0.2, 0.1 + 0.05 * k, 0.06])
        for k, strength in enumerate((10.0, 1.0, 0.1))
    ]
    runs = [
        rows(keys={"student": name, "features": kind, "alpha": 1.0, "p": 100, "d": 10}, generalization_error=errors)
        for name in ("ridgeless", "optimal")
        for kind, errors in (("nonlinear", [0.3, 0.5]), ("gaussian", [0.45, 0.47]))
    ]
    return {
        "glm/manifold": pd.concat(theory),
        "glm/manifold_map": pd.concat(plane),
        "glm/manifold_runs": pd.concat(runs),
    }


def test_figure_hidden_manifold_has_the_peak_and_the_line_of_the_best_regularization() -> None:
    drawing = hidden_manifold.draw(manifold_tables(), "smoke")
    assert "the peak is 0.460 at n/p = 1." in drawing.told
    assert series(drawing, "a", "ridgeless, nonlinear features").loc[1.0, ["y", "y_err"]].tolist() == pytest.approx(
        [0.4, 0.1]
    )
    assert series(drawing, "b", "best λ")["y"].tolist() == [0.3] * 3
    mesh = drawing.figure.axes[1].collections[0].get_array()
    assert mesh is not None
    # Rows of colours by rising λ, columns by rising n/p.
    assert np.asarray(mesh).reshape(3, 3)[:, 1].tolist() == pytest.approx([0.2, 0.15, 0.1])
    assert drawing.figure.axes[-1].get_ylabel() == r"$\varepsilon_g$"


def equivalence_tables() -> dict[str, pd.DataFrame]:
    theory = [
        rows(keys={"student": "square", "regularization": 0.1, "inputs_per_feature": 0.1}, alpha=[0.5, 3.0],
             generalization_error=[0.2, 0.1])
    ]  # fmt: skip
    runs = [
        rows(keys={"student": "square", "features": kind, "alpha": alpha, "d": d},
             sample=[0, 1], generalization_error=error * ((1.0 - slope / d) * np.array([0.98, 1.02])))
        for kind, slope in (("nonlinear", 5.0), ("gaussian", 0.0))
        for alpha, error in ((0.5, 0.2), (3.0, 0.1))
        for d in (25, 50, 100)
    ]  # fmt: skip
    return {"glm/equivalence": pd.concat(theory), "glm/equivalence_runs": pd.concat(runs)}


def test_figure_gaussian_equivalence_extrapolates_both_kinds_of_features_to_the_theory() -> None:
    drawing = gaussian_equivalence.draw(equivalence_tables(), "smoke")
    assert series(drawing, "a", "square, erf features").loc[0.04, "y"] == pytest.approx(0.8)
    for panel in "ab":
        for kind, slope in (("erf features", -5.0), ("Gaussian features", 0.0)):
            end = series(drawing, panel, f"square, {kind}, 1/d → 0").loc[0.0]
            assert end["y"] == pytest.approx(1.0) and end["slope"] == pytest.approx(slope, abs=1e-9)
            assert end["y_err"] > 0.0
    # Of a sample of both kinds: (0.98 or 1.02) times -5/d.
    difference = series(drawing, "c", "square, erf less Gaussian")
    assert difference.loc[0.04, "y"].tolist() == pytest.approx([-0.2, -0.2])
    assert difference.loc[0.04, "y_err"].tolist() == pytest.approx([0.004, 0.004])
    assert series(drawing, "c", "square, erf less Gaussian, 1/d → 0")["y"].tolist() == pytest.approx(
        [0.0, 0.0], abs=1e-9
    )
    assert "n/p = 0.5, 3." in drawing.told and "α" not in drawing.told
    assert "their ends at 1/d = 0 are between 1.000 and 1.000, with standard errors of 0.0" in drawing.told
    for axis, marks in zip(drawing.figure.axes, ({"_"}, {"_"}, {"^", "s"}), strict=True):
        drawn = [mark.lines[0] for mark in axis.containers if isinstance(mark, ErrorbarContainer)]
        ends = [mark for mark in drawn if mark is not None and len(np.asarray(mark.get_xdata())) == 1]
        assert {mark.get_marker() for mark in ends} == marks
        assert all(mark.get_marker() == "_" or mark.get_markerfacecolor() == "white" for mark in ends)
    assert drawing.figure.axes[1].get_title() == "$n/p = 3$"


def test_figure_gaussian_equivalence_draws_no_line_through_one_size() -> None:
    tables = equivalence_tables()
    tables["glm/equivalence_runs"] = tables["glm/equivalence_runs"].query("d == 50")
    drawing = gaussian_equivalence.draw(tables, "smoke")
    assert "no line" in drawing.told and not drawing.data["series"].str.contains("→ 0").any()


def real_tables() -> dict[str, pd.DataFrame]:
    theory, runs, covariance = [], [], []
    for dataset in ("mnist", "fashion_mnist"):
        for features, factor in (("random_features", 1.0), ("pixels", 1.5)):
            keys = {"dataset": dataset, "features": features, "regularization": 0.1}
            theory.append(rows(keys=keys, n=[100, 200, 400], square_error=[0.8, 2.0, 0.4], finite_set=[0.04, 0.2, 0.0]))
            runs.append(rows(keys=keys | {"n": 200}, square_error=factor * np.array([1.8, 2.2])))
            keys = {"dataset": dataset, "features": features, "images": 7000, "rank": round(100 * factor)}
            covariance.append(rows(keys=keys, norm_spread=[0.2 * factor] * 3))
    names = ("real_theory", "real_runs", "real_covariance")
    tables = (theory, runs, covariance)
    return {f"glm/{name}": pd.concat(table) for name, table in zip(names, tables, strict=True)}


def test_figure_real_data_has_two_panels_for_each_dataset_and_kind_and_tells_the_ratios() -> None:
    drawing = real_data.draw(real_tables(), "smoke")
    titles = [axis.get_title(loc="right") for axis in drawing.figure.axes]
    assert [title for title in titles if title] == [
        "MNIST, random features", "MNIST, pixels", "Fashion-MNIST, random features", "Fashion-MNIST, pixels"
    ]  # fmt: skip
    assert "(a), (b), (e), (f) Mean squared error" in drawing.told and "r is the ridge" in drawing.told
    for panel, ratio in zip("cdgh", (1.0, 1.5, 1.0, 1.5), strict=True):
        assert series(drawing, panel, "simulation / theory, r = 0.1").loc[200, "y"] == pytest.approx(ratio)
    for part in (
        "1.50 to 1.50 (MNIST, pixels)",
        "p = 100",
        "all 7000 images",
        "10 (MNIST, random features)",
        "up to 10 %",
    ):
        assert part in drawing.told
    assert "$n$ = 150" in words(drawing)
