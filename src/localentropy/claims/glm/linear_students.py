"""Claims about linear students that minimise a risk: against Bayes, on a hidden manifold, on a Gaussian surrogate."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import ndtr

from localentropy.analysis.agreement import to_infinite_size
from localentropy.analysis.statistics import paired_differences
from localentropy.claims.conditions import (
    FEWEST,
    Condition,
    Finding,
    Mean,
    above,
    agree,
    all_of,
    at_least,
    below,
    between,
    falls,
    largest,
    largest_rise,
    numbers,
    require,
    scored,
    smallest,
)
from localentropy.claims.glm.thresholds import ROUNDING

FROM, TO = 0.5, 10.0
"""Loads at which the logistic student is compared with Bayes."""
ESSENTIALLY = 1e-3
"""The text says "essentially Bayes-optimal" and gives no number. Chosen here: an excess below this part."""
AS_BAYES = 0.03
"""Errors of runs are Bayes' up to this part; the hinge loss differs by more. Chosen after the numbers were seen."""
FEWEST_LOADS = 5
LARGE, OFF = 50.0, 0.05
"""Loads from the first on are asymptotic. A slope is −1 if it is so up to the second."""
SURE = 3.0
"""Standard errors within which simulations agree."""
PEAK = 0.4
"""The text's picture has a peak at n = p. Chosen here: an error above this. Guessing has 1/2."""
GUESSING, OF_GUESSING = 0.5, 0.01
"""The probability of an error by guessing, which is the square loss (y − x)²/2 of the output 0, too, and the part of it
that is no difference. Chosen here."""
NEAR = 0.05
"""A load this close to n = p is at the peak, relative."""
BESIDE = 0.2
"""Loads this far from n = p, relative, are beside the peak."""
SAME = 1e-9
"""Loads closer than this, relative, are the same."""
RESOLVED = 0.05
"""A mean difference of features is resolved if this part of the error is more than SURE of its standard errors."""


def logistic_regression_is_nearly_optimal(risk: pd.DataFrame, bayes_perceptron: pd.DataFrame) -> Finding:
    """At the best regularization the logistic student errs only slightly more often than Bayes'."""
    bayes = _bayes_errors(bayes_perceptron)
    ours = _between(risk[risk["student"] == "logistic"])[["alpha", "generalization_error"]]
    both = pd.merge_asof(ours, bayes, on="alpha", direction="nearest", tolerance=SAME).dropna(subset="bayes_error")
    _check_ends(both)
    excess = both["generalization_error"] / both["bayes_error"] - 1.0
    over = f"excess of the logistic student's error over Bayes' for {FROM:g} ≤ α ≤ {TO:g}"
    return all_of(
        below(f"largest {over}", largest(excess), ESSENTIALLY),
        at_least(f"smallest {over}", smallest(excess), -ROUNDING),
        detail=f"{len(both)} loads",
    )


def errors_fall_inversely(risk: pd.DataFrame) -> Finding:
    """At the largest loads the mean of a student's own smooth loss on new inputs falls to its limit as 1/α.

    This is the generalization error of the text. The probability of a wrong sign is told: that of the square loss falls
    more slowly.
    """
    conditions, words = [], []
    for name, limit in (("square", 1.0 - 2.0 / np.pi), ("logistic", 0.0)):
        last = risk[risk["student"] == name].sort_values("alpha").iloc[-2:]
        require(len(last) == 2 and last["alpha"].iloc[-1] >= LARGE, f"{name}: loads up to {LARGE:g} or more needed")
        errors = last["square_error"] if name == "square" else _logistic_losses(last["overlap"], last["norm"])
        loads = np.diff(np.log(last["alpha"]))[0]
        slope, of_signs = (
            np.diff(np.log(np.asarray(each)))[0] / loads for each in (errors - limit, last["generalization_error"])
        )
        conditions.append(
            between(f"log-log slope at the two largest loads, {name} loss", slope, -1.0 - OFF, -1.0 + OFF)
        )
        words.append(f"{name} loss from α = {numbers(last['alpha'], '.3g')}, wrong signs as the power {of_signs:.2f}")
    return all_of(*conditions, detail="; ".join(words))


