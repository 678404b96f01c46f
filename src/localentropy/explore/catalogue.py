"""The figures that can be explored, by target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from localentropy.explore import bayes_optimal, franz_parisi, linear_students, typical_solutions, wide_minima
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
    "figure10": partial(typical_solutions.on_typical_solutions, panel="c", series="theory"),
    "figure11": partial(typical_solutions.on_typical_solutions, panel="a", series="theory.*"),
    "figure12": typical_solutions.stabilities,
    "figure13": typical_solutions.local_energies,
    "margins_figure2": typical_solutions.distances,
    "margins_figure3": partial(franz_parisi.any_margin, experiment="margins/franz_parisi"),
    "margins_figure4": partial(franz_parisi.largest_margin, experiment="margins/franz_parisi"),
    "margins_figure5": typical_solutions.largest_margins,
    "margins_figure6": partial(franz_parisi.largest_margin, experiment="margins/relu_curves"),
    "margins_figure7": partial(franz_parisi.largest_margin, experiment="margins/sign_curves"),
    "margins_figures1": partial(franz_parisi.largest_margin, experiment="margins/planted", panels="ef"),
    "margins_figures2": typical_solutions.phases,
    "shaping_figure1": partial(wide_minima.groups, experiment="shaping/wide_minima"),
    "shaping_figure2": typical_solutions.minimizers,
    "shaping_figure3": franz_parisi.minimizers,
    "shaping_s1": partial(wide_minima.groups, experiment="shaping/wide_minima_many_units"),
    "shaping_s4": franz_parisi.optimal_sharpness,
    "shaping_s6": typical_solutions.volumes,
    "glm_perceptron": linear_students.perceptron,
    "glm_binary": bayes_optimal.binary,
    "glm_phase_retrieval": bayes_optimal.phase_retrieval,
    "glm_committee": bayes_optimal.committee,
    "glm_hidden_manifold": partial(
        linear_students.hidden_manifold, experiment="glm/manifold", shipped=("a", ".*theory")
    ),
    "glm_gaussian_equivalence": partial(linear_students.hidden_manifold, experiment="glm/equivalence"),
}
