"""Results on disk: Parquet tables and figure files with stamps, checked on reading.

Each file is written under a name of its own and then renamed. So a file is either whole or absent, even if an orphaned
job of a killed pipeline writes it at the same time as the next pipeline.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localentropy.atomic import file_hash, is_special, replacing
from localentropy.errors import ArtifactError, first_line
from localentropy.pipeline import provenance
from localentropy.pipeline.machine import refusals

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_METADATA_KEY = b"localentropy"


@dataclass(frozen=True)
class Stamp:
    """What a file was made from. Two files of equal origin and part hold the same numbers.

    Attributes:
        name: `<paper>/<name>` of an experiment, or a figure's target.
        part: which tasks of the experiment it holds, as `k/n`; empty for a whole table or a figure.
        parameters: everything the numbers depend on besides code and inputs, as JSON values.
        code: hash of the code that made it (`closure.code_hash`).
        inputs: name → SHA-256 of each file that was read. They are recorded, and never compared.
        origins: experiment or dataset → origin of its table or prepared file that was read.
    """

    name: str
    parameters: dict[str, Any]
    code: str
    inputs: dict[str, str] = field(default_factory=dict)
    part: str = ""
    origins: dict[str, str] = field(default_factory=dict)

    @property
    def parameter_hash(self) -> str:
        """SHA-256 of the parameters."""
        return provenance.canonical_hash(self.parameters)

    @property
    def origin(self) -> str:
        """SHA-256 of name, parameters, code, and the origins of what is read. It is known before any input exists."""
        known = {"name": self.name, "parameters": self.parameters, "code": self.code, "origins": self.origins}
        return provenance.canonical_hash(known)

    def difference(self, wanted: Stamp) -> str | None:
        """The first difference from the stamp wanted now, in words; None if they agree."""
        for label, old, new in (
            ("experiment", self.name, wanted.name),
            ("parameters", self.parameter_hash, wanted.parameter_hash),
            ("code", self.code, wanted.code),
            ("tables or datasets", self.origins, wanted.origins),
        ):
            if old != new:
                return f"made from other {label}"
        return None


@dataclass(frozen=True)
class Table:
    """A result table as read: its rows, its stamp and the library versions that made it."""

    rows: pd.DataFrame
    stamp: Stamp
    versions: dict[str, str]


def write_table(
    file: Path,
    rows: pd.DataFrame,
    stamp: Stamp,
    started: provenance.Start,
    command: Sequence[str],
    parts: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write a table, and its checksum and circumstances (`provenance.circumstances`) into `<name>.json` beside it.

    Args:
        file: path of the table.
        rows: its content.
        stamp: what it was made from.
        started: when the job began.
        command: the words of the command that makes it again.
        parts: circumstances of the tables that it was joined from. They stay in its record when these are deleted.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    # The metadata of pandas is dropped: it repeats library versions, and the index has no information.
    table = pa.Table.from_pandas(rows, preserve_index=False).replace_schema_metadata(None)
    record = asdict(stamp) | {
        "parameter_hash": stamp.parameter_hash,
        "layout": _layout(table),
        "versions": provenance.versions(),
    }
    table = table.replace_schema_metadata({_METADATA_KEY: provenance.canonical_json(record)})
    with atomic(file) as temporary:
        pq.write_table(
            table,
            temporary,
            compression="zstd",
            write_statistics=False,
            write_page_checksum=True,
            use_compliant_nested_type=False,
        )
    circumstances = provenance.circumstances(started, command) | ({"parts": list(parts)} if parts else {})
    _write_json(file, {"sha256": file_hash(file), "circumstances": circumstances})


def read_circumstances(file: Path) -> dict[str, Any]:
    """Command, machine and time of a table, from `<name>.json` beside it; empty if that is missing.

    Raises:
        ArtifactError: `<name>.json` is altered, or that of another table.
    """
    beside = file.with_suffix(".json")
    if not beside.exists():
        return {}
    content = _read_json(beside)
    if content.get("sha256") != file_hash(file) or "circumstances" not in content:
        raise ArtifactError(f"{file}: its content does not match the checksum in {beside.name}")
    return dict(content["circumstances"])


def read_table(file: Path) -> Table:
    """Read a table and check the checksums of its pages. That of the whole file is checked if `<name>.json` is there.

    Raises:
        ArtifactError: the file is missing, truncated, altered or no table of this package.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    _refuse_special(file)
    try:
        table = pq.read_table(file, page_checksum_verification=True)
        record = json.loads(table.schema.metadata[_METADATA_KEY])
        versions, hashed, layout = (record.pop(key) for key in ("versions", "parameter_hash", "layout"))
        stamp = Stamp(**record)
        rows = table.replace_schema_metadata(None).to_pandas()
    except FileNotFoundError:
        raise ArtifactError(f"{file}: no such table") from None
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise ArtifactError(f"{file}: not a readable result table ({first_line(error)})") from None
    if layout != _layout(table) or stamp.parameter_hash != hashed:
        raise ArtifactError(f"{file}: its content does not match its own checksum")
    read_circumstances(file)
    rows.attrs["parameters"] = stamp.parameters
    return Table(rows, stamp, versions)


