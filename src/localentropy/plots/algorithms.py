"""One look for each algorithm, the same in every figure."""

from __future__ import annotations

from typing import Any

from localentropy.plots.drawing import COLORS
from localentropy.solvers.names import NAMES

ALGORITHMS: dict[str, dict[str, Any]] = {
    "anneal": {"label": NAMES["anneal"], "color": COLORS[3], "marker": "o"},
    "mct0": {"label": NAMES["mct0"], "color": COLORS[1], "marker": "v"},
    "sbpi": {"label": NAMES["sbpi"], "color": COLORS[2], "marker": "s"},
    "focusing_bp": {"label": NAMES["focusing_bp"], "color": COLORS[0], "marker": "D"},
    "belief_propagation": {"label": NAMES["belief_propagation"], "color": COLORS[7], "marker": "P"},
    "binarynet": {"label": NAMES["binarynet"], "color": COLORS[4], "marker": "^"},
    "sgd": {"label": NAMES["sgd"], "color": COLORS[5], "marker": "X"},
    "adam": {"label": NAMES["adam"], "color": COLORS[9], "marker": "<"},
}
