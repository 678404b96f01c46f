"""Largest margins where conjugate parameters reach 10⁷, against values of an independent fixed-point solver."""

from __future__ import annotations

import numpy as np
import pytest

from localentropy.errors import DomainError
from localentropy.quantities import MARGIN
from localentropy.theory import (
    RandomFeatures,
    alpha_c,
    alpha_le,
    alpha_min,
    binary_entropy,
    franz_parisi,
    kappa_max,
    kappa_min,
    kappa_u,
    typical,
)


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
    assert kappa_max(RandomFeatures(alpha_T, inv_alpha, activation=activation)) == pytest.approx(expected, abs=1e-6)


def test_the_threshold_at_the_largest_margin_is_the_load_itself():
    """The same root, reached along the load instead of the margin."""
    assert 1 / alpha_c(RandomFeatures(10.0, margin=kappa_max(RandomFeatures(10.0, 100.0)))) == pytest.approx(
        100.0, rel=1e-10
    )


@pytest.mark.parametrize("inv_alpha", [1.2, 50.0, 1e3, 1e4])
@pytest.mark.parametrize("alpha_T", [1e-9, 3.0, 100.0, 1e7, 1e9])
def test_the_largest_margin_and_the_capacity_at_that_margin_are_inverse(alpha_T, inv_alpha):
    """Two searches along different lines of the diagram meet in one point, at any load."""
    margin = (
        kappa_max(RandomFeatures(alpha_T, inv_alpha)) if inv_alpha > 1.0 / alpha_c(RandomFeatures(alpha_T)) else 0.0
    )
    if 0.0 < margin <= MARGIN.high:
        assert alpha_c(RandomFeatures(alpha_T, margin=margin)) * inv_alpha == pytest.approx(1.0, rel=1e-7)
    else:
        assert margin > MARGIN.high or inv_alpha <= 1.0 / alpha_c(RandomFeatures(alpha_T))


def test_the_capacity_at_many_patterns_per_latent_dimension_grows_as_their_cube_root():
    """Seen, not derived: one power law over three decades, so no value lies on another branch."""
    values = np.array([alpha_c(RandomFeatures(alpha_T)) for alpha_T in (1e6, 1e7, 1e8, 1e9)])
    assert np.diff(np.log10(values)) == pytest.approx(1.0 / 3.0, abs=1e-3)


@pytest.mark.parametrize(
    ("alpha_T", "inv_alpha", "activation"),
    [(0.3036652220131539, 15848.292213878329, "erf"), (3.0, 30000.0, "tanh"), (3.0, 1e5, "sign"), (80.0, 3e4, "sign")],
)
def test_typical_solutions_of_the_largest_margin_at_many_features(alpha_T, inv_alpha, activation):
    maximum = kappa_max(RandomFeatures(alpha_T, inv_alpha, activation=activation))
    margins = [maximum * (1 - part) for part in (0.0, 1e-10, 2e-10)]
    below = [typical(RandomFeatures(alpha_T, inv_alpha, margin, activation)) for margin in margins]
    assert below[0].entropy == pytest.approx(0, abs=1e-10)
    assert below[2].entropy == pytest.approx(2 * below[1].entropy, rel=0.01) and below[1].entropy > 1e-8
    assert all(state.residual < 1e-6 for state in below)


@pytest.mark.parametrize(
    ("alpha_T", "inv_alpha", "activation"),
    [(3.0, 200.0, "sign"), (5.637, 1199.9, "sign"), (3.0, 20145.0, "sign")],
)
def test_solutions_around_the_largest_margin_at_many_features(alpha_T, inv_alpha, activation):
    """Near a reference that hardly feels its neighbours, flips are free; the maximum is the typical entropy."""
    model = RandomFeatures(alpha_T, inv_alpha, activation=activation)
    near = franz_parisi(model, [1e-9, 1.4e-4, 0.1])
    assert near["entropy"].to_numpy() == pytest.approx(binary_entropy(near["distance"]), rel=1e-12)
    top = franz_parisi(model, [(1 - 1e-4) * near.attrs["typical_distance"], near.attrs["typical_distance"]])
    assert top["entropy"][1] == pytest.approx(typical(model).entropy, abs=1e-11)
    assert top["slope"][1] == pytest.approx(0.0, abs=1e-8) and top["slope"][0] > 1e-8
    assert (top["residual"] < 1e-7).all()


@pytest.mark.parametrize("threshold", [kappa_u, kappa_min])
@pytest.mark.parametrize("part", [1.0, 1.0 - 1e-6])
def test_no_reference_is_good_for_the_largest_margin(threshold, part):
    for alpha_T, inv_alpha in ((3.0, 1.2), (0.5, 6.0)):
        with pytest.raises(DomainError, match=r"^kappa_max = .* is not above margin = .*: no margin of"):
            threshold(RandomFeatures(alpha_T, inv_alpha, part * kappa_max(RandomFeatures(alpha_T, inv_alpha))))


@pytest.mark.parametrize(
    "call",
    [
        lambda: kappa_max(RandomFeatures(3.0, 1e9)),
        lambda: 1 / alpha_le(RandomFeatures(1e9)),
        lambda: 1 / alpha_min(RandomFeatures(1e-9)),
    ],
)
def test_what_cannot_be_reached_is_refused(call):
    with pytest.raises(
        DomainError, match=r"^too few patterns at .* kappa_max is above 1000$|^alpha_T = .* out of range"
    ):
        call()
