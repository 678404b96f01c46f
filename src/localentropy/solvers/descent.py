"""Gradient descent on phase retrieval: the square loss of intensities, all instances at once.

An intensity is the square of a label. A student of one unit keeps the norm of its teacher. The output of a student of
many units is the mean of their squared fields, and its weights move freely. Runs are the first axis of every array. No
run acts on another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from localentropy import seeds as streams
from localentropy.arguments import require_memory, shown
from localentropy.device import Tensor, torch, torch_device
from localentropy.errors import DomainError
from localentropy.instances.generalized_linear import GeneralizedLinear, check_problem
from localentropy.numerics.channels import Absolute
from localentropy.numerics.waiting import counted
from localentropy.quantities import ITERATIONS, LOSS, SIZE, SPEED, STEP_OF_FLOW, SUCCESS
from localentropy.solvers.solution import require_runs

_LOOK_EVERY = 50  # steps between two looks at which runs have ended: each look costs products, and waits for a GPU
_GROUP_BYTES = 3 * 2**20  # of inputs and fields of the runs that a processor moves together, to keep them in its caches


@dataclass(frozen=True)
class Descent:
    """How the runs move, when they end, and what is a success. All values are chosen here: the talk gives none.

    Attributes:
        step: η of Euler's rule, in the time of the flow (`gradient_flow`).
        iterations: most steps. 15 000 is time 300 with the default step.
        loss_tolerance: a run ends with a mean square loss below it.
        speed_tolerance: a run also ends where the weights rest, in a local minimum: where the root mean square of their
            change per unit of time is below it.
        success_overlap: a run with a larger overlap is a success.

    Raises:
        DomainError: a value out of range.

    Example:
        >>> from localentropy.solvers.descent import Descent
        >>> Descent(step=0.01).iterations  # of half the step: time 150
        15000
    """

    step: float = 0.02
    iterations: int = 15_000
    loss_tolerance: float = 1e-8
    speed_tolerance: float = 1e-6
    success_overlap: float = 0.99

    def __post_init__(self) -> None:
        for quantity in (STEP_OF_FLOW, ITERATIONS, LOSS, SPEED, SUCCESS):
            object.__setattr__(self, quantity.name, quantity.require(getattr(self, quantity.name)))


@dataclass(frozen=True, eq=False)
class DescentRun:
    """Where a run of gradient descent ended.

    Attributes:
        weights: float64 [units, d].
        overlap: with the teacher, up to the sign. With A = Σ_a w_a w_aᵀ/units it is √(w*ᵀ A w* / (‖A‖_F ‖w*‖²)); with
            one unit the absolute cosine |w·w*|/(‖w‖ ‖w*‖). It is 1 only if A is the teacher's A* = w* w*ᵀ, up to
            a factor. NaN where the run diverged.
        loss: mean of (y² − output)² over the training set.
        test_error: the same on new Gaussian inputs, (2 ‖A − A*‖_F² + (tr(A − A*))²)/d², without sampling.
        loss_midway: the loss after half of the iterations, or up to 49 steps earlier.
        iterations: steps made, a multiple of 50 unless all were made.
        converged: whether the loss is below the tolerance.
        success: whether the overlap is above that of a success.
    """

    weights: np.ndarray
    overlap: float
    loss: float
    test_error: float
    loss_midway: float
    iterations: int
    converged: bool
    success: bool


def descend_phase_retrieval(
    instances: Sequence[GeneralizedLinear],
    *,
    units: int = 1,
    seeds: Sequence[int],
    descent: Descent | None = None,
    device: str = "cpu",
    dtype: torch.dtype = torch.float64,
) -> list[DescentRun]:
    """Gradient descent on the squared differences of intensities, from Gaussian weights.

    The flow is that of `gradient_flow`. A single unit is scaled to the norm of the teacher at the start and after each
    step. Several units are not scaled. A run ends by the rules of `Descent`, which are looked at every 50 steps.

    Runs are independent. They are made at once: other runs can change only the rounding.

    Source: `glm`, "Gradient descent for phase retrieval" (units = 1) and "GD for over-parametrised phase
    retrieval" (units ≥ d; arXiv:2006.15459). The talk has continuous time. The step, the stop rule and the overlap of a
    success are chosen here (`Descent`). In the talk a single unit has the squared norm d. The teacher has this norm
    only on average. Here the unit has the norm of its teacher (chosen), because otherwise it could not reach zero loss.

    Args:
        instances: problems with the channel `Absolute`, all of one size. For several starts on one problem, give it
            several times.
        units: m, hidden units of the student.
        seeds: root seeds of the initial weights, one for each run.
        descent: the step and the stop rule.
        device: "cpu" or "cuda".
        dtype: torch.float64 or torch.float32. Single precision cannot follow losses below 1e-12.

    Returns:
        One run for each instance, in their order.

    Raises:
        DomainError: instances of another channel or of unequal sizes, not one seed for each, an argument out of range,
            runs too large for the memory, a device that is not available.

    Example:
        >>> from localentropy.instances.generalized_linear import generalized_linear
        >>> from localentropy.solvers.descent import Descent, descend_phase_retrieval
        >>> problem = generalized_linear(n=120, d=10, seed=0, channel="absolute")
        >>> (run,) = descend_phase_retrieval([problem], seeds=[0], descent=Descent(iterations=1000))
        >>> run.success, round(run.overlap, 3)
        (True, 1.0)
    """
    units = SIZE.called("units").require(units)
    descent = Descent() if descent is None else descent
    instances, seeds = require_runs("descend_phase_retrieval", instances, seeds)
    _check(instances, descent, dtype)
    place = torch_device(device)
    if not instances:
        return []
    n, d = instances[0].n, instances[0].d
    require_memory(8 * len(instances) * (n * d + 3 * units * d + units * n), units=units, runs=len(instances))
    starts = np.stack([start(one, seed, units) for one, seed in zip(instances, seeds, strict=True)])
    inputs = torch.from_numpy(np.stack([one.inputs for one in instances])).to(place, dtype)
    intensities = torch.from_numpy(np.stack([one.labels**2 for one in instances])).to(place, dtype)
    radii = torch.tensor([np.linalg.norm(one.teacher) for one in instances]).to(place, dtype)[:, None, None]
    weights = torch.from_numpy(starts).to(place, dtype)
    bytes_of_run = n * (d + 3 * units) * weights.element_size()
    group = max(1, _GROUP_BYTES // bytes_of_run) if place.type == "cpu" else len(instances)
    going, ended = np.arange(len(instances)), np.zeros(len(instances), dtype=np.int64)
    final, losses = np.empty_like(starts), [mean_square_loss(inputs, intensities, weights).cpu().numpy()]
    for begun in counted(range(0, descent.iterations, _LOOK_EVERY), "descend_phase_retrieval"):
        if not going.size:
            break
        steps = min(_LOOK_EVERY, descent.iterations - begun)
        parts = zip(*(tensor.split(group) for tensor in (inputs, intensities, radii, weights)), strict=True)
        moved = [_steps(x, y2, r, w, steps, descent.step) for x, y2, r, w in parts]
        weights, speed = (torch.cat(tensors) for tensors in zip(*moved, strict=True))
        made = begun + steps
        loss = mean_square_loss(inputs, intensities, weights)
        # The comparisons are false for a run that diverged, so it ends too.
        moves = (loss >= descent.loss_tolerance) & (speed >= descent.speed_tolerance) & loss.isfinite()
        stays = moves if made < descent.iterations else torch.zeros_like(moves)
        losses.append(losses[-1].copy())
        losses[-1][going] = loss.cpu().numpy()
        out = (~stays).cpu().numpy()
        if out.any():
            ended[going[out]] = made
            final[going[out]] = weights[~stays].cpu().numpy()
            going = going[~out]
            inputs, intensities, radii, weights = (one[stays] for one in (inputs, intensities, radii, weights))
    return [
        _run(instance.teacher, final[k], losses[-1][k], losses[ended[k] // 2 // _LOOK_EVERY][k], int(ended[k]), descent)
        for k, instance in enumerate(instances)
    ]


def start(instance: GeneralizedLinear, seed: int, units: int) -> np.ndarray:
    """Initial weights of a run, standard normal; a single unit is scaled to the norm of the teacher.

    Args:
        instance: the problem.
        seed: root seed of the run.
        units: m, hidden units.

    Returns:
        float64, [units, d].

    Example:
        >>> import numpy as np
        >>> from localentropy.instances.generalized_linear import generalized_linear
        >>> from localentropy.solvers.descent import start
        >>> problem = generalized_linear(n=40, d=20, seed=0, channel="absolute")
        >>> bool(np.isclose(np.linalg.norm(start(problem, 0, 1)), np.linalg.norm(problem.teacher)))
        True
    """
    stream = streams.generator(seed, "algorithm/descent", units=units, d=instance.d, n=instance.n)
    weights = stream.standard_normal((units, instance.d))
    return weights * (np.linalg.norm(instance.teacher) / np.linalg.norm(weights)) if units == 1 else weights


def gradient_flow(inputs: Tensor, intensities: Tensor, weights: Tensor) -> Tensor:
    """Velocity of the weights, (1/α) Σ_μ [y² − Σ_b z_b²/m] z_a X_μ, with z_a = X w_a and α = n/d.

    This is −m d/4 times the gradient of `mean_square_loss`: the talk's flow in a time of its own. In that time
    velocities are of order 1 for any α, d and m.

    Args:
        inputs: X, [runs, n, d].
        intensities: y², [runs, n].
        weights: [runs, m, d].

    Returns:
        [runs, m, d].

    Example:
        >>> import torch
        >>> from localentropy.solvers.descent import gradient_flow
        >>> inputs, weights = torch.ones(1, 4, 2, dtype=torch.float64), torch.ones(1, 1, 2, dtype=torch.float64)
        >>> gradient_flow(inputs, torch.full((1, 4), 9.0, dtype=torch.float64), weights).tolist()  # z = 2, y = 3
        [[[20.0, 20.0]]]
    """
    fields = torch.bmm(weights, inputs.transpose(1, 2))
    differences = intensities - fields.square().mean(1)
    return torch.bmm(differences[:, None] * fields, inputs) * (inputs.shape[2] / inputs.shape[1])


def mean_square_loss(inputs: Tensor, intensities: Tensor, weights: Tensor) -> Tensor:
    """Mean of (y² − Σ_a z_a²/m)² over the training set.

    Args:
        inputs: X, [runs, n, d].
        intensities: y², [runs, n].
        weights: [runs, m, d].

    Returns:
        [runs].

    Example:
        >>> import torch
        >>> from localentropy.solvers.descent import mean_square_loss
        >>> mean_square_loss(torch.ones(1, 4, 2), torch.full((1, 4), 9.0), torch.ones(1, 1, 2)).tolist()  # (9 − 4)²
        [25.0]
    """
    return (intensities - torch.bmm(weights, inputs.transpose(1, 2)).square().mean(1)).square().mean(1)


def _steps(
    inputs: Tensor, intensities: Tensor, radii: Tensor, weights: Tensor, steps: int, step: float
) -> tuple[Tensor, Tensor]:
    """Weights after some steps, and their speed in the last; a single unit has the norm `radii`, [runs, 1, 1]."""
    before = weights
    for _ in range(steps):
        before = weights
        weights = weights + step * gradient_flow(inputs, intensities, weights)
        if weights.shape[1] == 1:
            weights *= radii / weights.norm(dim=2, keepdim=True)
    return weights, (weights - before).square().mean((1, 2)).sqrt() / step


def _run(
    teacher: np.ndarray, weights: np.ndarray, loss: float, midway: float, iterations: int, descent: Descent
) -> DescentRun:
    """What is said of final weights, [units, d]."""
    units, d = weights.shape
    overlap = test_error = math.nan
    if math.isfinite(loss):
        square = weights.T @ weights / units
        overlap = math.sqrt(teacher @ square @ teacher / (np.linalg.norm(square) * (teacher @ teacher)))
        square -= np.outer(teacher, teacher)
        test_error = float(2.0 * np.sum(square**2) + np.trace(square) ** 2) / d**2
    return DescentRun(
        weights=weights,
        overlap=overlap,
        loss=float(loss),
        test_error=test_error,
        loss_midway=float(midway),
        iterations=iterations,
        converged=bool(loss < descent.loss_tolerance),
        success=overlap > descent.success_overlap,
    )


def _check(instances: Sequence[GeneralizedLinear], descent: Descent, dtype: torch.dtype) -> None:
    if not isinstance(descent, Descent):
        raise DomainError(f"descent = {shown(descent)}: allowed is a Descent of localentropy.solvers.descent")
    if not isinstance(dtype, torch.dtype) or dtype not in (torch.float64, torch.float32):
        raise DomainError(f"dtype = {shown(dtype)} is not known: allowed are torch.float64, torch.float32")
    for instance in instances:
        check_problem(instance, Absolute())
        if (instance.n, instance.d) != (instances[0].n, instances[0].d):
            raise DomainError(
                f"instances of unequal sizes: n = {instances[0].n}, d = {instances[0].d} "
                f"and n = {instance.n}, d = {instance.d}"
            )
