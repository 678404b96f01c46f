"""Figure 6: dresses and coats, local entropies, and test error against the largest eigenvalue of the Hessian."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from localentropy.plots.algorithms import means_in_words, nothing_drawn, of_committees
from localentropy.plots.drawing import Drawing, in_style
from localentropy.plots.shaping.dress_coat import (
    correlations,
    draw_panels,
    fewer_runs,
    image_set,
    with_curvature,
)
from localentropy.plots.shaping.local_entropies import counts, not_converged


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
        f"Figure 6. Solutions of a {image_set(entropies, solutions)}; runs from different starts on one training set, "
        f"solved: {counts(solutions)}. (a) Normalised local entropy by expectation propagation; mean and standard error over the first "
        f"{entropies['sample'].nunique()} runs. "
        f"{not_converged(entropies, 'Expectation propagation')} (b) Test error of each run against the largest eigenvalue of the "
        f"Hessian of the mean square error {correlations(solved['test_error'], spectra)}. Mean test errors: {means}. D = (1 − S)/2, the distances, which "
        "images the training set has, and the output function tanh of the square error are chosen here: compare with the paper's figure."
        f"{fewer_runs(solutions, scale)}{nothing_drawn(figure.data, 'ab')}"
    )
    return Drawing(figure, caption)
