import numpy as np
import pytest

from localentropy.analysis.statistics import pair_mean
from localentropy.errors import DomainError
from localentropy.landscape.binary_overlaps import overlaps


def test_overlaps_of_all_pairs():
    weights = 2 * np.random.default_rng(0).integers(0, 2, (4, 21), dtype=np.int8) - 1
    first, second, values = overlaps(weights)
    assert list(zip(first, second, strict=True)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for one, other, value in zip(first, second, values, strict=True):
        assert value == sum(int(a) * int(b) for a, b in zip(weights[one], weights[other], strict=True)) / 21
    assert pair_mean(first, second, values)[0] == pytest.approx(np.mean(values))
    assert overlaps(np.stack([weights[0], -weights[0]]))[2] == [-1]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((1, 5)), "one solution given"),
        (np.ones(5), r"weights of shape \(5,\): allowed is \(solutions, N\)"),
        (np.zeros((3, 5)), r"weights\[0, 0\] = 0.0: allowed are 1 and -1"),
        (np.ones((3, 0)), r"weights of shape \(3, 0\)"),
    ],
)
def test_wrong_weights_have_no_overlaps(weights, message):
    with pytest.raises(DomainError, match=message):
        overlaps(weights)
