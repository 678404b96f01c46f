"""Every job of a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from localentropy.pipeline.computations import DatasetJob, ExperimentJob
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
