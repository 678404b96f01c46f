"""The figures that can be explored, by target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from localentropy.explore import franz_parisi, linear_students, typical_solutions, wide_minima
from localentropy.explore.explorer import Explorer

if TYPE_CHECKING:
    from localentropy.pipeline.config import Configuration

EXPLORERS: Mapping[str, Callable[[Configuration], Explorer]] = {
    "figure1": typical_solutions.phase_diagram,
    "figure2": typical_solutions.errors,
    "figure3": partial(franz_parisi.any_margin, experiment="overparam/franz_parisi"),
    "figure4": partial(franz_parisi.largest_margin, experiment="overparam/franz_parisi"),
    "figure8": typical_solutions.entropies,
    "figure9": typical_solutions.barycentres,
    "margins_figure3": partial(franz_parisi.any_margin, experiment="margins/franz_parisi"),
    "margins_figure4": partial(franz_parisi.largest_margin, experiment="margins/franz_parisi"),
    "margins_figure6": partial(franz_parisi.largest_margin, experiment="margins/relu_curves"),
    "margins_figure7": partial(franz_parisi.largest_margin, experiment="margins/sign_curves"),
    "margins_figures1": partial(franz_parisi.largest_margin, experiment="margins/planted", panels="ef"),
    "shaping_figure1": partial(wide_minima.groups, experiment="shaping/wide_minima"),
    "shaping_figure3": franz_parisi.minimizers,
    "shaping_s1": partial(wide_minima.groups, experiment="shaping/wide_minima_many_units"),
    "glm_perceptron": linear_students.perceptron,
    "glm_hidden_manifold": linear_students.hidden_manifold,
}
