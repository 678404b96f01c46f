"""Figure 6: multi-layer perceptrons on the parity of MNIST digits, against the number of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from localentropy.landscape.pairs import pair_mean
from localentropy.plots.drawing import COLORS, GREY, STYLE, Drawing, letter, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = {"random_orthogonal": "random orthogonal", "adversarial": "adversarial"}
STYLES: dict[str, dict[str, Any]] = {
    "random_orthogonal": {"color": COLORS[0], "marker": "o"},
    "adversarial": {"color": COLORS[3], "marker": "s"},
}
OPEN = {"linestyle": "--", "markerfacecolor": "white"}
SERIES: dict[str, dict[str, Any]] = {
    "test error": {},
    "train error": OPEN,
    "solutions": {},
    "untrained": {"color": GREY, "linestyle": ":", "markersize": 2.5},
    "near threshold": OPEN,
    "far above": {},
}


def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train and test error, (b) overlap of aligned solutions, (c) local energy near the threshold and far above."""
    table = tables["mlp"]
    data = pd.concat(
        [_overlaps(table, "untrained"), _errors(table), _overlaps(table, "solutions"), _local_energies(table)]
    )
    # One line per width in the panel of local energies, one through all widths in the others.
    data["width_drawn"] = data["width"].where(data["panel"] == "c", 0)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axes = panels(3, 7.2, 2.8)
        for (panel, series, initialization, _), points in data.groupby(
            ["panel", "series", "initialization", "width_drawn"], sort=False
        ):
            style = STYLES[str(initialization)] | SERIES[str(series)]
            axes["abc".index(str(panel))].errorbar(points["x"], points["y"], points["y_err"], points["x_err"], **style)
        for initialization, threshold in _thresholds(table).items():
            axes[0].axvline(threshold, color=STYLES[initialization]["color"], linewidth=0.8, alpha=0.5)
        for axis in axes[:2]:
            axis.set(xscale="log", xlabel="number of parameters")
            axis.xaxis.set_minor_formatter(NullFormatter())
        axes[0].set(ylabel="error rate")
        axes[0].set_ylim(-0.004, data.loc[data["panel"] == "a", "y"].max() * 1.3)
        axes[1].set(ylabel="overlap of aligned networks", ylim=(0.0, 1.0))
        axes[2].set(xlabel="distance per unit", ylabel="train error of perturbed networks")
        axes[2].set(xlim=(-0.01, 0.5), ylim=(-0.008, 0.4))
        _legends(axes, data)
        letter(axes)
    return Drawing(figure, data.drop(columns="width_drawn"), _caption(table, scale))


def _legends(axes: Sequence[Axes], data: pd.DataFrame) -> None:
    """Colours stand for initializations in all panels; what line styles stand for is said in each."""
    black: dict[str, Any] = {"color": "black", "marker": "o"}
    test, train = (Line2D([], [], **(black | SERIES[name])) for name in ("test error", "train error"))
    axes[0].legend([test, train], ["test", "train"], loc="upper right")
    lines = [Line2D([], [], **STYLES[name]) for name in LABELS]
    grey = Line2D([], [], **(black | SERIES["untrained"]))
    axes[1].legend([*lines, grey], [*LABELS.values(), "the same, untrained"], loc="upper right")
    widths = data[data["panel"] == "c"].groupby("series", sort=False)["width"].unique()
    axes[2].legend(
        [Line2D([], [], **(black | SERIES[str(series)])) for series in widths.index],
        [f"width {', '.join(map(str, dict.fromkeys(values)))}" for values in widths],
        loc="upper left",
    )


def _errors(table: pd.DataFrame) -> pd.DataFrame:
    rows = table[table["quantity"].isin(["train_error", "test_error"])]
    means = rows.groupby(["quantity", "initialization", "width", "parameters"], sort=False)["value"]
    frame = means.agg(y="mean", y_err="sem", samples="size").reset_index()
    frame = frame.rename(columns={"parameters": "x"}).sort_values(["initialization", "quantity", "x"])
    frame = frame.assign(panel="a", series=frame["quantity"].str.replace("_", " "), x_err=0.0)
    return frame.drop(columns="quantity")


