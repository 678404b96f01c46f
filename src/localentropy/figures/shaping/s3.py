"""Figure s3: train error of the solutions on images when pixels are noisy."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.figures.algorithms import COMMITTEE, legend_entries, nothing_drawn, of_committees, of_each
from localentropy.figures.drawing import Drawing, in_style, letter, panels

SETS = {"shaping/fashion_noise": "dresses and coats", "shaping/shuffled_noise": "shuffled pixels"}


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Images, (b) images with shuffled pixels: train error against the probability of noise."""
    figure, axes = panels(2, 7.0, 3.0)
    for axis, (key, title) in zip(axes, SETS.items(), strict=True):
        points = _means(of_committees(tables[key]))
        rows = figure.add(points, series=points["algorithm"], x=points["probability"])
        for look, own, at in of_each(points, rows):
            axis.points(own, at, look, "probability")
        axis.set(xlabel="probability $p$ of a noisy pixel", ylabel="train error")
        axis.set_title(title, loc="right")
    letter(axes)
    data = figure.data
    for axis in axes if len(data) else ():
        axis.set_ylim(-0.01, 1.05 * (data["y"] + data["y_err"].fillna(0.0)).max())
    axes[0].legend(*legend_entries(axes))
    return Drawing(figure, CAPTION, _settings(tables, scale) | nothing_drawn(data, "ab"))


def _means(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error over runs of the mean over draws of the noise."""
    each = table.groupby(["algorithm", "probability", "sample"])["train_error"].mean()
    return each.groupby(["algorithm", "probability"]).agg(y="mean", y_err="sem", n="size").reset_index()


CAPTION = (
    "Figure s3. Train error of the solutions of figures 6 and s2 when the pixels of the training images are noisy, against "
    "the probability p of noise: (a) dresses and coats, (b) the same with shuffled pixels. With probability p a pixel is "
    "drawn again from the values that it has in the training set. The slower the error grows, the more robust the solution "
    "is."
)


def _settings(tables: Mapping[str, pd.DataFrame], scale: str) -> dict[str, str]:
    runs = {
        key: of_committees(tables[key])
        .groupby("algorithm")["sample"]
        .nunique()
        .rename(lambda name: COMMITTEE[name]["label"])
        for key in SETS
    }
    told = "; ".join(
        f"({panel}) {', '.join(f'{name} {count}' for name, count in runs[key].items()) or 'none'}"
        for panel, key in zip("ab", SETS, strict=True)
    )
    settings = {
        "points": f"mean and standard error over solved runs: {told}",
        "chosen here": 'the kind of noise, after the slides\' words "colored (pixel-dependent) noise"',
    }
    return settings | ({} if scale == "paper" else {f"scale {scale}": "below the paper's size, 50 runs of each"})
