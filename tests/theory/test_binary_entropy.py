"""The entropy of a binary variable against its values."""

import numpy as np
import pytest

from localentropy.theory import binary_entropy


@pytest.mark.parametrize(("distance", "expected"), [(0.0, 0.0), (0.5, np.log(2)), (1.0, 0.0)])
def test_binary_entropy(distance, expected):
    assert binary_entropy(distance) == pytest.approx(expected, abs=1e-15)


def test_small_distances_keep_their_digits():
    d = np.geomspace(1e-30, 0.5, 50)
    np.testing.assert_allclose(binary_entropy(d), -d * np.log(d) - (1 - d) * np.log1p(-d), rtol=1e-14)
