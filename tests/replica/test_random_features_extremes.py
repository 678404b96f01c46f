"""Largest margins where conjugate parameters reach 10⁷, against values of an independent fixed-point solver."""

from __future__ import annotations

import pytest

from localentropy.replica import random_features as rf


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
