"""Figure committee: specialization of the units of Bayes-optimal committee machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from localentropy.analysis.printed import COMMITTEE
from localentropy.figures.drawing import COLORS, Drawing, colors_of, in_style, letter, panels
from localentropy.figures.glm.points import AMP, POINTS, amp_counts, branches, draw_branches, means, write

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

OVERLAPS = {
    "overlap": (COLORS[0], "mean weights $q_{11} + q_{12}$", (0.15, 0.94)),
    "specialization": (COLORS[1], "specialization $q_{11} - q_{12}$", (3.3, 0.2)),
}
"""Colours, names, and where these stand, away from the points of AMP."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Overlaps and (b) error of two units against α, with AMP; (c) error of many units against α̃; (d) growth of a start.

    (e) The excess of linear regression for two units; (f) the load of specialization against the number of units.
    """
    two = tables["glm/bayes_committee_2"].sort_values("alpha")
    transitions = tables["glm/transitions"].set_index("model")
    few, large = transitions.loc["committee_2"], transitions.loc["committee_large"]
    figure, axes = panels(2, 7.0, 7.8, rows=3)
    middle = two.iloc[(two["alpha"] - 0.5 * two["alpha"].max()).abs().argmin()]
    for column, (color, name, place) in OVERLAPS.items():
        axes[0].line(two["alpha"], two[column], column, {"color": color, "label": name})
        write(axes[0], *place, name, color)
    axes[1].line(two["alpha"], two["bayes_error"], "bayes_error", {"color": "black", "label": "Bayes"})
    axes[1].line(two["alpha"], two["gibbs_error"], "gibbs_error", {"color": COLORS[2], "label": "sample (Gibbs)"})
    runs = tables["glm/amp_committee"]
    for axis, column, look in (
        (axes[0], "overlap", {"color": COLORS[0]}),
        (axes[0], "specialization", {"color": COLORS[1]}),
        (axes[1], "error", {"color": "black"}),
    ):
        axis.points(means(runs, ["alpha", "d"], column), f"AMP, {column}", AMP | POINTS | look, "alpha")
    best, other = branches(tables["glm/bayes_committee_large"], large["information_theoretic"])
    draw_branches(axes[2], best, other, "bayes_error")
    _growth(axes[3], tables["glm/committee_evolution"].sort_values(["alpha", "start"]))
    excess = two["linear_error"] / two["bayes_error"] - 1.0
    axes[4].line(two["alpha"], excess, "excess of linear regression", {"color": COLORS[3]})
    axes[4].set(yscale="log", ylabel="excess error of linear regression")
    units = tables["glm/units_specialization"].sort_values("units")
    scaled = units["alpha"] / units["units"] ** 2
    odd = units["units"] % 2 == 1
    rows = axes[5].declare(
        "load of specialization / K²", pd.DataFrame({"x": units["units"], "y": scaled, "y_err": 0.0})
    )
    look = {"color": COLORS[0], "marker": "o"}
    axes[5].line(units.loc[odd, "units"], scaled[odd], rows[odd], look)
    # Of an even number of units the output can be 0, so this is another problem.
    axes[5].line(units.loc[~odd, "units"], scaled[~odd], rows[~odd], look | {"markerfacecolor": "white"})
    axes[5].set(xscale="log", xlabel="units $K$", ylabel=r"$\alpha_{\mathrm{spec}} / K^2$", ylim=(0.0, None))
    axes[5].set_xticks(units["units"], [f"{count}" for count in units["units"]])
    axes[5].minorticks_off()
    for axis, side, at in ((axes[0], "left", 0.45), (axes[1], "right", 0.35), (axes[4], "right", 0.35)):
        text = rf"$\alpha_{{\mathrm{{spec}}}} = {few['algorithmic']:.4f}$"
        axis.threshold(few["algorithmic"], text, side=side, at=at)
        axis.set(xlabel=r"$\alpha = n/d$", xlim=(0.0, two["alpha"].max()))
    axes[2].threshold(large["spinodal"], f"spinodal {large['spinodal']:.4f}", at=0.55)
    text = rf"$\tilde\alpha_{{\mathrm{{IT}}}} = {large['information_theoretic']:.4f}$ (slide: {COMMITTEE})"
    axes[2].threshold(large["information_theoretic"], text, side="right", at=0.55)
    axes[0].set(ylabel="overlap with the teacher", ylim=(-0.02, 1.02))
    axes[1].set(ylabel="generalization error", ylim=(0.0, None))
    write(axes[1], middle["alpha"], middle["gibbs_error"], "  sample (Gibbs)", COLORS[2], va="bottom")
    write(axes[1], 0.1 * middle["alpha"], 1.2 * middle["bayes_error"], "Bayes", va="top")
    axes[2].set(
        xlabel=r"$\tilde\alpha = n/(Kd)$",
        ylabel=r"generalization error $\varepsilon_g$",
        xlim=(0.0, best["alpha"].max()),
    )
    axes[2].set_ylim(bottom=0.0)
    letter(axes)
    plateau = best.loc[best["alpha"] <= large["information_theoretic"], "bayes_error"].iloc[-1]
    after = best.loc[best["alpha"] > large["information_theoretic"], "bayes_error"].iloc[0]
    figure.add(pd.DataFrame({"series": ["slide"], "x": float(COMMITTEE)}))
    caption = (
        "Figure committee. Bayes-optimal learning from a committee machine. (a), (b) Two units: the overlap of their mean with "
        "the teacher and their specialization, which grows from 0, and the probability of a wrong label; points are AMP. (c) "
        "Many units: equilibrium (solid) and the other state (dashed). The units specialize in equilibrium "
        f"from {large['information_theoretic']:.6f} Kd samples on; the error falls from {plateau:.6f} to {after:.6f} there. (d) "
        "The factor by which a small specialization q_d grows in one update. It goes to 0 with q_d, so an uninformed start "
        "never specializes. (e) The error of linear regression over the one in (b), minus 1. (f) The load from which units "
        "specialize without information, over K² (hollow: K = 2)."
    )
    settings = {
        "model": "fully connected committee, y = sign of the sum of the signs of K units, Gaussian weights, n Gaussian inputs "
        "of d components; replica theory",
        "(a), (b)": "K = 2, with sign 0 = 0, so there are three labels; the specialization begins at "
        f"α = {few['algorithmic']:.6f}; (b) has the best guess and a sample of the posterior; the theory has one stable state "
        "at each α",
        "points": f"{amp_counts(runs)}; mean and standard error; the units of the teacher have the length √d; "
        f"{100.0 * runs['converged'].mean():.0f} % of the runs settled, the others wander about their overlaps",
        "(c)": f"K → ∞; the slide prints {COMMITTEE} Kd; the specialized state begins at {large['spinodal']:.6f}",
        "(d)": "state evolution, for several n/(Kd); it holds with n of the order Kd",
        "(e)": "least squares on the labels −1, 0 and 1 with the best regularization; the best guess of a label from its output",
        "(f)": "the load α = n/d above which the state without specialization is unstable"
        + (", for odd numbers of units and for 2" if 2 in set(units["units"]) else ""),
        "chosen here": "the ranges of α, the starts, d and the number of instances",
    }
    return Drawing(figure, caption, settings)


def _growth(axis: Panel, evolution: pd.DataFrame) -> None:
    """Growth of the specialization in one update against its start, a line for each load."""
    for alpha, color in colors_of(evolution["alpha"].unique(), of="load").items():
        line = evolution[evolution["alpha"] == alpha]
        look = {"color": color, "marker": ".", "linewidth": 1.0, "label": f"{alpha:g}"}
        axis.line(line["start"], line["growth"], f"growth, α̃ = {alpha:g}", look, alpha=alpha)
    axis.axhline(1.0, color="black", linestyle=":", linewidth=0.8)
    axis.set(xscale="log", yscale="log", xlabel="$q_d$ before the update", ylabel="growth of $q_d$ in one update")
    axis.legend(title=r"$\tilde\alpha$", title_fontsize=7, ncols=2, loc="lower right")
