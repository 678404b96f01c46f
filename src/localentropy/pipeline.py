"""The pipeline's jobs as plain functions: compute part of an experiment, merge its parts, draw a figure.

The Snakefile and the command line both call these; what a job will be stamped with is known before it runs, so a
file on disk can be held against what is wanted now.
"""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localentropy import artifacts, provenance
from localentropy.config import Configuration, load_experiment, split_figure
from localentropy.errors import ArtifactError, DataError
from localentropy.experiments.parameters import Context, Experiment, ExperimentParameters
from localentropy.progress import reporting

if TYPE_CHECKING:
    import pandas as pd

RESULTS, FIGURES, LOGS, PREPARED = Path("results"), Path("figures"), Path("logs"), Path("data/prepared")


def table_path(folder: str, name: str) -> Path:
    """Where the whole table of the experiment `<paper>/<name>` lies."""
    return RESULTS / folder / f"{name}.parquet"


def figure_stem(folder: str, target: str) -> Path:
    """Where a figure lies, without suffix."""
    paper, module = split_figure(target)
    return FIGURES / folder / paper / module


def prepared_path(dataset: str, source: str) -> Path:
    """Where a prepared dataset lies."""
    return PREPARED / source / f"{dataset}.npz"


@dataclass(frozen=True)
class DatasetJob:
    """One dataset to prepare.

    Attributes:
        name: one of `localentropy.instances.prepare.NAMES`.
        source: embedded, mirror or download.
        mirror: the directory, for the source `mirror`.
    """

    name: str
    source: str
    mirror: Path | None

    MODULE = "localentropy.instances.prepare"

    @classmethod
    def from_configuration(cls, configuration: Configuration, name: str) -> DatasetJob:
        """The job of one dataset of a resolved configuration."""
        return cls(name, configuration.data.source, configuration.data.mirror)

    @classmethod
    def from_json(cls, name: str, text: str) -> DatasetJob:
        """The job that `to_json` wrote."""
        values = json.loads(text)
        return cls(name, values["source"], Path(values["mirror"]) if values["mirror"] else None)

    def to_json(self) -> str:
        """Everything of the job but its name, on one line."""
        mirror = str(self.mirror) if self.mirror and self.source == "mirror" else None
        return provenance.canonical_json({"source": self.source, "mirror": mirror})

    @property
    def file(self) -> Path:
        """Where the prepared dataset lies."""
        return prepared_path(self.name, self.source)

    def problem(self) -> str | None:
        """Why the prepared file cannot serve; None where it can, or is not there."""
        from localentropy.instances.prepared import load

        if not self.file.exists():
            return None
        try:
            load(self.file)
        except DataError as error:
            return str(error).partition(": ")[2]
        return None

    def prepare(self, log: Path | None = None) -> None:
        """Prepare the dataset, whole or not at all."""
        from localentropy.instances.prepare import prepare

        with reporting(f"dataset {self.name}", 1, log) as reporter:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            dataset = prepare(self.name, self.file, source=self.source, mirror=self.mirror)
            train, test = len(dataset.train.labels), len(dataset.test.labels)
            reporter.summary(f"{train} training and {test} test examples from {self.source} → {self.file}")


