"""The looks of the algorithms: each has its own, and they stay apart for eyes with a colour deficiency."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from localentropy.figures.algorithms import ALGORITHMS, shades_of
from localentropy.figures.drawing import PALETTES, colors_of
from localentropy.figures.overparam.figure6 import STARTS

# Machado, Oliveira and Fernandes (2009): linear RGB as dichromats see it.
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
RGB_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)


def lab(color: str, deficiency: np.ndarray) -> np.ndarray:
    """CIELAB coordinates of a colour as it is seen."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = RGB_TO_XYZ @ np.clip(deficiency @ linear, 0.0, 1.0) / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("name", DEFICIENCIES)
def test_colours_stay_apart(name: str) -> None:
    # The initializations of figure 6 are no algorithms, and look like none.
    looks = ALGORITHMS | STARTS
    seen = {key: lab(look["color"], np.array(DEFICIENCIES[name])) for key, look in looks.items()}
    distances = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in combinations(seen, 2)}
    closest = min(distances, key=distances.__getitem__)
    # A difference of 2 is just noticeable side by side.
    assert distances[closest] > 10, (closest, distances[closest])


def test_markers_differ() -> None:
    assert len({look["marker"] for look in ALGORITHMS.values()}) == len(ALGORITHMS)


@pytest.mark.parametrize("kind", PALETTES)
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_a_scale_of_colours_goes_one_way_in_lightness_and_can_be_read_on_white(kind, deficiency) -> None:
    colors = colors_of(range(8), of=kind).values()
    lightness = np.array([lab(to_hex(color), np.array(DEFICIENCIES[deficiency]))[0] for color in colors])
    assert (np.diff(lightness) > 0).all() or (np.diff(lightness) < 0).all()
    assert lightness.max() < 75.0


@pytest.mark.parametrize("algorithm", ["anneal", "focusing_bp", "sbpi"])
def test_shades_of_an_algorithm_get_darker(algorithm: str) -> None:
    shades = shades_of(algorithm, (67, 134, 201))
    lightness = [lab(to_hex(color), np.eye(3))[0] for color in shades.values()]
    assert list(shades) == [67, 134, 201] and 75.0 > lightness[0] > lightness[1] > lightness[2] > 0.0


def test_kinds_of_quantities_have_colours_of_their_own() -> None:
    every = [color for kind in PALETTES for color in colors_of((1, 2, 3), of=kind).values()]
    assert len(set(every)) == len(every)
