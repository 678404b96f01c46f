import math
from typing import Any

import numpy as np
import pytest
import torch

from localentropy.errors import DomainError
from localentropy.instances.perceptron import hidden_manifold, random_patterns, smallest_allowed
from localentropy.seeds import generator
from localentropy.solvers.batch import solve_many
from localentropy.solvers.binary.binarynet import StraightThrough, binarynet, binarynet_many

OPTIONS: dict[str, Any] = {"margin": 0.0, "logit_scale": 1.0, "learning_rate": 1e-3, "spread": 0.1}


class Twin:
    """One run, pattern by pattern, in double precision."""

    def __init__(self, instance, seed, margin, logit_scale, learning_rate, spread):
        self.N, self.learning_rate = instance.N, learning_rate
        self.patterns = instance.patterns.astype(float) * instance.labels[:, None]
        self.least = smallest_allowed(margin, instance.N)
        self.scale = logit_scale / math.sqrt(instance.N)
        self.real = generator(seed, "algorithm/binarynet").uniform(-spread, spread, instance.N)
        self.mean, self.square = np.zeros(self.N), np.zeros(self.N)
        self.updates = 0

    @property
    def weights(self):
        return np.where(self.real >= 0, 1, -1)

    def errors(self):
        return sum(pattern @ self.weights < self.least for pattern in self.patterns)

    def gradient(self):
        gradient = np.zeros(self.N)
        for pattern in self.patterns:
            a = self.scale * (pattern @ self.weights - (self.least - 1))
            gradient -= 2 * self.scale * pattern / (1 + math.exp(2 * a)) / len(self.patterns)
        return gradient

    def update(self):
        gradient = self.gradient()
        self.updates += 1
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * gradient**2
        mean = self.mean / (1 - 0.9**self.updates)
        square = self.square / (1 - 0.999**self.updates)
        self.real = np.clip(self.real - self.learning_rate * mean / (np.sqrt(square) + 1e-8), -1, 1)


@pytest.mark.parametrize("margin, logit_scale, spread", [(0.0, 1.0, 0.1), (0.5, 3.0, 0.1), (0.2, 5.0, 1.0)])
def test_runs_in_a_group_follow_the_twin(margin, logit_scale, spread):
    options = {"margin": margin, "logit_scale": logit_scale, "learning_rate": 0.01, "spread": spread}
    instances = [hidden_manifold(D=11, P=33, N=67, seed=seed) for seed in range(3)]
    twins = [Twin(one, seed, **options) for seed, one in enumerate(instances)]
    state = StraightThrough(instances, range(3), dtype=torch.float64, **options)
    for _ in range(150):
        assert state.forward().tolist() == [twin.errors() for twin in twins]
        np.testing.assert_array_equal(state.signs, [twin.weights for twin in twins])
        np.testing.assert_array_equal(state.sums, [twin.patterns @ twin.weights for twin in twins])
        np.testing.assert_allclose(state.gradient(), [twin.gradient() for twin in twins], rtol=1e-11, atol=1e-15)
        state.update()
        for twin in twins:
            twin.update()
        np.testing.assert_allclose(state.real, [twin.real for twin in twins], atol=1e-9)
    assert state.real.abs().max() == 1.0  # the clip was met


@pytest.mark.parametrize("margin", [0.0, 0.5])
@pytest.mark.parametrize("activation", ["sign", "tanh"])
def test_gradient_and_step_are_those_of_torch(activation, margin):
    """Autograd of the cross-entropy of the logits ±a through the signs, and torch's own Adam."""
    instance = hidden_manifold(D=11, P=33, N=67, seed=0, activation=activation)
    state = StraightThrough([instance], [0], dtype=torch.float64, **(OPTIONS | {"margin": margin}))
    real = state.real[0].clone().requires_grad_()
    optimizer = torch.optim.Adam([real], lr=1e-3)
    inputs, labels = torch.tensor(instance.patterns).double(), torch.tensor(instance.labels).double()
    root = math.sqrt(instance.N)
    shift = (smallest_allowed(margin, instance.N) - 1) / root if activation == "sign" else margin
    for _ in range(60):
        signs = torch.where(real >= 0, 1.0, -1.0)
        straight = real + (signs - real).detach()
        field = inputs @ straight / root - labels * shift
        logits = torch.stack([-field, field], dim=1)
        loss = torch.nn.functional.cross_entropy(logits, ((labels + 1) / 2).long())
        optimizer.zero_grad()
        loss.backward()
        state.forward()
        torch.testing.assert_close(state.gradient()[0], real.grad, rtol=1e-10, atol=1e-14)
        optimizer.step()
        with torch.no_grad():
            real.clamp_(-1, 1)
        state.update()
        torch.testing.assert_close(state.real[0], real.detach(), rtol=0, atol=1e-11)


