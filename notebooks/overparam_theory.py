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
# # Theory of the overparameterized perceptron
#
# This notebook shows the replica theory of figures 1–4 and 8–9 of the main paper, with the functions of the library.
# The formulas are derived in `docs/overparam/theory.md`.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from localentropy.theory import (
    RandomFeatures,
    alpha_c,
    alpha_le,
    franz_parisi,
    kappa_opt,
    optimal_margin_onset,
    overparameterized_limit,
    typical,
)

alpha_T = 3.0

# %% [markdown]
# ## The free entropy and its saddle point
#
# A student with $N$ binary weights sees random features of patterns that a teacher labelled in a latent space of
# dimension $D$. Count the students that classify all $P$ patterns with margin $\kappa$. The logarithm of their number,
# per weight, is in the replica-symmetric ansatz
#
# $$\phi=-\frac{1}{2}\hat q(1-q)+\frac{D}{N}\left[\frac{1}{2}(\hat pp+\hat p_dp_d)-\hat rr\right]
# +G_{SS}(\hat q)+\frac{D}{N}\,G_{SE}(q,\hat p,\hat p_d,\hat r)+\alpha\,G_E(q,p,p_d,r).$$
#
# It is stationary in eight order parameters: the overlap of two students ($q$) and of their projections ($p$), the
# squared norm of a projection ($p_d$), its overlap with the teacher ($r$), and their four conjugates. The library has
# this function in other coordinates, and automatic differentiation gives the saddle-point equations.

# %%
solution = typical(RandomFeatures(alpha_T=alpha_T, inv_alpha=2.0, margin=0.0))
pd.Series(solution.row())

# %% [markdown]
# There are two known limits. Without structure in the data ($\alpha_T \to 0$) the problem is the storage of random
# patterns. Its capacity is 0.833 for every activation. With infinitely many features the errors reach a plateau.

# %%
for activation in ("sign", "tanh", "erf"):
    print(f"storage capacity, {activation}: {alpha_c(RandomFeatures(1e-4, activation=activation)):.5f}")
limit = overparameterized_limit(RandomFeatures(alpha_T, margin=0.0))
far = typical(RandomFeatures(alpha_T, inv_alpha=1e4))
print(f"plateau of the error: {limit.error_typical:.6f}, at 1/alpha = 10^4: {far.error_typical:.6f}")

# %% [markdown]
# ## Theory against exact enumeration
#
# At small $N$ we can try all $2^N$ students. The entropy $\ln Z/N$ and the error of a solution approach the
# theory like $1/N$. Both are means over the instances that have solutions.

# %%
from localentropy.instances.perceptron import hidden_manifold


def enumerate_students(N: int, instances: int) -> tuple[float, float]:
    """Mean ln Z / N and the mean error of a solution, over instances that have solutions."""
    states = np.arange(2**N, dtype=np.uint32)
    students = np.unpackbits(states.view(np.uint8).reshape(-1, 4), axis=1, bitorder="little")[:, :N]
    students = (2 * students.astype(np.int8) - 1).astype(np.int8)
    logarithms, errors = [], []
    for seed in range(instances):
        instance = hidden_manifold(D=N // 3, P=N // 3, N=N, seed=seed)
        solutions = students[(students.astype(np.int32) @ instance.signed_patterns.T.astype(np.int32) > 0).all(1)]
        if len(solutions) == 0:
            continue
        logarithms.append(np.log(len(solutions)) / N)
        some = solutions[np.random.default_rng(seed).choice(len(solutions), min(20, len(solutions)), replace=False)]
        errors.append(instance.test_error(some, n=2000).mean())
    return float(np.mean(logarithms)), float(np.mean(errors))


theory = typical(RandomFeatures(alpha_T=1.0, inv_alpha=3.0))
print(f"theory: ln Z / N = {theory.entropy:.4f}, error {theory.error_typical:.3f}")
for N in (9, 15):
    entropy, error = enumerate_students(N, instances=60)
    print(f"N = {N:2}: ln Z / N = {entropy:.4f}, error {error:.3f}")

# %% [markdown]
# ## The phase diagram
#
# Solutions exist above $1/\alpha_c$. Typical solutions of margin zero are isolated at every $1/\alpha$. From
# $1/\alpha_{LE}$ on, the entropy around typical solutions of the largest margin grows with the distance.

# %%
loads = [1e-3, 1.0, 3.0, 10.0]
diagram = pd.DataFrame(
    [(a, 1.0 / alpha_c(RandomFeatures(a)), (1 / alpha_le(RandomFeatures(a)))) for a in loads],
    columns=["alpha_T", "1/alpha_c", "1/alpha_LE"],
)
display(diagram)

# %% alt="Two thresholds of 1/α against α_T: the local-entropy threshold lies above 1/α_c everywhere."
plt.plot(diagram["alpha_T"], diagram["1/alpha_c"], "k-", label=r"$1/\alpha_c$")
plt.plot(diagram["alpha_T"], diagram["1/alpha_LE"], "k--", label=r"$1/\alpha_{LE}$")
plt.gca().set(xlabel=r"$\alpha_T$", ylabel=r"$1/\alpha$")
plt.legend()
plt.show()

# %% [markdown]
# ## The Franz–Parisi potential
#
# How many solutions lie at distance $d$ from a typical one of the largest margin? Above $1/\alpha_{LE}$ their entropy
# grows up to the distance where most solutions are. Below $1/\alpha_{LE}$ it falls at some distances: the slope drawn
# here becomes negative. The entropy itself may stay positive, as it does at $1/\alpha = 1$.

# %% alt="Slope of the entropy against distance: positive at 1/α = 1.2, below 0 at some distances at 0.95."
distances = np.geomspace(2e-3, 0.25, 12)
for inv_alpha in (0.95, 1.016, 1.2):
    curve = franz_parisi(
        RandomFeatures(alpha_T=alpha_T, inv_alpha=inv_alpha), distances, margin_ref="max", unsolved="nan"
    )
    plt.semilogx(curve["distance"], curve["slope"], label=rf"$1/\alpha$ = {inv_alpha}")
plt.axhline(0.0, color="black", linewidth=0.6)
plt.gca().set(xlabel="$d$", ylabel=r"$d\phi_{FP}/dd$", ylim=(-2, 8))
plt.legend()
plt.show()

# %% [markdown]
# ## Margins
#
# Up to a certain overparameterization the barycentre of solutions generalizes best at margin zero. Beyond it, the best
# margin is positive.

# %%
print(f"the optimal margin leaves zero at 1/alpha = {optimal_margin_onset(RandomFeatures(alpha_T)):.4f}")
for inv_alpha in (3.0, 3.5, 5.0, 10.0):
    print(f"1/alpha = {inv_alpha}: optimal margin {kappa_opt(RandomFeatures(alpha_T, inv_alpha)):.4f}")
