"""What a part of an experiment says of a file that it lacks."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from localentropy.errors import DataError
from localentropy.pipeline.computations import ExperimentJob
from localentropy.pipeline.config import read_overrides, resolve


def test_the_command_named_for_a_dataset_prepares_the_file_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides = {"data": {"source": "mirror", "mirror": "/raw files", "committed": False}}
    job = ExperimentJob.from_configuration(resolve("smoke", overrides=overrides), "overparam/mlp")
    monkeypatch.chdir(tmp_path)
    (dataset,) = job.datasets
    with pytest.raises(DataError, match=r"not prepared yet; run `(.*)` first$") as error:
        job.compute_part(1)
    command = shlex.split(str(error.value).split("`")[1])
    assert command[:5] == ["python", "-m", "localentropy", "prepare", dataset] and command[5] == "--config"
    again = ExperimentJob.from_configuration(resolve(overrides=read_overrides(command[6:])), "overparam/mlp")
    assert again.datasets == job.datasets
    shipped = ExperimentJob.from_configuration(resolve("smoke"), "overparam/mlp")
    assert shipped.datasets != job.datasets
