"""`dag`: a picture of the dependencies, datasets → experiments → figures and scorecard.

Experiments that read the tables of others have columns of their own.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from localentropy.figures.defaults import defaults
from localentropy.figures.drawing import COLORS, GREY, STYLE
from localentropy.pipeline.config import Configuration
from localentropy.pipeline.jobs import output_jobs, table_jobs

ROW, COLUMN = 0.21, 3.2
"""Inches: height of a row of the longest column, width of a column."""
MARGINS = {"datasets": 0.02, "experiments": 0.29, "figures": 0.02}
"""Room that a name takes beside its place, in columns."""


def draw(configuration: Configuration, file: Path) -> None:
    """Write the picture. The suffix of the file is its format.

    Args:
        configuration: a resolved configuration.
        file: where to.
    """
    edges = _edges(configuration)
    depths = _depths(configuration)
    last = 2 + max(depths.values())
    columns: list[list[tuple[str, str]]] = [[] for _ in range(last + 1)]
    for node in dict.fromkeys(node for edge in edges for node in edge):
        columns[{"datasets": 0, "figures": last}.get(node[0], 1 + depths.get(node[1], 0))].append(node)
    places = {
        name: (float(at), 1.0 - (row + 0.5) / len(column))
        for at, column in enumerate(columns)
        for row, name in enumerate(column)
    }
    with defaults(), mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(COLUMN * (last + 0.8), 0.5 + ROW * max(map(len, columns))), layout="constrained")
        axis = figure.add_subplot()
        experiments = [node for column in columns[1:-1] for node in column]
        for start, end in edges:
            (x0, y0), (x1, y1) = places[start], places[end]
            experiment = start if start in experiments else end
            color = GREY if end[1].endswith("scorecard") else COLORS[experiments.index(experiment) % len(COLORS)]
            ends = [x0 + MARGINS[start[0]], x1 - MARGINS[end[0]]]
            axis.plot(ends, [y0, y1], color=color, linewidth=0.4 if color == GREY else 0.8)
        for (kind, name), (x, y) in places.items():
            side = {"datasets": "right", "experiments": "center", "figures": "left"}[kind]
            axis.text(x, y, name, ha=side, va="center", fontsize=7)
        for at, title in enumerate(["datasets", "experiments", *["experiments on tables"] * (last - 2), "figures"]):
            axis.text(float(at), 1.02, title, ha="center", va="bottom", fontweight="bold")
        axis.set(xlim=(-0.4, last + 0.4), ylim=(0.0, 1.05))
        axis.axis("off")
        figure.savefig(file)


def _edges(configuration: Configuration) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of (column, name): each input and its user."""
    edges = []
    for job in table_jobs(configuration):
        edges += [(("datasets", dataset), ("experiments", job.name)) for dataset in job.parameters.datasets()]
        edges += [(("experiments", name), ("experiments", job.name)) for name in job.tables]
    for output in output_jobs(configuration):
        edges += [(("experiments", name), ("figures", output.target)) for name in output.tables]
    return edges


def _depths(configuration: Configuration) -> dict[str, int]:
    """Experiment → how many experiments lie one behind the other before it."""
    depths: dict[str, int] = {}
    for name, parameters in configuration.experiments.items():
        depths[name] = 1 + max((depths[read] for read in parameters.tables()), default=-1)
    return depths
