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
# # A first look
#
# This notebook makes two figures of the main paper with the functions of the library. Figure 3 is theory. In figure 6
# networks are trained on real data. The sizes are those of the smoke scale, so the whole notebook takes a minute.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import display

from localentropy.pipeline.config import resolve
from localentropy.theory import RandomFeatures, alpha_c, franz_parisi, kappa_max, typical

configuration = resolve("smoke")

# %% [markdown]
# ## Typical solutions
#
# A binary perceptron with $N$ weights learns $P$ patterns that a teacher labelled in a latent space of dimension $D$.
# $\alpha_T = P/D$ is fixed. The number of weights per pattern, $1/\alpha = N/P$, is the overparameterization. Solutions
# exist above the interpolation threshold. Their number is $e^{N\phi}$, where $\phi$ is the entropy per weight.

# %%
alpha_T = 3.0
threshold = 1.0 / alpha_c(RandomFeatures(alpha_T))
table = typical([RandomFeatures(alpha_T, inv_alpha) for inv_alpha in np.geomspace(threshold * 1.001, 10.0, 12)])
print(f"interpolation threshold 1/alpha_c = {threshold:.6f}")
table[["inv_alpha", "entropy", "q", "error_typical", "error_barycenter"]].round(4)

# %% [markdown]
# The barycentre of all solutions generalizes much better than any single one of them.

# %% alt="Error against 1/α: the line of a typical solution lies above that of the barycentre, and both fall."
figure, axis = plt.subplots(figsize=(4.5, 3))
axis.plot(table["inv_alpha"], table["error_typical"], label="typical solution")
axis.plot(table["inv_alpha"], table["error_barycenter"], label="barycentre")
axis.set(xlabel=r"$1/\alpha$", ylabel="generalization error", xscale="log")
axis.legend()
plt.show()

# %% [markdown]
# ## Figure 3: what surrounds a solution
#
# The Franz–Parisi entropy counts the solutions at distance $d$ from a typical one. Near a typical solution of margin
# zero there are no others: the entropy is negative. Around a solution of a large margin there are many at every
# distance. Such a solution lies in a wide flat minimum.

# %% alt="Entropy against distance around three margins: negative at first for margin 0, rising for the largest."
largest = kappa_max(RandomFeatures(alpha_T, inv_alpha=1.2))
distances = np.geomspace(2e-3, 0.3, 20)
for margin in (0.0, 0.05, "max"):
    curve = franz_parisi(RandomFeatures(alpha_T=alpha_T, inv_alpha=1.2), distances, margin_ref=margin)
    name = largest if margin == "max" else margin
    plt.semilogx(curve["distance"], curve["entropy"], label=rf"$\tilde\kappa$ = {name:.3f}")
plt.axhline(0.0, color="black", linewidth=0.6)
plt.gca().set(xlabel="$d$", ylabel=r"$\phi_{\mathrm{FP}}(d)$")
plt.legend()
plt.show()

# %% [markdown]
# ## Figure 6: networks on the parity of MNIST digits
#
# This is the experiment of figure 6 at the smoke scale. Networks of several widths are trained from random orthogonal
# and from adversarial starting points. The same call at another scale gives the numbers of the figure.

# %%
from localentropy.data.prepare import prepare
from localentropy.figures.overparam import figure6
from localentropy.programs.overparam import mlp
from localentropy.programs.parts.parameters import Context

parameters = configuration.experiments["overparam/mlp"]
with TemporaryDirectory() as folder:
    file = Path(folder, "mnist_parity.npz")
    prepare("mnist_parity", file)
    context = Context(configuration.seed, {"mnist_parity": file}, report=print)
    rows = [mlp.compute(parameters, task, context) for task in mlp.tasks(parameters)]

# %% alt="Figure 6: error rates and overlaps against the number of parameters; errors after noise; from two starts."
networks = pd.concat(rows, ignore_index=True)
networks.attrs["parameters"] = parameters.model_dump(mode="json")
drawing = figure6.draw({"overparam/mlp": networks}, "smoke")
display(drawing.figure)
print(drawing.told)
