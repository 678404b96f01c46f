"""Speed of gradient descent on phase retrieval: python benchmarks/descent.py (half a minute, one thread).

CPU time of runs at once and of the same runs one after the other, medians of rounds in which both take turns. All make
the same number of steps.
"""

from __future__ import annotations

import torch
from timing import medians

from localentropy.instances.generalized_linear import generalized_linear
from localentropy.solvers.descent import Descent, descend_phase_retrieval

ROUNDS, ALPHA = 5, 4


def compare(d: int, units: int, runs: int, steps: int) -> None:
    instances = [generalized_linear(ALPHA * d, d, seed, channel="absolute") for seed in range(runs)]
    rule = Descent(iterations=steps, loss_tolerance=1e-300, speed_tolerance=1e-300)

    def together() -> None:
        descend_phase_retrieval(instances, units=units, seeds=range(runs), descent=rule)

    def in_turn() -> None:
        for seed, instance in enumerate(instances):
            descend_phase_retrieval([instance], units=units, seeds=[seed], descent=rule)

    at_once, sequential = medians(ROUNDS, together, in_turn)
    print(
        f"d = {d}, {units} units, {runs} runs: {1e6 * at_once / steps / runs:.1f} µs a step and run at once, "
        f"{1e6 * sequential / steps / runs:.1f} µs one by one, ratio {sequential / at_once:.1f}"
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    compare(20, 1, 200, 200)
    compare(50, 1, 100, 200)
    compare(100, 1, 40, 200)
    compare(20, 20, 50, 100)
    compare(50, 50, 20, 100)
