"""Programs that only the main paper needs: each number of a row, found in another way."""

from __future__ import annotations

import math
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from localentropy import seeds
from localentropy.instances.perceptron import hidden_manifold
from localentropy.landscape.barriers import bent_flip_path, flip_path, mean_flip_path
from localentropy.landscape.binary_local_energy import expected_flip_energy
from localentropy.landscape.feature_local_entropy import feature_local_entropy
from localentropy.programs import sweep
from localentropy.programs.overparam import equivalent_features, solution_barriers, solution_surroundings, two_level_amp
from localentropy.solvers import amp
from localentropy.solvers.binary.anneal import anneal
from localentropy.solvers.binary.sbpi import sbpi
from localentropy.theory import Perceptron, RandomFeatures, alpha_c, overparameterized_limit, typical
from tests.programs.programs import CONTEXT, table

RANDOM_PATTERNS = 0.833
"""Largest load of the binary perceptron on random patterns (Krauth and Mézard, 1989)."""
MU_1 = math.sqrt(2 / math.pi)
"""E[z sign(z)]."""


def linear_share(activation):
    """μ₁² / E[σ²], by quadrature."""
    function: Any = {"sign": np.sign, "tanh": np.tanh, "erf": math.erf, "identity": float}[activation]

    def mean(of):
        return 2 * quad(lambda z: of(z) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi), 0, 12)[0]

    return mean(lambda z: z * function(z)) ** 2 / mean(lambda z: function(z) ** 2)


def test_the_storage_limit_is_that_of_random_patterns_with_a_correction_by_the_activation():
    activations = ("sign", "tanh", "erf", "identity")
    ensemble = {"model": "random_features", "activation": "sign"}
    rows = table(sweep, ask="alpha_c", ensemble=ensemble, at={"alpha_T": 1e-3}, over={"activation": activations})
    assert rows["activation"].tolist() == list(activations) and set(rows["alpha_T"]) == {1e-3}
    assert rows["alpha_c"].tolist() == [
        alpha_c(RandomFeatures(1e-3, activation=activation)) for activation in activations
    ]
    assert np.abs(rows["alpha_c"] - RANDOM_PATTERNS).max() < 5e-4
    # Teacher and features enter by the share s of the linear part of the features. To first order in α_T the mean of a
    # pattern times its label gives a term in s, and the covariance of the patterns one in s². Two activations fix both
    # terms, and so say what the other two have.
    share = np.array([linear_share(activation) for activation in activations])
    excess = rows["alpha_c"].to_numpy() - alpha_c(Perceptron())
    terms = np.linalg.solve(np.stack([share, share**2], axis=1)[[0, 3]], excess[[0, 3]])
    expected = terms @ [share, share**2]
    np.testing.assert_allclose(excess, expected, rtol=1e-3)
    assert np.diff(np.sort(excess)).min() > 5e-3 * excess.max()  # so it could fail


KINDS: dict[str, dict[str, Any]] = {
    "gaussian": {},
    "binary": {"features": "binary"},
    "gaussian_covariate": {"gaussian_covariate": True},
    "tanh": {"activation": "tanh"},
    "tanh_binary": {"activation": "tanh", "features": "binary"},
    "erf": {"activation": "erf"},
}


def test_features_of_equal_moments_are_solved_by_the_solver_of_the_row():
    D, P, N = 33, 99, 991
    grid = {"D": D, "inv_alphas": [N / P], "samples": 2}
    rows = table(
        equivalent_features, alpha_T=3.0, sweeps=300, passes=50, sbpi=[grid], anneal=[grid], test_patterns=3000
    )
    assert set(rows["inv_alpha"]) == {N / P} and set(rows["P"]) == {P} and set(rows["N"]) == {N}
    pairs = rows.groupby(["solver", "features"]).size()
    sbpi_kinds = {("sbpi", kind): 2 for kind in ("gaussian", "binary")}
    assert pairs.to_dict() == sbpi_kinds | {("anneal", kind): 2 for kind in KINDS}
    for row in rows.itertuples():
        seed = seeds.child(CONTEXT.seed, f"instance/{row.solver}/{row.features}", sample=row.sample)
        instance = hidden_manifold(D, P, N, seed, **KINDS[row.features])
        run = sbpi(instance, seed=seed, passes=50) if row.solver == "sbpi" else anneal(instance, seed=seed, sweeps=300)
        assert row.test_error == instance.test_error(run.weights, 3000)
        assert row.solved == run.solved
    assert rows["test_error"].nunique() == len(rows)  # independent instances


