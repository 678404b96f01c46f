"""One valid call of every public function of the library: tests derive odd calls from them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch

from localentropy import theory
from localentropy.analysis.agreement import agreement, to_infinite_size
from localentropy.analysis.flatness import radius
from localentropy.analysis.statistics import pair_mean, pooled_score, spearman, spearman_over_sets
from localentropy.analysis.thresholds import first_solved, last_half_point, last_solved
from localentropy.data.embedded import read_embedded
from localentropy.data.prepared import Dataset, Split
from localentropy.data.registry import DATA_DIR
from localentropy.instances.committee import (
    FullCommittee,
    TreeCommittee,
    normalised_units,
    random_full_committee,
    random_tree_committee,
    tree_committee,
)
from localentropy.instances.committee_teacher import committee_teacher
from localentropy.instances.generalized_linear import GeneralizedLinear, generalized_linear
from localentropy.instances.image_features import ImageFeatures, image_features
from localentropy.instances.linear_features import LinearProblem, linear_problem
from localentropy.instances.perceptron import (
    HiddenManifold,
    Instance,
    effective_margin,
    hidden_manifold,
    random_patterns,
    smallest_allowed,
)
from localentropy.landscape.barriers import (
    bent_flip_path,
    bent_path,
    flip_path,
    mean_flip_path,
    region,
    straight_path,
)
from localentropy.landscape.binary_local_energy import expected_flip_energy
from localentropy.landscape.binary_overlaps import overlaps
from localentropy.landscape.committee import committee_local_energy, committee_overlap
from localentropy.landscape.committee_local_entropy import committee_local_entropy, committee_solution_fraction
from localentropy.landscape.feature_local_entropy import feature_local_entropy
from localentropy.landscape.hessian import hessian_eigenvalues, largest_eigenvalue, smallest_valid_beta
from localentropy.landscape.input_noise import input_noise_error
from localentropy.landscape.local_energy import local_energy
from localentropy.landscape.local_entropy import local_entropy
from localentropy.landscape.parity import parity_solution, parity_solves
from localentropy.landscape.random_flips import random_flips
from localentropy.landscape.spectra import Hessian, largest_eigenvalues, spectral_density, trace
from localentropy.landscape.unique_minimum import unique_minimum
from localentropy.networks.align import align, align_with_signs, layer_overlaps, overlap
from localentropy.networks.binary_mlp.network import BinaryNetworks, uniform_initialization
from localentropy.networks.binary_mlp.network import Shape as BinaryShape
from localentropy.networks.binary_mlp.training import train as train_binary
from localentropy.networks.checkpoint import Checkpoint
from localentropy.networks.cnn.folding import fold
from localentropy.networks.cnn.network import random_cnn, statistics
from localentropy.networks.cnn.sizes import parameter_count
from localentropy.networks.cnn.training import train as train_cnn
from localentropy.networks.layers import Layers, joined
from localentropy.networks.mlp.network import Shape, random_orthogonal
from localentropy.networks.mlp.training import train_adam, train_sgd
from localentropy.networks.normalise import normalise
from localentropy.numerics.activations import activation_moments
from localentropy.numerics.channels import Door, Linear
from localentropy.numerics.gaussian_covariance import gaussian_covariance
from localentropy.numerics.priors import GaussBernoulli, TwoGaussians
from localentropy.solvers import anneal, belief_propagation, binarynet, focusing_bp, mct0, sbpi
from localentropy.solvers.amp import amp, amp_in_fields, two_level_amp
from localentropy.solvers.batch import solve_many
from localentropy.solvers.binary.binarynet import binarynet_many
from localentropy.solvers.binary.committee_bp import binary_committee_bp
from localentropy.solvers.binary.committee_focusing_bp import binary_committee_focusing_bp
from localentropy.solvers.binary.constrained_bp import constrained_bp, constrained_focusing_bp
from localentropy.solvers.binary.constraints import allowed_sums, anneal_constrained, constraint_error
from localentropy.solvers.committee.belief_propagation import committee_belief_propagation
from localentropy.solvers.committee.entropic_least_action import committee_entropic_least_action
from localentropy.solvers.committee.focusing_bp import committee_focusing_bp
from localentropy.solvers.committee.least_action import committee_least_action
from localentropy.solvers.committee.sgd import Schedule, committee_sgd, committee_sgd_many
from localentropy.solvers.committee_amp import committee_amp
from localentropy.solvers.descent import Descent, descend_phase_retrieval
from localentropy.solvers.generalized_amp import generalized_amp
from localentropy.solvers.linear_student import train_linear_student
from localentropy.theory import (
    Model,
    Perceptron,
    RandomFeatures,
    Spherical,
    SquareWave,
    SquareWaveChannel,
    SquareWaveTeacher,
    TeacherStudent,
    alpha_c,
    alpha_clustering,
    alpha_le,
    alpha_min,
    alpha_u,
    bayes,
    binary_entropy,
    capacity_one_step,
    capacity_rs,
    cross_entropy,
    de_almeida_thouless,
    erm,
    franz_parisi,
    franz_parisi_one_step,
    gaussian_covariate,
    generalization_errors,
    gibbs,
    group_entropy,
    kappa_max,
    kappa_min,
    kappa_opt,
    kappa_u,
    optimal_margin_onset,
    overparameterized_limit,
    replicon,
    stability_density,
    thresholds,
    typical,
    typical_distance,
)
from localentropy.theory import committee as committee_theory
from localentropy.theory import hidden_manifold as manifold_theory
from localentropy.theory.committee_units import specialization
from localentropy.theory.symmetric_perceptron import Band


class Call(NamedTuple):
    """A function and valid arguments."""

    function: Callable[..., Any]
    arguments: dict[str, Any]


def of(question: Callable[..., Any], kind: Callable[..., Any]) -> Callable[..., Any]:
    """A question as one function of a model's arguments and its own."""
    own = inspect.signature(question).parameters

    def ask(**given: Any) -> Any:
        others = {name: value for name, value in given.items() if name in own}
        return question(kind(**{name: value for name, value in given.items() if name not in own}), **others)

    parameters = {**inspect.signature(kind).parameters, **own}
    ask.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters.values()]
    )
    ask.func = question  # type: ignore[attr-defined]
    return ask


