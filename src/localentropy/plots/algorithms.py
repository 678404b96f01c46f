"""One look for each algorithm, the same in every figure."""

from __future__ import annotations

from typing import Any

from localentropy.plots.drawing import COLORS

ALGORITHMS: dict[str, dict[str, Any]] = {
    "anneal": {"label": "SA", "color": COLORS[3], "marker": "o"},
    "mct0": {"label": "MCT0", "color": COLORS[1], "marker": "v"},
    "sbpi": {"label": "SBPI", "color": COLORS[2], "marker": "s"},
    "focusing_bp": {"label": "fBP", "color": COLORS[0], "marker": "D"},
    "belief_propagation": {"label": "BP", "color": COLORS[7], "marker": "P"},
    "binarynet": {"label": "BinaryNet", "color": COLORS[4], "marker": "^"},
    "sgd": {"label": "SGD", "color": COLORS[5], "marker": "X"},
    "adam": {"label": "Adam", "color": COLORS[9], "marker": "<"},
}
