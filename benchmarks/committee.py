"""Speed of the solvers of committee machines: python benchmarks/committee.py (about a minute, one thread).

Random ±1 patterns, K = 9; a tree with N = 999, P = 1000, and a fully connected machine with N = 784, P = 500. CPU time,
medians of rounds in which all take turns, so that a busy machine slows them alike. Times of an update or epoch of a
tree stand next to those of the library's matrix products of the same shape. A program with real patterns needs these
products. Ours reads ±1 patterns of one byte, and can be faster.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from timing import medians, spent

from localentropy.instances.committee import Committee, TreeCommittee, random_full_committee, random_tree_committee
from localentropy.landscape.committee_local_entropy import committee_local_entropy, committee_solution_fraction
from localentropy.solvers.committee.entropic_least_action import committee_entropic_least_action
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.solvers.committee.least_action import committee_least_action
from localentropy.solvers.committee.sgd import CommitteeBatch, Schedule, committee_sgd, start

N, K, P, RUNS, EPOCHS, ROUNDS = 999, 9, 1000, 10, 50, 5


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


class Sequential:
    """One run after the other as one writes it in torch, in single precision."""

    def __init__(self, instance: Committee, learning_rate: float) -> None:
        self.learning_rate = learning_rate
        initial, self.stream = start(instance, 0)
        self.weights = torch.from_numpy(initial).float()
        self.patterns = torch.from_numpy(instance.data.signed_patterns).float()
        self.tree = isinstance(instance, TreeCommittee)
        if self.tree:
            self.patterns = self.patterns.view(instance.P, K, -1)

    def fields(self, patterns: torch.Tensor) -> torch.Tensor:
        """Pre-activations, [patterns, K]."""
        return torch.einsum("bki,ki->bk", patterns, self.weights) if self.tree else patterns @ self.weights.T

    def batches(self) -> Iterator[torch.Tensor]:
        """The patterns of the mini-batches of an epoch."""
        for part in torch.from_numpy(self.stream.permutation(len(self.patterns))).split(100):
            yield self.patterns[part]

    def count(self) -> None:
        """Errors on all patterns, at the end of an epoch."""
        int((self.fields(self.patterns).sign().sum(1) <= 0).sum())

    def descend(self, epochs: int) -> None:
        """Cross-entropy, with torch's own gradient."""
        self.weights.requires_grad_()
        for _ in range(epochs):
            for patterns in self.batches():
                delta = torch.tanh(self.fields(patterns)).sum(1) / math.sqrt(K)
                torch.nn.functional.softplus(-6.0 * delta).sum().div(6.0).backward()
                assert self.weights.grad is not None
                with torch.no_grad():
                    self.weights -= self.learning_rate * self.weights.grad
                    self.weights /= self.weights.norm(dim=1, keepdim=True)
                self.weights.grad = None
            with torch.no_grad():
                self.count()
        self.weights.requires_grad_(False)

    def least_action(self, epochs: int) -> None:
        """The least-action rule."""
        for _ in range(epochs):
            for patterns in self.batches():
                fields = self.fields(patterns)
                wrong = fields.sign().sum(1) <= 0
                unit = torch.where(fields <= 0, fields, -torch.inf).argmax(1)[wrong]
                inputs = patterns[wrong, unit] if self.tree else patterns[wrong]
                self.weights.index_add_(0, unit, inputs, alpha=self.learning_rate)
                self.weights /= self.weights.norm(dim=1, keepdim=True)
            self.count()


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
    blocks = torch.tensor(one.data.signed_patterns).float().view(P, K, -1).transpose(0, 1).contiguous()

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

    # On the full machine a small η, so that no run ends before the last epoch.
    full = random_full_committee(N=784, P=500, K=K, seed=0)
    for name, machine, descent_rate, least_rate in (("tree", one, 1e-2, 5e-3), ("full", full, 1e-5, 1e-5)):
        descend = partial(committee_sgd, machine, seed=0, schedule=Schedule(descent_rate, epochs=EPOCHS))
        least_action = partial(committee_least_action, machine, seed=0, learning_rate=least_rate, epochs=EPOCHS)
        entropic = partial(committee_entropic_least_action, machine, seed=0, learning_rate=least_rate, epochs=EPOCHS)
        assert all(run().iterations == EPOCHS for run in (descend, least_action, entropic))
        torch_descent, torch_least = Sequential(machine, descent_rate), Sequential(machine, least_rate)
        times = medians(
            ROUNDS,
            descend,
            partial(torch_descent.descend, EPOCHS),
            least_action,
            partial(torch_least.least_action, EPOCHS),
            entropic,
        )
        ours, theirs, ours_least, theirs_least, replicas = 1e3 / EPOCHS * times
        print(
            f"{name}, one epoch: SGD {ours:.2f} ms, torch {theirs:.2f} ms ({theirs / ours:.1f} times ours); LAL "
            f"{ours_least:.2f} ms, torch {theirs_least:.2f} ms ({theirs_least / ours_least:.1f} times ours); "
            f"eLAL of 20 replicas {replicas:.2f} ms (target on the tree: 10 times ours)"
        )
    schedule = Schedule(epochs=EPOCHS)
    ours, grouped, limit = (
        1e3
        / EPOCHS
        * medians(
            ROUNDS,
            lambda: committee_sgd(one, seed=0, schedule=schedule),
            lambda: batched(instances, EPOCHS),
            lambda: products(blocks, 100, EPOCHS),
        )
    )
    print(
        f"SGD, one epoch on a tree: {ours:.2f} ms, batched products {grouped / RUNS:.2f} ms, bare products of the "
        f"mini-batches {limit:.2f} ms ({ours / limit:.2f} of it)"
    )
    epochs = [committee_sgd(instance, seed=seed).iterations for seed, instance in enumerate(instances)]
    print(f"SGD to zero errors: {np.mean(epochs):.0f} ± {np.std(epochs, ddof=1):.0f} epochs (paper 770 ± 150)")


if __name__ == "__main__":
    main()
