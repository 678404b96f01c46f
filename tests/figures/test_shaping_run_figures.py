"""What the figures of `shaping` on algorithms and their solutions draw and say, from small tables made by hand."""

from __future__ import annotations

import io
import math
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from matplotlib.container import ErrorbarContainer
from scipy.stats import spearmanr

from localentropy.figures.shaping import figure1, figure4, figure5, figure6, s2, s3, s6
from localentropy.figures.shaping.dress_coat import with_curvature
from tests.claims.shaping import run_tables, theory_tables


def tables(*names: str) -> dict[str, pd.DataFrame]:
    return {f"shaping/{name}": getattr(run_tables, name)().copy() for name in names}


def noise() -> pd.DataFrame:
    runs = run_tables.fashion_solutions()
    rows = [
        runs[["algorithm", "sample"]].assign(probability=p, draw=draw, train_error=runs["test_error"] * p + 0.01 * draw)
        for p in (0.0, 0.1, 0.3)
        for draw in (0, 1)
    ]
    return pd.concat(rows, ignore_index=True)


def test_figure4_leaves_out_what_did_not_converge_and_says_so() -> None:
    made = tables("tree_local_entropy")
    table = made["shaping/tree_local_entropy"]
    near = (table["algorithm"] == "lal") & (table["distance"] == 0.005)
    table.loc[near & (table["sample"] > 2), "converged"] = 0.0
    table.loc[(table["algorithm"] == "ce_fast") & (table["distance"] == 0.01) & (table["sample"] == 0), "converged"] = 0
    drawing = figure4.draw(made, "smoke")
    data = drawing.data[drawing.data["panel"] == "a, b"].set_index(["algorithm", "distance"])
    assert ("lal", 0.005) not in data.index and data.loc[("ce_fast", 0.01), "n"] == 9
    expected = table[(table["algorithm"] == "fbp") & (table["distance"] == 0.02)]["entropy"]
    assert data.loc[("fbp", 0.02), "y"] == pytest.approx(expected.mean(), rel=1e-12)
    assert data.loc[("fbp", 0.02), "y_err"] == pytest.approx(expected.std() / np.sqrt(10), rel=1e-12)
    assert "ceSGD-fast, of 10: 1 at D = 0.01; LAL, of 10: 7 at D = 0.005" in drawing.told
    differences = drawing.data[drawing.data["panel"] == "c"]
    gaps = differences[differences["series"] == "ceSGD-fast − LAL"].set_index("distance")
    assert gaps.loc[0.005, "n"] == 3 and gaps.loc[0.01, "y"] > 0 > gaps.loc[0.3, "y"]


def test_figure5_bins_hold_all_eigenvalues_and_the_largest_are_marked() -> None:
    made = tables("tree_spectra")
    drawing = figure5.draw(made, "smoke")
    table = made["shaping/tree_spectra"]
    histogram = drawing.data[drawing.data["left"].notna()]
    shares = histogram.groupby(["panel", "series"])["y"].sum()
    assert len(shares) == 10
    np.testing.assert_allclose(shares, 1.0, rtol=1e-12)
    counts, _ = np.histogram(
        table[(table["quantity"] == "eigenvalue") & (table["rule"] == "all") & (table["algorithm"] == "lal")]["value"],
        [-1e9, 0.0, 1e9],
    )
    own = histogram[(histogram["panel"] == "a") & (histogram["series"] == "lal")]
    assert own["x"].is_monotonic_increasing
    assert own.loc[own["right"] <= 0, "y"].sum() <= counts[0] / counts.sum() <= own.loc[own["left"] < 0, "y"].sum()
    tops = drawing.data[drawing.data["x_err"].notna()].set_index(["panel", "series"])["x"]
    wanted = table[(table["quantity"] == "largest_eigenvalue") & (table["rule"] == "all")]
    assert tops["a", "elal, largest"] == pytest.approx(wanted[wanted["algorithm"] == "elal"]["value"].mean())
    for axis in drawing.figure.axes:
        # They have no fraction, so they stand above the line at 1.
        one = axis.transAxes.inverted().transform(axis.transData.transform((0.0, 1.0)))[1]
        marks = [mark.lines[0] for mark in axis.containers if isinstance(mark, ErrorbarContainer)]
        heights = [float(np.asarray(mark.get_ydata())[0]) for mark in marks if mark is not None]
        assert len(heights) == 5 and one < min(heights) and max(heights) < 1.0
        assert axis.get_xlim()[1] > tops.loc["a" if axis is drawing.figure.axes[0] else "b"].max()
    assert "(a): β = 25, the smallest of a grid at which the solutions of all algorithms stay valid" in drawing.told


