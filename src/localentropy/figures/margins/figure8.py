"""Figure 8: binary multilayer perceptrons on three sets of images, against the number of patterns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

from localentropy.analysis.flatness import CHORD_TO
from localentropy.analysis.statistics import pair_mean
from localentropy.analysis.thresholds import last_without_errors
from localentropy.figures.drawing import COLORS, GREY, Drawing, in_style, letter, panels
from localentropy.figures.perceptron_points import small_rates

TITLES = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}
LINEAR = 1e-4
"""Train error after flips below which the axis is linear; it is logarithmic beyond."""
SERIES: dict[str, dict[str, Any]] = {
    "train error": {"color": COLORS[0], "marker": "o"},
    "overlap": {"color": COLORS[3], "marker": "s", "label": "trained networks"},
    "untrained": {
        "color": GREY,
        "marker": "o",
        "markersize": 2.5,
        "linestyle": ":",
        "label": "random networks",
    },
    "local energy": {"color": COLORS[0], "marker": "o", "label": "mean over networks"},
    "control": {"color": GREY, "marker": "x", "linestyle": ":", "label": "sharp control"},
    "chord": {"color": GREY, "linestyle": "--", "linewidth": 0.8, "label": "chord"},
}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """Against P: train error, and overlap. Below: train error after flips at the largest P that all networks solve.

    It is on logarithmic axes, and on linear ones up to the end of the chord. At smaller P it is in the numbers alone.
    """
    found = {name: tables[f"margins/binary_mlp_{name}"] for name in TITLES}
    figure, axes = panels(3, 7.2, 8.2, rows=4)
    for column, (name, table) in enumerate(found.items()):
        threshold = last_without_errors(table)
        overlaps = pd.concat([_overlaps(table, "overlap"), _overlaps(table, "untrained")])
        own = axes[column::3]
        for row, data in enumerate((_errors(table), overlaps, _energies(table, threshold))):
            for series, points in data.assign(dataset=name).groupby("series", sort=False):
                style = SERIES[str(series)]
                if series == "chord":
                    drawn = own[row].line(points["x"], points["y"], "chord", style, dataset=name)
                else:
                    drawn = own[row].points(points, str(series), style)
                if row == 2 and series != "control":
                    near = (points["x"] <= CHORD_TO).to_numpy()
                    if series == "chord":
                        own[3].line(points["x"], points["y"], drawn, style)
                    else:
                        own[3].points(points[near], drawn[near], style)
        own[0].set_title(_title(name, table), loc="right")
        for axis in own[:2]:
            axis.set(xscale="log", xlabel="training images $P$")
            axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
            axis.xaxis.set_major_formatter(ScalarFormatter())
            axis.xaxis.set_minor_formatter(NullFormatter())
        for axis in own[2:]:
            axis.set(xlabel="fraction of flipped weights $d$")
        if threshold is not None:
            for row, axis in enumerate(own[:2]):
                axis.threshold(threshold, "" if row else f"{threshold:.0f}", "threshold", at=0.6, dataset=name)
            own[2].set_title(f"$P$ = {threshold:.0f}", loc="right")
            figure.add(_energies_below(table, threshold), series="local energy, smaller P", dataset=name)
    for row, label in enumerate(("train error", "overlap", "train error after flips", "train error after flips")):
        axes[3 * row].set_ylabel(label)
    top = figure.data.query("series == 'train error'")["y"].max()
    for axis in axes[:3]:
        small_rates(axis)
        axis.set(ylim=(-1e-4, 1.3 * top))
    for axis in axes[3:6]:
        axis.set(ylim=(0.0, 1.02))
        axis.axhline(1.0, color=GREY, linewidth=0.8)
    axes[3].legend(loc="upper left", bbox_to_anchor=(0.0, 0.95))
    for axis in axes[9:]:
        axis.set(xlim=(0.0, CHORD_TO), ylim=(0.0, None))
    for axis in axes[6:9]:
        small_rates(axis, LINEAR)
        axis.set(xscale="log", ylim=(-0.1 * LINEAR, 1.0))
    for axis in [axis for axis in axes[6:9] if axis.get_legend_handles_labels()[0]][:1]:
        axis.legend(loc="lower right", fontsize=6, handlelength=1.4, borderpad=0.0)
    letter(axes)
    return Drawing(figure, CAPTION, _settings(found, scale))


def _errors(table: pd.DataFrame) -> pd.DataFrame:
    """Mean train error of the networks of each P."""
    rows = table[table["quantity"] == "train_error"].groupby("patterns")["value"]
    points = rows.agg(y="mean", y_err="sem", samples="size").reset_index(names="x")
    return points.assign(series="train error")


def _overlaps(table: pd.DataFrame, series: str) -> pd.DataFrame:
    """Mean overlap of pairs of networks of each P."""
    quantity = {"overlap": "overlap", "untrained": "overlap_untrained"}[series]
    rows = table[(table["quantity"] == quantity) & table["layer"].isna()]
    records = [
        (patterns, *pair_mean(pairs["sample"], pairs["other"], pairs["value"]))
        for patterns, pairs in rows.groupby("patterns")
    ]
    return pd.DataFrame(records, columns=["x", "y", "y_err"]).assign(series=series)


def _energies(table: pd.DataFrame, patterns: float | None) -> pd.DataFrame:
    """Mean train error after flips at one P, that of the control, and the chord from zero to `CHORD_TO`."""
    points, control = (
        table[(table["quantity"] == quantity) & (table["patterns"] == patterns)]
        .groupby("distance")["value"]
        .agg(y="mean", y_err="sem", samples="size")
        .reset_index(names="x")
        for quantity in ("flipped_train_error", "flipped_control_error")
    )
    end = points.loc[points["x"] == CHORD_TO, "y"]
    x = points.loc[points["x"] <= CHORD_TO, "x"] if len(end) else points["x"][:0]
    chord = pd.DataFrame({"x": x, "y": x * end.max() / CHORD_TO, "y_err": 0.0})
    series = {"local energy": points, "control": control, "chord": chord}
    return pd.concat([own.assign(series=name) for name, own in series.items()])


def _energies_below(table: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Mean train error after flips where all networks solve fewer patterns, which is not drawn."""
    rows = table[(table["quantity"] == "flipped_train_error") & (table["patterns"] < threshold)]
    points = rows.groupby(["patterns", "distance"])["value"].agg(y="mean", y_err="sem", samples="size")
    return points.reset_index().rename(columns={"distance": "x"})


