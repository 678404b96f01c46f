"""Figure s2: as figure 6, with every pixel shuffled over the training images."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.figures.algorithms import COMMITTEE, nothing_drawn, of_committees
from localentropy.figures.drawing import Drawing, in_style
from localentropy.figures.shaping.dress_coat import (
    correlations,
    draw_panels,
    fewer_runs,
    machine_and_runs,
    with_curvature,
)
from localentropy.figures.shaping.local_entropies import draw_entropies, entropy_points, not_converged

PROBABILITY = 0.1
"""Probability of a drawn pixel, of which panel (b) has the train error: the nearest that was measured."""


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Local entropies beside those of figure 6; (b) train error with noisy inputs against the largest eigenvalue."""
    entropies, solutions = tables["shaping/shuffled_local_entropy"], tables["shaping/shuffled_solutions"]
    noise = tables["shaping/shuffled_noise"]
    measured = noise["probability"].unique()
    probability = min(measured, key=lambda one: abs(one - PROBABILITY), default=PROBABILITY)
    rates = noise[noise["probability"] == probability].groupby(["algorithm", "sample"])["train_error"].mean()
    spectra = tables["shaping/shuffled_spectra"]
    runs = with_curvature(rates, spectra, "paper")
    figure, axes = draw_panels(entropies, runs, rf"train error, noise $p$ = {probability:g}")
    others = entropy_points(tables["shaping/fashion_local_entropy"])
    rows = figure.add(others, series=others["algorithm"] + ", figure 6", x=others["distance"])
    draw_entropies(axes[0], others, rows, linestyle="--", markerfacecolor="none", alpha=0.6)
    data = figure.data
    shown = data.loc[data["panel"] == "a", "y"]
    if len(shown):
        axes[0].set_ylim(2.0 * shown.min(), 0.5 * shown.max())
    unsolved = (
        of_committees(solutions[solutions["solved"] != 1]).groupby("algorithm")["train_error"].agg(["mean", "size"])
    )
    ours = ", ".join(
        f"{COMMITTEE[str(name)]['label']}: {row['size']:.0f} runs, {row['mean']:.2g}"
        for name, row in unsolved.iterrows()
    )
    caption = (
        "Figure s2. As figure 6, with every pixel shuffled over the training images. This destroys correlations and keeps "
        "the mean of each pixel. (a) Local entropy around the solutions; dashed and open: the values of figure 6, without "
        "shuffling. (b) There is no meaningful test set, so the train error of each run is shown when the pixels are "
        "noisy, against the largest eigenvalue of the Hessian."
    )
    settings = {
        **machine_and_runs(entropies, solutions),
        "local entropy in (a)": "normalised; mean and standard error over the solved runs "
        f"on the first {entropies['sample'].nunique()} training sets. {not_converged(entropies, 'Expectation propagation')}",
        "noise in (b)": f"each pixel is drawn again with probability {probability:g} from its values in the training set",
        "Hessian in (b)": correlations(rates, spectra),
        **({"train errors of unsolved runs": ours} if ours else {}),
        "chosen here": "the noise, and the learning rate of eLAL, by a rule that was fixed before (docs/solvers/committee.md)",
        **fewer_runs(solutions, scale),
        **nothing_drawn(data, "ab"),
    }
    return Drawing(figure, caption, settings)
