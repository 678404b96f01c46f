"""Functions of the Snakefile: the configuration of this run, each job's inputs and parameters, and what a run tells.

The name of a result holds the hash of what it is made from: parameters, code, and the results that are read. So to
Snakemake a result that exists is current. The times of files and Snakemake's own records decide nothing:
profiles/default leaves times as the only trigger, and the inputs in the rules are `ancient`. Several pipelines may run
at once: two that want the same result give it the same bytes, and whoever is first, a file is renamed when it is whole.

Damage is found before Snakemake looks: results whose checksums are wrong are deleted (`Pipeline.prepare`).
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shlex
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from snakemake.cli import get_argument_parser

from localentropy.errors import ArtifactError, ConfigError, LocalEntropyError
from localentropy.pipeline import artifacts
from localentropy.pipeline.allowed import printable
from localentropy.pipeline.archive import take
from localentropy.pipeline.checkout import require_root
from localentropy.pipeline.computations import ContentJob, DatasetJob, ExperimentJob
from localentropy.pipeline.config import (
    OPTION,
    bare_target,
    did_you_mean,
    find_papers,
    name_target,
    override_words,
    read_overrides,
    resolve,
    shown,
    split_overrides,
    split_target,
)
from localentropy.pipeline.jobs import (
    NOTEBOOKS,
    dataset_jobs,
    notebook_names,
    notebook_page,
    output_job,
    output_targets,
    table_jobs,
    with_parts,
    with_sources,
)
from localentropy.pipeline.machine import open_closed_streams, output, refusals
from localentropy.pipeline.outputs import FIGURES, FigureJob, OutputJob
from localentropy.pipeline.scorecard import SUMMARY, ScorecardJob, SummaryJob
from snakemake_logger_plugin_localentropy import unwrapped

LOOKS = [
    *("report", "lint", "list_rules", "list_target_rules", "summary", "detailed_summary"),
    *("dag", "rulegraph", "filegraph", "d3dag"),
]
"""Options with which Snakemake makes nothing."""
OF_EVERYTHING = ("report", "article", "archive")
"""Targets that need all figures and scorecards."""


class Pipeline:
    """The rules' view of one resolved configuration. Snakemake gives the `wildcards`.

    Args:
        workflow: Snakemake's.
        overrides: the module's `config` in the workflow of somebody else, which has a command line of its own.
    """

    def __init__(self, workflow: Any, overrides: Mapping[str, Any] | None = None) -> None:
        self._workflow = workflow
        self._failed, self._module = False, overrides is not None
        settings = workflow.config_settings
        open_closed_streams()
        if overrides is not None:
            require_root(anywhere=True)
            self.configuration = resolve(overrides=dict(overrides))
            self._files, self._words = [], list(override_words(self.configuration))
            return
        require_root(anywhere=parsed_arguments().directory is not None)
        _refuse_repeated(sys.argv)
        if workflow.is_main_process:
            signal.signal(signal.SIGINT, _interrupted)
        # Snakemake has read the overrides by rules of its own: to it 010 is 10. They are taken as they were written.
        self._files = [_shortest(file) for file in settings.configfiles]
        self._words = list(_words(settings.config_args or ()))
        self.configuration = resolve(files=self._files, overrides=read_overrides(self._words))

    def job(self, kind: str, wildcards: Any) -> ContentJob:
        """The job of a rule: a dataset, experiment, figure, scorecard or summary."""
        configuration = self.configuration
        job: ContentJob
        with _stopping():
            match kind:
                case "dataset":
                    job = DatasetJob.from_configuration(configuration, wildcards.name)
                case "experiment":
                    job = ExperimentJob.from_configuration(configuration, f"{wildcards.paper}/{wildcards.name}")
                case "figure":
                    target = name_target(wildcards.paper, wildcards.module)
                    job = FigureJob.from_configuration(configuration, target)
                case "scorecard":
                    job = ScorecardJob.from_configuration(configuration, wildcards.paper)
                case _:
                    job = SummaryJob.from_configuration(configuration)
            if wildcards.origin != job.address:
                raise ConfigError(
                    f"{wildcards.origin}: a result of other parameters or code than these; "
                    f"`{shlex.join(job.command)}` makes {job.files()[0]}"
                )
        return job

    def inputs(self, kind: str) -> Callable[[Any], list[str]]:
        """Wildcards → the files that a rule's job reads."""

        def read(wildcards: Any) -> list[str]:
            job = self.job(kind, wildcards)
            if not (isinstance(job, ExperimentJob) and hasattr(wildcards, "part")):
                return [str(file) for file in job.reads()]
            part = _part(job, wildcards)
            # Jobs on a cluster look themselves at the machine they run on.
            if self._workflow.local_exec and not (job.table.exists() or job.part(part).exists()):
                with _stopping():
                    job.require_memory(part)
            return [str(file) for file in job.reads(part)]

        return read

    def parameters(self, kind: str) -> Callable[[Any], str]:
        """Wildcards → a rule's job as JSON."""
        return lambda wildcards: self.job(kind, wildcards).model_dump_json()

    def targets(self) -> list[str]:
        """The targets of the figures and of the papers' scorecards.

        The main paper's figures have a second target, with the paper's key before the name.
        """
        targets = [target for target in output_targets(self.configuration) if target != SUMMARY]
        return list(dict.fromkeys(name for target in targets for name in (target, "_".join(split_target(target)))))

    def outputs(self, target: str) -> list[OutputJob]:
        """The jobs of a target: a figure, a paper's scorecard, `all` figures, or every `scorecard`."""
        targets, figures = [target], self.configuration.figures
        if target in ("all", SUMMARY):
            targets = [one for one in output_targets(self.configuration) if (one in figures) == (target == "all")]
        return [output_job(self.configuration, one) for one in targets]

    def files(self, target: str) -> Callable[[Any], list[str]]:
        """Wildcards → the files of a target's jobs."""
        return lambda wildcards: [str(file) for job in self._asked([target]) for file in job.files()]

    def tables(self, name: str) -> Callable[[Any], list[str]]:
        """Wildcards → the table of an experiment."""
        return lambda wildcards: [str(self._table(name).source[0])]

    def datasets(self, wildcards: Any) -> list[str]:
        """The prepared datasets of all experiments."""
        return [str(job.file) for job in dataset_jobs(self.configuration)]

    def pages(self, wildcards: Any) -> list[str]:
        """The pages of all notebooks."""
        return [str(notebook_page(name)) for name in notebook_names()]

    def notebook(self, wildcards: Any) -> str:
        """The source of a notebook."""
        return str(NOTEBOOKS / f"{wildcards.name}.py")

    def captions(self) -> dict[str, str]:
        """For the report: file of a figure or scorecard → its caption as reStructuredText, if the file exists."""
        captions: dict[str, str] = {}
        if not any(word.partition("=")[0] == "--report" for word in sys.argv):
            return captions
        for job in self._asked(["all", SUMMARY]):
            with suppress(ArtifactError):
                record = artifacts.read_output(job.stem)[1]
                told = [record["caption"], *(f"{name}: {value}" for name, value in record["settings"].items())]
                text = re.sub(r"([\\*`|_])", r"\\\1", "\n\n".join(told))
                captions |= {str(file): text for file in job.files()}
        return captions

    def report_labels(self, wildcards: Any) -> dict[str, str]:
        """What the report's list says of a figure."""
        target = name_target(wildcards.paper, wildcards.module)
        return {"figure": wildcards.module, "shows": self.configuration.figures[target].shows}

    @property
    def products(self) -> dict[str, Path]:
        """Targets that are made anew each time → the page or picture to look at."""
        folder = self.configuration.folder
        return {
            "report": FIGURES / folder / "report.html",
            "article": FIGURES / folder / "article.html",
            "archive": Path("archive", folder, "article.html"),
            "dag": FIGURES / "dag.svg",
            "site": Path("site/index.html"),
        }

    def configuration_arguments(self) -> str:
        """The options that make another Snakemake, or a command of ours, take this configuration."""
        files = ["--configfile", *map(str, self._files)] if self._files else []
        return shlex.join([*files, *([OPTION, *self._words] if self._words else [])])

    def prepare(self) -> None:
        """Before Snakemake looks: delete damaged results, take tables from an archive, publish what is there.

        A dry run only says what is damaged.

        Raises:
            LocalEntropyError: something cannot be deleted, taken or published.
        """
        asked = parsed_arguments()
        targets = ["all", SUMMARY] if self._module else asked.targets
        if not (self._workflow.is_main_process and targets) or any(getattr(asked, mode, None) for mode in LOOKS):
            return
        outputs = self._asked(targets)
        behind = list(self._behind(targets, outputs))
        for job, part in behind:
            if (problem := job.problem(part)) is None:
                continue
            file = job.files(part)[0]
            then = "a real run deletes it" if asked.dryrun else "deleted"
            if not asked.dryrun:
                artifacts.delete(*job.files(part), file.with_suffix(".json"))
            print(f"{file}: {problem}; {then}", file=sys.stderr)
        if not asked.dryrun:
            if (archive := self.configuration.data.archive) is not None:
                tables = [job for job, part in behind if isinstance(job, ExperimentJob) and part is None]
                number = take(archive, [job for job in tables if not (job.committed or job.table.exists())])
                print(f"{archive}: {number} tables taken", file=sys.stderr)
            for job in outputs:
                if job.whole():
                    job.publish()
            for name in notebook_names() if {"notebooks", "site"}.intersection(targets) else ():
                if (page := notebook_page(name)).is_file():
                    artifacts.publish(page, Path("notebooks", f"{name}.html"))
            if not self._module:
                atexit.register(self._tell_products, outputs, targets)

    def _behind(self, targets: Sequence[str], outputs: list[OutputJob]) -> Iterator[tuple[ContentJob, int | None]]:
        """What is asked for, and what that is made from: jobs, and the numbers of parts. Datasets come first."""
        experiments = self.configuration.experiments
        inside = ["/".join(Path(target).parts[1:3]) for target in targets]
        names = [name for job in outputs for name in job.tables]
        names += [name for name in (*targets, *inside) if name in experiments]
        names = with_sources(self.configuration, names)
        datasets = dataset_jobs(self.configuration, None if "datasets" in targets else names)
        return with_parts((*datasets, *table_jobs(self.configuration, names), *outputs))

    def _asked(self, targets: Sequence[str]) -> list[OutputJob]:
        """The figures and scorecards of these targets. Other targets have none."""
        known = {*self.targets(), "all", SUMMARY}
        # A file below results/figures/<paper>/<figure> is asked for too.
        wanted = [
            ("all", SUMMARY) if word in OF_EVERYTHING else (word, "_".join(Path(word).parts[2:4])) for word in targets
        ]
        with _stopping():
            return [job for names in wanted for name in names if name in known for job in self.outputs(name)]

    def _table(self, name: str) -> ExperimentJob:
        with _stopping():
            return ExperimentJob.from_configuration(self.configuration, name)

    def fail(self) -> None:
        """Hear from Snakemake that a job failed."""
        self._failed = True

    def _tell_products(self, outputs: Sequence[OutputJob], targets: Sequence[str]) -> None:
        """The last line of a run that has what was asked for: how to look at it."""
        if self._failed or not all(file.exists() for job in outputs for file in job.files()):
            return
        files = [str(job.published.with_suffix(suffix)) for job in outputs for suffix in job.SUFFIXES]
        asked = [str(file) for name, file in self.products.items() if name in targets and file.exists()]
        pages = asked or [file for file in files if file.endswith((".png", ".html"))]
        if len(pages) == 1:
            print(f"look at {pages[0]} in any browser", file=sys.stderr)
        elif pages:
            what = f"{len(pages)} pictures and pages below {self.products['report'].parent}, such as {pages[0]}"
            print(f"look at the {what}, in any browser; `make report` puts them on one page", file=sys.stderr)

    def require_targets(self) -> None:
        """Refuse a word that is none of the targets, and no file that a rule makes. All rules are known by now.

        Raises:
            ConfigError: with the nearest target.
        """
        if self._module or not self._workflow.is_main_process:
            return
        asked = parsed_arguments()
        rules = {rule.name: rule for rule in self._workflow.rules}
        cards = [target for target in self.targets() if target.endswith(SUMMARY)]
        targets = [*self.configuration.figures, *self._other_targets(), *cards]
        makers = [name for name, rule in rules.items() if not rule.has_wildcards()]
        for allowed, choices, words in (
            (makers, targets, asked.targets),
            (rules, list(rules), {*asked.until, *asked.omit_from, *asked.forcerun, *asked.prioritize}),
        ):
            for word in words:
                if word not in allowed and not self._makes(word):
                    table = word.split("/")[0] in find_papers()
                    meant = word if table or "/" not in word.rstrip("/") else Path(word).name.partition(".")[0]
                    known = list(self.configuration.experiments) if table else choices
                    raise ConfigError(f"{shown(word)}: no such target; {did_you_mean(bare_target(meant), known)}")

    def _makes(self, file: str) -> bool:
        """Whether a rule makes the file. Snakemake takes a word with a slash behind it for a file."""
        path = file if Path(file).is_absolute() else os.path.normpath(file)
        return not file.endswith("/") and any(rule.is_producer(path) for rule in self._workflow.rules)

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
        return {rule.name: rule.docstring for rule in rules}


def parsed_arguments() -> Any:
    """What Snakemake was started with. Snakemake has read it, but keeps it to itself until the Snakefile is read."""
    return get_argument_parser().parse_args(sys.argv[1:])


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
