"""All figures at smoke scale, by the real pipeline, and what must be seen in them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from localentropy.config import read_figures, split_figure
from tests.pipeline.conftest import Checkout, copy_checkout


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout in which every figure was made at smoke scale."""
    checkout = Checkout(copy_checkout(tmp_path_factory.mktemp("smoke") / "checkout"))
    run = checkout.snakemake("all", "--config", "scale=smoke")
    assert run.status == 0, run.output
    return checkout


def figure(smoke: Checkout, target: str, suffix: str) -> Path:
    return smoke.folder.joinpath("figures/smoke", *split_figure(target)).with_suffix(suffix)


def test_every_figure_is_there_with_its_numbers_and_caption(smoke: Checkout) -> None:
    for target in read_figures():
        data = pd.read_csv(figure(smoke, target, ".csv"))
        assert list(data.columns[:2]) == ["panel", "series"]
        assert {"x", "y", "y_err"} <= set(data.columns)
        record = json.loads(figure(smoke, target, ".json").read_text())
        assert "chosen here" in record["caption"]
        for suffix in (".png", ".pdf"):
            assert figure(smoke, target, suffix).stat().st_size > 10_000


def test_a_second_run_does_nothing_and_a_redrawn_figure_has_the_same_bytes(smoke: Checkout) -> None:
    assert smoke.snakemake("all", "--config", "scale=smoke").did == set()
    files = [figure(smoke, target, suffix) for target in read_figures() for suffix in (".png", ".pdf", ".csv")]
    before = {file: file.read_bytes() for file in files}
    for file in files:
        file.unlink()
    assert smoke.snakemake("all", "--config", "scale=smoke").status == 0
    assert {file: file.read_bytes() for file in files} == before
    assert smoke.python("verify", "--scale", "smoke").status == 0


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
    for curve in (dense, widest):
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
    assert all((curve["y"] <= curves["bound bound"].loc[curve.index, "y"] + 1e-9).all() for curve in curves.values())


def test_figure6_shows_thresholds_overlaps_and_flatter_wide_networks(smoke: Checkout) -> None:
    data = pd.read_csv(figure(smoke, "figure6", ".csv"))
    for _, networks in data.groupby("initialization"):
        train = networks[networks["series"] == "train error"].set_index("x")["y"].sort_index()
        assert train.iloc[0] > 0 and train.iloc[-1] < train.iloc[0]
        overlaps = networks[networks["series"] == "solutions"]
        assert (overlaps["y"] + 3 * overlaps["y_err"] < 1).all()
        noiseless = networks[(networks["panel"] == "c") & (networks["sigma"] == 0)]
        final = networks[(networks["series"] == "train error")].set_index("width")["y"]
        assert np.allclose(noiseless["y"], final.loc[noiseless["width"]], atol=1e-9)