def test_the_limits_of_the_solvers_count():
    grid = {"D": 33, "inv_alphas": [1.5], "samples": 1}
    few, many = (
        table(equivalent_features, alpha_T=3.0, sweeps=n, passes=n, sbpi=[grid], anneal=[grid], test_patterns=9)
        for n in (1, 1000)
    )
    assert few["solved"].tolist() == [0.0] * 8
    assert many["solved"].groupby(many["solver"]).max().to_dict() == {"anneal": 1.0, "sbpi": 1.0}


@pytest.mark.parametrize("solver, features", [("sbpi", "binary"), ("anneal", "gaussian_covariate")])
def test_features_of_equal_moments_have_the_moments_of_the_theory(solver, features):
    """Given F: mean 0, covariance μ₁ F/√D with the latent pattern, and μ⋆² between what is left of each feature."""
    D, P, N = 25, 40_000, 6
    instance = hidden_manifold(D, P, N, seed=3, **equivalent_features.VARIANTS[solver][features])
    patterns, latent = instance.patterns.astype(np.float64), instance.latent
    linear = MU_1 * instance.features / math.sqrt(D)
    error = 4.5 / math.sqrt(P)
    np.testing.assert_allclose(patterns.mean(0), 0.0, atol=error)
    np.testing.assert_allclose(patterns.T @ latent / P, linear, atol=error)
    rest = patterns - latent @ linear.T
    # Signs have a third-order part besides: 2/π (arcsin c − c) at the cosine c of two features.
    cosine = instance.features @ instance.features.T / D
    bend = 2 / math.pi * (np.arcsin(np.clip(cosine, -1, 1)) - cosine) if features == "binary" else 0.0
    other = ~np.eye(N, dtype=bool)
    covariance = rest.T @ rest / P
    np.testing.assert_allclose(np.diag(covariance), 1 - MU_1**2, atol=error)
    np.testing.assert_allclose(covariance[other], np.broadcast_to(bend, (N, N))[other], atol=error)
    # The features themselves: mean 0 and variance 1.
    F = hidden_manifold(D, 1, 2001, seed=3, **equivalent_features.VARIANTS[solver][features]).features
    assert F is not None
    assert abs(F.mean()) < 4 / math.sqrt(F.size) and abs((F**2).mean() - 1) < 4 * math.sqrt(2 / F.size)
    assert (np.unique(F).tolist() == [-1.0, 1.0]) == (features == "binary")


def test_surroundings_are_those_of_the_solver_of_the_row():
    grids = [{"solver": name, "D": 33, "inv_alphas": [x], "samples": 2} for name, x in (("sbpi", 5.0), ("mct0", 1.2))]
    options = {"alpha_T": 3.0, "activation": "sign", "distances": [0.01, 0.1], "small_stability": 0.2}
    rows = table(solution_surroundings, **options, grids=grids)
    unsolved = rows[rows["solver"] == "mct0"]
    assert unsolved["solved"].tolist() == [0.0] * 4
    assert (
        unsolved[["entropy", "slope", "small_stabilities", "barycentre_overlap", "local_energy"]].isna().all(axis=None)
    )
    solved = rows[rows["solver"] == "sbpi"]
    for sample, own in solved.groupby("sample"):
        instance = hidden_manifold(33, 99, 495, seed=seeds.child(CONTEXT.seed, "instance", sample=sample))
        place = {"D": 33, "P": 99, "N": 495, "margin": 0.0, "sample": sample}
        weights = sbpi(instance, seed=seeds.child(CONTEXT.seed, "algorithm/sbpi", **place)).weights
        curve = feature_local_entropy(instance, weights, distances=[0.01, 0.1])
        np.testing.assert_array_equal(own["entropy"], curve.entropy)
        np.testing.assert_array_equal(own["slope"], 2.0 * curve.field)
        np.testing.assert_array_equal(
            own["local_energy"], expected_flip_energy(instance, weights, distances=[0.01, 0.1])
        )
        assert own["small_stabilities"].iloc[0] == (instance.stabilities(weights) <= 0.2).mean()
        mean = amp.two_level_amp(instance, seed=sample).magnetizations
        cosine = weights @ mean / (np.linalg.norm(mean) * np.linalg.norm(weights))
        assert own["barycentre_overlap"].iloc[0] == pytest.approx(cosine, abs=1e-3)
    assert solved["barycentre_overlap"].nunique() == 2


