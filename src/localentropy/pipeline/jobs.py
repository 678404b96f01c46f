"""Every job of a configuration, and how the jobs depend on each other."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from localentropy.pipeline.computations import DatasetJob, ExperimentJob, TableReader
from localentropy.pipeline.config import Configuration
from localentropy.pipeline.outputs import FigureJob, OutputJob
from localentropy.pipeline.scorecard import SUMMARY, ScorecardJob, SummaryJob, tested_papers

Job = DatasetJob | ExperimentJob | OutputJob


def output_jobs(configuration: Configuration) -> Iterator[OutputJob]:
    """Figures in their order, then the scorecard of each paper that has claims, and the page over them."""
    for target in configuration.figures:
        yield FigureJob.from_configuration(configuration, target)
    papers = tested_papers(configuration)
    for paper in papers:
        yield ScorecardJob.from_configuration(configuration, paper)
    if papers:
        yield SummaryJob.from_configuration(configuration)


def output_files(configuration: Configuration) -> tuple[dict[str, list[Path]], dict[str, list[Path]]]:
    """Files of each figure, and of each scorecard and the page over them, by target.

    It needs no job, so no hash of code: Snakemake asks at each of its starts, on a cluster at least once for each job.
    """
    folder, papers = configuration.folder, tested_papers(configuration)
    figures = {target: FigureJob.paths(folder, target) for target in configuration.figures}
    cards = {f"{paper}_{SUMMARY}": ScorecardJob.paths(folder, f"{paper}_{SUMMARY}") for paper in papers}
    return figures, cards | ({SUMMARY: SummaryJob.paths(folder, SUMMARY)} if papers else {})


def table_jobs(configuration: Configuration) -> Iterator[ExperimentJob]:
    """Experiments in the order of the configuration."""
    for name in configuration.experiments:
        yield ExperimentJob.from_configuration(configuration, name)


def dataset_jobs(configuration: Configuration) -> Iterator[DatasetJob]:
    """Datasets that experiments read, by name."""
    for name in sorted({name for at in configuration.experiments.values() for name in at.DATASETS}):
        yield DatasetJob.from_configuration(configuration, name)


def computed_tables(configuration: Configuration, job: object) -> list[ExperimentJob]:
    """The experiments whose tables a job reads, without those whose tables come with the repository."""
    if not isinstance(job, TableReader):
        return []
    found = [ExperimentJob.from_configuration(configuration, name) for name in job.tables]
    return [source for source in found if source.committed is None]


def source_problem(tables: Sequence[ExperimentJob], outdated: Container[Path]) -> str | None:
    """Why a file that is made from these tables is not current, where some of them are outdated."""
    first = next((source.name for source in tables if source.table in outdated), None)
    return f"made from the table of {first}, which is not current" if first else None
