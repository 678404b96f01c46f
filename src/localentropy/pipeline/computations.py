"""The pipeline's jobs on data: prepare a dataset, compute part of an experiment, merge its parts.

The Snakefile and the command line both call these. The stamp of a job is known before it runs. So a file on disk can
be compared with what is wanted now.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict, SerializeAsAny, ValidationInfo, field_validator

from localentropy import closure
from localentropy.arguments import memory_limit
from localentropy.atomic import file_hash
from localentropy.data.registry import DATA_DIR
from localentropy.errors import ArtifactError, DataError
from localentropy.experiments.parameters import Context, Experiment, ExperimentParameters
from localentropy.pipeline import artifacts, provenance
from localentropy.pipeline.config import OPTION, Configuration, load_program, override_words, require_known
from localentropy.pipeline.machine import MachineError
from localentropy.pipeline.progress import reporting

if TYPE_CHECKING:
    import pandas as pd

RESULTS, PREPARED, COMMITTED = Path("results"), Path("data/prepared"), Path("data/paper_scale")


class DatasetJob(BaseModel):
    """A dataset to prepare.

    Attributes:
        name: one of `localentropy.data.prepare.NAMES`.
        source: embedded, mirror or download.
        mirror: the directory, for the source `mirror`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    source: str
    mirror: Path | None

    MODULE: ClassVar = "localentropy.data.prepare"

    @classmethod
    def from_configuration(cls, configuration: Configuration, name: str) -> DatasetJob:
        """The job of one dataset of a resolved configuration."""
        data = configuration.data
        return cls(name=name, source=data.source, mirror=data.mirror if data.source == "mirror" else None)

    @property
    def file(self) -> Path:
        """Path of the prepared dataset."""
        return PREPARED / self.source / f"{self.name}.npz"

    @property
    def inputs(self) -> dict[str, Path]:
        """The embedded file, if it is the source. Raw files are checked against the registry instead."""
        return {"embedded": DATA_DIR / "embedded" / f"{self.name}.npz"} if self.source == "embedded" else {}

    @property
    def origin(self) -> str:
        """SHA-256 of what decides its content: name, source, code, embedded file. It is known before it is prepared."""
        return _origin(self)

    @property
    def command(self) -> list[str]:
        """The words of the command that makes its file."""
        mirror = [f"data.mirror={self.mirror}"] if self.mirror else []
        return ["snakemake", str(self.file), OPTION, f"data.source={self.source}", *mirror]

    def files(self, part: int | None = None) -> list[Path]:
        """What it writes."""
        return [self.file, self.file.with_suffix(".json")]

    def reads(self, part: int | None = None) -> list[Path]:
        """What it is made from."""
        return list(self.inputs.values())

    def problem(self, part: int | None = None) -> str | None:
        """Why the prepared file is not current; None if it is, or if it is missing."""
        if not any(file.exists() for file in self.files()):
            return None
        try:
            stamp, _ = artifacts.read_output(self.file.with_suffix(""))
        except ArtifactError as error:
            return str(error).partition(": ")[2]
        return stamp.difference(self.stamp())

    def stamp(self) -> artifacts.Stamp:
        """What the prepared file is stamped with."""
        return artifacts.Stamp(
            name=self.name,
            parameters={"source": self.source},
            code=closure.code_hash(self.MODULE),
            inputs={name: file_hash(file) for name, file in self.inputs.items() if file.is_file()},
        )

    def prepare(self, log: Path | None = None) -> None:
        """Prepare the dataset, whole or not at all, and write its record."""
        from localentropy.data.prepare import prepare

        started = datetime.now(UTC)
        stamp = self.stamp()
        with reporting(f"dataset {self.name}", 1, log) as reporter:
            dataset = prepare(self.name, self.file, source=self.source, mirror=self.mirror)
            caption = f"{dataset.summary()} from {self.source}"
            hashes = {self.file.suffix: file_hash(self.file)}
            artifacts.write_record(self.file.with_suffix(""), hashes, stamp, caption, started, self.command)
            reporter.summary(f"{caption} → {self.file}")


@functools.cache
def _origin(job: DatasetJob) -> str:
    stamp = job.stamp()
    return hashlib.sha256(provenance.canonical_json({"origin": stamp.origin, **stamp.inputs}).encode()).hexdigest()


