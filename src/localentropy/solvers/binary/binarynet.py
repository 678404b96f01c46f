"""BinaryNet: gradient descent on real weights whose signs are the weights of the perceptron.

The gradient with respect to the signs is used as the gradient of the real weights. This is the straight-through
estimator (`overparam`, appendix F, "BNet"; Hubara et al. 2016).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localentropy.arguments import require_flag, require_number
from localentropy.device import Tensor, torch, torch_device
from localentropy.errors import DomainError
from localentropy.instances.perceptron import Instance, require_odd, smallest_allowed
from localentropy.numerics.adam import Adam
from localentropy.numerics.waiting import counted
from localentropy.quantities import EPOCHS, GROUP, RATE_OF_SIGNS, SCALE_OF_SIGNS, SPREAD
from localentropy.seeds import generator
from localentropy.solvers.solution import Solution, check_instance, require_runs

_GROUP_BYTES = 2**32  # patterns on a GPU at once; a constant, so that groups are the same everywhere
_LOOK_EVERY = 50  # epochs between two looks at whether all runs have stopped: each look waits for the GPU


@dataclass(frozen=True, eq=False)
class BinaryNetSolution(Solution):
    """The last solution of a training that goes on after its first solution.

    Attributes:
        epoch: number of updates that led to these weights.
        first_epoch: number of updates that led to the first weights without errors; None if there were none.
    """

    epoch: int = 0
    first_epoch: int | None = None


def binarynet(
    instance: Instance,
    *,
    margin: float = 0.0,
    seed: int,
    logit_scale: float = 1.0,
    learning_rate: float = 1e-3,
    epochs: int = 4000,
    spread: float = 0.1,
    stop_at_first: bool = False,
    device: str = "cpu",
) -> BinaryNetSolution:
    """BinaryNet on the perceptron: full batch, cross-entropy, Adam; no bias, no batch normalisation.

    With weights w = sign(W) (+1 at 0), a = c Σ_i w_i y ξ_i and L = ⟨ln(1 + e^{−2a})⟩ over the patterns, an epoch is
    one step of Adam on W with ∂L/∂W = ∂L/∂w, after which W is clipped to [−1, 1].

    The scale of the logits c = logit_scale/√N decides which solutions are found first. At c√N = 1 they generalise well.
    At larger c the loss is like a perceptron loss: it falls little once the label is right. Further training widens the
    margin, but takes longer at larger c. Test errors, ±0.003, at D = 201, α_T = 3, 1/α = 3 for c√N = 1, 3, √N: 0.230,
    0.267, 0.269 at the first epoch without errors; 0.221, 0.222, 0.244 at the last of 4000.

    Args:
        instance: ±1 patterns with N odd, or real ones.
        margin: κ. In the loss, Σ_i w_i y ξ_i is then reduced by h_min − 1, or by κ√N for real patterns. An error is a
            stability below κ. (The paper has no version with a margin.)
        seed: root seed of the initial weights.
        logit_scale: c√N (chosen; the text gives no value).
        learning_rate: of Adam (chosen). Only its ratios to `spread` and to the clip at 1 matter.
        epochs: number of updates (chosen).
        spread: the initial W_i are uniform in [−spread, spread] (chosen), at most 1.
        stop_at_first: end at the first epoch without errors instead of making all epochs.
        device: where torch computes, "cpu" or "cuda".

    Returns:
        The weights of the *last* epoch without errors; without such an epoch, the final weights. Iterations are epochs.
        Train errors are those before the first and after every epoch; the last one need not be 0 in a solved run.

    Raises:
        DomainError: N even with ±1 patterns, a margin outside [0, √N], a parameter or device that is not allowed.

    Example:
        >>> from localentropy import solvers
        >>> from localentropy.instances import random_patterns
        >>> solvers.binarynet(random_patterns(N=501, P=150, seed=0), seed=0, stop_at_first=True).solved
        True
    """
    return binarynet_many(
        [instance],
        seeds=[seed],
        margin=margin,
        logit_scale=logit_scale,
        learning_rate=learning_rate,
        epochs=epochs,
        spread=spread,
        stop_at_first=stop_at_first,
        device=device,
    )[0]


def binarynet_many(
    instances: Sequence[Instance],
    *,
    seeds: Sequence[int],
    margin: float = 0.0,
    logit_scale: float = 1.0,
    learning_rate: float = 1e-3,
    epochs: int = 4000,
    spread: float = 0.1,
    stop_at_first: bool = False,
    device: str = "cpu",
    group: int | None = None,
) -> list[BinaryNetSolution]:
    """BinaryNet on many instances of one size, in groups that are trained at once.

    Runs are independent. But sums are rounded differently in groups of another size, and after some hundred epochs this
    can change a sign. So the bits are the same for equal groups, device and number of torch threads. In groups of one,
    the default on a CPU, they are those of `binarynet`.

    Args:
        instances: all with the same P and N and of the same kind of patterns.
        seeds: one for each instance.
        margin: κ of the loss and of a solution.
        logit_scale: c√N.
        learning_rate: of Adam.
        epochs: number of updates.
        spread: half-width of the initial W_i.
        stop_at_first: end each run at its first epoch without errors.
        device: where torch computes.
        group: instances trained at once, 4 P N bytes each. The default on a CPU is 1, which is fastest because the
            patterns of one instance stay in the cache. On a GPU it is as many as fit in 4 GiB.

    Returns:
        Solutions in the order of the instances.

    Raises:
        DomainError: not one seed for each instance, instances of unequal sizes or kinds, group < 1, or see `binarynet`.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.binarynet import binarynet_many
        >>> instances = [random_patterns(N=201, P=60, seed=seed) for seed in range(2)]
        >>> runs = binarynet_many(instances, seeds=[0, 1], epochs=300, stop_at_first=True)
        >>> [found.solved for found in runs]
        [True, True]
    """
    instances, seeds = require_runs("binarynet_many", instances, seeds)
    if not instances:
        return []
    for one in instances:
        check_instance(one)
    require_flag("stop_at_first", stop_at_first)
    place = torch_device(device)
    _check(instances)
    logit_scale, learning_rate = SCALE_OF_SIGNS.require(logit_scale), RATE_OF_SIGNS.require(learning_rate)
    epochs, spread = EPOCHS.require(epochs), SPREAD.require(spread)
    size = 4 * instances[0].P * instances[0].N
    if group is None:
        group = 1 if place.type == "cpu" else max(1, _GROUP_BYTES // size)
    group = GROUP.require(group)
    margin = require_number("margin", margin)
    solutions = []
    for start in range(0, len(instances), group):
        part = slice(start, start + group)
        clock = time.thread_time if torch.get_num_threads() == 1 else time.process_time
        started = clock()
        state = StraightThrough(
            instances[part],
            seeds[part],
            margin=margin,
            logit_scale=logit_scale,
            learning_rate=learning_rate,
            spread=spread,
            device=place,
        )
        errors, first, final = _train(state, epochs, stop_at_first)
        spent = (clock() - started) / len(state.instances)
        for run, one in enumerate(state.instances):
            solutions.append(_solution(one, errors[run], first[run], final[run], margin, spent))
    return solutions


class StraightThrough:
    """The state of a group of runs between two epochs.

    Attributes:
        instances: one for each run.
        patterns: labels times patterns, [runs, P, N].
        real: W, [runs, N].
        signs: the ±1 weights of the last `forward`, [runs, N].
        sums: Σ_i w_i y ξ_i at the last `forward`, [runs, P]; exact for ±1 patterns, also in float32.
        adam: moving averages of the gradient, [runs, N].
        updates: number of updates so far.

    Args:
        instances: one for each run, of one size.
        seeds: root seeds of the first weights.
        margin: as the next three, see `binarynet_many`.
        logit_scale: c.
        learning_rate: of Adam.
        spread: half-width of the first weights.
        device: of torch; None: the CPU.
        dtype: of patterns and weights.

    Example:
        >>> from localentropy.instances import random_patterns
        >>> from localentropy.solvers.binary.binarynet import StraightThrough
        >>> state = StraightThrough([random_patterns(N=101, P=30, seed=0)], seeds=[0])
        >>> before = int(state.forward()[0])
        >>> for _ in range(100):
        ...     state.update()
        ...     after = int(state.forward()[0])
        >>> after < before  # errors
        True
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        seeds: Sequence[int],
        *,
        margin: float = 0.0,
        logit_scale: float = 1.0,
        learning_rate: float = 1e-3,
        spread: float = 0.1,
        device: torch.device | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        first = instances[0]
        runs, P, N = len(instances), first.P, first.N
        self.instances = instances
        self.patterns = torch.empty((runs, P, N), dtype=dtype, device=device)
        for one, patterns in zip(instances, self.patterns, strict=True):
            patterns.copy_(torch.tensor(one.signed_patterns))
        initial = [generator(seed, "algorithm/binarynet").uniform(-spread, spread, N) for seed in seeds]
        self.real = torch.from_numpy(np.stack(initial)).to(self.patterns)
        self.signs = torch.empty_like(self.real)
        self.adam = Adam(self.real)
        self.updates = 0
        self.learning_rate = learning_rate
        self.scale = logit_scale / math.sqrt(N)
        least = smallest_allowed(margin, N)
        # A sum of zero is an error too.
        self.least = float(least) if first.binary else max(margin * math.sqrt(N), float(np.nextafter(np.float32(0), 1)))
        self.shift = float(least - 1) if first.binary else margin * math.sqrt(N)

    def forward(self) -> Tensor:
        """Signs and sums of the real weights; returns the number of errors, [runs]."""
        self.signs.copy_(self.real >= 0).mul_(2).sub_(1)
        self.sums = torch.bmm(self.patterns, self.signs[:, :, None])[:, :, 0]
        return (~(self.sums >= self.least)).sum(1)

    def gradient(self) -> Tensor:
        """∂L/∂w_i = −(2c/P) Σ_μ y ξ_i / (1 + e^{2a}), the margin subtracted in a, at the last `forward`: [runs, N]."""
        slope = torch.sigmoid((self.sums - self.shift).mul_(-2 * self.scale))
        slope.mul_(-2 * self.scale / self.sums.shape[1])
        return torch.bmm(slope[:, None], self.patterns)[:, 0]

    def update(self) -> None:
        """A step of Adam with `gradient`, then the clip."""
        self.updates += 1
        denominator, step = self.adam.update(self.gradient(), self.updates, self.learning_rate)
        self.real.addcdiv_(self.adam.mean, denominator, value=-step).clamp_(-1, 1)


