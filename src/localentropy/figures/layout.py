"""Panels in two columns, as wide as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localentropy.figures.drawing import panels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localentropy.figures.series import Panel, Picture

PAGE_WIDTH = 7.0
"""Inches: both columns of a journal page."""


def two_columns(number: int, height: float) -> tuple[Picture, Sequence[Panel]]:
    """A figure of panels in two columns, row by row. The last of an odd number is as wide as the page.

    Args:
        number: of panels.
        height: of a row, in inches.
    """
    rows = -(-number // 2)
    figure, axes = panels(2, PAGE_WIDTH, height * rows, rows=rows)
    grid = axes[0].get_gridspec()
    if number % 2 and grid is not None:
        axes[number - 1].set_subplotspec(grid[-1, :])
        axes[number].remove()
    return figure, axes[:number]
