"""What the Snakefile calls: the configuration of this run, each job's inputs and parameters, and two guards.

Before a job enters the graph, the file it would make is held against what is wanted now (code, parameters, inputs,
checksums) and set aside if it is not that: Snakemake then sees it missing and remakes it, whatever its own records
say. And a kernel lock, which a killed process cannot leave behind, keeps a second pipeline off the checkout.
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
from pathlib import Path
from typing import Any, NoReturn

from localentropy import closure
from localentropy.errors import ArtifactError, LocalEntropyError
from localentropy.pipeline import artifacts, provenance
from localentropy.pipeline.computations import DatasetJob, ExperimentJob
from localentropy.pipeline.config import MAIN_PAPER, require_known, resolve
from localentropy.pipeline.jobs import Job, output_jobs
from localentropy.pipeline.outputs import FigureJob
from localentropy.pipeline.scorecard import ScorecardJob

LOCK = Path(".snakemake/localentropy.lock")


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

    def dataset_code(self, wildcards: Any) -> list[str]:
        """Source files that preparing a dataset depends on; the guard of the prepared file."""
        job = DatasetJob.from_configuration(self.configuration, wildcards.name)
        self._guard(job)
        return _relative(closure.code_closure(job.MODULE))

    def dataset_embedded(self, wildcards: Any) -> list[str]:
        """The embedded file that a dataset is taken from, where it is."""
        job = DatasetJob.from_configuration(self.configuration, wildcards.name)
        return [f"data/embedded/{job.name}.npz"] if job.source == "embedded" else []

    def dataset_parameters(self, wildcards: Any) -> str:
        """A dataset's job as JSON."""
        return DatasetJob.from_configuration(self.configuration, wildcards.name).to_json()

    def experiment_code(self, wildcards: Any) -> list[str]:
        """Source files that an experiment depends on; the guard of the file it makes."""
        job = self._experiment(wildcards)
        self._guard(job, int(wildcards.part) if hasattr(wildcards, "part") else None)
        return _relative(closure.code_closure(job.module))

    def experiment_data(self, wildcards: Any) -> list[str]:
        """Prepared datasets that an experiment reads."""
        return [str(file) for file in self._experiment(wildcards).inputs.values()]

    def experiment_parts(self, wildcards: Any) -> list[str]:
        """The parts of an experiment's table."""
        job = self._experiment(wildcards)
        return [str(job.part(index)) for index in range(job.parts)]

    def experiment_parameters(self, wildcards: Any) -> str:
        """An experiment's resolved job as JSON."""
        return self._experiment(wildcards).to_json()

    def experiment_threads(self, wildcards: Any) -> int:
        """Threads that an experiment's jobs use."""
        return self._experiment(wildcards).parameters.threads

    def experiment_gpus(self, wildcards: Any) -> int:
        """GPUs that an experiment's jobs use: one where its parameters name that device."""
        return int(getattr(self._experiment(wildcards).parameters, "device", "cpu") == "cuda")

    def figure_code(self, wildcards: Any) -> list[str]:
        """Source files that a figure's drawing depends on; the guard of the figure."""
        job = self._figure(wildcards)
        self._guard(job)
        return _relative(job.code)

    def figure_tables(self, wildcards: Any) -> list[str]:
        """Tables that a figure is drawn from."""
        return [str(file) for file in self._figure(wildcards).tables.values()]

    def figure_parameters(self, wildcards: Any) -> str:
        """A figure's job as JSON."""
        return self._figure(wildcards).to_json()

    def figure_target(self, wildcards: Any) -> str:
        """A figure's target name."""
        return self._figure(wildcards).target

    def scorecard_files(self, *suffixes: str) -> list[str]:
        """Files of the scorecard."""
        return [str(self._scorecard().stem.with_suffix(suffix)) for suffix in suffixes]

    def scorecard_code(self, wildcards: Any) -> list[str]:
        """Source files that the scorecard depends on; its guard."""
        job = self._scorecard()
        self._guard(job)
        return _relative(job.code)

    def scorecard_tables(self, wildcards: Any) -> list[str]:
        """Tables that the claims are tested on."""
        return [str(file) for file in self._scorecard().tables.values()]

    def scorecard_parameters(self, wildcards: Any) -> str:
        """The scorecard's job as JSON."""
        return self._scorecard().to_json()

    def captions(self) -> dict[str, str]:
        """File of a figure or of the scorecard → its caption as reStructuredText, where there is one already."""
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

    def notebook_code(self, wildcards: Any) -> list[str]:
        """Source files that a notebook's imports depend on."""
        return _relative(closure.script_closure(Path("notebooks", f"{wildcards.name}.py")))

    def refuse_target(self, wildcards: Any) -> None:
        """End with one line for a target that is none; those there are have no files of their own."""
        with _stopping():
            require_known(wildcards.target, [rule.name for rule in self._workflow.rules if not rule.output], "target")

    def _experiment(self, wildcards: Any) -> ExperimentJob:
        with _stopping():
            return ExperimentJob.from_configuration(self.configuration, f"{wildcards.paper}/{wildcards.name}")

    def _figure(self, wildcards: Any) -> FigureJob:
        prefix = "" if wildcards.paper == MAIN_PAPER else f"{wildcards.paper}_"
        with _stopping():
            return FigureJob.from_configuration(self.configuration, prefix + wildcards.module)

    def _scorecard(self) -> ScorecardJob:
        return ScorecardJob.from_configuration(self.configuration)

    def _guard(self, job: Job, part: int | None = None) -> None:
        """Set the job's files aside unless they are what is wanted; a dry run only says so."""
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
        if self._workflow.dryrun:
            print(f"{files[0]}: {difference}; a real run sets it aside and remakes it", file=sys.stderr)
            return
        try:
            artifacts.set_aside(*files)
        except LocalEntropyError as error:
            stop(LocalEntropyError(f"{files[0]}: {difference}, and cannot be set aside: {error}"))
        for file in files:
            # Snakemake may have listed the folder on the way to another target.
            self._workflow.iocache.exists_local[str(file)] = False
        print(f"{files[0]}: {difference}; set aside, remaking it", file=sys.stderr)

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


def _relative(files: tuple[Path, ...]) -> list[str]:
    root = closure.SOURCE.parent
    return [str(file.relative_to(root)) if Path.cwd() == root else str(file) for file in files]
