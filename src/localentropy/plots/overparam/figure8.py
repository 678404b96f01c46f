"""Figure 8: entropy of typical solutions."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.plots.drawing import Drawing, colors_of, curve_rows, in_style, letter, panels


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) against 1/α at fixed α_T, (b) against α_T at fixed 1/α, for several margins."""
    table = tables["overparam/typical"]
    table = table[table["reference"] != "max"].assign(margin=lambda rows: rows["margin"].round(12))
    p = tables["overparam/typical"].attrs["parameters"]
    colors = colors_of(sorted(table["margin"].unique()))
    frames = []
    figure, axes = panels(2, 6.6, 2.9)
    for panel, axis, x in zip("ab", axes, ("inv_alpha", "alpha_T"), strict=True):
        for margin, line in table[table["line"] == x].sort_values(x).groupby("margin"):
            axis.plot(line[x], line["entropy"], color=colors[margin], label=rf"$\kappa = {margin:g}$")
            frames.append(curve_rows(panel, f"margin {margin:g}", line[x], line["entropy"]))
        axis.set(xscale="log", ylabel="entropy per weight (nats)")
        axis.set_ylim(bottom=0.0)
    axes[0].set(xlabel=r"$1/\alpha = N/P$")
    axes[1].set(xlabel=r"$\alpha_T = P/D$")
    axes[0].legend(loc="lower right")
    letter(axes)
    caption = (
        "Figure 8. Entropy of typical solutions of several margins, replica-symmetric theory, "
        f"{p['ensemble']['activation']} features: (a) at α_T = {p['alpha_T']:g}, (b) at 1/α = {p['inv_alpha']:g}; lines begin where the "
        f"entropy vanishes, at the interpolation threshold of their margin{_thresholds(table)}. All values are chosen here: the text lost them."
    )
    return Drawing(figure, pd.concat(frames), caption)


def _thresholds(table: pd.DataFrame) -> str:
    """Where the lines against α_T begin, of those that begin at a threshold."""
    lines = table[table["line"] == "alpha_T"].sort_values("alpha_T").groupby("margin")
    starts = lines[["alpha_T", "entropy"]].first()
    vanishing = starts[starts["entropy"] < 1e-6]
    found = ", ".join(f"κ = {margin:g}: α_T = {x:.3g}" for margin, x in vanishing["alpha_T"].items())
    return f" (in (b) {found})" if found else ""
