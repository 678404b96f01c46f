"""Stochastic gradient descent on committee machines: cross-entropy, tanh units that become signs.

On a CPU compiled loops (`sgd_kernels`) make one run after the other, and the patterns stay in the cache. On a GPU
batched products (`CommitteeBatch`) make all runs at once. Both use the same random streams.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localentropy.arguments import (
    require_choice,
    shown,
)
from localentropy.device import Tensor, torch, torch_device
from localentropy.errors import DomainError
from localentropy.instances.committee import Committee, check_committee
from localentropy.numerics.waiting import counted
from localentropy.quantities import (
    BATCH,
    BETA,
    BETA_GROWTH,
    EPOCHS,
    EPOCHS_AFTER,
    GAMMA_GROWTH,
    GAMMA_OF_LOSS,
    LEARNING_RATE,
    LOSS,
)
from localentropy.solvers.committee.kernels import count_errors
from localentropy.solvers.committee.runs import random_start, solution
from localentropy.solvers.committee.sgd_kernels import epoch as compiled_epoch
from localentropy.solvers.solution import Solution, require_runs

_LOOK_EVERY = 50  # epochs between two looks at which runs have ended: each look waits for the GPU

_QUANTITIES = (LEARNING_RATE, BETA, BETA_GROWTH, GAMMA_OF_LOSS, GAMMA_GROWTH, BATCH, EPOCHS, EPOCHS_AFTER, LOSS)


@dataclass(frozen=True)
class Schedule:
    """How the runs are trained.

    Attributes:
        learning_rate: η; the gradient is summed, not averaged, over a mini-batch.
        beta: β of the first epoch, the slope of the units tanh(βx).
        beta_growth: β₁; β is multiplied by 1 + β₁ after each epoch.
        gamma: γ of the first epoch, the scale of the loss.
        gamma_growth: γ₁, likewise.
        batch: patterns in a mini-batch; the last one of an epoch may be shorter.
        epochs: most passes over the patterns, each in a fresh random order.
        epochs_after: with stop = "errors", how many of them are made after the first without errors.
        stop: "errors", after an epoch in which the sign machine has none; "loss", after the first epoch with a
            loss below the tolerance. The loss is summed over a mini-batch, before its step, and averaged over the
            mini-batches of the epoch.
        loss_tolerance: the bound of stop = "loss".

    Example:
        >>> from localentropy.solvers.committee.sgd import Schedule
        >>> Schedule(beta_growth=1e-4, stop="loss").beta_growth  # slower than the default, until the loss is small
        0.0001
    """

    learning_rate: float = 1e-2
    beta: float = 1.0
    beta_growth: float = 1e-3
    gamma: float = 3.0
    gamma_growth: float = 0.0
    batch: int = 100
    epochs: int = 3000
    epochs_after: int = 0
    stop: str = "errors"
    loss_tolerance: float = 1e-7

    def __post_init__(self) -> None:
        require_choice("stop", self.stop, ("errors", "loss"))
        for quantity in _QUANTITIES:
            object.__setattr__(self, quantity.name, quantity.require(getattr(self, quantity.name)))
        if self.stop == "loss" and self.epochs_after:
            raise DomainError(f"epochs_after = {self.epochs_after}: with stop = 'loss' allowed is 0")


def committee_sgd(instance: Committee, *, seed: int, schedule: Schedule | None = None, device: str = "cpu") -> Solution:
    """Mini-batch descent on the cross-entropy until the sign machine makes no error, or until the loss is small.

    With x_l = y w_l·ξ_l, ‖w_l‖ = 1, and Δ = Σ_l tanh(βx_l)/√K, the loss of a pattern is
    f(Δ) = −Δ/2 + ln(2 cosh γΔ)/(2γ) = ln(1 + e^{−2γΔ})/(2γ). After every step each unit is divided by its norm. Initial
    weights are uniform in [−1, 1] and then normalised.

    Source: `overparam`, §III and Methods; `shaping`, Methods. The default schedule is "ceSGD-fast" of `shaping`, which
    needs 770 ± 150 epochs on random patterns at N = 999, K = 9, P = 1000. The texts do not say the scales of x_l and Δ,
    nor that the gradient is summed over a mini-batch. These choices reproduce the number of epochs. "ceSGD-slow" stops
    at a loss of 1e-7; how the patterns are summed in this loss is chosen here (`Schedule`).

    Args:
        instance: ±1 patterns, on a tree or a fully connected machine.
        seed: root seed of the initial weights and of the orders of the patterns.
        schedule: default: ceSGD-fast.
        device: "cpu" or "cuda".

    Returns:
        With stop = "errors", the weights of the last epoch without errors; without such an epoch, those of the first
        with the fewest errors. With stop = "loss", those of the last epoch, and `converged` tells whether the loss
        reached the tolerance. `train_errors` are those of the sign machine, at the start and after every epoch.

    Raises:
        DomainError: not a committee, units with one input, a parameter out of range, a device that is not available,
            stop = "loss" on a GPU.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.sgd import committee_sgd
        >>> committee_sgd(machine, seed=0).solved
        True
    """
    return committee_sgd_many([instance], seeds=[seed], schedule=schedule, device=device)[0]


def committee_sgd_many(
    instances: Sequence[Committee],
    *,
    seeds: Sequence[int],
    schedule: Schedule | None = None,
    device: str = "cpu",
) -> list[Solution]:
    """Descent on many training sets, or from many starts on the same one; see `committee_sgd`.

    Runs are independent. On a CPU they are made one by one, in double precision, and no bit depends on the other runs.
    On a GPU they are made at once, in single precision. Sums are then rounded differently, which after some hundred
    epochs leads to other, equally good runs.

    Args:
        instances: one for each run, all of one kind and size. Several starts on one training set have the same object.
        seeds: one for each run.
        schedule: default: ceSGD-fast.
        device: "cpu" or "cuda".

    Returns:
        The solutions, in the order of the instances.

    Raises:
        DomainError: not one seed for each instance, instances of unequal kinds or sizes, or see `committee_sgd`.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.solvers.committee.sgd import committee_sgd_many
        >>> machine = random_tree_committee(N=99, P=30, K=3, seed=0)
        >>> [found.solved for found in committee_sgd_many([machine, machine], seeds=[0, 1])]  # two starts
        [True, True]
    """
    schedule = Schedule() if schedule is None else schedule
    if not isinstance(schedule, Schedule):
        raise DomainError(f"schedule = {shown(schedule)}: allowed is a Schedule of {__name__}")
    instances, seeds = require_runs("committee_sgd_many", instances, seeds)
    for instance in instances:
        _check(instance, instances[0])
    if schedule.stop == "loss" and require_choice("device", device, ("cpu", "cuda")) == "cuda":
        raise DomainError(
            f"device = {device!r}: stop = 'loss' is for 'cpu' only, single precision cannot follow the loss"
        )
    place = torch_device(device)
    if place.type == "cpu":
        return [_run(instance, seed, schedule) for instance, seed in zip(instances, seeds, strict=True)]
    return _run_at_once(instances, seeds, schedule, place) if instances else []


def start(instance: Committee, seed: int) -> tuple[np.ndarray, np.random.Generator]:
    """Initial weights of a run, and the generator of the orders of its patterns.

    Args:
        instance: the problem.
        seed: root seed of the run.

    Returns:
        The weights, [K, inputs_per_unit], with norm 1 for each unit, and the generator.

    Example:
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.solvers.committee.sgd import start
        >>> weights, stream = start(random_tree_committee(N=99, P=20, K=3, seed=0), seed=0)
        >>> weights.shape
        (3, 33)
    """
    (weights,), stream = random_start(instance, seed, "committee_sgd")
    return weights, stream


def _run(instance: Committee, seed: int, schedule: Schedule) -> Solution:
    """One run by compiled loops."""
    clock = time.thread_time()
    weights, stream = start(instance, seed)
    # A kernel must get one type of patterns only, here int8.
    patterns = instance.data.signed_patterns
    errors = [count_errors(patterns, weights)]
    best, loss, batch = weights.copy(), math.inf, min(schedule.batch, instance.P)
    beta, gamma, by_loss = schedule.beta, schedule.gamma, schedule.stop == "loss"
    left = schedule.epochs_after
    for _ in counted(range(schedule.epochs), "committee_sgd"):
        if by_loss:
            if loss < schedule.loss_tolerance:
                break
        elif 0 in errors:
            if left == 0:
                break
            left -= 1
        order = stream.permutation(instance.P)
        wrong, loss = compiled_epoch(patterns, order, batch, schedule.learning_rate, beta, gamma, weights)
        if by_loss or wrong == 0 or wrong < min(errors):
            best[:] = weights
        errors.append(wrong)
        beta = min(beta * (1.0 + schedule.beta_growth), BETA.high)
        gamma = min(gamma * (1.0 + schedule.gamma_growth), GAMMA_OF_LOSS.high)
    converged = loss < schedule.loss_tolerance if by_loss else None
    return solution(instance, best, errors, time.thread_time() - clock, converged)


class CommitteeBatch:
    """Many runs at once, with everything on one device.

    Attributes:
        patterns: labels times patterns of all different training sets, [sets blocks P, inputs_per_unit]; blocks = K
            on a tree, and 1 where all units see the same.
        weights: [runs, K, inputs_per_unit].
        best: the weights with the fewest errors so far; of several without errors the last.
        least: number of errors of `best`, [runs].
        errors: number of errors of the sign machine at the last `count`, [runs].
        after: epochs since the first without errors, [runs].

    Args:
        instances: one for each run, all of one kind and size.
        weights: the first, [runs, K, inputs_per_unit], each unit of norm 1.
        device: of torch; None: the CPU.
        dtype: of all numbers.

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.committee import random_tree_committee
        >>> from localentropy.solvers.committee.sgd import CommitteeBatch
        >>> machine, weights = random_tree_committee(N=99, P=20, K=3, seed=0), np.ones((2, 3, 33))
        >>> batch = CommitteeBatch([machine, machine], weights)
        >>> (batch.errors.numpy() / 20 == machine.train_error(weights)).all().item()
        True
    """

    def __init__(
        self,
        instances: Sequence[Committee],
        weights: np.ndarray,
        *,
        device: torch.device | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        first = instances[0]
        self.P, self.K, self.size = first.P, first.units, first.inputs_per_unit
        sets = list({id(one): one for one in instances}.values())
        blocks = first.data.N // self.size
        self.patterns = torch.empty((len(sets), blocks, self.P, self.size), dtype=dtype, device=device)
        for one, patterns in zip(sets, self.patterns, strict=True):
            inputs = torch.tensor(one.data.signed_patterns).reshape(self.P, blocks, self.size)
            patterns.copy_(inputs.transpose(0, 1))
        self.patterns = self.patterns.view(-1, self.size)
        number = {id(one): place for place, one in enumerate(sets)}
        rows = np.array([number[id(one)] for one in instances])[:, None] * blocks + np.arange(self.K) % blocks
        # First row of every run and unit in `patterns`.
        self._rows = torch.from_numpy(rows * self.P)[:, :, None].to(self.patterns.device)
        self.weights = torch.from_numpy(weights).to(self.patterns)
        self.best = self.weights.clone()
        self.errors = self.least = self.count()
        self.after = torch.zeros_like(self.least)

    def fields(self, order: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and pre-activations of the patterns `order`, [runs, patterns].

        Returns:
            [runs K, patterns, inputs_per_unit] and [runs, K, patterns].
        """
        inputs = self.patterns.index_select(0, (self._rows + order[:, None]).flatten())
        inputs = inputs.view(-1, order.shape[1], self.size)
        fields = torch.bmm(inputs, self.weights.view(-1, self.size, 1))
        return inputs, fields.view(len(self.weights), self.K, -1)

    def gradient(self, order: Tensor, beta: float, gamma: float) -> Tensor:
        """Gradient of the loss summed over the patterns `order` [runs, patterns], of the size of the weights."""
        inputs, fields = self.fields(order)
        outputs = torch.tanh(beta * fields)
        root = math.sqrt(self.K)
        slope = torch.sigmoid(outputs.sum(1, keepdim=True) * (-2.0 * gamma / root)) * (-beta / root)
        factors = slope * (1.0 - outputs.square())
        return torch.bmm(factors.view(-1, 1, factors.shape[2]), inputs).view_as(self.weights)

    def epoch(self, order: Tensor, schedule: Schedule, beta: float, gamma: float) -> None:
        """All mini-batches of an epoch, in the order of the patterns [runs, P]; then count errors.

        Runs that have ended stay as they are.
        """
        solved = self.least == 0
        done = (solved & (self.after >= schedule.epochs_after))[:, None, None]
        for batch in order.split(schedule.batch, 1):
            moved = self.weights - schedule.learning_rate * self.gradient(batch, beta, gamma)
            moved /= moved.norm(dim=2, keepdim=True)
            self.weights = torch.where(done, self.weights, moved)
        self.errors = self.count()
        self.after += solved
        better = (self.errors < self.least) | (self.errors == 0)
        self.best = torch.where(better[:, None, None], self.weights, self.best)
        self.least = torch.minimum(self.errors, self.least)

    def count(self) -> Tensor:
        """Number of patterns without a majority of units above zero, [runs]."""
        wrong = torch.zeros(len(self.weights), dtype=torch.int64, device=self.weights.device)
        everything = torch.arange(self.P, device=self.weights.device).expand(len(self.weights), -1)
        for part in everything.split(max(1, 2**26 // self.weights.numel()), 1):
            wrong += (self.fields(part)[1].sign().sum(1) <= 0).sum(1)
        return wrong

    def keep(self, runs: Tensor) -> None:
        """Keep these runs only."""
        self._rows, self.weights, self.best = self._rows[runs], self.weights[runs], self.best[runs]
        self.errors, self.least, self.after = self.errors[runs], self.least[runs], self.after[runs]


def _run_at_once(
    instances: Sequence[Committee], seeds: Sequence[int], schedule: Schedule, device: torch.device
) -> list[Solution]:
    """All runs by batched products. Runs that have ended are dropped at the next look."""
    clock = time.process_time()
    starts = [start(instance, seed) for instance, seed in zip(instances, seeds, strict=True)]
    batch = CommitteeBatch(instances, np.stack([weights for weights, _ in starts]), device=device)
    errors = [[count] for count in batch.errors.tolist()]
    best = [weights for weights, _ in starts]
    P, going = instances[0].P, np.arange(len(instances))
    beta, gamma = schedule.beta, schedule.gamma
    for made in range(0, schedule.epochs, _LOOK_EVERY):
        left = ((batch.least > 0) | (batch.after < schedule.epochs_after)).cpu().numpy()
        if not left.all():
            going = going[left]
            batch.keep(torch.from_numpy(np.flatnonzero(left)).to(device))
        if not going.size:
            break
        epochs = min(_LOOK_EVERY, schedule.epochs - made)
        orders = np.stack([[starts[run][1].permutation(P) for run in going] for _ in range(epochs)])
        counts = torch.empty((epochs, len(going)), dtype=torch.int64, device=device)
        for index, order in enumerate(torch.from_numpy(orders).to(device)):
            batch.epoch(order, schedule, beta, gamma)
            counts[index] = batch.errors
            beta = min(beta * (1.0 + schedule.beta_growth), BETA.high)
            gamma = min(gamma * (1.0 + schedule.gamma_growth), GAMMA_OF_LOSS.high)
        for run, found, weights in zip(going, counts.T.tolist(), batch.best.cpu().numpy(), strict=True):
            errors[run] += found
            best[run] = weights
    for of_run in errors:
        if 0 in of_run:
            del of_run[of_run.index(0) + 1 + schedule.epochs_after :]
    spent = (time.process_time() - clock) / len(instances)
    return [
        solution(instance, weights, counts_of_run, spent)
        for instance, weights, counts_of_run in zip(instances, best, errors, strict=True)
    ]


def _check(instance: Committee, first: Committee) -> None:
    check_committee(instance)
    sizes, wanted = ((type(one).__name__, one.P, one.data.N, one.units) for one in (instance, first))
    if sizes != wanted:
        raise DomainError(
            f"committee_sgd_many needs instances of one kind and size, got {wanted[0]} with P = {wanted[1]}, "
            f"N = {wanted[2]}, K = {wanted[3]} and {sizes[0]} with P = {sizes[1]}, N = {sizes[2]}, K = {sizes[3]}"
        )