def _overlaps(table: pd.DataFrame, series: str) -> pd.DataFrame:
    quantity = {"solutions": "overlap", "untrained": "overlap_untrained"}[series]
    rows = table[(table["quantity"] == quantity) & table["layer"].isna()]
    records = []
    for (initialization, width, parameters), pairs in rows.groupby(
        ["initialization", "width", "parameters"], sort=False
    ):
        mean, error = pair_mean(pairs["sample"], pairs["other"], pairs["value"])
        samples = pd.concat([pairs["sample"], pairs["other"]]).nunique()
        records.append(("b", series, initialization, width, parameters, 0.0, mean, error, samples))
    columns = ["panel", "series", "initialization", "width", "x", "x_err", "y", "y_err", "samples"]
    return pd.DataFrame(records, columns=columns).sort_values(["initialization", "x"])


def _local_energies(table: pd.DataFrame) -> pd.DataFrame:
    """At the first width where every network is a solution, and at the largest."""
    frames = []
    for initialization, rows in table.groupby("initialization", sort=False):
        widths = sorted({_first_solved(rows), rows["width"].max()})
        for width in widths:
            here = rows[rows["width"] == width]
            distance, energy = (
                here[here["quantity"] == quantity].groupby("sigma")["value"].agg(["mean", "sem", "size"])
                for quantity in ("noise_distance", "noise_train_error")
            )
            frames.append(
                pd.DataFrame(
                    {
                        "panel": "c",
                        "series": "far above" if width == widths[-1] else "near threshold",
                        "initialization": initialization,
                        "width": width,
                        "sigma": distance.index,
                        "x": distance["mean"],
                        "x_err": distance["sem"],
                        "y": energy["mean"],
                        "y_err": energy["sem"],
                        "samples": energy["size"],
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)


def _first_solved(rows: pd.DataFrame) -> int:
    """Smallest width from which on no network has a train error; the largest where there is none."""
    errors = rows[rows["quantity"] == "train_error"].groupby("width")["value"].max().sort_index(ascending=False)
    solved = errors[(errors == 0).cumprod().astype(bool)]
    return int(solved.index[-1]) if len(solved) else int(errors.index[0])


def _thresholds(table: pd.DataFrame) -> dict[str, int]:
    """Number of parameters at the first width where every network is a solution."""
    thresholds = {}
    for initialization, rows in table.groupby("initialization", sort=False):
        solved = rows[rows["width"] == _first_solved(rows)]
        if (solved.loc[solved["quantity"] == "train_error", "value"] == 0).all():
            thresholds[str(initialization)] = int(solved["parameters"].iloc[0])
    return thresholds


def _caption(table: pd.DataFrame, scale: str) -> str:
    p = table.attrs["parameters"]
    thresholds = [f"{count} ({LABELS[name]})" for name, count in _thresholds(table).items()]
    found = f"Vertical lines: first size at which all networks have none, {' and '.join(thresholds)}. "
    random_labels = table[table["quantity"] == "random_label_error"]
    largest = random_labels[random_labels["width"] == random_labels["width"].max()]["value"].mean()
    return (
        f"Figure 6. Perceptrons with {p['hidden_layers']} hidden ReLU layers on the parity of MNIST digits (10 "
        f"principal components): {p['training_patterns']} training patterns, all 10 000 test patterns, square-hinge "
        f"loss of margin {p['margin']:g}, full-batch Adam, learning rate {p['learning_rate']:g}, at most "
        f"{p['epochs']} epochs; mean and standard error of {p['samples']} networks per point (overlaps: jackknife over "
        "networks). (a) Train (dashed, open) and test error. "
        f"{found if thresholds else 'No size at which all have none. '}"
        "(b) Overlap of pairs of solutions of one training set, normalised and aligned; grey: the same for the "
        "networks before training. (c) Train error under multiplicative noise on the weights, at the first size "
        "without train errors (dashed, open) and at the largest. Adversarial: first trained on random labels for "
        f"{p['random_label_epochs']} epochs (error on them {largest:.2f} at the largest size). The text lost depth, "
        "widths, margin, learning rate, epochs and the size of its reduced training set: these are chosen here. "
        + _below_paper(scale)
    )


def _below_paper(scale: str) -> str:
    return "" if scale == "paper" else f"Scale {scale}: below the paper's size (fewer patterns, epochs and samples)."
