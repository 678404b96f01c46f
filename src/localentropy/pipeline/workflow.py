"""What the Snakefile calls: the configuration of this run, each job's inputs and parameters, and two guards.

The first guard alone decides what runs again. When a rule asks for a job's inputs, the guard compares the stamp of the
file that the job would make with the stamp that is wanted now: name, parameters, code, inputs, checksums. If they
differ, the guard sets the file aside. Snakemake sees a missing file and remakes it. Snakemake's own records and the
times of files decide nothing: profiles/default leaves times as the only trigger, and the inputs in the rules are
`ancient`.

The second guard is a kernel lock. It keeps a second pipeline off the checkout, and a killed process cannot leave it
behind.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from localentropy import closure
from localentropy.atomic import file_hash
from localentropy.errors import ArtifactError, LocalEntropyError
from localentropy.pipeline import artifacts, provenance
from localentropy.pipeline.computations import DatasetJob, ExperimentJob
from localentropy.pipeline.config import name_target, require_known, resolve
from localentropy.pipeline.jobs import Job, output_jobs
from localentropy.pipeline.outputs import FigureJob
from localentropy.pipeline.scorecard import ScorecardJob, SummaryJob

LOCK = Path(".snakemake/localentropy.lock")


@dataclass(frozen=True)
class NotebookJob:
    """A notebook to run and render, by its name."""

    name: str

    @property
    def source(self) -> Path:
        """The py:percent file."""
        return Path("notebooks", f"{self.name}.py")

    def files(self, part: int | None = None) -> list[Path]:
        """What it writes."""
        return [self.source.with_suffix(".html")]

    def stamp(self) -> str:
        """A comment that names the source's text and the code that it imports."""
        return f"<!-- {file_hash(self.source)} {closure.code_hash(str(self.source))} -->"

    def problem(self, part: int | None = None) -> str | None:
        """Why the rendered file cannot serve; None where it can, or is not there."""
        file = self.files()[0]
        made = file.read_text(encoding="utf-8") if file.exists() else self.stamp()
        return None if made.rstrip().endswith(self.stamp()) else "made from other code"


