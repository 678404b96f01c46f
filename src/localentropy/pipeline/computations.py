"""The pipeline's jobs on data: prepare a dataset, compute part of an experiment, merge its parts.

The Snakefile and the command line both call these. The stamp of a job is known before it runs. So a file on disk can
be compared with what is wanted now.
"""

from __future__ import annotations

import functools
import os
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, SerializeAsAny, ValidationInfo, field_validator

from localentropy import closure
from localentropy.arguments import memory_limit
from localentropy.atomic import file_hash
from localentropy.data.registry import embedded_path
from localentropy.errors import ArtifactError, ConfigError, DataError
from localentropy.pipeline import artifacts
from localentropy.pipeline.config import (
    OPTION,
    ROOT,
    Configuration,
    bare_target,
    load_program,
    override_words,
    require_known,
)
from localentropy.pipeline.machine import MachineError
from localentropy.pipeline.progress import reporting
from localentropy.pipeline.provenance import Start
from localentropy.programs.parts.parameters import Context, Experiment, ExperimentParameters

if TYPE_CHECKING:
    import pandas as pd

RESULTS, PREPARED = Path("results"), Path("data/prepared")
COMMITTED = ROOT / "data/tables"
PREPARE = "localentropy.data.prepare"
ADDRESS = 16
"""How many digits of an origin are in the name of a file."""


