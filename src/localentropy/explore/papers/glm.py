"""The figures of the talk `glm` that can be explored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from localentropy.explore import bayes_optimal, linear_students, real_images

if TYPE_CHECKING:
    from localentropy.explore.catalogue import Explorers

FIGURES: Explorers = {
    "perceptron": linear_students.perceptron,
    "binary": bayes_optimal.binary,
    "phase_retrieval": bayes_optimal.phase_retrieval,
    "committee": bayes_optimal.committee,
    "hidden_manifold": partial(linear_students.hidden_manifold, experiment="glm/manifold", shipped=("a", ".*theory")),
    "gaussian_equivalence": partial(linear_students.hidden_manifold, experiment="glm/equivalence"),
    "real_data": real_images.real_data,
}
