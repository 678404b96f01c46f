"""Figure s6: belief propagation against replica theory, loads that algorithms solve, replicas of eLAL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import around_solutions
from localentropy.analysis.thresholds import success_fractions
from localentropy.figures.algorithms import ALGORITHMS, COMMITTEE, nothing_drawn
from localentropy.figures.drawing import BINOMIAL, GREY, Drawing, clipped_bars, in_style, letter, panels
from localentropy.solvers.names import LEAST_ACTION_NAMES

if TYPE_CHECKING:
    from localentropy.figures.series import Panel

DISTANCE = 0.01
"""Distance of the local entropies of panel (d): the nearest that was measured."""
SOLVERS = COMMITTEE | {
    "lal_free": COMMITTEE["lal"]
    | {"label": LEAST_ACTION_NAMES["lal_free"], "linestyle": "--", "marker": "s", "fillstyle": "none"}
}
"""Algorithms of panel (c)."""
SHIFT = 0.012
"""Of one algorithm to the right of another in panel (c)."""
LEVELS = ("fbp", "ce_slow")
"""Algorithms whose local entropies stand beside those of eLAL."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Entropy of BP on the line of the theory, (b) fraction converged, (c) fraction solved, (d) replicas of eLAL."""
    figure, axes = panels(2, 7.0, 5.4, rows=2)
    volume, theory = tables["shaping/belief_volume"], tables["shaping/typical_volume"]
    _volume(axes, volume, theory)
    _capacities(axes[2], pd.concat([tables["shaping/capacities"], tables["shaping/slow_capacities"]]))
    _replicas(axes[3], tables["shaping/replica_numbers_local_entropy"], tables["shaping/tree_local_entropy"])
    letter(axes)
    data = figure.data
    return Drawing(figure, _caption(data), _settings(tables, data, scale) | nothing_drawn(data, "abcd"))


def _volume(axes: Sequence[Panel], volume: pd.DataFrame, theory: pd.DataFrame) -> None:
    look = ALGORITHMS["belief_propagation"]
    units = volume["units"].iloc[0]
    line = theory[(theory["units"] == units) & (theory["quantity"] == "volume")].sort_values("alpha")
    clustering = theory[(theory["units"] == units) & (theory["quantity"] == "clustering")]["alpha"]
    converged = volume[volume["converged"] == 1].groupby("alpha")["entropy"]
    points = converged.agg(y="mean", y_err="sem", n="size").reset_index()
    fractions = success_fractions(volume, ["alpha"], volume["converged"] == 1).rename(columns={"runs": "n"})
    axes[0].line(line["alpha"], line["entropy"], "replica theory", {"color": "black", "label": "replica theory"})
    axes[0].points(points, "BP", look | {"linestyle": "none"}, "alpha")
    axes[1].points(fractions, "BP", look, "alpha", bars=clipped_bars(fractions))
    for axis in axes[:2]:
        axis.set(xlabel=r"$\alpha$", xlim=(0.0, 1.05 * volume["alpha"].max()))
    for alpha in clustering:
        rows = axes[0].threshold(alpha, f"clustering {alpha:.3f}", "clustering", at=1.0)
        axes[1].threshold(alpha, f"clustering {alpha:.3f}", rows, at=0.6)
    shown = pd.concat([line.loc[line["alpha"] <= volume["alpha"].max(), "entropy"], points["y"]])
    if len(shown):
        axes[0].set_ylim(1.05 * shown.min(), 0.0)
    axes[0].set_ylabel("entropy (nats per weight)")
    axes[1].set(ylabel="fraction converged", ylim=(-0.05, 1.05))
    axes[0].legend(loc="lower left")


def _capacities(axis: Panel, table: pd.DataFrame) -> None:
    own = table[table["algorithm"].isin(SOLVERS)]
    points = success_fractions(own, ["algorithm", "alpha"], own["solved"]).rename(columns={"runs": "n"})
    rows = axis.picture.add(points, series=points["algorithm"], x=points["alpha"])
    for index, (name, look) in enumerate(SOLVERS.items()):
        own = points["algorithm"] == name
        if own.any():
            at = points.loc[own, "alpha"] + SHIFT * (index - (len(SOLVERS) - 1) / 2)
            axis.points(points[own], rows[own], look, "alpha", at=at, bars=clipped_bars(points[own]))
    axis.axhline(0.5, color=GREY, linestyle=":", linewidth=0.8)
    axis.set(xlabel=r"$\alpha$", ylabel="fraction solved", ylim=(-0.05, 1.05))
    # Between the loads where LAL fails and those where fBP does.
    axis.legend(*axis.get_legend_handles_labels(), loc="center", bbox_to_anchor=(0.58, 0.45))


