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
# # Exactly solvable models of learning
#
# A teacher labels random inputs. How many labels does a student need? For some models the exact answer is known, for
# inputs of many components. This notebook goes through these models in the order of the talk. The formulas are in
# `docs/glm/theory.md`. The figures are made by `make glm_perceptron` and so on.

# %%
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from localentropy.data.embedded import read_embedded
from localentropy.data.registry import DATA_DIR
from localentropy.instances.generalized_linear import generalized_linear
from localentropy.instances.image_features import image_features
from localentropy.instances.linear_features import linear_problem
from localentropy.solvers.descent import Descent, descend_phase_retrieval
from localentropy.solvers.generalized_amp import generalized_amp
from localentropy.solvers.linear_student import train_linear_student
from localentropy.theory import bayes, committee, erm, gaussian_covariate, gibbs, hidden_manifold

# %% [markdown]
# ## A perceptron learns from a perceptron
#
# The teacher has $d$ Gaussian weights $w^*$. Its labels are the signs of $n=\alpha d$ sums $X_\mu\cdot w^*$. The best
# student knows everything but the weights. It averages over all weights that agree with the labels. Approximate message
# passing (AMP) computes this average. Other students minimise a loss and a penalty $\lambda|w|^2/2$, each here with its
# best $\lambda$. The lines are theory, for $d\to\infty$. The points are single runs of AMP at $d=1000$.

# %% alt="Error against load: the lines of three losses fall close above that of Bayes, and AMP's points lie on it."
loads = np.linspace(0.1, 6.0, 40)
plt.plot(loads, [bayes.learning(alpha).bayes_error for alpha in loads], "k", label="Bayes")
for loss, line in {"logistic": "--", "square": ":", "hinge": "-."}.items():
    best = [erm.optimal_regularization(alpha, loss) for alpha in loads]
    errors = [erm.fit(alpha, loss, strength).generalization_error for alpha, strength in zip(loads, best, strict=True)]
    plt.plot(loads, errors, line, label=f"{loss} loss, best λ")
for alpha in (0.5, 1, 2, 3, 4, 5):
    problem = generalized_linear(n=int(1000 * alpha), d=1000, seed=1)
    cosine = problem.cosine(generalized_amp(problem, seed=0).weights)
    plt.plot(alpha, math.acos(cosine) / math.pi, "ko", label="AMP" if alpha == 1 else None)
plt.gca().set(xlabel=r"$\alpha=n/d$", ylabel="probability of a wrong sign")
plt.legend()
plt.show()

# %% [markdown]
# The lines of Bayes and of the logistic loss cannot be told apart by eye. The error of the logistic loss is less than
# 0.1 % larger.

# %%
rows = []
for alpha in (0.5, 1.0, 3.0, 10.0):
    strength = erm.optimal_regularization(alpha, "logistic")
    logistic, best = erm.fit(alpha, "logistic", strength).generalization_error, bayes.learning(alpha).bayes_error
    rows.append(
        {"alpha": alpha, "best λ": strength, "Bayes": best, "excess of logistic, %": 100 * (logistic / best - 1)}
    )
pd.DataFrame(rows).set_index("alpha").round(4)

# %% [markdown]
# ## Binary weights: easy, hard, and impossible
#
# Now all weights are $\pm1$. The free entropy $f(m)$ at an overlap $m$ with the teacher tells what is learned. The best
# student is at the highest maximum of $f$. AMP starts at the left and stops at the first maximum that it meets. The
# teacher itself is at $m=1$, where $f=-\ln2$ at any load. The other maximum sinks as the load grows. Below
# $\alpha_{IT}$ it is the higher one. At $\alpha_{AMP}$ it disappears. Between these two loads the labels determine the
# teacher, but AMP does not find it.

# %% alt="Free entropy against overlap at five loads: two maxima, of which the one on the left sinks and disappears."
change = bayes.transitions("binary", "sign")
print(f"alpha_IT = {change.information_theoretic:.6f}, alpha_AMP = {change.algorithmic:.6f}")
overlaps = np.append(np.linspace(0.0, 0.99, 199), 1.0 - np.geomspace(1e-2, 1e-9, 40))
for number, alpha in enumerate((1.1, change.information_theoretic, 1.38, change.algorithmic, 1.6)):
    curve = bayes.free_entropy(overlaps, alpha, prior="binary") + math.log(2)
    plt.plot(overlaps, curve, color=f"C{number}", label=rf"$\alpha$ = {alpha:.4g}")
    for start, mark in (("uninformed", "o"), ("informed", "*")):
        state = bayes.learning(alpha, "binary", start=start)
        plt.plot(state.overlap, state.free_entropy + math.log(2), mark, color=f"C{number}", clip_on=False)
