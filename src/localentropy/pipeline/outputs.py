"""The pipeline's jobs on tables: the base class of all, and the job of a figure.

Their files lie below `results`, named after what they are made from, as tables do. A copy below `figures/<scale>[-run]`
is for people (`OutputJob.publish`). So a change of a parameter that is taken back finds its figure again.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import traceback
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from localentropy import closure
from localentropy.closure import DIGITS, SOURCE
from localentropy.errors import ArtifactError, ConfigError, LocalEntropyError
from localentropy.pipeline import artifacts
from localentropy.pipeline.computations import COMMITTED, RESULTS, ExperimentJob, TableReader
from localentropy.pipeline.config import ROOT, Configuration, find_target, override_words, split_target
from localentropy.pipeline.progress import reporting
from localentropy.pipeline.provenance import Start

if TYPE_CHECKING:
    import pandas as pd

FIGURES = Path("figures")
GALLERY = FIGURES / "gallery"
"""The committed copies of figures and scorecards."""
LOOK = ".look.json"
"""The ending of the file that says how the numbers of a figure are drawn."""


class Rendered(NamedTuple):
    """What a job on tables makes.

    Attributes:
        contents: suffix → content of each file.
        caption: one paragraph.
        summary: one line for the log.
        settings: what the table below a figure says.
    """

    contents: dict[str, bytes]
    caption: str
    summary: str
    settings: Mapping[str, str] = {}


class OutputJob(TableReader):
    """One set of files made from the tables of experiments.

    Attributes:
        target: its target name.
        scale: smoke, default or paper.
        folder: the folder of the scale or run, below `figures`.
    """

    target: str
    scale: str
    folder: str

    SUFFIXES: ClassVar[tuple[str, ...]]

    @classmethod
    def from_experiments(cls, configuration: Configuration, target: str, names: Iterable[str], **own: Any) -> Self:
        """The job on the tables of the named experiments of a resolved configuration; `own` are a subclass's fields."""
        jobs = {name: ExperimentJob.from_configuration(configuration, name) for name in names}
        sources = {name: job.source for name, job in jobs.items()}
        return cls.at_origin(
            target=target,
            scale=configuration.scale,
            folder=configuration.folder,
            overrides=override_words(configuration),
            tables={name: file for name, (file, _) in sources.items()},
            origins={name: stamp.origin for name, (_, stamp) in sources.items()},
            **own,
        )

    @classmethod
    @abstractmethod
    def place(cls, target: str) -> Path:
        """Where the files of a target are published, without suffix, in the folder of a scale or run."""

    @property
    def stem(self) -> Path:
        """Path of the files, without suffix. Snakemake's report sorts by the last part of a path."""
        place = self.place(self.target)
        return RESULTS / FIGURES / place / self.address / place.name

    @property
    def published(self) -> Path:
        """Path of the copies for people, without suffix."""
        return FIGURES / self.folder / self.place(self.target)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of its files. The record is the last one that is written."""
        return (*self.SUFFIXES, ".json")

    @property
    @abstractmethod
    def modules(self) -> list[str]:
        """Dotted names of the modules that turn the tables into files."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What the files depend on besides tables and code."""
        return {"scale": self.scale}

    def files(self, part: int | None = None) -> list[Path]:
        """What it writes."""
        return [self.stem.with_suffix(suffix) for suffix in self.suffixes]

    def made(self, part: int | None = None) -> artifacts.Stamp:
        """The stamp of its files."""
        return self._stamp_at(self.stem)

    def _stamp_at(self, stem: Path) -> artifacts.Stamp:
        stamp, record = artifacts.read_output(stem)
        if set(record["files"]) != set(self.SUFFIXES):
            raise ArtifactError(f"{stem}: its record names other files")
        return stamp

    @property
    def ahead(self) -> artifacts.Stamp:
        """The stamp of its files without the hashes of the tables."""
        return artifacts.Stamp(
            name=self.target,
            parameters=self.parameters,
            code=closure.code_hash(*self.modules),
            origins=self.origins,
        )

    def require_whole(self, targets: str = "all scorecard", how: str = "") -> None:
        """Refuse files that were not made, or are damaged.

        Args:
            targets: what is asked for to make them.
            how: what else is said of that run.

        Raises:
            ArtifactError: with the command that makes them.
        """
        if not self.whole():
            problem = self.problem() or "missing"
            raise ArtifactError(f"{self.target}: {problem}; run `make {targets} SCALE={self.scale}` first{how}")

    def outdated(self) -> str | None:
        """What the published copies have that is not of this job; None if nothing has, or if they are not there."""
        if not any(os.path.lexists(self.published.with_suffix(suffix)) for suffix in self.suffixes):
            return None
        try:
            stamp = self._stamp_at(self.published)
        except ArtifactError as error:
            return str(error).partition(": ")[2]
        return stamp.difference(self.ahead)

    def publish(self) -> None:
        """Copy its files to where people look for them.

        Raises:
            ArtifactError: they cannot be written.
        """
        for suffix in self.suffixes:
            artifacts.publish(self.stem.with_suffix(suffix), self.published.with_suffix(suffix))

    def make(self, log: Path | None = None) -> None:
        """Read the tables. Write every file and the record of all, unless they are there. Publish them."""
        started = Start.now()
        with reporting(self.target, 1, log) as reporter:
            if self.whole():
                self.publish()
                reporter.summary(f"made before → {self.published.with_suffix(self.SUFFIXES[0])}")
                return
            # The stamp is taken first: the code is loaded and the tables are read later.
            stamp = self.wanted_stamp()
            made = self.render({name: self.read(name) for name in self.tables})
            settings = {**made.settings, **self.committed_tables()}
            self.require_unedited()
            artifacts.write_output(self.stem, made.contents, stamp, made.caption, started, self.command, settings)
            self.publish()
            reporter.summary(f"{made.summary} → {self.published.with_suffix(self.SUFFIXES[0])}")

    def committed_tables(self) -> dict[str, str]:
        """The setting that names the tables that come with the repository; empty if there are none."""
        notes = []
        for name, file in self.tables.items():
            if COMMITTED in file.parents:
                stamp = artifacts.read_table(file).stamp
                circumstances = artifacts.read_circumstances(file)
                date = str(circumstances.get("finished", "an unknown date"))[:10]
                notes.append(f"{name} (made on {date} by code {stamp.code[:DIGITS]})")
        return {f"not computed here but taken from {COMMITTED.relative_to(ROOT)}": ", ".join(notes)} if notes else {}

    @abstractmethod
    def render(self, tables: Mapping[str, pd.DataFrame]) -> Rendered:
        """The files, from `<paper>/<name>` → rows."""


