"""Time per epoch of BinaryNet, next to the two matrix-vector products that no full-batch gradient can do without.

    python benchmarks/binarynet.py   (about a minute)

D = 201, P = 603, one thread, CPU time in microseconds for one run and one epoch; medians of rounds in which all take
turns, so that a busy machine slows them alike. "Plain" is torch autograd with torch.optim.Adam.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from timing import medians

from localentropy.instances.perceptron import Instance, hidden_manifold
from localentropy.landscape.binary_local_energy import expected_flip_energy
from localentropy.solvers.binary.binarynet import binarynet_many

EPOCHS, ROUNDS = 400, 3
DISTANCES = (0.005, 0.01, 0.02, 0.05, 0.1)


def products(patterns: torch.Tensor) -> None:
    weights, slopes = torch.rand(patterns.shape[1]), torch.rand(patterns.shape[0])
    for _ in range(EPOCHS):
        torch.mv(patterns, weights)
        torch.mv(patterns.T, slopes)


def plain(patterns: torch.Tensor) -> None:
    real = torch.empty(patterns.shape[1]).uniform_(-0.1, 0.1).requires_grad_()
    optimizer = torch.optim.Adam([real], lr=1e-3)
    for _ in range(EPOCHS):
        straight = real + (torch.where(real >= 0, 1.0, -1.0) - real).detach()
        optimizer.zero_grad()
        torch.nn.functional.softplus(-2 * (patterns @ straight) / patterns.shape[1] ** 0.5).mean().backward()
        optimizer.step()
        with torch.no_grad():
            real.clamp_(-1, 1)


def epoch_times(instances: Sequence[Instance]) -> None:
    one = instances[:1]
    patterns = torch.tensor(one[0].signed_patterns).float()
    times = medians(
        ROUNDS,
        lambda: products(patterns),
        lambda: binarynet_many(one, seeds=[0], epochs=EPOCHS),
        lambda: binarynet_many(instances, seeds=range(len(instances)), epochs=EPOCHS, group=len(instances)),
        lambda: plain(patterns),
    )
    limit, single, grouped, autograd = 1e6 * times / EPOCHS / [1, 1, len(instances), 1]
    print(
        f"N = {one[0].N}: two products {limit:.0f}, alone {single:.0f} ({single / limit:.1f} times), "
        f"in a group of {len(instances)} {grouped:.0f}, plain {autograd:.0f}"
    )


def local_energy_times(instance: Instance) -> None:
    weights = np.ones(instance.N, np.int8)
    (exact,) = 1e3 * medians(ROUNDS, lambda: expected_flip_energy(instance, weights, distances=DISTANCES))
    print(f"local energy at {len(DISTANCES)} distances up to {DISTANCES[-1]}, N = {instance.N}: {exact:.1f} ms")


def main() -> None:
    torch.set_num_threads(1)
    for N in (725, 1809, 6031):
        instances = [hidden_manifold(D=201, P=603, N=N, seed=seed) for seed in range(4)]
        epoch_times(instances)
    local_energy_times(instances[0])


if __name__ == "__main__":
    main()
