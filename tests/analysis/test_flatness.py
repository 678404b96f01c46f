"""The radius of a flat surrounding, against profiles whose crossing is known."""

import numpy as np
import pytest

from localentropy.analysis.flatness import REACHED, radius

DISTANCES = np.array([0.0, 0.01, 0.02, 0.04, 0.1])


def test_the_radius_of_a_line_is_where_it_crosses():
    assert radius(DISTANCES, REACHED * DISTANCES / 0.03) == pytest.approx(0.03)


def test_only_the_first_crossing_counts():
    energy = REACHED * np.array([0.0, 0.0, 2.0, 0.5, 8.0])
    assert radius(DISTANCES, energy) == pytest.approx(0.015)


def test_errors_without_noise_leave_no_radius():
    assert radius(DISTANCES, np.full(5, 2 * REACHED)) == 0.0


@pytest.mark.parametrize("energy", [[0.0] * 5, [0.0, np.nan, 0.1, 0.2, 0.3]])
def test_a_profile_that_does_not_reach_it_has_none(energy):
    assert np.isnan(radius(DISTANCES, np.array(energy)))
