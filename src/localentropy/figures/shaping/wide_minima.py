"""Normalised local entropies of groups of solutions against their overlap (figures 1 and s1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

from localentropy.analysis.flatness import ACCURACY

if TYPE_CHECKING:
    from localentropy.figures.series import Panel


NEXT_TO_ONE = 0.8
"""Overlap from which on lines next to 1 are drawn."""


def draw_curves(axis: Panel, table: pd.DataFrame, marks: Mapping[float, str], colors: Mapping[float, Any]) -> None:
    """A line for each load in its colour, dashed and named at the marked ones."""
    axis.axhline(0.0, color="black", linewidth=0.6)
    for alpha, curve, look in _lines(table, marks, colors):
        more = {"alpha": alpha, "residual": curve["residual"]}
        axis.line(curve["overlap"], curve["entropy"], f"α = {alpha:g}", look, **more)
    axis.set(xlabel="overlap $q_1$", ylabel=r"local entropy $\mathcal{V}_1$ (nats per weight)")


def draw_next_to_one(axis: Panel, table: pd.DataFrame, marks: Mapping[float, str], colors: Mapping[float, Any]) -> None:
    """The same lines on logarithmic axes of 1 − q₁ and −V₁. Entropies below their accuracy are left out."""
    for alpha, whole, look in _lines(table, marks, colors):
        curve = whole[(whole["overlap"] >= NEXT_TO_ONE) & (whole["entropy"] < -ACCURACY)]
        axis.line(1.0 - curve["overlap"], -curve["entropy"], f"α = {alpha:g}", look, alpha=alpha)
    axis.set(xscale="log", yscale="log", xlabel="$1 - q_1$", ylabel=r"$-\mathcal{V}_1$ (nats per weight)")
    axis.set_xlim(1.1 * (1.0 - NEXT_TO_ONE), 1.0 - table["overlap"].max())
    axis.xaxis.set_minor_formatter(NullFormatter())


def _lines(
    table: pd.DataFrame, marks: Mapping[float, str], colors: Mapping[float, Any]
) -> Iterator[tuple[float, pd.DataFrame, dict[str, Any]]]:
    """Each load, its curve and its look."""
    for alpha, curve in table.sort_values("overlap").groupby("alpha"):
        label = f"{alpha:g} ({marks[alpha]})" if alpha in marks else f"{alpha:g}"
        yield alpha, curve, {"color": colors[alpha], "label": label, "linestyle": "--" if alpha in marks else "-"}


WHAT = (
    "largest normalised local entropy of a group of solutions, against their mutual overlap q₁: the log of the fraction of "
    "all groups of replicas with this overlap in which every replica is a solution"
)
"""What is drawn, in a caption."""


def theory_in_words(table: pd.DataFrame) -> str:
    """The theory of a table, in a figure's settings."""
    units, machine = table["units"].iloc[0], table["machine"].iloc[0]
    many = "infinitely many" if np.isinf(units) else f"{units:g}"
    output = "" if machine == "committee" else ", its output the product of the units (parity machine)"
    return (
        f"tree of {many} units, continuous weights{output}; replica theory with one step of symmetry breaking, y → ∞ "
        "replicas; nats per weight and replica"
    )


def thresholds(table: pd.DataFrame, units: float) -> pd.Series:
    """Quantity → load, for the thresholds of typical solutions."""
    rows = table[(table["units"] == units) & (table["quantity"] != "volume")]
    return rows.set_index("quantity")["alpha"]
