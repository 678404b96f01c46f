"""Figure 13: local energy of solutions of three algorithms; how close to each other solutions are, and barriers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.runs import MOST_SOLVED, averages, deviations, with_theory
from localentropy.analysis.thresholds import typical_line
from localentropy.figures.agreement import csv_rows, in_words
from localentropy.figures.algorithms import ALGORITHMS, legend_entries
from localentropy.figures.drawing import Drawing, colors_of, in_style, letter, panels
from localentropy.figures.perceptron_points import (
    FIRST,
    apart,
    draw_points,
    one_two_five,
    sizes_in_words,
    small_rates,
    sweeps_of,
)
from localentropy.figures.series import Panel
from localentropy.solvers.names import NAMES

PANELS = {"mct0": "MCT0", "sbpi": "SBPI", "belief_propagation": "BP, signs"}
PATHS = {"mean": "straight, mean", "greedy": "straight, greedy", "bent": "one bend, greedy"}
"""Kind of path, as in the table's columns → title of its panel."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """One panel per algorithm, dashed the theory line of typical solutions; deviations of MCT0; overlaps; barriers."""
    lines = tables["overparam/stability_density"]
    lines = lines[lines["quantity"] == "local_energy"]
    lattice = tables["overparam/typical_lattice"]
    lattice = lattice[(lattice["quantity"] == "local_energy") & (lattice["margin"] == 0.0)]
    lattice = lattice.rename(columns={"value": "energy"})
    agreement = agreement_by_size(
        deviations(tables["overparam/solve_mct0"], "local_energy", lattice, "energy", ("x",)), ["x"]
    )
    energies = {solver: _energies(solver, tables, lattice) for solver in PANELS}
    first = _energies("mct0", tables, lattice, "_first")
    values = sorted({round(x, 1) for points in energies.values() for x in points["inv_alpha"]})
    colors = colors_of(values, of="load")
    figure, axes = panels(3, 7.4, 7.8, rows=3)
    figure.add(csv_rows(agreement))
    for axis, (solver, title) in zip(axes, PANELS.items(), strict=False):
        for inv_alpha, here in energies[solver].groupby("inv_alpha"):
            rows = axis.declare(f"{solver}, 1/α = {inv_alpha:.2f}", here.fillna({"y_err": 0.0}))
            # There are no numbers between no flip and the first flips.
            for part in (here["x"] == 0.0, here["x"] > 0.0):
                axis.points(here[part], rows[part], _look(here, colors))
        for inv_alpha, line in lines[lines["inv_alpha"] >= 5.0].groupby("inv_alpha"):
            dashed = {"color": "black", "linestyle": "--", "linewidth": 0.7, "zorder": 1}
            axis.line(line["x"], line["value"], f"typical, 1/α = {inv_alpha:g}", dashed)
        small_rates(axis, 1e-4)
        axis.set(xlabel="distance $d$", xlim=(-0.001, 0.102), ylim=(-1e-5, 0.4), title=title)
        axis.set_ylabel("train error after flips")
    for inv_alpha, here in energies["mct0"].groupby("inv_alpha"):
        # At the same distances: side by side.
        shift = 4e-4 * (values.index(round(inv_alpha, 1)) - len(values) / 2)
        less = here.assign(y=here["y"] - here["theory"])
        rows = axes[3].declare(f"less theory, mct0, 1/α = {inv_alpha:.2f}", less.fillna({"y_err": 0.0}))
        axes[3].points(less, rows, _look(here, colors), at=less["x"] + shift)
        began = first[first["N"] == here["N"].iloc[0]]
        began = began.assign(y=began["y"] - began["theory"])
        name = f"less theory, mct0, first solutions, 1/α = {inv_alpha:.2f}"
        rows = axes[3].declare(name, began.fillna({"y_err": 0.0}))
        axes[3].line(began["x"] + shift, began["y"], rows, FIRST | {"color": _look(here, colors)["color"]})
    axes[3].axhline(0.0, color="black", linewidth=0.6, zorder=0)
    axes[3].set(xlabel="distance $d$", ylabel="train error minus theory", title=PANELS["mct0"])
    _overlaps(axes[4], tables)
    axes[5].axis("off")
    handles = [Line2D([], [], color="black", linestyle="--", linewidth=0.7, label="typical")]
    handles += [Line2D([], [], color=color, marker="o", markersize=3, label=f"{x:g}") for x, color in colors.items()]
    if len(first):
        handles.append(Line2D([], [], **FIRST, color="black", label="first"))
    place: dict[str, Any] = {"title_fontsize": 8, "loc": "upper left", "bbox_to_anchor": (-0.1, 1.1)}
    axes[5].add_artist(
        axes[5].legend(handles=handles, title=r"(a)–(d): $1/\alpha$", ncols=3, columnspacing=0.7, **place)
    )
    barriers = tables["overparam/solution_barriers"]
    one_solution = _barriers(axes[6:], barriers)
    narrow = place | {"loc": "lower left", "ncols": 2, "handlelength": 1.0, "handletextpad": 0.4, "columnspacing": 0.8}
    for drawn, title, height in ((axes[4], "(e)", 0.24), (axes[6], "(f)–(h)", -0.16)):
        at = narrow | {"bbox_to_anchor": (-0.18, height)}
        axes[5].add_artist(axes[5].legend(*legend_entries([drawn]), title=title, **at))
    letter([*axes[:5], *axes[6:]])
    p = tables["overparam/solve_mct0"].attrs["parameters"]
    latent = sorted(barriers["D"].unique())
    caption = (
        "Figure 13. (a)–(c) Train error after random flips of a part d of the weights: of solutions of zero-temperature "
        "Monte Carlo (a) and SBPI (b), and of the signs of belief propagation's magnetizations (c), which are solutions at "
        "large 1/α only. Dashed lines are typical solutions in replica theory. Hollow points: fewer than 90 % of the "
        "instances are solved. (d) The points of (a) minus the theory. (e) Mean overlap of two solutions of one instance, "
        "and the theory. (f)–(h) Largest train error on a path of single flips between two such solutions: the straight "
        "path, mean over the orders of the flips (f) and in a greedy order (g); the greedy path with one bend (h)."
    )
    settings = {
        "load": f"κ = 0, α_T = {p['alpha_T']:g}",
        "flips": "round(dN) weights, exact mean over the choice of the weights; the text does not say how binary weights "
        "were perturbed",
        "sizes": _sizes(energies),
        "solutions in (a) and (d)": sweeps_of(p),
        "dashed lines": "at 1/α = 5 and the larger values of figure 12",
        "axes of (a)–(c)": "linear below 0.0001 and logarithmic above",
        "theory in (d)": f"on the lattice of the sums and flips. {in_words(agreement, 'local energy')}",
        "curves of (c)": "start at the train error that the signs leave",
        "side by side": "1/α in (d), sizes in (e), and pairs of algorithms in (f)–(h)",
        "overlaps in (e)": "of solutions that one solver found from different seeds; the CSV has their numbers and z-scores",
        "paths in (f)–(h)": "each weight that differs is flipped once; in greedy order each flip leaves the fewest errors. "
        "A bend is at another solution of the instance. Only if all these paths have errors a search moves it by single "
        f"flips, {barriers.attrs['parameters']['proposals']} trials. So (g) and (h) are upper bounds of the lowest barriers",
        "pairs in (f)–(h)": f"mean over the pairs of runs on each instance{one_solution}",
        "sizes in (f)–(h)": f"D = {latent[0]}" + "".join(f", and D = {D} in larger points" for D in latent[1:]),
        "axes of (f)–(h)": "linear below 0.001 and logarithmic above",
        "error bars": "standard errors over instances",
        "chosen here": "sizes and 1/α",
    }
    return Drawing(figure, caption, settings)


