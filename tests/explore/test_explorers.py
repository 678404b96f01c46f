"""Every explorer starts at its figure's parameters, and its curves are what the library and the figure have."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import yaml

from localentropy import quantities
from localentropy.closure import code_closure
from localentropy.explore.catalogue import EXPLORERS
from localentropy.explore.explorer import DASHES, Axes, Choice, Explorer, Points, call, python
from localentropy.figures.interactive import with_names
from localentropy.pipeline.config import ROOT, Configuration, name_target, read_figures, resolve, split_target
from localentropy.pipeline.jobs import table_jobs
from localentropy.quantities import Quantity

SHIPPED: dict[str, dict[int, tuple[str, str]]] = {
    name_target(file.stem, figure): curves
    for file in (Path(__file__).parent / "shipped").glob("*.yaml")
    for figure, curves in yaml.safe_load(file.read_text()).items()
}
"""Explorer → the curves of its start that the committed figure has too: panel and series."""


SLOW = ("figure1", "margins_figures2", "shaping_figure1")
"""Explorers whose curves take more than some seconds of CPU."""


@pytest.fixture(scope="module")
def configuration() -> Configuration:
    return resolve()


def start(explorer: Explorer) -> dict[str, float | str]:
    return {control.name: control.start for control in explorer.controls}


@pytest.mark.parametrize("target", EXPLORERS)
def test_the_grey_lines_are_called_what_the_figure_calls_them(target: str, configuration: Configuration) -> None:
    stem = ROOT.joinpath("figures/gallery", *split_target(target))
    look = json.loads(stem.with_suffix(".look.json").read_text())
    shipped = with_names(pd.read_csv(stem.with_suffix(".csv")), look)
    for panel in EXPLORERS[target](configuration).panels:
        if panel.shipped is None:
            continue
        letters, pattern = panel.shipped
        told = set(shipped.loc[(shipped["panel"] == letters) & shipped["series"].str.fullmatch(pattern), "name"])
        assert told and not [name for name in told if not name or re.search(r"[a-z]_[a-z]|[<>&]", name, re.ASCII)], told


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
                rows = rows[rows[name] == value if isinstance(value, str) else np.isclose(rows[name], value, rtol=1e-9)]
        rows = rows[np.isfinite(rows["x"])].drop_duplicates("x").sort_values("x")
        # The last point of a line may lie beyond its end by the rounding of the CSV.
        rows = rows.iloc[[len(rows) // 2, -2]]
        curve = curves[number]
        if curve.across:
            rows = rows.rename(columns={"x": "y", "y": "x"})
        found = curve.values(curve.call.at(rows["x"].to_numpy()))
        assert found == pytest.approx(rows["y"].to_numpy(), rel=1e-6, abs=1e-9), (series, found, rows["y"])


def y_scale(panel: Axes) -> str:
    return "symlog" if panel.y_linear else "log" if panel.y_log else "linear"


@pytest.mark.parametrize("target", EXPLORERS)
def test_the_axes_are_those_of_the_figure(target: str, configuration: Configuration) -> None:
    stem = ROOT.joinpath("figures/gallery", *split_target(target))
    looks = {look["panel"]: look for look in json.loads(stem.with_suffix(".look.json").read_text())["panels"]}
    for number, panel in enumerate(EXPLORERS[target](configuration).panels):
        if panel.shipped is None:
            continue
        letters = panel.shipped[0].split(", ")
        look = looks[letters[number if len(letters) > 1 else 0]]  # series of panels "a, b" are in both
        assert look["x"]["scale"] == ("log" if panel.x_log else "linear")
        assert look["y"]["scale"] == y_scale(panel) and look["y"].get("linear") == panel.y_linear


@pytest.mark.parametrize("target", EXPLORERS)
def test_the_start_is_a_place_of_the_controls(target: str, configuration: Configuration) -> None:
    for control in EXPLORERS[target](configuration).controls:
        if isinstance(control, Choice):
            assert control.start in control.options
        else:
            assert control.low <= control.start <= control.high
            named = [one for one in vars(quantities).values() if isinstance(one, Quantity) and one.name == control.name]
            fits = [one.has(control.low) and one.has(control.high) for one in named if one.symbol in control.symbol]
            assert any(fits), (control, named)


@pytest.mark.parametrize(
    "target", [pytest.param(target, marks=[pytest.mark.slow] * (target in SLOW)) for target in EXPLORERS]
)
def test_the_printed_python_draws_the_curves(
    target: str, configuration: Configuration, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = EXPLORERS[target](configuration)
    curves = explorer.curves(**start(explorer))
    monkeypatch.setattr(plt, "show", lambda: None)
    names: dict[str, Any] = {}
    exec(python(explorer, curves), names)
    drawn = [iter(axes.lines) for axes in names["axes"][0]]
    for curve in curves:
        solved = pd.concat([curve.call.solve(piece) for piece in range(curve.call.pieces)][::-1], ignore_index=True)
        parts = curve.parts(solved) if curve.signed else (curve.values(solved),)
        for number, y in enumerate(parts):
            line = next(drawn[curve.panel])
            x = line.get_ydata() if curve.across else line.get_xdata()
            np.testing.assert_allclose(np.asarray(x, float), solved["x"], rtol=1e-12)
            shown = np.asarray(line.get_xdata() if curve.across else line.get_ydata(), float)
            np.testing.assert_allclose(shown, y, rtol=1e-6, atol=1e-9)
            assert line.get_linestyle() == ("--" if number else DASHES[curve.dash])
            assert number or (np.isfinite(y).any() and line.get_label() == curve.name)
    for axes, panel in zip(names["axes"][0], explorer.panels, strict=True):
        assert axes.get_xscale() == ("log" if panel.x_log else "linear")
        assert axes.get_yscale() == y_scale(panel)
        assert axes.get_xlabel() == panel.x.replace("$$", "$")
    plt.close(names["figure"])


def test_every_figure_with_theory_in_it_has_an_explorer() -> None:
    theory = {
        job.name: any(of_it and module.startswith("localentropy.theory") for module, of_it in used.items())
        for job in table_jobs(resolve("smoke"))
        for used in (code_closure(*job.modules),)
    }
    figures = {target for target, entry in read_figures().items() if any(theory[name] for name in entry.experiments)}
    assert figures == set(EXPLORERS)
    assert len(figures) < len(read_figures())


def test_the_written_grid_is_the_grid() -> None:
    for spacing in ("log", "linear", "log and linear"):
        grid = Points((1 / 3, 2.0), 7, spacing)
        assert (eval(str(grid), {"np": np}) == grid.values()).all() and (np.diff(grid.values()) > 0).all()


def test_a_piece_is_solved_once() -> None:
    from localentropy.explore.explorer import _solve

    grid = Points((0.1, 1.0), 5)
    before = _solve.cache_info().misses
    for _ in range(2):
        first = call("erm.fit", pieces=2, alpha=grid, loss="square", regularization=0.123).solve(0)
    assert _solve.cache_info().misses == before + 1 and first["x"].tolist() == grid.values()[3:].tolist()