def test_barriers_are_those_of_the_paths_between_the_solutions_of_the_rows():
    D, P, proposals = 15, 45, 60
    # Of several solutions one can be the bend; between two the bend is searched; few runs are solved at N/P = 0.78.
    grid = {"D": D, "samples": 5, "runs": 2}
    solvers = {35: ["anneal"], 75: ["sbpi", "anneal"], 109: ["anneal"]}
    grids = [grid | {"inv_alphas": [N / P], "solvers": names} for N, names in solvers.items()]
    rows = table(solution_barriers, alpha_T=3.0, activation="sign", proposals=proposals, grids=grids)
    through, searched = 0, 0
    for (N, sample), pairs in rows.groupby(["N", "sample"]):
        runs = [(name, run) for name in solvers[N] for run in range(2)]
        instance = hidden_manifold(D, P, N, seed=seeds.child(CONTEXT.seed, "instance", sample=sample))
        solutions = {}
        for name, run in runs:
            place = {"D": D, "P": P, "N": N, "sample": sample, "run": run}
            solver: Any = {"sbpi": sbpi, "anneal": anneal}[name]
            solutions[name, run] = solver(instance, seed=seeds.child(CONTEXT.seed, f"overlaps/{name}", **place))
        solved = [at for at in runs if instance.train_error(solutions[at].weights) == 0.0]
        seed = seeds.child(CONTEXT.seed, "barriers", D=D, P=P, N=N, sample=sample)
        greedy = {}
        for one, other in permutations(solved, 2):
            # A greedy path starts at the solution whose first differing weight is -1.
            ends = sorted((solutions[one].weights, solutions[other].weights), key=lambda weights: weights.tolist())
            greedy[one, other] = flip_path(instance, *ends, order="greedy", seed=0).max(), ends
        assert [((row.first, row.first_run), (row.second, row.second_run)) for row in pairs.itertuples()] == list(
            combinations(runs, 2)
        )
        for row in pairs.itertuples():
            one, other = (row.first, row.first_run), (row.second, row.second_run)
            assert row.solved == (one in solved and other in solved)
            if not row.solved:
                assert np.isnan([row.distance, row.barrier_mean, row.barrier_greedy, row.barrier_bent]).all()
                continue
            straight, ends = greedy[one, other]
            assert row.distance == (ends[0] != ends[1]).mean()
            assert row.barrier_mean == mean_flip_path(instance, *ends).max()
            assert row.barrier_greedy == straight
            bends = [max(greedy[one, k][0], greedy[k, other][0]) for k in solved if k not in (one, other)]
            lowest = min([straight, *bends])
            through += lowest < straight
            if lowest > 0.0:
                path = bent_flip_path(instance, *ends, order="greedy", proposals=proposals, seed=seed)
                searched += path.barrier < lowest
                lowest = min(lowest, path.barrier)
            assert row.barrier_bent == lowest
    assert through and searched and set(rows["solved"]) == {0.0, 1.0}


AMP: dict[str, Any] = {"damping": 0.1, "max_iterations": 500, "tolerance": 1e-5}


def amp_table(D, inv_alpha, samples, margin=0.0, alpha_T=3.0, **options):
    grid = {"D": D, "inv_alphas": [inv_alpha], "margins": [margin], "samples": samples}
    return table(two_level_amp, alpha_T=alpha_T, grids=[grid], test_patterns=2000, **AMP | options)


