"""Every explorer starts at its figure's parameters, and its curves are what the library and the figure have."""

from __future__ import annotations

import ast
from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from localentropy.explore.catalogue import EXPLORERS
from localentropy.explore.explorer import Choice, Explorer, Grid, call, python
from localentropy.pipeline.config import ROOT, Configuration, resolve, split_target

SHIPPED: dict[str, dict[int, tuple[str, str]]] = {
    "figure1": {0: ("a", "interpolation threshold"), 1: ("a", "local-entropy threshold")},
    "figure2": {0: ("a", "typical 0.0"), 1: ("a", "barycenter 0.0")},
    "figure3": {2: ("a, b", "reference 0.1")},
    "figure4": {0: ("a", "entropy, 1/α = 1.2"), 1: ("b", "slope, 1/α = 1.2")},
    "figure8": {0: ("a", "margin 0")},
    "figure9": {0: ("a", "barycenter"), 1: ("c", "limit of typical"), 2: ("c", "limit of barycenter")},
    "margins_figure3": {2: ("a, b", "reference 0.3")},
    "margins_figure4": {0: ("a", "entropy, α = 0.5"), 1: ("b", "slope, α = 0.5")},
    "margins_figure6": {0: ("a", "entropy, α = 0.6"), 1: ("b", "slope, α = 0.6")},
    "margins_figure7": {0: ("a", "entropy, α = 0.45"), 1: ("b", "slope, α = 0.45")},
    "margins_figures1": {0: ("e", "planted, entropy"), 1: ("f", "planted, slope")},
    "shaping_figure1": {0: ("a", "α = 0.5")},
    "shaping_figure3": {0: ("a", "α = 0"), 1: ("a", "α = 0.4, γ = 1"), 2: ("b", "α = 0.4, γ = 1")},
    "shaping_s1": {0: ("a", "α = 0.5")},
    "glm_perceptron": {0: ("a", "Bayes")},
    "glm_hidden_manifold": {0: ("a", "ridgeless, theory")},
}
"""Explorer → the curves of its start that the committed figure has too: panel and series."""


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return resolve()


def start(explorer: Explorer) -> dict[str, float | str]:
    return {control.name: control.start for control in explorer.controls}


def test_every_explorer_is_compared_with_its_figure() -> None:
    assert set(SHIPPED) == set(EXPLORERS)


@pytest.mark.parametrize("target", EXPLORERS)
def test_the_start_is_the_committed_figure(target: str, configuration: Configuration) -> None:
    explorer = EXPLORERS[target](configuration)
    paper, module = split_target(target)
    shipped = pd.read_csv(ROOT / f"figures/gallery/{paper}/{module}.csv")
    curves = explorer.curves(**start(explorer))
    for number, (panel, series) in SHIPPED[target].items():
        rows = shipped[(shipped["panel"] == panel) & (shipped["series"] == series)].dropna(subset=["x", "y"])
        for name, value in start(explorer).items():
            if name in rows and rows[name].notna().all():
                rows = rows[np.isclose(rows[name], value, rtol=1e-9)]
        rows = rows.drop_duplicates("x").sort_values("x").iloc[[len(rows) // 2, -1]]
        curve = curves[number]
        found = curve.values(curve.call.at(rows["x"].to_numpy()))
        assert found == pytest.approx(rows["y"].to_numpy(), rel=1e-6, abs=1e-9), (series, found, rows["y"])


@pytest.mark.parametrize("target", EXPLORERS)
def test_the_start_is_a_place_of_the_controls(target: str, configuration: Configuration) -> None:
    for control in EXPLORERS[target](configuration).controls:
        if isinstance(control, Choice):
            assert control.start in control.options
        else:
            assert control.low <= control.start <= control.high


@pytest.mark.parametrize("target", ["figure2", "figure9", "margins_figure4", "shaping_s1", "glm_perceptron"])
def test_the_shown_python_makes_the_curves(target: str, configuration: Configuration) -> None:
    explorer = EXPLORERS[target](configuration)
    calls = list(dict.fromkeys(curve.call for curve in explorer.curves(**start(explorer))))
    lines = ast.parse(python(calls)).body
    names: dict[str, object] = {}
    exec(compile(ast.Module([line for line in lines if not isinstance(line, ast.Expr)], []), "", "exec"), names)
    shown = [
        eval(compile(ast.Expression(line.value), "", "eval"), names) for line in lines if isinstance(line, ast.Expr)
    ]
    for found, each in zip(shown, calls, strict=True):
        theirs = found if isinstance(found, pd.DataFrame) else pd.DataFrame(map(asdict, found))
        solved = pd.concat([each.solve(piece) for piece in range(each.pieces)][::-1], ignore_index=True)
        pd.testing.assert_frame_equal(solved[list(theirs)], theirs, rtol=1e-6, atol=1e-9, check_like=True)


def test_the_written_grid_is_the_grid() -> None:
    for spacing in ("log", "linear", "log and linear"):
        grid = Grid((1 / 3, 2.0), 7, spacing)
        assert (eval(str(grid), {"np": np}) == grid.values()).all() and (np.diff(grid.values()) > 0).all()


def test_a_piece_is_solved_once() -> None:
    from localentropy.explore.explorer import _solve

    grid = Grid((0.1, 1.0), 5)
    before = _solve.cache_info().misses
    for _ in range(2):
        first = call("erm.fit", 2, alpha=grid, loss="square", regularization=0.123).solve(0)
    assert _solve.cache_info().misses == before + 1 and first["x"].tolist() == grid.values()[3:].tolist()
