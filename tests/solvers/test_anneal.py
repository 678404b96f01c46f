import math
import sys

import numpy as np
import pytest

from localentropy import seeds
from localentropy.closure import code_closure
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, hidden_manifold, random_patterns, smallest_allowed
from localentropy.numerics.bits import pack_signs
from localentropy.solvers.batch import solve_many
from localentropy.solvers.binary.anneal import anneal, counter_planes, mct0, sweeper
from localentropy.solvers.binary.annealing_kernels import lattice_sweeps
from localentropy.solvers.binary.bit_kernels import word_stream
from tests.enumeration import all_signs
from tests.random_streams import random_word, start
from tests.solvers.chains import assert_detailed_balance, sampled_states


def twin_sweeps(instance, margin, weights, key, betas, stop):
    """The chain in plain Python, with all sums computed afresh for every attempt."""
    least = smallest_allowed(margin, instance.N) if instance.binary else max(margin * math.sqrt(instance.N), 5e-324)
    patterns = instance.signed_patterns.astype(float)

    def energy(w):
        return int((patterns @ w < least).sum())

    weights, counter, now, errors = weights.copy(), 0, energy(weights), []
    for beta in betas:
        if stop and now == 0:
            break
        x = math.exp(-beta)
        for _ in range(instance.N):
            counter += 1
            word = random_word(key, counter)
            i = ((word >> 32) * instance.N) >> 32
            weights[i] *= -1
            after = energy(weights)
            probability = 1.0
            for _ in range(after - now):
                probability *= x
            if after <= now or (word & 0xFFFFFFFF) < math.floor(2**32 * probability):
                now = after
                if stop and now == 0:
                    break
            else:
                weights[i] *= -1
        errors.append(now)
    return weights, counter, errors


def run_kernel(instance, margin, key, betas, stop):
    weights, stream = start(instance.N, key)
    errors = np.zeros(len(betas), np.int64)
    done = sweeper(instance, margin, weights, stream)(np.array(betas), stop, errors)
    return weights, int(stream[1]), errors[:done].tolist()


BINARY = [
    random_patterns(N=33, P=1, seed=0),
    random_patterns(N=33, P=64, seed=0),
    random_patterns(N=65, P=65, seed=0),
    random_patterns(N=1, P=5, seed=0),
    hidden_manifold(D=21, P=130, N=129, seed=0),
]
REAL: list[Instance] = [
    hidden_manifold(D=21, P=63, N=64, seed=0, activation="tanh"),
    hidden_manifold(D=21, P=63, N=65, seed=1, gaussian_covariate=True),
]


@pytest.mark.parametrize("instance", BINARY + REAL, ids=lambda i: f"{i.patterns.dtype}-{i.N}-{i.P}")
@pytest.mark.parametrize("margin", [0.0, 0.6])
@pytest.mark.parametrize("beta, stop", [(0.0, False), (0.4, False), (2.0, True), (math.inf, True)])
def test_kernels_make_the_moves_of_the_plain_chain(instance, margin, beta, stop):
    betas = [beta + 0.05 * t for t in range(8)]
    expected = twin_sweeps(instance, margin, start(instance.N, 77)[0], 77, betas, stop)
    weights, counter, errors = run_kernel(instance, margin, 77, betas, stop)
    np.testing.assert_array_equal(weights, expected[0])
    assert (counter, errors) == expected[1:]


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_both_kernels_make_the_same_moves(margin):
    lattice = hidden_manifold(D=67, P=201, N=603, seed=0)
    least = smallest_allowed(margin, 603)
    real = Instance(patterns=2.0 * lattice.patterns, labels=lattice.labels, seed=0)  # ±2 are not ±1
    betas = [0.5 + 0.1 * t for t in range(30)]
    one = run_kernel(lattice, margin, 5, betas, True)
    two = run_kernel(real, (2.0 * least - 1.0) / math.sqrt(603), 5, betas, True)
    np.testing.assert_array_equal(one[0], two[0])
    assert one[1:] == two[1:]


@pytest.mark.parametrize("N, P, margin, beta", [(67, 201, 0.0, 0.3), (67, 201, 0.9, 0.3), (301, 70, 0.0, 3.0)])
def test_counters_are_the_recomputed_ones_after_every_sweep(N, P, margin, beta):
    instance = random_patterns(N=N, P=P, seed=1)
    least = smallest_allowed(margin, N)
    weights, stream = start(N, 3)
    bits, valid = pack_signs(instance.signed_patterns.T), pack_signs(np.ones(P))
    errors = np.zeros(1, np.int64)
    kept = counter_planes(instance, least, weights)
    for _ in range(20):
        lattice_sweeps(bits, valid, kept, weights, stream, np.array([math.exp(-beta)]), False, errors)
        np.testing.assert_array_equal(kept & valid[:, None], counter_planes(instance, least, weights))
        assert errors[0] == round(instance.train_error(weights, margin) * P)