class FigureJob(OutputJob):
    """One figure to draw; its target is named in `config/<paper>/figures.yaml`."""

    SUFFIXES: ClassVar = (".png", ".pdf", ".csv", LOOK)

    @classmethod
    def from_configuration(cls, configuration: Configuration, target: str) -> FigureJob:
        """The job of one figure of a resolved configuration.

        Raises:
            ConfigError: there is no such figure, or no module that draws it.
        """
        target = find_target(target, configuration.figures, "figure")
        module = Path("src", "localentropy", "figures", cls.place(target)).with_suffix(".py")
        if not (ROOT / module).is_file():
            raise ConfigError(f"{target}: no module {module}, which draws it (CONTRIBUTING.md, Add a figure)")
        return cls.from_experiments(configuration, target, configuration.figures[target].experiments)

    @classmethod
    def place(cls, target: str) -> Path:
        """The paper and the module."""
        return Path(*split_target(target))

    @property
    def modules(self) -> list[str]:
        """The module that draws it, and the one that reads its look."""
        return ["localentropy.figures." + ".".join(split_target(self.target)), "localentropy.figures.description"]

    def render(self, tables: Mapping[str, pd.DataFrame]) -> Rendered:
        """PNG, PDF, the plotted numbers, and how they are drawn."""
        from localentropy.figures.defaults import defaults
        from localentropy.figures.description import look
        from localentropy.figures.drawing import in_one_paragraph

        source = f"localentropy {closure.code_hash(self.modules[0])[:DIGITS]}"
        with defaults():
            with lacking(f"{self.target}: cannot be drawn from these tables"):
                drawing = importlib.import_module(self.modules[0]).draw(tables, self.scale)
            settings = {**drawing.settings, **self.committed_tables()}
            description = in_one_paragraph(drawing.caption, settings)
            metadata = {"Title": self.target, "Description": description, "Source": source}
            contents = {
                ".png": _save(drawing.figure, "png", metadata | {"Software": None}),
                ".pdf": _save(drawing.figure, "pdf", {"Title": self.target, "CreationDate": None}),
                ".csv": drawing.data.to_csv(index=False, float_format="%.10g").encode(),
                LOOK: _json(look(drawing.figure)),
            }
        return Rendered(contents, drawing.caption, f"{len(drawing.data)} plotted numbers", drawing.settings)


@contextmanager
def lacking(what: str) -> Iterator[None]:
    """A block that ends with one line if tables of changed parameters lack rows that a figure or claim is about.

    Raises:
        ArtifactError: saying what failed, and in which line.
    """
    try:
        yield
    except LocalEntropyError:
        raise
    except (LookupError, ValueError) as error:
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(str(SOURCE))]
        where = f"{Path(own[-1].filename).relative_to(SOURCE)}, line {own[-1].lineno}"
        raise ArtifactError(
            f"{what} ({where}: {type(error).__name__}: {error}); they may lack rows that the shipped parameters give"
        ) from error


def _json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _save(figure: Any, kind: str, metadata: Mapping[str, str | None]) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, metadata=metadata)
    return stream.getvalue()
