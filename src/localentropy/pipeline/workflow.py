"""Functions of the Snakefile: the configuration of this run, each job's inputs and parameters, and two guards.

The first guard alone decides what runs again. When a rule asks for a job's inputs, the guard compares the stamp of the
file that the job would make with the stamp that is wanted now: name, parameters, code, inputs, checksums. If they
differ, the guard sets the file aside. Snakemake sees a missing file and remakes it. Snakemake's own records and the
times of files decide nothing: profiles/default leaves times as the only trigger, and the inputs in the rules are
`ancient`.

The second guard is a kernel lock. It keeps a second pipeline off the checkout, and a killed process cannot leave it
behind.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import logging
import os
import platform
import re
import shlex
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from snakemake.cli import get_argument_parser

from localentropy import closure
from localentropy.atomic import file_hash
from localentropy.errors import ArtifactError, ConfigError, LocalEntropyError
from localentropy.pipeline import artifacts
from localentropy.pipeline.allowed import printable
from localentropy.pipeline.checkout import require_root
from localentropy.pipeline.computations import DatasetJob, ExperimentJob
from localentropy.pipeline.config import (
    OPTION,
    name_target,
    read_overrides,
    require_known,
    resolve,
    split_overrides,
    split_target,
)
from localentropy.pipeline.jobs import Job, computed_tables, output_files, source_problem, table_jobs
from localentropy.pipeline.machine import open_closed_streams, output, refusals
from localentropy.pipeline.outputs import FIGURES, FigureJob
from localentropy.pipeline.scorecard import SUMMARY, ScorecardJob, SummaryJob
from snakemake_logger_plugin_localentropy import unwrapped

if TYPE_CHECKING:
    from pydantic import BaseModel

LOCK = Path(".snakemake/localentropy.lock")
NOTEBOOKS = Path("notebooks")


@dataclass(frozen=True)
class NotebookJob:
    """A notebook to run and render, by its name."""

    name: str

    @property
    def source(self) -> Path:
        """The py:percent file."""
        return NOTEBOOKS / f"{self.name}.py"

    def files(self, part: int | None = None) -> list[Path]:
        """What it writes."""
        return [self.source.with_suffix(".html")]

    def reads(self, part: int | None = None) -> list[Path]:
        """What it is made from."""
        return [self.source]

    def stamp(self) -> str:
        """A comment that names the source's text and the code that it imports."""
        return f"<!-- {file_hash(self.source)} {closure.code_hash(str(self.source))} -->"

    def problem(self, part: int | None = None) -> str | None:
        """Why the rendered file is not current; None if it is, or if it is missing."""
        file = self.files()[0]
        if not file.exists():
            return None
        made = file.read_bytes() if file.is_file() else b""
        return None if made.rstrip().endswith(self.stamp().encode()) else "made from other code"


