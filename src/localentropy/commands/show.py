"""`show` and `verify`: how a file was made, and whether all files are current."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from localentropy.arguments import nearest_choice
from localentropy.commands.gallery import GALLERY
from localentropy.errors import ArtifactError
from localentropy.pipeline import artifacts
from localentropy.pipeline.computations import RESULTS, ExperimentJob
from localentropy.pipeline.config import OPTION, Configuration, bare_target, read_figures, resolve, values_of_results
from localentropy.pipeline.jobs import computed_tables, dataset_jobs, output_jobs, source_problem, table_jobs
from localentropy.pipeline.outputs import FIGURES, FigureJob, OutputJob


def describe(file: Path) -> str:
    """How a table, or any file of a figure or scorecard, was made: indented text.

    A figure's target means the figure of the default scale.

    Raises:
        ArtifactError: it is missing, corrupt, or no file of this package.
    """
    alone = file == Path(file.name) and not file.exists()
    if alone and (target := bare_target(file.name)) in read_figures():
        file = FigureJob.paths("default", target)[0]
        if not file.exists():
            raise ArtifactError(f"{file}: not there; `make {target}` makes it")
    if file.suffix == ".parquet" or (file.suffix == ".json" and file.with_suffix(".parquet").exists()):
        table = file.with_suffix(".parquet")
        read = artifacts.read_table(table)
        head = [f"{table}: {len(read.rows)} rows, columns {', '.join(read.rows.columns)}"]
        head += [f"parameters: {json.dumps(read.stamp.parameters, ensure_ascii=False)}"]
        return "\n".join(head + _lines(read.stamp, read.versions, artifacts.read_circumstances(table)))
    if (copies := GALLERY.absolute()) in file.absolute().parents:
        made = FIGURES / "default" / file.absolute().relative_to(copies)
        raise ArtifactError(f"{file}: a copy, which has no record of how it was made; {made} has one where it is made")
    name = file.name.partition(".")[0]
    stem = file.parent / name
    allowed = "a table (.parquet), a file of a figure, a scorecard or a prepared dataset"
    if not name or not stem.with_suffix(".json").exists():
        close = None if file.exists() or file.suffix else nearest_choice(bare_target(file.name), read_figures())
        hint = f"did you mean {close!r}? " if close else ""
        raise ArtifactError(f"{file}: nothing to show; {hint}allowed: {allowed}")
    stamp, record = artifacts.read_output(stem)
    if file.name.removeprefix(name) not in {".json", *record["files"]}:
        raise ArtifactError(f"{file}: no file of {stamp.name}; allowed: {allowed}")
    head = [f"{file}: part of {stamp.name}", record["caption"]]
    head += [f"{key}: {value}" for key, value in record["settings"].items()]
    return "\n".join(head + _lines(stamp, record["versions"], record["circumstances"]))


def findings(configuration: Configuration) -> list[tuple[Path, str | None]]:
    """Each file of the configuration that exists, and what is wrong with it (None: it is current).

    The files that are not current are those that the pipeline sets aside (`localentropy.pipeline.workflow`).

    Raises:
        ArtifactError: there is none.
    """
    found = list(_findings(configuration))
    if not found:
        made = sorted({folder.name for place in (RESULTS, FIGURES) for folder in place.glob("*") if folder.is_dir()})
        others = [name for name in made if name != GALLERY.name]
        where = f"{RESULTS / configuration.folder}, {FIGURES / configuration.folder}"
        raise ArtifactError(f"{where}: nothing to verify; made so far: {', '.join(others) or 'nothing'}")
    datasets = [(job.file, job.problem()) for job in dataset_jobs(configuration) if _exist(job.files())]
    return datasets + found


def _findings(configuration: Configuration) -> Iterator[tuple[Path, str | None]]:
    """Tables with their parts, then figures and scorecards."""
    outdated: set[Path] = set()
    files: list[tuple[ExperimentJob | OutputJob, int | None]] = [
        (job, part) for job in table_jobs(configuration) for part in (None, *job.numbers)
    ]
    files += [(output, None) for output in output_jobs(configuration)]
    for job, part in files:
        if not _exist(job.files(part)):
            continue
        file = job.files(part)[0]
        problem = job.problem(part) or source_problem(computed_tables(configuration, job), outdated)
        if problem:
            outdated.add(file)
        yield file, problem


def _exist(files: list[Path]) -> bool:
    return any(file.exists() for file in files)


def _lines(stamp: artifacts.Stamp, versions: dict[str, str], circumstances: dict[str, Any]) -> list[str]:
    made = {key: json.dumps(value) if isinstance(value, list) else value for key, value in circumstances.items()}
    values = {
        "made by": stamp.name + (f" part {stamp.part}" if stamp.part else ""),
        **_choices(circumstances.get("command", [])),
        "inputs": ", ".join(f"{name} {content[:12]}" for name, content in stamp.inputs.items()) or "none",
        "code hash": stamp.code,
        "parameter hash": stamp.parameter_hash,
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        **{key: value for key, value in made.items() if key != "command"},
    }
    width = max(map(len, values))
    return [f"  {key:<{width}}  {value}" for key, value in values.items()]


def _choices(command: Sequence[str]) -> dict[str, str]:
    """The scale, the run and the changed values of the command that makes a file, and the command itself."""
    words = command[command.index(OPTION) + 1 :] if OPTION in command else []
    if not all("=" in word for word in words):  # of an earlier version, whose `--config` was a file
        return {"command": shlex.join(command)}
    given = dict(word.split("=", 1) for word in words)
    named = {"scale": given.pop("scale", "default"), "run": given.pop("run", "without a name")}
    changed = ", ".join(f"{key} = {value} (shipped: {_shipped(named['scale'], key)})" for key, value in given.items())
    return named | {"changed values": changed or "none", "command": shlex.join(command)}


def _shipped(scale: str, key: str) -> str:
    """The value that a key has without overrides, or `none` if it has no such key."""
    configuration = resolve(scale)
    values: Any = values_of_results(configuration, configuration.experiments)
    section = max((name for name in values if f"{key}.".startswith(f"{name}.")), key=len, default="")
    for name in filter(None, [section, *key.removeprefix(section).split(".")]):
        values = values.get(name) if isinstance(values, dict) else None
    return "none" if values is None else json.dumps(values, ensure_ascii=False)