def _replicas(axis: Panel, replicas: pd.DataFrame, others: pd.DataFrame) -> None:
    """Local entropies of eLAL against its number of replicas; of other algorithms, a level over the same training sets."""
    distance = _nearest(replicas)
    ours, theirs = (around_solutions(table[np.isclose(table["distance"], distance)]) for table in (replicas, others))
    points = ours.groupby("algorithm")["entropy"].agg(y="mean", y_err="sem", n="size").reset_index()
    points["x"] = pd.to_numeric(points["algorithm"].str.extract(r"^elal_(\d+)$", expand=False))
    points = points.dropna(subset="x").astype({"x": int}).sort_values("x")
    if len(points):
        axis.points(points, "elal", COMMITTEE["elal"])
        axis.set_xscale("log")
        axis.set_xticks(points["x"], [str(x) for x in points["x"]])
        axis.minorticks_off()
    common = theirs[theirs["sample"].isin(replicas["sample"])]
    for name in LEVELS:
        look, values = COMMITTEE[name], common.loc[common["algorithm"] == name, "entropy"]
        if values.empty:
            continue
        mean, error = values.mean(), values.sem()
        dashed = {"color": look["color"], "linestyle": "--", "label": look["label"]}
        axis.level(mean, name, dashed, y_err=error, n=len(values))
        axis.axhspan(mean - error, mean + error, color=look["color"], alpha=0.15, linewidth=0.0)
    axis.set(xlabel="replicas $y$ of eLAL", ylabel=rf"$\mathcal{{V}}_1$ at $D$ = {distance:g}")
    axis.legend(
        *axis.get_legend_handles_labels(), loc="center", bbox_to_anchor=(0.65, 0.35)
    )  # between eLAL and ceSGD-slow


def _nearest(table: pd.DataFrame) -> float:
    return float(table["distance"].iloc[(table["distance"] - DISTANCE).abs().argmin()])


def _caption(data: pd.DataFrame) -> str:
    drawn = set(data["series"])
    line = " (points) and by replica theory (line)" if "replica theory" in drawn else ""
    marks = "; typical solutions fall into clusters at the dotted line" if "clustering" in drawn else ""
    return (
        "Figure s6. Statements of the text that have no figure there. (a) Entropy of the solutions of a tree committee, by "
        f"belief propagation{line}{marks}. (b) Fraction of the training sets on which belief "
        "propagation converges. (c) Fraction of the training sets that algorithms solve, against the load, algorithms a little apart; dotted: one half. (d) "
        "Local entropy around the solutions of eLAL against its number of replicas; dashed lines are other algorithms on "
        "the same training sets, with their standard errors."
    )


def _settings(tables: Mapping[str, pd.DataFrame], data: pd.DataFrame, scale: str) -> dict[str, str]:
    volume, capacities, slow = (
        tables[f"shaping/{name}"] for name in ("belief_volume", "capacities", "slow_capacities")
    )
    replicas = tables["shaping/replica_numbers_local_entropy"]
    algorithms = [
        *capacities.attrs["parameters"]["algorithms"].values(),
        *slow.attrs["parameters"]["algorithms"].values(),
    ]
    epochs = {options["epochs"] for options in algorithms if "epochs" in options}
    limits = f", at most {' or '.join(str(number) for number in sorted(epochs))} epochs" if epochs else ""
    own = data[data["panel"] == "d"].set_index("series")
    runs = ", ".join(f"{row['n']:.0f} for y = {row['x']:.0f}" for _, row in own[own.index == "elal"].iterrows())
    levels = " and ".join(
        f"{COMMITTEE[name]['label']} ({own.loc[name, 'n']:.0f})" for name in LEVELS if name in own.index
    )
    dashed = f"; dashed: {levels} on those of the same training sets that they solve" if levels else ""
    settings = {
        "(a)": f"K = {volume['units'].iloc[0]} units, N = {volume['N'].iloc[0]}; mean and standard error over those of the "
        f"{volume['sample'].nunique()} training sets on which it converges; a point without an error bar is of a single one",
        "(c)": f"K = {capacities['units'].iloc[0]}, N = {capacities['N'].iloc[0]}, {capacities['sample'].nunique()} training "
        f"sets at each α (ceSGD-slow {slow['sample'].nunique()}){limits}, schedules of figure 4; every run ends at its first "
        "solution; LAL divides each unit by its norm after every mini-batch, or leaves "
        "the norms free, as the text describes the rule",
        "error bars in (b) and (c)": BINOMIAL,
        "(d)": f"at distance D = {_nearest(replicas):g}, K = {replicas['units'].iloc[0]}, α = "
        f"{replicas['alpha'].iloc[0]:.3g}; means over training sets ({runs or 'none'}){dashed}",
        "chosen here": "loads, limits on iterations and epochs, the distance",
    }
    return settings | ({} if scale == "paper" else {f"scale {scale}": "below the paper's size"})