plt.gca().set(xlabel="$m$", ylabel=r"$f(m)+\ln2$", xlim=(0.4, 1.0), ylim=(-0.14, 0.09))
plt.legend()
plt.show()

# %% [markdown]
# Circles are the states of AMP, and stars are the teacher. Above $\alpha_{AMP}$ they are the same. In the next figure
# the error of the best student jumps to zero at $\alpha_{IT}$, and the error of AMP jumps to zero at $\alpha_{AMP}$.
# The points are single runs at $d=1000$. Just above the jump such a run may still miss the teacher.

# %% alt="Error against load for binary weights: the informed line falls to 0 at α_IT, the uninformed one at α_AMP."
loads = np.linspace(0.02, 2.0, 100)
for start, line in (("uninformed", "C0-"), ("informed", "C1--")):
    states = [bayes.learning(alpha, "binary", start=start) for alpha in loads]
    plt.plot(loads, [state.bayes_error for state in states], line, label=f"theory, {start} start")
for alpha in (0.4, 0.8, 1.1, 1.3, 1.6, 1.8):
    for seed in range(3):
        problem = generalized_linear(n=int(1000 * alpha), d=1000, seed=seed, prior="binary")
        cosine = min(problem.cosine(generalized_amp(problem, seed=0).weights), 1.0)
        plt.plot(alpha, math.acos(cosine) / math.pi, "C0o", markersize=4)
for name, alpha in (("IT", change.information_theoretic), ("AMP", change.algorithmic)):
    plt.axvline(alpha, color="grey", linewidth=0.8)
    plt.text(alpha, 0.4, rf"$\alpha_{{{name}}}$")
plt.gca().set(xlabel=r"$\alpha$", ylabel="probability of a wrong sign")
plt.legend()
plt.show()

# %% [markdown]
# ## Learning at a temperature
#
# A binary student may also be drawn at a temperature $T$: with a probability proportional to $e^{-E/T}$, where $E$ is
# its number of training errors. Up to the blue line it can be in a state other than the teacher. The entropy of this
# state is 0 on the dashed line. Above the dashed line, up to the blue one, the student is frozen in a glass: it keeps
# the state of entropy 0. The glass ends at the circle, for which the talk quotes 1.63.

# %% alt="Load against temperature: lines of equal free entropies, of the end of the other state, and of entropy 0."
temperatures = np.linspace(0.0, 0.5, 21)
plt.plot(
    temperatures, [gibbs.equilibrium(T) for T in temperatures], "k", label="the teacher has the larger free entropy"
)
glass_end = gibbs.glass_ends()
ends = [max(gibbs.spinodal(T), glass_end) for T in temperatures]
plt.plot(temperatures, ends, "C0", label="the other state ends")
frozen = np.linspace(0.0, gibbs.freezing_temperature(glass_end), 15)
plt.plot(frozen, [gibbs.zero_entropy(T) for T in frozen], "C3--", label="entropy 0")
plt.plot(frozen[-1], glass_end, "C3o", label=f"{glass_end:.4f}")
plt.gca().set(xlabel="$T$", ylabel=r"$\alpha$")
plt.legend()
plt.show()

# %% [markdown]
# ## Phase retrieval
#
# The labels are $|X_\mu\cdot w^*|$, with Gaussian weights. Below $\alpha=1/2$ AMP learns nothing. Above 1 the labels
# determine the teacher, up to its sign. Above 1.1285 AMP finds it. The points are single runs at $d=1000$. Their error
# is $1-\cos^2\vartheta$, where $\vartheta$ is the angle between student and teacher. Near the transitions the points
# scatter widely.

# %% alt="Error of phase retrieval against load: informed and uninformed lines fall to 0 at different loads."
change = bayes.transitions("gaussian", "absolute")
print(f"weak {change.weak}, information-theoretic {change.information_theoretic}, AMP {change.algorithmic:.6f}")
loads = np.linspace(0.3, 1.5, 241)
for start, line in (("uninformed", "C0-"), ("informed", "C1--")):
    plt.plot(
        loads,
        [bayes.learning(alpha, "gaussian", "absolute", start).mse for alpha in loads],
        line,
        label=f"theory, {start} start",
    )