def test_figure6_has_a_point_for_each_solved_run() -> None:
    made = tables("fashion_local_entropy", "fashion_solutions", "fashion_spectra")
    runs = made["shaping/fashion_solutions"]
    runs.loc[(runs["algorithm"] == "elal") & (runs["sample"] == 0), "solved"] = 0.0
    drawing = figure6.draw(made, "smoke")
    points = drawing.data[drawing.data["panel"] == "b"]
    assert points.groupby("series").size().to_dict() == {"ce_fast": 8, "ce_slow": 8, "elal": 7, "lal": 8}
    one = points[(points["algorithm"] == "lal") & (points["sample"] == 4)]
    assert one["x"].tolist() == [pytest.approx(16500.0)] and one["y"].tolist() == [pytest.approx(0.16)]
    rank = spearmanr(points["x"], points["y"]).statistic
    assert f"at β = 90, the paper's. Spearman's rank correlation: {rank:.2f}" in drawing.told
    assert "at β = 120, the smallest of a grid at which all our solutions stay valid" in drawing.told
    assert "(31 runs)" in drawing.told and "eLAL 7 of 8" in drawing.told
    assert drawing.figure.axes[1].get_xscale() == "log"


@pytest.mark.parametrize(("rule", "beta", "largest"), [("paper", 90.0, 16500.0), ("all", 120.0, 33000.0)])
def test_curvature_is_that_of_the_rule(rule: str, beta: float, largest: float) -> None:
    rates = pd.Series([0.5], pd.MultiIndex.from_tuples([("lal", 1)], names=["algorithm", "sample"]))
    found = with_curvature(rates, run_tables.fashion_spectra(), rule)
    assert found[["algorithm", "sample", "beta", "rate"]].to_dict("records") == [
        {"algorithm": "lal", "sample": 1, "beta": beta, "rate": 0.5}
    ]
    assert found["largest_eigenvalue"].tolist() == [pytest.approx(largest)]


def test_figure_s2_shows_both_sets_and_the_noise_nearest_to_its_own() -> None:
    made = tables("fashion_local_entropy", "shuffled_local_entropy")
    solutions = run_tables.fashion_solutions()
    solutions.loc[(solutions["algorithm"] == "elal") & (solutions["sample"] < 2), ["solved", "train_error"]] = 0.0, 0.07
    made |= {"shaping/shuffled_solutions": solutions, "shaping/shuffled_noise": noise()}
    made["shaping/shuffled_spectra"] = run_tables.fashion_spectra()
    drawing = s2.draw(made, "smoke")
    points = drawing.data[drawing.data["panel"] == "b"]
    assert points.loc[(points["algorithm"] == "lal") & (points["sample"] == 0), "y"].tolist() == [pytest.approx(0.021)]
    assert "Train errors of unsolved runs: eLAL: 2 runs, 0.07." in drawing.told
    assert "probability 0.1" in drawing.told
    entropies = drawing.data[drawing.data["panel"] == "a"]
    assert entropies["series"].nunique() == 8 and entropies["series"].str.endswith(", figure 6").sum() == 32
    assert drawing.figure.axes[0].get_ylim()[0] < entropies["y"].min()


def test_figure_s3_averages_draws_before_runs() -> None:
    made = {"shaping/fashion_noise": noise(), "shaping/shuffled_noise": noise().assign(train_error=0.25)}
    drawing = s3.draw(made, "smoke")
    points = drawing.data.set_index(["panel", "algorithm", "probability"])
    errors = run_tables.fashion_solutions().groupby("algorithm")["test_error"]
    assert points.loc[("a", "elal", 0.3), "y"] == pytest.approx(errors.mean()["elal"] * 0.3 + 0.005)
    assert points.loc[("a", "elal", 0.3), "y_err"] == pytest.approx(errors.sem()["elal"] * 0.3)
    assert (points.loc["b", "y"] == 0.25).all() and "LAL 8" in drawing.told


