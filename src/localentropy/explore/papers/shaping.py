"""The figures of the paper `shaping` and its talk that can be explored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from localentropy.explore import franz_parisi, typical_solutions, wide_minima

if TYPE_CHECKING:
    from localentropy.explore.catalogue import Explorers

FIGURES: Explorers = {
    "figure1": partial(wide_minima.groups, experiment="shaping/wide_minima"),
    "figure2": typical_solutions.minimizers,
    "figure3": franz_parisi.minimizers,
    "s1": partial(wide_minima.groups, experiment="shaping/wide_minima_many_units"),
    "s4": franz_parisi.optimal_sharpness,
    "s6": typical_solutions.volumes,
}
