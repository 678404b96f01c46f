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
# # Margins and wide flat minima
#
# This notebook goes from the storage problem to the local-entropy threshold, with the functions of the library. The
# formulas are derived in `docs/margins/theory.md`. `make margins_figure2` and so on make the figures of the paper.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from localentropy import solvers
from localentropy.instances.perceptron import random_patterns
from localentropy.landscape.local_entropy import local_entropy
from localentropy.theory import (
    Perceptron,
    TreeCommittee,
    alpha_c,
    alpha_le,
    binary_entropy,
    franz_parisi,
    kappa_max,
    kappa_min,
    kappa_u,
    thresholds,
    typical,
)

alpha = 0.5

# %% [markdown]
# ## The storage problem
#
# A perceptron of $N$ weights $\pm1$ stores $P=\alpha N$ random patterns with margin $\kappa$ if all its stabilities,
# $y\,w\cdot\xi/\sqrt{N}$, are at least $\kappa$. There are $e^{N\phi}$ such weights. The entropy $\phi$ falls with the
# load and with the margin. Where it reaches zero, the last solutions disappear: at $\alpha_c$, or at the largest margin
# $\kappa_{\max}(\alpha)$.

# %% alt="Entropy against margin at three loads: each line falls to 0, the sooner the larger the load."
print(f"capacity alpha_c = {alpha_c(Perceptron()):.6f} patterns per weight")
print(f"largest margin at alpha = {alpha}: {kappa_max(Perceptron(alpha)):.6f}")
for load in (0.3, 0.5, 0.7):
    margins = np.linspace(0.0, kappa_max(Perceptron(load)), 30)
    plt.plot(margins, [typical(Perceptron(load, margin)).entropy for margin in margins], label=rf"$\alpha$ = {load}")
plt.gca().set(xlabel=r"margin $\kappa$", ylabel=r"entropy $\phi$, nats per weight")
plt.legend()
plt.show()

# %% [markdown]
# Solutions of a large margin are rare, and they are close to each other: their distance falls with the margin.

# %%
rows = []
for margin in np.linspace(0.0, kappa_max(Perceptron(alpha)), 5):
    solution = typical(Perceptron(alpha, margin))
    rows.append((margin, solution.entropy, 0.5 * (1.0 - solution.q)))
pd.DataFrame(rows, columns=["margin", "entropy", "distance of two solutions"]).round(4) + 0.0

# %% [markdown]
# ## What surrounds a solution
#
# The Franz–Parisi entropy counts the solutions of margin 0 at distance $d$ from a typical solution of margin
# $\tilde\kappa$. Two margins separate three phases. Below $\kappa_{\min}$ there are distances without solutions: the
# entropy is negative there. Between $\kappa_{\min}$ and $\kappa_u$ there are solutions at every distance, but fewer of
# them behind a first maximum. From $\kappa_u$ on, their number grows with the distance.

# %% alt="Entropy against distance around four margins: a gap, a barrier, and two lines that rise everywhere."
smallest, monotonic, largest = kappa_min(Perceptron(alpha)), kappa_u(Perceptron(alpha)), kappa_max(Perceptron(alpha))
print(f"kappa_min = {smallest:.6f}, kappa_u = {monotonic:.6f}, kappa_max = {largest:.6f}")
distances = np.geomspace(1e-5, 1e-2, 60)
between = 0.5 * (smallest + monotonic)
phases = {0.02: "with a gap", between: "with a barrier", 0.05: "monotonic", largest: "largest margin"}
for margin, phase in phases.items():
    curve = franz_parisi(Perceptron(alpha), distances, margin_ref=margin)
    plt.semilogx(curve["distance"], curve["entropy"], label=rf"$\tilde\kappa$ = {margin:.3f}, {phase}")
plt.semilogx(distances, binary_entropy(distances), "k:", label="all configurations")
plt.axhline(0.0, color="black", linewidth=0.6)
plt.gca().set(xlabel="$d$", ylabel=r"$\phi_{\mathrm{FP}}(d)$", ylim=(-0.0025, 0.008))
plt.legend()
plt.show()

# %% [markdown]
# Close to a typical solution of margin 0 there are no other solutions. Close to a typical solution of margin 0.1 there
# are none of this margin. At even smaller distances the replica-symmetric solution ends, and the table has no number.

