"""`show` and `verify`: how a file was made, and whether all files are current."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from localentropy.arguments import nearest_choice
from localentropy.closure import DIGITS
from localentropy.errors import ArtifactError
from localentropy.pipeline import artifacts
from localentropy.pipeline.computations import RESULTS, ExperimentJob
from localentropy.pipeline.config import (
    OPTION,
    SCALES,
    Configuration,
    bare_target,
    resolve,
    values_of_results,
)
from localentropy.pipeline.jobs import every_job, output_job, output_targets
from localentropy.pipeline.outputs import FIGURES, GALLERY, OutputJob
from localentropy.pipeline.scorecard import SUMMARY


def describe(file: Path, configuration: Callable[[], Configuration] = resolve) -> str:
    """How a table, or any file of a figure or scorecard, was made: indented text.

    Args:
        file: the file, or the target of a figure or scorecard, or `<paper>/<experiment>` for its table.
        configuration: what the last two are of.

    Raises:
        ArtifactError: it is missing, corrupt, or no file of this package.
    """
    alone = file == Path(file.name) and not file.exists()
    if alone and (output := _named(file.name, configuration())):
        file = output.published.with_suffix(output.SUFFIXES[0])
        if not file.exists():
            copy = GALLERY / output.place(output.target)
            told = f"; {copy}{file.suffix} is there" if copy.with_suffix(".json").exists() else ""
            raise ArtifactError(f"{file}: not there; `{shlex.join(output.command)}` makes it{told}")
    if not file.suffix and len(file.parts) == 2 and not file.exists():
        experiment = ExperimentJob.from_configuration(configuration(), str(file))
        file = experiment.source[0]
        if not file.exists():
            raise ArtifactError(f"{file}: no such table; `{shlex.join(experiment.command)}` makes it")
    if file.suffix == ".parquet" or (file.suffix == ".json" and file.with_suffix(".parquet").exists()):
        table = file.with_suffix(".parquet")
        read = artifacts.read_table(table)
        head = [f"{table}: {len(read.rows)} rows, columns {', '.join(read.rows.columns)}"]
        head += [f"parameters: {json.dumps(read.stamp.parameters, ensure_ascii=False)}"]
        return "\n".join(head + _lines(read.stamp, read.versions, artifacts.read_circumstances(table)))
    name = file.name.partition(".")[0]
    stem = file.parent / name
    allowed = "a table (.parquet), a file of a figure, a scorecard or a prepared dataset"
    if not name or not stem.with_suffix(".json").exists():
        if file.exists() and file.absolute() == (GALLERY / f"{SUMMARY}.md").absolute():
            raise ArtifactError(
                f"{file}: counts the scorecards of all papers, and has no record of its own; allowed are theirs: "
                f"{', '.join(sorted(map(str, GALLERY.glob(f'*/{SUMMARY}.md'))))}"
            )
        if file.exists() and GALLERY.absolute() in file.absolute().parents:
            raise ArtifactError(f"{file}: a copy without its record, {name}.json; `localentropy gallery` copies both")
        if not file.exists() and (output := _published(file, configuration)):
            raise ArtifactError(f"{file}: no such file; `{shlex.join(output.command)}` makes it")
        known = [] if file.exists() or file.suffix else output_targets(configuration())
        close = nearest_choice(bare_target(file.name), known)
        hint = f"did you mean {close!r}? " if close else ""
        raise ArtifactError(f"{file}: nothing to show; {hint}allowed: {allowed}")
    stamp, record = artifacts.read_output(stem)
    if file.name.removeprefix(name) not in {".json", *record["files"]}:
        raise ArtifactError(f"{file}: no file of {stamp.name}; allowed: {allowed}")
    head = [f"{file}: part of {stamp.name}", record["caption"]]
    head += [f"{key}: {value}" for key, value in record["settings"].items()]
    return "\n".join(head + _lines(stamp, record["versions"], record["circumstances"]))


def _named(name: str, configuration: Configuration) -> OutputJob | None:
    """The figure or scorecard of a target; None of another name."""
    targets = output_targets(configuration)
    target = name if name in targets else bare_target(name)
    return output_job(configuration, target) if target in targets else None


def _published(file: Path, configuration: Callable[[], Configuration]) -> OutputJob | None:
    """The figure or scorecard that would write a file below `figures`; None if none would."""
    if FIGURES.absolute() not in file.absolute().parents:
        return None
    place = file.absolute().relative_to(FIGURES.absolute()).with_suffix("")
    chosen = resolve(place.parts[0]) if place.parts[0] in SCALES else configuration()
    jobs = (output_job(chosen, target) for target in output_targets(chosen))
    return next((job for job in jobs if job.published == FIGURES / place and file.suffix in job.suffixes), None)


def findings(configuration: Configuration) -> list[tuple[Path, str | None]]:
    """Each file of the configuration that exists, and what is wrong with it (None: it is current).

    Results that are not current are damaged: the name of a result says what it is made from. The copies of figures and
    scorecards below `figures` may also be those of other parameters or code.

    Raises:
        ArtifactError: there is none.
    """
    found = list(_findings(configuration))
    if not found:
        made = sorted(folder.name for folder in FIGURES.glob("*") if folder.is_dir() and folder.name != GALLERY.name)
        where = f"{RESULTS}, {FIGURES / configuration.folder}"
        raise ArtifactError(f"{where}: nothing to verify; figures so far: {', '.join(made) or 'none'}")
    return found


def _findings(configuration: Configuration) -> Iterator[tuple[Path, str | None]]:
    """Datasets, tables with their parts, then figures and scorecards."""
    for job, part in every_job(configuration):
        file = job.files(part)[0]
        if os.path.lexists(file):
            yield file, job.problem(part)
        if isinstance(job, OutputJob) and os.path.lexists(copy := job.published.with_suffix(job.SUFFIXES[0])):
            yield copy, job.outdated()


def _lines(stamp: artifacts.Stamp, versions: dict[str, str], circumstances: dict[str, Any]) -> list[str]:
    made = {key: json.dumps(value) if isinstance(value, list) else value for key, value in circumstances.items()}
    if parts := circumstances.get("parts"):
        spent, longest = sum(part["cpu_seconds"] for part in parts), max(part["wall_seconds"] for part in parts)
        made["parts"] = f"{len(parts)}, {spent:.1f} s of CPU in all, the longest {longest:.1f} s"
    values = {
        "made by": stamp.name + (f" part {stamp.part}" if stamp.part else ""),
        **_choices(circumstances.get("command", [])),
        "inputs": ", ".join(f"{name} {content[:DIGITS]}" for name, content in stamp.inputs.items()) or "none",
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
