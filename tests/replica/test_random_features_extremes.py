"""Largest margins where conjugate parameters reach 10⁷, against values of an independent fixed-point solver."""

from __future__ import annotations

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.replica import random_features as rf
from localentropy.replica.ensemble import LARGEST_MARGIN


@pytest.mark.parametrize(
    ("alpha_T", "inv_alpha", "activation", "expected"),
    [
        (10.0, 30.0, "tanh", 2.0766843),
        (10.0, 30.0, "erf", 2.3903675),
        (10.0, 7.0, "identity", 0.6561521),
        (10.0, 30.0, "identity", 1.3762908),
        (10.0, 300.0, "sign", 16.2147461),
    ],
)
def test_the_largest_margin_at_strong_overparameterization(alpha_T, inv_alpha, activation, expected):
    assert rf.kappa_max(alpha_T, inv_alpha, activation) == pytest.approx(expected, abs=1e-6)


def test_the_threshold_at_the_largest_margin_is_the_load_itself():
    """The same root, reached along the load instead of the margin."""
    assert 1 / rf.alpha_c(10.0, rf.kappa_max(10.0, 100.0)) == pytest.approx(100.0, rel=1e-10)


@pytest.mark.parametrize("inv_alpha", [1.2, 50.0, 1e3, 1e4])
@pytest.mark.parametrize("alpha_T", [1e-9, 3.0, 100.0, 1e7, 1e9])
def test_the_largest_margin_and_the_capacity_at_that_margin_are_inverse(alpha_T, inv_alpha):
    """Two searches along different lines of the diagram meet in one point, at any load."""
    margin = rf.kappa_max(alpha_T, inv_alpha) if inv_alpha > 1.0 / rf.alpha_c(alpha_T) else 0.0
    if 0.0 < margin <= LARGEST_MARGIN:
        assert rf.alpha_c(alpha_T, margin) * inv_alpha == pytest.approx(1.0, rel=1e-7)
    else:
        assert margin > LARGEST_MARGIN or inv_alpha <= 1.0 / rf.alpha_c(alpha_T)


def test_the_capacity_at_many_patterns_per_latent_dimension_grows_as_their_cube_root():
    """Seen, not derived: one power law over three decades, so no value lies on another branch."""
    values = np.array([rf.alpha_c(alpha_T) for alpha_T in (1e6, 1e7, 1e8, 1e9)])
    assert np.diff(np.log10(values)) == pytest.approx(1.0 / 3.0, abs=1e-3)


@pytest.mark.parametrize(
    "call", [lambda: rf.kappa_max(3.0, 1e9), lambda: rf.inv_alpha_le(1e9), lambda: rf.inv_alpha_min(1e-9)]
)
def test_what_cannot_be_reached_is_refused(call):
    with pytest.raises(
        DomainError, match=r"^too few patterns at .* kappa_max is above 1000$|^alpha_T = .* out of range"
    ):
        call()