def _train(state: StraightThrough, epochs: int, stop_at_first: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Train all runs.

    Returns:
        Errors before the first and after every epoch, int64 [runs, epochs + 1]; first weights without errors, int8
        [runs, N]; last weights without errors, or final ones if there are none, int8 [runs, N]. With `stop_at_first`,
        errors after the first success of a run are −1.
    """
    errors = torch.full((epochs + 1, len(state.instances)), -1, device=state.real.device)
    open_ = torch.ones(len(state.instances), dtype=torch.bool, device=state.real.device)
    first, last = torch.empty_like(state.signs), torch.empty_like(state.signs)
    for epoch in counted(range(epochs + 1), "binarynet"):
        if epoch:
            state.update()
        errors[epoch] = state.forward()
        solved = errors[epoch] == 0
        torch.where((solved & open_)[:, None], state.signs, first, out=first)
        torch.where(solved[:, None], state.signs, last, out=last)
        open_ &= ~solved
        # A group of one, as on a CPU, ends at once.
        look = len(state.instances) == 1 or epoch % _LOOK_EVERY == 0
        if stop_at_first and look and not open_.any():
            break
    counts = errors.T.cpu().numpy()
    ever = (errors == 0).any(0)[:, None]
    if stop_at_first:
        done = np.cumsum(counts == 0, axis=1) - (counts == 0)
        counts = np.where(done > 0, -1, counts)
        last = first
    final = torch.where(ever, last, state.signs)
    return counts, first.to(torch.int8).cpu().numpy(), final.to(torch.int8).cpu().numpy()


def _solution(
    instance: Instance, errors: np.ndarray, first: np.ndarray, final: np.ndarray, margin: float, cpu_seconds: float
) -> BinaryNetSolution:
    errors = errors[errors >= 0]
    without = np.flatnonzero(errors == 0)
    return BinaryNetSolution(
        weights=final,
        solved=instance.train_error(final, margin) == 0.0,
        iterations=len(errors) - 1,
        train_errors=errors / instance.P,
        cpu_seconds=cpu_seconds,
        epoch=int(without[-1]) if without.size else len(errors) - 1,
        first_epoch=int(without[0]) if without.size else None,
        first_weights=first if without.size else None,
    )


def _check(instances: Sequence[Instance]) -> None:
    first = instances[0]
    for one in instances:
        if (one.P, one.N, one.binary) != (first.P, first.N, first.binary):
            raise DomainError(
                f"binarynet_many needs instances of one size and kind, got P = {first.P}, N = {first.N} and "
                f"P = {one.P}, N = {one.N}"
            )
    if first.binary:
        require_odd(first.N)