MODELS: dict[type[Model], dict[str, Any]] = {
    Perceptron: {"alpha": 0.5, "margin": 0.05},
    TeacherStudent: {"alpha": 0.5, "margin": 0.05},
    theory.TreeCommittee: {"alpha": 0.5, "margin": 0.05, "activation": "relu"},
    RandomFeatures: {"alpha_T": 3.0, "inv_alpha": 2.0, "margin": 0.05, "activation": "sign"},
}
NEAR = {"distances": [0.1, 0.2], "margin_ref": 0.1, "unsolved": "nan"}
QUESTIONS: dict[Callable[..., Any], dict[str, Any]] = {
    typical: {}, generalization_errors: {}, alpha_c: {}, kappa_max: {}, kappa_opt: {}, optimal_margin_onset: {},
    overparameterized_limit: {}, stability_density: {"stabilities": [0.1, 1.0]},
    theory.local_energy: {"distances": [0.1, 0.2]},
    franz_parisi: NEAR, franz_parisi_one_step: NEAR | {"block": 0.5}, typical_distance: {"margin_ref": 0.1},
    kappa_min: {}, kappa_u: {}, alpha_le: {}, alpha_min: {}, thresholds: {}, alpha_u: {"replicas": math.inf},
    replicon: {},
    theory.local_entropy: {"distances": [0.1, 0.2], "replicas": math.inf, "unsolved": "nan"},
    group_entropy: {"overlaps": [0.7, 0.9], "replicas": 2.0},
}  # fmt: skip
OF_RANDOM_FEATURES = (kappa_opt, optimal_margin_onset, overparameterized_limit)

LATTICE = hidden_manifold(D=5, P=12, N=61, seed=0)
REAL = hidden_manifold(D=5, P=12, N=61, seed=0, activation="tanh")
TREE = random_tree_committee(N=27, P=8, K=3, seed=0)
FULL = random_full_committee(N=9, P=8, K=3, seed=0)
SIGNS = np.where(np.arange(61) % 3 > 0, 1, -1).astype(np.int8)
TREE_WEIGHTS = np.random.default_rng(0).standard_normal((3, 9))
TREE_WEIGHTS /= np.linalg.norm(TREE_WEIGHTS, axis=1, keepdims=True)


def streams(count: int = 2) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in range(count)]


MLP = random_orthogonal(Shape(3, 4, 2), streams())
INPUTS = torch.from_numpy(np.random.default_rng(5).standard_normal((7, 3)).astype(np.float32))
LABELS = torch.sign(INPUTS[:, 0])
BINARY = uniform_initialization(BinaryShape(5, 3, 1, 2), streams(), 0.3)
BINARY_INPUTS = torch.sign(torch.from_numpy(np.random.default_rng(6).standard_normal((7, 5)).astype(np.float32)))
CLASSES = (BINARY_INPUTS[:, 0] > 0).long()
CNN = random_cnn(1, streams())
IMAGES = torch.from_numpy(np.random.default_rng(7).standard_normal((4, 3, 32, 32)).astype(np.float32))
TEN = torch.tensor([0, 3, 9, 1])
TWO_UNITS = committee_teacher(8, 4, 0)
TEACHER_SIGNS, INTENSITIES = (generalized_linear(8, 4, 0, channel=channel) for channel in ("sign", "absolute"))
MANIFOLD, SURROGATE = (linear_problem(features, 12, 3, 0, p=6) for features in ("nonlinear", "gaussian"))
PICTURES, DRESS_COAT = (read_embedded(name, DATA_DIR) for name in ("mnist", "dress_coat"))
LINEAR: dict[str, Any] = {
    "inputs": SURROGATE.inputs, "labels": SURROGATE.labels, "regularization": 0.1, "tolerance": 1e-6,
    "max_iterations": 10,
}  # fmt: skip
FLAT = torch.from_numpy(np.random.default_rng(8).standard_normal((2, 6)))


NETWORK = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))


def _loss(model: torch.nn.Module) -> torch.Tensor:
    return (model(INPUTS) ** 2).mean()