class Pipeline:
    """The rules' view of one resolved configuration. Snakemake gives the `wildcards`."""

    def __init__(self, workflow: Any) -> None:
        self._workflow = workflow
        self._lock: int | None = None
        self._checked: set[Path] = set()
        self._outdated: set[Path] = set()
        self._succeeded = False
        settings = workflow.config_settings
        open_closed_streams()
        require_root()
        _refuse_repeated(sys.argv)
        if workflow.is_main_process:
            signal.signal(signal.SIGINT, _interrupted)
            atexit.register(self._tell_products)
        # Snakemake has read the overrides by rules of its own: to it 010 is 10. They are taken as they were written.
        self._files = [_shortest(file) for file in settings.configfiles]
        self._words = list(_words(settings.config_args or ()))
        self.configuration = resolve(files=self._files, overrides=read_overrides(self._words))

    def job(self, kind: str, wildcards: Any) -> Job | NotebookJob:
        """The job of a rule: a dataset, experiment, figure, scorecard, summary or notebook."""
        configuration = self.configuration
        with _stopping():
            match kind:
                case "dataset":
                    return DatasetJob.from_configuration(configuration, wildcards.name)
                case "experiment":
                    return ExperimentJob.from_configuration(configuration, f"{wildcards.paper}/{wildcards.name}")
                case "figure":
                    return FigureJob.from_configuration(configuration, name_target(wildcards.paper, wildcards.module))
                case "scorecard":
                    return ScorecardJob.from_configuration(configuration, wildcards.paper)
                case "summary":
                    return SummaryJob.from_configuration(configuration)
            require_known(wildcards.name, [file.stem for file in sorted(NOTEBOOKS.glob("*.py"))], "notebook")
        return NotebookJob(wildcards.name)

    def inputs(self, kind: str) -> Callable[[Any], list[str]]:
        """Wildcards → the files that a rule's job reads. The guard of the job's own files runs first."""

        def guarded(wildcards: Any) -> list[str]:
            job = self.job(kind, wildcards)
            if not (isinstance(job, ExperimentJob) and hasattr(wildcards, "part")):
                self._guard(job)
                return [str(file) for file in job.reads()]
            part = _part(job, wildcards)
            self._guard(job, part)
            # Jobs on a cluster look themselves at the machine they run on.
            if self._workflow.local_exec and not (job.table.exists() or job.part(part).exists()):
                with _stopping():
                    job.require_memory(part)
            return [str(file) for file in job.reads(part)]

        return guarded

    def parameters(self, kind: str) -> Callable[[Any], str]:
        """Wildcards → a rule's job as JSON."""
        return lambda wildcards: cast("BaseModel", self.job(kind, wildcards)).model_dump_json()

    def target_files(self) -> dict[str, list[str]]:
        """The target of each figure, and of each paper's scorecard → its files.

        The main paper's figures have a second target, with the paper's key before the name.
        """
        figures, cards = output_files(self.configuration)
        named = figures | {"_".join(split_target(target)): files for target, files in figures.items()} | cards
        return {target: [str(file) for file in files] for target, files in named.items() if target != SUMMARY}

    def scorecard_files(self) -> list[str]:
        """Files of all scorecards and of the page over them. Without claims there are none."""
        _, cards = output_files(self.configuration)
        return [str(file) for files in cards.values() for file in files]

    def captions(self) -> dict[str, str]:
        """For the report: file of a figure or scorecard → its caption as reStructuredText, if the file exists."""
        captions: dict[str, str] = {}
        if not any(word.partition("=")[0] == "--report" for word in sys.argv):
            return captions
        figures, cards = output_files(self.configuration)
        for files in (figures | cards).values():
            with suppress(ArtifactError):
                record = artifacts.read_output(files[0].with_suffix(""))[1]
                told = [record["caption"], *(f"{name}: {value}" for name, value in record["settings"].items())]
                text = re.sub(r"([\\*`|_])", r"\\\1", "\n\n".join(told))
                captions |= {str(file): text for file in files}
        return captions

    def report_labels(self, wildcards: Any) -> dict[str, str]:
        """What the report's list says of a figure."""
        target = name_target(wildcards.paper, wildcards.module)
        return {"figure": wildcards.module, "shows": self.configuration.figures[target].shows}

    def configuration_arguments(self) -> str:
        """The options that make another Snakemake, or a command of ours, take this configuration."""
        files = ["--configfile", *map(str, self._files)] if self._files else []
        return shlex.join([*files, *([OPTION, *self._words] if self._words else [])])

    def succeed(self) -> None:
        """Hear from Snakemake that the jobs are done."""
        self._succeeded = True

    def _tell_products(self) -> None:
        """The last line of a run that has what was asked for: how to look at it."""
        workflow = self._workflow
        nothing_to_do = workflow.scheduler is not None and not len(workflow.dag)
        if workflow.dryrun or not (self._succeeded or nothing_to_do):
            return
        targets, asked = self.target_files(), workflow.dag_settings.targets
        wanted = list(self.configuration.figures) if "all" in asked else [name for name in targets if name in asked]
        files = [file for name in wanted for file in targets[name]]
        files += self.scorecard_files() if "scorecard" in asked else []
        others = {"report": str(FIGURES / self.configuration.folder / "report.html"), "dag": "figures/dag.svg"}
        files += [file for name, file in (others | {"site": "site/index.html"}).items() if name in asked]
        pages = [file for file in files if file.endswith((".png", ".html", ".svg"))]
        if len(pages) == 1:
            print(f"look at {pages[0]} in any browser", file=sys.stderr)
        elif pages:
            what = f"{len(pages)} pictures and pages below {FIGURES / self.configuration.folder}, such as {pages[0]}"
            print(f"look at the {what}, in any browser; `make report` puts them on one page", file=sys.stderr)

    def require_targets(self) -> None:
        """Refuse a word that is none of the targets, and no file that a rule makes. All rules are known by now.

        Raises:
            ConfigError: with the nearest target, or the nearest file for a word with a slash.
        """
        if not self._workflow.is_main_process:
            return
        # Snakemake itself has read them, but keeps them to itself until the Snakefile is read.
        asked = get_argument_parser().parse_args(sys.argv[1:])
        rules = {rule.name: rule for rule in self._workflow.rules}
        cards = [target for target in self.target_files() if target.endswith(SUMMARY)]
        targets = [*self.configuration.figures, *self._other_targets(), *cards]
        makers = [name for name, rule in rules.items() if not rule.has_wildcards()]
        for allowed, choices, words in (
            (makers, targets, asked.targets),
            (rules, list(rules), {*asked.until, *asked.omit_from, *asked.forcerun, *asked.prioritize}),
        ):
            for word in words:
                if word not in allowed and not self._makes(word):
                    require_known(word, self._products() if "/" in word.rstrip("/") else choices, "target")

    def _makes(self, file: str) -> bool:
        """Whether a rule makes the file. Snakemake takes a word with a slash behind it for a file."""
        path = file if Path(file).is_absolute() else os.path.normpath(file)
        return not file.endswith("/") and any(rule.is_producer(path) for rule in self._workflow.rules)

    def _products(self) -> list[str]:
        """Files of the figures, scorecards and tables of this configuration."""
        files = [file for files in self.target_files().values() for file in files]
        return list(dict.fromkeys(files)) + [str(job.table) for job in table_jobs(self.configuration)]

    def tell_targets(self, wildcards: Any) -> NoReturn:
        """End with a page that says what can be made. Nothing is made."""
        papers: dict[str, list[str]] = {}
        for target in self.configuration.figures:
            papers.setdefault(split_target(target)[0], []).append(target)
        others = self._other_targets()
        width = max(map(len, [*papers, *others]))
        lines = ["`snakemake figure3` makes a figure and all that it needs. The words that may stand there:", ""]
        lines += [f"{paper:{width}}  {' '.join(targets)}" for paper, targets in papers.items()]
        lines += ["", *(f"{target:{width}}  {makes}" for target, makes in others.items()), ""]
        lines += [
            f"Behind a word, `{OPTION} scale=smoke` asks for small sizes, `{OPTION} KEY.KEY=VALUE` for other values.",
            "docs/figures.md says what each figure shows and how long it takes, docs/configuration.md has the keys.",
        ]
        with _stopping(), refusals(), output():
            print("\n".join(textwrap.fill(line, 110, subsequent_indent=" " * (width + 2)) for line in lines))
        sys.exit(0)

    def _other_targets(self) -> dict[str, str]:
        """Targets that are no figures → what they make: the rules without files that have a docstring."""
        rules = [rule for rule in self._workflow.rules if rule.docstring and not rule.output]
        return {rule.name: rule.docstring for rule in rules if rule.name not in self.target_files()}

    def _guard(self, job: Job | NotebookJob, part: int | None = None) -> None:
        """Set the job's files aside unless they are current, and first the tables that they are made from.

        A file that is made from one that is set aside is set aside too: Snakemake makes no table anew whose readers are
        all there. A dry run leaves the files, and plans as if they were gone.
        """
        executing = self._workflow.executor_plugin is not None and self._workflow.is_main_process
        files = job.files(part)
        if not executing or files[0] in self._checked:
            return
        self._checked.add(files[0])
        if not self._workflow.dryrun:
            self._acquire_lock()
        tables = computed_tables(self.configuration, job)
        for source in tables:
            self._guard(source)
        difference = job.problem(part)
        if difference is None and any(file.exists() for file in files):
            difference = source_problem(tables, self._outdated)
        if difference is None:
            return
        self._outdated.add(files[0])
        # Whether the file is made again is not known here: Snakemake makes again what its targets need.
        then = "a real run sets it aside"
        if not self._workflow.dryrun:
            then = "set aside"
            try:
                artifacts.set_aside(*files)
            except LocalEntropyError as error:
                stop(LocalEntropyError(f"{files[0]}: {difference}, and cannot be set aside: {error}"))
        self._forget(files)
        print(f"{files[0]}: {difference}; {then}", file=sys.stderr)

    def _forget(self, files: Sequence[Path]) -> None:
        """Tell Snakemake that these files of one folder are gone.

        It lists a folder when it first asks for a file there. It may have done so before. It must not do so later: in a
        dry run the files are still there.
        """
        known, folder = self._workflow.iocache.exists_local, str(files[0].parent)
        if folder not in known.has_inventory:
            known.update((entry.path, True) for entry in os.scandir(folder))
            known.has_inventory.add(folder)
        known.update((str(file), False) for file in files)

    def _acquire_lock(self) -> None:
        if self._lock is not None:
            return
        try:
            LOCK.parent.mkdir(exist_ok=True)
            self._lock = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._lock, 0)
            # The line tells other users who holds the lock. On a cluster they may work on another machine.
            os.write(self._lock, f"{os.getpid()} on {platform.node()}\n".encode())
        except BlockingIOError:
            holder = LOCK.read_text().strip() or "unknown"
            stop(LocalEntropyError(f"another pipeline (process {holder}) is running on this checkout; wait for it"))
        except OSError as error:
            # Some file systems of clusters have no locks. There is no guard then, and the user must know.
            if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
                print(f"{LOCK}: {error.strerror}: start no second pipeline on this checkout", file=sys.stderr)
            elif error.errno != errno.ENOSPC:  # a full disk: the lock is held, but its line is missing
                stop(LocalEntropyError(f"{LOCK}: {error.strerror}"))


