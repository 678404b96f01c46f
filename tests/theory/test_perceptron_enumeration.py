"""Theory of the perceptron against all 2^N weights at small N, extrapolated to N → ∞ (margins, supplement I and II).

Means over samples: of ln Z/N, the entropy of solutions of margin 0; and of the entropy of those at distance 1/4 from a
reference of a margin, less that of all configurations at this distance. Patterns are Gaussian, so that nothing ties.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from localentropy.theory import Perceptron, binary_entropy, franz_parisi, typical
from tests.enumeration import all_signs, limits

DISTANCE = 0.25
SAMPLES = {12: 3000, 16: 1500, 20: 300}
MOST_REFERENCES = 200
"""Of a sample: a random choice of them tells enough."""


def smallest_stabilities(patterns: np.ndarray) -> np.ndarray:
    """Of every configuration, [2^N]. Each is made of two halves, whose sums are made once."""
    half = patterns.shape[1] // 2
    signs = all_signs(half, np.float32)
    first, second = signs @ patterns[:, :half].T, signs @ patterns[:, half:].T
    least = np.full((len(signs), len(signs)), np.inf, np.float32)
    for one, other in zip(first.T, second.T, strict=True):
        np.minimum(least, one[:, None] + other, out=least)
    return least.ravel() / math.sqrt(patterns.shape[1])


def measure(N: int, P: int, margins: tuple[float, ...], stream: np.random.Generator) -> list[float]:
    """Of one sample: a control, ln Z/N, and the other entropy for each margin; missing where there is no reference.

    The control is odd in each pattern, so its mean is zero. ln Z follows it: patterns that agree are easier to store.
    """
    patterns = stream.standard_normal((P, N)).astype(np.float32)
    least = smallest_stabilities(patterns)
    found = np.flatnonzero(least >= 0)
    # A configuration's number in binary, a one for +1; overlaps do not depend on the order of the entries.
    solutions = (2.0 * (found[:, None] >> np.arange(N) & 1) - 1.0).astype(np.float32)
    control = np.arcsin(np.asarray(np.corrcoef(patterns))[np.triu_indices(P, 1)]).sum() / N
    numbers = [control, math.log(len(found)) / N if len(found) else math.nan]
    for margin in margins:
        references = solutions[least[found] >= margin]
        chosen = references[stream.permutation(len(references))[:MOST_REFERENCES]]
        # At distance 1/4 the product is N/2.
        counts = (chosen @ solutions.T == N // 2).sum(1)
        # At α = 1/2 two in 1000 references have nothing at this distance for N = 12, four in 10000 for N = 16.
        logarithms = np.log(counts[counts > 0])
        numbers.append(logarithms.mean() / N - math.log(math.comb(N, N // 4)) / N if len(logarithms) else math.nan)
    return numbers


def limits_of_entropies(alpha: float, margins: tuple[float, ...]) -> list[tuple[float, float, float]]:
    """Of ln Z/N, then for each margin of the other entropy less ln Z/N: a sample's luck is common to both."""
    stream = np.random.default_rng(2107)
    means, errors = [], []
    for N, samples in SAMPLES.items():
        values = np.array([measure(N, round(alpha * N), margins, stream) for _ in range(samples)])
        values = values[np.isfinite(values).all(1)]
        assert len(values) > 0.95 * samples, "samples with a reference are not typical"
        control, values = values[:, 0], values[:, 1:]
        values[:, 1:] -= values[:, :1]
        values -= np.outer(control, [np.polyfit(control, column, 1)[0] for column in values.T])
        means.append(values.mean(0))
        errors.append(values.std(0, ddof=1) / math.sqrt(len(values)))
    return [limits(SAMPLES, *of_sizes) for of_sizes in zip(np.transpose(means), np.transpose(errors), strict=True)]


def test_two_halves_make_all_configurations():
    patterns = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
    expected = (all_signs(8, np.float64) @ patterns.T).min(1) / math.sqrt(8)
    np.testing.assert_allclose(smallest_stabilities(patterns), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("alpha", "margins"), [(0.5, (0.0, 0.1)), pytest.param(0.25, (0.2, 0.4), marks=pytest.mark.slow)]
)
def test_entropies(alpha, margins):
    """The theory lies between the two limits, up to their error; a wrong formula does not."""
    entropy, free = typical(Perceptron(alpha)).entropy, float(binary_entropy(np.array(DISTANCE)))
    curves = [franz_parisi(Perceptron(alpha), [DISTANCE], margin)["entropy"].iloc[0] for margin in margins]
    theory = [entropy, *(curve - free - entropy for curve in curves)]
    annealed = (1 - alpha) * math.log(2)
    wrong = [annealed, theory[2], theory[1]]
    for right, other, (low, high, error) in zip(theory, wrong, limits_of_entropies(alpha, margins), strict=True):
        assert max(low - right, right - high) < 3 * error
        assert max(low - other, other - high) > 3 * error
