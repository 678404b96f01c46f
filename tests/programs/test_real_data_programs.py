"""The programs on real images, on a small part of them: what their tables hold."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from localentropy import seeds
from localentropy.data.prepared import Dataset, load, save
from localentropy.data.registry import DATA_DIR
from localentropy.errors import DataError
from localentropy.instances.image_features import image_features
from localentropy.pipeline.config import resolve
from localentropy.programs import feature_covariance, gaussian_covariate, ridge_learning_curves
from localentropy.programs.parts.parameters import Context
from tests.programs.programs import table

SEED = 5
SIZES: dict[str, Any] = {"random_features": 12, "images": 100}
NAME = "glm/real_covariance"
RUNS: dict[str, Any] = {
    "covariances": NAME,
    "regularizations": [1e-3, 0.5],
    "samples": [8, 20],
    "draws": 3,
}
THEORY: dict[str, Any] = {
    "covariances": NAME,
    "regularizations": [1e-3, 0.5],
    "samples": [4, 50],
    "marked": [8, 20],
    "points": 5,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The first images of the embedded sets: 100 for training, 40 for tests."""
    files = {}
    for name in ("mnist", "fashion_mnist"):
        whole = load(DATA_DIR / "embedded" / f"{name}.npz")
        files[name] = tmp_path_factory.mktemp("prepared") / f"{name}.npz"
        save(Dataset(name, whole.train.take(np.arange(100)), whole.test.take(np.arange(40))), files[name])
    return files


def context(data: dict[str, Path], **tables: pd.DataFrame) -> Context:
    return Context(SEED, data, lambda line: None, tables={f"glm/{key}": rows for key, rows in tables.items()})


@pytest.fixture(scope="module")
def covariance(data: dict[str, Path]) -> pd.DataFrame:
    return table(feature_covariance, context(data), **SIZES)


@pytest.fixture(scope="module")
def runs(data: dict[str, Path], covariance: pd.DataFrame) -> pd.DataFrame:
    return table(ridge_learning_curves, context(data, real_covariance=covariance), **RUNS)


def test_the_covariance_is_that_of_all_images(covariance: pd.DataFrame, data: dict[str, Path]) -> None:
    groups = dict(list(covariance.groupby(["dataset", "features"])))
    assert len(groups) == 4
    for (dataset, features), rows in groups.items():
        values = image_features(load(data[dataset]), features, 12, SEED).values
        assert set(rows["images"]) == {140} and set(rows["variance"]) == {1.0} and set(rows["rank"]) == {len(rows)}
        assert rows["eigenvalue"].sum() == pytest.approx((values**2).sum(1).mean(), rel=1e-12)
        assert rows["norm_spread"].nunique() == 1 and (rows["kurtosis"] > 1.0).all()
        assert len(rows) == 12 if features == "random_features" else len(rows) < 140


def test_runs_are_those_of_a_twin(runs: pd.DataFrame, data: dict[str, Path]) -> None:
    assert len(runs) == 2 * 2 * 2 * 2 * 3
    for row in runs.itertuples():
        features = image_features(load(data[row.dataset]), row.features, 12, SEED)
        stream = seeds.generator(SEED, "training_images", dataset=row.dataset, samples=row.n, draw=row.draw)
        chosen = set(stream.choice(140, row.n, replace=False).tolist())
        inside = [i for i in range(140) if i in chosen]
        p = features.values.shape[1]
        # Least squares with the ridge as further rows.
        matrix = np.vstack([features.values[inside], math.sqrt(row.regularization) * np.eye(p)])
        weights = np.linalg.lstsq(matrix, np.append(features.labels[inside], np.zeros(p)), rcond=None)[0]
        errors: dict[bool, list[float]] = {True: [], False: []}
        wrong = []
        for i in range(140):
            output, label = float(features.values[i] @ weights), int(features.labels[i])
            errors[i in chosen].append((label - output) ** 2)
            if i not in chosen:
                wrong.append(output * label <= 0.0)
        assert row.square_error == pytest.approx(np.mean(errors[False]), rel=1e-8)
        assert row.training_error == pytest.approx(np.mean(errors[True]), rel=1e-6)
        assert row.classification_error == np.mean(wrong)