def _energies(solver: str, tables: Mapping[str, pd.DataFrame], lattice: pd.DataFrame, which: str = "") -> pd.DataFrame:
    """Local energies at the main sizes of a panel, for MCT0 with their theory; `_first`: of its first solutions."""
    # BP is no solver near the threshold: its curves start at the train error it leaves.
    solved_only = solver != "belief_propagation"
    runs = tables[f"overparam/solve_{solver}"]
    points = averages(runs, f"local_energy{which}", solved_only=solved_only, by=("x",))
    points = _main_sizes(points[points["margin"] == 0.0], solver, tables)
    return with_theory(points, lattice, "energy", ("x",)) if solver == "mct0" else points


def _look(points: pd.DataFrame, colors: Mapping[float, Any]) -> dict[str, Any]:
    """Of the points of one 1/α: filled where most instances are solved."""
    color = colors[round(points["inv_alpha"].iloc[0], 1)]
    face = color if (points["solved"] >= MOST_SOLVED).all() else "white"
    return {"color": color, "marker": "o", "markersize": 3, "markerfacecolor": face, "linewidth": 1.0}


def _overlaps(axis: Panel, tables: Mapping[str, pd.DataFrame]) -> None:
    """Overlaps between the solutions of one instance, on the line of the theory."""
    line = typical_line(tables["overparam/typical"], "0.0")
    axis.line(line["inv_alpha"], line["q"], "typical", {"color": "black"})
    table = tables["overparam/solution_overlaps"]
    sizes = sorted(table["D"].unique())
    for (solver, D), here in table.groupby(["solver", "D"]):
        points = here.groupby(["D", "N", "inv_alpha"])
        known = points["overlap"].agg(y="mean", y_err="sem", n="count")
        known["solved"] = points["solved"].sum() / points["runs"].sum()
        known = known.reset_index().assign(margin=0.0)
        known = with_theory(known, tables["overparam/typical_points"], "q").drop(columns="margin")
        known = known.fillna({"y_err": 0.0})
        look = {"markersize": 5 if sizes[-1] == D else 3, "label": f"{ALGORITHMS[solver]['label']}, $D = {D}$"}
        at = apart(known["inv_alpha"], sizes.index(D), len(sizes), 1.06)
        draw_points(axis, known, f"{solver}, D = {D}", ALGORITHMS[solver] | look, at=at)
    one_two_five(axis, (1, 2, 5, 10, 20), (0.85, 36.0), table)
    axis.set(ylabel="overlap of two solutions", yscale="log", ylim=(0.01, 1.0))