CURVED = Hessian(_loss, NETWORK)


def _evaluate(weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return weights, (weights[:, 0] > 0).double()


def _errors(weights: torch.Tensor) -> torch.Tensor:
    return (weights[:, 0] > 0).double()


def odd_function(z: Any) -> Any:
    return z / (1 + abs(z))


def _report(line: str) -> None:
    assert "\n" not in line


def _dress_coat(inputs: Any, labels: Any, source_indices: Any) -> Dataset:
    return Dataset("dress_coat", Split(inputs, labels, source_indices), DRESS_COAT.test)


def _listed(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda **arguments: list(method(**arguments))


CALLS: dict[str, Call] = {
    # instances
    "hidden_manifold": Call(
        hidden_manifold,
        {"D": 5, "P": 4, "N": 7, "seed": 0, "activation": "sign", "features": "gaussian", "gaussian_covariate": False},
    ),
    "hidden_manifold_function": Call(
        hidden_manifold, {"D": 5, "P": 4, "N": 7, "seed": 0, "activation": odd_function, "gaussian_covariate": True}
    ),
    "random_patterns": Call(random_patterns, {"N": 7, "P": 4, "seed": 0}),
    "HiddenManifold": Call(
        HiddenManifold,
        {
            "patterns": REAL.patterns, "labels": REAL.labels, "seed": 0, "activation": "tanh",
            "features": REAL.features, "latent": REAL.latent, "teacher": REAL.teacher, "gaussian_covariate": False,
        },
    ),
    "Instance": Call(Instance, {"patterns": REAL.patterns, "labels": REAL.labels, "seed": 0}),
    "Instance_lattice": Call(Instance, {"patterns": LATTICE.patterns, "labels": LATTICE.labels, "seed": 0}),
    "stabilities": Call(REAL.stabilities, {"weights": SIGNS}),
    "sums": Call(REAL.sums, {"weights": SIGNS}),
    "train_error": Call(LATTICE.train_error, {"weights": SIGNS, "margin": 0.1}),
    "train_error_real": Call(REAL.train_error, {"weights": SIGNS, "margin": 0.1}),
    "test_error": Call(REAL.test_error, {"weights": SIGNS, "n": 9}),
    "test_patterns": Call(_listed(REAL.test_patterns), {"n": 9}),
    "smallest_allowed": Call(smallest_allowed, {"margin": 0.3, "N": 61}),
    "effective_margin": Call(effective_margin, {"margin": 0.3, "N": 61}),
    "TreeCommittee": Call(TreeCommittee, {"data": TREE.data, "units": 3}),
    "FullCommittee": Call(FullCommittee, {"data": FULL.data, "units": 3, "test": FULL.data}),
    "tree_committee": Call(tree_committee, {"D": 5, "P": 4, "N": 27, "K": 3, "seed": 0, "activation": "sign"}),
    "random_tree_committee": Call(random_tree_committee, {"N": 27, "P": 4, "K": 3, "seed": 0}),
    "random_full_committee": Call(random_full_committee, {"N": 9, "P": 4, "K": 3, "seed": 0}),
    "committee.preactivations": Call(TREE.preactivations, {"weights": TREE_WEIGHTS}),
    "committee.train_error": Call(TREE.train_error, {"weights": TREE_WEIGHTS}),
    "committee.test_error": Call(
        FullCommittee(FULL.data, 3, FULL.data).test_error, {"weights": TREE_WEIGHTS, "n": 5}
    ),
    "normalised_units": Call(normalised_units, {"instance": TREE, "weights": TREE_WEIGHTS}),
    "generalized_linear": Call(
        generalized_linear, {"n": 5, "d": 3, "seed": 0, "prior": "gaussian", "channel": "sign"}
    ),
    "GeneralizedLinear": Call(
        GeneralizedLinear,
        {
            "inputs": TEACHER_SIGNS.inputs, "labels": TEACHER_SIGNS.labels, "teacher": TEACHER_SIGNS.teacher,
            "prior": "gaussian", "channel": "sign", "seed": 0,
        },
    ),
    "committee_teacher": Call(committee_teacher, {"n": 5, "d": 3, "seed": 0}),
    "committee_teacher.overlaps": Call(TWO_UNITS.overlaps, {"weights": np.ones((2, 4))}),
    "teacher.overlap": Call(TEACHER_SIGNS.overlap, {"weights": np.ones(4)}),
    "teacher.cosine": Call(INTENSITIES.cosine, {"weights": np.ones(4)}),
    "linear_problem": Call(
        linear_problem, {"features": "gaussian", "n": 5, "d": 3, "seed": 0, "p": 6, "activation": "erf"}
    ),
    "linear_problem_independent": Call(linear_problem, {"features": "independent", "n": 5, "d": 3, "seed": 0}),
    "LinearProblem": Call(LinearProblem, {"source": TEACHER_SIGNS}),
    "linear_problem.errors": Call(SURROGATE.errors, {"weights": np.ones((2, 6))}),
    "linear_problem.errors_measured": Call(MANIFOLD.errors, {"weights": np.ones((2, 6)), "test_samples": 9}),
    "image_features": Call(
        image_features, {"dataset": PICTURES, "kind": "random_features", "features": 3, "seed": 0}
    ),
    "ImageFeatures": Call(ImageFeatures, {"values": SURROGATE.inputs, "labels": LATTICE.labels}),
    "image_features.moments": Call(ImageFeatures(SURROGATE.inputs, LATTICE.labels).moments, {"smallest": 1e-9}),
    # solvers of the binary perceptron
    "anneal": Call(
        anneal,
        {
            "instance": LATTICE, "margin": 0.1, "seed": 0, "beta_start": 1.0, "beta_step": 0.005, "sweeps": 3,
            "energy": "errors", "stop_at_first": True,
        },
    ),
    "anneal_real": Call(anneal, {"instance": REAL, "margin": 0.1, "seed": 0, "sweeps": 3}),
    "anneal_cross_entropy": Call(
        anneal, {"instance": LATTICE, "seed": 0, "sweeps": 3, "energy": "cross_entropy", "gamma": 1.0}
    ),
    "mct0": Call(mct0, {"instance": LATTICE, "margin": 0.1, "seed": 0, "sweeps": 3, "sweeps_after": 2}),
    "sbpi": Call(
        sbpi, {"instance": LATTICE, "margin": 0.1, "seed": 0, "theta": 1, "reinforcement": 0.25, "passes": 3}
    ),
    "belief_propagation": Call(
        belief_propagation,
        {
            "instance": LATTICE, "margin": 0.1, "seed": 0, "damping": 0.3, "adaptive": True, "max_iterations": 3,
            "tolerance": 1e-5, "epsilon": 0.1, "update": "exact", "order": "sequential",
        },
    ),
    "belief_propagation_real": Call(
        belief_propagation, {"instance": REAL, "margin": 0.1, "seed": 0, "max_iterations": 3}
    ),
    "focusing_bp": Call(
        focusing_bp,
        {
            "instance": LATTICE, "margin": 0.1, "seed": 0, "protocol": "pseudo_reinforcement", "steps": 3,
            "replicas": 20.0, "exponent": 0.5, "cap": 0.99, "damping": 0.5, "adaptive": True, "max_iterations": 2,
            "tolerance": 1e-3, "epsilon": 0.1, "update": "expanded", "order": "parallel", "stop": "first",
        },
    ),
    "binarynet": Call(
        binarynet,
        {
            "instance": LATTICE, "margin": 0.1, "seed": 0, "logit_scale": 1.0, "learning_rate": 1e-3, "epochs": 3,
            "spread": 0.1, "stop_at_first": True, "device": "cpu",
        },
    ),
    "binarynet_many": Call(
        binarynet_many, {"instances": [REAL, REAL], "seeds": [0, 1], "epochs": 3, "group": 2}
    ),
    "solve_many": Call(
        solve_many, {"solver": mct0, "instances": [LATTICE, REAL], "seeds": [0, 1], "threads": 2, "sweeps": 3}
    ),
    "amp": Call(
        amp,
        {
            "instance": LATTICE, "margin": 0.1, "seed": 0, "damping": 0.3, "max_iterations": 3, "tolerance": 1e-5,
            "epsilon": 0.1,
        },
    ),
    "two_level_amp": Call(
        two_level_amp, {"instance": REAL, "margin": 0.1, "seed": 0, "max_iterations": 3, "tolerance": 1e-5}
    ),
    "amp_in_fields": Call(
        amp_in_fields,
        {
            "instance": LATTICE, "external": np.ones((2, 61)), "margin": 0.1, "damping": 0.3, "max_iterations": 3,
            "tolerance": 1e-5,
        },
    ),
    # solvers of generalized linear problems
    "generalized_amp": Call(
        generalized_amp,
        {"instance": TEACHER_SIGNS, "seed": 0, "max_iterations": 5, "tolerance": 1e-6, "epsilon": 0.01},
    ),
    "generalized_amp_absolute": Call(generalized_amp, {"instance": INTENSITIES, "seed": 0, "max_iterations": 5}),
    "committee_amp": Call(
        committee_amp,
        {"instance": TWO_UNITS, "seed": 0, "max_iterations": 5, "tolerance": 1e-6, "epsilon": 0.01},
    ),
    "Descent": Call(
        Descent,
        {"step": 0.1, "iterations": 5, "loss_tolerance": 1e-6, "speed_tolerance": 1e-6, "success_overlap": 0.9},
    ),
    "descend_phase_retrieval": Call(
        descend_phase_retrieval,
        {
            "instances": [INTENSITIES, INTENSITIES], "units": 1, "seeds": [0, 1], "descent": Descent(iterations=50),
            "device": "cpu", "dtype": torch.float64,
        },
    ),
    "train_linear_student": Call(train_linear_student, {**LINEAR, "loss": "hinge"}),
    "train_linear_student_square": Call(train_linear_student, {**LINEAR, "loss": "square"}),
    "train_linear_student_logistic": Call(train_linear_student, {**LINEAR, "loss": "logistic"}),
    # solvers of committees
    "committee_belief_propagation": Call(
        committee_belief_propagation, {"instance": TREE, "damping": 0.5, "max_iterations": 3, "tolerance": 1e-6}
    ),
    "committee_entropic_least_action": Call(
        committee_entropic_least_action,
        {
            "instance": TREE, "seed": 0, "learning_rate": 1e-2, "replicas": 3, "coupling": 0.5,
            "coupling_growth": 1e-4, "batch": 5, "epochs": 3, "tolerance": 1e-7,
        },
    ),
    "committee_focusing_bp": Call(
        committee_focusing_bp,
        {
            "instance": FULL, "seed": 0, "coupling_start": 0.5, "coupling_end": 30.0, "steps": 3, "replicas": 10.0,
            "damping": 0.5, "max_iterations": 3, "tolerance": 1e-3, "stop": "first",
        },
    ),
    "committee_least_action": Call(
        committee_least_action, {"instance": FULL, "seed": 0, "learning_rate": 5e-3, "batch": 5, "epochs": 3}
    ),
    "Schedule": Call(
        Schedule,
        {
            "learning_rate": 1e-2, "beta": 1.0, "beta_growth": 1e-3, "gamma": 3.0, "gamma_growth": 0.5, "batch": 5,
            "epochs": 3, "stop": "loss", "loss_tolerance": 1e-7,
        },
    ),
    "committee_sgd": Call(
        committee_sgd, {"instance": TREE, "seed": 0, "schedule": Schedule(epochs=3), "device": "cpu"}
    ),
    "committee_sgd_many": Call(
        committee_sgd_many, {"instances": [TREE, TREE], "seeds": [0, 1], "schedule": Schedule(epochs=3)}
    ),
    "allowed_sums": Call(allowed_sums, {"constraint": Band(1.0), "N": 61}),
    "constraint_error": Call(constraint_error, {"instance": LATTICE, "constraint": Band(1.0), "weights": SIGNS}),
    "anneal_constrained": Call(
        anneal_constrained,
        {
            "instance": LATTICE, "constraint": Band(0.3), "seed": 0, "beta_start": 1.0, "beta_step": 0.1, "sweeps": 3,
            "energy": "linear",
        },
    ),
    "constrained_bp": Call(
        constrained_bp,
        {
            "instance": LATTICE, "constraint": Band(0.5), "seed": 0, "reinforcement": 0.1, "coupling": 0.2,
            "replicas": 5.0, "damping": 0.3, "max_iterations": 3, "tolerance": 1e-6, "epsilon": 0.1, "start": None,
        },
    ),
    "constrained_focusing_bp": Call(
        constrained_focusing_bp,
        {
            "instance": LATTICE, "constraint": Band(0.5), "seed": 0, "steps": 2, "replicas": 5.0, "damping": 0.3,
            "max_iterations": 3, "tolerance": 1e-6, "epsilon": 0.1,
        },
    ),
    "binary_committee_bp": Call(
        binary_committee_bp,
        {
            "instance": TREE, "seed": 0, "sums": "exact", "reinforcement": 0.1, "damping": 0.3, "max_iterations": 3,
            "tolerance": 1e-6, "epsilon": 0.1, "start": None,
        },
    ),
    "binary_committee_focusing_bp": Call(
        binary_committee_focusing_bp,
        {
            "instance": FULL, "seed": 0, "sums": "gaussian", "protocol": "fixed_replicas", "steps": 3, "replicas": 5.0,
            "exponent": 0.5, "cap": 0.999, "damping": 0.3, "max_iterations": 3, "tolerance": 1e-6, "epsilon": 0.1,
            "stop": "first", "until": 2, "start": None,
        },
    ),
    # landscape
    "expected_flip_energy": Call(
        expected_flip_energy,
        {"instance": LATTICE, "weights": SIGNS, "distances": [0.0, 0.1, 0.5], "margin": 0.1},
    ),
    "mean_flip_path": Call(
        mean_flip_path, {"instance": LATTICE, "first": SIGNS, "second": np.roll(SIGNS, 1), "margin": 0.1}
    ),
    "flip_path": Call(
        flip_path,
        {"instance": LATTICE, "first": SIGNS, "second": np.roll(SIGNS, 1), "margin": 0.1, "order": "greedy", "seed": 0},
    ),
    "bent_flip_path": Call(
        bent_flip_path,
        {
            "instance": LATTICE, "first": SIGNS, "second": np.roll(SIGNS, 1), "margin": 0.1, "order": "random",
            "proposals": 3, "seed": 0,
        },
    ),
    "straight_path": Call(
        straight_path,
        {"errors": TREE.train_error, "first": TREE_WEIGHTS, "second": TREE_WEIGHTS[::-1].copy(), "points": 5},
    ),
    "bent_path": Call(
        bent_path,
        {
            "errors": TREE.train_error, "first": TREE_WEIGHTS, "second": TREE_WEIGHTS[::-1].copy(), "points": 5,
            "proposals": 3, "seed": 0,
        },
    ),
    "region": Call(region, {"barriers": np.array([[0.0, 0.5], [0.5, 0.0]]), "level": 0.1}),
    "Hessian": Call(Hessian, {"loss": _loss, "model": NETWORK, "layer": "0.weight"}),
    "largest_eigenvalues": Call(largest_eigenvalues, {"hessian": CURVED, "count": 2}),
    "trace": Call(trace, {"hessian": CURVED, "draws": 3, "seed": 0}),
    "spectral_density": Call(spectral_density, {"hessian": CURVED, "steps": 3, "draws": 2, "seed": 0}),
    "overlaps": Call(overlaps, {"weights": np.stack([SIGNS, -SIGNS, SIGNS])}),
    "committee_overlap": Call(committee_overlap, {"first": TREE_WEIGHTS, "second": TREE_WEIGHTS[::-1].copy()}),
    "committee_local_energy": Call(
        committee_local_energy,
        {
            "instance": TREE, "weights": np.stack([TREE_WEIGHTS, TREE_WEIGHTS]), "sigmas": [0.0, 0.3], "draws": 2,
            "generators": streams(),
        },
    ),
    "committee_local_entropy": Call(
        committee_local_entropy,
        {
            "instance": TREE, "weights": TREE_WEIGHTS, "distances": [0.1, 0.3], "method": "message_passing",
            "damping": 0.3, "max_iterations": 3, "tolerance": 1e-6,
        },
    ),
    "committee_local_entropy_ep": Call(
        committee_local_entropy,
        {
            "instance": FULL, "weights": TREE_WEIGHTS, "distances": [0.1], "method": "expectation_propagation",
            "max_iterations": 3,
        },
    ),
    "committee_solution_fraction": Call(
        committee_solution_fraction,
        {"instance": TREE, "weights": TREE_WEIGHTS, "distance": 0.1, "draws": 9, "seed": 0, "machine": "committee"},
    ),
    "parity_solves": Call(parity_solves, {"instance": TREE, "weights": TREE_WEIGHTS}),
    "parity_solution": Call(parity_solution, {"instance": TREE, "seed": 0}),
    "unique_minimum": Call(
        unique_minimum, {"instance": INTENSITIES}
    ),
    "hessian_eigenvalues": Call(hessian_eigenvalues, {"instance": TREE, "weights": TREE_WEIGHTS, "beta": 2.0}),
    "largest_eigenvalue": Call(largest_eigenvalue, {"instance": TREE, "weights": TREE_WEIGHTS, "beta": 2.0}),
    "smallest_valid_beta": Call(
        smallest_valid_beta, {"instance": TREE, "weights": TREE_WEIGHTS, "betas": [1.0, 3.0]}
    ),
    "input_noise_error": Call(
        input_noise_error,
        {"instance": TREE, "weights": TREE_WEIGHTS, "probabilities": [0.1, 0.2], "draws": 2, "seed": 0},
    ),
    "local_energy": Call(
        local_energy,
        {
            "weights": FLAT, "evaluate": _evaluate, "units": 3, "sigmas": [0.0, 0.3], "draws": 2,
            "generators": streams(),
        },
    ),
    "local_entropy": Call(
        local_entropy,
        {
            "instance": LATTICE, "reference": SIGNS, "distances": [0.1, 0.2], "margin": 0.1, "damping": 0.5,
            "max_iterations": 3, "tolerance": 1e-6, "update": "exact",
        },
    ),
    "feature_local_entropy": Call(
        feature_local_entropy,
        {
            "instance": REAL, "reference": SIGNS, "distances": [0.1, 0.2], "margin": 0.1, "damping": 0.5,
            "max_iterations": 3, "tolerance": 1e-5,
        },
    ),
    "local_entropy_fields": Call(
        local_entropy, {"instance": REAL, "reference": SIGNS, "fields": [0.5, 2.0], "max_iterations": 3}
    ),
    "random_flips": Call(
        random_flips,
        {
            "weights": torch.sign(FLAT), "errors": _errors, "distances": [0.0, 0.3], "draws": 2,
            "generators": streams(),
        },
    ),
    # data
    "Dataset": Call(Dataset, {"name": "dress_coat", "train": DRESS_COAT.train, "test": DRESS_COAT.test}),
    "Dataset_arrays": Call(_dress_coat, vars(DRESS_COAT.train.take(np.arange(5)))),
    # networks
    "Checkpoint": Call(
        partial(Checkpoint, key="run"), {"path": Path("checkpoint"), "seconds": 1.0, "report": _report}
    ),
    "mlp.Shape": Call(Shape, {"inputs": 3, "width": 4, "hidden_layers": 2}),
    "random_orthogonal": Call(random_orthogonal, {"shape": Shape(3, 4, 2), "generators": streams(), "gain": 1.0}),
    "mlp.outputs": Call(MLP.__call__, {"inputs": INPUTS}),
    "mlp.errors": Call(MLP.errors, {"inputs": INPUTS, "labels": LABELS, "block": 3}),
    "train_adam": Call(
        train_adam,
        {
            "ensemble": MLP, "inputs": INPUTS, "labels": LABELS, "margin": 1.0, "learning_rate": 1e-3, "epochs": 3,
            "smallest_loss": 1e-4,
        },
    ),
    "train_sgd": Call(
        train_sgd,
        {
            "ensemble": MLP, "inputs": INPUTS, "labels": torch.stack([LABELS, -LABELS]), "margin": 1.0,
            "learning_rate": 1e-3, "batch": 3, "epochs": 3, "generators": streams(),
        },
    ),
    "binary_mlp.Shape": Call(BinaryShape, {"inputs": 5, "width": 3, "hidden_layers": 1, "classes": 2}),
    "uniform_initialization": Call(
        uniform_initialization, {"shape": BinaryShape(5, 3, 1, 2), "generators": streams(), "spread": 0.3}
    ),
    "binary.outputs": Call(BinaryNetworks.of(BINARY).outputs, {"inputs": BINARY_INPUTS}),
    "binary.errors": Call(
        BinaryNetworks.of(BINARY).errors, {"inputs": BINARY_INPUTS, "labels": CLASSES, "block": 3}
    ),
    "binary.of": Call(BinaryNetworks.of, {"real": BINARY}),
    "train_binary": Call(
        train_binary,
        {
            "start": BINARY, "inputs": BINARY_INPUTS, "labels": CLASSES, "logit_scale": 1.0, "learning_rate": 0.1,
            "batch": 3, "epochs": 3, "generator": np.random.default_rng(0),
        },
    ),
    "parameter_count": Call(parameter_count, {"width": 2}),
    "random_cnn": Call(random_cnn, {"width": 1, "generators": streams(), "initialization": "he"}),
    "statistics": Call(statistics, {"cnn": CNN, "images": IMAGES, "block": 3}),
    "fold": Call(fold, {"cnn": CNN, "over": statistics(CNN, IMAGES)}),
    "folded.scores": Call(fold(CNN, statistics(CNN, IMAGES)).scores, {"images": IMAGES, "block": 3}),
    "folded.errors": Call(fold(CNN, statistics(CNN, IMAGES)).errors, {"images": IMAGES, "labels": TEN}),
    "train_cnn": Call(
        train_cnn,
        {
            "start": CNN, "images": IMAGES, "labels": TEN, "optimizer": "sgd", "learning_rate": 0.01, "momentum": 0.9,
            "batch": 3, "epochs": 2, "generators": streams(), "precision": "float32",
        },
    ),
    "Layers": Call(Layers, {"weights": MLP.weights, "biases": MLP.biases}),
    "layers.select": Call(MLP.select, {"networks": [1, 0]}),
    "layers.with_weights": Call(MLP.with_weights, {"flat": MLP.flat_weights()}),
    "joined": Call(joined, {"parts": [MLP, MLP]}),
    "normalise": Call(normalise, {"networks": MLP}),
    "align": Call(align, {"reference": MLP, "other": MLP}),
    "align_with_signs": Call(align_with_signs, {"reference": BINARY, "other": BINARY}),
    "networks.overlap": Call(overlap, {"first": MLP, "second": MLP}),
    "layer_overlaps": Call(layer_overlaps, {"first": MLP, "second": MLP}),
    # analysis
    "agreement": Call(agreement, {"groups": [np.random.default_rng(9).standard_normal((6, 2))]}),
    "pooled_score": Call(
        pooled_score,
        {
            "n": pd.Series([6, 3]), "solved": pd.Series([5, 3]), "n_fewer": pd.Series([4, 6]),
            "solved_fewer": pd.Series([1, 3]),
        },
    ),
    "first_solved": Call(
        first_solved, {"fractions": pd.Series([0.0, 0.5, 1.0], index=[1.0, 2.0, 4.0]), "least": 0.5}
    ),
    "last_solved": Call(last_solved, {"fractions": pd.Series([1.0, 0.0], index=[1.0, 2.0]), "least": 0.5}),
    "last_half_point": Call(
        last_half_point, {"points": pd.DataFrame({"alpha": [1.0, 2.0], "y": [0.2, 0.9], "y_err": [0.1, 0.1]})}
    ),
    "to_infinite_size": Call(
        to_infinite_size, {"sizes": [25.0, 50.0], "means": [0.1, 0.2], "errors": [0.1, 0.1]}
    ),
    "pair_mean": Call(
        pair_mean,
        {"first": np.array([0, 0, 1]), "second": np.array([1, 2, 2]), "values": np.array([0.1, 0.2, 0.3])},
    ),
    "spearman_over_sets": Call(
        spearman_over_sets,
        {
            "x": np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            "y": np.array([1.0, 3.0, 2.0, 4.0, 6.0, 5.0]),
            "sets": np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0]),
        },
    ),
    "spearman": Call(spearman, {"x": np.array([1.0, 2.0, 3.0, 4.0]), "y": np.array([1.0, 3.0, 2.0, 4.0])}),
    "radius": Call(
        radius, {"distance": np.array([0.0, 0.1, 0.2]), "energy": np.array([0.0, 1e-4, 0.2])}
    ),
    # theory
    "binary_entropy": Call(binary_entropy, {"distance": [0.1, 0.5]}),
    "activation_moments": Call(activation_moments, {"activation": "sign"}),
    "activation_moments_function": Call(activation_moments, {"activation": odd_function}),
    "gaussian_covariance": Call(gaussian_covariance, {"activation": "relu"}),
    **{
        f"{question.__name__} of {kind.__name__}": Call(of(question, kind), given | own)
        for question, own in QUESTIONS.items()
        for kind, given in MODELS.items()
        if (kind is RandomFeatures or question not in OF_RANDOM_FEATURES)
        and (kind.teacher or question is not generalization_errors)
        and not (kind.teacher and question is franz_parisi_one_step)
        and not (kind is theory.TreeCommittee and question is theory.local_energy)
    },
    "group_entropy of Spherical": Call(
        of(group_entropy, Spherical), {"overlaps": [0.7, 0.9], "alpha": 1.0, "units": 3, "machine": "committee"}
    ),
    "typical of Spherical": Call(of(typical, Spherical), {"alpha": 1.0, "units": 3}),
    "alpha_clustering": Call(of(alpha_clustering, Spherical), {"units": 3}),
    **{
        question.__name__: Call(of(question, Spherical), {"units": 1, "machine": "committee", "margin": -1.0})
        for question in (capacity_rs, capacity_one_step, de_almeida_thouless)
    },
    "alpha_c of Spherical": Call(of(alpha_c, Spherical), {"units": 1, "margin": 0.1}),
    "GaussBernoulli": Call(GaussBernoulli, {"density": 0.1}),
    "TwoGaussians": Call(TwoGaussians, {"centre": 0.5}),
    "Linear": Call(Linear, {"noise": 0.1}),
    "Door": Call(Door, {"width": 0.7}),
    "SquareWaveChannel": Call(SquareWaveChannel, {"period": 4.0}),
    "SquareWave": Call(SquareWave, {"period": 4.0}),
    "typical of SquareWaveTeacher": Call(of(typical, SquareWaveTeacher), {"alpha": 0.8, "period": 4.0}),
    "bayes.learning": Call(
        bayes.learning, {"alpha": 1.0, "prior": "binary", "channel": "relu", "start": "informed"}
    ),
    "bayes.state_evolution": Call(
        bayes.state_evolution,
        {"alpha": 0.8, "updates": 3, "overlap": 0.1, "prior": "gaussian", "channel": "absolute"},
    ),
    "bayes.free_entropy": Call(
        bayes.free_entropy, {"overlap": [0.1, 0.2], "alpha": 0.8, "prior": "binary", "channel": "sign"}
    ),
    "bayes.transitions": Call(bayes.transitions, {"prior": "gaussian", "channel": "absolute"}),
    "committee.learning": Call(committee_theory.learning, {"alpha": 1.0, "units": 2, "start": "informed"}),
    "committee.learning_large": Call(
        partial(committee_theory.learning, units=math.inf), {"alpha": 1.0, "start": "informed"}
    ),
    "committee.transitions": Call(committee_theory.transitions, {"units": 2}),
    "committee.least_squares": Call(committee_theory.least_squares, {"alpha": 1.0}),
    "committee_units.specialization": Call(specialization, {"units": 3}),
    "committee.state_evolution": Call(
        committee_theory.state_evolution, {"alpha": 1.0, "updates": 3, "specialization": 0.1}
    ),
    "gibbs.learning": Call(gibbs.learning, {"alpha": 1.0, "temperature": 0.5}),
    "gibbs.spinodal": Call(gibbs.spinodal, {"temperature": 0.5}),
    "gibbs.zero_entropy": Call(gibbs.zero_entropy, {"temperature": 0.5}),
    "gibbs.equilibrium": Call(gibbs.equilibrium, {"temperature": 0.5}),
    "gibbs.freezing_temperature": Call(gibbs.freezing_temperature, {"alpha": 1.5}),
    "gibbs.glass_ends": Call(gibbs.glass_ends, {}),
    "erm.fit": Call(erm.fit, {"alpha": 1.0, "loss": "hinge", "regularization": 0.1}),
    "erm.optimal_regularization": Call(erm.optimal_regularization, {"alpha": 1.0, "loss": "square"}),
    "manifold_theory.fit": Call(
        manifold_theory.fit,
        {
            "samples_per_feature": 1.0, "inputs_per_feature": 0.1, "loss": "square", "regularization": 0.1,
            "activation": "erf",
        },
    ),
    "manifold_theory.optimal_regularization": Call(
        manifold_theory.optimal_regularization,
        {"samples_per_feature": 1.0, "inputs_per_feature": 0.1, "loss": "square", "activation": "erf"},
    ),
    "gaussian_covariate.fit": Call(
        gaussian_covariate.fit,
        {
            "Omega": np.eye(2), "Phi": 0.5 * np.eye(3)[:, :2], "Psi": np.eye(3), "loss": "huber", "regularization": 0.1,
            "alpha": 1.5, "teacher": np.array([1.0, 0.5, 2.0]),
        },
    ),
    "ridge": Call(
        gaussian_covariate.ridge,
        {
            "eigenvalues": [1.0, 2.0], "coefficients": [0.1, 0.2], "variance": 1.0, "samples": 5.0,
            "regularization": 0.1, "images": 9.0,
        },
    ),
    "minimizers": Call(cross_entropy.minimizers, {"alpha": 0.6, "gamma": 2.0}),
    "minimizers_franz_parisi": Call(
        cross_entropy.franz_parisi, {"distances": [0.1], "alpha": 0.6, "gamma": 2.0, "unsolved": "raise"}
    ),
}  # fmt: skip