def write_output(
    stem: Path,
    contents: Mapping[str, bytes],
    stamp: Stamp,
    caption: str,
    started: provenance.Start,
    command: Sequence[str],
    settings: Mapping[str, str] | None = None,
) -> None:
    """Write the files of a figure or scorecard, then their record.

    Args:
        stem: path without suffix.
        contents: suffix → bytes.
        stamp: what they were made from.
        caption: one paragraph.
        started: when the job began.
        command: the words of the command that makes them again.
        settings: what the table below a figure says.
    """
    for suffix, content in contents.items():
        with atomic(stem.with_suffix(suffix)) as temporary:
            temporary.write_bytes(content)
    hashes = {suffix: hashlib.sha256(content).hexdigest() for suffix, content in contents.items()}
    write_record(stem, hashes, stamp, caption, started, command, settings)


def write_record(
    stem: Path,
    hashes: Mapping[str, str],
    stamp: Stamp,
    caption: str,
    started: provenance.Start,
    command: Sequence[str],
    settings: Mapping[str, str] | None = None,
) -> None:
    """Write the record of files: a JSON file with their checksums and stamp.

    Args:
        stem: their path without suffix.
        hashes: suffix → SHA-256 of each.
        stamp: what they were made from.
        caption: one paragraph.
        started: when the job began.
        command: the words of the command that makes them again.
        settings: what the table below a figure says.
    """
    record = {
        "caption": caption,
        "settings": dict(settings or {}),
        "stamp": asdict(stamp),
        "files": dict(hashes),
        "versions": provenance.versions(),
        "circumstances": provenance.circumstances(started, command),
    }
    _write_json(stem, record)


def read_output(stem: Path) -> tuple[Stamp, dict[str, Any]]:
    """Stamp and whole record of a figure or scorecard, its files checked against the record.

    Raises:
        ArtifactError: a file is missing, truncated or altered.
    """
    file = stem.with_suffix(".json")
    record = _read_json(file)
    try:
        stamp = Stamp(**record["stamp"])
        hashes = dict(record["files"])
    except (ValueError, KeyError, TypeError):
        raise ArtifactError(f"{file}: {file.name} is a record of no figure, scorecard or dataset") from None
    for suffix, expected in hashes.items():
        part = stem.with_suffix(suffix)
        if not part.is_file():
            raise ArtifactError(f"{part}: missing beside {file.name}")
        if file_hash(part) != expected:
            raise ArtifactError(f"{part}: its content does not match the checksum in {file.name}")
    return stamp, record


def copy_record(stem: Path, copy: Path, suffixes: Sequence[str], command: Sequence[str]) -> None:
    """Write the record of a figure or scorecard beside a copy of its files, without the machine and time of the run.

    So the record of a copy changes only with what it describes.

    Args:
        stem: path of the figure or scorecard, without suffix.
        copy: path of the copy, without suffix.
        suffixes: those of the files that are copied.
        command: the words of the command that makes them again.

    Raises:
        ArtifactError: a file is missing, truncated or altered.
    """
    _, record = read_output(stem)
    hashes = {suffix: record["files"][suffix] for suffix in suffixes}
    _write_json(copy, {**record, "files": hashes, "circumstances": {"command": list(command)}})


def _write_json(file: Path, record: Mapping[str, Any]) -> None:
    """Write a record to `<name>.json`, with its own checksum."""
    signed = {**record, "checksum": provenance.canonical_hash(record)}
    with atomic(file.with_suffix(".json")) as temporary:
        temporary.write_text(json.dumps(signed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _read_json(file: Path) -> dict[str, Any]:
    """A record as it was written.

    Raises:
        ArtifactError: it is missing, or altered.
    """
    _refuse_special(file)
    try:
        record = dict(json.loads(file.read_text(encoding="utf-8")))
        if "checksum" not in record:
            raise ArtifactError(f"{file}: no record of this pipeline: it has no checksum of its own")
        intact = record.pop("checksum") == provenance.canonical_hash(record)
    except FileNotFoundError:
        raise ArtifactError(f"{file}: no such record, {file.name} is missing") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        intact = False
    if not intact:
        raise ArtifactError(f"{file}: {file.name} is altered: it does not match its own checksum")
    return record


def delete(*files: Path) -> None:
    """Delete files. Missing ones are skipped.

    Raises:
        MachineError: the folder cannot be written, or a folder is there.
    """
    for file in files:
        with refusals():
            file.unlink(missing_ok=True)


def publish(file: Path, copy: Path) -> None:
    """Copy a file. A copy that is there already is left.

    Raises:
        ArtifactError: it cannot be written.
    """
    if not (copy.is_file() and filecmp.cmp(file, copy, shallow=False)):
        with atomic(copy) as temporary:
            shutil.copyfile(file, temporary)


@contextmanager
def atomic(file: Path) -> Iterator[Path]:
    """A temporary file that replaces a file, as in `localentropy.atomic.replacing`, with an error for the user.

    Raises:
        ArtifactError: the folder cannot be made or written, or the disk is full.
    """
    with _named(file), replacing(file) as temporary:
        yield temporary


def require_writable(file: Path) -> None:
    """Check that a file can be written, before hours are spent on its content.

    Raises:
        ArtifactError: the folder cannot be made or written.
    """
    if file.is_fifo():
        raise ArtifactError(f"{file}: a pipe, which would wait for a reader; name a file")
    with _named(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=file.parent):
            pass


@contextmanager
def _named(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ArtifactError(f"{file}: cannot be written ({error.strerror or first_line(error)})") from None


def _refuse_special(file: Path) -> None:
    if is_special(file):
        raise ArtifactError(f"{file}: is a folder, a pipe or a device, expected a file")


def _layout(table: pa.Table) -> dict[str, Any]:
    """The number of rows, and the columns' names and types. No checksum of a page covers these."""
    return {"rows": table.num_rows, "columns": [[field.name, str(field.type)] for field in table.schema]}
