"""`show` and `verify`: how a file was made, and whether all files are what the code and configuration ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from localentropy import artifacts, pipeline
from localentropy.config import Configuration
from localentropy.errors import ArtifactError


def describe(file: Path) -> str:
    """How a table, or any file of a figure, was made: indented text.

    Raises:
        ArtifactError: it is missing, corrupt, or no file of this package.
    """
    if file.suffix == ".parquet":
        table = artifacts.read_table(file)
        circumstances = artifacts.read_circumstances(file).get("circumstances", {})
        head = [f"{file}: {len(table.rows)} rows, columns {', '.join(table.rows.columns)}"]
        return "\n".join(head + _lines(table.stamp, table.versions, circumstances))
    if file.suffix in (*artifacts.FIGURE_SUFFIXES, ".json"):
        stamp, record = artifacts.read_figure(file.with_suffix(""))
        head = [f"{file}: part of {stamp.name}", record["caption"]]
        return "\n".join(head + _lines(stamp, record["versions"], record["circumstances"]))
    raise ArtifactError(f"{file}: nothing to show; allowed: a .parquet table or a figure's .png, .pdf, .csv, .json")


def findings(configuration: Configuration) -> Iterator[tuple[Path, str | None]]:
    """Each file of the configuration that exists, and what is wrong with it (None: it is current)."""
    for name in configuration.experiments:
        job = pipeline.ExperimentJob.from_configuration(configuration, name)
        for part in [None, *range(job.parts)]:
            if pipeline.files_of(job, part)[0].exists():
                yield pipeline.files_of(job, part)[0], pipeline.problem(job, part)
    for target in configuration.figures:
        figure = pipeline.FigureJob.from_configuration(configuration, target)
        if any(file.exists() for file in pipeline.files_of(figure)):
            yield pipeline.files_of(figure)[0], pipeline.problem(figure)


def _lines(stamp: artifacts.Stamp, versions: dict[str, str], circumstances: dict[str, object]) -> list[str]:
    values = {
        "made by": stamp.name + (f" part {stamp.part}" if stamp.part else ""),
        "parameters": json.dumps(stamp.parameters, ensure_ascii=False),
        "parameter hash": stamp.parameter_hash,
        "code hash": stamp.code,
        "inputs": json.dumps(stamp.inputs),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        **{key: json.dumps(value) if isinstance(value, list) else value for key, value in circumstances.items()},
    }
    width = max(map(len, values))
    return [f"  {key:<{width}}  {value}" for key, value in values.items()]
