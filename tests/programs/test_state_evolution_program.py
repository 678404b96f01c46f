"""The program `state_evolution`."""

from __future__ import annotations

from typing import Any

import pytest

from localentropy.programs import state_evolution
from localentropy.theory import bayes, committee
from tests.programs.programs import table

VALUES: dict[str, Any] = {
    "prior": "gaussian",
    "channel": "committee",
    "alphas": [8.0, 60.0],
    "starts": [0.01, 0.1],
    "updates": 300,
}


def test_a_small_specialization_dies_out_and_a_larger_one_does_not_at_a_large_load() -> None:
    found = table(state_evolution, **VALUES).set_index(["alpha", "start"])
    assert found["overlap"].to_numpy()[:3] == pytest.approx(0.0, abs=1e-12)
    assert found.loc[(60.0, 0.1), "overlap"] == pytest.approx(
        committee.learning(60.0, float("inf"), "informed").specialization
    )
    assert found.loc[(60.0, 0.1), "growth"] > 1.0 > found.loc[(8.0, 0.1), "growth"] > 0.0


def test_other_channels_end_at_their_fixed_points() -> None:
    found = table(state_evolution, prior="binary", channel="sign", alphas=[1.2], starts=[0.01], updates=300)
    assert found["overlap"].item() == pytest.approx(bayes.learning(1.2, "binary").overlap)
    assert found["growth"].item() == pytest.approx(100.0 * bayes.state_evolution(1.2, 1, 0.01, "binary")[0])
    assert set(found["prior"]) == {"binary"} and set(found["channel"]) == {"sign"}


def test_binary_weights_of_a_committee_are_refused() -> None:
    with pytest.raises(ValueError, match="prior: binary: a committee has gaussian weights"):
        table(state_evolution, **VALUES | {"prior": "binary"})
