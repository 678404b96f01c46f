"""Figure 6: dresses and coats, local entropies, and test error against the largest eigenvalue of the Hessian."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.figures.algorithms import means_in_words, nothing_drawn, of_committees
from localentropy.figures.drawing import Drawing, in_style
from localentropy.figures.shaping.dress_coat import (
    correlations,
    draw_panels,
    fewer_runs,
    machine_and_runs,
    with_curvature,
)
from localentropy.figures.shaping.local_entropies import not_converged


@in_style
def draw(tables: Mapping[str, pd.DataFrame], scale: str) -> Drawing:
    """(a) Local entropies by expectation propagation; (b) test error of each run against its largest eigenvalue."""
    entropies, solutions = tables["shaping/fashion_local_entropy"], tables["shaping/fashion_solutions"]
    solved = of_committees(solutions[solutions["solved"] == 1]).set_index(["algorithm", "sample"])
    spectra = tables["shaping/fashion_spectra"]
    runs = with_curvature(solved["test_error"], spectra, "paper")
    figure, _ = draw_panels(entropies, runs, "test error")
    means = means_in_words(solved["test_error"].groupby("algorithm"))
    caption = (
        "Figure 6. Solutions that four algorithms find for a fully connected committee on images of dresses and coats. (a) "
        "Local entropy around them. (b) Test error of each run against the largest eigenvalue of the Hessian of the mean "
        "square error. Where solutions have a larger local entropy and a smaller largest eigenvalue, they lie in a flatter "
        "minimum."
    )
    settings = {
        **machine_and_runs(entropies, solutions),
        "local entropy in (a)": "normalised, by expectation propagation; mean and standard error over the "
        f"solved runs on the first {entropies['sample'].nunique()} training sets. {not_converged(entropies, 'Expectation propagation')}",
        "Hessian in (b)": correlations(solved["test_error"], spectra),
        "mean test errors": means,
        "chosen here": "D = (1 − S)/2, the distances, which images the training sets have, the output function tanh of the "
        "square error",
        **fewer_runs(solutions, scale),
        **nothing_drawn(figure.data, "ab"),
    }
    return Drawing(figure, caption, settings)
