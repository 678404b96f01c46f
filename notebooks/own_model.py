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
# # A model of your own
#
# A model of your own states an energy, an activation, a covariance, or its weights. This notebook states an energy, and
# draws what the theory says about it. The page `docs/own_model.md` has examples of all four.

# %%
import math
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from localentropy.theory import Perceptron, Steps, SymmetricPerceptron, alpha_c, franz_parisi, typical

# %% [markdown]
# ## A window of stabilities
#
# A stability must lie between 0 and a largest value. An energy that is constant between edges is a class of a few
# lines.


# %%
@dataclass(frozen=True)
class Window(Steps):
    """Stabilities from 0 to a largest one."""

    largest: float
    energies = (math.inf, 0.0, math.inf)

    @property
    def edges(self) -> tuple[float, float]:  # type: ignore[override]
        """The ends of the window."""
        return 0.0, self.largest


# %% [markdown]
# The wider the window, the more patterns can be stored. With a wide window the model is the perceptron.

# %%
widths = np.geomspace(0.3, 6.0, 12)
capacities = [alpha_c(Perceptron(energy=Window(float(width)))) for width in widths]
perceptron = alpha_c(Perceptron())
print(f"capacity of the widest window: {capacities[-1]:.6f}, of the perceptron: {perceptron:.6f}")

# %% alt="Capacity against the width of the window: it grows from 0.32 to 0.833, that of the perceptron (dashed)."
figure, axis = plt.subplots(figsize=(4.5, 3))
axis.plot(widths, capacities, label="window")
axis.axhline(perceptron, color="black", linestyle="--", label="perceptron")
axis.set(xlabel="largest stability", ylabel=r"$\alpha_c$", xscale="log")
axis.legend()
plt.show()

# %% [markdown]
# ## The symmetric perceptron
#
# Stabilities of both signs are allowed up to a size κ. This model comes with the package. Its capacity has a closed
# form, $\ln 2/(-\ln P(|z| \leq \kappa))$, because the typical number of solutions is the mean number.

# %%
symmetric = SymmetricPerceptron(alpha=1.0, kappa=1.0)
closed = math.log(2.0) / -math.log(math.erf(math.sqrt(0.5)))
print(f"capacity {alpha_c(symmetric):.6f}, in closed form {closed:.6f}; entropy {typical(symmetric).entropy:.6f}")

# %% [markdown]
# There are no other solutions close to a typical one: the Franz–Parisi entropy is negative at small distances. Where
# the line ends, the replica-symmetric solution ceases to exist.

# %% alt="Franz–Parisi entropy against distance: negative below 0.018, then rising to the typical entropy at 1/2."
distances = np.linspace(0.002, 0.5, 60)
curve = franz_parisi(symmetric, distances, unsolved="nan")
figure, axis = plt.subplots(figsize=(4.5, 3))
axis.plot(curve["distance"], curve["entropy"])
axis.axhline(0.0, color="black", linewidth=0.8)
axis.set(xlabel="distance d", ylabel="entropy per weight, nats", ylim=(-0.03, None))
plt.show()
