"""Figure 8: entropy of typical solutions."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.figures.drawing import Drawing, colors_of, in_style, letter, panels
from localentropy.figures.perceptron_points import one_two_five


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) against 1/α at fixed α_T, (b) against α_T at fixed 1/α, for several margins."""
    table = tables["overparam/typical"]
    table = table[table["reference"] != "max"].assign(margin=lambda rows: rows["margin"].round(12))
    p = tables["overparam/typical"].attrs["parameters"]
    colors = colors_of(sorted(table["margin"].unique()), of="margin")
    figure, axes = panels(2, 6.6, 2.9)
    for axis, x in zip(axes, ("inv_alpha", "alpha_T"), strict=True):
        for margin, line in table[table["line"] == x].sort_values(x).groupby("margin"):
            look = {"color": colors[margin], "label": rf"$\kappa = {margin:g}$"}
            axis.line(line[x], line["entropy"], f"margin {margin:g}", look)
        for margin, start in _thresholds(table, x).items():
            axis.threshold(start, f"{start:.3f}", color=colors[margin], at=0.14)
        axis.set(xscale="log", ylabel="entropy per weight (nats)")
        axis.set_ylim(bottom=0.0)
    one_two_five(axes[0], (1, 2, 5, 10, 20), (0.7, table["inv_alpha"].max()))
    axes[1].set(xlabel=r"$\alpha_T = P/D$")
    axes[1].set_xticks([0.1, 1.0, 10.0], ["0.1", "1", "10"])
    axes[0].legend(loc="lower right")
    letter(axes)
    caption = (
        f"Figure 8. Entropy of typical solutions of several margins, (a) against 1/α at α_T = {p['alpha_T']:g} and (b) "
        f"against α_T at 1/α = {p['inv_alpha']:g}. A dotted line is the interpolation threshold of a margin, where the "
        f"entropy vanishes{_in_words(_thresholds(table, 'alpha_T'))}."
    )
    settings = {
        "theory": f"replica-symmetric, {p['ensemble']['activation']} features",
        "chosen here": "α_T, 1/α and the margins",
    }
    return Drawing(figure, caption, settings)


def _thresholds(table: pd.DataFrame, x: str) -> pd.Series:
    """Margin → where its line against x begins, of those that begin at a threshold."""
    starts = table[table["line"] == x].sort_values(x).groupby("margin")[[x, "entropy"]].first()
    return starts.loc[starts["entropy"] < 1e-6, x]


def _in_words(thresholds: pd.Series) -> str:
    found = ", ".join(f"κ = {margin:g}: α_T = {x:.3g}" for margin, x in thresholds.items())
    return f" (in (b) {found})" if found else ""
