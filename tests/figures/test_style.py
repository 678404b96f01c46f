"""The style of the figures is seaborn's, although no figure needs seaborn for it."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
import seaborn as sns

from localentropy.figures.drawing import COLORS, PALETTES, STYLE, colors_of

OURS = {"figure.dpi", "savefig.dpi", "font.size", "svg.hashsalt", "pdf.fonttype", "mathtext.fontset"} | {
    *("axes.labelsize", "axes.titlesize", "axes.spines.top", "axes.spines.right", "axes.linewidth"),
    *("xtick.labelsize", "ytick.labelsize", "legend.fontsize", "legend.frameon"),
    *("lines.linewidth", "lines.markersize", "errorbar.capsize"),
}
"""What we set ourselves."""
UNUSED = {"font.sans-serif", "grid.color", "image.cmap"}
"""Fonts that a machine may not have, grids and default scales of colours: no figure uses them."""


def settings(style: dict[str, object]) -> dict[str, object]:
    with mpl.rc_context(style):  # type: ignore[arg-type]
        return {name: value for name, value in mpl.rcParams.items() if name not in OURS | UNUSED}


def test_what_we_do_not_set_ourselves_is_seaborns() -> None:
    ours, theirs = settings(dict(STYLE)), settings({**sns.axes_style("ticks"), **sns.plotting_context("paper")})
    different = {name for name, value in theirs.items() if value != ours[name]}
    # Seaborn computes its sizes: 4.800000000000001.
    assert all(ours[name] == pytest.approx(theirs[name], rel=1e-12) for name in different), different
    assert OURS | different <= set(STYLE)


def test_the_colours_are_seaborns() -> None:
    assert sns.color_palette("colorblind").as_hex() == COLORS
    for kind, (name, low, high) in PALETTES.items():
        expected = sns.color_palette(name, as_cmap=True)(np.linspace(low, high, 5))[:, :3]
        assert list(colors_of(range(5), of=kind).values()) == [tuple(color) for color in expected]


def test_no_figure_waits_for_seaborn_that_does_not_mix_colours() -> None:
    imported = "import sys, localentropy.figures.drawing; print({'seaborn', 'scipy.stats'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", imported], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
