"""Measured local entropies beside a curve."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from localentropy.analysis.flatness import around_solutions, over_samples, with_excess
from localentropy.errors import DomainError


def test_the_excess_over_a_curve_and_its_mean():
    d = np.geomspace(1e-3, 0.5, 20)
    x = np.log(d)
    # A cubic in ln d is met exactly; dφ/dd = (dφ/d ln d)/d.
    curve = pd.DataFrame({"distance": d, "entropy": 0.3 + 0.1 * x + 0.01 * x**3, "slope": (0.1 + 0.03 * x**2) / d})
    curve.loc[0, "entropy"] = np.nan
    at = np.array([0.01, 0.123])
    theory = 0.3 + 0.1 * np.log(at) + 0.01 * np.log(at) ** 3
    runs = pd.concat(
        pd.DataFrame({"sample": sample, "distance": at, "entropy": theory + shift, "solved": 1.0, "converged": 1.0})
        for sample, shift in enumerate((0.01, 0.03, 0.5, 0.5))
    )
    runs.loc[runs["sample"] == 2, "solved"] = 0.0
    runs.loc[runs["sample"] == 3, "converged"] = 0.0
    means = over_samples(with_excess(around_solutions(runs), curve.sample(frac=1, random_state=0)), "excess")
    np.testing.assert_allclose(means["distance"], at)
    np.testing.assert_allclose(means["y"], 0.02, rtol=1e-12)
    np.testing.assert_allclose(means["y_err"], 0.01, rtol=1e-12)
    np.testing.assert_allclose(means["spread"], 0.02 / np.sqrt(2), rtol=1e-12)
    assert (means["n"] == 2).all()
    outside = pd.DataFrame({"distance": [1e-3, 0.6], "entropy": 0.1})
    assert with_excess(outside, curve)["excess"].isna().all()


CURVE = pd.DataFrame({"distance": [0.01, 0.1], "entropy": [0.1, 0.2], "slope": [3.0, 1.0]})


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (
            CURVE.assign(distance=0.1),
            r"curve: distance = \[0.1, 0.1\], allowed are two or more different numbers above 0",
        ),
        (CURVE.assign(distance=[0.0, 0.1]), r"curve: distance = \[0.0, 0.1\]"),
        (CURVE.assign(distance=[0.1, np.nan]), "curve: distance: nan is among them"),
        (CURVE.assign(slope=np.nan), r"curve: distance = \[\]"),
        (CURVE[["distance", "entropy"]], "curve: the column slope is missing"),
    ],
)
def test_what_is_no_curve_has_no_excess_over_it(curve, message):
    with pytest.raises(DomainError, match=message):
        with_excess(CURVE, curve)
