"""Figure 7: convolutional networks on CIFAR-10 trained by SGD and by Adam, against their size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, ScalarFormatter

from localentropy.landscape.pairs import pair_mean
from localentropy.plots.algorithms import ALGORITHMS
from localentropy.plots.cnn_tables import below_paper, powers_of_two, training
from localentropy.plots.drawing import GREY, STYLE, Drawing, letter, panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OPEN: dict[str, Any] = {"linestyle": "--", "markerfacecolor": "white"}
SERIES: dict[str, dict[str, Any]] = {
    "test error": {},
    "train error": OPEN,
    "trained": {},
    "untrained": {"color": GREY, "linestyle": ":", "marker": "o", "markersize": 2.5},
    "near threshold": OPEN,
    "far above": {},
}


def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) train and test error, (b) overlap of aligned networks, (c) local energy near the threshold and far above."""
    table = tables["cnn"]
    data = pd.concat([_overlaps(table, "untrained"), _errors(table), _overlaps(table, "trained"), _energies(table)])
    # One line per width in the panel of local energies, one through all widths in the others.
    data["width_drawn"] = data["width"].where(data["panel"] == "c", 0)
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure, axes = panels(3, 7.2, 2.8)
        for (panel, series, optimizer, _), points in data.groupby(
            ["panel", "series", "optimizer", "width_drawn"], sort=False
        ):
            style = ALGORITHMS[str(optimizer)] | SERIES[str(series)]
            axes["abc".index(str(panel))].errorbar(points["x"], points["y"], points["y_err"], points["x_err"], **style)
        for index, (optimizer, width) in enumerate(_thresholds(table).items()):
            for axis in axes[:2]:
                # Dashes of the one fill the gaps of the other where both have the same threshold.
                axis.axvline(width, color=ALGORITHMS[optimizer]["color"], linewidth=0.8, linestyle=(5 * index, (5, 5)))
        for axis in axes[:2]:
            axis.set(xscale="log", xlabel="width $k$", xticks=powers_of_two(data["width"]))
            axis.xaxis.set_major_formatter(ScalarFormatter())
            axis.xaxis.set_minor_formatter(NullFormatter())
        axes[0].set(ylabel="error rate", ylim=(-0.03, 1.0))
        axes[1].set(ylabel="overlap of aligned networks", ylim=(0.0, 1.0))
        axes[2].set(xlabel="distance per unit", ylabel="train error of perturbed networks")
        axes[2].set(xlim=(-0.02, 0.8), ylim=(-0.03, 1.0))
        _legends(axes, data)
        letter(axes)
    return Drawing(figure, data.drop(columns="width_drawn"), _caption(table, scale))


def _legends(axes: Sequence[Axes], data: pd.DataFrame) -> None:
    """Colours stand for optimizers in all panels; what line styles stand for is said in each."""
    black: dict[str, Any] = {"color": "black", "marker": "o"}
    test, train = (Line2D([], [], **(black | SERIES[name])) for name in ("test error", "train error"))
    axes[0].legend([test, train], ["test", "train"], loc="upper right")
    styles = [ALGORITHMS[str(name)] for name in data["optimizer"].dropna().unique()]
    lines = [Line2D([], [], **style) for style in styles]
    grey = Line2D([], [], **SERIES["untrained"])
    axes[1].legend([*lines, grey], [*(style["label"] for style in styles), "both, untrained"], loc="upper right")
    widths = data[data["panel"] == "c"].groupby("series", sort=False)["width"].unique()
    axes[2].legend(
        [Line2D([], [], **(black | SERIES[str(series)])) for series in widths.index],
        [f"k = {', '.join(map(str, dict.fromkeys(values)))}" for values in widths],
        loc="upper left",
    )


