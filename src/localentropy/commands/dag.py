"""`dag`: a picture of the dependencies, datasets → experiments → figures and scorecard."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from localentropy.pipeline.config import Configuration
from localentropy.pipeline.jobs import output_jobs, table_jobs
from localentropy.plots.drawing import COLORS, GREY, STYLE

COLUMNS = ("datasets", "experiments", "figures")
ROW, WIDTH = 0.21, 9.0
"""Inches: height of a row of the longest column, width of the picture."""
MARGINS = {"datasets": 0.02, "experiments": 0.29, "figures": 0.02}
"""Room that a name takes beside its place, in columns."""


def draw(configuration: Configuration, file: Path) -> None:
    """Write the picture. The suffix of the file is its format.

    Args:
        configuration: a resolved configuration.
        file: where to.
    """
    edges = _edges(configuration)
    columns = [list(dict.fromkeys(name for edge in edges for name in edge if name[0] == column)) for column in COLUMNS]
    places = {
        name: (float(at), 1.0 - (row + 0.5) / len(column))
        for at, column in enumerate(columns)
        for row, name in enumerate(column)
    }
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(WIDTH, 0.5 + ROW * max(map(len, columns))), layout="constrained")
        axis = figure.add_subplot()
        experiments = columns[1]
        for start, end in edges:
            (x0, y0), (x1, y1) = places[start], places[end]
            experiment = start if start in experiments else end
            color = GREY if end[1].endswith("scorecard") else COLORS[experiments.index(experiment) % len(COLORS)]
            ends = [x0 + MARGINS[start[0]], x1 - MARGINS[end[0]]]
            axis.plot(ends, [y0, y1], color=color, linewidth=0.4 if color == GREY else 0.8)
        for (kind, name), (x, y) in places.items():
            side = {"datasets": "right", "experiments": "center", "figures": "left"}[kind]
            axis.text(x, y, name, ha=side, va="center", fontsize=7)
        for at, column in enumerate(COLUMNS):
            axis.text(float(at), 1.02, column, ha="center", va="bottom", fontweight="bold")
        axis.set(xlim=(-0.4, 2.4), ylim=(0.0, 1.05))
        axis.axis("off")
    figure.savefig(file)


def _edges(configuration: Configuration) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of (column, name): each input and its user."""
    edges = [
        (("datasets", dataset), ("experiments", job.name))
        for job in table_jobs(configuration)
        for dataset in job.inputs
    ]
    for output in output_jobs(configuration):
        edges += [(("experiments", name), ("figures", output.target)) for name in output.tables]
    return edges
