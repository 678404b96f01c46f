"""The figures of the paper `overparam` that can be explored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from localentropy.explore import franz_parisi, typical_solutions

if TYPE_CHECKING:
    from localentropy.explore.catalogue import Explorers

FIGURES: Explorers = {
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
}
