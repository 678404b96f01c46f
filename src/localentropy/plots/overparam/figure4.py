"""Figure 4: Franz–Parisi entropy around solutions of the largest margin, across the local-entropy threshold."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.plots.drawing import (
    Drawing,
    colors_of,
    curve_rows,
    draw_signed,
    frozen_ends,
    in_style,
    letter,
    panels,
)

BOTTOM = -2.5
"""Lower end of the axis of derivatives."""
TOP = 8.0
"""Its upper end: for d → 0 they grow like log(1/d)."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) entropy, (b) its derivative by the distance, on a logarithmic axis of distances."""
    table = tables["overparam/franz_parisi"]
    p = table.attrs["parameters"]
    curves = table[table["curve"] == "max_margin"]
    colors = colors_of(sorted(curves["inv_alpha"].unique()))
    frames = []
    figure, axes = panels(2, 7.0, 2.9)
    for inv_alpha, curve in curves.groupby("inv_alpha"):
        rising = curve[curve["distance"] <= curve["distance_typical"]]
        for panel, axis, column in zip("ab", axes, ("entropy", "slope"), strict=True):
            x, y = rising["distance"].to_numpy(), rising[column].to_numpy()
            draw_signed(axis, x, y, {"color": colors[inv_alpha], "label": f"{inv_alpha:g}"})
            own = {"inv_alpha": inv_alpha, "margin_ref": rising["margin_ref"]}
            frames.append(curve_rows(panel, f"{column}, 1/α = {inv_alpha:g}", x, y, **own))
    for axis in axes:
        axis.axhline(0.0, color="black", linewidth=0.6)
        axis.set(xscale="log", xlabel="distance $d$", xlim=(1e-4, 0.4))
    axes[0].set(ylabel=r"$\phi_{\mathrm{FP}}(d)$ (nats per weight)")
    axes[1].set(ylabel=r"$\mathrm{d}\phi_{\mathrm{FP}}/\mathrm{d}d$", ylim=(BOTTOM, TOP))
    axes[0].legend(title=r"$1/\alpha$", loc="upper left")
    letter(axes)
    ends = frozen_ends(curves, ["inv_alpha"], "1/α = {:g}".format)
    caption = (
        f"Figure 4. Franz–Parisi entropy of solutions of margin κ = {p['margin']:g} around typical solutions of the largest "
        f"margin, (a), and its derivative by the distance, (b), up to the typical distance; α_T = {p['alpha_T']:g}, "
        f"{p['ensemble']['activation']} features, replica-symmetric theory. Dashed: negative values of what is drawn. {ends}Below 1/α_LE{_threshold(tables)} "
        f"the derivative is negative somewhere{_beyond(curves)}. α_T and the values of 1/α are chosen here: the text "
        "lost them."
    )
    return Drawing(figure, pd.concat(frames), caption)


def _threshold(tables: Mapping[str, pd.DataFrame]) -> str:
    """The value of the local-entropy threshold, if it was computed for the drawn parameters."""
    drawn, thresholds = tables["overparam/franz_parisi"].attrs["parameters"], tables["overparam/thresholds"]
    row = thresholds[thresholds["alpha_T"] == drawn["alpha_T"]]
    if row.empty or thresholds.attrs["parameters"]["ensemble"] != drawn["ensemble"]:
        return ""
    return f" = {row['inv_alpha_le'].iloc[0]:.4f}"


def _beyond(curves: pd.DataFrame) -> str:
    """The curves whose derivative leaves the axis, and how far down it goes."""
    rising = curves[curves["distance"] <= curves["distance_typical"]]
    least = rising.groupby("inv_alpha")["slope"].min()
    left = ", ".join(f"{slope:.1f} at 1/α = {inv_alpha:g}" for inv_alpha, slope in least[least < BOTTOM].items())
    return f" (below the axis: down to {left})" if left else ""
