"""Replica theory: a model is a value, and a question is a function of a model.

    >>> from localentropy.theory import Perceptron, alpha_c, franz_parisi, typical
    >>> model = Perceptron(alpha=0.5)
    >>> entropy, curve = typical(model).entropy, franz_parisi(model, [0.01, 0.1])
    >>> table = alpha_c([Perceptron(margin=0.1), Perceptron(margin=0.2)])

A question also takes a sequence of models, and returns a table. It raises DomainError if an argument is out of range,
or if there are no solutions. The error names the argument, its value and what is allowed. It raises ConvergenceError,
with the point and the residual, if a solve fails.
"""

from localentropy.theory.barycenter import kappa_opt, optimal_margin_onset
from localentropy.theory.capacity import OneStepCapacity, capacity_one_step, capacity_rs, de_almeida_thouless
from localentropy.theory.energies import CrossEntropy, Energy, GibbsLoss, HardMargin, Labels, Steps
from localentropy.theory.franz_parisi_entropy import binary_entropy, franz_parisi, replicon, typical_distance
from localentropy.theory.group_entropies import group_entropy
from localentropy.theory.local_entropies import LocalEntropyThreshold, alpha_u, local_entropy
from localentropy.theory.many_features_limit import OverparameterizedLimit, overparameterized_limit
from localentropy.theory.model import Model
from localentropy.theory.monotonicity import Thresholds, alpha_le, alpha_min, kappa_min, kappa_u, thresholds
from localentropy.theory.one_step import franz_parisi_one_step
from localentropy.theory.perceptron import Perceptron
from localentropy.theory.random_features import RandomFeatures
from localentropy.theory.spherical import Spherical
from localentropy.theory.spherical_tree import alpha_clustering
from localentropy.theory.square_wave import SquareWave, SquareWaveChannel, SquareWaveTeacher
from localentropy.theory.stabilities import local_energy, stability_density
from localentropy.theory.symmetric_perceptron import SymmetricPerceptron
from localentropy.theory.teacher_student import TeacherStudent
from localentropy.theory.tree_committee import TreeCommittee
from localentropy.theory.typical_solutions import (
    GeneralizationErrors,
    TypicalSolution,
    alpha_c,
    generalization_errors,
    kappa_max,
    typical,
)

__all__ = [
    "CrossEntropy",
    "Energy",
    "GeneralizationErrors",
    "GibbsLoss",
    "HardMargin",
    "Labels",
    "LocalEntropyThreshold",
    "Model",
    "OneStepCapacity",
    "OverparameterizedLimit",
    "Perceptron",
    "RandomFeatures",
    "Spherical",
    "SquareWave",
    "SquareWaveChannel",
    "SquareWaveTeacher",
    "Steps",
    "SymmetricPerceptron",
    "TeacherStudent",
    "Thresholds",
    "TreeCommittee",
    "TypicalSolution",
    "alpha_c",
    "alpha_clustering",
    "alpha_le",
    "alpha_min",
    "alpha_u",
    "binary_entropy",
    "capacity_one_step",
    "capacity_rs",
    "de_almeida_thouless",
    "franz_parisi",
    "franz_parisi_one_step",
    "generalization_errors",
    "group_entropy",
    "kappa_max",
    "kappa_min",
    "kappa_opt",
    "kappa_u",
    "local_energy",
    "local_entropy",
    "optimal_margin_onset",
    "overparameterized_limit",
    "replicon",
    "stability_density",
    "thresholds",
    "typical",
    "typical_distance",
]
