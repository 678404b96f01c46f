"""Figure 13: local energy of solutions of three algorithms, and how close to each other solutions are."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from localentropy.analysis.agreement import agreement_by_size
from localentropy.analysis.solver_runs import MOST_SOLVED, averages, deviations, with_theory
from localentropy.plots.agreement import csv_rows, in_words
from localentropy.plots.algorithms import ALGORITHMS
from localentropy.plots.drawing import Drawing, colors_of, curve_rows, in_style, letter, panels
from localentropy.plots.perceptron_points import draw_points, one_two_five, series, small_rates, typical_line

PANELS = {"mct0": "MCT0", "sbpi": "SBPI", "belief_propagation": "BP, signs of the magnetizations"}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """One panel per algorithm, dashed the theory line of typical solutions; and one with overlaps."""
    lines = tables["overparam/stability_density"]
    lines = lines[lines["quantity"] == "local_energy"]
    lattice = tables["overparam/typical_lattice"]
    lattice = lattice[(lattice["quantity"] == "local_energy") & (lattice["margin"] == 0.0)]
    lattice = lattice.rename(columns={"value": "energy"})
    agreement = agreement_by_size(
        deviations(tables["overparam/solve_mct0"], "local_energy", lattice, "energy", ("x",)), ["x"]
    )
    frames, drawn = [csv_rows(agreement)], {}
    figure, axes = panels(2, 7.0, 5.4, rows=2)
    for panel, (axis, (solver, title)) in zip("abc", zip(axes, PANELS.items(), strict=False), strict=True):
        runs = tables[f"overparam/solve_{solver}"]
        # BP is no solver near the threshold: its curves start at the train error it leaves.
        energies = averages(runs, "local_energy", solved_only=solver != "belief_propagation", by=("x",))
        energies = _main_sizes(energies[energies["margin"] == 0.0], solver, tables)
        if solver == "mct0":
            energies = with_theory(energies, lattice, "energy", ("x",))
        drawn[solver] = energies
        for inv_alpha, color in colors_of(sorted(energies["inv_alpha"].unique())).items():
            here = energies[energies["inv_alpha"] == inv_alpha]
            face = color if (here["solved"] >= MOST_SOLVED).all() else "white"
            look = {"color": color, "marker": "o", "markersize": 3, "markerfacecolor": face}
            axis.errorbar(here["x"], here["y"], here["y_err"], label=f"{round(inv_alpha, 1):g}", **look)
            if solver == "mct0":
                axis.plot(here["x"], here["theory"], "_", color=color, markersize=9)
            frames.append(series(here, panel, f"{solver}, 1/α = {inv_alpha:.2f}", x="x"))
        for inv_alpha, line in lines[lines["inv_alpha"] >= 5.0].groupby("inv_alpha"):
            axis.plot(line["x"], line["value"], color="black", linestyle="--", linewidth=0.7, zorder=1)
            name = f"typical, 1/α = {inv_alpha:g}"
            frames.append(curve_rows(panel, name, line["x"], line["value"]))
        axis.plot([], [], color="black", linestyle="--", linewidth=0.7, label="typical")
        axis.set(xlabel="distance $d$", xlim=(-0.001, 0.102), ylabel="train error after flips")
        if solver == "mct0":
            axis.plot([], [], "_", color="black", markersize=9, label="typical, lattice")
            axis.set_ylim(0.0, 0.24)
        else:
            small_rates(axis, 1e-4)
            axis.set_ylim(-1e-5, 40.0)  # room for the legend
        axis.legend(
            title=rf"{title}; $1/\alpha$",
            fontsize=6,
            title_fontsize=7,
            loc="upper left",
            ncols=2 if solver == "mct0" else 3,
        )
    overlaps = _overlaps(axes[3], tables)
    frames += overlaps
    letter(axes)
    p = tables["overparam/solve_sbpi"].attrs["parameters"]
    caption = (
        "Figure 13. Train error after round(dN) random flips of the weights, exact mean over the flips, at κ = 0 and "
        f"α_T = {p['alpha_T']:g}, for solutions of (a) zero-temperature Monte Carlo and (b) SBPI, and for (c) the signs of "
        "belief propagation's magnetizations, which solve only at large 1/α: elsewhere the curve starts at the train error "
        f"they leave. Sizes: {_sizes(drawn)}; hollow: fewer than 90 % of the instances solved. Dashed: typical solutions, "
        "replica theory, at 1/α = 5 and the larger values of figure 12. MCT0 is compared with the theory on the lattice of its "
        f"sums and flips (dashes at the points). (b), (c): linear below 0.0001, logarithmic above. {in_words(agreement, 'local energy')} (d) Mean overlap of two solutions of one "
        f"instance, found by one solver from different seeds; line: typical solutions, replica theory. {_words(overlaps)} Error "
        "bars: standard errors over instances. The text does not say how binary weights were perturbed; sizes and 1/α are chosen here."
    )
    return Drawing(figure, pd.concat(frames).fillna({"y_err": 0.0}), caption)


def _overlaps(axis: Axes, tables: Mapping[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """Overlaps between the solutions of one instance, on the line of the theory."""
    line = typical_line(tables["overparam/typical"], "0.0")
    axis.plot(line["inv_alpha"], line["q"], color="black")
    frames = [curve_rows("d", "typical", line["inv_alpha"], line["q"])]
    largest = tables["overparam/solution_overlaps"]["D"].max()
    for (solver, D), here in tables["overparam/solution_overlaps"].groupby(["solver", "D"]):
        points = here.groupby(["D", "N", "inv_alpha"])
        known = points["overlap"].agg(y="mean", y_err="sem", n="count")
        known["solved"] = points["solved"].sum() / points["runs"].sum()
        known = known.reset_index().assign(margin=0.0)
        known = with_theory(known, tables["overparam/typical_points"], "q").drop(columns="margin")
        # Sizes side by side: the smaller one a little paler and smaller.
        small = largest > D
        look = {"markersize": 3, "alpha": 0.6} if small else {"markersize": 5}
        draw_points(axis, known, ALGORITHMS[solver] | look | {"label": f"{ALGORITHMS[solver]['label']}, $D = {D}$"})
        frames.append(series(known, "d", f"{solver}, D = {D}"))
    one_two_five(axis, (1, 2, 5, 10, 20), (0.85, 36.0), tables["overparam/solution_overlaps"])
    axis.set(ylabel="overlap of two solutions", yscale="log", ylim=(0.01, 1.0))
    axis.legend(fontsize=6, loc="lower left")
    return frames


def _words(overlaps: list[pd.DataFrame]) -> str:
    """The z-scores of the overlaps at the largest size of the solvers that find typical solutions."""
    rows = pd.concat(overlaps).dropna(subset="z")
    rows = rows[~rows["series"].str.startswith("sbpi")]
    found = [
        f"{_named(row.series)}, 1/α = {row.x:.1f}: {row.y:.4f} ± {row.y_err:.4f}, theory {row.theory:.4f}, z = {row.z:.1f}"
        for row in rows.itertuples()
    ]
    return "; ".join(found) + "." if found else "Too few are solved to compare."


def _named(series: str) -> str:
    solver, _, size = series.partition(", ")
    return f"{ALGORITHMS[solver]['label']}, {size}"


def _sizes(drawn: Mapping[str, pd.DataFrame]) -> str:
    """The latent dimensions of the points of the panels."""
    found = []
    for panel, energies in zip("abc", drawn.values(), strict=False):
        at = energies.groupby("D")["inv_alpha"].unique()
        sizes = (
            f"D = {D} at 1/α = {', '.join(f'{round(x, 1):g}' for x in sorted(values))}" for D, values in at.items()
        )
        found.append(f"({panel}) {f'D = {at.index[0]}' if len(at) == 1 else ', '.join(sizes) or 'nothing to draw'}")
    return "; ".join(found)


def _main_sizes(energies: pd.DataFrame, solver: str, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """MCT0: at each 1/α its largest size. The others: the sizes and 1/α that belief propagation was run at."""
    if solver == "mct0":
        largest = energies.groupby(energies["inv_alpha"].round(1))["D"].transform("max")
        return energies[energies["D"] == largest]
    return energies[energies["N"].isin(tables["overparam/solve_belief_propagation"]["N"].unique())]
