"""Gradient descent on phase retrieval against autograd, a slow twin, and what is known of its thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import generalized_linear
from localentropy.solvers.descent import Descent, descend_phase_retrieval, gradient_flow, mean_square_loss, start


def phase_retrieval(d, n, seed):
    return generalized_linear(n, d, seed, channel="absolute")


def tensors(instances):
    inputs = torch.from_numpy(np.stack([one.inputs for one in instances]))
    return inputs, torch.from_numpy(np.stack([one.labels**2 for one in instances]))


def twin(instance, seed, units, steps, step):
    """One pattern, unit and step after the other, as the flow is written."""
    weights = start(instance, seed, units)
    for _ in range(steps):
        change = np.zeros_like(weights)
        for x, y2 in zip(instance.inputs, instance.labels**2, strict=True):
            z = [float(x @ weights[a]) for a in range(units)]
            r = y2 - sum(value**2 for value in z) / units
            for a in range(units):
                change[a] += r * z[a] * x * instance.d / instance.n
        weights = weights + step * change
        if units == 1:
            weights = weights / math.sqrt(float(np.sum(weights**2) / np.sum(instance.teacher**2)))
    return weights


def loss_of(instance, weights):
    return np.mean((instance.labels**2 - np.square(instance.inputs @ weights.T).mean(1)) ** 2)


def fraction(d, alpha, units, runs):
    instances = [phase_retrieval(d, round(alpha * d), seed) for seed in range(runs)]
    return np.mean([run.success for run in descend_phase_retrieval(instances, units=units, seeds=range(runs))])


@pytest.mark.parametrize("units", [1, 7])
def test_flow_is_the_gradient_of_the_loss(units):
    instances = [phase_retrieval(6, 15, seed) for seed in range(3)]
    inputs, intensities = tensors(instances)
    weights = torch.from_numpy(np.stack([start(one, 9, units) for one in instances])).requires_grad_()
    loss = mean_square_loss(inputs, intensities, weights)
    loss.sum().backward()
    flow = gradient_flow(inputs, intensities, weights.detach())
    torch.testing.assert_close(flow, -units * 6 / 4 * weights.grad, rtol=1e-12, atol=1e-13)
    direction = torch.randn(weights.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    up, down = (mean_square_loss(inputs, intensities, weights.detach() + sign * 1e-5 * direction) for sign in (1, -1))
    slopes = (direction * flow).sum((1, 2)) * (-4 / (units * 6))
    torch.testing.assert_close((up - down) / 2e-5, slopes, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("units", [1, 9])
def test_against_a_slow_twin(units):
    instance = phase_retrieval(8, 24, 3)
    (run,) = descend_phase_retrieval([instance], units=units, seeds=[5], descent=Descent(iterations=60))
    expected = twin(instance, 5, units, 60, 0.02)
    assert run.iterations == 60
    np.testing.assert_allclose(run.weights, expected, rtol=1e-10, atol=1e-11)
    assert run.loss == pytest.approx(loss_of(instance, expected), rel=1e-9)
    if units == 1:
        assert run.overlap == pytest.approx(instance.cosine(expected[0]), rel=1e-9)


@pytest.mark.parametrize("units", [1, 9])
@pytest.mark.parametrize(("steps", "half"), [(50, 0), (200, 100), (349, 150)])
def test_loss_midway(units, steps, half):
    instance = phase_retrieval(8, 24, 3)
    (run,) = descend_phase_retrieval([instance], units=units, seeds=[5], descent=Descent(iterations=steps))
    assert run.iterations == steps
    assert run.loss_midway == pytest.approx(loss_of(instance, twin(instance, 5, units, half, 0.02)), rel=1e-8)


def test_test_error_is_that_of_new_patterns():
    instance = phase_retrieval(10, 20, 0)
    (run,) = descend_phase_retrieval([instance], units=10, seeds=[0], descent=Descent(iterations=200))
    new = np.random.default_rng(1).standard_normal((400_000, 10)) / math.sqrt(10)
    squares = ((new @ instance.teacher) ** 2 - ((new @ run.weights.T) ** 2).mean(1)) ** 2
    error = squares.std() / math.sqrt(len(squares))
    assert run.test_error > 10 * error
    assert run.test_error == pytest.approx(squares.mean(), abs=4 * error)


@pytest.mark.parametrize("units", [1, 20])
def test_batch_is_its_single_runs(units):
    # One unit ends early. Many units converge slowly, and reach zero loss at very different times if patterns are few.
    instances = [phase_retrieval(20, 100 if units == 1 else 15, seed) for seed in range(6)]
    rule = Descent(iterations=4000, loss_tolerance=1e-6)
    together = descend_phase_retrieval(instances, units=units, seeds=range(6), descent=rule)
    again = descend_phase_retrieval(instances, units=units, seeds=range(6), descent=rule)
    assert len({run.iterations for run in together}) > 1  # some were dropped while others went on
    for seed, (run, same) in enumerate(zip(together, again, strict=True)):
        (alone,) = descend_phase_retrieval([instances[seed]], units=units, seeds=[seed], descent=rule)
        np.testing.assert_array_equal(run.weights, same.weights)
        assert run.iterations == same.iterations == alone.iterations
        np.testing.assert_allclose(run.weights, alone.weights, rtol=0, atol=1e-8)
        assert run.loss == pytest.approx(alone.loss, rel=1e-5, abs=1e-13)
        assert run.loss_midway == pytest.approx(alone.loss_midway, rel=1e-5)
        assert run.success == alone.success


@pytest.mark.parametrize("units", [1, 20])
def test_groups_of_runs_change_nothing(units, monkeypatch):
    instances = [phase_retrieval(20, 100, seed) for seed in range(7)]
    rule = Descent(iterations=1000)
    whole = descend_phase_retrieval(instances, units=units, seeds=range(7), descent=rule)
    monkeypatch.setattr("localentropy.solvers.descent._GROUP_BYTES", 3 * 8 * 100 * (20 + 3 * units))
    parts = descend_phase_retrieval(instances, units=units, seeds=range(7), descent=rule)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, rtol=0, atol=1e-8)
        assert one.iterations == other.iterations


def test_seeds_give_other_runs_and_one_unit_stays_on_the_sphere():
    instance = phase_retrieval(20, 60, 0)
    one, other = descend_phase_retrieval([instance, instance], seeds=[0, 1], descent=Descent(iterations=50))
    assert not np.allclose(one.weights, other.weights)
    assert np.linalg.norm(one.weights) == pytest.approx(np.linalg.norm(instance.teacher), rel=1e-12)


def test_plain_succeeds_at_large_alpha_and_fails_at_small():
    # An independent program, d = 50: 0.98 at α = 8, 0.23 at 3. Below 1 the teacher is not even determined.
    assert fraction(50, 8.0, 1, 20) >= 0.8
    assert fraction(50, 1.5, 1, 20) <= 0.2


def test_many_units_succeed_where_one_does_not():
    # The theorem's 2 < α = 3.5 < 7. At α = 1.5 the loss vanishes, and the teacher is not found.
    assert fraction(40, 3.5, 40, 8) >= 0.8
    assert fraction(40, 3.5, 1, 40) <= 0.7
    assert fraction(40, 1.5, 40, 4) == 0.0


def test_many_units_reach_zero_loss_away_from_the_teacher():
    instance = phase_retrieval(30, 30, 0)
    (run,) = descend_phase_retrieval(
        [instance], units=30, seeds=[0], descent=Descent(iterations=20_000, loss_tolerance=1e-6)
    )
    assert run.converged
    assert run.loss < 1e-6
    assert not run.success
    assert run.test_error > 0.5


def test_a_local_minimum_ends_a_run():
    instances = [phase_retrieval(30, 60, seed) for seed in range(8)]
    runs = descend_phase_retrieval(instances, seeds=range(8), descent=Descent(iterations=60_000))
    stuck = [run for run in runs if not run.converged and run.iterations < 60_000]
    assert stuck
    assert all(run.loss > 1e-3 and not run.success for run in stuck)


def test_a_step_that_is_too_long_is_told():
    (run,) = descend_phase_retrieval(
        [phase_retrieval(10, 30, 0)], units=10, seeds=[0], descent=Descent(step=5.0, iterations=500)
    )
    assert not run.converged
    assert not run.success
    assert math.isnan(run.overlap)
    assert run.iterations == 50


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_an_accelerator_agrees_with_the_processor():
    instances = [phase_retrieval(20, 120, seed) for seed in range(4)]
    near = descend_phase_retrieval(instances, seeds=range(4))
    far = descend_phase_retrieval(instances, seeds=range(4), device="cuda")
    for one, other in zip(near, far, strict=True):
        np.testing.assert_allclose(one.weights, other.weights, rtol=0, atol=1e-7)


SMALL = phase_retrieval(4, 8, 0)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: Descent(step=0.0), "step = 0 is out of range"),
        (lambda: Descent(iterations=0), "iterations = 0"),
        (lambda: Descent(loss_tolerance=math.nan), "loss_tolerance = nan"),
        (lambda: Descent(speed_tolerance=-1.0), "speed_tolerance = -1 is out of range"),
        (lambda: Descent(success_overlap=1.0), "success_overlap = 1 is out of range"),
        (lambda: descend_phase_retrieval([SMALL], seeds=[0, 1]), "one seed for each instance, got 2 seeds for 1"),
        (lambda: descend_phase_retrieval([SMALL], seeds=[0.5]), "seed = 0.5 is not an integer"),  # type: ignore[list-item]
        (lambda: descend_phase_retrieval([SMALL], seeds=[0], units=0), "units = 0"),
        (lambda: descend_phase_retrieval([SMALL], seeds=[0], device="gpu"), "nearest is 'cpu'|nearest is 'cuda'"),
        (lambda: descend_phase_retrieval([SMALL], seeds=[0], dtype=torch.float16), "dtype = torch.float16"),
        (lambda: descend_phase_retrieval([SMALL, phase_retrieval(4, 9, 0)], seeds=[0, 0]), "n = 9, d = 4"),
        (lambda: descend_phase_retrieval(["x"], seeds=[0]), "instance = str object"),  # type: ignore[list-item]
        (lambda: descend_phase_retrieval([generalized_linear(8, 4, 0)], seeds=[0]), "channel = Sign\\(\\): allowed"),
    ],
)
def test_refusals_in_one_line(call, message):
    with pytest.raises(DomainError, match=message) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_nothing_to_do():
    assert descend_phase_retrieval([], seeds=[]) == []
