"""Numbers that texts and slides print, for figures and claims: of `glm` with the printed digits, of `shaping`."""

from __future__ import annotations

import math

BINARY = "1.245"
"""Where binary weights are known."""
METASTABLE = "1.63"
"""Where the metastable states of binary weights end."""
COMMITTEE = "7.65"
"""Where many units of a committee specialize, in samples per weight."""
PHASE_RETRIEVAL, PHASE_RETRIEVAL_AMP = "1", "1.13"
"""Where phase retrieval is perfect for the best student, and for message passing."""
LARGE_DEVIATIONS = 0.76
"""α_U of the binary perceptron, by large deviations: above it the dense cluster fractures (arXiv:1905.07833)."""
CLUSTERING = {3.0: 1.76, math.inf: 2.95}
"""Units K of tree committees → load above which typical solutions fall into clusters (text of arXiv:1905.07833)."""
CAPACITY = 3.02
"""The capacity of three units there."""