for alpha in (0.4, 0.7, 0.9, 1.05, 1.2, 1.4):
    for seed in range(3):
        problem = generalized_linear(n=int(1000 * alpha), d=1000, seed=seed, channel="absolute")
        cosine = problem.cosine(generalized_amp(problem, seed=0).weights)
        plt.plot(alpha, 1 - cosine**2, "C0o", markersize=4)
plt.gca().set(xlabel=r"$\alpha$", ylabel="mean squared error of a weight")
plt.legend()
plt.show()

# %% [markdown]
# Gradient descent on the squares of the labels needs more labels. A single unit with 50 weights often stops in a local
# minimum. The talk says that a unit with many weights succeeds from a load of about 7 on. With as many units as a
# unit has weights (25 here) the training loss becomes small at any load, and the test error falls beyond $\alpha=2$.

# %% alt="Left: successes of one unit rise with the load. Right: test and training errors of 25 units against the load."
rule, runs = Descent(iterations=5000), 20
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for alpha in (1, 2, 3, 4, 5, 6, 7, 8):
    problems = [generalized_linear(n=50 * alpha, d=50, seed=seed, channel="absolute") for seed in range(runs)]
    found = descend_phase_retrieval(problems, seeds=range(runs), descent=rule)
    left.plot(alpha, np.mean([run.success for run in found]), "C0o")
for alpha in (1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.4, 4.0):
    problems = [generalized_linear(n=int(25 * alpha), d=25, seed=seed, channel="absolute") for seed in range(runs)]
    found = descend_phase_retrieval(problems, units=25, seeds=range(runs), descent=rule)
    right.semilogy(alpha, np.median([run.test_error for run in found]), "C0o")
    right.semilogy(alpha, np.median([run.loss for run in found]), "C1s")
left.set(xlabel=r"$\alpha$", ylabel="fraction of successes", title="one unit")
right.set(xlabel=r"$\alpha$", ylabel="median error", title="25 units: test (circles), training (squares)")
plt.show()

# %% [markdown]
# ## Hidden units
#
# A committee of two units gives the sign of the sum of its units' signs, and 0 for a tie. At small loads the student
# learns only the mean of the two units. From $\alpha=2.0524$ on its units begin to differ. The difference grows
# continuously from zero.

# %% alt="Overlaps of two units against load: the mean grows from 0 on, the specialization from a grey line on."
two = committee.transitions(units=2)
loads = np.linspace(0.1, 6.0, 60)
states = [committee.learning(alpha) for alpha in loads]
plt.plot(loads, [state.mean_overlap for state in states], "k", label="overlap of the mean of the units")
plt.plot(loads, [state.specialization for state in states], "C0", label="specialization")
plt.axvline(two.algorithmic, color="grey", linewidth=0.8)
plt.gca().set(xlabel=r"$\alpha=n/d$", title=f"two units, specialization from {two.algorithmic:.4f} on")
plt.legend()
plt.show()

# %% [markdown]
# With many units the change is sudden, as for binary weights. But here AMP does not find the specialized state at any
# $n$ of the order $Kd$. The reason is that the state without specialization is a maximum of the free entropy at any
# such load.

# %% alt="Error against load for many units: the informed line leaves the uninformed one and falls below it."
many = committee.transitions(units=math.inf)
loads = np.linspace(6.0, 12.0, 121)
for start, line in (("uninformed", "C0-"), ("informed", "C1--")):
    errors = [committee.learning(alpha, math.inf, start).bayes_error for alpha in loads]
    plt.plot(loads, errors, line, label=f"{start} start")
plt.axvline(many.information_theoretic, color="grey", linewidth=0.8)
plt.gca().set(xlabel=r"$n/Kd$", ylabel="probability of a wrong sign", ylim=(0, 0.23))
plt.title(f"many units: a second state from {many.spinodal:.4f} on, better from {many.information_theoretic:.4f} on")
plt.legend()
plt.show()

