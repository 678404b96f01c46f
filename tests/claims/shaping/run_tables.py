"""Tables of the algorithms' runs of the paper `shaping`, made by hand so that every claim about them holds."""

from __future__ import annotations

import numpy as np
import pandas as pd

DISTANCES = np.array([0.005, 0.01, 0.02, 0.05, 0.12, 0.2, 0.3, 0.4])
TREE = {"fbp": 0.4, "elal": 1.1, "ce_slow": 1.9, "ce_fast": 2.3, "lal": 15.0}
"""Decrease of the local entropy with the distance at D = 0.01, per cent."""


def _local_entropy(scales: dict[str, float], samples: int, seed: int) -> pd.DataFrame:
    """Lower for a larger scale at small distances, higher at large ones; the training set's luck is common."""
    stream = np.random.default_rng(seed)
    luck = 1.0 + 0.1 * stream.standard_normal(samples)
    rows = []
    for name, scale in scales.items():
        for sample in range(samples):
            near = scale * DISTANCES * np.clip(1.0 - DISTANCES / 0.27, 0.0, None)
            far = 3.0 * DISTANCES * (1.0 + 0.1 * (np.clip(DISTANCES / 0.27, 1.0, None) - 1.0) * (15.0 - scale))
            entropy = -luck[sample] * (near + far * DISTANCES) * stream.normal(1.0, 0.01, DISTANCES.size)
            rows.append(pd.DataFrame({"algorithm": name, "sample": sample, "distance": DISTANCES, "entropy": entropy}))
    table = pd.concat(rows, ignore_index=True)
    table = table.assign(solved=1.0, converged=1.0, residual=1e-9, iterations=50)
    return table.assign(alpha=1000 / 999, P=1000, N=999, units=9)


def tree_local_entropy() -> pd.DataFrame:
    return _local_entropy(TREE, 10, 1)


def replica_numbers_local_entropy() -> pd.DataFrame:
    """Of the training sets of `tree_local_entropy`: its luck."""
    return _local_entropy({"elal_10": 1.85, "elal_20": 1.1, "elal_100": 0.7}, 10, 1)


def fashion_local_entropy() -> pd.DataFrame:
    return _local_entropy({"elal": 0.019, "ce_slow": 0.01, "ce_fast": 0.25, "lal": 0.9}, 8, 2)


def shuffled_local_entropy() -> pd.DataFrame:
    return _local_entropy({"elal": 0.09, "ce_slow": 0.03, "ce_fast": 0.28, "lal": 1.2}, 8, 2)


def tree_spectra() -> pd.DataFrame:
    """Narrower at the lower β; the largest eigenvalue ends a spectrum near zero."""
    ends = {"all": {"fbp": 15.0, "elal": 16.0, "ce_slow": 19.0, "ce_fast": 38.0, "lal": 55.0}}
    ends["without_lal"] = {"fbp": 0.68, "elal": 0.75, "ce_slow": 0.86, "ce_fast": 1.02, "lal": 1.18}
    stream = np.random.default_rng(4)
    rows = []
    for rule, algorithms in ends.items():
        for name, end in algorithms.items():
            for sample in range(8):
                top = end * stream.normal(1.0, 0.02)
                bulk = np.sort(0.1 * end * stream.standard_normal(40))
                own = {"rule": rule, "beta": 25.0 if rule == "all" else 2.0, "algorithm": name, "sample": sample}
                values = [*bulk, top]
                rows.append(
                    pd.DataFrame(own | {"quantity": "eigenvalue", "rank": np.arange(len(values)), "value": values})
                )
                rows.append(pd.DataFrame([own | {"quantity": "largest_eigenvalue", "value": top}]))
    return pd.concat(rows, ignore_index=True)


def _solutions(epochs: dict[str, tuple[int, int]], runs: int, sizes: dict[str, float]) -> pd.DataFrame:
    stream = np.random.default_rng(5)
    rows = []
    for name, (mean, deviation) in epochs.items():
        iterations = mean + deviation * stream.uniform(-1.0, 1.0, runs)
        rows.append(pd.DataFrame({"algorithm": name, "sample": np.arange(runs), "iterations": iterations.round()}))
    table = pd.concat(rows, ignore_index=True).assign(units=9, solved=1.0, train_error=0.0, **sizes)
    table.attrs["parameters"] = {"algorithms": {name: {"replicas": 20} if name == "elal" else {} for name in epochs}}
    return table


def tree_solutions() -> pd.DataFrame:
    epochs = {"fbp": (2000, 100), "elal": (880, 60), "ce_slow": (12990, 60), "ce_fast": (740, 60), "lal": (79, 10)}
    return _solutions(epochs, 8, {"P": 1000, "N": 999, "alpha": 1000 / 999, "test_error": np.nan})


def fashion_solutions() -> pd.DataFrame:
    epochs = {"elal": (180, 30), "ce_slow": (3550, 50), "ce_fast": (450, 90), "lal": (60, 20)}
    table = _solutions(epochs, 8, {"P": 500, "N": 7056, "alpha": 500 / 7056})
    errors = table["algorithm"].map({"lal": 0.16, "ce_fast": 0.085, "elal": 0.075, "ce_slow": 0.065})
    luck = 1e-4 * (table["sample"] * errors.rank(method="dense") % 4)  # each algorithm has its own
    return table.assign(test_error=errors + 0.002 * (table["sample"] % 4) + luck)


