"""Focusing belief propagation on committee machines with binary weights.

The messages of the patterns are those of `binary_committee_bp`. The y − 1 other replicas act on each weight through
the centre, as in `focusing_bp`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from localentropy.arguments import require_choice
from localentropy.instances.committee import Committee
from localentropy.quantities import COUPLINGS, STEPS, TOLERANCE
from localentropy.solvers.binary.committee_messages import CommitteeMessages
from localentropy.solvers.binary.focusing_bp import protocol_values
from localentropy.solvers.saved import Saved
from localentropy.solvers.solution import STOPS, FocusingRecord, Solution


@dataclass(frozen=True, eq=False, kw_only=True)
class FocusedBinaryCommittee(Saved, Solution):
    """The signs of the last fields, ±1, and the messages, from which a run goes on.

    Attributes:
        magnetizations: means of the weights after the last step, [K, inputs_per_unit].
        steps: the record of the protocol, also of the steps before `start`.
        messages: fields of the patterns on the weights, [P, K, inputs_per_unit].
        total: fields on the weights, [K, inputs_per_unit].
    """

    magnetizations: np.ndarray = field()
    steps: FocusingRecord
    messages: np.ndarray
    total: np.ndarray


def binary_committee_focusing_bp(
    instance: Committee,
    *,
    seed: int,
    sums: str = "gaussian",
    protocol: str = "fixed_replicas",
    steps: int = 30,
    replicas: float = 20.0,
    exponent: float = 0.5,
    cap: float = 0.9999,
    damping: float = 0.5,
    max_iterations: int = 20,
    tolerance: float = 1e-5,
    epsilon: float = 0.1,
    stop: str = "end",
    until: int | None = None,
    start: FocusedBinaryCommittee | None = None,
) -> FocusedBinaryCommittee:
    """A solution of ±1 weights in a wide flat region by focusing belief propagation.

    Source: Baldassi et al., PNAS 113 (2016) E7655 (fBP on committees); messages: `binary_committee_bp`; protocols:
    `focusing_bp`. The values of y, ρ_s, the number of steps and the damping are chosen here.

    Args:
        instance: ±1 patterns, an odd number of inputs of each unit.
        seed: root seed of the first magnetizations.
        sums: see `binary_committee_bp`.
        protocol: "fixed_replicas" or "pseudo_reinforcement", see `focusing_bp`.
        steps: steps of the protocol.
        replicas: y, the number of replicas; not used by "pseudo_reinforcement".
        exponent: of s/steps in tanh γ.
        cap: largest tanh γ.
        damping: share of the old field kept in each update, in [0, 1).
        max_iterations: most updates of all messages in each step.
        tolerance: a step ends when no magnetization changes by more in one update.
        epsilon: see `binary_committee_bp`.
        stop: "end", after all steps; or "first", as soon as the signs make no error.
        until: the step after which this call ends; None: the last one.
        start: a run of the same instance and protocol whose next steps are made, to the bit as if it had gone on.

    Returns:
        The signs of the last fields, also of a failed run. `converged` is about the messages of the last step. Train
        errors are those of this call, at its start and after each update.

    Raises:
        DomainError: see `binary_committee_bp`.

    Example:
        >>> from localentropy.instances.committee import random_full_committee
        >>> from localentropy.solvers.binary.committee_focusing_bp import binary_committee_focusing_bp
        >>> machine = random_full_committee(N=201, P=200, K=3, seed=0)
        >>> found = binary_committee_focusing_bp(machine, seed=0, stop="first")
        >>> found.solved, found.weights.shape
        (True, (3, 201))
    """
    clock = time.thread_time()
    max_iterations, tolerance = STEPS.require(max_iterations), TOLERANCE.require(tolerance)
    require_choice("stop", stop, STOPS)
    couplings, ys = protocol_values(protocol, steps, replicas, exponent, cap)
    last = len(ys) if until is None else COUPLINGS.called("until").within(high=len(ys)).require(until)
    messages = CommitteeMessages(instance, sums, damping, seed, "binary_committee_focusing_bp", epsilon)
    before = messages.go_on(start, FocusedBinaryCommittee)
    made = [] if start is None else list(zip(*vars(start.steps).values(), strict=True))
    protocol_steps = list(zip(couplings, ys, strict=True))[len(made) : last]
    errors, rows, residual = messages.focus(
        protocol_steps, "binary_committee_focusing_bp", max_iterations, tolerance, stop
    )
    return FocusedBinaryCommittee(
        **messages.result(),
        solved=errors[-1] == 0,
        iterations=before + len(errors) - 1,
        train_errors=np.array(errors) / instance.P,
        cpu_seconds=time.thread_time() - clock,
        converged=residual < tolerance,
        steps=FocusingRecord.of([*made, *rows]),
    )
