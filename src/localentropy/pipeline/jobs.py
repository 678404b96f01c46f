"""Every job of a configuration, and how the jobs depend on each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from localentropy import closure
from localentropy.atomic import file_hash
from localentropy.pipeline.computations import ADDRESS, RESULTS, ContentJob, DatasetJob, ExperimentJob
from localentropy.pipeline.config import ROOT, Configuration
from localentropy.pipeline.outputs import FigureJob, OutputJob
from localentropy.pipeline.scorecard import SUMMARY, ScorecardJob, SummaryJob, tested_papers

NOTEBOOKS = ROOT / "notebooks"


def output_targets(configuration: Configuration) -> list[str]:
    """Figures in their order, then the scorecard of each paper that has claims, and the page over them."""
    cards = [f"{paper}_{SUMMARY}" for paper in tested_papers(configuration)]
    return [*configuration.figures, *cards, *([SUMMARY] if cards else [])]


def output_job(configuration: Configuration, target: str) -> OutputJob:
    """The job of one of these targets.

    Raises:
        ConfigError: there is no such target.
    """
    if target == SUMMARY:
        return SummaryJob.from_configuration(configuration)
    if target.endswith(f"_{SUMMARY}"):
        return ScorecardJob.from_configuration(configuration, target.removesuffix(f"_{SUMMARY}"))
    return FigureJob.from_configuration(configuration, target)


def output_jobs(configuration: Configuration) -> Iterator[OutputJob]:
    """The jobs of `output_targets`."""
    return (output_job(configuration, target) for target in output_targets(configuration))


def with_sources(configuration: Configuration, names: Iterable[str]) -> list[str]:
    """These experiments, and behind them those whose tables they read, each once."""
    found = list(dict.fromkeys(names))
    for name in found:
        found += dict.fromkeys(table for table in configuration.experiments[name].tables() if table not in found)
    return found


def table_jobs(configuration: Configuration, names: Iterable[str] | None = None) -> Iterator[ExperimentJob]:
    """Experiments in the order of the configuration, or those named."""
    for name in configuration.experiments if names is None else names:
        yield ExperimentJob.from_configuration(configuration, name)


def dataset_jobs(configuration: Configuration, names: Iterable[str] | None = None) -> Iterator[DatasetJob]:
    """Datasets that the experiments, or those named, read, by name."""
    experiments = configuration.experiments
    read = {dataset for name in (experiments if names is None else names) for dataset in experiments[name].datasets()}
    for name in sorted(read):
        yield DatasetJob.from_configuration(configuration, name)


def every_job(configuration: Configuration) -> Iterator[tuple[ContentJob, int | None]]:
    """Datasets, tables and their parts, figures and scorecards; of a part also its number."""
    return with_parts((*dataset_jobs(configuration), *table_jobs(configuration), *output_jobs(configuration)))


def with_parts(jobs: Iterable[ContentJob]) -> Iterator[tuple[ContentJob, int | None]]:
    """Each job, and behind it its parts by their numbers."""
    for job in jobs:
        yield job, None
        if isinstance(job, ExperimentJob):
            yield from ((job, part) for part in job.numbers)


def notebook_names() -> list[str]:
    """The names of the notebooks."""
    return sorted(file.stem for file in NOTEBOOKS.glob("*.py"))


def notebook_page(name: str) -> Path:
    """The page of a notebook: its name holds a hash of the notebook's text and of the code that it imports."""
    source = NOTEBOOKS / f"{name}.py"
    made_from = file_hash(source) + closure.code_hash(str(source))
    return RESULTS / "notebooks" / name / f"{hashlib.sha256(made_from.encode()).hexdigest()[:ADDRESS]}.html"