@dataclass(frozen=True)
class ExperimentJob:
    """One experiment at resolved parameters.

    Attributes:
        name: `<paper>/<name>`.
        folder: path component of the scale or named run.
        seed: root seed.
        parameters: its typed parameters.
        inputs: dataset name → prepared file.
    """

    name: str
    folder: str
    seed: int
    parameters: ExperimentParameters
    inputs: dict[str, Path]

    @classmethod
    def from_configuration(cls, configuration: Configuration, name: str) -> ExperimentJob:
        """The job of one experiment of a resolved configuration."""
        inputs = {
            dataset: prepared_path(dataset, configuration.data.source) for dataset in load_experiment(name).DATASETS
        }
        parameters = configuration.experiments[name]
        return cls(name, configuration.folder, configuration.seed, parameters, inputs)

    @classmethod
    def from_json(cls, name: str, text: str) -> ExperimentJob:
        """The job that `to_json` wrote."""
        values = json.loads(text)
        parameters = load_experiment(name).Parameters.model_validate(values["parameters"])
        inputs = {dataset: Path(file) for dataset, file in values["inputs"].items()}
        return cls(name, values["folder"], values["seed"], parameters, inputs)

    def to_json(self) -> str:
        """Everything of the job but its name, on one line."""
        return provenance.canonical_json(
            {
                "folder": self.folder,
                "seed": self.seed,
                "parameters": self.parameters.model_dump(mode="json"),
                "inputs": {dataset: str(file) for dataset, file in self.inputs.items()},
            }
        )

    @property
    def module(self) -> str:
        """Dotted name of the experiment's module."""
        return f"localentropy.experiments.{self.name.replace('/', '.')}"

    @property
    def experiment(self) -> Experiment:
        """The experiment's module."""
        return load_experiment(self.name)

    @property
    def parts(self) -> int:
        """Number of parts: as many as asked for, but none empty."""
        return min(self.parameters.chunks, len(self.experiment.tasks(self.parameters)))

    @property
    def table(self) -> Path:
        """Where its whole table lies."""
        return table_path(self.folder, self.name)

    def part(self, index: int) -> Path:
        """Where the table of one part lies."""
        return RESULTS / self.folder / self.name / f"{index}-of-{self.parts}.parquet"

    def stamp(self, part: int | None = None) -> artifacts.Stamp:
        """What its table (or one part) is stamped with; a data file that is not there yet is left out."""
        dumped = self.parameters.model_dump(mode="json", exclude={"chunks"})
        return artifacts.Stamp(
            name=self.name,
            parameters={"seed": self.seed, **dumped},
            code=provenance.code_hash(self.module),
            inputs={name: provenance.file_hash(file) for name, file in self.inputs.items() if file.exists()},
            part="" if part is None else f"{part}/{self.parts}",
        )

    def compute_part(self, index: int, log: Path | None = None) -> None:
        """Compute every `parts`-th task from `index` on and write them as one table."""
        import pandas as pd

        missing = [name for name, file in self.inputs.items() if not file.exists()]
        if missing:
            raise DataError(f"{self.inputs[missing[0]]}: not prepared yet; run `localentropy prepare {missing[0]}`")
        started = datetime.now(UTC)
        tasks = list(enumerate(self.experiment.tasks(self.parameters)))[index :: self.parts]
        rows = []
        with reporting(f"{self.name} {index + 1}/{self.parts}", len(tasks), log) as reporter:
            for position, task in tasks:
                checkpoint = self.part(index).with_suffix(f".task{position}")
                context = Context(self.seed, self.inputs, reporter.line, checkpoint)
                frame = self.experiment.compute(self.parameters, task, context)
                rows.append(frame.assign(task=position))
                reporter.advance(", ".join(f"{key}={value}" for key, value in task.items()))
            table = pd.concat(rows, ignore_index=True)
            file = self.part(index)
            artifacts.write_table(file, table, self.stamp(index), started)
            seconds = (datetime.now(UTC) - started).total_seconds()
            reporter.summary(f"{len(tasks)} tasks, {len(table)} rows, {seconds:.1f} s → {file}")

    def merge(self, log: Path | None = None) -> None:
        """Join the parts in the order of the tasks: the table does not depend on their number."""
        import pandas as pd

        started = datetime.now(UTC)
        with reporting(self.name, 1, log) as reporter:
            parts = [self._read_part(index) for index in range(self.parts)]
            table = pd.concat(parts, ignore_index=True).sort_values("task", kind="stable", ignore_index=True)
            artifacts.write_table(self.table, table.drop(columns="task"), self.stamp(), started)
            reporter.summary(f"{len(table)} rows from {self.parts} parts → {self.table}")

    def _read_part(self, index: int) -> pd.DataFrame:
        table = read_checked(self.part(index))
        difference = table.stamp.difference(self.stamp(index))
        if difference:
            raise ArtifactError(f"{self.part(index)}: {difference}; run {self.name} again")
        return table.rows


