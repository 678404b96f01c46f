"""How near the threshold of typical references of the largest margin is to that of large deviations."""

from __future__ import annotations

SLIGHTLY = 0.05
"""A threshold is slightly below another if it is so by less than this part of it.

The texts take α'_LE as an easier estimate of α_U. Without it, α_c is the estimate, and α'_LE lies 12 to 16 % below α_c.
So "slightly" must be well below that. 0.05 stood here before α_U was computed. There are two thresholds of large
deviations. That of y = ∞ is the lower one.
"""


def below_in_words(threshold: float, upper: float) -> str:
    """How far α'_LE lies below α_U."""
    return f"α'_LE = {threshold:.7f} is {100.0 * (1.0 - threshold / upper):.1f} % below α_U = {upper:.7f}"
