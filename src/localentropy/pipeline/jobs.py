"""Every job of a configuration."""

from __future__ import annotations

from collections.abc import Iterator

from localentropy.pipeline.computations import DatasetJob, ExperimentJob
from localentropy.pipeline.config import Configuration
from localentropy.pipeline.outputs import FigureJob, OutputJob
from localentropy.pipeline.scorecard import ScorecardJob, SummaryJob, tested_papers

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


def table_jobs(configuration: Configuration) -> Iterator[ExperimentJob]:
    """Experiments in the order of the configuration."""
    for name in configuration.experiments:
        yield ExperimentJob.from_configuration(configuration, name)
