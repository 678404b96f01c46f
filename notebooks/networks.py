# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Networks with continuous weights: trained, aligned, compared
#
# This notebook has a tree committee machine and a small convolutional network. Each is trained several times from
# different starts on one training set. Then we measure how far apart the solutions are, and how flat the landscape
# around them is.

# %%
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import torch

from localentropy.data.prepare import prepare
from localentropy.data.selection import class_balanced
from localentropy.instances.committee import tree_committee
from localentropy.landscape.committee import committee_local_energy
from localentropy.landscape.local_energy import local_energy
from localentropy.networks.align import align, overlap
from localentropy.networks.cnn.folding import Folded, fold
from localentropy.networks.cnn.network import random_cnn, statistics
from localentropy.networks.cnn.training import train
from localentropy.networks.normalise import normalise
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.solvers.committee.sgd import Schedule, committee_sgd_many

torch.set_num_threads(1)
sigmas = [0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0]

# %% [markdown]
# ## A committee of nine perceptrons
#
# Each unit sees its own ninth of the inputs, and the majority of the units' signs is the answer. Focusing belief
# propagation is deterministic. Gradient descent finds another solution from every start. Each unit has its own inputs,
# so units cannot be permuted, and the overlap needs no alignment.

# %%
machine = tree_committee(D=60, P=300, N=306, K=9, seed=0)
schedule = Schedule(learning_rate=3e-3, beta=1.5, gamma=5.0)
descents = committee_sgd_many([machine] * 3, seeds=[0, 1, 2], schedule=schedule)
runs = {f"SGD, start {number}": run for number, run in enumerate(descents)}
runs["focusing BP"] = committee_focusing_bp(machine, stop="first")
for name, run in runs.items():
    error = machine.test_error(run.weights)
    print(f"{name:12} solved {run.solved!s:5} after {run.iterations:4} steps, test error {error:.3f}")

units = np.stack([run.weights for run in runs.values()])
print("overlaps between the solutions, mean cosine over units:")
print((np.einsum("aki,bki->ab", units, units) / machine.units).round(3))


# %% alt="Train error against distance: the line of focusing BP rises later than those of three SGD runs."
for name, run in runs.items():
    energy = committee_local_energy(
        machine, run.weights[None], sigmas=sigmas, draws=5, generators=[np.random.default_rng(0)]
    )
    distance, error, _ = energy.curve()
    plt.plot(distance, error, marker="o", color="C1" if name == "focusing BP" else "C0", label=name)
plt.gca().set(xlabel="distance per unit", ylabel="train error of perturbed machines")
plt.legend()
plt.show()

# %% [markdown]
# ## Convolutional networks on CIFAR-10
#
# We train on 160 images of the part that comes with the repository, from three starts, with SGD and with Adam.

# %% alt="Loss against epochs on a logarithmic axis: both optimizers' lines fall."
with TemporaryDirectory() as folder:
    part = prepare("cifar10", Path(folder, "cifar10.npz")).train
part = part.take(class_balanced(part.labels, 16, "notebook"))
images = torch.from_numpy(part.inputs).float()
images = (images - images.mean((0, 2, 3), keepdim=True)) / images.std((0, 2, 3), keepdim=True)
images = images.contiguous(memory_format=torch.channels_last)
labels = torch.from_numpy(part.labels).long()


def streams(first: int) -> list[np.random.Generator]:
    """Random streams of three networks."""
    return [np.random.default_rng(first + network) for network in range(3)]


start = random_cnn(4, streams(0))
trained = {
    name: train(
        start,
        images,
        labels,
        optimizer=name,
        learning_rate=0.01,
        momentum=0.9,
        batch=32,
        epochs=50,
        generators=streams(10),
    )
    for name in ("sgd", "adam")
}
for name, result in trained.items():
    plt.plot(np.arange(50) + 1, result.loss.mean(1), label=name)
plt.gca().set(xlabel="epoch", ylabel="cross-entropy (nats)", yscale="log")
plt.legend()
plt.show()

# %% [markdown]
# How far did the layers move? The first convolution keeps most of its initial weights, and the fourth keeps least.

# %% alt="Overlap with the start against epochs: highest for the first convolution, lowest for the fourth."
for layer, name in enumerate(("conv 1", "conv 2", "conv 3", "conv 4", "linear")):
    plt.plot(trained["adam"].start_overlaps[:, :, layer].mean(1), label=name)
plt.gca().set(xlabel="epoch", ylabel="overlap with epoch 0 (Adam)")
plt.legend()
plt.show()

# %% [markdown]
# Batch norm is folded into the convolutions. The norms of the filters are moved to the next layers, up to the outputs.
# The channels of one network are permuted to match those of the other. The same is done with untrained networks, which
# show how much of the overlap comes from the matching.

# %%
networks = {"untrained": start} | {name: result.cnn for name, result in trained.items()}
folded = {name: fold(cnn, statistics(cnn, images)) for name, cnn in networks.items()}
normalised = {name: normalise(one)[0] for name, one in folded.items()}
for name, one in normalised.items():
    reference, other = one.select([0, 0, 1]), one.select([1, 2, 2])
    aligned, _ = align(reference, other)
    wrong = (folded[name].errors(images, labels) * len(labels)).round().int().tolist()
    print(f"{name:10} errors {wrong}, overlap as they come {overlap(reference, other).mean():+.3f}, ", end="")
    print(f"aligned {overlap(reference, aligned).mean():+.3f}")


# %% alt="Train error against distance: flat at first for both optimizers, then rising."
def evaluate_networks(weights: torch.Tensor, solutions: Folded) -> tuple[torch.Tensor, torch.Tensor]:
    """Networks with filters of norm 1 again, and their train error."""
    perturbed, _ = normalise(solutions.with_weights(weights))
    return perturbed.flat_weights(), perturbed.errors(images, labels)


for name in trained:
    solutions = normalised[name]
    energy = local_energy(
        solutions.flat_weights(),
        partial(evaluate_networks, solutions=solutions),
        units=solutions.units,
        sigmas=sigmas,
        draws=3,
        generators=streams(20),
    )
    distance, error, deviation = energy.curve()
    plt.errorbar(distance, error, deviation, marker="o", capsize=2, label=name)
plt.gca().set(xlabel="distance per unit", ylabel="train error of perturbed networks")
plt.legend()
plt.show()

# %% [markdown]
# The error is flat at short distance for both algorithms. Figures 7 and 14 do this for many widths:
# `make figure7 figure14 SCALE=smoke`.
