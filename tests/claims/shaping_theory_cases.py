"""Cases of the claims of the paper `shaping` on the theory."""

from __future__ import annotations

import math

import numpy as np

from tests.claims.cases import Case, above, add, below, only, other_than, put, times

SHAPING_THEORY: dict[str, Case] = {}

transition = {"quantity": "clustering"}
SHAPING_THEORY["S01"] = Case(
    wrong={
        "earlier at three units": put("typical_volume", "alpha", 1.75, units=3.0, **transition),
        "later at three units": put("typical_volume", "alpha", 1.77, units=3.0, **transition),
        "later at many units": put("typical_volume", "alpha", 2.96, units=math.inf, **transition),
    },
    small={
        "three units only": only("typical_volume", units=3.0),
        "no transition": only("typical_volume", quantity="volume"),
    },
    missing={"one transition": put("typical_volume", "alpha", np.nan, units=math.inf, **transition)},
)
SHAPING_THEORY["S03"] = Case(
    wrong={
        "much is left": put("wide_minima", "entropy", -0.2, alpha=2.0, overlap=0.999),
        "much is left of many units": put("wide_minima_many_units", "entropy", -0.3, alpha=4.0, overlap=0.999),
        "more is left everywhere": times("wide_minima_many_units", "entropy", 20.0),
        "a larger load has more": times("wide_minima", "entropy", 0.2, alpha=2.0),
        "a fall": add("wide_minima", "entropy", -0.3, alpha=2.0, overlap=0.95),
        "no order of the loads": put("wide_minima", "entropy", -1e-3, alpha=2.0, overlap=0.95),
        "flat": put("wide_minima_many_units", "entropy", -1e-3, alpha=1.0, overlap=above(0.85)),
    },
    small={
        "one load below the capacity": only("wide_minima", alpha=above(1.5)),
        "no large overlap": only("wide_minima", overlap=below(0.98)),
        "large overlaps only": only("wide_minima_many_units", overlap=above(0.98)),
    },
    missing={
        "one entropy": put("wide_minima", "entropy", np.nan, alpha=1.0, overlap=0.95),
        "the last one": put("wide_minima_many_units", "entropy", np.nan, alpha=4.0, overlap=0.999),
    },
)
SHAPING_THEORY["S04"] = Case(
    wrong={
        "a rise": times("wide_minima_parity", "entropy", 0.9, alpha=1.0, overlap=0.95),
        "flat minima": put("wide_minima_parity", "entropy", 0.0, overlap=0.999),
    },
    small={
        "another machine": put("wide_minima_parity", "machine", "committee"),
        "no large overlap": only("wide_minima_parity", overlap=below(0.98)),
        "large overlaps only": only("wide_minima_parity", overlap=above(0.94)),
    },
    missing={"one entropy": put("wide_minima_parity", "entropy", np.nan, alpha=1.0, overlap=0.5)},
)
SHAPING_THEORY["S05"] = Case(
    wrong={
        "errors at 0.4": put("cross_entropy_minimizers", "error", 0.002, gamma=1.0, alpha=below(0.41)),
        "more errors at a sharper loss": put("cross_entropy_minimizers", "error", 0.09, gamma=3.0, alpha=above(0.85)),
        "a few more": put("cross_entropy_minimizers", "error", 1e-5, gamma=3.0, alpha=below(0.41)),
        "one and the same load": put(
            "cross_entropy_minimizers",
            "error",
            lambda rows: np.where(rows["alpha"] > 0.65, 0.004, 1e-4),
            gamma=above(0.9),
        ),
    },
    small={
        "larger loads": only("cross_entropy_minimizers", alpha=above(0.45)),
        "one sharp loss": only("cross_entropy_minimizers", gamma=below(1.5)),
        "no errors": put("cross_entropy_minimizers", "error", 1e-9, gamma=3.0),
    },
    missing={"one error": put("cross_entropy_minimizers", "error", np.nan, gamma=2.0, alpha=above(0.85))},
)
curves = "cross_entropy_franz_parisi"
SHAPING_THEORY["S06"] = Case(
    wrong={
        "less of the bound": times(curves, "entropy", 0.95, alpha=0.4, gamma=below(3.0)),
        "γ = 1 is better": times(curves, "entropy", 0.98, alpha=0.4, gamma=2.0),
        "γ = 1 is better somewhere": times(curves, "entropy", 0.98, alpha=0.4, gamma=2.0, distance=below(2e-4)),
        "no gap": put(curves, "entropy", 0.001, alpha=0.4, gamma=math.inf, distance=below(1e-3)),
    },
    small={
        "no γ = ∞": only(curves, gamma=other_than(math.inf)),
        "no small distances": only(curves, distance=above(2e-4)),
        "another load": only(curves, alpha=0.6),
    },
    missing={
        "γ = 2 near 0.01": put(
            curves, "entropy", np.nan, alpha=0.4, gamma=2.0, distance=lambda d: (d > 5e-3) & (d < 0.02)
        ),
        "γ = ∞": put(curves, "entropy", np.nan, alpha=0.4, gamma=math.inf),
    },
)
SHAPING_THEORY["S07"] = Case(
    wrong={
        "no gap at γ = 1": put(curves, "entropy", 0.001, alpha=0.6, gamma=1.0, distance=below(5e-3)),
        "no gap at γ = 2": put(curves, "entropy", 0.001, alpha=0.6, gamma=2.0, distance=below(3e-4)),
        "a gap at γ = 3": put(curves, "entropy", -1e-5, alpha=0.6, gamma=3.0, distance=below(2e-4)),
        "as high as at 0.4": put(curves, "entropy", 0.7, alpha=0.6, gamma=2.0, distance=above(0.25)),
    },
    small={
        "no γ = 3": only(curves, gamma=other_than(3.0)),
        "no lower load": only(curves, alpha=0.6),
        "no small distances": only(curves, distance=above(2e-4)),
    },
    missing={
        "γ = 3 next to 0": put(curves, "entropy", np.nan, alpha=0.6, gamma=3.0, distance=below(2e-4)),
        "γ = 1": put(curves, "entropy", np.nan, alpha=0.6, gamma=1.0),
    },
)
