"""`show` and `verify`: how a file was made, and whether all files are current."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from localentropy.commands.gallery import GALLERY
from localentropy.errors import ArtifactError
from localentropy.pipeline import artifacts
from localentropy.pipeline.computations import RESULTS
from localentropy.pipeline.config import Configuration
from localentropy.pipeline.jobs import output_jobs, table_jobs
from localentropy.pipeline.outputs import FIGURES


def describe(file: Path) -> str:
    """How a table, or any file of a figure or scorecard, was made: indented text.

    Raises:
        ArtifactError: it is missing, corrupt, or no file of this package.
    """
    if file.suffix == ".parquet" or (file.suffix == ".json" and file.with_suffix(".parquet").exists()):
        table = file.with_suffix(".parquet")
        read = artifacts.read_table(table)
        head = [f"{table}: {len(read.rows)} rows, columns {', '.join(read.rows.columns)}"]
        return "\n".join(head + _lines(read.stamp, read.versions, artifacts.read_circumstances(table)))
    if (copies := GALLERY.absolute()) in file.absolute().parents:
        made = FIGURES / "default" / file.absolute().relative_to(copies)
        raise ArtifactError(f"{file}: a copy, which has no record of how it was made; {made} has one where it is made")
    name = file.name.partition(".")[0]
    stem = file.parent / name
    allowed = "a table (.parquet), a file of a figure, a scorecard or a prepared dataset"
    if not name or not stem.with_suffix(".json").exists():
        raise ArtifactError(f"{file}: nothing to show; allowed: {allowed}")
    stamp, record = artifacts.read_output(stem)
    if file.name.removeprefix(name) not in {".json", *record["files"]}:
        raise ArtifactError(f"{file}: no file of {stamp.name}; allowed: {allowed}")
    head = [f"{file}: part of {stamp.name}", record["caption"]]
    return "\n".join(head + _lines(stamp, record["versions"], record["circumstances"]))


def findings(configuration: Configuration) -> list[tuple[Path, str | None]]:
    """Each file of the configuration that exists, and what is wrong with it (None: it is current).

    Raises:
        ArtifactError: there is none.
    """
    found = list(_findings(configuration))
    if not found:
        made = sorted({folder.name for place in (RESULTS, FIGURES) for folder in place.glob("*") if folder.is_dir()})
        others = [name for name in made if name != GALLERY.name]
        where = f"{RESULTS / configuration.folder}, {FIGURES / configuration.folder}"
        raise ArtifactError(f"{where}: nothing to verify; made so far: {', '.join(others) or 'nothing'}")
    return found


def _findings(configuration: Configuration) -> Iterator[tuple[Path, str | None]]:
    for job in table_jobs(configuration):
        for part in [None, *job.numbers]:
            file = job.files(part)[0]
            if file.exists():
                yield file, job.problem(part)
    for output in output_jobs(configuration):
        if any(file.exists() for file in output.files()):
            yield output.files()[0], output.problem()


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
