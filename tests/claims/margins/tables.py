"""Tables of the experiments of the paper on margins, made by hand so that every claim about them holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from localentropy.analysis.flatness import with_excess
from tests.claims.overparam.network_tables import SAMPLES, pairs
from tests.claims.overparam.theory_tables import curve

PERCEPTRON = {"model": "perceptron"}
SMALL = np.geomspace(1e-5, 0.5, 60)


def typical(points: int = 12) -> pd.DataFrame:
    lines = []
    for alpha, largest in ((0.2, 1.33), (0.5, 0.418), (0.8, 0.03)):
        x = np.linspace(0.0, largest, points)
        line = {"alpha": alpha, "margin": x, "entropy": (0.9 - alpha) * (1 - x / largest), "q": 0.3 + 0.3 * x}
        lines.append(pd.DataFrame(line))
    table = pd.concat(lines, ignore_index=True)
    table.attrs["parameters"] = {"ensemble": PERCEPTRON}
    return table


def largest_margin(points: int = 12) -> pd.DataFrame:
    loads = np.linspace(0.05, 0.8330786, points)
    table = pd.DataFrame({"alpha": loads, "margin": 3 - 3 * loads / loads[-1], "entropy": 0.0, "q": 0.6})
    table.attrs["parameters"] = {"ensemble": PERCEPTRON}
    return table


def franz_parisi() -> pd.DataFrame:
    """Entropies in units of that of all configurations next to the reference."""
    bound = pd.DataFrame({"curve": "bound", "reference": "bound", "distance": SMALL, "entropy": np.sqrt(SMALL)})
    curves = [
        curve("reference", 0.0, [0, 0.007, 0.3, 0.5], [-0.02, 0, 0.31, 0.2], missing_below=1e-4, x=SMALL, alpha=0.5),
        curve("same_margin", 0.2, [0, 0.03, 0.3, 0.5], [-0.05, 0, 0.15, 0.1], missing_below=2e-3, x=SMALL, alpha=0.5),
    ]
    # Margin → up to where all configurations are solutions, and heights at 1.5 times this distance and at 0.01.
    heights: dict[float | str, tuple[float, float, float]] = {
        0.02: (1.4e-5, -0.01, 0.02),
        0.033: (3.8e-5, 0.003, 0.03),
        0.2: (1.4e-3, 0.04, 0.06),
        "max": (6.1e-3, 0.0795, 0.08),
    }
    for margin, (radius, *values) in heights.items():
        places, at = [radius, 1.5 * radius, 0.01, 0.3, 0.5], [np.sqrt(radius), *values, 0.31, 0.2]
        rows = curve("reference", margin, places, at, x=SMALL, largest=0.418, alpha=0.5)
        free = radius > SMALL
        rows.loc[free, "entropy"] = np.sqrt(SMALL[free])
        rows.loc[free, "slope"] = 0.5 / np.sqrt(SMALL[free])
        curves.append(rows)
    table = pd.concat([bound, *curves], ignore_index=True)
    # The maximum is round.
    top = (table["curve"] == "reference") & (table["distance"] > 0.2)
    table.loc[top, "slope"] = 0.3 - table.loc[top, "distance"]
    table["replicon"] = np.where(table["entropy"] < -0.01, 2.0, 0.3)
    table.attrs["parameters"] = {"ensemble": PERCEPTRON, "alpha": 0.5, "margin": 0.0}
    return table


def franz_parisi_margin() -> pd.DataFrame:
    """As `franz_parisi`, for solutions of margin 0.1."""
    table = franz_parisi()
    table = table[(table["curve"] == "reference") & (table["margin_ref"] > 0)]
    table = table.assign(margin=0.1, margin_ref=0.1 + table["margin_ref"])
    table["reference"] = table["reference"].replace({"0.02": "0.11", "0.033": "0.12"})
    same = curve("same_margin", 0.1, [0, 0.03, 0.3, 0.5], [-0.05, 0, 0.15, 0.1], missing_below=2e-3, x=SMALL, alpha=0.5)
    table = pd.concat([same, table], ignore_index=True)
    table.attrs["parameters"] = {"ensemble": PERCEPTRON, "alpha": 0.5, "margin": 0.1}
    return table


def _storage(sizes: tuple[int, ...], half: float) -> pd.DataFrame:
    """Half of the runs store their patterns at a load, all at smaller and none at larger ones."""
    rows = [
        {"N": N, "P": round(alpha * N), "alpha": alpha, "sample": sample}
        | {"solved": float(sample < 10 * (0.5 + 8 * (half - alpha)))}
        for N in sizes
        for alpha in (0.6, 0.65, 0.7, 0.72, 0.74, 0.78, 0.8)
        for sample in range(10)
    ]
    return pd.DataFrame(rows).assign(train_error=0.01, iterations=100)


def storage_focusing_bp() -> pd.DataFrame:
    table = _storage((201, 1001), 0.7)
    table.attrs["parameters"] = {"replicas": 20.0, "steps": 30, "max_iterations": 20}
    return table


def storage_sbpi() -> pd.DataFrame:
    table = _storage((501, 2001), 0.68)
    table.attrs["parameters"] = {"theta": 1, "reinforcement": 0.3, "passes": 3000}
    return table


def franz_parisi_text() -> pd.DataFrame:
    x = np.geomspace(1e-5, 0.3, 40)
    rows = [
        curve("isolated", 0.0, [0, 7e-4, 0.3], [-1e-3, 0, 0.4], x=x, alpha=0.2),
        curve("isolated", 0.0, [0, 7e-3, 0.3], [-0.01, 0, 0.3], missing_below=1e-4, x=x, alpha=0.5),
        curve("isolated", 0.0, [0, 0.03, 0.3], [-0.05, 0, 0.15], missing_below=2e-3, x=x, alpha=0.7),
        curve("isolated", 0.0, [0, 0.1, 0.3], [-0.07, 0, 0.01], missing_below=7e-3, x=x, alpha=0.83),
        curve("same_margin", 0.21, [0, 0.02, 0.3], [-0.05, 0, 0.15], missing_below=1e-3, x=x, alpha=0.5).assign(
            reference="0.5 max"
        ),
        curve("same_margin", 0.38, [0, 0.02, 0.3], [-0.08, 0, 0.1], missing_below=1e-3, x=x, alpha=0.5).assign(
            reference="0.9 max"
        ),
        curve("threshold", "max", [0, 0.1, 0.15, 0.3], [1e-3, 0.05, 0.055, 0.1], x=x, alpha=0.7254),
        curve("threshold", "max", [0, 0.1, 0.15, 0.3], [1e-3, 0.05, 0.045, 0.1], x=x, alpha=0.7327),
    ]
    table = pd.concat(rows, ignore_index=True)
    table.attrs["parameters"] = {"ensemble": PERCEPTRON}
    return table


def one_step() -> pd.DataFrame:
    """No splitting but at α = 0.8, at the distances where the replicon is above 1, in small blocks."""
    rows = []
    for name, alpha, top in (("max_margin", 0.5, 0.2), ("max_margin", 0.75, 0.4), ("unstable", 0.8, 1.7)):
        for blocks in ("0.1", "0.6"):
            d = np.geomspace(1e-4, 0.2, 9)
            replicon = np.interp(d, [1e-4, 3e-3, 0.2], [0.001, top, 0.5 * top])
            split = np.where((replicon > 1) & (blocks == "0.1"), 1e-3, 0.0)
            row = {"curve": name, "alpha": alpha, "reference": "max", "blocks": blocks, "margin_ref": 1 - alpha}
            q1 = 1 - 2 * d
            more = {"q0": q1 - split, "q1": q1, "block": float(blocks), "entropy": -split, "entropy_rs": 0.0}
            rows.append(pd.DataFrame(row | {"distance": d, "replicon": replicon} | more))
    return pd.concat(rows, ignore_index=True)


def _committee(activation: str, threshold: float) -> pd.DataFrame:
    x = np.geomspace(1e-5, 0.15, 40)
    rows = [
        curve("max_margin", "max", [0, 0.05, 0.1, 0.15], [1e-3, 0.05, at, 0.1], x=x, alpha=alpha)
        for alpha, at in ((0.9 * threshold, 0.06), (0.98 * threshold, 0.055), (1.02 * threshold, 0.045))
    ]
    table = pd.concat(rows, ignore_index=True)
    table.attrs["parameters"] = {"ensemble": {"model": "tree_committee", "activation": activation}}
    return table


def relu_curves() -> pd.DataFrame:
    return _committee("relu", 0.7725)


def sign_curves() -> pd.DataFrame:
    return _committee("sign", 0.5578)


def planted() -> pd.DataFrame:
    x = np.geomspace(1e-5, 0.15, 40)
    rows = [
        curve("max_margin", "max", [0, 0.05, 0.1, 0.15], [1e-3, 0.05, 0.055, 0.1], x=x, alpha=1.03),
        curve("threshold", "max", [0, 0.05, 0.1, 0.15], [1e-3, 0.05, 0.05, 0.1], x=x, alpha=1.0466),
        curve("max_margin", "max", [0, 0.05, 0.1, 0.15], [1e-3, 0.05, 0.045, 0.1], x=x, alpha=1.06),
    ]
    table = pd.concat(rows, ignore_index=True)
    table.attrs["parameters"] = {"ensemble": {"model": "teacher_student"}}
    return table


def dense_regions() -> pd.DataFrame:
    models = {
        "perceptron": PERCEPTRON,
        "relu": {"model": "tree_committee", "activation": "relu"},
        "sign": {"model": "tree_committee", "activation": "sign"},
        "planted": {"model": "teacher_student"},
    }
    ends = {"perceptron": (0.833, 0.729, 0.748), "relu": (0.904, 0.7725, 0.7955), "sign": (0.947, 0.5578, 0.5731)}
    ends["planted"] = (1.2447, 1.0466, 1.0818)
    rows = []
    for name, at in ends.items():
        for line, end, middle in zip(("kappa_max", "kappa_u", "kappa_min"), at, (0.418, 0.0364, 0.0291), strict=True):
            common = {"ensemble": name, "line": line}
            rows += [common | {"alpha": alpha, "margin": middle, "end": False} for alpha in (0.3, 0.4, 0.5)]
            rows.append(common | {"alpha": end, "margin": 0.1, "end": True, "distance": 0.005})
    table = pd.DataFrame(rows)
    table.attrs["parameters"] = {"ensembles": models}
    return table


def large_deviations() -> pd.DataFrame:
    """Thresholds slightly above those of `dense_regions`, and a curve above that of `franz_parisi` by a little."""
    models = {"perceptron": PERCEPTRON, "planted": {"model": "teacher_student"}}
    rows = [
        {"ensemble": name, "line": "alpha_u", "load": "U", "alpha": alpha, "distance": 0.02, "entropy": 0.04}
        for name, alpha in (("perceptron", 0.755), ("planted", 1.086))
    ]
    rows += [
        own | {"line": "alpha_u_typical", "alpha": alpha} for own, alpha in zip(rows, (0.7665, 1.098), strict=True)
    ]
    x = np.geomspace(1e-4, 0.5, 40)
    curves = []
    for load, alpha in (("0.5", 0.5), ("U", 0.755)):
        values = np.interp(x, [0.01, 0.02, 0.3, 0.5], [0.1, 0.14, 0.34, 0.34])
        rising = {"distance": x, "entropy": np.where(x < 0.01, np.sqrt(x), values), "slope": 1.0}
        curve = pd.DataFrame({"ensemble": "perceptron", "line": "curve", "load": load, "alpha": alpha} | rising)
        curves += [curve, curve.assign(line="curve_typical", entropy=curve["entropy"] - 0.001)]
    table = pd.concat([pd.DataFrame(rows), *curves], ignore_index=True)
    table["slope"] = table["slope"].fillna(0.0)
    table.attrs["parameters"] = {"ensembles": models}
    # From the distance of typical solutions on there are many best references, and the curve is flat.
    return table.assign(external_entropy=np.where(table["distance"] > 0.3, 0.1, -0.1), residual=1e-11)


def local_entropy(samples: int = 10) -> pd.DataFrame:
    """Solutions with the entropy of the curve of the largest margin next to them, and a little more away from them."""
    distances = np.array([0.002, 0.005, 0.01, 0.02, 0.03, 0.044, 0.063, 0.092, 0.135, 0.195, 0.28])
    # The luck of an instance is the same at all distances.
    luck = np.random.default_rng(1).normal(1.0, 0.3, samples)
    excess = 0.01 * np.outer(luck, np.clip(1.0 - 0.02 / distances, 0.0, None))
    excess += np.random.default_rng(2).normal(0.0, 1e-4, excess.shape)
    theory = franz_parisi()
    theory = theory[(theory["curve"] == "reference") & (theory["reference"] == "max")]
    table = pd.DataFrame({"sample": np.repeat(np.arange(samples), distances.size), "entropy": excess.ravel()})
    table["distance"] = np.tile(distances, samples)
    table["entropy"] += table["entropy"] - with_excess(table, theory)["excess"]
    sizes = {"P": 500, "N": 1001, "alpha": 500 / 1001, "margin_ref": 0.0, "margin": 0.0}
    table["peak"] = 0.97 + 0.002 * table["sample"]
    table["field"] = np.log(1.0 / table["distance"] - 1.0) / 2.0
    return table.assign(**sizes, solved=1.0, smallest_stability=0.2, converged=1.0, residual=1e-7)


def _binary_mlp(threshold: int, level: float) -> pd.DataFrame:
    """Networks that solve up to the second of four numbers of patterns; their energies are convex there."""
    stream = np.random.default_rng(threshold)
    rows: list[dict[str, Any]] = []
    for step, patterns in enumerate((threshold // 2, threshold, 2 * threshold, 4 * threshold)):
        for quantity, mean in (("overlap", level + 0.03 * step), ("overlap_untrained", 0.09)):
            rows += [{"quantity": quantity, "patterns": patterns} | pair for pair in pairs(stream, mean)]
        for sample in range(SAMPLES):
            one = {"patterns": patterns, "sample": sample}
            rows.append(one | {"quantity": "train_error", "value": max(0.0, 0.01 * (step - 1))})
            for d in (0.002, 0.01, 0.05, 0.1, 0.2) if step < 2 else ():
                energy = 20 * d**2 * stream.normal(1.0, 0.02)
                rows.append(one | {"quantity": "flipped_train_error", "distance": d, "value": energy})
                sharp = np.sqrt(d) * stream.normal(1.0, 0.02)
                rows.append(one | {"quantity": "flipped_control_error", "distance": d, "value": sharp})
    return pd.DataFrame(rows).assign(layer=np.nan)


def binary_mlp_mnist() -> pd.DataFrame:
    return _binary_mlp(1000, 0.2)


def binary_mlp_fashion_mnist() -> pd.DataFrame:
    return _binary_mlp(300, 0.12)


def binary_mlp_cifar10() -> pd.DataFrame:
    return _binary_mlp(200, 0.06)