# %% [markdown]
# ## The hidden manifold and double descent
#
# Real inputs often have few directions that matter. Here the teacher sees $d$ numbers. The student sees $p=10\,d$
# features: each is the erf of a random sum of these numbers. The student has the square loss. Without regularization
# the error has a peak where there are as many samples as features. At the best $\lambda$ it has no peak. Circles are
# single students on such features at $d=60$. Crosses are students on Gaussian features with the same covariances. They
# differ because $d$ is small. `make glm_gaussian_equivalence` shows how the difference falls with $d$.

# %% alt="Error against samples per feature: a peak at 1 for a small λ, none at the best λ; points near the lines."
ratios = np.geomspace(0.1, 10.0, 81)
for number, strength in enumerate((1e-6, 1e-3, 1e-1)):
    errors = [hidden_manifold.fit(ratio, 0.1, "square", strength).generalization_error for ratio in ratios]
    plt.semilogx(ratios, errors, f"C{number}", label=rf"$\lambda$ = {strength:g}")
    for ratio in (0.3, 0.6, 1.0, 2.0, 4.0):
        for features, mark in (("nonlinear", "o"), ("gaussian", "x")):
            problem = linear_problem(features, n=int(600 * ratio), d=60, p=600, seed=0)
            student = train_linear_student(problem.inputs, problem.labels, loss="square", regularization=strength)
            error = problem.errors([student.weights]).generalization_error
            plt.plot(ratio, error, f"C{number}{mark}", markersize=4)
best = [hidden_manifold.optimal_regularization(ratio, 0.1) for ratio in ratios]
pairs = list(zip(ratios, best, strict=True))
errors = [hidden_manifold.fit(ratio, 0.1, "square", strength).generalization_error for ratio, strength in pairs]
plt.semilogx(ratios, errors, "k", label=r"best $\lambda$")
plt.gca().set(xlabel="samples per feature, $n/p$", ylabel="probability of a wrong sign")
plt.legend()
plt.show()

# %% alt="Map of the error over samples per feature and λ, with the line of the best λ."
strengths = np.geomspace(1e-6, 1e2, 60)
diagram = [
    [hidden_manifold.fit(ratio, 0.1, "square", strength).generalization_error for ratio in ratios]
    for strength in strengths
]
plt.pcolormesh(ratios, strengths, diagram, cmap="viridis", shading="gouraud")
plt.colorbar(label="probability of a wrong sign")
plt.plot(ratios, best, "w--", label=r"best $\lambda$")
plt.gca().set(xscale="log", yscale="log", xlabel="$n/p$", ylabel=r"$\lambda$")
plt.legend()
plt.show()

# %% [markdown]
# ## Real data
#
# Random features of real images are not Gaussian. But for ridge regression a theory of Gaussian features needs only
# their covariance and their correlations with the labels. Both are measured here on 7000 digits of MNIST, whose labels
# are even or odd. So the theory has no free parameter. The points are students that learn $n$ of these digits. They are
# tested on the other digits.

# %% alt="Errors against samples on logarithmic axes: points of both errors lie on the two lines of the theory."
digits = image_features(read_embedded("mnist", DATA_DIR), "random_features", features=100, seed=0)
images, known = len(digits.labels), digits.moments()
strength, sizes, rng = 1e-3, np.unique(np.geomspace(20, 2000, 60).astype(int)), np.random.default_rng(0)
moments = known.eigenvalues, known.coefficients, 1.0
theory = [gaussian_covariate.ridge(*moments, n, strength, images) for n in sizes]
plt.loglog(sizes, [point.square_error for point in theory], "k", label="theory, new digits")
plt.loglog(sizes, [point.training_error for point in theory], "k--", label="theory, training digits")
for n in (30, 60, 100, 150, 300, 600, 1500):
    new, seen = [], []
    for _ in range(20):
        order = rng.permutation(images)
        here, there = order[:n], order[n:]
        student = train_linear_student(digits.values[here], digits.labels[here], loss="square", regularization=strength)
        new.append(np.mean((digits.labels[there] - digits.values[there] @ student.weights) ** 2))
        seen.append(2.0 * student.training_loss)
    for values, color in ((new, "C0"), (seen, "C1")):
        plt.errorbar(n, np.mean(values), np.std(values) / math.sqrt(20), fmt="o", color=color, markersize=4)
plt.gca().set(xlabel="samples $n$", ylabel="mean squared error", title="100 random features of MNIST, even or odd")
plt.legend()
plt.show()
