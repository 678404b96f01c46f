"""Numbers that texts and slides print, for figures and claims: of `glm` with the printed digits, of `shaping`."""

from __future__ import annotations

import math

BINARY = "1.245"
"""Samples per weight from which on a student with binary weights can only be the teacher."""
METASTABLE = "1.63"
"""Samples per weight up to which binary weights have metastable states with training errors."""
COMMITTEE = "7.65"
"""Samples per weight from which on the many units of a Bayes-optimal committee specialize."""
PHASE_RETRIEVAL, PHASE_RETRIEVAL_AMP = "1", "1.13"
"""Samples per weight from which on phase retrieval is perfect: for the best student, and for message passing."""
LARGE_DEVIATIONS = 0.76
"""α_U of the binary perceptron, by large deviations: above it the dense cluster fractures (arXiv:1905.07833)."""
CLUSTERING = {3.0: 1.76, math.inf: 2.95}
"""Units K of tree committees → load above which typical solutions fall into clusters (text of arXiv:1905.07833)."""
CAPACITY = 3.02
"""Capacity of the tree committee of three units, in patterns per weight (same text)."""