def test_figure_s6_has_theory_fractions_and_levels_of_the_same_training_sets() -> None:
    names = ("belief_volume", "typical_volume", "capacities", "replica_numbers_local_entropy", "tree_local_entropy")
    made = tables(*names)
    made["shaping/capacities"] = made["shaping/capacities"].assign(N=999)
    solvers = {"fbp": {"steps": 30}, "lal": {"epochs": 500}, "ce_fast": {"epochs": 3000}}
    made["shaping/capacities"].attrs["parameters"] = {"algorithms": solvers}
    made["shaping/slow_capacities"] = run_tables.slow_capacities().query("sample < 5")
    replicas = made["shaping/replica_numbers_local_entropy"]
    made["shaping/replica_numbers_local_entropy"] = replicas[replicas["sample"] < 4]
    around = made["shaping/tree_local_entropy"]
    around.loc[(around["algorithm"] == "ce_slow") & (around["sample"] == 2), "solved"] = 0.0
    drawing = s6.draw(made, "smoke")
    data = drawing.data
    assert "6 training sets at each α (ceSGD-slow 5), at most 500 or 3000 or 5000 epochs" in drawing.told
    assert set(data["panel"]) == {"a", "b", "c", "d", "a, b"}
    above = data[(data["panel"] == "b") & data["x"].between(1.8, 2.0)]
    assert above["y"].tolist() == [1 / 8] and above["y_err"].tolist() == [pytest.approx(0.4 / math.sqrt(10))]
    solved = data[(data["panel"] == "c") & (data["series"] == "lal")]
    assert solved["y"].iloc[[0, -1]].tolist() == [1.0, 0.0] and (solved["y_err"] > 0).all()
    assert data[(data["panel"] == "a") & (data["series"] == "BP") & (data["x"] > 1.8)]["n"].tolist() == [1]
    own = data[(data["panel"] == "d") & (data["series"] == "elal")]
    assert own["x"].tolist() == [10, 20, 100] and (own["n"] == 4).all()
    tree = made["shaping/tree_local_entropy"]
    level = tree[(tree["algorithm"] == "fbp") & (tree["distance"] == 0.01) & (tree["sample"] < 4)]["entropy"].mean()
    assert data[(data["panel"] == "d") & (data["series"] == "fbp")]["y"].tolist() == [pytest.approx(level)]
    assert "dashed: fBP (4) and ceSGD-slow (3) on those of the same training sets that they solve" in drawing.told
    assert data[data["series"] == "clustering"]["x"].tolist() == [1.76]


FIGURES = (figure1, figure4, figure5, figure6, s2, s3, s6)


def every_table() -> dict[str, pd.DataFrame]:
    """What the figures of runs draw."""
    names = ("tree_local_entropy", "tree_spectra", "replica_numbers_local_entropy", "belief_volume", "typical_volume")
    images = ("fashion_local_entropy", "fashion_solutions", "fashion_spectra", "shuffled_local_entropy")
    made = tables(*names, *images)
    around = made["shaping/tree_local_entropy"]
    capacities = run_tables.capacities().assign(N=999)
    capacities.attrs["parameters"] = {"algorithms": {"lal": {"epochs": 500}}}
    return made | {
        "shaping/capacities": capacities,
        "shaping/slow_capacities": run_tables.slow_capacities(),
        "shaping/fashion_noise": noise(),
        "shaping/shuffled_noise": noise(),
        "shaping/shuffled_solutions": run_tables.fashion_solutions(),
        "shaping/shuffled_spectra": run_tables.fashion_spectra(),
        "shaping/units3_local_entropy": around[around["algorithm"] == "fbp"].assign(alpha=1.5),
        "shaping/wide_minima": theory_tables.wide_minima().assign(machine="committee", residual=0.0),
    }


def without(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """The table if no run is solved, no messages converge, no algorithm has a known name, or there is no second run."""
    left = table
    if what == "solved" and "algorithm" in table and "solved" not in table:
        left = table.iloc[:0]
    elif what == "solved" and "solved" in table:
        left = left.assign(solved=0.0)
    if what in ("solved", "converged") and "converged" in table:
        left = left.assign(converged=0.0, entropy=np.nan)
    if what == "known" and "algorithm" in table:
        left = left.assign(algorithm="own_" + left["algorithm"])
    if what == "second" and "sample" in table:
        left = left[left["sample"] == 0]
    left.attrs = table.attrs
    return left


def caption(figure: ModuleType, made: dict[str, pd.DataFrame]) -> str:
    """Of the figure, which can be saved too."""
    drawing = figure.draw(made, "smoke")
    assert {"panel", "series", "x", "y", "y_err"} <= set(drawing.data)
    drawing.figure.savefig(io.BytesIO(), format="png", dpi=50)
    return str(drawing.told)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__.rpartition(".")[2])