class Pipeline:
    """The rules' view of one resolved configuration; `wildcards` arguments are Snakemake's."""

    def __init__(self, workflow: Any) -> None:
        self._workflow = workflow
        self._lock: int | None = None
        self._checked: set[Path] = set()
        settings = workflow.config_settings
        self.configuration = resolve(
            files=[_shortest(file) for file in settings.configfiles], overrides=dict(settings.config)
        )

    def figure_files(self, target: str) -> list[str]:
        """All files of a figure."""
        return [str(file) for file in FigureJob.from_configuration(self.configuration, target).files()]

    def target_files(self) -> dict[str, list[str]]:
        """The target of each figure, and of each paper's scorecard → its files."""
        jobs = [job for job in output_jobs(self.configuration) if not isinstance(job, SummaryJob)]
        return {job.target: [str(file) for file in job.files()] for job in jobs}

    def dataset_embedded(self, wildcards: Any) -> list[str]:
        """The embedded file that a dataset is taken from, where it is; the guard of the prepared file."""
        job = DatasetJob.from_configuration(self.configuration, wildcards.name)
        self._guard(job)
        return [str(file) for file in job.inputs.values()]

    def dataset_parameters(self, wildcards: Any) -> str:
        """A dataset's job as JSON."""
        return DatasetJob.from_configuration(self.configuration, wildcards.name).model_dump_json()

    def experiment_data(self, wildcards: Any) -> list[str]:
        """Prepared datasets that a part of an experiment reads; the guard of the part."""
        job = self._experiment(wildcards)
        self._guard(job, int(wildcards.part))
        return [str(file) for file in job.inputs.values()]

    def experiment_parts(self, wildcards: Any) -> list[str]:
        """The parts of an experiment's table; the guard of the table."""
        job = self._experiment(wildcards)
        self._guard(job)
        return [str(job.part(index)) for index in range(job.parts)]

    def experiment_parameters(self, wildcards: Any) -> str:
        """An experiment's resolved job as JSON."""
        return self._experiment(wildcards).model_dump_json()

    def experiment_threads(self, wildcards: Any) -> int:
        """Threads that an experiment's jobs use."""
        return self._experiment(wildcards).parameters.threads

    def experiment_gpus(self, wildcards: Any) -> int:
        """GPUs that an experiment's jobs use: one where its parameters name that device."""
        return int(getattr(self._experiment(wildcards).parameters, "device", "cpu") == "cuda")

    def figure_tables(self, wildcards: Any) -> list[str]:
        """Tables that a figure is drawn from; the guard of the figure."""
        job = self._figure(wildcards)
        self._guard(job)
        return [str(file) for file in job.tables.values()]

    def figure_parameters(self, wildcards: Any) -> str:
        """A figure's job as JSON."""
        return self._figure(wildcards).model_dump_json()

    def figure_target(self, wildcards: Any) -> str:
        """A figure's target name."""
        return self._figure(wildcards).target

    def scorecard_files(self) -> list[str]:
        """Files of all scorecards and of the page over them; of none where there are no claims."""
        jobs = [job for job in output_jobs(self.configuration) if not isinstance(job, FigureJob)]
        return [str(file) for job in jobs for file in job.files()]

    def scorecard_tables(self, wildcards: Any) -> list[str]:
        """Tables that a paper's claims are tested on; the guard of its scorecard."""
        job = self._scorecard(wildcards)
        self._guard(job)
        return [str(file) for file in job.tables.values()]

    def scorecard_parameters(self, wildcards: Any) -> str:
        """A scorecard's job as JSON."""
        return self._scorecard(wildcards).model_dump_json()

    def summary_cards(self, wildcards: Any) -> list[str]:
        """The scorecards that the page over all of them counts; its guard."""
        job = self._summary()
        self._guard(job)
        return [str(file) for file in job.inputs.values()]

    def summary_parameters(self, wildcards: Any) -> str:
        """The page's job as JSON."""
        return self._summary().model_dump_json()

    def captions(self) -> dict[str, str]:
        """File of a figure or scorecard → its caption as reStructuredText, where there is one already."""
        captions: dict[str, str] = {}
        for job in output_jobs(self.configuration):
            with suppress(ArtifactError):
                caption = re.sub(r"([\\*`|_])", r"\\\1", artifacts.read_output(job.stem)[1]["caption"])
                captions |= {str(file): caption for file in job.files()}
        return captions

    def configuration_arguments(self) -> str:
        """The options that make another Snakemake take this configuration."""
        settings = self._workflow.config_settings
        files = ["--configfile", *map(str, settings.configfiles)] if settings.configfiles else []
        overrides = [f"{key}={provenance.canonical_json(value)}" for key, value in settings.config.items()]
        return shlex.join([*files, *(["--config", *overrides] if overrides else [])])

    def notebook_source(self, wildcards: Any) -> str:
        """A notebook's source; the guard of the rendered notebook."""
        job = NotebookJob(wildcards.name)
        self._guard(job)
        return str(job.source)

    def notebook_stamp(self, wildcards: Any) -> str:
        """The line that a rendered notebook ends with."""
        return NotebookJob(wildcards.name).stamp()

    def refuse_target(self, wildcards: Any) -> None:
        """End with one line for a target that is none; those there are have no files of their own."""
        with _stopping():
            require_known(wildcards.target, [rule.name for rule in self._workflow.rules if not rule.output], "target")

    def _experiment(self, wildcards: Any) -> ExperimentJob:
        with _stopping():
            return ExperimentJob.from_configuration(self.configuration, f"{wildcards.paper}/{wildcards.name}")

    def _figure(self, wildcards: Any) -> FigureJob:
        with _stopping():
            return FigureJob.from_configuration(self.configuration, name_target(wildcards.paper, wildcards.module))

    def _scorecard(self, wildcards: Any) -> ScorecardJob:
        with _stopping():
            return ScorecardJob.from_configuration(self.configuration, wildcards.paper)

    def _summary(self) -> SummaryJob:
        return SummaryJob.from_configuration(self.configuration)

    def _guard(self, job: Job | NotebookJob, part: int | None = None) -> None:
        """Set the job's files aside unless they are what is wanted. A dry run leaves them, says so, and plans as if."""
        executing = self._workflow.executor_plugin is not None and self._workflow.is_main_process
        files = job.files(part)
        if not executing or files[0] in self._checked:
            return
        self._checked.add(files[0])
        if not self._workflow.dryrun:
            self._acquire_lock()
        difference = job.problem(part)
        if difference is None:
            return
        then = "a real run sets it aside and remakes it"
        if not self._workflow.dryrun:
            then = "set aside, remaking it"
            try:
                artifacts.set_aside(*files)
            except LocalEntropyError as error:
                stop(LocalEntropyError(f"{files[0]}: {difference}, and cannot be set aside: {error}"))
        for file in files:
            # A dry run plans as if they were gone. In a real one Snakemake may have listed the folder before.
            self._workflow.iocache.exists_local[str(file)] = False
        print(f"{files[0]}: {difference}; {then}", file=sys.stderr)

    def _acquire_lock(self) -> None:
        if self._lock is not None:
            return
        try:
            LOCK.parent.mkdir(exist_ok=True)
            self._lock = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._lock, 0)
            # For those whom it keeps off; on a cluster they may sit at another machine.
            os.write(self._lock, f"{os.getpid()} on {platform.node()}\n".encode())
        except BlockingIOError:
            holder = LOCK.read_text().strip() or "unknown"
            stop(LocalEntropyError(f"another pipeline (process {holder}) is running on this checkout; wait for it"))
        except OSError as error:
            # Some cluster file systems have no locks: no guard there, and the user must know.
            if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                print(f"{LOCK}: {error.strerror}: start no second pipeline on this checkout", file=sys.stderr)
            elif error.errno != errno.ENOSPC:  # then the lock is held, only its holder is not written down
                stop(LocalEntropyError(f"{LOCK}: {error.strerror}"))


def stop(error: LocalEntropyError) -> NoReturn:
    """End Snakemake with one line."""
    print(f"error: {error}", file=sys.stderr, flush=True)
    sys.exit(1)


@contextmanager
def _stopping() -> Iterator[None]:
    try:
        yield
    except LocalEntropyError as error:
        stop(error)


def _shortest(file: Path) -> Path:
    """The path relative to the working directory where it lies below it: error messages name it as it was given."""
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