@dataclass(frozen=True)
class FigureJob:
    """One figure to draw.

    Attributes:
        target: its target name, as in `config/figures.yaml`.
        scale: smoke, default or paper: the caption says so.
        folder: path component of the scale or named run.
        tables: experiment `<paper>/<name>` → its table.
        origins: experiment → what its table must have been made from (`Stamp.origin`), known before it exists.
        datasets: dataset → prepared file that some table depends on.
    """

    target: str
    scale: str
    folder: str
    tables: dict[str, Path]
    origins: dict[str, str]
    datasets: dict[str, Path]

    @classmethod
    def from_configuration(cls, configuration: Configuration, target: str) -> FigureJob:
        """The job of one figure of a resolved configuration."""
        names = configuration.figures[target].experiments
        jobs = {name: ExperimentJob.from_configuration(configuration, name) for name in names}
        return cls(
            target,
            configuration.scale,
            configuration.folder,
            tables={name: job.table for name, job in jobs.items()},
            origins={name: job.stamp().origin for name, job in jobs.items()},
            datasets={dataset: file for job in jobs.values() for dataset, file in job.inputs.items()},
        )

    @classmethod
    def from_json(cls, target: str, text: str) -> FigureJob:
        """The job that `to_json` wrote."""
        values = json.loads(text)
        for key in ("tables", "datasets"):
            values[key] = {name: Path(file) for name, file in values[key].items()}
        return cls(target, **values)

    def to_json(self) -> str:
        """Everything of the job but its target, on one line."""
        values = {key: value for key, value in asdict(self).items() if key != "target"}
        for key in ("tables", "datasets"):
            values[key] = {name: str(file) for name, file in values[key].items()}
        return provenance.canonical_json(values)

    @property
    def inputs(self) -> dict[str, Path]:
        """Files that the figure depends on."""
        return self.tables | self.datasets

    @property
    def module(self) -> str:
        """Dotted name of the module that draws it."""
        return "localentropy.plots." + ".".join(split_figure(self.target))

    @property
    def stem(self) -> Path:
        """Where it lies, without suffix."""
        return figure_stem(self.folder, self.target)

    def stamp(self) -> artifacts.Stamp:
        """What the figure is stamped with; a table that is not there yet is left out."""
        return artifacts.Stamp(
            name=self.target,
            parameters={"scale": self.scale},
            code=provenance.code_hash(self.module),
            inputs={f"{name} made from": origin for name, origin in self.origins.items()}
            | {name: provenance.file_hash(file) for name, file in self.inputs.items() if file.exists()},
        )

    def draw(self, log: Path | None = None) -> None:
        """Read the tables, draw, and write PNG, PDF, CSV and the record that vouches for them."""
        started = datetime.now(UTC)
        with reporting(self.target, 1, log) as reporter:
            tables = {name.partition("/")[2]: self._read(name) for name in self.tables}
            drawing = importlib.import_module(self.module).draw(tables, self.scale)
            stamp = self.stamp()
            metadata = {
                "Title": self.target,
                "Description": drawing.caption,
                "Source": f"localentropy {stamp.code[:12]}",
            }
            contents = {
                ".png": _save(drawing.figure, "png", metadata | {"Software": None}),
                ".pdf": _save(drawing.figure, "pdf", {"Title": self.target, "CreationDate": None}),
                ".csv": _csv(drawing.data),
            }
            artifacts.write_figure(self.stem, contents, stamp, drawing.caption, started)
            reporter.summary(f"{len(drawing.data)} plotted numbers → {self.stem}.png")

    def _read(self, name: str) -> pd.DataFrame:
        table = read_checked(self.tables[name])
        if table.stamp.origin != self.origins[name]:
            raise ArtifactError(f"{self.tables[name]}: made from other parameters or code; run {name} again")
        return table.rows


def problem(job: DatasetJob | ExperimentJob | FigureJob, part: int | None = None) -> str | None:
    """Why the file of a job (or of one part of it) cannot serve as it is; None where it can, or is not there."""
    try:
        if isinstance(job, DatasetJob):
            return job.problem()
        if isinstance(job, FigureJob):
            if not any(file.exists() for file in files_of(job)):
                return None
            stamp, wanted = artifacts.read_figure(job.stem)[0], job.stamp()
        else:
            file = job.table if part is None else job.part(part)
            if not file.exists():
                return None
            stamp, wanted = artifacts.read_table(file).stamp, job.stamp(part)
    except ArtifactError as error:
        return str(error).partition(": ")[2]
    # An input that is gone cannot be compared; where it matters it is remade, and its users with it.
    gone = {name for name, file in job.inputs.items() if not file.exists()}
    inputs = {name: value for name, value in stamp.inputs.items() if name not in gone}
    return replace(stamp, inputs=inputs).difference(wanted)


def files_of(job: DatasetJob | ExperimentJob | FigureJob, part: int | None = None) -> list[Path]:
    """The files that a job (or one part of it) writes."""
    if isinstance(job, DatasetJob):
        return [job.file]
    if isinstance(job, FigureJob):
        return [job.stem.with_suffix(suffix) for suffix in (*artifacts.FIGURE_SUFFIXES, ".json")]
    return [job.table if part is None else job.part(part)]


def read_checked(file: Path) -> artifacts.Table:
    """A table whose content is intact; a corrupt one is set aside, so that the next run remakes it.

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


def all_jobs(configuration: Configuration) -> Iterator[ExperimentJob | FigureJob]:
    """Every job of a configuration, experiments first."""
    for name in configuration.experiments:
        yield ExperimentJob.from_configuration(configuration, name)
    for target in configuration.figures:
        yield FigureJob.from_configuration(configuration, target)


def _csv(data: pd.DataFrame) -> bytes:
    """The plotted numbers: the columns that all figures share, then the figure's own."""
    shared = ["panel", "series", "x", "y", "y_err"]
    own = [column for column in data.columns if column not in shared]
    return data[shared + own].to_csv(index=False, float_format="%.10g").encode()


def _save(figure: Any, kind: str, metadata: Mapping[str, str | None]) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, metadata=metadata)
    return stream.getvalue()