def _logistic_losses(overlaps: pd.Series, norms: pd.Series) -> np.ndarray:
    """Mean ln(1 + exp(−y x)) on new inputs, for outputs x of variance `norms` whose sign y is the teacher's.

    The probability of a wrong sign at x is Φ(−|x| M/√(Q (Q − M²))). Errors happen where x is small, so the integral is
    over the logarithm of x.
    """
    x = np.logspace(-6.0, 1.0, 4000) * np.sqrt(norms.to_numpy())[:, None]
    steepness = (overlaps / np.sqrt(norms * (norms - overlaps**2))).to_numpy()[:, None]
    wrong = ndtr(-steepness * x)
    density = 2.0 * np.exp(-0.5 * x**2 / norms.to_numpy()[:, None]) / np.sqrt(2.0 * np.pi * norms.to_numpy()[:, None])
    loss = np.logaddexp(0.0, -x) + wrong * x
    return np.trapezoid(density * loss * x, np.log(x), axis=1)


def logistic_runs_have_the_error_of_bayes(bayes_perceptron: pd.DataFrame, risk_runs: pd.DataFrame) -> Finding:
    """Logistic students in simulations have Bayes' error.

    Their ratio is judged. This rule was made after the numbers were seen: the one before, on the difference, allowed
    0.005, which is 11 % of the error at the largest load, and would hold for the hinge loss there.
    """
    bayes = _bayes_errors(bayes_perceptron)
    runs = risk_runs[risk_runs["student"] == "logistic"]
    cells = _cells(_between(runs[runs["d"] == runs["d"].max()]), ["alpha", "d"])
    expected = np.exp(np.interp(np.log(cells["alpha"]), np.log(bayes["alpha"]), np.log(bayes["bayes_error"])))
    apart = list(map(Mean, cells["mean"] / expected - 1.0, cells["error"] / expected, cells["runs"]))
    return all_of(
        *agree("error of logistic students over Bayes' − 1, largest d", apart, AS_BAYES),
        detail=f"d = {cells['d'].iloc[0]}: {numbers(cells['mean'], '.4f')} ± {numbers(cells['error'], '.1g')} for "
        f"{numbers(expected, '.4f')} at α = {numbers(cells['alpha'], 'g')}",
    )


def optimal_regularization_removes_the_peak(manifold: pd.DataFrame, manifold_runs: pd.DataFrame) -> Finding:
    """With almost no regularization the error peaks at n = p; at the best one it falls throughout. Runs show both."""
    curves = {
        name: _distinct(manifold[manifold["student"] == name]).set_index("alpha")["generalization_error"]
        for name in ("ridgeless", "optimal")
    }
    ridgeless, optimal = curves["ridgeless"], curves["optimal"]
    around = ridgeless[(ridgeless.index >= 0.5) & (ridgeless.index <= 2.0)]
    both = min(len(around), len(optimal)) >= FEWEST_LOADS and _beside(around.index)
    require(both, "both students at loads around n = p needed")
    require(around.notna().all(), "an error of the ridgeless student is missing")
    conditions = [
        above("highest error of the ridgeless student for 0.5 ≤ n/p ≤ 2", largest(around), PEAK),
        below("its place, |n/p − 1|", abs(around.idxmax() - 1), NEAR),
        falls("error at the best λ", optimal, along="n/p"),
    ]
    words = []
    for features, of_all_sizes in manifold_runs.groupby("features"):
        runs = of_all_sizes[of_all_sizes["d"] == of_all_sizes["d"].max()]
        plain, best = (
            _cells(runs[runs["student"] == name], ["alpha"]).set_index("alpha") for name in ("ridgeless", "optimal")
        )
        enough = _beside(plain.index) and len(best) > 2
        require(enough, f"{features} features: {FEWEST} runs of both students at n = p and on both sides needed")
        top = plain.loc[plain["mean"][np.abs(plain.index - 1) < NEAR].idxmax()]
        sides = (plain[plain.index < 1 - BESIDE].iloc[-1], plain[plain.index > 1 + BESIDE].iloc[0])
        scores = [(top["mean"] - side["mean"]) / np.hypot(top["error"], side["error"]) for side in sides]
        rise = largest_rise(best["mean"].to_numpy(), best["error"].to_numpy())
        conditions += [
            scored(f"z of the peak above both sides, runs on {features} features", smallest(scores)),
            below(f"largest rise of the error at the best λ in SE, runs on {features} features", rise, 2.0),
        ]
        apart = [
            largest(np.abs(cells["mean"] / np.interp(np.log(cells.index), np.log(curve.index), curve) - 1))
            for cells, curve in ((plain, ridgeless), (best, optimal))
        ]
        words.append(
            f"{features} features, d = {runs['d'].iloc[0]}: {top['mean']:.3f} ± {top['error']:.3f} at the peak, "
            f"{numbers([side['mean'] for side in sides], '.3f')} beside it; largest difference from theory "
            f"{max(apart):.1%}"
        )
    return all_of(*conditions, detail="; ".join(words))


