"""All figures at smoke scale, by the real pipeline, and what must be seen in them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import entr

from localentropy.errors import ArtifactError
from localentropy.figures.interactive import chart
from localentropy.pipeline.artifacts import read_table
from localentropy.pipeline.computations import ExperimentJob
from localentropy.pipeline.config import name_target, read_claims, read_figures, resolve, split_target
from localentropy.pipeline.jobs import table_jobs
from localentropy.pipeline.provenance import versions
from tests.claims import test_conditions, test_verdicts
from tests.figures.charts import faults
from tests.pipeline.conftest import ROOT, Checkout, Run, make_once
from tests.pipeline.golden import difference, verdict_differences

pytestmark = pytest.mark.pipeline

GOLDEN = ROOT / "tests/golden"
NUMBERS = {
    name_target(file.parent.name, file.stem): file for file in sorted(GOLDEN.glob("*/*.csv")) if file.stem != "verdicts"
}
"""Figure → its committed numbers; `make golden` renews them."""


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which every figure and the scorecards were made at smoke scale.

    It takes over the current tables that this one has of that scale, made by the same libraries: their versions are in
    no address.
    """

    def make(checkout: Checkout) -> Run:
        if (ROOT / "data/prepared").is_dir():
            shutil.copytree(ROOT / "data/prepared", checkout.folder / "data/prepared")
        for job in table_jobs(resolve("smoke")):
            with suppress(ArtifactError, FileNotFoundError):  # missing or damaged
                if read_table(ROOT / job.table).versions == versions():
                    (checkout.folder / job.table).parent.mkdir(parents=True, exist_ok=True)
                    for file in (job.table.with_suffix(".json"), job.table):
                        shutil.copy(ROOT / file, checkout.folder / file)
        return checkout.snakemake("all", "scorecard", "--config", "scale=smoke")

    return make_once(tmp_path_factory, "smoke", make)[0]


def figure(smoke: Checkout, target: str, suffix: str) -> Path:
    return smoke.folder.joinpath("figures/smoke", *split_target(target)).with_suffix(suffix)


def test_every_figure_is_there_with_its_numbers_and_caption(smoke: Checkout) -> None:
    for target in read_figures():
        data = pd.read_csv(figure(smoke, target, ".csv"))
        assert list(data.columns[:5]) == ["panel", "series", "x", "y", "y_err"]
        record = json.loads(figure(smoke, target, ".json").read_text())
        assert "chosen here" in record["settings"] and len(record["caption"].split()) <= 120, target
        for suffix in (".png", ".pdf"):
            assert figure(smoke, target, suffix).stat().st_size > 10_000


def test_the_chart_of_every_figure_has_all_drawn_rows(smoke: Checkout) -> None:
    undrawn = {}
    for target in read_figures():
        data, look = (
            pd.read_csv(figure(smoke, target, ".csv")),
            json.loads(figure(smoke, target, ".look.json").read_text()),
        )
        assert faults(data, look, chart(data, look)) == [], target
        drawn = {row for panel in look["panels"] for mark in panel["marks"] for row in mark.get("rows", ())}
        known = data["panel"].str.fullmatch(r"[a-z](, ([a-z]|inset))*|inset") & data["x"].notna() & data["y"].notna()
        if left := sorted(set(data.loc[known & ~data.index.isin(drawn), "series"])):
            undrawn[target] = left
    # Bins without eigenvalues.
    assert set(undrawn) <= {"shaping_figure5"}, undrawn


REDRAW = """
import sys

from localentropy.pipeline.config import resolve
from localentropy.pipeline.outputs import FigureJob

configuration = resolve("smoke")
for target in configuration.figures:
    job = FigureJob.from_configuration(configuration, target)
    drawn = job.render({name: job.read(name) for name in job.tables}).contents
    for suffix in job.SUFFIXES:
        if drawn[suffix] != job.stem.with_suffix(suffix).read_bytes():
            sys.exit(f"{target}{suffix} has other bytes")
"""
"""All figures after each other in one process: to start a program for each would take most of the time."""


def test_a_second_run_does_nothing(smoke: Checkout) -> None:
    assert smoke.snakemake("all", "--config", "scale=smoke").did == set()
    assert smoke.python("verify", "--scale", "smoke").status == 0


