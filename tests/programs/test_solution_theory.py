"""Theory and simulation of solutions at finite size: the lattice, the stabilities, the overlaps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from localentropy.instances.perceptron import hidden_manifold, smallest_allowed
from localentropy.landscape.binary_overlaps import overlaps
from localentropy.programs import solution_overlaps, stabilities
from localentropy.programs.parts.perceptron_sizes import sizes
from localentropy.solvers.batch import solve_many
from localentropy.solvers.binary.anneal import anneal, mct0
from localentropy.solvers.binary.sbpi import sbpi
from localentropy.theory import RandomFeatures, local_energy, stability_density, typical
from tests.programs.programs import CONTEXT
from tests.programs.programs import table as table_of

DISTANCES = (0.0, 0.01, 0.02, 0.05, 0.1)


def lattice(D, inv_alpha, margin):
    values = {"at": "lattice", "ensemble": {"model": "random_features", "activation": "sign"}, "alpha_T": 3.0}
    grid = {"D": D, "inv_alphas": [inv_alpha], "margins": [margin], "samples": 1}
    return table_of(stabilities, **values, distances=DISTANCES, grids=[grid])


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_probabilities_are_integrals_of_the_density_over_the_cells(margin):
    table = lattice(67, 10.0, margin)
    cells = table[table["quantity"] == "stability_probability"]
    N = int(table["N"].iloc[0])
    effective = table["margin_effective"].iloc[0]
    root = np.sqrt(N)
    assert cells["value"].sum() == pytest.approx(1.0, abs=1e-12)
    assert round(cells["x"].iloc[0] * root) == smallest_allowed(margin, N)
    np.testing.assert_allclose(np.diff(cells["x"]) * root, 2.0)

    def density(x):
        return float(stability_density(RandomFeatures(3.0, N / 201, effective), x))

    for row in cells.iloc[[0, 3, 20]].itertuples():
        exact = quad(density, row.x - 1 / root + 1e-12, row.x + 1 / root, epsabs=1e-12)[0]
        assert row.value == pytest.approx(exact, rel=1e-6)
    mean = table.loc[table["quantity"] == "mean_stability", "value"].item()
    exact = quad(lambda x: x * density(x), effective + 1e-12, effective + 8, epsabs=1e-10, limit=200)[0]
    assert mean == pytest.approx(exact, abs=2 / N)  # a cell's centre stands for its inside


@pytest.mark.parametrize("margin", [0.0, 0.4])
def test_the_local_energy_tends_to_that_of_the_continuum(margin):
    gaps = []
    for D in (33, 134, 536):
        table = lattice(D, 10.0, margin)
        energies = table[table["quantity"] == "local_energy"]["value"].to_numpy()
        assert energies[0] == 0
        model = RandomFeatures(3.0, table["inv_alpha"].iloc[0], table["margin_effective"].iloc[0])
        gaps.append(np.abs(energies - local_energy(model, DISTANCES))[1:].max())
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2] and gaps[2] < 0.003


def test_a_small_lattice_ends_at_the_largest_sum():
    table = lattice(9, 1.5, 0.0)
    cells = table[table["quantity"] == "stability_probability"]
    N = int(table["N"].iloc[0])
    assert cells["x"].max() * np.sqrt(N) == pytest.approx(N)
    energies = table[table["quantity"] == "local_energy"].set_index("x")["value"]
    # One flip, 0.02 N, makes an error of a sum 1 if it is one of the (N + 1)/2 terms +1.
    assert energies[0.02] == pytest.approx(cells["value"].iloc[0] * (N + 1) / (2 * N))
    assert energies[0.0] == 0.0 and energies.notna().all()


def test_where_there_are_no_solutions_there_is_no_row():
    assert lattice(67, 0.8, 0.0).empty


@pytest.mark.parametrize("D, inv_alpha, samples", [(67, 20, 30), pytest.param(201, 20, 20, marks=pytest.mark.slow)])
def test_stabilities_of_zero_temperature_solutions_are_those_of_typical_ones(D, inv_alpha, samples):
    P, N = sizes(3.0, D, inv_alpha)
    instances = [hidden_manifold(D, P, N, seed) for seed in range(samples)]
    runs = solve_many(mct0, instances, seeds=range(samples), threads=1)
    means = np.array([i.stabilities(r.weights).mean() for i, r in zip(instances, runs, strict=True) if r.solved])
    assert len(means) >= 0.9 * samples
    table = lattice(D, inv_alpha, 0.0)
    theory = table.loc[table["quantity"] == "mean_stability", "value"].item()
    error = means.std(ddof=1) / np.sqrt(len(means))
    assert abs(means.mean() - theory) < 3 * error + 0.5 / D
    # It would see the solutions of an algorithm that seeks a margin.
    wide = solve_many(sbpi, instances[:5], seeds=range(5), threads=1)
    assert np.mean([i.stabilities(r.weights).mean() for i, r in zip(instances, wide, strict=False)]) > theory + 0.5


def overlap_rows(grids):
    parameters = solution_overlaps.Parameters.model_validate({"alpha_T": 3.0, "activation": "sign", "grids": grids})
    return [solution_overlaps.compute(parameters, task, CONTEXT) for task in solution_overlaps.tasks(parameters)]


def test_overlaps_of_typical_solutions_are_those_of_the_theory():
    grid = {"D": 67, "inv_alphas": [10.0], "samples": 20, "runs": 4}
    annealed, wide = overlap_rows([grid | {"solver": "anneal"}, grid | {"solver": "sbpi", "samples": 3}])
    assert (annealed["solved"] == 4).mean() > 0.8
    theory = typical(RandomFeatures(3.0, annealed["inv_alpha"].iloc[0])).q
    error = annealed["overlap"].std(ddof=1) / np.sqrt(len(annealed))
    assert abs(annealed["overlap"].mean() - theory) < 3 * error + 0.5 / 67
    assert 3 * error + 0.5 / 67 < theory  # so it could fail
    assert wide["overlap"].min() > 5 * theory


def test_overlaps_are_between_runs_of_one_instance_and_samples_do_not_depend_on_their_number():
    grid = {"solver": "mct0", "D": 33, "inv_alphas": [20.0], "runs": 3}
    (two,), (three,) = (overlap_rows([grid | {"samples": samples}]) for samples in (2, 3))
    assert two.equals(three.iloc[:2])
    assert two["overlap"].nunique() == 2
    (none,) = overlap_rows([grid | {"samples": 1, "inv_alphas": [0.9]}])
    assert none["solved"].item() == 0 and np.isnan(none["overlap"].item())
    # Different seeds give different solutions, and the overlap of equal ones would be 1.
    assert two["overlap"].max() < 0.5
    instance = hidden_manifold(33, 99, 1981, seed=0)
    same = np.stack([anneal(instance, seed=5).weights, anneal(instance, seed=5).weights])
    assert overlaps(same)[2].tolist() == [1.0]
