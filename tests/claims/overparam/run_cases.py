"""Cases of the claims about the solvers of the binary perceptron."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.claims.cases import (
    Case,
    Spoiling,
    Tables,
    above,
    add,
    below,
    elsewhere,
    every,
    few,
    near,
    only,
    other_than,
    put,
    times,
)
from tests.claims.overparam import run_tables
from tests.claims.overparam.theory_tables import error_barycenter

RUNS: dict[str, Case] = {}

error, solved = {"quantity": "test_error"}, {"quantity": "solved"}
energy, sweeps = {"quantity": "local_energy"}, {"quantity": "iterations"}


def scattered(rows: pd.DataFrame) -> pd.Series:
    """The same mean, far apart."""
    return rows["test_error"] + 0.05 * (-1.0) ** rows["sample"]


def features(solver: str, kind: str) -> Case:
    ours = {"solver": solver, "features": kind}
    return Case(
        wrong={"a difference": add("equivalent_features", "test_error", 0.02, **ours)},
        small={
            "three runs": few("equivalent_features"),
            "none solved": put("equivalent_features", "solved", 0.0, solver=solver),
            "no such kind": only("equivalent_features", features=other_than(kind)),
            "scattered errors": put("equivalent_features", "test_error", scattered, **ours),
        },
        missing={"errors": put("equivalent_features", "test_error", np.nan, features=kind)},
    )


RUNS["O23"] = features("sbpi", "binary")
RUNS["O23"].wrong["annealing"] = add("equivalent_features", "test_error", 0.02, solver="anneal", features="binary")
RUNS["O23"].wrong["tanh"] = add("equivalent_features", "test_error", 0.02, features="tanh_binary")
RUNS["O24"] = features("anneal", "gaussian_covariate")
RUNS["O65"] = features("anneal", "erf")
RUNS["O65"].wrong["tanh"] = add("activation_errors", "typical", 0.02, activation="tanh")
RUNS["O65"].small["no theory"] = only("activation_errors", activation="sign")
RUNS["O65"].missing["theory"] = put("activation_errors", "typical", np.nan)


def solves(name: str, D: int, inv_alpha: float, value: float = 1.0, samples: int = 20) -> Spoiling:
    return put(name, "value", value, D=D, inv_alpha=near(inv_alpha), sample=below(samples), **solved)


RUNS["O25"] = Case(
    wrong={
        "annealing solves there": solves("solve_anneal", 201, 0.947),
        "fBP solves there": solves("solve_focusing_bp", 467, 0.947),
        "BinaryNet solves there": solves("solve_binarynet", 201, 0.947),
        "half solved too early": solves("solve_sbpi", 467, 1.0),
        "fBP solves there, though never half": solves("solve_focusing_bp", 467, 0.947, samples=8),
    },
    small={
        "SBPI solves there once": solves("solve_sbpi", 467, 0.947, samples=1),
        "18 runs": few("solve_sbpi", samples=18),
        "no such point": only("solve_binarynet", inv_alpha=above(0.95)),
        "at a small size only": only("solve_sbpi", D=below(400)),
        "thresholds of other features": elsewhere("thresholds", ensemble={"activation": "tanh"}),
        "no threshold": only("thresholds", alpha_T=other_than(3.0)),
    },
    missing={
        "threshold": put("thresholds", "inv_alpha_le", np.nan, alpha_T=3.0),
        "other threshold": put("thresholds", "inv_alpha_c", np.nan, alpha_T=3.0),
    },
)
RUNS["O21b"] = Case(
    wrong={
        "fBP solves between the thresholds": solves("solve_focusing_bp", 1001, 1.0),
        "SBPI solves there": solves("solve_sbpi", 1001, 1.0),
    },
    small={
        "half of the runs": solves("solve_sbpi", 1001, 1.0, samples=10),
        "too weak to see it": put("solve_sbpi", "value", 0.0, D=467, inv_alpha=below(1.1), **solved),
        "nowhere half of the runs": put("solve_focusing_bp", "value", 0.0, D=467, **solved),
        "three runs": few("solve_focusing_bp"),
        "none between the thresholds": only("solve_sbpi", inv_alpha=above(1.1)),
        "no such α_T": only("large_deviations", alpha_T=10.0),
        "no difference": times("large_deviations", "best_alpha", 0.9, alpha_T=3.0),
        "thresholds of other features": elsewhere("large_deviations", ensemble={"activation": "tanh"}),
    },
    missing={"threshold": put("thresholds", "inv_alpha_le", np.nan, alpha_T=3.0)},
)
RUNS["O26"] = Case(
    wrong={
        "fBP: no fall": every(solves("solve_focusing_bp", 467, 1.0), solves("solve_focusing_bp", 1001, 1.0)),
        "SBPI: no fall": every(solves("solve_sbpi", 467, 1.0, samples=11), solves("solve_sbpi", 1001, 1.0, samples=10)),
        "a rise, among few": every(
            put("solve_focusing_bp", "value", 0.0, **solved), solves("solve_focusing_bp", 1001, 1.0, samples=1)
        ),
    },
    small={
        "two sizes": only("solve_sbpi", D=below(1000)),
        "three runs": few("solve_focusing_bp", "solve_sbpi"),
        "none solved anywhere": put("solve_focusing_bp", "value", 0.0, **solved),
    },
)
RUNS["O27"] = Case(
    wrong={
        "fBP fails": solves("solve_focusing_bp", 201, 1.2, 0.0, samples=3),
        "SBPI fails": solves("solve_sbpi", 467, 1.2, 0.0, samples=3),
        "BinaryNet fails": solves("solve_binarynet", 201, 3.0, 0.0, samples=3),
    },
    small={"four runs": few("solve_binarynet", samples=4), "no such point": only("solve_sbpi", inv_alpha=below(1.1))},
)
RUNS["O28"] = Case(
    wrong={
        "in proportion": put("solve_sbpi", "value", lambda rows: rows["N"] / 40.0, **sweeps),
        "one failure": solves("solve_sbpi", 467, 2.0, 0.0, samples=1),
    },
    small={"two sizes": only("solve_sbpi", D=above(100)), "three runs": few("solve_sbpi")},
    missing={"times": put("solve_sbpi", "value", np.nan, D=467, **sweeps)},
)
RUNS["O29"] = Case(
    wrong={
        "better than typical": add("solve_anneal", "value", -0.06, **error),
        "one point off": add("solve_anneal", "value", 0.03, D=201, inv_alpha=near(10.0), **error),
        "another theory": add("typical_points", "error_typical", 0.05),
    },
    small={"three runs": few("solve_anneal"), "none solved": put("solve_anneal", "value", 0.0, **solved)},
    missing={
        "errors": put("solve_anneal", "value", np.nan, D=201, **error),
        "theory": put("typical_points", "error_typical", np.nan),
    },
)
RUNS["O30"] = Case(
    wrong={
        "BinaryNet is typical": add("solve_binarynet", "value", 0.08, **error),
        "fBP is typical": add("solve_focusing_bp", "value", 0.06, **error),
        "SBPI is typical once": add("solve_sbpi", "value", 0.05, D=201, inv_alpha=near(15.0), **error),
    },
    small={
        "four runs": few("solve_binarynet", samples=4),
        "only small 1/α": only("solve_sbpi", inv_alpha=below(1.3)),
        "theory at another α_T": elsewhere("typical", alpha_T=6.0),
        "theory of other features": elsewhere("typical", ensemble={"activation": "tanh"}),
    },
    missing={"errors": put("solve_sbpi", "value", np.nan, D=201, inv_alpha=near(5.0), **error)},
)


def _on_the_barycentre(rows):
    return error_barycenter(rows["inv_alpha"]) + 0.002 * (rows["sample"] - 9.5)


RUNS["O31"] = Case(
    wrong={
        "SBPI below": add("solve_sbpi", "value", -0.15, D=201, inv_alpha=near(15.0), **error),
        "BinaryNet below": add("solve_binarynet", "value", -0.1, **error),
        "a higher barycentre": add("optimal_margin", "error_barycenter", 0.1),
        "BinaryNet on the line": put("solve_binarynet", "value", _on_the_barycentre, **error),
    },
    small={
        "four runs": few("solve_binarynet", samples=4),
        "theory at another α_T": elsewhere("optimal_margin", at={"alpha_T": 6.0}),
    },
    missing={"barycentre": put("optimal_margin", "error_barycenter", np.nan, inv_alpha=above(4))},
)
RUNS["O32"] = Case(
    wrong={
        "as easy for the largest": put("solve_anneal", "value", 1.0, D=201, inv_alpha=above(1.3), **solved),
        "easier for the middle": put("solve_anneal", "value", 1.0, D=134, inv_alpha=above(1.8), **solved),
    },
    small={
        "one size": only("solve_anneal", D=33),
        "three runs": few("solve_anneal"),
        "never half solved": put("solve_anneal", "value", 0.0, D=33, **solved),
        "always half solved": put("solve_anneal", "value", 1.0, D=201, **solved),
        "not in the middle": put("solve_anneal", "value", 0.0, D=134, **solved),
    },
)
RUNS["O33"] = Case(
    wrong={
        "norm off": add("solve_anneal", "value", 0.2, quantity="p_d"),
        "stability off at one point": add(
            "solve_anneal", "value", 0.2, quantity="mean_stability", D=201, inv_alpha=near(10.0)
        ),
        "another theory": times("typical_lattice", "value", 1.3),
    },
    small={"three runs": few("solve_anneal"), "none solved": put("solve_anneal", "value", 0.0, **solved)},
    missing={"stabilities": put("solve_anneal", "value", np.nan, quantity="mean_stability", D=201)},
)
RUNS["O33b"] = Case(
    wrong={
        "norm off": add("solve_anneal", "value", 0.2, quantity="p_d"),
        "all stabilities off": times("solve_anneal", "value", 1.04, quantity="mean_stability"),
        "another theory": times("typical_lattice", "value", 1.3),
    },
    small={
        "three runs": few("solve_anneal"),
        "none solved": put("solve_anneal", "value", 0.0, **solved),
        "too scattered to show equality": put(
            "solve_anneal", "value", lambda rows: rows["value"] * (1.0 + 0.2 * (-1.0) ** rows["sample"]), quantity="p_d"
        ),
    },
    missing={"stabilities": put("solve_anneal", "value", np.nan, quantity="mean_stability", D=201)},
)


def _more_scattered(rows):
    return rows["value"] + 0.03 * (-1.0) ** rows["sample"]


RUNS["O34"] = Case(
    wrong={
        "all better by 2 %": times("solve_mct0", "value", 0.98, **error),
        "off at one margin": add("solve_mct0", "value", 0.03, margin=0.25, **error),
        "all off": add("solve_mct0", "value", -0.05, **error),
        "all off by less than one can tell at one point": add("solve_mct0", "value", 0.009, D=134, **error),
        "two points of one margin off, in opposite ways": every(
            add("solve_mct0", "value", 0.02, margin=0.0, D=134, inv_alpha=near(5.0), **error),
            add("solve_mct0", "value", -0.02, margin=0.0, D=134, inv_alpha=near(10.0), **error),
        ),
        "two margins off, in opposite ways": every(
            add("solve_mct0", "value", 0.004, margin=0.0, D=134, **error),
            add("solve_mct0", "value", -0.004, margin=0.25, D=134, **error),
        ),
        "off on average only": add("solve_mct0", "value", 0.009, margin=0.5, D=134, **error),
    },
    small={
        "three runs": few("solve_mct0"),
        "one margin": only("solve_mct0", margin=0.0),
        "two margins": only("solve_mct0", margin=below(0.4)),
        "one size": only("solve_mct0", D=67),
        "no 1/α of two sizes": only("solve_mct0", N=lambda N: N.isin([1005, 2009, 3015, 8041, 12061])),
        "too scattered to show equality": put("solve_mct0", "value", _more_scattered, **error),
    },
    missing={"errors": put("solve_mct0", "value", np.nan, margin=0.25, D=67, **error)},
)
RUNS["O35"] = Case(
    wrong={
        "more often": every(
            put("solve_mct0", "value", 1.0, margin=0.5, **solved),
            put("solve_mct0", "value", 0.0, margin=0.0, sample=below(8), **solved),
        ),
    },
    small={
        "three runs": few("solve_mct0"),
        "one margin": only("solve_mct0", margin=0.0),
        "all solved": put("solve_mct0", "value", 1.0, **solved),
    },
    missing={"outcomes": put("solve_mct0", "value", np.nan, margin=0.5, **solved)},
)
RUNS["O36"] = Case(
    wrong={
        "worse": add("solve_mct0", "value", 0.05, margin=0.5, **error),
        "no better": add("solve_mct0", "value", 0.0125, margin=0.5, **error),
        "κ = 0.25 worse": add("solve_mct0", "value", 0.05, margin=0.25, **error),
    },
    small={"three runs": few("solve_mct0"), "one margin": only("solve_mct0", margin=0.0)},
    missing={"errors": put("solve_mct0", "value", np.nan, margin=0.25, **error)},
)


def _no_flatter(rows):
    return rows["value"] * (rows["inv_alpha"] / 1.2) ** 0.8


def _scattered(rows):
    return rows["value"] * np.random.default_rng(0).lognormal(0.0, 1.5, len(rows))


RUNS["O39"] = Case(
    wrong={
        "sharper in the end": times("solve_sbpi", "value", 10, inv_alpha=above(12), **energy),
        "sharper in between": times("solve_sbpi", "value", 4, inv_alpha=near(5.0), **energy),
        "SBPI equally sharp": put("solve_sbpi", "value", _no_flatter, **energy),
        "BP equally sharp": put("solve_belief_propagation", "value", _no_flatter, **energy),
    },
    small={
        "three runs": few("solve_belief_propagation"),
        "one 1/α": only("solve_sbpi", inv_alpha=near(5.0)),
        "scattered energies": put("solve_belief_propagation", "value", _scattered, **energy),
    },
    missing={"energies": put("solve_sbpi", "value", np.nan, inv_alpha=near(5.0), **energy)},
)
RUNS["O40"] = Case(
    wrong={
        "BP as sharp": times("solve_belief_propagation", "value", 5, inv_alpha=near(10.0), **energy),
        "SBPI as sharp": times("solve_sbpi", "value", 5, **energy),
        "all flat": times("solve_mct0", "value", 0.1, **energy),
    },
    small={
        "three runs": few("solve_mct0"),
        "BP nowhere beside it": only("solve_belief_propagation", inv_alpha=below(3)),
    },
    missing={"energies": put("solve_sbpi", "value", np.nan, inv_alpha=near(5.0), **energy)},
)
RUNS["O41"] = Case(
    wrong={
        "another overlap": add("two_level_amp", "overlap", 0.05, inv_alpha=near(2.0)),
        "another error": add("two_level_amp", "test_error_barycenter", 0.03, inv_alpha=near(2.0)),
    },
    small={"three runs": few("two_level_amp"), "none converged": put("two_level_amp", "converged", 0.0)},
    missing={"theory": put("typical_points", "q", np.nan, inv_alpha=near(2.0))},
)


def power(tables: Tables) -> None:
    tables["solve_mct0_sizes"] = run_tables.solve_mct0_sizes(exponential=False)


RUNS["O61"] = Case(
    wrong={
        f"{name} like typical ones": add(f"solve_{name}", "value", 0.08, inv_alpha=near(5.0), **error)
        for name in ("focusing_bp", "sbpi", "binarynet")
    },
    small={
        "no point of fBP": only("solve_focusing_bp", inv_alpha=below(1.4)),
        "another α_T": elsewhere("solve_sbpi", alpha_T=1.0),
        "no line": only("typical", reference=other_than("max")),
    },
    missing={"theory": put("typical", "error_typical", np.nan, reference="max")},
)
RUNS["O64"] = Case(
    wrong={"a power": power},
    small={
        "three sizes": only("solve_mct0_sizes", D=below(34)),
        "few solutions": put("solve_mct0_sizes", "value", 0.0, D=89, quantity="solved", sample=above(3)),
        "sizes that scatter": times("solve_mct0_sizes", "value", 4.0, D=45, quantity="iterations"),
    },
    missing={"sweeps": put("solve_mct0_sizes", "value", np.nan, quantity="iterations", sample=3)},
)
RUNS["O66"] = Case(
    wrong={
        "solved midway": put("solve_sbpi_at_one", "value", 1.0, inv_alpha=below(1.2), sample=below(9), **solved),
        "half solved too early": put("activations", "inv_alpha_le", 1.4, activation="sign", alpha_T=1.0),
        "half solved too late": put("solve_sbpi_at_one", "value", 0.0, **solved),
    },
    small={
        "solved midway twice": put("solve_sbpi_at_one", "value", 1.0, inv_alpha=below(1.2), sample=below(2), **solved),
        "no runs midway": only("solve_sbpi_at_one", inv_alpha=above(1.2)),
        "another α_T": elsewhere("solve_sbpi_at_one", alpha_T=2.0),
        "an outcome": put("solve_sbpi_at_one", "value", np.nan, sample=3, **solved),
    },
    missing={"threshold": put("activations", "inv_alpha_le", np.nan)},
)
around = "solution_surroundings"
RUNS["O67"] = Case(
    wrong={
        "no solutions near SBPI's": put(around, "entropy", -0.01, solver="sbpi", distance=0.01),
        "a gap around fBP's": put(around, "slope", -0.5, solver="focusing_bp", distance=0.05),
        "messages fail": put(around, "converged", 0.0, solver="binarynet", distance=0.1, sample=below(3)),
    },
    small={
        "three runs": few(around),
        "none solved": put(around, "solved", 0.0, solver="binarynet"),
        "no slope": put(around, "slope", np.nan, solver="sbpi", sample=2),
        "scattered": put(around, "entropy", lambda rows: 0.01 + 0.1 * (-1.0) ** rows["sample"], solver="sbpi"),
    },
    missing={"entropy": put(around, "entropy", np.nan, solver="sbpi", sample=2)},
)
RUNS["O67b"] = Case(
    wrong={"as around typical ones": put(around, "entropy", -0.01, solver="sbpi", inv_alpha=below(1.3), distance=0.01)},
    small={
        "three runs": few(around),
        "no such 1/α": only(around, inv_alpha=above(1.3)),
        "no curve": only("franz_parisi", reference=other_than("0.0")),
    },
    missing={"entropy": put(around, "entropy", np.nan, inv_alpha=below(1.3), sample=2)},
)
RUNS["O68"] = Case(
    wrong={"as many as typical ones": put(around, "small_stabilities", 0.1, solver="sbpi", inv_alpha=above(4.0))},
    small={
        "three runs": few(around),
        "none solved": put(around, "solved", 0.0, solver="binarynet"),
        "no density at one 1/α": only("typical_stabilities", inv_alpha=above(1.3)),
    },
    missing={
        "stabilities": put(around, "small_stabilities", np.nan, sample=2),
        "density": put("typical_stabilities", "value", np.nan, quantity="density"),
    },
)
RUNS["O69"] = Case(
    wrong={
        "equally far from the barycentre": put(around, "barycentre_overlap", lambda rows: 0.8 + 1e-4 * rows["sample"]),
        "equally flat": put(around, "local_energy", 0.1),
    },
    small={
        "three runs": few(around),
        "two algorithms": only(around, solver=other_than("binarynet"), inv_alpha=above(4.0)),
        "one and the same overlap": put(
            around, "barycentre_overlap", lambda rows: 0.8 + 0.05 * np.sin(77.0 * rows.index)
        ),
        "one and the same flatness": put(around, "local_energy", lambda rows: 0.1 + 0.05 * np.sin(77.0 * rows.index)),
        "never together": only(around, inv_alpha=below(1.3)),
    },
    missing={"overlap": put(around, "barycentre_overlap", np.nan)},
)
RUNS["O69b"] = Case(
    wrong={
        "the other way": put(around, "local_energy", lambda rows: 0.1 * rows["entropy"]),
        "hardly": put(around, "local_energy", lambda rows: 0.1 + 0.01 * ((rows["sample"] * 5) % 8)),
    },
    small={
        "three runs": few(around),
        "no 1/α with three": only(around, inv_alpha=below(1.3)),
        "an odd instance": put(
            around,
            "local_energy",
            lambda rows: rows["local_energy"] * np.where(rows["sample"] == 0, 0.01 * rows["entropy"] ** -9.0, 1.0),
        ),
    },
    missing={"energy": put(around, "local_energy", np.nan, sample=2)},
)
paths, of_sbpi = "solution_barriers", {"first": "sbpi", "second": "sbpi"}
RUNS["O62b"] = Case(
    wrong={
        "nearer": put(paths, "distance", lambda rows: 0.3 - 0.03 * rows["inv_alpha"], **of_sbpi),
        "nearer between": put(paths, "distance", 0.1, inv_alpha=near(2.0), **of_sbpi),
        "as near": put(paths, "distance", lambda rows: 0.2 + 0.02 * (-1.0) ** rows["sample"], **of_sbpi),
    },
    small={
        "three instances": few(paths),
        "none joined": put(paths, "barrier_bent", 0.01, **of_sbpi),
        "one size": only(paths, D=67, inv_alpha=near(2.0)),
        "no distance": put(paths, "distance", np.nan, sample=2, **of_sbpi),
    },
    missing={"barriers": put(paths, "barrier_bent", np.nan, sample=2, **of_sbpi)},
)
to_a_run = {"second": "sbpi", "second_run": 1}
RUNS["O71"] = Case(
    wrong={
        "alone in a fifth of the instances": put(paths, "barrier_bent", 0.005, sample=below(2), **to_a_run),
        "alone in half of one size": put(
            paths, "barrier_bent", 0.005, sample=below(5), inv_alpha=near(3.0), **to_a_run
        ),
        "two regions": put(paths, "barrier_bent", 0.005, first="focusing_bp", second="sbpi"),
    },
    small={
        "three instances": few(paths),
        "none solved": put(paths, "solved", 0.0),
        "before the threshold": put("thresholds", "inv_alpha_le", 10.0),
        "another α_T": elsewhere(paths, alpha_T=2.0),
        "no threshold": put("thresholds", "inv_alpha_le", np.nan),
    },
    missing={"barriers": put(paths, "barrier_bent", np.nan, sample=2, **of_sbpi)},
)
seen = {"first": "focusing_bp", "second": "sbpi"}
RUNS["O71b"] = Case(
    wrong={
        "one unseen in a fifth of the instances": put(paths, "barrier_greedy", 0.005, sample=below(2), **seen),
        "one unseen in half of one size": put(
            paths, "barrier_greedy", 0.005, sample=below(5), inv_alpha=near(3.0), second_run=1, **seen
        ),
    },
    small={
        "three instances": few(paths),
        "none of fBP": put(paths, "solved", 0.0, first="focusing_bp"),
    },
    missing={"barriers": put(paths, "barrier_greedy", np.nan, sample=2, **seen)},
)
RUNS["O71c"] = Case(
    wrong={
        "lower": put(paths, "barrier_mean", 0.001, first="anneal", second="anneal"),
        "lower at one size": times(paths, "barrier_mean", 100.0, inv_alpha=near(3.0), **of_sbpi),
    },
    small={
        "three instances": few(paths),
        "none solved": put(paths, "solved", 0.0, second="anneal"),
        "scattered": put(paths, "barrier_mean", lambda rows: 0.02 + 0.2 * (-1.0) ** rows["sample"], second="anneal"),
    },
    missing={"barriers": put(paths, "barrier_mean", np.nan, sample=2, **of_sbpi)},
)
