"""The figures of the paper `margins` that can be explored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from localentropy.explore import franz_parisi, typical_solutions

if TYPE_CHECKING:
    from localentropy.explore.catalogue import Explorers

FIGURES: Explorers = {
    "figure2": typical_solutions.distances,
    "figure3": partial(franz_parisi.any_margin, experiment="margins/franz_parisi"),
    "figure4": partial(franz_parisi.largest_margin, experiment="margins/franz_parisi"),
    "figure5": typical_solutions.largest_margins,
    "figure6": partial(franz_parisi.largest_margin, experiment="margins/relu_curves"),
    "figure7": partial(franz_parisi.largest_margin, experiment="margins/sign_curves"),
    "figures1": partial(franz_parisi.largest_margin, experiment="margins/planted", panels="ef", y_linear=None),
    "figures2": typical_solutions.phases,
}
