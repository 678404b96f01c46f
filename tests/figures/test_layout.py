"""Panels in two columns."""

from __future__ import annotations

import io

import pytest

from localentropy.figures.drawing import letter
from localentropy.figures.layout import two_columns


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_last_of_an_odd_number_of_panels_is_as_wide_as_the_page(number: int) -> None:
    figure, axes = two_columns(number, 2.0)
    letter(axes)
    figure.savefig(io.BytesIO(), format="png", dpi=50)
    assert len(axes) == number == len(figure.axes)
    assert figure.get_size_inches().tolist() == [7.0, 2.0 * ((number + 1) // 2)]
    assert (axes[-1].get_position().width > 0.8) == bool(number % 2)