def _barriers(axes: Sequence[Panel], table: pd.DataFrame) -> str:
    """Barriers between the solutions of one instance, a panel for each kind of path.

    Returns:
        What the settings say of algorithms all of whose runs end in one solution: between them there is no path.
    """
    one_solution = ""
    kinds = list(dict.fromkeys(zip(table["first"], table["second"], strict=True)))
    sizes = sorted(table["D"].unique())
    for (first, second, D), pairs in table.groupby(["first", "second", "D"], sort=False):
        if first == second and pairs["distance"].max() == 0.0:
            one_solution += f"; all runs of {NAMES[first]} at D = {D} end in one solution"
            continue
        # The colour of the one and the marker of the other.
        look = {"color": ALGORITHMS[first]["color"], "marker": ALGORITHMS[second]["marker"]}
        look |= {"markersize": 3 if sizes[0] == D else 4.5, "label": f"{NAMES[first]}–{NAMES[second]}"}
        size = ["D", "N", "inv_alpha"]
        solved = pairs.groupby(size)["solved"].mean()
        for axis, (path, title) in zip(axes, PATHS.items(), strict=True):
            each = pairs.groupby([*size, "sample"])[f"barrier_{path}"].mean()
            points = each.groupby(size).agg(y="mean", y_err="sem", n="count").assign(solved=solved)
            points = points.reset_index().fillna({"y_err": 0.0})
            at = apart(points["inv_alpha"], kinds.index((first, second)), len(kinds), 1.04)
            draw_points(axis, points, f"{title}, {first} and {second}, D = {D}", look, at=at)
    for axis, title in zip(axes, PATHS.values(), strict=True):
        one_two_five(axis, (1, 2, 5, 10), (1.0, 13.0), table)
        small_rates(axis, 1e-3)
        axis.set(ylim=(-1e-4, 0.4), title=title, ylabel="largest train error on the path")
    return one_solution


def _sizes(drawn: Mapping[str, pd.DataFrame]) -> str:
    """The latent dimensions of the points of the panels."""
    found = []
    for panel, energies in zip("abc", drawn.values(), strict=False):
        sizes = sizes_in_words(energies, lambda inv_alpha: f"{round(inv_alpha, 1):g}")
        alone = f"D = {energies['D'].iloc[0]}" if len(sizes) == 1 else ""
        found.append(f"({panel}) {alone or ', '.join(sizes) or 'nothing to draw'}")
    return "; ".join(found)


def _main_sizes(energies: pd.DataFrame, solver: str, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """MCT0: at each 1/α its largest size. The others: the sizes and 1/α that belief propagation was run at."""
    if solver == "mct0":
        largest = energies.groupby(energies["inv_alpha"].round(1))["D"].transform("max")
        return energies[energies["D"] == largest]
    return energies[energies["N"].isin(tables["overparam/solve_belief_propagation"]["N"].unique())]
