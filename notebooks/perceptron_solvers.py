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
# # Six ways to learn a binary perceptron
#
# Six solvers work on one instance. We see how they find a solution, and what surrounds the solutions that they find.

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from localentropy import solvers
from localentropy.instances import hidden_manifold
from localentropy.landscape.binary_local_energy import expected_flip_energy
from localentropy.landscape.binary_overlaps import overlaps
from localentropy.theory import RandomFeatures, local_energy, stability_density, typical

torch.set_num_threads(1)  # many small operations: a second thread slows them down
instance = hidden_manifold(D=67, P=201, N=2011, seed=0, activation="sign")
inv_alpha = instance.N / instance.P
runs = {
    "SA": solvers.anneal(instance, seed=0),
    "MCT0": solvers.mct0(instance, seed=3),
    "SBPI": solvers.sbpi(instance, seed=0),
    "BP": solvers.belief_propagation(instance, seed=0),
    "fBP": solvers.focusing_bp(instance, seed=0),
    "BinaryNet": solvers.binarynet(instance, seed=0),
}
solutions = typical(RandomFeatures(alpha_T=3.0, inv_alpha=inv_alpha))
print(f"theory: typical solutions {solutions.error_typical:.3f}, barycentre {solutions.error_barycenter:.3f}")
for name, run in runs.items():
    error = instance.test_error(run.weights)
    print(f"{name:10} solved {run.solved!s:5} in {run.iterations:5} iterations, test error {error:.3f}")

# %% [markdown]
# ## Train errors over time
#
# Each solver has its own unit of time: sweeps, passes over the patterns, updates of all messages, or epochs.

# %% alt="Train errors of six solvers against iterations on a logarithmic axis: all fall, at different speeds."
for name, run in runs.items():
    plt.plot(np.arange(len(run.train_errors)) + 1, run.train_errors, label=name)
plt.gca().set(xscale="log", xlabel="iteration + 1", ylabel="train error")
plt.legend()
plt.show()

# %% [markdown]
# ## Why isolated and dense solutions differ
#
# Flip a fraction $d$ of the weights at random. Simulated annealing and Monte Carlo at zero temperature find typical
# solutions. Around these the error rises like $\sqrt{d}$, because many patterns are barely classified. Around the
# solutions of the other algorithms the error hardly rises. These solutions lie in wide flat regions, and generalize
# better.

# %% alt="Train error against flipped weights: steep for SA, MCT0 and the theory of typical ones, else nearly flat."
distances = np.linspace(0.0, 0.1, 21)
for name, run in runs.items():
    plt.plot(distances, expected_flip_energy(instance, run.weights, distances=distances), label=name)
plt.plot(distances, local_energy(RandomFeatures(3.0, inv_alpha), distances), "k--", label="typical, theory")
plt.gca().set(xlabel="fraction of flipped weights $d$", ylabel="train error")
plt.legend()
plt.show()

# %% [markdown]
# Several runs on one instance end in different places. Typical solutions are nearly orthogonal, with the overlap $q$ of
# the theory. Solutions of SBPI lie in one region.

# %%
for name, solver in (("SA", solvers.anneal), ("SBPI", solvers.sbpi)):
    found = np.stack([solver(instance, seed=seed).weights for seed in range(1, 6)])
    values = overlaps(found)[2]
    print(f"{name:5} overlap of two solutions {values.mean():.3f} ± {values.std():.3f} over the pairs")
print(f"theory, typical solutions: {solutions.q:.3f}")

# %% alt="Histograms of stabilities: MCT0 piles up near 0 along the theory's line, SBPI lies at larger values."
for name in ("MCT0", "SBPI"):
    plt.hist(instance.stabilities(runs[name].weights), bins=40, histtype="step", density=True, label=name)
stabilities = np.linspace(0.0, 4.0, 100)
plt.plot(stabilities, stability_density(RandomFeatures(3.0, inv_alpha), stabilities), "k--", label="typical, theory")
plt.gca().set(xlabel=r"stability $\Delta$", ylabel=r"$P(\Delta)$")
plt.legend()
plt.show()