def _errors(table: pd.DataFrame) -> pd.DataFrame:
    rows = table[table["quantity"].isin(["train_error", "test_error"])]
    means = rows.groupby(["quantity", "optimizer", "width", "parameters"], sort=False)["value"]
    frame = means.agg(y="mean", y_err="sem", samples="size").reset_index().sort_values(["optimizer", "width"])
    solved = table[table["quantity"] == "solved"].groupby(["optimizer", "width"])["value"].sum().rename("solved")
    frame = frame.merge(solved, on=["optimizer", "width"])
    frame = frame.assign(panel="a", series=frame["quantity"].str.replace("_", " "), x=frame["width"], x_err=0.0)
    return frame.drop(columns="quantity")


def _overlaps(table: pd.DataFrame, series: str) -> pd.DataFrame:
    quantity = {"trained": "overlap", "untrained": "overlap_untrained"}[series]
    rows = table[(table["quantity"] == quantity) & table["layer"].isna()]
    if series == "untrained":  # both optimizers start from the same networks
        rows = rows[rows["optimizer"] == rows["optimizer"].iloc[0]]
    records = []
    for (optimizer, width, parameters), pairs in rows.groupby(["optimizer", "width", "parameters"], sort=False):
        mean, error = pair_mean(pairs["sample"], pairs["other"], pairs["value"])
        samples = pd.concat([pairs["sample"], pairs["other"]]).nunique()
        records.append(("b", series, optimizer, width, parameters, width, 0.0, mean, error, samples))
    columns = ["panel", "series", "optimizer", "width", "parameters", "x", "x_err", "y", "y_err", "samples"]
    return pd.DataFrame(records, columns=columns).sort_values(["optimizer", "x"])


def _energies(table: pd.DataFrame) -> pd.DataFrame:
    """At the threshold and at the largest width with solutions."""
    columns = ["panel", "series", "optimizer", "width", "sigma", "x", "x_err", "y", "y_err", "samples"]
    frames = [pd.DataFrame(columns=columns)]
    for optimizer, threshold in _thresholds(table).items():
        rows = table[table["optimizer"] == optimizer]
        largest = rows["width"].max()
        for width in sorted({threshold, largest}):
            here = rows[rows["width"] == width]
            distance, energy = (
                here[here["quantity"] == quantity].groupby("sigma")["value"].agg(["mean", "sem", "size"])
                for quantity in ("noise_distance", "noise_train_error")
            )
            frames.append(
                pd.DataFrame(
                    {
                        "panel": "c",
                        "series": "far above" if width == largest else "near threshold",
                        "optimizer": optimizer,
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


def _thresholds(table: pd.DataFrame) -> dict[str, int]:
    """Smallest width of each optimizer from which on every network is a solution; left out where there is none."""
    thresholds = {}
    solved = table[table["quantity"] == "solved"]
    for optimizer, rows in solved.groupby("optimizer", sort=False):
        every = rows.groupby("width")["value"].min().sort_index(ascending=False).astype(bool)
        widths = every[every.cumprod().astype(bool)].index
        if len(widths):
            thresholds[str(optimizer)] = int(widths[-1])
    return thresholds


def _caption(table: pd.DataFrame, scale: str) -> str:
    p = table.attrs["parameters"]
    thresholds = [f"k = {width} ({ALGORITHMS[name]['label']})" for name, width in _thresholds(table).items()]
    found = f"Vertical lines: first width from which on all networks are solutions, {' and '.join(thresholds)}. "
    return (
        f"Figure 7. {training(table)} Mean and standard error of {p['samples']} networks per point (overlaps: "
        "jackknife over networks). (a) Train (dashed, open) and test error, in evaluation mode with batch-norm "
        f"statistics of the training set. {found if thresholds else 'No width at which all networks are solutions. '}"
        "(b) Overlap of pairs of trained networks of one training set, batch norm folded into the convolutions, "
        "normalised and aligned; grey: the same for the networks before training. (c) Train error of solutions under "
        "multiplicative noise on the folded, normalised weights, at the threshold (dashed, open) and at the largest "
        f"width. {below_paper(table, scale)}"
    )
