"""Tables of the theory of the paper `shaping`, made by hand so that every claim about them holds."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

OVERLAPS = np.array([0.1, 0.5, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.999])


def _groups(machine: str, units: float, alphas: tuple[float, ...]) -> pd.DataFrame:
    """Entropies that vanish at overlap 1, faster than 1 − q₁; the parity machine's as the paper has them."""
    curves = [
        pd.DataFrame({"alpha": alpha, "overlap": OVERLAPS, "entropy": -1.6 * alpha**2 * (1.0 - OVERLAPS) ** 1.5})
        for alpha in alphas
    ]
    return pd.concat(curves, ignore_index=True).assign(machine=machine, units=units)


def wide_minima() -> pd.DataFrame:
    return _groups("committee", 3.0, (1.0, 2.0, 3.02))


def wide_minima_many_units() -> pd.DataFrame:
    return _groups("committee", math.inf, (1.0, 2.5))


def wide_minima_parity() -> pd.DataFrame:
    table = _groups("parity", 3.0, (0.3, 1.0))
    return table.assign(entropy=-table["alpha"] * math.log(2.0))


def parity_solutions() -> pd.DataFrame:
    """Six solutions at three overlaps, near the paper's constant. At the smallest overlap one has no number."""
    scatter = {0.9: (0.97, 1.03, 0.98, 1.02, 1.0, math.nan), 0.95: (0.97, 1.03, 0.98, 1.02, 0.99, 1.01)}
    rows = [
        {"N": 99, "alpha": 30 / 99, "sample": sample, "overlap": overlap, "entropy": -part * 30 / 99 * math.log(2.0)}
        for overlap, parts in (scatter | {0.98: scatter[0.95][::-1]}).items()
        for sample, part in enumerate(parts)
    ]
    table = pd.DataFrame(rows)
    table = table.assign(fraction=np.exp(99 * table["entropy"]).fillna(0.0))
    table.attrs["parameters"] = {"alpha": 0.3, "draws": 2000}
    return table


def cross_entropy_minimizers() -> pd.DataFrame:
    alphas = np.linspace(0.4, 0.9, 6)
    curves = [
        pd.DataFrame({"alpha": alphas, "gamma": gamma, "error": 0.1 * np.exp(-5.0 * gamma * (0.95 - alphas) - gamma)})
        for gamma in (0.5, 1.0, 2.0, 3.0)
    ]
    table = pd.concat(curves, ignore_index=True)
    return table.assign(
        error=table["error"] * np.where(table["gamma"] < 1.0, 1.0, np.clip(table["alpha"] - 0.39, 0, 1)), alpha_c=0.8331
    )


def cross_entropy_franz_parisi() -> pd.DataFrame:
    """Parts of the bound: the closer to all of it, the sharper the loss; gaps where the paper says so."""
    d = np.geomspace(1e-4, 0.3, 24)
    bound = np.sqrt(d)
    parts = {
        (0.4, 1.0): 0.98 - d, (0.4, 2.0): 0.99 - d, (0.4, math.inf): 0.6 - 0.002 / d,
        (0.6, 1.0): 0.6 - 0.002 / d, (0.6, 2.0): np.where(d > 2e-4, 0.7 - d - 0.001 / d, np.nan), (0.6, 3.0): 0.965 - d,
    }  # fmt: skip
    curves = [
        pd.DataFrame({"alpha": alpha, "gamma": gamma, "distance": d, "entropy": part * bound, "bound": bound})
        for (alpha, gamma), part in parts.items()
    ]
    table = pd.concat(curves, ignore_index=True)
    ended = (table["alpha"] == 0.6) & (table["gamma"] == 1.0) & (table["distance"] < 1e-3)
    return table.assign(entropy=table["entropy"].mask(ended))
