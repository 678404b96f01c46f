"""Searches along curves."""

import pytest

from localentropy.numerics.search import extremum


def test_extrema():
    assert extremum(lambda x: x * (4 - x), 0.1, 3.9, 1.0) == pytest.approx((2, 4))
    assert extremum(lambda x: x + 1 / x, 0.1, 9.0, -1.0) == pytest.approx((1, 2))