def _title(name: str, table: pd.DataFrame) -> str:
    """The dataset, and what is learnt if that is not its classes."""
    return TITLES[name] + (", parity" if table.attrs["parameters"]["labels"] == "parity" else "")


def _each(tables: Mapping[str, pd.DataFrame], key: str) -> str:
    """The value of a parameter, or its values in the order of the datasets where they differ."""
    values = [f"{table.attrs['parameters'][key]:g}" for table in tables.values()]
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def _shape(table: pd.DataFrame) -> str:
    p = table.attrs["parameters"]
    return f"{p['hidden_layers']} hidden layers of {p['width']} units ({table['parameters'].iloc[0]} weights)"


CAPTION = (
    "Figure 8. Multilayer perceptrons with binary weights, trained on P images of three datasets, against P. (a)–(c) Train "
    "error. Up to the vertical line no network makes a train error. (d)–(f) Overlap of two networks after their hidden "
    "units are matched, layer by layer. Grey points: random networks; grey line: equal networks. (g)–(i) "
    f"Train error, at the P of the vertical line, after each weight is flipped with probability d. The dashed chord is a "
    f"straight line from zero to d = {CHORD_TO:g}: a convex curve lies below it. Crosses: a sharp control, random networks, where "
    "the right class of an image is the network's own output before the flips. (j)–(l) The same without the control, on linear axes."
)


def _settings(tables: Mapping[str, pd.DataFrame], scale: str) -> dict[str, str]:
    largest = ", ".join(str(max(table.attrs["parameters"]["patterns"])) for table in tables.values())
    settings = {
        "networks": "; ".join(f"{_title(name, table)}: {_shape(table)}" for name, table in tables.items())
        + "; sign activations, without biases and batch norm",
        "training": f"BinaryNet with cross-entropy and SGD; at most {_each(tables, 'epochs')} epochs; learning rate "
        f"{_each(tables, 'learning_rate')} for the mean loss of {_each(tables, 'batch')} images",
        "points": f"mean and standard error of {_each(tables, 'samples')} networks from different starts; of overlaps from a "
        "jackknife over networks",
        "train error": "a tie of the largest outputs is an error",
        "units are matched": "by permutations and signs",
        "axis of (g)–(i)": f"linear below {LINEAR:g} and logarithmic above; {_each(tables, 'flip_draws')} draws of the flips",
        "sharp control": "the networks before training; images for which the two largest outputs are equal are left out",
        "convexity": f"judged up to d = {CHORD_TO:g}",
        "chosen here": "pixels are +1 above the median of their image and −1 otherwise, and the last one is left out; "
        f"widths; P; real weights that start uniform in ±{_each(tables, 'spread')}; logits "
        f"{_each(tables, 'logit_scale')} W h/√n; learning rate, batch and epochs; errors rounded to multiples of 2⁻¹⁰ in the "
        "backward pass, so that all processors give the same numbers",
    }
    if scale == "paper":
        return settings
    return settings | {f"scale {scale}": f"below the paper's size: at most {largest} images"}
