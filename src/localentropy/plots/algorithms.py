"""One look for each algorithm, the same in every figure."""

from __future__ import annotations

from typing import Any

from localentropy.plots.drawing import COLORS
from localentropy.solvers.names import COMMITTEE_NAMES, NAMES

ALGORITHMS: dict[str, dict[str, Any]] = {
    "anneal": {"label": NAMES["anneal"], "color": COLORS[3], "marker": "o"},
    "mct0": {"label": NAMES["mct0"], "color": COLORS[1], "marker": "v"},
    "sbpi": {"label": NAMES["sbpi"], "color": COLORS[2], "marker": "s"},
    "focusing_bp": {"label": NAMES["focusing_bp"], "color": COLORS[0], "marker": "D"},
    "belief_propagation": {"label": NAMES["belief_propagation"], "color": COLORS[7], "marker": "P"},
    "binarynet": {"label": NAMES["binarynet"], "color": COLORS[4], "marker": "^"},
    "sgd": {"label": NAMES["sgd"], "color": COLORS[5], "marker": "X"},
    "adam": {"label": NAMES["adam"], "color": COLORS[9], "marker": "<"},
    "elal": {"label": COMMITTEE_NAMES["elal"], "color": "#880022", "marker": "p"},
    "ce_slow": {"label": COMMITTEE_NAMES["ce_slow"], "color": "#6600cc", "marker": "*"},
    "lal": {"label": COMMITTEE_NAMES["lal"], "color": "#000022", "marker": "h"},
}

COMMITTEE: dict[str, dict[str, Any]] = {
    "fbp": ALGORITHMS["focusing_bp"],
    "elal": ALGORITHMS["elal"],
    "ce_slow": ALGORITHMS["ce_slow"],
    "ce_fast": ALGORITHMS["sgd"] | {"label": COMMITTEE_NAMES["ce_fast"]},
    "lal": ALGORITHMS["lal"],
}
"""The algorithms of the paper `shaping`, by their keys in tables and in the paper's order."""
