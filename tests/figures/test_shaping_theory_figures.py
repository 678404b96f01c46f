"""What the figures of the theory of shaping draw and say, from small tables made by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from localentropy.figures.drawing import Drawing
from localentropy.figures.shaping import figure1, figure2, figure3, s1
from tests.claims.margins import tables as margins_tables
from tests.claims.shaping import run_tables, theory_tables


def groups(name: str) -> pd.DataFrame:
    table: pd.DataFrame = getattr(theory_tables, name)()
    return table.assign(annealed=-table["alpha"] * math.log(2.0), residual=0.0)


def labels(drawing: Drawing) -> dict[str, object]:
    return {str(line.get_label()): line.get_linestyle() for line in drawing.figure.axes[0].lines}


def test_figure1_marks_the_papers_clustering_and_capacity() -> None:
    table = pd.concat([groups("wide_minima"), groups("wide_minima").query("alpha == 1").assign(alpha=1.76)])
    tables = {"shaping/wide_minima": table, "shaping/typical_volume": run_tables.typical_volume()}
    around = {"alpha": 1.0, "N": 999, "distance": 0.05, "entropy": [-0.1, -0.2, 5.0], "solved": 1.0}
    tables["shaping/units3_local_entropy"] = pd.DataFrame(around | {"sample": range(3), "converged": [1.0, 1.0, 0.0]})
    drawing = figure1.draw(tables, "smoke")
    styles = labels(drawing)
    assert styles["1"] == "-" and styles["1.76 (paper's clustering)"] == styles["3.02 (paper's capacity)"] == "--"
    for part in ("the replicon is 1 at 1.7600", "ends at 4.0000", "tree of 3 units"):
        assert part in drawing.told
    assert set(drawing.data["series"]) == {"α = 1", "α = 1.76", "α = 2", "α = 3.02", "fBP, α = 1"}
    panels = dict(iter(drawing.data.groupby("panel")))
    for panel, x, y in (("a", 0.81, -0.15), ("b", 0.19, 0.15)):
        point = panels[panel].set_index("series").loc["fBP, α = 1"]
        assert (point["x"], point["y"]) == pytest.approx((x, y)) and point["n"] == 2
    line, near = (rows[rows["series"] == "α = 2"] for rows in (panels["a"], panels["b"]))
    assert line["y"].to_numpy() == pytest.approx(-6.4 * (1.0 - line["x"].to_numpy()) ** 1.5)
    assert len(near) and near["x"].max() <= 0.2
    assert near["y"].to_numpy() == pytest.approx(6.4 * near["x"].to_numpy() ** 1.5)


def test_figure_s1_draws_the_parity_machines_full_minimisation_beside_the_constant() -> None:
    parity = groups("wide_minima_parity")
    parity = parity.assign(entropy=parity["annealed"] * (1.0 - parity["overlap"]))
    tables = {
        "shaping/wide_minima_many_units": groups("wide_minima_many_units"),
        "shaping/wide_minima_parity": parity,
        "shaping/parity_solutions": theory_tables.parity_solutions(),
        "shaping/typical_volume": run_tables.typical_volume(),
    }
    drawing = s1.draw(tables, "smoke")
    points = drawing.data[drawing.data["series"] == "N = 99"]
    assert points[["x", "N", "n"]].values.tolist() == [[0.95, 99, 6], [0.98, 99, 6]]
    assert points["y"].to_numpy() == pytest.approx(-30 / 99 * math.log(2.0)) and points["y_err"].gt(0).all()
    of_one = {line.get_color() for axis in drawing.figure.axes for line in axis.lines if line.get_label() == "1"}
    assert len(of_one) == 1
    data = drawing.data.set_index("series")
    assert data.loc["paper, α = 1", "y"].to_numpy() == pytest.approx(-math.log(2.0))
    assert data.loc[["α = 1"]].query("panel == 'b'")["y"].max() > -0.01
    for part in (
        "infinitely many units",
        "the replicon is 1 at 2.9500",
        "at q₁ = 0.9 it is",
        "0.1 (α = 0.3)",
        "N = 99 (6)",
    ):
        assert part in drawing.told


def test_figure2_draws_the_loss_and_marks_both_loads() -> None:
    table = theory_tables.cross_entropy_minimizers().assign(
        alpha_c=0.8331, beta=1.0, q=0.5, energy=0.1, entropy=0.0, residual=0.0
    )
    tables = {"shaping/cross_entropy_minimizers": table, "margins/large_deviations": margins_tables.large_deviations()}
    drawing = figure2.draw(tables, "smoke")
    inset = drawing.data[drawing.data["panel"] == "inset"]
    for gamma, line in inset.groupby("gamma"):
        x = line["x"].to_numpy()
        assert isinstance(gamma, float)
        expected = -x / 2 + np.log(2 * np.cosh(gamma * x)) / (2 * gamma)
        assert line["y"].to_numpy() == pytest.approx(expected, abs=1e-12)
    words = [text.get_text() for text in drawing.figure.axes[0].texts]
    assert any("0.833" in text for text in words) and any("0.755" in text for text in words)
    assert "α_c = 0.8331" in drawing.told and "α_U = 0.755" in drawing.told
    other = tables["margins/large_deviations"]
    other.attrs["parameters"] = {"ensembles": {}}
    assert "α_U = 0.76 they" in figure2.draw(tables, "smoke").told


def test_figure3_draws_entropies_and_their_part_of_the_bound() -> None:
    table = theory_tables.cross_entropy_franz_parisi().assign(slope=1.0, replicon=0.1, residual=0.0)
    drawing = figure3.draw({"shaping/cross_entropy_franz_parisi": table}, "smoke")
    data = drawing.data[drawing.data["series"] == "α = 0.4, γ = 2"]
    parts = data[data["panel"] == "b"]
    assert parts["y"].to_numpy() == pytest.approx(0.99 - parts["x"].to_numpy())
    assert r"$\alpha = 0.4$, $\gamma = \infty$" in labels(drawing)
    assert drawing.data["alpha"].isin([0.4, 0.6]).sum() == 2 * len(table)
    assert "(α = 0.6, γ = 1)" in drawing.told and "(α = 0.6, γ = 2)" in drawing.told
    assert "(α = 0.4" not in drawing.told
    negative = [line for line in drawing.figure.axes[0].lines if line.get_linestyle() == ":"]
    assert any((np.asarray(line.get_ydata()) < -0.01).any() for line in negative)


def test_figure3_draws_any_number_of_loads() -> None:
    table = theory_tables.cross_entropy_franz_parisi().assign(slope=1.0, replicon=0.1, residual=0.0)
    table = pd.concat([table.assign(alpha=alpha) for alpha in (0.3, 0.4, 0.5, 0.6, 0.7)], ignore_index=True)
    drawing = figure3.draw({"shaping/cross_entropy_franz_parisi": table.drop_duplicates()}, "smoke")
    assert {rf"$\alpha = {alpha}$, $\gamma = 1$" for alpha in (0.3, 0.5, 0.7)} <= set(labels(drawing))