@pytest.mark.parametrize(
    ("what", "empty"),
    [
        ("solved", {figure4: "abc", figure5: "ab", figure6: "ab", s2: "ab", s3: "ab", s6: "d"}),
        ("converged", {figure4: "abc", figure6: "a", s2: "a", s6: "d"}),
        ("known", {figure4: "abc", figure5: "ab", figure6: "ab", s2: "ab", s3: "ab", s6: "cd"}),
        ("second", {figure4: "c"}),
        ("nothing", {}),
    ],
)
def test_figures_draw_what_is_left_and_say_which_panels_are_empty(
    figure: ModuleType, what: str, empty: dict[ModuleType, str]
) -> None:
    told = caption(figure, {name: without(table, what) for name, table in every_table().items()})
    panels = ", ".join(f"({panel})" for panel in empty.get(figure, ""))
    assert told.endswith(f" Nothing to draw: in {panels}.") == bool(panels)
    assert ("Nothing to draw" in told) == bool(panels)
    assert not [slip for slip in ("nan", ": .", ": ;", "  ", "{") if slip in told]


def test_captions_without_solutions_do_not_speak_of_them() -> None:
    made = {name: without(table, "solved") for name, table in every_table().items()}
    assert "There are no points" in caption(figure1, made) and "Points:" not in caption(figure1, made)
    assert "No algorithm has a solution." in caption(figure4, made) and "converged" not in caption(figure4, made)
    assert "(b): no eigenvalues at a β at which the solutions of all algorithms but LAL" in caption(figure5, made)
    assert "rank correlation: too few runs" in caption(figure6, made)
    assert "Mean test errors: none." in caption(figure6, made)
    assert "over solved runs: (a) none; (b) none." in caption(s3, made)
    assert "means over training sets (none). Chosen here" in caption(s6, made)


def test_figure5_draws_the_one_sharpness_that_there_is() -> None:
    made = every_table()
    spectra = made["shaping/tree_spectra"]
    drawing = figure5.draw(made | {"shaping/tree_spectra": spectra[spectra["rule"] == "without_lal"]}, "smoke")
    assert drawing.told.endswith("Nothing to draw: in (a).") and "(b): β = 2, the smallest" in drawing.told
    assert set(drawing.data["panel"]) == {"b"} and len(drawing.figure.legends[0].texts) == 6


def test_figures_where_no_beta_of_the_grid_is_valid_at_all_solutions() -> None:
    made = every_table()
    for name in ("shaping/tree_spectra", "shaping/fashion_spectra"):
        spectra = made[name][made[name]["rule"] != "all"]
        invalid = made[name].query("rule == 'all' and quantity == 'largest_eigenvalue'")
        made[name] = pd.concat([spectra, invalid.assign(quantity="smallest_beta", beta=math.nan, value=math.nan)])
    drawing = figure5.draw(made, "smoke")
    assert "(a): no eigenvalues at a β at which the solutions of all algorithms stay valid." in drawing.told
    assert set(drawing.data["panel"]) == {"b"}
    told = caption(figure6, made)
    assert "at β = 90, the paper's" in told and "stay valid, too few runs" in told


def test_figures_without_the_theory_of_their_units_leave_it_out() -> None:
    made = every_table()
    volume = made["shaping/typical_volume"]
    made["shaping/typical_volume"] = volume[volume["units"] == math.inf]
    assert "replicon" not in caption(figure1, made) and "by replica theory" not in caption(s6, made)
    assert "and by replica theory (line); typical solutions fall into clusters" in caption(s6, every_table())


@pytest.mark.parametrize(("rate", "told"), [(0.2, "correlation: not defined"), (None, "correlation: 0.75")])
def test_rates_that_are_all_the_same_have_no_correlation(rate: float | None, told: str) -> None:
    made = every_table()
    runs = made["shaping/fashion_solutions"]
    if rate is not None:
        made["shaping/fashion_solutions"] = runs.assign(test_error=rate)
    assert told in caption(figure6, made)