# %%
for margin in (0.0, 0.1):
    curve = franz_parisi(Perceptron(alpha, margin=margin), [1e-4, 2e-3, 5e-3, 0.1], margin_ref=margin, unsolved="nan")
    print(f"solutions of margin {margin} around one of margin {margin}")
    display(curve[["distance", "entropy"]].round(5))

# %% [markdown]
# ## The threshold
#
# $\kappa_u$ grows with the load, and $\kappa_{\max}$ falls. They meet at $\alpha'_{LE}$. Above it, no typical solution
# has a monotonic entropy around it. $\kappa_{\min}$ meets $\kappa_{\max}$ at a slightly larger load.

# %% alt="Margins against load: κ_max falls, κ_u and κ_min rise and meet it near the threshold."
threshold = alpha_le(Perceptron())
print(f"alpha'_LE = {threshold:.6f}")
loads = np.append(np.linspace(0.3, 0.7, 5), threshold - 1e-5)
plt.plot(loads, [kappa_max(Perceptron(load)) for load in loads], "k-", label=r"$\kappa_{\max}$")
plt.plot(loads, [kappa_u(Perceptron(load)) for load in loads], "--", label=r"$\kappa_u$")
plt.plot(loads, [kappa_min(Perceptron(load)) for load in loads], ":", label=r"$\kappa_{\min}$")
plt.gca().set(xlabel=r"$\alpha$", ylabel="margin", ylim=(0.0, 0.5))
plt.legend()
plt.show()

# %% [markdown]
# The slope of the entropy around solutions of the largest margin shows the transition. It happens at $d\simeq0.005$, so
# only a logarithmic axis shows it.

# %% alt="Slope of the entropy against distance at three loads: positive below the threshold, partly negative above."
distances = np.geomspace(5e-4, 0.2, 50)
for load in (0.70, threshold, 0.74):
    curve = franz_parisi(Perceptron(load), distances)
    plt.semilogx(curve["distance"], curve["slope"], label=rf"$\alpha$ = {load:.4f}")
plt.axhline(0.0, color="black", linewidth=0.6)
plt.gca().set(xlabel="$d$", ylabel=r"$d\phi_{\mathrm{FP}}/dd$", ylim=(-1, 4))
plt.legend()
plt.show()

# %% [markdown]
# ## Hidden units
#
# A tree committee of many units has the same phases. Its activation decides where they end. It is a name, or any
# function of one number.

# %%


def softsign(x):
    return x / (1.0 + abs(x))


activations = ("sign", "relu", "tanh", softsign)
thresholds([TreeCommittee(activation=activation) for activation in activations]).set_index("activation").round(6)

# %% [markdown]
# ## What an algorithm finds
#
# Focusing belief propagation looks for solutions with many others around them. Belief propagation in a field counts
# these others, on the same instance. Their number is close to that around the solutions of largest margin, although the
# algorithm did not look for a margin. One instance proves little. This one has more solutions than the mean, and this
# is most of the difference at large distance.

# %% alt="Entropy against distance: the points of fBP's solution lie near the line around the largest margin."
instance = random_patterns(N=501, P=250, seed=0)
found = solvers.focusing_bp(instance, seed=0)
stability = instance.stabilities(found.weights).min()
print(f"solved: {found.solved}, smallest stability {stability:.3f}, largest possible margin (N → ∞) {largest:.3f}")
entropy = solvers.belief_propagation(instance, seed=0).entropy
print(f"entropy of all solutions: of this instance {entropy:.4f}, theory {typical(Perceptron(alpha)).entropy:.4f}")
distances = np.geomspace(0.01, 0.25, 12)
around = local_entropy(instance, found.weights, distances=distances)
curve = franz_parisi(Perceptron(alpha), distances)
plt.plot(distances, binary_entropy(distances), "k:", label="all configurations")
plt.plot(curve["distance"], curve["entropy"], label=r"around $\kappa_{\max}$, theory")
plt.plot(around.distance, around.entropy, "o", label="around a solution of fBP")
plt.gca().set(xlabel="$d$", ylabel=r"$\phi(d)$")
plt.legend()
plt.show()
pd.DataFrame({"distance": distances, "fBP minus theory": around.entropy - curve["entropy"]}).round(4)