@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_two_level_amp_is_that_of_the_solver(margin):
    D, P, N = 33, 99, 199
    rows = amp_table(D, N / P, 2, margin)
    for row in rows.itertuples():
        seed = seeds.child(CONTEXT.seed, "instance", sample=row.sample)
        instance = hidden_manifold(D, P, N, seed)
        run = amp.two_level_amp(instance, margin=margin, seed=seed, **AMP)
        assert (row.P, row.N, row.inv_alpha) == (P, N, N / P)
        assert row.overlap == pytest.approx((run.magnetizations**2).mean(), rel=1e-12)
        assert row.converged == run.converged == 1.0
        # The smallest sum that the margin allows is odd; one less over √N is the margin of the theory.
        least = next(h for h in range(1, N, 2) if h >= margin * math.sqrt(N))
        assert row.margin_effective == pytest.approx((least - 1) / math.sqrt(N))
        fields, labels = zip(*((p @ run.magnetizations, y) for p, y in instance.test_patterns(2000)), strict=True)
        wrong = np.sign(np.concatenate(fields)) != np.concatenate(labels)
        assert row.test_error_barycenter == pytest.approx(wrong.mean())


def test_two_level_amp_stops_where_it_is_told():
    assert amp_table(33, 2.0, 1, max_iterations=2)["converged"].tolist() == [0.0]
    rough, fine = (amp_table(33, 2.0, 1, tolerance=tolerance)["overlap"].item() for tolerance in (1e-2, 1e-9))
    assert 1e-6 < abs(rough - fine) < 1e-2


def test_two_level_amp_knows_what_one_pattern_tells():
    """The weights with w·ξ > 0 have means ±√(2/πN): their overlap is 2/(πN)."""
    N = 2001
    rows = amp_table(D=101, inv_alpha=N, samples=2, alpha_T=1 / 101)
    assert set(rows["P"]) == {1} and set(rows["converged"]) == {1.0}
    np.testing.assert_allclose(rows["overlap"], 2 / (math.pi * N), rtol=2 / math.sqrt(N))


def test_two_level_amp_obeys_the_replica_theory_of_typical_solutions():
    rows = amp_table(D=67, inv_alpha=2.0, samples=16)
    theory = typical(RandomFeatures(3.0, rows["inv_alpha"].iloc[0]))
    for column, value in (("overlap", theory.q), ("test_error_barycenter", theory.error_barycenter)):
        error = rows[column].std(ddof=1) / 4
        assert abs(rows[column].mean() - value) < 3.5 * error + 0.3 / 67
        assert 3.5 * error + 0.3 / 67 < 0.3 * value  # so it could fail


def test_typical_solutions_at_large_overparameterization_tend_to_the_limit():
    points = (10.0, 1e3, 1e4)
    ensemble = {"model": "random_features", "activation": "tanh"}
    ask, over = {"": "typical", "limit": "overparameterized_limit"}, {"inv_alpha": points, "margin": (0.0, 0.5)}
    rows = table(sweep, ask=ask, ensemble=ensemble, at={"alpha_T": 2.0}, over=over)
    assert rows[["margin", "inv_alpha"]].to_numpy().tolist() == [[m, x] for m in (0.0, 0.5) for x in points]
    for row in rows.itertuples():
        s = typical(RandomFeatures(2.0, row.inv_alpha, row.margin, "tanh"))
        limit = overparameterized_limit(RandomFeatures(2.0, margin=row.margin, activation="tanh"))
        assert (row.q, row.r, row.error_typical, row.error_barycenter) == (
            s.q,
            s.r,
            s.error_typical,
            s.error_barycenter,
        )
        assert (row.limit_error_typical, row.limit_error_barycenter) == (limit.error_typical, limit.error_barycenter)
    # The difference to the limit, and the overlap of two solutions, are of first order in α.
    for _, line in rows.groupby("margin"):
        for kind in ("typical", "barycenter"):
            scaled = (line[f"error_{kind}"] - line[f"limit_error_{kind}"]) * line["inv_alpha"]
            assert scaled.iloc[2] == pytest.approx(scaled.iloc[1], rel=0.02)
            assert abs(scaled.iloc[2]) > 1e-3
        scaled = line["q"] * line["inv_alpha"]
        assert scaled.iloc[2] == pytest.approx(scaled.iloc[1], rel=0.02)