def gaussian_features_do_the_same(equivalence: pd.DataFrame, equivalence_runs: pd.DataFrame) -> Finding:
    """Errors on true features and on Gaussian ones, extrapolated in 1/d, are the same, and those of the theory.

    In a sample true and Gaussian features have the same teacher and inputs, so their difference is taken in each
    sample. A mean is taken over the loads of each student. At one load all students have the same training sets.
    """
    features_apart, theory_apart, words = [], [], []
    shares: dict[str, list[tuple[float, float]]] = {}
    for (student, alpha), runs in equivalence_runs.groupby(["student", "alpha"]):
        line = equivalence[(equivalence["student"] == student) & np.isclose(equivalence["alpha"], alpha, rtol=SAME)]
        require(len(line), f"no theory of {student} at n/p = {alpha:g}")
        theory = float(line["generalization_error"].iloc[0])
        apart = paired_differences(
            runs.rename(columns={"features": "algorithm"}), "generalization_error", "nonlinear", "gaussian", ["d"]
        )
        limits = []
        for errors in (apart.rename("generalization_error").reset_index(), runs[runs["features"] == "gaussian"]):
            cells = _cells(errors, ["d"])
            cells = cells[cells["error"] > 0]
            enough = f"{student}, n/p = {alpha:g}: {FEWEST} runs of both at each of three sizes needed"
            require(len(cells) > 2, enough)
            limits.append(to_infinite_size(cells["d"], cells["mean"], cells["error"]))
        difference, gaussian = limits
        features_apart.append(abs(difference.value) / difference.error)
        theory_apart.append(abs(gaussian.value - theory) / gaussian.error)
        shares.setdefault(student, []).append((difference.value / theory, difference.error / theory))
        words.append(
            f"{student}, n/p = {alpha:g}: {gaussian.value:.4f} ± {gaussian.error:.4f} ({theory:.4f}), true features "
            f"{difference.value:+.4f} ± {difference.error:.4f} from it, slope {difference.slope / theory:+.2f}/d"
        )
    means = {}
    for student, pairs in shares.items():
        values, errors = np.array(pairs).T
        means[student] = (np.average(values, weights=errors**-2), np.sum(errors**-2) ** -0.5)
    told = ", ".join(f"{mean:+.1%} ± {error:.1%} ({student})" for student, (mean, error) in means.items())
    extrapolated = "in SE, of errors extrapolated in 1/d"
    seen = SURE * largest(error for _, error in means.values())
    return all_of(
        below(f"largest difference of true from Gaussian features, {extrapolated}", largest(features_apart), SURE),
        below(f"largest difference of Gaussian features from theory, {extrapolated}", largest(theory_apart), SURE),
        below(f"{SURE:g} SE of a student's mean difference, in parts of the error", seen, RESOLVED).open_if(True),
        detail=f"true minus Gaussian, mean over loads, {told}; Gaussian features (theory): {'; '.join(words)}",
    )


