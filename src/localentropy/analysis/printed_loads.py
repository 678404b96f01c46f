"""Loads that the slides of the talk `glm` print, with the printed digits."""

from __future__ import annotations

BINARY = "1.245"
"""Where binary weights are known."""
METASTABLE = "1.63"
"""Where the metastable states of binary weights end."""
COMMITTEE = "7.65"
"""Where many units of a committee specialize, in samples per weight."""
PHASE_RETRIEVAL, PHASE_RETRIEVAL_AMP = "1", "1.13"
"""Where phase retrieval is perfect for the best student, and for message passing."""
