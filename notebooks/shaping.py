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
# # Five algorithms and the shape of what they find
#
# Five algorithms learn one training set of a tree committee with continuous weights. Each finds weights without errors.
# They differ in what is around these weights: how many other solutions there are, and how curved the loss is. The
# formulas are in `docs/shaping/theory.md`. `make shaping_figure4` and so on make the figures of the paper.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from localentropy.figures.algorithms import COMMITTEE
from localentropy.instances.committee import random_tree_committee
from localentropy.landscape.committee_local_entropy import committee_local_entropy, committee_solution_fraction
from localentropy.landscape.hessian import hessian_eigenvalues, smallest_valid_beta
from localentropy.solvers.committee.entropic_least_action import committee_entropic_least_action
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.solvers.committee.least_action import committee_least_action
from localentropy.solvers.committee.sgd import Schedule, committee_sgd

machine = random_tree_committee(N=999, P=1000, K=9, seed=0)

# %% [markdown]
# ## Solutions
#
# Focusing belief propagation looks for solutions with many others around them. Least-action learning (LAL) corrects the
# unit that is easiest to correct. Its entropic version (eLAL) does so with replicas that attract each other. Stochastic
# descent (ceSGD) follows the cross-entropy of units tanh(βx), with β and the scale γ of the loss growing slowly,
# or with β growing faster and γ constant. Here the slow schedule is five times faster than the paper's.

# %%
slow = Schedule(learning_rate=3e-3, beta=0.5, beta_growth=1e-3, gamma=0.1, gamma_growth=2e-3)
runs = {
    "fbp": committee_focusing_bp(machine),
    "elal": committee_entropic_least_action(machine, seed=0),
    "ce_slow": committee_sgd(machine, seed=0, schedule=slow),
    "ce_fast": committee_sgd(machine, seed=0),
    "lal": committee_least_action(machine, seed=0),
}
for name, run in runs.items():
    print(f"{COMMITTEE[name]['label']:11} solved {run.solved!s:5} in {run.iterations:5} iterations")

# %% [markdown]
# ## Local entropy
#
# Take all weights at distance D from a solution. What fraction of them are solutions? The logarithm of this fraction,
# per weight, is the normalised local entropy. Message passing computes it. A higher curve means a wider minimum. At
# small distances the order is fBP, eLAL, ceSGD-slow, ceSGD-fast, LAL, and LAL is far below the others. From D = 0.1 on
# the other four are nearly the same. Beyond D = 0.3 LAL is the highest.

# %% alt="Local entropy against distance for five algorithms: LAL starts far below the others, and ends highest."
distances = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45])
around = {name: committee_local_entropy(machine, run.weights, distances=distances) for name, run in runs.items()}
for name, curve in around.items():
    plt.plot(distances, curve.entropy, **COMMITTEE[name])
plt.gca().set(xlabel="$D$", ylabel=r"$\mathcal{V}_1(D)$, nats per weight")
plt.legend()
plt.show()
pd.DataFrame({COMMITTEE[name]["label"]: curve.entropy for name, curve in around.items()}, index=distances).round(4)

# %% [markdown]
# If the messages do not converge at a distance, its number is missing. Here they converge at each.
#
# Monte Carlo checks the numbers if the fraction is not too small. It draws weights at the distance, and counts the
# solutions. It gives -inf if no draw was a solution.

# %%
rows = []
for name, run in runs.items():
    check = committee_solution_fraction(machine, run.weights, distance=0.005, draws=20_000, seed=0)
    row = {"message passing": around[name].entropy[0], "Monte Carlo": check.entropy, "its error": check.error}
    rows.append({"algorithm": COMMITTEE[name]["label"], **row})
pd.DataFrame(rows).set_index("algorithm").round(5)

# %% [markdown]
# ## Curvature
#
# The number of errors has no slope. Replace the signs of the units by tanh(βx), with β as small as it can be while all
# solutions stay valid, and take the mean square error. The β that LAL's solution needs is more than ten times as
# large as those of the others. At this β the Hessian has its widest spectrum at LAL's solution, and its narrowest at
# fBP's.

# %% alt="Histograms of Hessian eigenvalues on logarithmic axes: the widest is LAL's, the narrowest fBP's."
betas = np.geomspace(0.5, 200.0, 400)
smallest = {name: smallest_valid_beta(machine, run.weights, betas) for name, run in runs.items()}
beta = max(smallest.values())
spectra = {name: hessian_eigenvalues(machine, run.weights, beta) for name, run in runs.items()}
edges = np.concatenate([-np.geomspace(1e-2, 300.0, 30)[::-1], np.geomspace(1e-2, 300.0, 30)])
for name, values in spectra.items():
    plt.hist(values, bins=edges, histtype="step", color=COMMITTEE[name]["color"], label=COMMITTEE[name]["label"])
plt.xscale("symlog", linthresh=1e-2)
plt.gca().set(
    yscale="log", xlabel=r"eigenvalue $\lambda$", ylabel="eigenvalues in a bin", title=rf"$\beta$ = {beta:.1f}"
)
plt.legend()
plt.show()
for name, values in spectra.items():
    print(f"{COMMITTEE[name]['label']:11} smallest beta {smallest[name]:6.2f}, largest eigenvalue {values.max():8.2f}")

# %% [markdown]
# This is one training set. Figures 4 and 5 average over ten.
