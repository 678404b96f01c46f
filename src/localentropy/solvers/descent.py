"""Gradient descent on phase retrieval: the square loss of intensities, all instances at once.

A student of one unit stays on the sphere of its teacher. One of many units has the mean of their squares as its output,
and moves freely. Instances and runs are the first axis of every array, and no run acts on another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from localentropy import seeds as streams
from localentropy.arguments import require_integer, require_positive
from localentropy.device import torch_device
from localentropy.errors import DomainError
from localentropy.instances.phase_retrieval import PhaseRetrieval

_LOOK_EVERY = 50  # steps between two looks at which runs have ended: each look costs products, and waits for a GPU


@dataclass(frozen=True)
class Descent:
    """How the runs move, when they end, and what is a success. All values are (C).

    Attributes:
        step: η of Euler's rule, in the time of the flow (`gradient_flow`).
        iterations: most steps. 15 000 is time 300 with the default step.
        loss_tolerance: a run ends with a mean square loss below it.
        speed_tolerance: a run ends where no loss pulls any more, in a local minimum: where the root mean square of
            the weights' change is below it, per weight and unit of time.
        success_overlap: a run with a larger overlap is a success.
    """

    step: float = 0.02
    iterations: int = 15_000
    loss_tolerance: float = 1e-8
    speed_tolerance: float = 1e-6
    success_overlap: float = 0.99

    def __post_init__(self) -> None:
        require_positive(
            step=self.step,
            loss_tolerance=self.loss_tolerance,
            speed_tolerance=self.speed_tolerance,
            success_overlap=self.success_overlap,
        )
        if self.success_overlap >= 1.0:
            raise DomainError(f"success_overlap = {self.success_overlap} is out of range: it must be below 1")
        require_integer("iterations", self.iterations, 1)


@dataclass(frozen=True, eq=False)
class DescentRun:
    """Where a run of gradient descent ended.

    Attributes:
        weights: float64 [units, N].
        overlap: with the teacher, up to the sign. With A = Σ_a w_a w_aᵀ/units it is √(w*ᵀ A w* / (‖A‖_F ‖w*‖²)); with
            one unit the absolute cosine |w·w*|/(‖w‖ ‖w*‖). It is 1 only if A is the teacher's A* = w* w*ᵀ, up to
            a factor. NaN where the run diverged.
        loss: mean of (y² − output)² over the patterns.
        test_error: the same on new Gaussian patterns, (2 ‖A − A*‖_F² + (tr(A − A*))²)/N², without sampling.
        iterations: steps made, seen every 50 steps.
        converged: whether the loss is below the tolerance.
        success: whether the overlap is above that of a success.
    """

    weights: np.ndarray
    overlap: float
    loss: float
    test_error: float
    iterations: int
    converged: bool
    success: bool


def descend_phase_retrieval(
    instances: Sequence[PhaseRetrieval],
    *,
    units: int = 1,
    seeds: Sequence[int],
    descent: Descent | None = None,
    device: str = "cpu",
    dtype: torch.dtype = torch.float64,
) -> list[DescentRun]:
    """Gradient descent on the squared differences of intensities, from Gaussian weights.

    The flow is that of `gradient_flow`. After every step a single unit is scaled back to squared norm N, also at the
    start; several units are not scaled. A run ends by the rules of `Descent`. It looks at them every 50 steps.

    Runs are independent. They are made at once, and only rounding depends on the others.

    Source: `glm_talk`, "Gradient descent for phase retrieval" (units = 1) and "GD for over-parametrised phase
    retrieval" (units ≥ N; arXiv:2006.15459). The talk has a flow. The step, the stop rule and
    the overlap of a success are chosen here (`Descent`).

    Args:
        instances: the problems, all of one size. Several starts on one have the same object several times.
        units: m, hidden units of the student.
        seeds: root seeds of the initial weights, one for each run.
        descent: the step and the stop rule.
        device: "cpu" or "cuda".
        dtype: torch.float64 or torch.float32. Single precision cannot follow losses below 1e-12.

    Returns:
        One run for each instance, in their order.

    Raises:
        DomainError: instances of unequal sizes, not one seed for each, an argument out of range, a device that is not
            available.
    """
    descent = descent or Descent()
    _check(instances, seeds, units, dtype)
    place = torch_device(device)
    if not instances:
        return []
    first = instances[0]
    starts = np.stack([start(one, seed, units) for one, seed in zip(instances, seeds, strict=True)])
    patterns = torch.from_numpy(np.stack([one.patterns for one in instances])).to(place, dtype)
    columns = patterns.transpose(1, 2).contiguous()
    intensities = torch.from_numpy(np.stack([one.intensities for one in instances])).to(place, dtype)
    weights = torch.from_numpy(starts).to(place, dtype)
    going, ended = np.arange(len(instances)), np.zeros(len(instances), dtype=np.int64)
    losses, final = np.zeros(len(instances)), np.empty_like(starts)
    made = 0
    while going.size:
        steps = min(_LOOK_EVERY, descent.iterations - made)
        before = weights
        for _ in range(steps):
            before = weights
            weights = weights + descent.step * gradient_flow(patterns, columns, intensities, weights)
            if units == 1:
                weights *= math.sqrt(first.N) / weights.norm(dim=2, keepdim=True)
        made += steps
        loss = mean_square_loss(columns, intensities, weights)
        speed = (weights - before).square().mean((1, 2)).sqrt() / descent.step
        # A run that diverged compares as false, and ends too.
        moves = (loss >= descent.loss_tolerance) & (speed >= descent.speed_tolerance) & loss.isfinite()
        stays = moves if made < descent.iterations else torch.zeros_like(moves)
        out = (~stays).cpu().numpy()
        if out.any():
            ended[going[out]] = made
            losses[going[out]] = loss.cpu().numpy()[out]
            final[going[out]] = weights[~stays].cpu().numpy()
            going = going[~out]
            patterns, columns = patterns[stays], columns[stays]
            intensities, weights = intensities[stays], weights[stays]
    return [
        _run(instance.teacher, matrix, float(loss), int(count), descent)
        for instance, matrix, loss, count in zip(instances, final, losses, ended, strict=True)
    ]


def start(instance: PhaseRetrieval, seed: int, units: int) -> np.ndarray:
    """Initial weights of a run, standard normal, [units, N]; a single unit is scaled to squared norm N."""
    stream = streams.generator(seed, "algorithm/descent", units=units, N=instance.N, P=instance.P)
    weights = stream.standard_normal((units, instance.N))
    return weights * (math.sqrt(instance.N) / np.linalg.norm(weights)) if units == 1 else weights


def gradient_flow(patterns: Tensor, columns: Tensor, intensities: Tensor, weights: Tensor) -> Tensor:
    """Velocity of the weights, (1/α) Σ_μ [y² − Σ_b z_b²/m] z_a X_μ, with z_a = X w_a and α = P/N.

    This is −m N/4 times the gradient of `mean_square_loss`: the talk's flow in a time of its own. In that time
    velocities are of order 1 for any α, N and m.

    Args:
        patterns: X, [runs, P, N].
        columns: Xᵀ, [runs, N, P]. A contiguous copy makes the products of many runs twice as fast.
        intensities: y², [runs, P].
        weights: [runs, m, N].

    Returns:
        [runs, m, N].
    """
    fields = torch.bmm(weights, columns)
    differences = intensities - fields.square().mean(1)
    return torch.bmm(differences[:, None] * fields, patterns) * (patterns.shape[2] / patterns.shape[1])


def mean_square_loss(columns: Tensor, intensities: Tensor, weights: Tensor) -> Tensor:
    """Mean of (y² − Σ_a z_a²/m)² over the patterns, [runs]; arguments as those of `gradient_flow`."""
    return (intensities - torch.bmm(weights, columns).square().mean(1)).square().mean(1)


def _run(teacher: np.ndarray, weights: np.ndarray, loss: float, iterations: int, descent: Descent) -> DescentRun:
    """What is said of final weights, [units, N]."""
    units, N = weights.shape
    overlap = test_error = math.nan
    if math.isfinite(loss):
        square = weights.T @ weights / units
        overlap = math.sqrt(teacher @ square @ teacher / (np.linalg.norm(square) * (teacher @ teacher)))
        square -= np.outer(teacher, teacher)
        test_error = float(2.0 * np.sum(square**2) + np.trace(square) ** 2) / N**2
    return DescentRun(
        weights=weights,
        overlap=overlap,
        loss=loss,
        test_error=test_error,
        iterations=iterations,
        converged=loss < descent.loss_tolerance,
        success=overlap > descent.success_overlap,
    )


def _check(instances: Sequence[PhaseRetrieval], seeds: Sequence[int], units: int, dtype: torch.dtype) -> None:
    require_integer("units", units, 1)
    if dtype not in (torch.float64, torch.float32):
        raise DomainError(f"dtype = {dtype} is not known: allowed are torch.float64, torch.float32")
    if len(seeds) != len(instances):
        raise DomainError(f"seeds: {len(seeds)} for {len(instances)} instances, allowed is one for each")
    for instance, seed in zip(instances, seeds, strict=True):
        require_integer("seed", seed)
        if not isinstance(instance, PhaseRetrieval):
            raise DomainError(f"instance = {type(instance).__name__} object: allowed is PhaseRetrieval")
        if (instance.P, instance.N) != (instances[0].P, instances[0].N):
            raise DomainError(
                f"instances of unequal sizes: P = {instances[0].P}, N = {instances[0].N} "
                f"and P = {instance.P}, N = {instance.N}"
            )
