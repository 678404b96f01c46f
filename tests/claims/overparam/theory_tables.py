"""Tables of the theory's experiments, made by hand so that every claim about them holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

THRESHOLDS = {"0.0": 0.8775, "0.25": 1.2, "0.5": 1.68, "1.0": 2.9, "max": 0.8775}
"""Margin as written → 1/α at which its solutions begin."""
ALPHA_T = 3.0
ENSEMBLE = {"model": "random_features", "activation": "sign"}
DISTANCES = np.geomspace(1e-4, 0.5, 60)


def error_typical(inv_alpha, margin: Any = 0.0):
    return 0.29 - 0.05 * margin + 0.03 / inv_alpha


def error_barycenter(inv_alpha, margin: Any = 0.0):
    """Worse with a margin below 1/α = 4 + 2κ, better above."""
    return 0.15 + 0.11 / inv_alpha + 0.02 * margin * (1 / inv_alpha - 1 / (4 + 2 * margin))


def thresholds() -> pd.DataFrame:
    alpha_T = np.array([1e-3, 0.05, 0.5, 1.0, 3.0, 10.0])
    inv_alpha_c = np.array([1 / 0.83315, 1.19, 1.08, 1.0, 0.87748, 0.618])
    inv_alpha_le = inv_alpha_c + np.array([1 / 0.72911 - 1 / 0.83315, 0.17, 0.16, 0.15, 0.1386, 0.11])
    table = pd.DataFrame({"alpha_T": alpha_T, "inv_alpha_c": inv_alpha_c, "inv_alpha_le": inv_alpha_le})
    table.attrs["parameters"] = {"ensemble": ENSEMBLE}
    return table


def large_deviations() -> pd.DataFrame:
    """Loads slightly above those of `thresholds`: 4 %, and 6 % at zero external entropy."""
    at = thresholds()[lambda table: table["alpha_T"].isin([0.05, 3.0, 10.0])]
    alpha_le = 1.0 / at["inv_alpha_le"]
    table = pd.DataFrame({"alpha_T": at["alpha_T"], "best_alpha": 1.04 * alpha_le, "typical_alpha": 1.06 * alpha_le})
    table.attrs["parameters"] = {"ensemble": ENSEMBLE}
    return table.reset_index(drop=True)


def flat_solutions() -> pd.DataFrame:
    """Flat solutions are fewer, by less and less as 1/α grows."""
    inv_alpha = np.array([1.05, 1.2, 2.0, 10.0])
    typical = pd.DataFrame({"margin": 0.0, "inv_alpha": inv_alpha, "entropy": 0.65 - 0.5 / inv_alpha, "q": 0.4})
    flat = typical.assign(margin=0.1 / inv_alpha, entropy=typical["entropy"] - 0.1 / inv_alpha**3, q=0.5 / inv_alpha)
    return pd.concat([typical, flat], ignore_index=True)


def activations() -> pd.DataFrame:
    places = pd.DataFrame({"alpha_T": [1.0, 3.0], "inv_alpha_c": [1.06, 0.877], "inv_alpha_le": [1.22, 1.016]})
    table = pd.concat([places.assign(activation=name) for name in ("sign", "tanh", "erf")], ignore_index=True)
    table.attrs["parameters"] = {"ensemble": ENSEMBLE}
    return table


def activation_errors() -> pd.DataFrame:
    return pd.DataFrame({"activation": ["sign", "tanh", "erf"], "typical": [0.293, 0.24, 0.25]})


def convex_volume() -> pd.DataFrame:
    alpha = np.array([0.5, 1.0, 1.5, 1.9, 1.999])
    line = pd.DataFrame({"quantity": "volume", "alpha": alpha, "q": alpha / 2.0})
    return pd.concat([line, pd.DataFrame({"quantity": ["capacity"], "alpha": 2.0})], ignore_index=True)


def storage_limit() -> pd.DataFrame:
    activations, values = ["sign", "tanh", "erf"], [0.83319, 0.83322, 0.83321]
    return pd.DataFrame({"activation": activations, "alpha_T": 1e-3, "alpha_c": values})


def typical(points: int = 20) -> pd.DataFrame:
    lines = []
    for reference, start in THRESHOLDS.items():
        x = np.geomspace(start, 20.0, points)
        grown = np.log(x / start)
        largest = reference == "max"
        margin = 1.1 * grown if largest else np.full(points, float(reference))
        line = {
            "line": "inv_alpha",
            "reference": reference,
            "alpha_T": ALPHA_T,
            "inv_alpha": x,
            "margin": margin,
            "entropy": np.zeros(points) if largest else 0.3 * grown,
            "q": 0.9 - 0.1 * grown,
            "error_typical": 0.21 + 0.08 / x if largest else error_typical(x, margin),
            "error_barycenter": error_barycenter(x, margin),
        }
        lines.append(pd.DataFrame(line))
    for reference in ("0.0", "0.25", "0.5"):
        x = np.geomspace(0.05, 10.0, points)
        entropy = 0.3 * np.log(2.0 / THRESHOLDS[reference]) + 0.02 * np.log(x / 0.05)
        line = {"line": "alpha_T", "reference": reference, "alpha_T": x, "inv_alpha": 2.0, "entropy": entropy}
        lines.append(pd.DataFrame(line | {"margin": float(reference)}))
    table = pd.concat(lines, ignore_index=True)
    table.attrs["parameters"] = {"alpha_T": ALPHA_T, "ensemble": ENSEMBLE}
    return table


def optimal_margin() -> pd.DataFrame:
    x = np.geomspace(0.8775, 20.0, 40)  # as far as the lines of `typical`
    margin = 0.3 * np.maximum(0.0, x - 3.3721)
    table = pd.DataFrame(
        {"inv_alpha": x, "kappa_opt": margin, "error_barycenter": error_barycenter(x) - 0.001 * margin}
    )
    table.attrs["parameters"] = {"at": {"alpha_T": ALPHA_T}, "ensemble": ENSEMBLE}
    return table


def optimal_margin_onsets() -> pd.DataFrame:
    table = pd.DataFrame({"alpha_T": [1.0, 2.0, 3.0, 5.0], "onset": [4.68, 3.53, 3.3721, 3.63]})
    table.attrs["parameters"] = {"ensemble": ENSEMBLE}
    return table


def large_overparameterization() -> pd.DataFrame:
    rows = []
    for margin in (0.0, 0.5):
        for x in (10.0, 100.0, 1000.0, 1e6):
            typical, barycenter = 0.29 - 0.05 * margin, 0.15
            errors = {"error_typical": typical + 0.1 / x, "error_barycenter": barycenter + 0.1 / x}
            limits = {"limit_error_typical": typical, "limit_error_barycenter": barycenter}
            own = {"margin": margin, "inv_alpha": x, "q": 0.46 / x, "r": 0.82, "entropy": 0.69 - (1.0 + margin) / x}
            rows.append(own | errors | limits)
    return pd.DataFrame(rows)


def overparameterized_limit() -> pd.DataFrame:
    alpha_T = np.geomspace(0.05, 20.0, 12)
    lines = [
        pd.DataFrame(
            {"alpha_T": alpha_T, "margin": k, "error_typical": 0.45 - 0.05 * np.log(alpha_T / 0.05) - 0.05 * k}
        )
        for k in (0.0, 0.25, 0.5, 1.0)
    ]
    return pd.concat(lines, ignore_index=True)


def curve(name: str, margin, places, heights, d_typ=0.3, missing_below=0.0, x=DISTANCES, largest=0.238, **control):
    """A polygon of entropies; missing where the replica-symmetric solution has ended."""
    entropy = np.interp(x, places, heights)
    slope = np.diff(heights)[np.clip(np.searchsorted(places, x, side="right") - 1, 0, len(places) - 2)]
    slope = slope / np.diff(places)[np.clip(np.searchsorted(places, x, side="right") - 1, 0, len(places) - 2)]
    ended = x < missing_below
    return pd.DataFrame(
        {
            "curve": name,
            "reference": str(margin),
            "margin_ref": largest if margin == "max" else margin,
            "margin": margin if name == "same_margin" else 0.0,
            **(control or {"inv_alpha": 1.2}),
            "distance": x,
            "entropy": np.where(ended, np.nan, entropy),
            "slope": np.where(ended, np.nan, slope),
            "distance_typical": d_typ,
        }
    )


def franz_parisi() -> pd.DataFrame:
    bound = pd.DataFrame({"curve": "bound", "reference": "bound", "distance": DISTANCES, "entropy": 0.69})
    table = pd.concat(
        [
            bound,
            curve("reference", 0.0, [0, 0.019, 0.3, 0.5], [-0.02, 0, 0.24, 0.15], missing_below=1e-3),
            curve("reference", 0.03, [0, 5e-4, 2e-3, 0.012, 0.3, 0.5], [6e-4, -1e-3, -5e-3, 1e-3, 0.24, 0.15]),
            curve("reference", 0.05, [0, 5e-3, 0.01, 0.3, 0.5], [2e-3, 4e-3, 1e-3, 0.24, 0.15]),
            curve("reference", 0.1, [0, 0.3, 0.5], [5e-3, 0.24, 0.15]),
            curve("reference", "max", [0, 0.26, 0.5], [0.01, 0.25, 0.1], d_typ=0.26),
            curve("same_margin", 0.1, [0, 0.03, 0.3, 0.5], [-0.05, 0, 0.15, 0.1], missing_below=2e-3),
        ],
        ignore_index=True,
    )
    table.attrs["parameters"] = {"alpha_T": ALPHA_T, "inv_alpha": 1.2, "margin": 0.0, "ensemble": ENSEMBLE}
    return table


def franz_parisi_text() -> pd.DataFrame:
    x = np.geomspace(1e-4, 0.3, 40)
    places = [0, 1e-3, 2e-3, 0.3]
    monotonic = {margin: [0, 1e-3, 1.5e-3, 0.24] for margin in (0.0623, 0.08, 0.1, 0.14, 0.18, "max")}
    monotonic[0.0611] = [0, 1e-3, 9e-4, 0.24]
    return pd.concat(
        [
            *(curve("monotonic", margin, places, heights, x=x) for margin, heights in monotonic.items()),
            curve("isolated", 0.0, [0, 2e-3, 0.3], [-5e-3, 0, 0.15], missing_below=2e-4, x=x, inv_alpha=2.0),
            curve("isolated", 0.0, [0, 3e-4, 0.3], [-3e-4, 0, 0.15], x=x, inv_alpha=5.0),
            curve("same_margin", 0.21, [0, 0.02, 0.3], [-0.05, 0, 0.15], missing_below=1e-3, x=x).assign(
                reference="0.9 max"
            ),
            curve("threshold", "max", [0, 0.1, 0.15, 0.3], [1e-3, 0.05, 0.045, 0.15], x=x, inv_alpha=1.011),
            curve("threshold", "max", [0, 0.1, 0.15, 0.3], [1e-3, 0.05, 0.055, 0.15], x=x, inv_alpha=1.021),
        ],
        ignore_index=True,
    )


def franz_parisi_isolated() -> pd.DataFrame:
    """Gaps that only a fine grid sees."""
    x = np.geomspace(1e-8, 1e-3, 25)
    curves = [
        curve("isolated", 0.0, [0, gap, 1e-3], [-gap, 0, 7e-3], missing_below=0.1 * gap, x=x, inv_alpha=inv_alpha)
        for inv_alpha, gap in ((30.0, 2e-6), (100.0, 2e-7))
    ]
    return pd.concat(curves, ignore_index=True)


MODES = {1.5: 0.0, 2.0: 0.11, 3.0: 0.21, 5.0: 0.26, 10.0: 0.29, 15.0: 0.30, 20.0: 0.31, 30.0: 0.315}
"""1/α → where the density of stabilities is largest."""


def local_energy(distance):
    return 0.5 * np.sqrt(distance)


def stability_density() -> pd.DataFrame:
    tables = []
    x, d = np.linspace(0.0, 4.0, 400), np.linspace(0.0, 0.1, 400)
    for inv_alpha, mode in MODES.items():
        density = np.exp(-0.5 * (x - mode) ** 2)
        density /= np.trapezoid(density, x)
        for quantity, place, value in (("density", x, density), ("local_energy", d, local_energy(d))):
            rows = {"quantity": quantity, "inv_alpha": inv_alpha, "margin": 0.0, "x": place, "value": value}
            tables.append(pd.DataFrame(rows))
    return pd.concat(tables, ignore_index=True)


def typical_stabilities() -> pd.DataFrame:
    """Of the 1/α of `solution_surroundings`."""
    table = stability_density()
    below = table[table["inv_alpha"] == 2.0].assign(inv_alpha=1.2)
    return pd.concat([below, table[table["inv_alpha"].isin([2.0, 5.0])]], ignore_index=True)