def test_every_redrawn_figure_has_the_same_bytes(smoke: Checkout) -> None:
    variables = os.environ | {"PYTHONPATH": str(smoke.folder / "src")}
    command = [sys.executable, "-c", REDRAW]
    done = subprocess.run(command, cwd=smoke.folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_figure3_shows_the_phases_of_the_text(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure3", ".csv")).dropna(subset="y")
    curves = {str(name): curve.set_index("x").sort_index() for name, curve in data.groupby("series")}
    names = ["reference 0.0", "reference 0.03", "reference 0.05", "reference 0.1", "reference max"]
    isolated, shell, dip, dense, widest = (curves[name] for name in names)
    # κ̃ = 0: negative for d < 0.019; κ̃ = 0.03: a negative shell away from 0.
    assert (isolated.loc[:0.0185, "y"] < 0).all() and (isolated.loc[0.02:0.5, "y"] > 0).all()
    assert shell["y"].iloc[0] > 0 and (shell.loc[0.001:0.006, "y"] < 0).all() and (shell.loc[0.02:0.5, "y"] > 0).all()
    # κ̃ = 0.05: positive and not monotonic; at and above κ_u ≈ 0.062: monotonic up to the typical distance.
    assert (dip["y"] > 0).all() and (np.diff(dip.loc[:0.2, "y"]) < 0).any()
    touching = curves["monotonic kappa_u"]
    assert abs(touching["margin_ref"].iloc[0] - 0.0617) < 1e-4
    for curve in (touching, dense, widest):
        rising = curve.loc[: curve["distance_typical"].iloc[0]]
        assert (rising["slope"] > 0).all() and (rising["y"] > 0).all()
    # κ_max is highest up to its typical distance and lowest beyond; all maxima have the same height.
    for x in widest.loc[0.001:].index:
        others = [curve.loc[x, "y"] for curve in (isolated, shell, dip, dense) if x in curve.index]
        if x <= widest["distance_typical"].iloc[0]:
            assert widest.loc[x, "y"] > max(others)
        elif x > 0.32:
            assert widest.loc[x, "y"] < min(others)
    for curve in (isolated, shell, dip, dense, widest):
        assert curve["y"].max() <= curve["entropy_typical"].iloc[0] + 1e-9
    assert (curves["same_margin 0.1"].loc[:0.03, "y"] < 0).all()
    assert all((curve["y"] <= entr(curve.index) + entr(1.0 - curve.index) + 1e-9).all() for curve in curves.values())


def test_figure6_shows_thresholds_overlaps_and_flatter_wide_networks(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure6", ".csv"))
    for _, networks in data.groupby("initialization"):
        train = networks[networks["series"] == "train error"].set_index("x")["y"].sort_index()
        assert train.iloc[0] > 0 and train.iloc[-1] < train.iloc[0]
        overlaps = networks[networks["series"] == "trained"]
        assert (overlaps["y"] + 3 * overlaps["y_err"] < 1).all()
        noiseless = networks[(networks["panel"] == "c") & (networks["sigma"] == 0)]
        final = networks[(networks["series"] == "train error")].set_index("width")["y"]
        assert np.allclose(noiseless["y"], final.loc[noiseless["width"]], atol=1e-9)
        profiles = networks[networks["panel"] == "c"].sort_values("x").groupby("series")
        energies = {name: np.interp(0.15, profile["x"], profile["y"]) for name, profile in profiles}
        assert energies["near threshold"] > energies["far above"]


def test_figure7_shows_thresholds_falling_test_errors_and_flat_minima(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure7", ".csv"))
    narrowest = []
    for _, networks in data[data["series"] != "untrained"].groupby("optimizer"):
        train = networks[networks["series"] == "train error"].set_index("width").sort_index()
        narrowest.append(train["y"].iloc[0])
        assert (train["solved"] == train["samples"]).iloc[-1]
        test = networks[networks["series"] == "test error"].sort_values("width")
        errors = test["y_err"].to_numpy()
        assert (np.diff(test["y"]) < 2 * np.hypot(errors[1:], errors[:-1])).all()
        overlaps = networks[networks["series"] == "trained"]
        assert (overlaps["y"] + 3 * overlaps["y_err"] < 1).all()
        near = networks[(networks["panel"] == "c") & (networks["x"] < 0.03)]
        assert len(near) and (near["y"] < 0.02).all()
    assert max(narrowest) > 0.02


def test_figure14_layers_move_away_from_their_start_the_first_convolution_least(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure14", ".csv"))
    for _, layers in data[data["panel"].isin(["a", "b"])].groupby("optimizer"):
        curves = layers.pivot_table(index="epoch", columns="series", values="y")
        assert (curves.loc[0] == 1).all() and (curves.iloc[-1] < curves.loc[2]).all()
        convolutions = curves.iloc[-1][:4].to_numpy()
        assert (np.diff(convolutions) < 0).all()


def test_figure5_has_one_threshold_for_both_solvers_and_flat_solutions_above_it(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure5", ".csv"))
    train = data[data["series"] == "train error"].pivot_table(index="x", columns="solver", values="y")
    # At the threshold half of the runs are solved, and the others are nearly so.
    assert (train.iloc[0] > 0.1).all() and (train.iloc[1] < 1e-3).all() and (train.iloc[2:] == 0).all(axis=None)
    marks = data[data["series"] == "threshold"]
    assert len(marks) == 2 and (marks["x"] == train.index[1]).all()
    test = data[data["series"] == "test error"].pivot_table(index="x", columns="solver", values="y")
    assert (np.diff(test, axis=0) < 0).all()
    assert test["committee_sgd"].iloc[-1] > test["committee_focusing_bp"].iloc[-1] + 0.02
    overlaps = data[data["panel"] == "c"].sort_values("x")
    assert (overlaps["y"] + 3 * overlaps["y_err"] < 0.9).all() and overlaps["y"].iloc[0] > overlaps["y"].iloc[-1] + 0.1
    profiles = data[data["panel"] == "d"]
    np.testing.assert_allclose(profiles["distance_raw"], 3 * profiles["x"])  # of the nine units together
    energies = profiles.pivot_table(index="sigma", columns=["series", "solver"], values="y")
    assert (energies.loc[0.0] == 0).all() and (energies.loc[0.01] < 5e-3).all()
    near, far = energies["near threshold"].loc[0.3], energies["far above"].loc[0.3]
    assert (near > far).all()
    for curves in (near, far):
        assert curves["committee_sgd"] > curves["committee_focusing_bp"]


def test_figure1_shows_a_gap_between_the_thresholds_and_the_storage_limits(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure1", ".csv"))
    lines = {str(name): line.set_index("x")["y"] for name, line in data[data["panel"] == "a"].groupby("series")}
    c, le = lines["interpolation threshold"].sort_index(), lines["local-entropy threshold"].sort_index()
    assert (le - c > 0.05).all() and (np.diff(c) < 0).all()
    assert abs(c.iloc[0] - 1.2004) < 5e-4 and abs(le.iloc[0] - 1.3717) < 5e-4
    assert abs(c[3.0] - 0.87748) < 1e-5 and abs(le[3.0] - 1.01612) < 1e-5
    solved = data[data["series"].str.endswith(", solved") & (data["x"] > 4)]
    assert (solved["y"] > 0.8).all() and len(solved) >= 3


def test_figure2_has_falling_lines_and_solutions_of_efficient_solvers_below_them(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure2", ".csv"))
    lines = {str(name): line.sort_values("x") for name, line in data.groupby("series")}
    for name in ("typical 0.0", "typical 0.5", "typical max", "barycenter 0.0"):
        assert (np.diff(lines[name]["y"]) < 0).all()
    margins = lines["optimal margin"]
    assert (margins["y"][margins["x"] < 3.37] == 0).all() and (margins["y"][margins["x"] > 3.38] > 0).all()
    typical = lines["typical 0.0"]
    for solver in ("sbpi", "focusing_bp", "binarynet"):
        far = lines[solver][(lines[solver]["x"] >= 1.9) & (lines[solver]["solved"] >= 0.9)]
        assert len(far) and (far["y"] < np.interp(far["x"], typical["x"], typical["y"]) - 0.03).all()


def test_figure4_changes_at_the_local_entropy_threshold(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure4", ".csv"))
    slopes = data[(data["panel"] == "b") & (data["x"] > 1e-3)].dropna(subset="y")
    least = slopes.groupby("inv_alpha")["y"].min()
    assert (least[least.index < 1.01] < 0).all() and (least[least.index > 1.03] > 0).all()


def test_figure8_entropies_vanish_at_the_thresholds_and_fall_with_the_margin(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure8", ".csv"))
    lines = [line.sort_values("x") for _, line in data[data["panel"] == "a"].groupby("series")]
    assert all(abs(line["y"].iloc[0]) < 1e-8 and (np.diff(line["y"]) > 0).all() for line in lines)
    right = data[data["panel"] == "b"].pivot_table(index="x", columns="series", values="y")
    assert (right["margin 0.25"].dropna() < right["margin 0"].loc[right["margin 0.25"].dropna().index]).all()


def test_figure9_limits_fall_with_the_load_and_curves_stay_above_them(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure9", ".csv"))
    for _, line in data[data["panel"] == "c"].groupby(["series", "margin"]):
        assert (np.diff(line.sort_values("x")["y"]) < 0).all()
    curves = data[data["panel"] == "a"].groupby("series")
    barycenter, plateaus = curves.get_group("barycenter"), curves.get_group("plateau").set_index("margin")["y"]
    assert (barycenter["y"] > barycenter["margin"].map(plateaus)).all()
    left = barycenter.groupby("margin")["x"].min()
    assert left.is_monotonic_increasing


def test_figures_10_to_13_hold_their_theory_beside_the_simulation(smoke: Checkout) -> None:
    for target, name in (("figure10", "D = 33"), ("figure11", "MCT0, margin 0, D = 33")):
        data = pd.read_csv(figure(smoke, target, ".csv"))
        points = data[(data["series"] == name) & data["z"].notna()]
        assert len(points)
        # At D = 33 a bias of order 1/D is expected beside the statistical error.
        assert ((points["y"] - points["theory"]).abs() < 3 * points["y_err"] + 0.5 / 33 + 1e-9).all()
    stabilities = pd.read_csv(figure(smoke, "figure12", ".csv"))
    assert {"theory, 1/α = 20", "MCT0, 1/α = 20"} <= set(stabilities["series"])
    for name, histogram in stabilities[stabilities["series"].str.startswith("MCT0")].groupby("series"):
        width = np.diff(histogram["x"]).mean()
        # Of the theory, what lies beyond the largest stability found is missing.
        assert abs((histogram["y"] * width).sum() - 1) < 1e-6, name
        assert 0.97 < (histogram["theory"] * width).sum() < 1 + 1e-6, name
    energies = pd.read_csv(figure(smoke, "figure13", ".csv"))
    sharp = energies[energies["series"].str.startswith("mct0") & (energies["x"] == 0.02)]["y"]
    flat = energies[energies["series"].str.startswith("sbpi, 1/α = 5") & (energies["x"] == 0.02)]["y"]
    assert sharp.min() > 3 * flat.max()


def test_margins_figure2_distances_fall_with_the_margin(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "margins_figure2", ".csv"))
    lines = [line.sort_values("x") for _, line in data.groupby("alpha")]
    assert all((np.diff(line["y"]) < 0).all() for line in lines)
    # At a larger load the distance without margin is smaller, that of the largest margin larger.
    assert (np.diff([line["y"].iloc[0] for line in lines]) < 0).all()
    assert (np.diff([line["y"].iloc[-1] for line in lines]) > 0).all()


def test_margins_figure3_has_the_phases_in_order_and_solutions_above_them(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "margins_figure3", ".csv")).dropna(subset="y")
    curves = {str(name): curve.set_index("x").sort_index() for name, curve in data.groupby("series")}
    isolated, shell, dip, dense, widest = (
        curves[f"reference {name}"] for name in ("0.0", "0.02", "0.033", "0.1", "max")
    )
    assert (isolated.loc[:0.006, "y"] < 0).all() and (isolated.loc[0.008:, "y"] > 0).all()
    # κ_min = 0.0291 and κ_u = 0.0364.
    assert (shell.loc[:1e-4, "y"] > 0).all() and (shell.loc[2e-4:0.003, "y"] < 0).all()
    assert (shell.loc[0.004:, "y"] > 0).all()
    for curve, monotonic in ((dip, False), (dense, True), (widest, True)):
        rising = curve.loc[: 0.99 * curve["distance_typical"].iloc[0]]
        assert (rising["y"] > 0).all() and (rising["slope"] > 0).all() == monotonic
    assert (curves["same_margin 0.2"].loc[:0.015, "y"] < 0).all()
    excess = curves["focusing BP - curve of the largest margin"]
    # On five instances of 201 weights.
    assert (excess.loc[0.04:0.2, "y"] > 2 * excess.loc[0.04:0.2, "y_err"]).all()
    assert (excess.loc[:0.02, "y"].abs() < 0.002).all()


def test_margins_figures_4_6_and_7_change_at_their_thresholds(smoke: Checkout) -> None:
    for target, threshold in (("figure4", 0.7290328), ("figure6", 0.7724886), ("figure7", 0.5577886)):
        data = pd.read_csv(figure(smoke, f"margins_{target}", ".csv"))
        slopes = data[(data["panel"] == "b") & (data["x"] < 0.1)]
        best = slopes["series"].str.contains("bound of any reference")
        assert best.any() == (target == "figure4") and (slopes[best]["y"] > -1e-6).all()
        slopes = slopes[~best]
        least = slopes.groupby("alpha")["y"].min()
        (at,) = (alpha for alpha in least.index if abs(alpha - threshold) < 1e-6)
        assert (least[least.index < at] > 0.1).all() and (least[least.index > at] < -0.1).all()
        assert abs(least[at]) < 0.1 and len(least) == 6


def test_margins_figure5_the_largest_margin_vanishes_at_the_capacity(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "margins_figure5", ".csv"))
    largest = data[data["panel"] == "b"].sort_values("x")
    assert abs(largest["x"].iloc[-1] - 0.8330786) < 1e-6 and largest["y"].iloc[-1] < 1e-6
    assert (np.diff(largest["y"]) < 0).all()
    for _, line in data[data["panel"] == "a"].groupby("alpha"):
        assert (np.diff(line.sort_values("x")["y"]) < 0).all() and abs(line["y"].iloc[-1]) < 1e-9


def test_margins_figure8_shows_thresholds_small_overlaps_and_convex_energies(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "margins_figure8", ".csv"))
    for _, networks in data.groupby("dataset"):
        series = {name: points.set_index("x").sort_index() for name, points in networks.groupby("series")}
        (threshold,) = set(series["threshold"].index)
        errors = series["train error"]["y"]
        assert (errors[:threshold] == 0).all() and errors.iloc[-1] > 0
        overlaps = series["overlap"]
        assert (overlaps["y"] + 3 * overlaps["y_err"] < 0.5).all()
        assert (overlaps["y"] - series["untrained"]["y"]).iloc[-1] > 3 * overlaps["y_err"].iloc[-1]
        energy = series["local energy"]["y"]
        assert energy[0.0003] < 0.01 * energy[0.1] and energy[0.02] < 0.2 * energy[0.1]


def test_margins_figures2_has_the_phases_in_order(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "margins_figures2", ".csv"))
    for name in ("perceptron", "relu", "sign"):
        at = data[(data["ensemble"] == name) & (data["x"] == 0.5)].set_index("series")["y"]
        assert 0 < at[f"{name}, kappa_min"] < at[f"{name}, kappa_u"] < at[f"{name}, kappa_max"]
    ends = data[data["panel"] == "thresholds"].pivot_table(index="ensemble", columns="series", values="y")
    assert (ends["α'_LE"] < ends["α_min"]).all() and (ends["α_min"] < ends["α_c"]).all()


@pytest.mark.parametrize("target", NUMBERS)
def test_numbers_are_the_golden_ones(smoke: Checkout, target: str) -> None:
    fresh = pd.read_csv(figure(smoke, target, ".csv"))
    assert difference(target, pd.read_csv(NUMBERS[target]), fresh) is None


@pytest.mark.parametrize("file", list(GOLDEN.glob("*/verdicts.csv")))
def test_verdicts_are_the_golden_ones(smoke: Checkout, file: Path) -> None:
    paper = file.parent.name
    fresh = pd.read_csv(smoke.folder / "figures/smoke" / paper / "scorecard.csv")
    claims = {key: claim for key, claim in read_claims().items() if claim.paper == paper}
    assert verdict_differences(pd.read_csv(file), fresh, claims) == []


BY_HAND = dict.fromkeys(test_conditions.JUDGED, test_conditions.good) | dict.fromkeys(
    test_verdicts.CASES, test_verdicts.good
)


@pytest.mark.parametrize(("key", "short"), [(key, short) for key in BY_HAND for short in read_claims()[key].arguments])
def test_tables_made_by_hand_are_like_those_that_programs_write(smoke: Checkout, key: str, short: str) -> None:
    made = BY_HAND[key](key)[short]
    job = ExperimentJob.from_configuration(resolve("smoke"), read_claims()[key].arguments[short])
    real = read_table(smoke.folder / job.table).rows
    assert set(made) <= set(real)
    assert set(made.attrs.get("parameters", {})) <= set(real.attrs["parameters"])
    # Some tests of verdicts are for tables with these columns only.
    assert {"sample", "value"} & set(real) <= set(made)
    labels = [column for column in made if not pd.api.types.is_numeric_dtype(made[column])]
    unknown = {column: set(made[column].dropna()) - set(real[column]) for column in labels}
    assert not any(unknown.values()), unknown


def test_every_figure_has_golden_numbers() -> None:
    assert sorted(NUMBERS) == sorted(read_figures())
    tested = {claim.paper for claim in read_claims().values()}
    assert {file.parent.name for file in GOLDEN.glob("*/verdicts.csv")} == tested
