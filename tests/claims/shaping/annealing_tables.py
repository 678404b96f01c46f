"""Tables of annealing on the cross-entropy, made by hand so that every claim about it holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

SAMPLES = 10


def annealing() -> pd.DataFrame:
    """The number of errors freezes, the cross-entropy solves up to α = 0.65."""
    stream = np.random.default_rng(1)
    rows: list[dict[str, Any]] = []
    for alpha in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        for energy, gamma in (("errors", np.nan), ("cross_entropy", 3.0)):
            for sample in range(SAMPLES):
                own = {"energy": energy, "gamma": gamma, "alpha": alpha, "N": 1001, "P": alpha * 1001, "sample": sample}
                solved = energy == "cross_entropy" and alpha < 0.65
                error = 0.0 if solved else 0.3 * alpha * stream.normal(1.0, 0.1)
                numbers = {"solved": solved, "solved_once": solved, "train_error_last": error}
                numbers["train_error_best"] = 0.99 * error
                rows += [own | {"quantity": name, "value": float(value)} for name, value in numbers.items()]
                trace = zip(np.geomspace(1, 301, 5), np.linspace(0.4, error, 5), strict=True)
                rows += [own | {"quantity": "train_error", "x": beta, "value": value} for beta, value in trace]
    table = pd.DataFrame(rows)
    table.attrs["parameters"] = {
        "energies": [{"energy": "errors", "gammas": None}, {"energy": "cross_entropy", "gammas": [3.0]}],
        **{"N": 1001, "samples": SAMPLES, "sweeps": 20000, "beta_start": 1.0, "beta_end": 301.0},
    }
    return table


def optimal_gamma() -> pd.DataFrame:
    """Highest at γ = 3; typical solutions, γ = ∞, are far below."""
    rows = []
    for alpha in (0.4, 0.6):
        for distance, bound in ((0.01, 0.056), (0.02, 0.098)):
            gammas = np.array([0.2, 1.0, 2.0, 3.0, 5.0, 10.0, 100.0])
            entropy = bound * (1.0 - alpha * (0.3 + 0.3 * np.log10(gammas / 3.0) ** 2))
            own = {"alpha": alpha, "distance": distance, "bound": bound}
            rows.append(pd.DataFrame(own | {"gamma": [*gammas, np.inf], "entropy": [*entropy, 0.2 * bound]}))
    return pd.concat(rows, ignore_index=True)


def optimal_gamma_annealing() -> pd.DataFrame:
    """The same up to γ = 3, less than that beyond; the instances' luck is common to all γ."""
    stream = np.random.default_rng(2)
    luck = stream.normal(1.0, 0.1, SAMPLES)
    theory = optimal_gamma()
    rows: list[dict[str, Any]] = []
    for row in theory[np.isfinite(theory["gamma"]) & (theory["gamma"] < 50)].itertuples():
        own = {"energy": "cross_entropy", "gamma": row.gamma, "alpha": round(row.alpha * 1001) / 1001, "N": 1001}
        for sample in range(SAMPLES):
            value = luck[sample] * row.entropy * min(1.0, (3.0 / row.gamma) ** 0.1) * stream.normal(1.0, 0.005)
            for quantity, part in (("local_entropy", 1.0), ("local_entropy_first", 0.7)):
                here = own | {"sample": sample, "quantity": quantity, "x": row.distance}
                rows.append(here | {"value": part * value})
            if row.distance == 0.01:
                rows.append(own | {"sample": sample, "quantity": "solved", "value": float(row.gamma > 0.8)})
    table = pd.DataFrame(rows)
    table.attrs["parameters"] = {"N": 1001, "samples": SAMPLES, "sweeps": 20000, "beta_start": 1.0, "beta_end": 301.0}
    return table