def boltzmann_states(instance, beta, margin):
    """All configurations of the weights as integers, with their Gibbs probabilities."""
    configurations = all_signs(instance.N)
    energies = instance.train_error(configurations, margin) * instance.P
    weight = np.exp(-beta * energies)
    return weight / weight.sum()


def test_the_first_sweep_is_at_the_first_inverse_temperature():
    instance, start, step = random_patterns(N=33, P=64, seed=0), 1.0, 0.7
    weights = 2 * seeds.generator(5, "algorithm/anneal").integers(0, 2, 33, dtype=np.int8) - 1
    errors = np.zeros(3, np.int64)
    sweeps = sweeper(instance, 0.0, weights, word_stream(5, "algorithm/anneal/moves"))
    assert sweeps(np.array([start, start + step, start + 2 * step]), True, errors) == 3
    solution = anneal(instance, seed=5, beta_start=start, beta_step=step, sweeps=3)
    np.testing.assert_array_equal(solution.weights, weights)
    np.testing.assert_array_equal(solution.train_errors[1:] * 64, errors)


def chain(instance, beta, margin, samples, sweeps_between):
    weights, stream = start(instance.N, 11)
    return sampled_states(sweeper(instance, margin, weights, stream), weights, beta, samples, sweeps_between)


@pytest.mark.parametrize("beta, margin", [(0.3, 0.0), (1.0, 0.0), (0.7, 0.9)])
def test_states_are_drawn_from_the_gibbs_distribution(beta, margin):
    instance = random_patterns(N=7, P=9, seed=2)
    expected = boltzmann_states(instance, beta, margin)
    states = chain(instance, beta, margin, samples=60_000, sweeps_between=20)
    counts = np.bincount(states, minlength=128)
    # Twenty sweeps apart the states are independent, and every state is expected often enough for χ².
    assert expected.min() * len(states) > 5
    chi_squared = ((counts - len(states) * expected) ** 2 / (len(states) * expected)).sum()
    assert abs(chi_squared - 127) < 4 * math.sqrt(2 * 127)


def test_moves_are_in_detailed_balance():
    instance = random_patterns(N=5, P=7, seed=4)
    assert_detailed_balance(chain(instance, 0.8, 0.0, samples=100_000, sweeps_between=1))


def test_solutions_have_no_errors_and_failures_say_so():
    for margin, N, works in [(0.0, 2011, True), (0.25, 2011, True), (0.0, 203, False)]:
        instance = hidden_manifold(D=67, P=201, N=N, seed=0)
        for solver in (anneal, mct0):
            solution = solver(instance, margin=margin, seed=0)
            assert solution.solved is works
            assert solution.weights.dtype == np.float64 and len(solution.train_errors) == solution.iterations + 1
            assert instance.train_error(solution.weights, margin) == solution.train_errors[-1]
            assert (instance.stabilities(solution.weights).min() >= margin) == works
            assert solution.best_train_error == solution.train_errors.min() and solution.cpu_seconds > 0


@pytest.mark.parametrize("after", [1, 30])
def test_zero_temperature_goes_from_solution_to_solution_after_the_first(after):
    instance = hidden_manifold(D=67, P=201, N=2011, seed=0)
    first, later = mct0(instance, seed=0), mct0(instance, seed=0, sweeps_after=after)
    assert first.first_weights is None and later.solved
    np.testing.assert_array_equal(later.first_weights, first.weights)
    made = first.iterations
    assert later.iterations == made + after and later.train_errors[:made].min() > 0
    np.testing.assert_array_equal(later.train_errors[made:], np.zeros(after + 1))
    overlap = later.weights @ first.weights / instance.N
    assert (0.7 < overlap < 1.0) if after == 1 else overlap < 0.6
    failed = mct0(hidden_manifold(D=67, P=201, N=203, seed=0), seed=0, sweeps=20, sweeps_after=after)
    assert not failed.solved and failed.iterations == 20 and failed.first_weights is None


def test_real_patterns_are_annealed_to_solutions_with_any_number_of_weights():
    instance = hidden_manifold(D=21, P=63, N=630, seed=0, activation="tanh")
    solution = anneal(instance, margin=0.1, seed=1)
    assert solution.solved and instance.stabilities(solution.weights).min() >= 0.1


def test_a_run_ends_where_only_rounding_errors_of_the_sums_had_left_an_error():
    # The sums that are computed anew after 64 sweeps have no error, those of the kernel have one.
    small = [float.fromhex(x) for x in ("0x1.4ae5d8p-55", "0x1.065ebap-56", "0x1.0p0", "0x1.2bf498p-53")]
    instance = Instance(patterns=np.array([small], np.float32), labels=np.array([1], np.int8), seed=0)
    margin = float(instance.sums(np.ones(4, np.int8))[0]) / 2.0
    solution = mct0(instance, margin=margin, seed=1, sweeps=3000)
    assert solution.solved and solution.iterations == 64 and solution.train_errors[-1] == 0.0