def _interrupted(signum: int, frame: object) -> NoReturn:
    """End at Ctrl-C with one line. Snakemake's own words on each job that it ends are not printed."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    logging.disable(logging.CRITICAL)
    print("interrupted: what is complete is kept; the same command goes on from there", file=sys.stderr, flush=True)
    raise KeyboardInterrupt


def stop(error: LocalEntropyError) -> NoReturn:
    """End Snakemake with one line."""
    print(f"error: {printable(str(error))}", file=sys.stderr, flush=True)
    sys.exit(1)


@contextmanager
def _stopping() -> Iterator[None]:
    try:
        yield
    except LocalEntropyError as error:
        stop(error)


def _words(given: Sequence[str]) -> Iterator[str]:
    """The overrides behind Snakemake's `--config`. All overrides of make's SET are one word there, `set=…`."""
    for word in unwrapped(given):
        yield from split_overrides(word.removeprefix("set=")) if word.startswith("set=") else [word]


def _part(job: ExperimentJob, wildcards: Any) -> int:
    """The number of the part that a file's name asks for."""
    number = int(wildcards.part)
    if number not in job.numbers or int(wildcards.parts) != job.parts:
        stop(LocalEntropyError(f"{job.name}: no part {number} of {wildcards.parts}; allowed: 1 to {job.parts}"))
    return number


def _refuse_repeated(arguments: Sequence[str]) -> None:
    """Refuse an option of the configuration that is given twice: Snakemake takes the last one and forgets the others.

    Raises:
        ConfigError: naming the option.
    """
    words = [argument.partition("=")[0] for argument in arguments]
    given_as = {
        "--config": [word for word in words if word == "--config" or word.startswith("-C")],
        "--configfile": [word for word in words if word in ("--configfile", "--configfiles")],
    }
    for option, given in given_as.items():
        if len(given) > 1:
            raise ConfigError(f"{option} is given {len(given)} times; allowed: once, with all values behind it")


def _shortest(file: Path) -> Path:
    """The path relative to the working directory, if it lies below it. Error messages then name it as the user did."""
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
