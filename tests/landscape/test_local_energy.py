"""Local energy: no noise gives the train error, the distance follows its law, noise is shared between levels."""

import numpy as np
import pytest
import torch

from localentropy.analysis.statistics import pair_mean
from localentropy.errors import DomainError
from localentropy.landscape.local_energy import local_energy
from localentropy.networks.mlp.network import Ensemble, Shape, random_orthogonal
from localentropy.networks.normalise import normalise
from tests.generators import generators

SIGMAS = (0.0, 0.3, 1.0)


def solutions(models=2, width=12):
    ensemble = random_orthogonal(Shape(10, width, 5), generators(models))
    return normalise(ensemble)[0]


def evaluate_on(ensemble: Ensemble, inputs: torch.Tensor, labels: torch.Tensor):
    def evaluate(weights):
        perturbed, _ = normalise(ensemble.with_weights(weights))
        return perturbed.flat_weights(), perturbed.errors(inputs, labels)

    return evaluate


def energy(ensemble, draws=2):
    random = np.random.default_rng(4)
    inputs = torch.from_numpy(random.standard_normal((500, 10))).float()
    labels = torch.from_numpy(random.choice([-1.0, 1.0], 500)).float()
    result = local_energy(
        ensemble.flat_weights(),
        evaluate_on(ensemble, inputs, labels),
        units=ensemble.units,
        sigmas=SIGMAS,
        draws=draws,
        generators=generators(ensemble.networks),
    )
    return result, ensemble.errors(inputs, labels).numpy()


def test_no_noise_gives_the_train_error():
    result, train_error = energy(solutions())
    assert (result.train_error[0] == train_error[:, None]).all()
    assert result.distance[0] == pytest.approx(0, abs=1e-5)
    assert (np.diff(result.distance, axis=0) > 0).all()


def test_distance_of_wide_units():
    """d² per unit = 2 (1 − 1/√(1 + σ²)) for rows of unit norm and large fan-in; the first layer has fan-in 10."""
    random = np.random.default_rng(0)
    rows = torch.nn.functional.normalize(torch.from_numpy(random.standard_normal((40, 2000))), dim=1)

    def evaluate(weights):
        perturbed = torch.nn.functional.normalize(weights.view(1, 40, 2000), dim=2).flatten(1)
        return perturbed, torch.zeros(1)

    result = local_energy(
        rows.view(1, -1), evaluate, units=40, sigmas=SIGMAS, draws=3, generators=[np.random.default_rng(1)]
    )
    expected = 2 * (1 - 1 / np.sqrt(1 + np.square(SIGMAS)))
    assert np.square(result.distance_per_unit).mean((1, 2)) == pytest.approx(expected, rel=2e-2, abs=1e-12)
    assert result.distance == pytest.approx(result.distance_per_unit * np.sqrt(40))


def test_the_same_noise_at_all_levels_and_any_company():
    together, _ = energy(solutions(2))
    alone, _ = energy(solutions(1))
    assert together.distance[:, :1] == pytest.approx(alone.distance, rel=1e-5, abs=1e-6)
    assert (together.train_error[:, :1] == alone.train_error).all()


def test_standard_error_is_over_solutions():
    result, _ = energy(solutions(4), draws=3)
    distance, mean, error = result.curve()
    by_solution = result.train_error.mean(2)
    assert mean == pytest.approx(by_solution.mean(1))
    assert error == pytest.approx(by_solution.std(1, ddof=1) / 2)
    assert distance[0] == pytest.approx(0, abs=1e-6)
    assert np.isnan(energy(solutions(1))[0].curve()[2]).all()


@pytest.mark.parametrize(
    ("sigmas", "draws", "streams", "message"),
    [
        ((-0.1,), 1, 1, "sigma = -0.1"),
        ((0.1,), 0, 1, "draws = 0"),
        ((0.1,), 1, 2, "generators: 2 given, allowed are 1"),
        ((float("nan"),), 1, 1, "sigma = nan"),
    ],
)
def test_refuses_what_is_out_of_range(sigmas, draws, streams, message):
    with pytest.raises(DomainError, match=message):
        local_energy(
            torch.ones(1, 3),
            lambda w: (w, torch.zeros(1)),
            units=1,
            sigmas=sigmas,
            draws=draws,
            generators=[np.random.default_rng(0)] * streams,
        )


def test_jackknife_of_a_mean_over_pairs():
    """For sums of one term per sample the jackknife error is exact: pairs carry (a + b)/2, so the mean is that of a."""
    values = np.random.default_rng(2).standard_normal(6)
    first, second = np.triu_indices(6, 1)
    mean, error = pair_mean(first, second, (values[first] + values[second]) / 2)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(6))
    with pytest.raises(DomainError, match="3 samples"):
        pair_mean([0], [1], [0.5])
