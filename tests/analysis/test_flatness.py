"""The radius of a flat surrounding, against profiles whose crossing is known; curves that are cut."""

import numpy as np
import pandas as pd
import pytest

from localentropy.analysis.flatness import (
    REACHED,
    around_parity_solutions,
    largest_margin_curve,
    radius,
    without_frozen_ends,
)
from localentropy.errors import DomainError

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


def test_curves_are_cut_where_they_turn_to_a_frozen_end() -> None:
    x = np.geomspace(1e-4, 0.3, 6)
    frozen = {"distance": x, "entropy": [np.nan, -0.05, -0.03, -0.02, 0.1, 0.2], "slope": [np.nan, 9, 1, 0.5, 0.8, 0.1]}
    whole = {"distance": x, "entropy": [0.01, -0.05, -0.03, -0.02, 0.1, 0.2], "slope": [8, 9, 1, 0.5, 0.8, 0.1]}
    below = whole | {"entropy": [-0.06, -0.05, -0.03, -0.02, 0.1, 0.2], "slope": [9, 8, 1, 0.5, 0.8, 0.1]}
    curves = {"frozen": frozen, "whole": whole, "below": below}
    table = pd.concat([pd.DataFrame(curve).assign(name=name) for name, curve in curves.items()])
    cut = without_frozen_ends(table, ["name"]).set_index("name")
    assert cut.loc["frozen", "entropy"].notna().tolist() == [False, False, False, True, True, True]
    assert cut.loc["frozen", "slope"].notna().tolist() == [False, False, False, True, True, True]
    # Only a curve that ends before d = 0 has frozen.
    assert cut.loc[["whole", "below"]].notna().all(axis=None)


def test_measured_local_entropies_are_compared_with_the_curve_at_their_load_and_margin() -> None:
    families = {"curve": ["reference", "max_margin"], "reference": ["max", "0.1"]}
    places = families | {"alpha": [0.5, 0.4], "margin": [0.0, 0.1]}
    each = pd.MultiIndex.from_product(places.values(), names=places).to_frame(index=False)
    table = pd.concat([each, each]).assign(entropy=0.1, slope=1.0)
    table.attrs["parameters"] = {"ensemble": {"model": "perceptron"}}
    measured = pd.DataFrame({"alpha": [101 / 201], "N": 201, "margin": 0.1})  # the nearest load to 0.5
    found = largest_margin_curve(table, measured)
    assert found[["curve", "reference", "alpha", "margin"]].to_numpy().tolist() == [["reference", "max", 0.5, 0.1]] * 2
    for wrong in ({"N": 1001}, {"margin": 0.2}):
        with pytest.raises(DomainError, match="take alpha and margin of both sections alike"):
            largest_margin_curve(table, measured.assign(**wrong))


def test_overlaps_at_which_a_parity_solution_lacks_its_number_are_left_out() -> None:
    rows = [(99, 0.9, -0.1), (99, 0.9, -0.3), (99, 0.8, -0.2), (99, 0.8, np.nan), (201, 0.8, -0.4), (201, 0.8, -0.2)]
    table = pd.DataFrame(rows, columns=["N", "overlap", "entropy"]).assign(alpha=0.2)
    found = around_parity_solutions(table)
    np.testing.assert_allclose(
        found[["N", "overlap", "y", "y_err", "n"]], [[99, 0.9, -0.2, 0.1, 2], [201, 0.8, -0.3, 0.1, 2]]
    )
