"""Local energy of binary networks under random flips."""

import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.landscape.random_flips import random_flips
from tests.generators import generators


def test_the_fraction_of_flipped_weights_is_the_distance():
    weights = torch.from_numpy(np.random.default_rng(3).choice([-1.0, 1.0], (2, 4000)))
    found = random_flips(
        weights,
        lambda flipped: (flipped != weights).double().mean(1),
        distances=(0.0, 0.01, 0.3, 1.0),
        draws=50,
        generators=generators(2),
    )
    assert found.shape == (4, 2, 50)
    assert (found[0] == 0).all() and (found[3] == 1).all()
    for distance, each in zip((0.01, 0.3), found[1:3], strict=True):
        error = np.sqrt(distance * (1 - distance) / 4000)
        assert abs(each.mean() - distance) < 4 * error / np.sqrt(each.size)
        assert each.std() == pytest.approx(error, rel=0.25)


def test_flips_at_one_distance_are_among_those_at_larger_ones():
    seen = []

    def errors(flipped):
        seen.append(flipped < 0)
        return torch.zeros(2)

    random_flips(torch.ones(2, 500), errors, distances=(0.1, 0.4), draws=3, generators=generators(2))
    assert len(seen) == 6
    for near, far in zip(seen[::2], seen[1::2], strict=True):
        assert (far | ~near).all() and far.sum() > near.sum()


def test_a_network_meets_the_same_flips_beside_others():
    weights = torch.ones(2, 500)
    whole = random_flips(weights, lambda w: (w < 0).sum(1), distances=(0.2,), draws=2, generators=generators(2))
    alone = random_flips(weights[1:], lambda w: (w < 0).sum(1), distances=(0.2,), draws=2, generators=generators(2)[1:])
    assert (whole[:, 1:] == alone).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"distances": (1.5,)}, "distance = 1.5"),
        ({"draws": 0}, "draws = 0"),
        ({"generators": generators(1)}, "generators: 1 given, allowed are 2"),
    ],
)
def test_wrong_arguments_are_refused(change, message):
    arguments = {"distances": (0.1,), "draws": 1, "generators": generators(2)} | change
    with pytest.raises(DomainError, match=message):
        random_flips(torch.ones(2, 5), lambda w: torch.zeros(2), **arguments)
