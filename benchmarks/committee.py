"""Speed of the solvers of the tree committee machine: python benchmarks/committee.py (about a minute, one thread).

N = 999, K = 9, P = 1000 random ±1 patterns; CPU time, medians of rounds in which all take turns, so that a busy machine
slows them alike. Milliseconds of one update or epoch stand next to the library's products of the same shape, which no
program with real patterns could do without: ours read ±1 patterns of one byte and can be faster.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from timing import medians, spent

from localentropy.instances.committee import TreeCommittee, random_tree_committee
from localentropy.landscape.committee_local_entropy import committee_local_entropy, committee_solution_fraction
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.solvers.committee.sgd import CommitteeBatch, Schedule, committee_sgd, start

N, K, P, RUNS, EPOCHS, ROUNDS = 999, 9, 1000, 10, 20, 5


def products(blocks: torch.Tensor, batch: int, repeats: int) -> None:
    """Pre-activations of all patterns and the way back, mini-batch by mini-batch."""
    weights = torch.rand(K, blocks.shape[2], 1)
    for _ in range(repeats):
        for part in blocks.split(batch, 1):
            fields = torch.bmm(part, weights)
            torch.bmm(fields.transpose(1, 2), part)


def unit_products(blocks: np.ndarray, repeats: int) -> None:
    """Pre-activations and the way back in double precision, unit by unit: faster than batched products."""
    weights, slopes = np.ones(blocks.shape[2]), np.ones(blocks.shape[1])
    for _ in range(repeats):
        for block in blocks:
            block @ weights
            slopes @ block


def autograd(instance: TreeCommittee, epochs: int) -> None:
    """One run after the other as one writes it: torch's own gradient."""
    initial, stream = start(instance, 0)
    patterns = torch.from_numpy(instance.data.signed_patterns).float().view(P, K, -1)
    weights = torch.from_numpy(initial).float().requires_grad_()
    for _ in range(epochs):
        order = torch.from_numpy(stream.permutation(P))
        for part in order.split(100):
            fields = torch.einsum("bki,ki->bk", patterns[part], weights)
            delta = torch.tanh(fields).sum(1) / math.sqrt(K)
            torch.nn.functional.softplus(-6.0 * delta).sum().div(6.0).backward()
            assert weights.grad is not None
            with torch.no_grad():
                weights -= 0.01 * weights.grad
                weights /= weights.norm(dim=1, keepdim=True)
            weights.grad = None
        with torch.no_grad():
            votes = torch.einsum("bki,ki->bk", patterns, weights).sign().sum(1)
            int((votes <= 0).sum())


def batched(instances: list[TreeCommittee], epochs: int) -> None:
    """The program of accelerators, here on the processor."""
    starts = [start(instance, 0) for instance in instances]
    batch = CommitteeBatch(instances, np.stack([weights for weights, _ in starts]))
    for _ in range(epochs):
        orders = np.stack([stream.permutation(P) for _, stream in starts])
        batch.epoch(torch.from_numpy(orders), Schedule(), 1.0, 3.0)


def main() -> None:
    torch.set_num_threads(1)
    instances = [random_tree_committee(N=N, P=P, K=K, seed=seed) for seed in range(RUNS)]
    one = instances[0]
    blocks = torch.from_numpy(one.data.signed_patterns).float().view(P, K, -1).transpose(0, 1).contiguous()

    double = blocks.double().numpy()
    update, limit = 1e3 * medians(
        ROUNDS,
        lambda: committee_focusing_bp(one, steps=1, max_iterations=EPOCHS, tolerance=1e-30),
        lambda: unit_products(double, EPOCHS),
    )
    print(
        f"message passing, one update: {update / EPOCHS:.2f} ms; its two products in double precision "
        f"{limit / EPOCHS:.2f} ms, ratio {update / limit:.2f} (target 1.5)"
    )
    for stop in ("first", "end"):
        solutions = [committee_focusing_bp(instance, stop=stop) for instance in instances[:3]]
        assert all(solution.solved for solution in solutions)
        seconds = np.median([solution.cpu_seconds for solution in solutions])
        print(f"focusing BP to zero errors, stop={stop!r}: {seconds:.2f} s of one core (target 40)")

    wide, distances = committee_focusing_bp(one).weights, np.geomspace(0.002, 0.45, 12)
    (curve,) = medians(ROUNDS, lambda: committee_local_entropy(one, wide, distances=distances))
    print(f"local entropy at 12 distances from its solution: {curve:.2f} s (target 10)")
    for distance in (0.005, 0.01):
        drawn = spent(lambda D: committee_solution_fraction(one, wide, distance=D, draws=10_000, seed=0), distance)
        print(f"Monte Carlo of the same at D = {distance}: {100 * drawn:.0f} s for a million draws")

    schedule = Schedule(epochs=EPOCHS)
    ours, grouped, sequential, limit = 1e3 * medians(
        ROUNDS,
        lambda: [committee_sgd(instance, seed=0, schedule=schedule) for instance in instances],
        lambda: batched(instances, EPOCHS),
        lambda: autograd(one, EPOCHS),
        lambda: products(blocks, 100, EPOCHS),
    )
    print(
        f"SGD, one epoch of one run: {ours / EPOCHS / RUNS:.2f} ms, batched products {grouped / EPOCHS / RUNS:.2f} ms, "
        f"torch one by one {sequential / EPOCHS:.2f} ms ({sequential * RUNS / ours:.1f} times ours, target 3); "
        f"bare products of the mini-batches {limit / EPOCHS:.2f} ms ({ours / RUNS / limit:.2f} of it)"
    )
    epochs = [committee_sgd(instance, seed=seed).iterations for seed, instance in enumerate(instances)]
    print(f"SGD to zero errors: {np.mean(epochs):.0f} ± {np.std(epochs, ddof=1):.0f} epochs (paper 770 ± 150)")


if __name__ == "__main__":
    main()
