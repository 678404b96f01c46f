"""Teachers of Bayes-optimal students, by the names that they have in configurations and tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localentropy.theory import bayes, committee

MODELS = {
    "perceptron": {"prior": "gaussian", "channel": "sign"},
    "binary_perceptron": {"prior": "binary", "channel": "sign"},
    "phase_retrieval": {"prior": "gaussian", "channel": "absolute"},
}
"""Prior and channel."""
COMMITTEES = {"committee_2": 2.0, "committee_large": math.inf}
"""Number of units."""


def learning(model: str, alpha: float, start: str) -> bayes.State | committee.Committee:
    """A fixed point of state evolution."""
    from localentropy.theory import bayes, committee

    if model in COMMITTEES:
        return committee.learning(alpha, COMMITTEES[model], start)
    return bayes.learning(alpha, **MODELS[model], start=start)


def transitions(model: str) -> bayes.Transitions:
    """Loads at which learning changes."""
    from localentropy.theory import bayes, committee

    return committee.transitions(COMMITTEES[model]) if model in COMMITTEES else bayes.transitions(**MODELS[model])
