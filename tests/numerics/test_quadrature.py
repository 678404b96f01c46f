"""The rule against integrals known in closed form."""

import numpy as np
import pytest

from localentropy.numerics.quadrature import unit_legendre


@pytest.mark.parametrize(("nodes", "tolerance"), [(6, 1e-14), (96, 1e-12)])
def test_legendre_on_the_unit_interval(nodes, tolerance):
    x, weight = unit_legendre(nodes)
    powers = np.arange(2 * nodes)
    np.testing.assert_allclose(weight @ x[:, None] ** powers, 1 / (powers + 1), rtol=tolerance)