def test_other_sizes_and_draws_change_no_run(
    runs: pd.DataFrame, covariance: pd.DataFrame, data: dict[str, Path]
) -> None:
    values = RUNS | {"samples": [20], "draws": 2, "regularizations": [0.5]}
    fewer = table(ridge_learning_curves, context(data, real_covariance=covariance), **values)
    same = runs[(runs["n"] == 20) & (runs["draw"] < 2) & (runs["regularization"] == 0.5)]
    pd.testing.assert_frame_equal(fewer, same.reset_index(drop=True))


def test_the_theory_is_that_of_the_table(covariance: pd.DataFrame, runs: pd.DataFrame) -> None:
    """A plain bisection, and the formula with squares of the coefficients that are right in the mean."""
    found = table(
        gaussian_covariate, context({}, real_covariance=covariance[covariance["features"] != "pixels"]), **THEORY
    )
    keys = ["dataset", "features", "regularization", "n"]
    assert set(found["n"]) == {4, 8, 14, 20, 27, 50} and not found.duplicated(keys).any()
    for row in found.itertuples():
        at = covariance[(covariance["dataset"] == row.dataset) & (covariance["features"] == row.features)]
        spectrum, squares = at["eigenvalue"].to_numpy(), at["coefficient"].to_numpy() ** 2
        low, high = 0.0, 1e6
        for _ in range(200):
            kappa = (low + high) / 2
            more = (spectrum / (spectrum + kappa)).sum() + row.regularization / kappa > row.n
            low, high = (kappa, high) if more else (low, kappa)
        noise = (1.0 - (squares / spectrum).sum()) / (1.0 - 12 / 140)
        corrected = squares - noise * spectrum / 140
        lost = 1.0 - ((spectrum / (spectrum + kappa)) ** 2).sum() / row.n
        expected = ((kappa**2 * corrected / spectrum / (spectrum + kappa) ** 2).sum() + noise) / lost
        plain = ((kappa**2 * squares / spectrum / (spectrum + kappa) ** 2).sum() + noise * (1 - 12 / 140)) / lost
        assert row.square_error == pytest.approx(expected, rel=1e-10) and row.noise == pytest.approx(noise, rel=1e-12)
        assert row.finite_set == pytest.approx(expected - plain, rel=1e-8)
        assert row.training_error == pytest.approx((row.regularization / row.n / kappa) ** 2 * expected, rel=1e-8)
    marked = runs[runs["features"] != "pixels"].merge(found, on=keys, how="left")
    assert marked["square_error_y"].notna().all()


@pytest.mark.parametrize("scale", ["smoke", "default", "paper"])
def test_runs_of_the_configuration_have_the_theory_of_their_features(scale: str) -> None:
    theory, runs = (resolve(scale).experiments[f"glm/{name}"].model_dump() for name in ("real_theory", "real_runs"))
    assert runs["covariances"] == theory["covariances"] == NAME
    assert set(runs["samples"]) <= set(theory["marked"])
    assert runs["regularizations"] == theory["regularizations"]


def test_the_features_of_the_runs_are_those_of_the_covariances(
    runs: pd.DataFrame, covariance: pd.DataFrame, data: dict[str, Path]
) -> None:
    more = covariance.copy()
    more.attrs["parameters"] = SIZES | {"random_features": 13}
    others = table(ridge_learning_curves, context(data, real_covariance=more), **RUNS)
    same = (others["square_error"] == runs["square_error"]).groupby(runs["features"]).mean()
    assert same.to_dict() == {"pixels": 1.0, "random_features": 0.0}


def test_a_set_of_fewer_images_is_refused_in_one_line(covariance: pd.DataFrame, data: dict[str, Path]) -> None:
    asked = SIZES | {"images": 101}
    many = covariance.copy()
    many.attrs["parameters"] = asked
    for program, values in ((feature_covariance, asked), (ridge_learning_curves, RUNS)):
        with pytest.raises(DataError, match=r"mnist: found 100 training .* data\.source=mirror or download") as caught:
            table(program, context(data, real_covariance=many), **values)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"samples": [20, 8]}, "must increase strictly"),
        ({"regularizations": [0.0]}, "greater than or equal to 0.000001"),
        ({"draws": 1}, "greater than or equal to 2"),
    ],
)
def test_parameters_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        ridge_learning_curves.Parameters.model_validate(RUNS | change)