def errors_and_training_losses_are_those_of_theory(manifold: pd.DataFrame, manifold_runs: pd.DataFrame) -> Finding:
    """On a hidden manifold mean errors and training losses of students are those of the theory, at every load.

    Without regularization the training loss is zero up to n = p, and so is its scatter. It is judged above.
    """
    runs = manifold_runs[manifold_runs["d"] == manifold_runs["d"].max()]
    conditions: list[Condition] = []
    words = []
    for (features, student), own in runs.groupby(["features", "student"]):
        line = _distinct(manifold[manifold["student"] == student])
        for column in ("generalization_error", "training_loss"):
            name = f"{column.replace('_', ' ')}, {student} student on {features} features"
            zero = column == "training_loss" and student == "ridgeless"
            judged = own[own["alpha"] > 1.0] if zero else own
            require(judged[column].notna().all() and line[column].notna().all(), f"a number is missing: {name}")
            cells = judged.groupby("alpha")[column].agg(["mean", "sem", "size"])
            cells = cells[cells["size"] >= FEWEST]
            enough = len(line) > 1 and len(cells) > 2
            require(enough, f"three loads with {FEWEST} runs, and their theory, needed: {name}")
            theory = np.interp(np.log(cells.index), np.log(line["alpha"]), line[column], left=np.nan, right=np.nan)
            apart = list(map(Mean, cells["mean"] - theory, cells["sem"], cells["size"]))
            conditions += agree(f"difference from theory, {name}", apart, OF_GUESSING * GUESSING)
            words.append(f"{name}: at most {largest(abs(each.value) for each in apart):.2g} apart")
    return all_of(*conditions, detail="; ".join(words))


def _between(table: pd.DataFrame) -> pd.DataFrame:
    """The rows at the loads of the comparison with Bayes, in order."""
    inside = (table["alpha"] >= FROM * (1 - SAME)) & (table["alpha"] <= TO * (1 + SAME))
    return table[inside].sort_values("alpha")


def _bayes_errors(bayes_perceptron: pd.DataFrame) -> pd.DataFrame:
    """Errors of Bayes' at the loads of the comparison, in order.

    Raises:
        Untestable: they do not reach from one end to the other, or one is missing.
    """
    bayes = _between(bayes_perceptron)[["alpha", "bayes_error"]]
    _check_ends(bayes)
    require(bayes["bayes_error"].notna().all(), "an error of Bayes' is missing")
    return bayes


def _check_ends(errors: pd.DataFrame) -> None:
    enough = len(errors) >= FEWEST_LOADS and errors["alpha"].iloc[0] <= FROM and errors["alpha"].iloc[-1] >= TO
    require(enough, f"both errors at {FEWEST_LOADS} loads from {FROM:g} to {TO:g} needed")


def _distinct(curve: pd.DataFrame) -> pd.DataFrame:
    """A curve in order, without loads that differ by rounding."""
    ordered = curve.sort_values("alpha")
    return ordered[~(ordered["alpha"].pct_change() < SAME)]


def _beside(loads: pd.Index) -> bool:
    """Whether loads are at n = p and on both sides of it."""
    return bool((np.abs(loads - 1) < NEAR).any() and (loads < 1 - BESIDE).any() and (loads > 1 + BESIDE).any())


def _cells(runs: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Mean error, its standard error and the number of runs for each combination of columns.

    Raises:
        Untestable: no load has enough runs, or an error is missing.
    """
    require(runs["generalization_error"].notna().all(), "a run without an error")
    cells = runs.groupby(by)["generalization_error"].agg(mean="mean", error="sem", runs="size").reset_index()
    cells = cells[cells["runs"] >= FEWEST].reset_index(drop=True)
    require(len(cells), f"no load has {FEWEST} runs")
    return cells