class ContentJob(BaseModel, ABC):
    """A job whose files are named after what they are made from. So a file that exists is current.

    Attributes:
        origin: SHA-256 of its name, parameters, code and of what it reads (`Stamp.origin`). It is known before any
            input exists.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    origin: str

    @classmethod
    def at_origin(cls, **fields: Any) -> Self:
        """The job of these fields, with its origin."""
        job = cls(origin="", **fields)
        return job.model_copy(update={"origin": job.ahead.origin})

    @abstractmethod
    def files(self, part: int | None = None) -> list[Path]:
        """The files that it writes."""

    @abstractmethod
    def reads(self, part: int | None = None) -> list[Path]:
        """The files that it is made from."""

    @property
    @abstractmethod
    def ahead(self) -> artifacts.Stamp:
        """The stamp of its files as far as it is known before any input exists, by the code of this process."""

    @property
    @abstractmethod
    def modules(self) -> list[str]:
        """Dotted names of the code that makes its files."""

    @property
    @abstractmethod
    def command(self) -> list[str]:
        """The words of the command that makes its files."""

    @property
    def address(self) -> str:
        """The part of the origin that is in the names of its files."""
        return self.origin[:ADDRESS]

    def made(self, part: int | None = None) -> artifacts.Stamp:
        """The stamp of its files as they are, checked against their checksums.

        Raises:
            ArtifactError: a file is missing or damaged.
        """
        return artifacts.read_output(self.files()[0].with_suffix(""))[0]

    def problem(self, part: int | None = None) -> str | None:
        """What is wrong with its files: damage, or the content of another job. None if nothing is, or if they are not
        all there: then they are made, or another pipeline is making them.
        """
        if not all(os.path.lexists(file) for file in self.files(part)):
            return None
        try:
            stamp = self.made(part)
        except ArtifactError as error:
            return str(error).partition(": ")[2]
        return None if (stamp.origin, stamp.part) == (self.origin, self.label(part)) else "holds another result"

    def whole(self, part: int | None = None) -> bool:
        """Whether all its files are there and undamaged."""
        return all(os.path.lexists(file) for file in self.files(part)) and self.problem(part) is None

    def label(self, part: int | None) -> str:
        """Which part, as in a stamp."""
        return ""

    def input_hashes(self) -> dict[str, str]:
        """SHA-256 of each file that it reads, by name."""
        return {}

    def wanted_stamp(self, part: int | None = None) -> artifacts.Stamp:
        """The stamp of files, or of one part of them, that are now made, with the hashes of the files that it reads.

        Raises:
            ArtifactError: the code was edited since the job was planned.
        """
        stamp = self.ahead
        if stamp.origin != self.origin:
            raise ArtifactError(f"{self.files(part)[0]}: not made: the code was edited since; run again")
        return replace(stamp, inputs=self.input_hashes(), part=self.label(part))

    def require_unedited(self, part: int | None = None) -> None:
        """Refuse to write what code made that is another by now.

        Raises:
            ArtifactError: it was edited.
        """
        if closure.edited(*self.modules):
            file = self.files(part)[0]
            raise ArtifactError(f"{file}: not written: the code was edited while it was computed; run again")


class DatasetJob(ContentJob):
    """A dataset to prepare.

    Attributes:
        name: one of `localentropy.data.prepare.NAMES`.
        source: embedded, mirror or download.
        mirror: the directory, for the source `mirror`.
    """

    name: str
    source: str
    mirror: Path | None

    @classmethod
    def from_configuration(cls, configuration: Configuration, name: str) -> DatasetJob:
        """The job of one dataset of a resolved configuration."""
        data = configuration.data
        mirror = data.mirror if data.source == "mirror" else None
        return cls.at_origin(name=name, source=data.source, mirror=mirror)

    @property
    def file(self) -> Path:
        """Path of the prepared dataset."""
        return PREPARED / self.name / f"{self.address}.npz"

    @property
    def modules(self) -> list[str]:
        """The module that prepares it."""
        return [PREPARE]

    @property
    def command(self) -> list[str]:
        """The words of the command that makes its file."""
        mirror = [f"data.mirror={self.mirror}"] if self.mirror else []
        return ["localentropy", "prepare", self.name, OPTION, f"data.source={self.source}", *mirror]

    def files(self, part: int | None = None) -> list[Path]:
        """What it writes."""
        return [self.file, self.file.with_suffix(".json")]

    def reads(self, part: int | None = None) -> list[Path]:
        """The embedded file, if it is the source. Raw files are checked against the registry instead."""
        return [embedded_path(self.name)] if self.source == "embedded" else []

    @property
    def ahead(self) -> artifacts.Stamp:
        """What the prepared file is stamped with."""
        return _dataset_stamp(self.name, self.source)

    def prepare(self, log: Path | None = None) -> None:
        """Prepare the dataset, whole or not at all, and write its record."""
        from localentropy.data.prepare import prepare

        started = Start.now()
        stamp = self.wanted_stamp()
        with reporting(f"dataset {self.name}", 1, log) as reporter:
            dataset = prepare(self.name, self.file, source=self.source, mirror=self.mirror)
            caption = f"{dataset.summary()} from {self.source}"
            hashes = {self.file.suffix: file_hash(self.file)}
            artifacts.write_record(self.file.with_suffix(""), hashes, stamp, caption, started, self.command)
            reporter.summary(f"{caption} → {self.file}")


@functools.cache
def _dataset_stamp(name: str, source: str) -> artifacts.Stamp:
    parameters = {"source": source}
    if source == "embedded":
        file = embedded_path(name)
        parameters["embedded"] = file_hash(file) if file.is_file() else "missing"
    return artifacts.Stamp(name=name, parameters=parameters, code=closure.code_hash(PREPARE))


class TableReader(ContentJob):
    """A job that reads tables of experiments.

    Attributes:
        overrides: the words behind `--config` that make its configuration (`config.override_words`).
        tables: experiment `<paper>/<name>` → its table.
        origins: experiment → the origin of its table. A table that comes with the repository
            (`ExperimentJob.committed`) is used first. Also dataset → origin of the prepared file, of a job that reads
            it itself.
    """

    overrides: tuple[str, ...]
    tables: dict[str, Path]
    origins: dict[str, str]

    @property
    def command(self) -> list[str]:
        """The words of the command that makes its files. Snakemake is asked for the name in their stamp."""
        return ["snakemake", self.ahead.name, *([OPTION, *self.overrides] if self.overrides else [])]

    def _run_first(self, command: str, name: str) -> str:
        """What a user does who lacks a file that a command of `localentropy` makes."""
        words = ["python", "-m", "localentropy", command, name, *([OPTION, *self.overrides] if self.overrides else [])]
        return f"run `{shlex.join(words)}` first"

    @property
    def inputs(self) -> dict[str, Path]:
        """The files that it reads, by name."""
        return self.tables

    def reads(self, part: int | None = None) -> list[Path]:
        """The files that it reads."""
        return list(self.inputs.values())

    def input_hashes(self) -> dict[str, str]:
        """SHA-256 of each file that it reads. A file that is not there is left out."""
        return {name: file_hash(file) for name, file in self.inputs.items() if file.is_file()}

    def read(self, name: str) -> pd.DataFrame:
        """The rows of one of its tables.

        Raises:
            ArtifactError: the table is missing or damaged.
        """
        file = self.tables[name]
        if not file.exists():
            raise ArtifactError(f"{file}: no such table; {self._run_first('run', name)}")
        return read_checked(file, self.origins[name]).rows


class ExperimentJob(TableReader):
    """An experiment at resolved parameters.

    Attributes:
        name: `<paper>/<name>`.
        seed: root seed.
        parameters: its typed parameters.
        sources: experiment whose table it reads → the parameters of that table.
        datasets: dataset → prepared file that it or a table behind it depends on.
        takes_committed: whether a table that comes with the repository stands for its own.
    """

    name: str
    seed: int
    takes_committed: bool
    parameters: SerializeAsAny[ExperimentParameters]
    sources: dict[str, dict[str, Any]]
    datasets: dict[str, Path]

    @classmethod
    def from_configuration(cls, configuration: Configuration, name: str) -> ExperimentJob:
        """The job of one experiment of a resolved configuration.

        Raises:
            ConfigError: there is no such experiment.
        """
        if (figure := configuration.figures.get(bare_target(name))) is not None:
            raise ConfigError(
                f"{name}: a figure, no experiment; it needs {', '.join(figure.experiments)}; "
                f"`make {bare_target(name)}` draws it"
            )
        require_known(name, configuration.experiments, "experiment")
        parameters = configuration.experiments[name]
        own = {dataset: DatasetJob.from_configuration(configuration, dataset) for dataset in parameters.datasets()}
        read = {table: cls.from_configuration(configuration, table) for table in parameters.tables()}
        tables = {table: job.source for table, job in read.items()}
        return cls.at_origin(
            name=name,
            overrides=override_words(configuration),
            seed=configuration.seed,
            takes_committed=configuration.data.committed,
            parameters=parameters,
            sources={table: stamp.parameters for table, (_, stamp) in tables.items()},
            tables={table: file for table, (file, _) in tables.items()},
            origins={dataset: job.origin for dataset, job in own.items()}
            | {table: stamp.origin for table, (_, stamp) in tables.items()},
            datasets={dataset: job.file for dataset, job in own.items()}
            | {dataset: file for job in read.values() for dataset, file in job.datasets.items()},
        )

    @field_validator("parameters", mode="before")
    @classmethod
    def _typed(cls, values: Any, job: ValidationInfo) -> Any:
        """Parameters that come as JSON get the type that their program gives them."""
        if not isinstance(values, Mapping):
            return values
        program = load_program(job.data["name"].partition("/")[0], values["program"])
        return program.Parameters.of(values).model_validate(values)

    @property
    def experiment(self) -> Experiment:
        """The program."""
        return load_program(self.name.partition("/")[0], self.parameters.program)

    @property
    def modules(self) -> list[str]:
        """Dotted names of the code that the table depends on: the program, and what its parameters name."""
        return [self.experiment.__name__, *self.parameters.modules()]

    @property
    def parts(self) -> int:
        """Number of parts: as many as asked for, but at most one for each task."""
        return min(self.parameters.chunks, len(self.experiment.tasks(self.parameters)))

    @property
    def gpus(self) -> int:
        """GPUs that each part uses."""
        return int(getattr(self.parameters, "device", "cpu") == "cuda")

    @property
    def table(self) -> Path:
        """Path of the whole table."""
        return RESULTS / self.name / f"{self.address}.parquet"

    @property
    def committed(self) -> tuple[Path, artifacts.Stamp] | None:
        """The table of these parameters that comes with the repository, and its stamp; None if there is none.

        It may be made by older code. It is committed because it is expensive to compute. `data.committed=false` leaves
        it aside.
        """
        if not self.takes_committed:
            return None
        wanted = self.ahead
        for file in sorted((COMMITTED / self.name).glob("*.parquet")):
            stamp = _committed_stamp(file)
            if stamp is not None and (stamp.name, stamp.parameter_hash) == (wanted.name, wanted.parameter_hash):
                return file, stamp
        return None

    @property
    def source(self) -> tuple[Path, artifacts.Stamp]:
        """The table that others read, and its stamp: the committed one if there is one."""
        return self.committed or (self.table, self.ahead)

    @property
    def numbers(self) -> range:
        """The numbers of the parts: 1 to `parts`."""
        return range(1, self.parts + 1)

    def part(self, number: int) -> Path:
        """Path of the table of one part."""
        return self.table.with_suffix("") / f"{number}-of-{self.parts}.parquet"

    def files(self, part: int | None = None) -> list[Path]:
        """The files that the experiment, or one part of it, writes."""
        return [self.table if part is None else self.part(part)]

    @property
    def inputs(self) -> dict[str, Path]:
        """Tables and datasets."""
        return self.tables | self.datasets

    def reads(self, part: int | None = None) -> list[Path]:
        """What it is made from: a part from datasets and tables, the whole table from its parts."""
        return [self.part(number) for number in self.numbers] if part is None else list(self.inputs.values())

    def label(self, part: int | None) -> str:
        """Which of how many parts."""
        return "" if part is None else f"{part}/{self.parts}"

    def made(self, part: int | None = None) -> artifacts.Stamp:
        """The stamp of its table, or of one part."""
        return artifacts.read_table(self.files(part)[0]).stamp

    @property
    def ahead(self) -> artifacts.Stamp:
        """The stamp of its table without the hashes of inputs. Its parameters include those of the tables it reads."""
        dumped = self.parameters.model_dump(mode="json", exclude={"chunks"})
        return artifacts.Stamp(
            name=self.name,
            parameters={"seed": self.seed, **dumped, **self.sources},
            code=closure.code_hash(*self.modules),
            origins=self.origins,
        )

    def require_memory(self, number: int) -> None:
        """Refuse a part whose sizes ask for more memory than there is, before anything is computed.

        Raises:
            MachineError: naming the first such task.
        """
        memory = getattr(self.experiment, "memory", None)
        if memory is None:
            return
        limit, sources = memory_limit(), [self.sources] if self.sources else []
        for task in self.experiment.tasks(self.parameters)[number - 1 :: self.parts]:
            needed = memory(self.parameters, task, *sources)
            if needed > limit:
                where = ", ".join(f"{key}={value}" for key, value in task.items())
                raise MachineError(
                    f"{self.name}: {where}: needs at least {needed / 2**30:,.1f} GiB of memory; "
                    f"allowed here: {limit / 2**30:,.1f} GiB; choose smaller sizes"
                )

    def compute_part(self, number: int, log: Path | None = None) -> None:
        """Compute every `parts`-th task from the one of this number on and write them as one table.

        Nothing is done if the table is there. Another pipeline may have made it meanwhile.

        The parameters set the number of threads, not the environment: sums of the linear algebra library round
        differently on several threads.
        """
        import pandas as pd
        import scipy.linalg  # noqa: F401 (it has its own linear algebra library, which must be limited too)
        from threadpoolctl import threadpool_limits

        file = self.part(number)
        if self.whole(number):
            with reporting(self.name, 1, log) as reporter:
                reporter.summary(f"made before → {file}")
            return
        missing = [name for name, dataset in self.datasets.items() if not dataset.is_file()]
        if missing:
            raise DataError(f"{self.datasets[missing[0]]}: not prepared yet; {self._run_first('prepare', missing[0])}")
        self.require_memory(number)
        artifacts.require_writable(file)
        # The stamp is taken first: tasks load their code and read their data later.
        stamp = self.wanted_stamp(number)
        tables = {name: self.read(name) for name in self.tables}
        started = Start.now()
        tasks = list(enumerate(self.experiment.tasks(self.parameters)))[number - 1 :: self.parts]
        rows = []
        with (
            threadpool_limits(self.parameters.threads),
            reporting(f"{self.name}, part {number} of {self.parts}", len(tasks), log) as reporter,
        ):
            for position, task in tasks:
                checkpoint = file.with_suffix(f".task{position}")
                context = Context(self.seed, self.datasets, reporter.line, checkpoint, self.origin, tables)
                frame = self.experiment.compute(self.parameters, task, context)
                rows.append(frame.assign(task=position))
                reporter.advance(", ".join(f"{key}={value}" for key, value in task.items()))
            table = pd.concat(rows, ignore_index=True)
            self.require_unedited(number)
            artifacts.write_table(file, table, stamp, started, self.command)
            seconds = (datetime.now(UTC) - started.time).total_seconds()
            reporter.summary(f"{len(tasks)} tasks, {len(table)} rows, {seconds:.1f} s → {file}")

    def merge(self, log: Path | None = None) -> None:
        """Join the parts in the order of the tasks, if the table is not there: it does not depend on their number."""
        import pandas as pd

        started = Start.now()
        with reporting(self.name, 1, log) as reporter:
            if self.whole():
                reporter.summary(f"made before → {self.table}")
                return
            stamp = self.wanted_stamp()
            for number in self.numbers:
                if not self.part(number).exists():
                    raise ArtifactError(f"{self.part(number)}: no such table; {self._run_first('run', self.name)}")
            parts = [read_checked(self.part(number), self.origin) for number in self.numbers]
            rows = pd.concat([part.rows for part in parts], ignore_index=True)
            rows = rows.sort_values("task", kind="stable", ignore_index=True).drop(columns="task")
            # What the parts were made from may be gone. Then its hashes are only in their stamps.
            stamp = replace(stamp, inputs=parts[0].stamp.inputs)
            records = [artifacts.read_circumstances(self.part(number)) for number in self.numbers]
            artifacts.write_table(self.table, rows, stamp, started, self.command, records if all(records) else ())
            reporter.summary(f"{len(rows)} rows from {self.parts} parts → {self.table}")


def read_checked(file: Path, origin: str) -> artifacts.Table:
    """A table whose content is intact. A damaged one is deleted, and the next run remakes it.

    Raises:
        ArtifactError: the table is missing or damaged, or has another origin.
    """
    try:
        table = artifacts.read_table(file)
        if table.stamp.origin == origin:
            return table
        error = ArtifactError(f"{file}: holds another result")
    except ArtifactError as damage:
        error = damage
    if file.exists() and RESULTS in file.parents:
        artifacts.delete(file)
        error = ArtifactError(f"{error}; deleted, run again to remake it")
    raise error


@functools.cache
def _committed_stamp(file: Path) -> artifacts.Stamp | None:
    """Stamp of a committed table. A damaged one is not used, and named on standard error."""
    try:
        return artifacts.read_table(file).stamp
    except ArtifactError as error:
        print(f"{error}; it is not used, restore it from the repository", file=sys.stderr)
        return None