class TableReader(BaseModel, ABC):
    """A job that reads tables of experiments.

    Attributes:
        folder: path component of the scale or run.
        overrides: the words behind `--config` that make its configuration (`config.override_words`).
        tables: experiment `<paper>/<name>` → its table.
        origins: experiment → the origin that its table must have (`Stamp.origin`). It is known before the table exists.
            A table that comes with the repository (`ExperimentJob.committed`) is used first. Also dataset → origin of
            the prepared file (`DatasetJob.origin`), of a job that reads it itself.
        datasets: dataset → prepared file that it or some table depends on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str
    overrides: tuple[str, ...]
    tables: dict[str, Path]
    origins: dict[str, str]
    datasets: dict[str, Path]

    @property
    def goal(self) -> str:
        """What Snakemake is asked for to make it."""
        return str(self.files()[0])

    @property
    def command(self) -> list[str]:
        """The words of the command that makes its files."""
        return ["snakemake", self.goal, *([OPTION, *self.overrides] if self.overrides else [])]

    @abstractmethod
    def files(self, part: int | None = None) -> list[Path]:
        """The files that the job writes."""

    @property
    def inputs(self) -> dict[str, Path]:
        """Files that it depends on."""
        return self.tables | self.datasets

    def input_hashes(self) -> dict[str, str]:
        """SHA-256 of each file that it depends on. A file that is not there yet is left out."""
        return {name: file_hash(file) for name, file in self.inputs.items() if file.is_file()}

    def difference(self, made: artifacts.Stamp, wanted: artifacts.Stamp) -> str | None:
        """The first difference between two stamps, in words.

        An input whose file is gone does not count. A file that is needed is remade, and so is what is made from it.
        """
        gone = {name for name, file in self.inputs.items() if not file.is_file()}
        kept = {name: value for name, value in made.inputs.items() if name not in gone}
        return replace(made, inputs=kept).difference(wanted)

    def read(self, name: str) -> pd.DataFrame:
        """The rows of one of its tables.

        Raises:
            ArtifactError: the table is missing, corrupt, or made from other parameters or code.
        """
        file = self.tables[name]
        if not file.exists():
            raise ArtifactError(f"{file}: no such table; run {name} first")
        table = read_checked(file)
        if table.stamp.origin != self.origins[name]:
            raise ArtifactError(f"{file}: made from other parameters or code; run {name} again")
        return table.rows


class ExperimentJob(TableReader):
    """An experiment at resolved parameters.

    Attributes:
        name: `<paper>/<name>`.
        seed: root seed.
        parameters: its typed parameters.
        sources: experiment whose table it reads → the parameters of that table.
    """

    name: str
    seed: int
    parameters: SerializeAsAny[ExperimentParameters]
    sources: dict[str, dict[str, Any]]

    @classmethod
    def from_configuration(cls, configuration: Configuration, name: str) -> ExperimentJob:
        """The job of one experiment of a resolved configuration.

        Raises:
            ConfigError: there is no such experiment.
        """
        require_known(name, configuration.experiments, "experiment")
        parameters = configuration.experiments[name]
        own = {dataset: DatasetJob.from_configuration(configuration, dataset) for dataset in parameters.DATASETS}
        read = {table: cls.from_configuration(configuration, table) for table in parameters.tables()}
        tables = {table: job.source for table, job in read.items()}
        return cls(
            name=name,
            folder=configuration.folder,
            overrides=override_words(configuration),
            seed=configuration.seed,
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
        return RESULTS / self.folder / f"{self.name}.parquet"

    @property
    def committed(self) -> tuple[Path, artifacts.Stamp] | None:
        """The table of these parameters that comes with the repository, and its stamp; None if there is none.

        It may be made by older code. It is committed because it is expensive to compute.
        """
        file = COMMITTED / f"{self.name}.parquet"
        stamp, wanted = _committed_stamp(file), self.ahead
        if stamp is None or (stamp.name, stamp.parameter_hash) != (wanted.name, wanted.parameter_hash):
            return None
        return file, stamp

    @property
    def source(self) -> tuple[Path, artifacts.Stamp]:
        """The table that others read, and its stamp: the committed one if there is one, else without the inputs."""
        return self.committed or (self.table, self.ahead)

    @property
    def numbers(self) -> range:
        """The numbers of the parts: 1 to `parts`."""
        return range(1, self.parts + 1)

    def part(self, number: int) -> Path:
        """Path of the table of one part."""
        return RESULTS / self.folder / self.name / f"{number}-of-{self.parts}.parquet"

    def files(self, part: int | None = None) -> list[Path]:
        """The files that the experiment, or one part of it, writes."""
        return [self.table if part is None else self.part(part)]

    def reads(self, part: int | None = None) -> list[Path]:
        """What it is made from: a part from datasets and tables, the whole table from its parts."""
        return [self.part(number) for number in self.numbers] if part is None else list(self.inputs.values())

    def problem(self, part: int | None = None) -> str | None:
        """Why its table (or one part) is not current; None if it is, or if it is missing."""
        file = self.files(part)[0]
        if not file.exists():
            return None
        try:
            stamp = artifacts.read_table(file).stamp
        except ArtifactError as error:
            return str(error).partition(": ")[2]
        return self.difference(stamp, self.stamp(part))

    @property
    def ahead(self) -> artifacts.Stamp:
        """The stamp of its table as far as it is known before any input exists: without the inputs' hashes.

        Its parameters include those of the tables that it reads.
        """
        dumped = self.parameters.model_dump(mode="json", exclude={"chunks"})
        return artifacts.Stamp(
            name=self.name,
            parameters={"seed": self.seed, **dumped, **self.sources},
            code=closure.code_hash(*self.modules),
            origins=self.origins,
        )

    def stamp(self, part: int | None = None) -> artifacts.Stamp:
        """Stamp of its table, or of one part."""
        number = "" if part is None else f"{part}/{self.parts}"
        return replace(self.ahead, inputs=self.input_hashes(), part=number)

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

        The parameters set the number of threads, not the environment: sums of the linear algebra library round
        differently on several threads.
        """
        import pandas as pd
        import scipy.linalg  # noqa: F401 (it has its own linear algebra library, which must be limited too)
        from threadpoolctl import threadpool_limits

        missing = [name for name, file in self.datasets.items() if not file.is_file()]
        if missing:
            command = f"python -m localentropy prepare {missing[0]}"
            raise DataError(f"{self.datasets[missing[0]]}: not prepared yet; run `{command}`")
        self.require_memory(number)
        artifacts.require_writable(self.part(number))
        # The stamp is taken first: tasks load their code and read their data later.
        stamp = self.stamp(number)
        tables = {name: self.read(name) for name in self.tables}
        identity = provenance.canonical_json({"code": stamp.code, "inputs": stamp.inputs})
        started = datetime.now(UTC)
        tasks = list(enumerate(self.experiment.tasks(self.parameters)))[number - 1 :: self.parts]
        rows = []
        with (
            threadpool_limits(self.parameters.threads),
            reporting(f"{self.name}, part {number} of {self.parts}", len(tasks), log) as reporter,
        ):
            for position, task in tasks:
                checkpoint = self.part(number).with_suffix(f".task{position}")
                context = Context(self.seed, self.datasets, reporter.line, checkpoint, identity, tables)
                frame = self.experiment.compute(self.parameters, task, context)
                rows.append(frame.assign(task=position))
                reporter.advance(", ".join(f"{key}={value}" for key, value in task.items()))
            table = pd.concat(rows, ignore_index=True)
            file = self.part(number)
            if closure.edited(*self.modules):
                raise ArtifactError(f"{file}: not written: the code was edited while it was computed; run again")
            artifacts.write_table(file, table, stamp, started, self.command)
            seconds = (datetime.now(UTC) - started).total_seconds()
            reporter.summary(f"{len(tasks)} tasks, {len(table)} rows, {seconds:.1f} s → {file}")

    def merge(self, log: Path | None = None) -> None:
        """Join the parts in the order of the tasks: the table does not depend on their number."""
        import pandas as pd

        started = datetime.now(UTC)
        with reporting(self.name, 1, log) as reporter:
            parts = [read_checked(self.part(number)) for number in self.numbers]
            # A file that they were made from may be gone. Then its hash is only in their stamps.
            inputs = parts[0].stamp.inputs
            for number, part in zip(self.numbers, parts, strict=True):
                wanted = self.stamp(number)
                difference = self.difference(part.stamp, wanted)
                difference = difference or part.stamp.difference(replace(wanted, inputs=inputs))
                if difference:
                    raise ArtifactError(f"{self.part(number)}: {difference}; run {self.name} again")
            rows = pd.concat([part.rows for part in parts], ignore_index=True)
            rows = rows.sort_values("task", kind="stable", ignore_index=True).drop(columns="task")
            artifacts.write_table(self.table, rows, replace(self.stamp(), inputs=inputs), started, self.command)
            reporter.summary(f"{len(rows)} rows from {self.parts} parts → {self.table}")


def read_checked(file: Path) -> artifacts.Table:
    """A table whose content is intact. A corrupt one is set aside, and the next run remakes it.

    Raises:
        ArtifactError: the table is missing or corrupt.
    """
    try:
        return artifacts.read_table(file)
    except ArtifactError as error:
        if file.exists():
            artifacts.set_aside(file)
            raise ArtifactError(f"{error}; set aside as {file.name}.aside, run again to remake it") from None
        raise


@functools.cache
def _committed_stamp(file: Path) -> artifacts.Stamp | None:
    """Stamp of a committed table. A damaged one is not used, and named on standard error."""
    if not file.exists():
        return None
    try:
        return artifacts.read_table(file).stamp
    except ArtifactError as error:
        print(f"{error}; it is not used, restore it from the repository", file=sys.stderr)
        return None