def test_the_start_is_uniform_and_zero_counts_as_plus():
    instance = random_patterns(N=2001, P=3, seed=0)
    state = StraightThrough([instance], [0], **OPTIONS)
    assert -0.1 <= state.real.min() < -0.099 and 0.099 < state.real.max() <= 0.1
    state.real[0, :2] = torch.tensor([0.0, -0.0])
    state.forward()
    assert state.signs[0, :2].tolist() == [1, 1]


def test_known_successes_and_test_errors():
    """1/α = 1.2: none of 3 solves elsewhere; 3: 4 of 4, first after 156 epochs, test error 0.226 then."""
    for N, fraction in ((725, 0), (1809, 1)):
        instances = [hidden_manifold(D=201, P=603, N=N, seed=seed) for seed in range(4)]
        solutions = binarynet_many(instances, seeds=range(4), epochs=600)
        assert all(one.solved == bool(fraction) for one in solutions)
        pairs = list(zip(instances, solutions, strict=True))
        for instance, solution in pairs:
            assert len(solution.train_errors) == 601 and solution.iterations == 600
            assert solution.train_errors[solution.epoch] == instance.train_error(solution.weights)
    assert 130 < np.mean([one.first_epoch for one in solutions]) < 180
    firsts = [(one, found.first_weights) for one, found in pairs if found.first_weights is not None]
    assert len(firsts) == 4
    errors = [one.test_error(weights, 4000) for one, weights in firsts]
    assert abs(np.mean(errors) - 0.226) < 0.012
    # Training on widens the margin.
    gain = [
        one.stabilities(found.weights).mean() - one.stabilities(first).mean()
        for (one, found), (_, first) in zip(pairs, firsts, strict=True)
    ]
    assert min(gain) > 0


def test_large_logits_meet_worse_minima_first():
    """0.230 and 0.267 at D = 201, 1/α = 3."""
    instances = [hidden_manifold(D=67, P=201, N=1005, seed=seed) for seed in range(10)]
    mean = {}
    for scale in (1.0, 3.0):
        solutions = binarynet_many(instances, seeds=range(10), logit_scale=scale, epochs=1000, stop_at_first=True)
        assert all(one.solved for one in solutions)
        errors = [one.test_error(found.weights, 4000) for one, found in zip(instances, solutions, strict=True)]
        mean[scale] = np.mean(errors)
    assert mean[3.0] - mean[1.0] > 0.015


@pytest.mark.parametrize("activation, margin", [("sign", 0.0), ("sign", 0.3), ("tanh", 0.0), ("tanh", 0.1)])
def test_what_is_called_solved_has_the_margin(activation, margin):
    instance = hidden_manifold(D=67, P=201, N=1005, seed=0, activation=activation)
    solution = binarynet(instance, margin=margin, seed=0, epochs=600)
    assert solution.solved and solution.weights.dtype == np.float64
    assert solution.first_weights is not None
    for weights in (solution.weights, solution.first_weights):
        assert instance.train_error(weights, margin) == 0
        assert instance.stabilities(weights).min() >= margin
    without = np.flatnonzero(solution.train_errors == 0)
    assert (solution.first_epoch, solution.epoch) == (without[0], without[-1])


def test_what_cannot_be_solved_is_said_to_be_unsolved():
    instance = random_patterns(N=101, P=120, seed=0)
    solution = binarynet(instance, seed=0, epochs=50)
    assert not solution.solved and solution.epoch == solution.iterations == 50
    assert solution.first_epoch is None and solution.first_weights is None
    assert solution.train_errors[-1] == instance.train_error(solution.weights)
    assert 0 < solution.best_train_error <= solution.train_errors[-1]


def test_the_last_success_is_kept_when_errors_return():
    instances = [hidden_manifold(D=67, P=201, N=453, seed=seed) for seed in range(6)]
    solutions = binarynet_many(instances, seeds=range(6), epochs=1500)
    returned = [one for one in solutions if one.solved and one.train_errors[-1] > 0]
    assert returned
    for one in returned:
        assert one.train_errors[one.epoch] == 0 and (one.train_errors[one.epoch + 1 :] > 0).all()