def fashion_spectra() -> pd.DataFrame:
    runs = fashion_solutions()
    runs.attrs.clear()
    ends = runs["algorithm"].map({"lal": 15000.0, "ce_fast": 5000.0, "ce_slow": 2500.0, "elal": 400.0})
    table = runs[["algorithm", "sample"]].assign(
        rule="paper", beta=90.0, quantity="largest_eigenvalue", value=ends * (1 + 0.1 * (runs["sample"] % 3))
    )
    ours = table.assign(rule="all", beta=120.0, value=2.0 * table["value"])
    smallest = ours.assign(quantity="smallest_beta", value=2.0)
    return pd.concat([table, ours, smallest], ignore_index=True)


def _noise(seed: int, levels: dict[str, float]) -> pd.DataFrame:
    stream = np.random.default_rng(seed)
    rows = []
    for name, level in levels.items():
        for sample in range(8):
            luck = stream.normal(1.0, 0.02)
            for probability in (0.0, 0.1, 0.3):
                errors = level * luck * 10.0 * probability * stream.normal(1.0, 0.01, 3)
                own = {"algorithm": name, "sample": sample, "P": 500, "probability": probability}
                rows.append(pd.DataFrame(own | {"draw": range(3), "train_error": errors}))
    return pd.concat(rows, ignore_index=True)


def fashion_noise() -> pd.DataFrame:
    return _noise(6, {"ce_slow": 0.02, "elal": 0.022, "ce_fast": 0.03, "lal": 0.1})


def shuffled_noise() -> pd.DataFrame:
    return _noise(7, {"ce_slow": 0.026, "elal": 0.03, "ce_fast": 0.04, "lal": 0.13})


def _three_units(loads: tuple[float, ...], below: float, seed: int) -> pd.DataFrame:
    """V₁ around fBP's solutions of three units, below that of the table `wide_minima`; messages fail far away."""
    stream = np.random.default_rng(seed)
    rows = []
    for alpha in loads:
        for sample in range(6):
            d = np.array([0.002, 0.005, 0.01, 0.02])
            entropy = -(alpha**2) * (1.0 - (1.0 - 2.0 * d) ** 2) * below * stream.normal(1.0, 0.01, d.size)
            converged = (d < 0.03 / alpha).astype(float)
            own = {"algorithm": "fbp", "sample": sample, "alpha": alpha, "solved": 1.0, "units": 3, "N": 999}
            rows.append(pd.DataFrame(own | {"distance": d, "entropy": entropy, "converged": converged}))
    table = pd.concat(rows, ignore_index=True)
    return table.assign(entropy=table["entropy"].where(table["converged"] == 1))


def units3_local_entropy() -> pd.DataFrame:
    return _three_units((1.0,), 1.2, 8)


def broken_phase_local_entropy() -> pd.DataFrame:
    return _three_units((2.0, 2.4), 1.2, 9)


def capacity_three_units() -> pd.DataFrame:
    rows = [
        {"algorithm": "fbp", "alpha": alpha, "sample": sample, "solved": float(alpha < 2.95 - 0.02 * sample)}
        for alpha in np.arange(2.4, 3.1, 0.1)
        for sample in range(6)
    ]
    return pd.DataFrame(rows).assign(units=3)


def belief_volume() -> pd.DataFrame:
    rows = []
    for P in (500, 999, 1499, 1698, 1898, 2198):
        alpha = P / 999
        for sample in range(8):
            luck = 0.01 * np.sin(3 * sample + P)
            own = {"alpha": alpha, "sample": sample, "converged": float(alpha < 1.75 or (sample == 0 and alpha < 2))}
            rows.append(own | {"entropy": -0.3 * alpha - 0.05 * alpha**2 + luck, "overlap": 0.3 * alpha})
    return pd.DataFrame(rows).assign(N=999, units=3, iterations=100)


def typical_volume() -> pd.DataFrame:
    alpha = np.linspace(0.1, 3.0, 30)
    entropy = -0.3 * alpha - 0.05 * alpha**2
    line = {"quantity": "volume", "alpha": alpha, "units": 3.0, "entropy": entropy, "replicon": alpha / 1.76}
    other = line | {"units": np.inf, "replicon": alpha / 2.95}
    kinds = ["clustering", "capacity", "capacity_one_step"]
    ends = {"quantity": kinds, "alpha": [1.76, 4.0, 3.02], "units": 3.0, "entropy": [-0.7, np.nan, np.nan]}
    many = {"quantity": ["clustering"], "alpha": 2.95, "units": np.inf, "entropy": -1.1}
    return pd.concat([pd.DataFrame(rows) for rows in (line, other, ends, many)], ignore_index=True)


def capacities() -> pd.DataFrame:
    """Solved up to an α of each algorithm's own."""
    return _solved_up_to({"fbp": 2.6, "lal": 2.35, "lal_free": 2.4, "ce_fast": 1.9})


def slow_capacities() -> pd.DataFrame:
    """The same of the slow gradient-based algorithm."""
    return _solved_up_to({"ce_slow": 1.7})


def _solved_up_to(ends: dict[str, float]) -> pd.DataFrame:
    rows = [
        {"algorithm": name, "alpha": alpha, "sample": sample, "solved": float(alpha < end - 0.02 * sample)}
        for name, end in ends.items()
        for alpha in np.arange(1.4, 2.9, 0.2)
        for sample in range(6)
    ]
    table = pd.DataFrame(rows).assign(units=9)
    table.attrs["parameters"] = {"algorithms": {name: {"epochs": 5000} for name in ends}}
    return table