def test_a_solved_start_is_returned_as_it_is():
    instance = random_patterns(N=3, P=1, seed=0)
    solutions = [anneal(instance, seed=seed) for seed in range(10)]
    assert all(solution.solved for solution in solutions)
    assert any(solution.iterations == 0 for solution in solutions)


def test_results_do_not_depend_on_threads_grouping_or_chunks(monkeypatch):
    instances = [hidden_manifold(D=33, P=99, N=301 + 2 * s, seed=s) for s in range(6)]
    alone = [anneal(one, seed=7 + s, sweeps=300) for s, one in enumerate(instances)]
    monkeypatch.setattr(sys.modules["localentropy.solvers.binary.anneal"], "_CHUNK", 7)
    for threads in (1, 3):
        together = solve_many(anneal, instances, seeds=range(7, 13), threads=threads, sweeps=300)
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one.weights, other.weights)
            np.testing.assert_array_equal(one.train_errors, other.train_errors)


def test_solvers_and_seeds_have_streams_of_their_own():
    instance = hidden_manifold(D=33, P=99, N=301, seed=0)
    starts = {anneal(instance, seed=seed, sweeps=1).train_errors[0] for seed in range(5)}
    assert len(starts) > 1
    assert (anneal(instance, seed=0, sweeps=1).weights != mct0(instance, seed=0, sweeps=1).weights).any()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"margin": -1.0}, "margin = -1.0"),
        ({"margin": 99.0}, "margin = 99.0"),
        ({"sweeps": 0}, "sweeps = 0"),
        ({"beta_start": -1.0}, "beta_start = -1 is out"),
        ({"beta_step": -1.0}, "beta_step = -1 is out"),
        ({"beta_start": math.nan}, "beta_start = nan"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(DomainError, match=message):
        anneal(random_patterns(N=33, P=9, seed=0), seed=0, **options)


def test_an_even_number_of_weights_and_unknown_arguments_are_refused():
    with pytest.raises(DomainError, match=r"N = 32 is even.*31, 33"):
        mct0(random_patterns(N=32, P=9, seed=0), seed=0)
    with pytest.raises(TypeError, match="betas"):
        anneal(random_patterns(N=33, P=9, seed=0), seed=0, betas=3)  # type: ignore[call-arg]
    with pytest.raises(DomainError, match="one seed for each"):
        solve_many(mct0, BINARY, seeds=[1])


def test_annealing_and_sbpi_do_not_depend_on_each_other():
    annealing = {module.rpartition(".")[2] for module in code_closure("localentropy.solvers.binary.anneal")}
    sbpi = {module.rpartition(".")[2] for module in code_closure("localentropy.solvers.binary.sbpi")}
    assert {"annealing_kernels", "compiled", "perceptron"} <= annealing
    assert not any(name.startswith("sbpi") for name in annealing)
    assert not any(name.startswith("anneal") for name in sbpi)


TYPICAL_ERROR = {3: 0.2989, 5: 0.2965, 7: 0.2955, 10: 0.2952, 15: 0.294, 20: 0.2939}
"""RS generalisation error of typical solutions at α_T = 3, κ = 0, by N/P."""


def errors_of_solutions(solver, D, over, samples, n=2000, **options):
    N = 3 * D * over // 2 * 2 + 1
    instances = [hidden_manifold(D=D, P=3 * D, N=N, seed=seed, **options) for seed in range(samples)]
    solutions = solve_many(solver, instances, seeds=range(samples), threads=1)
    solved = [(one, found.weights) for one, found in zip(instances, solutions, strict=True) if found.solved]
    return np.array([one.test_error(weights, n) for one, weights in solved])


@pytest.mark.parametrize(
    "solver, D, over, samples",
    [
        (mct0, 67, 20, 30),
        (anneal, 67, 5, 40),
        pytest.param(anneal, 67, 10, 100, marks=pytest.mark.slow),
        pytest.param(anneal, 201, 10, 20, marks=pytest.mark.slow),
        pytest.param(mct0, 201, 20, 20, marks=pytest.mark.slow),
    ],
)
def test_solutions_generalise_like_typical_ones(solver, D, over, samples):
    errors = errors_of_solutions(solver, D, over, samples)
    assert len(errors) >= 0.9 * samples
    standard_error = errors.std(ddof=1) / math.sqrt(len(errors))
    assert abs(errors.mean() - TYPICAL_ERROR[over]) < 3 * standard_error + 0.5 / D


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"features": "binary"}, {"gaussian_covariate": True}], ids=str)
def test_equivalent_features_give_the_same_errors(options):
    gaussian = errors_of_solutions(anneal, 67, 5, 30)
    other = errors_of_solutions(anneal, 67, 5, 30, **options)
    difference = abs(gaussian.mean() - other.mean())
    combined = math.sqrt(gaussian.var(ddof=1) / len(gaussian) + other.var(ddof=1) / len(other))
    assert difference < 3 * combined + 0.5 / 67
