"""An archive: a folder of results with a list of its files' checksums. A run can take its tables from one.

A table lies in it at the place that it has in a checkout, and its name holds the hash of what it is made from. So a run
finds by name whether an archive has the table that it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from localentropy.atomic import file_hash, is_special
from localentropy.errors import ArtifactError
from localentropy.pipeline import artifacts
from localentropy.pipeline.computations import ADDRESS, ExperimentJob

SUMS = "SHA256SUMS"
"""The list, in the form of the program sha256sum."""


def write_sums(folder: Path) -> None:
    """Write the list of a folder's files."""
    lines = [f"{file_hash(folder / name)}  {name}\n" for name in sorted(_files(folder))]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def read_sums(folder: Path) -> dict[str, str]:
    """File → its SHA-256, from the list of an archive.

    Raises:
        ArtifactError: there is no list, or it is damaged.
    """
    file = folder / SUMS
    if not file.is_file():
        raise ArtifactError(f"{folder}: no archive, {SUMS} is missing; allowed: a folder that `make archive` has made")
    sums = {}
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        sha256, between, name = line.partition("  ")
        if not (between and name and len(sha256) == 64 and set(sha256) <= set("0123456789abcdef")):
            raise ArtifactError(f"{file}: line {number} is damaged: it is no checksum and name of a file")
        sums[name] = sha256
    return sums


def faults(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Each file of an archive, and what is wrong with it; None if nothing is.

    Raises:
        ArtifactError: there is no list, or it is damaged.
    """
    sums = read_sums(folder)
    for name in sorted({*sums, *_files(folder)}):
        yield name, _fault(folder / name, sums.get(name))


def take(folder: Path, jobs: Iterable[ExperimentJob]) -> int:
    """Copy the tables that an archive has of these experiments, and their records.

    Returns:
        How many it has.

    Raises:
        ArtifactError: it is no archive, or a table or its record is damaged there.
    """
    sums, number = read_sums(folder), 0
    for job in jobs:
        if str(job.table) not in sums:
            continue
        files = [job.table.with_suffix(".json"), job.table]  # the table comes last: it is whole when it is there
        for file in files:
            if (fault := _fault(folder / file, sums.get(str(file)))) is not None:
                raise ArtifactError(f"data.archive: {folder / file}: {fault}; run without it, or restore the file")
        for file in files:
            artifacts.publish(folder / file, file)
        number += 1
    return number


def _files(folder: Path) -> set[str]:
    """Everything in a folder but its list and its folders. A link is a file."""
    found = {path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()}
    return {str(path.relative_to(folder)) for path in found} - {SUMS}


def _fault(file: Path, sha256: str | None) -> str | None:
    if sha256 is None:
        return f"not in {SUMS}"
    if file.is_symlink() or is_special(file):
        return "no regular file"
    if not file.exists():
        return "missing"
    if file_hash(file) != sha256:
        return "altered: it does not match its checksum"
    if file.suffix == ".parquet":
        try:
            origin = artifacts.read_table(file).stamp.origin
        except ArtifactError as error:
            return str(error).partition(": ")[2]
        return None if origin[:ADDRESS] == file.stem else "holds another result than its name says"
    return None