@pytest.mark.parametrize("group", [1, 4])
def test_stopping_at_the_first_success_gives_the_beginning_of_the_full_run(group):
    instances = [hidden_manifold(D=67, P=201, N=353, seed=seed) for seed in range(4)]
    options = {"seeds": range(4), "epochs": 400, "group": group}
    full = binarynet_many(instances, **options)
    first = binarynet_many(instances, stop_at_first=True, **options)
    assert {one.solved for one in full} == {False, True}
    for one, other in zip(full, first, strict=True):
        assert other.solved == one.solved and other.first_epoch == one.first_epoch
        if one.solved:
            assert other.iterations == other.epoch == one.first_epoch
            np.testing.assert_array_equal(other.weights, one.first_weights)
        np.testing.assert_array_equal(other.train_errors, one.train_errors[: other.iterations + 1])


def test_a_start_without_errors_needs_no_epoch():
    instance = random_patterns(N=101, P=1, seed=0)
    seed = next(s for s in range(20) if binarynet(instance, seed=s, epochs=1).first_epoch == 0)
    solution = binarynet(instance, seed=seed, stop_at_first=True)
    assert solution.solved and solution.iterations == 0 and solution.train_errors.tolist() == [0]


def test_groups_agree_with_single_runs():
    instances = [hidden_manifold(D=67, P=201, N=603, seed=seed) for seed in range(5)]
    alone = [binarynet(one, seed=seed, epochs=100) for seed, one in enumerate(instances)]
    in_ones = binarynet_many(instances, seeds=range(5), epochs=100)
    together = binarynet_many(instances, seeds=range(5), epochs=100, group=3)
    again = binarynet_many(instances, seeds=range(5), epochs=100, group=3)
    threaded = solve_many(binarynet, instances, seeds=range(5), threads=3, epochs=100)
    for one, same, other, near, repeated in zip(alone, in_ones, threaded, together, again, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
        np.testing.assert_array_equal(one.weights, same.weights)
        np.testing.assert_array_equal(one.train_errors, same.train_errors)
        np.testing.assert_array_equal(near.weights, repeated.weights)
        np.testing.assert_array_equal(near.train_errors, repeated.train_errors)
        # Rounding decides a sign now and then.
        assert (one.weights == near.weights).mean() > 0.99
        assert np.abs(one.train_errors - near.train_errors).max() <= 2.01 / 201


def test_groups_agree_with_single_runs_in_double_precision():
    instances = [hidden_manifold(D=67, P=201, N=603, seed=seed) for seed in range(3)]
    together = StraightThrough(instances, range(3), dtype=torch.float64)
    alone = [StraightThrough([one], [seed], dtype=torch.float64) for seed, one in enumerate(instances)]
    for _ in range(300):
        for state in (together, *alone):
            state.forward()
            state.update()
    torch.testing.assert_close(together.real, torch.cat([one.real for one in alone]), rtol=0, atol=1e-8)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_an_accelerator_agrees_with_the_processor():
    instances = [hidden_manifold(D=67, P=201, N=603, seed=seed) for seed in range(5)]
    near = binarynet_many(instances, seeds=range(5), epochs=100, device="cuda")
    for one, other in zip(binarynet_many(instances, seeds=range(5), epochs=100), near, strict=True):
        assert (one.weights == other.weights).mean() > 0.99


RANDOM = random_patterns(N=33, P=9, seed=0)


@pytest.mark.parametrize(
    "instance, options, message",
    [
        (random_patterns(N=32, P=9, seed=0), {}, "N = 32 is even"),
        (RANDOM, {"margin": 6.0}, "margin = 6.0"),
        (RANDOM, {"logit_scale": 0.0}, "logit_scale = 0 is out of range"),
        (RANDOM, {"learning_rate": math.nan}, "learning_rate = nan"),
        (RANDOM, {"epochs": 0}, "epochs = 0"),
        (RANDOM, {"spread": 1.5}, "spread = 1.5"),
        (RANDOM, {"device": "gpu"}, "device = 'gpu'"),
    ],
)
def test_wrong_arguments_are_refused(instance, options, message):
    with pytest.raises(DomainError, match=message):
        binarynet(instance, seed=0, **options)


def test_wrong_groups_are_refused():
    assert binarynet_many([], seeds=[]) == []
    for instances, seeds, group, message in [
        ([RANDOM], [0, 1], 1, "one seed"),
        ([RANDOM, random_patterns(N=35, P=9, seed=0)], [0, 1], 1, "one size"),
        ([RANDOM, hidden_manifold(D=5, P=9, N=33, seed=0, activation="tanh")], [0, 1], 1, "kind"),
        ([RANDOM], [0], 0, "group = 0"),
    ]:
        with pytest.raises(DomainError, match=message):
            binarynet_many(instances, seeds=seeds, group=group)
