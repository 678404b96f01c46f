"""What the figures of margins draw and say, from small tables made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localentropy.errors import DomainError
from localentropy.figures.margins import (
    figure2,
    figure3,
    figure4,
    figure5,
    figure6,
    figure7,
    figure8,
    figures1,
    figures2,
)
from tests.claims.margins import tables as margins_tables

SIGN = {"model": "tree_committee", "activation": "sign"}


def curves(ensemble: dict[str, str]) -> pd.DataFrame:
    x = np.geomspace(1e-4, 0.3, 20)
    rows = []
    for family, alpha, low in (("max_margin", 0.7, 0.5), ("threshold", 0.729033, 0.0), ("max_margin", 0.75, -5.0)):
        common = {"curve": family, "alpha": alpha, "margin_ref": 0.1, "distance": x, "distance_typical": 0.2}
        rows.append(pd.DataFrame(common | {"entropy": 0.1, "slope": np.where(x < 0.01, low, 1.0)}))
    table = pd.concat(rows, ignore_index=True)
    table.attrs["parameters"] = {"ensemble": ensemble, "margin": 0.0}
    return table


@pytest.mark.parametrize(
    ("module", "name", "ensemble", "words"),
    [
        (figure4, "franz_parisi", {"model": "perceptron"}, ["Figure 4.", "binary perceptron"]),
        (figure6, "relu_curves", SIGN | {"activation": "relu"}, ["Figure 6.", "committee of ReLU units, K → ∞"]),
        (figure7, "sign_curves", SIGN, ["Figure 7.", "committee of sign units, K → ∞"]),
    ],
)
def test_figures_4_6_and_7_tell_their_model_and_threshold(module, name, ensemble, words) -> None:
    tables = {f"margins/{name}": curves(ensemble), "margins/large_deviations": margins_tables.large_deviations()}
    drawing = module.draw(tables, "smoke")
    unit = "" if module is figure4 else " standard deviations of the output"
    for part in [*words, "α'_LE = 0.729033", f"κ_max = 0.100000{unit}.", "down to -5.0 at α = 0.75)"]:
        assert part in drawing.told
    colors = {line.get_label(): line.get_color() for line in drawing.figure.axes[0].lines}
    assert colors["0.729"] == "black" and "black" not in (colors["0.7"], colors["0.75"])
    # Nothing is drawn beyond the typical distance.
    best = drawing.data["series"].str.contains("bound of any reference")
    assert drawing.data.loc[~best, "x"].max() <= 0.2 and set(drawing.data["panel"]) == {"a", "b"}
    assert ("at α_U = 0.755000, above" in drawing.told) == best.any() == (module is figure4)


def test_figures_2_and_5_mark_where_the_lines_end() -> None:
    tables = {
        "margins/typical": margins_tables.typical(),
        "margins/largest_margin": margins_tables.largest_margin(),
    }
    distances = figure2.draw(tables, "smoke").data
    assert distances.groupby("alpha")["x"].max().to_dict() == {0.2: 1.33, 0.5: 0.418, 0.8: 0.03}
    assert distances["y"].iloc[0] == pytest.approx(0.35)
    drawing = figure5.draw(tables, "smoke")
    assert "α_c = 0.8331" in drawing.told
    assert set(drawing.data["panel"]) == {"a", "b"}


def test_figure_s2_has_a_panel_for_each_model_with_lines_and_the_thresholds_of_all() -> None:
    table = margins_tables.dense_regions()
    models = table.attrs["parameters"]["ensembles"]
    table = table[table["end"] | (table["ensemble"] != "sign")]
    table.attrs["parameters"] = {"ensembles": models, "lines": ["perceptron", "relu"], "smallest_alpha": 0.5}
    drawing = figures2.draw(
        {"margins/dense_regions": table, "margins/large_deviations": margins_tables.large_deviations()}, "smoke"
    )
    assert len(drawing.figure.axes) == 2
    thresholds = drawing.data[drawing.data["panel"] == "thresholds"]
    assert thresholds.loc[thresholds["series"] == "α'_LE", "y"].tolist() == [0.729, 0.7725, 0.5578, 1.0466]
    assert thresholds.loc[thresholds["series"] == "d", "y"].tolist() == [0.005] * 4
    for part in ("sign: α_c = 0.9470000, α'_LE = 0.5578000, α_min = 0.5731000", "tangent at d = 0.0050"):
        assert part in drawing.told
    # α_U is marked where it is known, and only there.
    assert (
        "α_U = 0.7550000, tangent at d = 0.0200" in drawing.settings["ends of lines, perceptron"]
        and drawing.told.count("α_U = ") == 2
    )
    marks = drawing.data[drawing.data["series"].str.endswith(", α_U")]
    assert marks[["panel", "series", "x"]].to_numpy().tolist() == [["a", "perceptron, α_U", 0.755]]


def test_figure3_draws_means_over_solutions_and_tells_what_is_missing() -> None:
    theory = margins_tables.franz_parisi()
    parameters = theory.attrs["parameters"]
    theory = theory.assign(margin=0.0, residual=0.0, entropy_typical=0.31)
    theory.attrs["parameters"] = parameters
    runs = margins_tables.local_entropy(samples=7)
    runs.loc[runs["sample"] == 0, ["solved", "entropy"]] = 0.0, 9.0
    runs.loc[(runs["sample"] == 1) & (runs["distance"] == 0.02), ["converged", "entropy"]] = 0.0, np.nan
    runs.attrs["parameters"] = {"replicas": 20.0, "steps": 30, "damping": 0.5}
    # Curves at another load belong to other figures.
    theory = pd.concat([theory, theory[theory["curve"] == "reference"].assign(alpha=0.4, entropy=9.0)])
    tables = {"margins/franz_parisi": theory, "margins/local_entropy": runs}
    drawing = figure3.draw(tables | {"margins/large_deviations": margins_tables.large_deviations()}, "smoke")
    assert drawing.data["y"].max() < 1.0
    points = drawing.data[drawing.data["series"] == "focusing BP"].set_index("distance")
    excess = drawing.data[drawing.data["series"] == "focusing BP - curve of the largest margin"]
    assert points["n"].to_dict() == {distance: 5 if distance == 0.02 else 6 for distance in points.index}
    assert points["y"].max() < 0.4 and (excess["y"].abs() < 0.02).all() and set(excess["panel"]) == {"c"}
    best = drawing.data[drawing.data["series"].str.startswith("bound of any reference")]
    last = best["x"].iloc[-1]
    widest = theory[(theory["curve"] == "reference") & (theory["reference"] == "max") & (theory["alpha"] == 0.5)]
    of_best = np.interp(last, [0.02, 0.3], [0.14, 0.34])  # as the table's
    expected = of_best - np.interp(last, widest["distance"], widest["entropy"])
    assert set(best["panel"]) == {"c"} and best["y"].iloc[-1] == pytest.approx(expected, rel=2e-2)
    existing = drawing.data[drawing.data["series"] == "best references - curve of the largest margin"]
    assert existing["y"].to_numpy() == pytest.approx(best["y"].to_numpy() - 0.001)
    assert 0.2 < best["x"].max() <= 0.3  # not where the best references are around typical solutions
    for part in ("6 solved instances of 7 (fewer than the paper's 10), N = 1001", "Not converged: 1 of 77 entropies."):
        assert part in drawing.told
    assert "α = 0.5" in drawing.told and "(κ̃ = 0)" in drawing.told
    assert "y = ∞; drawn up to d = 0.260: from the next distance on, d = 0.323, it is the entropy of" in drawing.told


def test_figure3_refuses_local_entropies_without_their_curve() -> None:
    theory, runs = margins_tables.franz_parisi(), margins_tables.local_entropy()
    tables = {"margins/large_deviations": margins_tables.large_deviations()}
    without = theory[theory["reference"] != "max"]
    for table, measured in ((theory, runs.assign(alpha=0.4)), (theory, runs.assign(margin=0.1)), (without, runs)):
        with pytest.raises(
            DomainError, match=r"^the local entropies at alpha = 0\.[45].*, margin = 0.* need a curve of"
        ):
            figure3.draw(tables | {"margins/franz_parisi": table, "margins/local_entropy": measured}, "smoke")


def test_figure8_marks_the_threshold_of_each_dataset_and_draws_the_energies_there() -> None:
    names = ("mnist", "fashion_mnist", "cifar10")
    tables = {f"margins/binary_mlp_{name}": getattr(margins_tables, f"binary_mlp_{name}")() for name in names}
    for table in tables.values():
        table["parameters"] = 1000
        table.attrs["parameters"] = {
            **{"hidden_layers": 2, "width": 33, "patterns": [500, 1000], "samples": 6, "epochs": 400, "flip_draws": 4},
            **{"spread": 0.3, "logit_scale": 4.0, "learning_rate": 1.0, "batch": 20, "labels": "classes"},
        }
    tables["margins/binary_mlp_mnist"].attrs["parameters"] |= {"labels": "parity", "epochs": 200}
    # All of CIFAR-10 is too much.
    hard = tables["margins/binary_mlp_cifar10"]
    hard.loc[hard["quantity"] == "train_error", "value"] = 0.1
    drawing = figure8.draw(tables, "smoke")
    marks = drawing.data[drawing.data["series"] == "threshold"].set_index("panel")["x"].to_dict()
    assert marks == {"a": 1000.0, "b": 300.0, "d": 1000.0, "e": 300.0}
    energies = drawing.data[drawing.data["series"] == "local energy"]
    assert (
        energies.groupby("dataset").size().to_dict() == {"mnist": 5, "fashion_mnist": 5} and (energies["x"] > 0.0).all()
    )
    control = drawing.data[drawing.data["series"] == "control"]
    assert control.groupby("dataset").size().to_dict() == {"mnist": 5, "fashion_mnist": 5}
    fewer = drawing.data[drawing.data["series"] == "local energy, smaller P"]
    assert set(fewer["panel"]) == {"data"} and fewer.groupby("dataset")["patterns"].unique().to_dict() == {
        "mnist": [500], "fashion_mnist": [150]
    }  # fmt: skip
    # What lies below the end of the chord is drawn on linear axes, too.
    assert set(energies.loc[energies["x"] <= 0.1, "panel"]) == {"g, j", "h, k"}
    assert set(energies.loc[energies["x"] > 0.1, "panel"]) | set(control["panel"]) == {"g", "h"}
    for _, chord in drawing.data[drawing.data["series"] == "chord"].groupby("dataset"):
        assert (chord["y"] / chord["x"]).round(12).nunique() == 1 and chord["x"].max() == 0.1
    overlaps = drawing.data[drawing.data["series"] == "overlap"]
    assert overlaps.groupby("dataset").size().to_dict() == dict.fromkeys(names, 4) and (overlaps["y_err"] > 0).all()
    for words in (
        "MNIST, parity: 2 hidden layers of 33 units (1000 weights); Fashion-MNIST: 2", "below the paper's size",
        "mean and standard error of 6 networks", "at most 200, 400, 400 epochs",
    ):  # fmt: skip
        assert words in drawing.told
    for table in tables.values():
        table.loc[table["quantity"] == "train_error", "value"] = 0.1
    nothing_solved = figure8.draw(tables, "smoke")
    assert set(nothing_solved.data["panel"]) == set("abcdef")


def test_figure_s1_draws_the_search_the_four_transitions_and_the_planted_model() -> None:
    names = ["one_step", "franz_parisi", "franz_parisi_text", "dense_regions", "large_deviations", "planted"]
    names += ["franz_parisi_margin", "storage_focusing_bp", "storage_sbpi"]
    tables = {f"margins/{name}": getattr(margins_tables, name)() for name in names}
    counted = tables["margins/franz_parisi_margin"]
    tables["margins/franz_parisi_margin"] = counted.assign(residual=1e-9, entropy_typical=0.31)
    drawing = figures1.draw(tables, "smoke")
    data = drawing.data
    assert set(data["panel"]) == {*"abcdefi", "g, h"}
    shares = data[(data["panel"] == "i") & data["series"].str.startswith("share")]
    assert shares.groupby("series").size().to_dict() == {"share stored, SBPI": 14, "share stored, fBP": 14}
    for part in (
        "solutions of margin κ = 0.1, α = 0.5",
        "fBP: 10 runs at N = 201, 10 runs at N = 1001; SBPI: 10 runs",
        "fBP: at most 20 updates a step (figure 3: until convergence), 30 steps, y = 20; SBPI: θ = 1, reinforcement",
        "is 0.3",
        "α'_LE = 0.729000 and α_min = 0.748000",
        "α'_LE = 1.046600; by large deviations α_U = 1.086000",
        "by large deviations α_U = 0.755000, above which",
        "somewhere, and at zero external entropy 0.766500. (e)",
    ):
        assert part in drawing.told
    told = "at α = 0.8 students split in blocks of m = 0.1 for d from 0.0045 to 0.077; the entropy is negative there; "
    assert f"{told}q₁ − q₀ is zero on all other curves of (a)." in drawing.told
    splits = data[data["panel"] == "b"]
    assert splits.loc[splits["series"] == "splitting, m 0.1", "y"].max() > 0
    assert (splits.loc[splits["series"] != "splitting, m 0.1", "y"] == 0).all()
    assert set(data.loc[data["series"].str.startswith("κ = κ̃"), "series"]) == {
        "κ = κ̃ = 0.2", "κ = κ̃ = 0.21", "κ = κ̃ = 0.38"
    }  # fmt: skip
    colors = {line.get_label(): line.get_color() for line in drawing.figure.axes[4].lines}
    assert colors["1.047"] == "black"
    # A distance between those of a split without one: each is told.
    searched = tables["margins/one_step"]
    alike = (searched["blocks"] == "0.1") & (searched["curve"] == "unstable") & searched["distance"].between(0.01, 0.02)
    searched.loc[alike, "q0"] = searched["q1"]
    assert "in blocks of m = 0.1 at d = 0.0045, 0.03 and 0.077; the" in figures1.draw(tables, "smoke").told
    tables["margins/one_step"].loc[0, "q0"] -= 0.1
    assert "not zero at 1 points of other curves of (a)" in figures1.draw(tables, "smoke").told
