"""Tables of trained networks, made by hand with seeded noise so that every claim about them holds."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

SIGMAS = [0.0, 0.001, 0.002, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4, 0.7]


SAMPLES = 6
"""Networks of each kind."""


def pairs(stream: np.random.Generator, mean: float) -> list[dict[str, Any]]:
    """A quantity of every pair of samples, to which each of the two adds its own deviation."""
    own = stream.normal(0.0, 0.001, SAMPLES)
    return [
        {"sample": one, "other": two, "value": mean + own[one] + own[two]}
        for one, two in combinations(range(SAMPLES), 2)
    ]


def _noise(
    stream: np.random.Generator, curvature: float, name: str = "noise", raw: bool = True
) -> list[dict[str, Any]]:
    """A profile that starts flat: distance, if `raw` not per unit too, and train error at every level of noise."""
    rows = []
    for sigma in SIGMAS:
        error = min(0.5, curvature * sigma**2) + (stream.normal(0.0, 2e-5) if sigma > 0.005 else 0.0)
        error *= error > 1.2e-4
        rows.append({"quantity": f"{name}_distance", "sigma": sigma, "value": sigma})
        if raw:
            rows.append({"quantity": f"{name}_distance_raw", "sigma": sigma, "value": 7 * sigma})
        rows.append({"quantity": f"{name}_train_error", "sigma": sigma, "value": error})
    return rows


def _hessian(curvature: float) -> list[dict[str, Any]]:
    """Trace, also of two layers, and largest eigenvalue."""
    shares = {np.nan: 1.0, 0: 0.3, 1: 0.7}
    traces = [
        {"quantity": "hessian_trace", "layer": layer, "value": part * curvature} for layer, part in shares.items()
    ]
    return [*traces, {"quantity": "hessian_largest", "value": 0.2 * curvature}]


def mlp() -> pd.DataFrame:
    stream = np.random.default_rng(11)
    rows: list[dict[str, Any]] = []
    # 0.2 + 1.6/√width, but for the first.
    overlaps = {4: 0.9, 8: 0.766, 12: 0.662, 20: 0.558, 40: 0.453, 80: 0.379}
    for start, first, worse in (("random_orthogonal", 8, 0.0), ("adversarial", 12, 0.02)):
        for width in (4, 8, 12, 20, 40, 80):
            here = {"initialization": start, "width": width, "parameters": 50 * width}
            for quantity, mean in (("overlap", overlaps[width]), ("overlap_untrained", overlaps[width] + 0.005)):
                rows += [here | {"quantity": quantity} | pair for pair in pairs(stream, mean)]
            for sample in range(SAMPLES):
                one = here | {"sample": sample}
                error = stream.normal(0.07 + 0.2 / min(width, 40) + worse, 0.003)
                # At the threshold one of six networks does not solve, and is an odd one.
                solved = width > first or (width == first and sample > 0)
                rows.append(one | {"quantity": "train_error", "value": 0.0 if solved else 0.05})
                rows.append(one | {"quantity": "test_error", "value": error if solved else 0.5})
                curvature = stream.normal(24.0, 1.0) / width
                rows += [one | row for row in _noise(stream, curvature if solved else 500.0)]
                rows += [one | row for row in _hessian(curvature)]
                rows.append(one | {"quantity": "silent_units", "value": float(sample == 0)})
                for hidden, mean in enumerate((0.4, 0.9)):
                    moved = stream.normal(mean, 0.02)
                    rows.append(one | {"quantity": "activation_change", "layer": hidden, "value": moved})
                for layer in (np.nan, 0, 1):
                    own = 1.0 - stream.normal(1.0, 0.05) / (width + 5)
                    rows.append(one | {"quantity": "overlap_start", "layer": layer, "value": own})
                if start == "adversarial":
                    learned = 0.0 if width == 80 else 1.0 / width
                    rows.append(one | {"quantity": "random_label_error", "value": learned})
                    rows.append(one | {"quantity": "random_label_overlap_start", "value": 1.0 - 0.5 / width})
                    rows += [one | row for row in _noise(stream, 20 * curvature, "random_label_noise")]
    return pd.DataFrame(rows)


FRACTIONS = {0.2: (0, 0), 0.25: (0, 0), 0.3: (2, 0), 0.4: (8, 6), 0.5: (8, 8), 1.0: (8, 8), 2.0: (8, 8)}
"""N/P → training sets of 8 that focusing BP and SGD solve."""


def _committee(algorithm: int, starts: int) -> pd.DataFrame:
    stream = np.random.default_rng(12 + algorithm)
    sets = np.random.default_rng(12).normal(0.0, 0.01, 8)
    rows: list[dict[str, Any]] = []
    for inv_alpha, fractions in FRACTIONS.items():
        for sample in range(8):
            here = {"D": 60, "P": 300, "N": round(300 * inv_alpha), "inv_alpha": inv_alpha, "sample": sample}
            solved = sample < fractions[algorithm]
            error = 0.3 - 0.05 * np.log(inv_alpha / 0.25) + sets[sample] + 0.006 * algorithm
            for start in range(starts):
                one = here | {"start": start}
                rows.append(one | {"quantity": "solved", "value": float(solved)})
                rows.append(one | {"quantity": "test_error", "value": stream.normal(error, 0.001)})
                if solved:
                    curvature = (0.5 + 0.3 * algorithm) * (0.5 / inv_alpha) ** 0.5
                    rows += [one | row for row in _noise(stream, curvature, raw=False)]
            if solved and starts == 2:
                overlap = stream.normal(0.6 - 0.1 * np.log(inv_alpha / 0.4), 0.01)
                rows.append(here | {"start": 0, "other": 1, "quantity": "overlap", "value": overlap})
    return pd.DataFrame(rows)


def committee_focusing_bp() -> pd.DataFrame:
    return _committee(0, starts=1)


def committee_sgd() -> pd.DataFrame:
    return _committee(1, starts=2)


def cnn() -> pd.DataFrame:
    stream = np.random.default_rng(14)
    rows: list[dict[str, Any]] = []
    for optimizer, first in (("sgd", 6), ("adam", 4)):
        for width in (2, 3, 4, 6, 8, 16):
            here = {"optimizer": optimizer, "width": width, "parameters": 450 * width**2}
            for quantity, mean in (("overlap", 0.5 - 0.01 * width), ("overlap_untrained", 0.495 - 0.01 * width)):
                rows += [here | {"quantity": quantity} | pair for pair in pairs(stream, mean)]
            for sample in range(SAMPLES):
                one = here | {"sample": sample}
                rows.append(one | {"quantity": "solved", "value": float(width >= first)})
                rows.append(one | {"quantity": "test_error", "value": stream.normal(0.35 + 0.5 / width, 0.005)})
                if width >= first:
                    curvature = (24.0 if optimizer == "sgd" else 32.0) / (4 + width / 4)
                    rows += [one | row for row in _noise(stream, curvature)]
                    rows += [one | row for row in _hessian(curvature * (1 + 0.02 * sample))]
                for layer in range(5):
                    way = (0.05 + 0.1 * layer) * stream.normal(1.0, 0.05)
                    rows += [
                        one
                        | {"quantity": "overlap_start", "layer": layer, "epoch": epoch, "value": 1.0 - way * epoch / 40}
                        for epoch in (0, 10, 20, 40)
                    ]
                whole = 1.0 - 0.4 * stream.normal(1.0, 0.05)
                rows.append(one | {"quantity": "overlap_start", "epoch": 40, "value": whole})
    table = pd.DataFrame(rows)
    table.attrs["parameters"] = {"training_patterns": 1500}
    return table
