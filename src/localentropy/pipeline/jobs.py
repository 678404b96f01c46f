"""Every job of a configuration."""

from __future__ import annotations

from collections.abc import Iterator

from localentropy.pipeline.computations import DatasetJob, ExperimentJob
from localentropy.pipeline.config import Configuration
from localentropy.pipeline.outputs import FigureJob, OutputJob
from localentropy.pipeline.scorecard import TARGET, ScorecardJob

Job = DatasetJob | ExperimentJob | OutputJob


def output_jobs(configuration: Configuration) -> Iterator[OutputJob]:
    """Figures in their order, then the scorecard where there are claims."""
    for target in configuration.figures:
        yield FigureJob.from_configuration(configuration, target)
    if configuration.claims:
        yield ScorecardJob.from_configuration(configuration, TARGET)


def table_jobs(configuration: Configuration) -> Iterator[ExperimentJob]:
    """Experiments in the order of the configuration."""
    for name in configuration.experiments:
        yield ExperimentJob.from_configuration(configuration, name)
