"""Replica theory against exact enumeration of all students at small N, extrapolated in 1/N."""

import numpy as np
import pytest

from localentropy.theory import RandomFeatures, typical
from tests.enumeration import all_signs

ALPHA_T, INV_ALPHA = 1.0, 3.0
SAMPLES = {9: 4000, 15: 1200, 21: 100}
TEST_PATTERNS = 400


def enumerate_sample(students, rng):
    """ln Z / N, overlap of two solutions, errors of a solution and of the barycentre; None without solutions."""
    N = students.shape[1]
    P, D = round(N / INV_ALPHA), round(N / INV_ALPHA / ALPHA_T)
    F, teacher = rng.standard_normal((D, N)), rng.choice([-1.0, 1.0], D)
    latent = rng.standard_normal((P + TEST_PATTERNS, D))
    features = np.sign(latent @ F).astype(np.float32)
    labels = np.sign(latent @ teacher).astype(np.float32)
    stability = students @ (labels[:P, None] * features[:P]).T
    solutions = students[(stability > 0).all(axis=1)]
    if len(solutions) == 0:
        return None
    barycenter = solutions.mean(axis=0)
    chosen = solutions[rng.integers(len(solutions), size=min(len(solutions), 200))]
    tests = labels[P:, None] * features[P:]
    return (
        np.log(len(solutions)) / N,
        barycenter @ barycenter / N,
        np.mean(chosen @ tests.T < 0),
        np.mean(tests @ barycenter < 0),
    )


@pytest.mark.slow
def test_entropy_overlap_and_errors():
    rng = np.random.default_rng(2110)
    means, errors = [], []
    for N, samples in SAMPLES.items():
        students = all_signs(N, np.float32)
        results = [enumerate_sample(students, rng) for _ in range(samples)]
        values = np.array([result for result in results if result is not None])
        assert len(values) > 0.95 * samples  # tiny systems can contradict themselves
        means.append(values.mean(axis=0))
        errors.append(values.std(axis=0) / np.sqrt(len(values)))
    theory = typical(RandomFeatures(ALPHA_T, INV_ALPHA))
    expected = [theory.entropy, theory.q, theory.error_typical, theory.error_barycenter]
    inverse = 1 / np.array(list(SAMPLES))
    for column, value in enumerate(expected):
        weights = 1 / np.array(errors)[:, column]
        fit, covariance = np.polyfit(inverse, np.array(means)[:, column], 1, w=weights, cov="unscaled")
        # Beyond the statistical error, the curvature in 1/N that three sizes cannot resolve.
        assert abs(fit[1] - value) < 3 * np.sqrt(covariance[1, 1]) + 0.012
