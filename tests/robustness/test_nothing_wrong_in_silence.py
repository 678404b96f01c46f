"""Calls that once gave a wrong answer without a word."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from localentropy import theory
from localentropy.errors import DomainError
from localentropy.instances.committee import FullCommittee, TreeCommittee, random_tree_committee
from localentropy.instances.generalized_linear import GeneralizedLinear, generalized_linear
from localentropy.instances.linear_features import linear_problem
from localentropy.instances.perceptron import (
    HiddenManifold,
    Instance,
    effective_margin,
    hidden_manifold,
    random_patterns,
)
from localentropy.landscape.committee import committee_overlap
from localentropy.landscape.local_entropy import local_entropy
from localentropy.networks.align import align
from localentropy.networks.binary_mlp.network import BinaryNetworks
from localentropy.networks.cnn.folding import Folded, fold
from localentropy.networks.cnn.network import random_cnn, statistics
from localentropy.networks.cnn.training import train
from localentropy.networks.layers import Layers
from localentropy.networks.mlp.network import Shape, random_orthogonal
from localentropy.networks.mlp.training import train_adam
from localentropy.numerics.activations import activation_moments
from localentropy.solvers import anneal, belief_propagation, binarynet, focusing_bp, mct0, sbpi
from localentropy.solvers.amp import amp, amp_in_fields, two_level_amp
from localentropy.solvers.committee.entropic_least_action import committee_entropic_least_action
from localentropy.solvers.committee.least_action import committee_least_action
from localentropy.solvers.committee.sgd import committee_sgd
from localentropy.solvers.descent import descend_phase_retrieval
from localentropy.theory import RandomFeatures, alpha_c, binary_entropy
from tests.robustness.public_calls import CNN, IMAGES, INPUTS, LABELS, MLP, TEN, TREE_WEIGHTS, streams

SOLVERS: list[Callable[..., Any]] = [anneal, mct0, sbpi, belief_propagation, focusing_bp, binarynet]
ADAM: dict[str, Any] = {"margin": 1.0, "learning_rate": 1e-3, "epochs": 3, "smallest_loss": 1e-4}
CNN_SETTINGS: dict[str, Any] = {"optimizer": "sgd", "learning_rate": 0.01, "momentum": 0.9, "batch": 3, "epochs": 1}


def refuses(message: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    with pytest.raises(DomainError, match=message) as refused:
        call(*arguments, **named)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("activation", "message"),
    [
        (np.log, "gives -inf|gives nan"),
        (np.sqrt, "gives nan"),
        (lambda z: np.exp(700 * z * z), "gives inf"),
        (lambda z: z * math.nan, "gives nan"),
        (lambda z: np.maximum(z, 0.0), "has mean 0.398942 under N.0, 1.: it must be 0"),
        (np.cosh, "has mean"),
        (np.exp, "has mean"),
    ],
)
@pytest.mark.parametrize("gaussian_covariate", [False, True])
def test_activations_without_numbers_or_with_a_mean_make_no_instance(activation, message, gaussian_covariate):
    size: dict[str, Any] = {"D": 21, "P": 40, "N": 201, "seed": 0}
    refuses(message, hidden_manifold, **size, activation=activation, gaussian_covariate=gaussian_covariate)
    refuses(message, RandomFeatures, 3.0, 2.0, activation=activation)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1e7])
def test_an_instance_holds_numbers_only(wrong):
    patterns = np.ones((3, 5), np.float32)
    patterns[1, 2] = wrong
    refuses(
        r"patterns\[1, 2\] = .*: allowed are finite numbers, at most 1e.06", Instance, patterns, np.ones(3, np.int8), 0
    )


@pytest.mark.parametrize(
    "labels", [[0, 1, 1], [3, 1, 1], [0, 0, 0], [1], [[1], [1], [1]], [1, 1, 1, 1], [-128, 1, 1]], ids=str
)
def test_labels_are_signs_one_for_each_pattern(labels):
    for patterns in (np.ones((3, 5), np.int8), np.ones((3, 5), np.float32)):
        refuses("labels", Instance, patterns, np.array(labels, np.int8), 0)


@pytest.mark.parametrize(
    "patterns",
    [np.zeros((3, 5)), np.full((3, 5), 2), np.full((3, 5), -128), np.ones(5), np.ones((3, 5, 1)), np.ones((0, 5))],
    ids=lambda patterns: str(patterns.flat[:1]),
)
def test_int8_patterns_are_signs_in_rows(patterns):
    refuses("patterns", Instance, patterns.astype(np.int8), np.ones(len(patterns), np.int8), 0)


def test_the_rest_of_an_instance_fits_its_patterns():
    one = hidden_manifold(D=5, P=4, N=7, seed=0, activation="tanh")
    good = (one.features, one.latent, one.teacher)
    HiddenManifold(one.patterns, one.labels, 0, "tanh", *good)
    for place, wrong in ((0, one.latent), (1, one.features), (2, np.ones(4, np.int8)), (2, np.zeros(5, np.int8))):
        rest = (*good[:place], wrong, *good[place + 1 :])
        refuses("allowed", HiddenManifold, one.patterns, one.labels, 0, "tanh", *rest)
    refuses("activation", HiddenManifold, one.patterns, one.labels, 0, "tan", *good)
    refuses("seed = 0.5", Instance, one.patterns, one.labels, 0.5)
    refuses("gaussian_covariate = 'no'", HiddenManifold, one.patterns, one.labels, 0, "tanh", *good, "no")


@pytest.mark.parametrize("solver", [*SOLVERS, amp])
def test_an_even_number_of_signs_can_tie(solver):
    refuses("N = 20 is even: .*nearest allowed are 19, 21", solver, random_patterns(20, 5, 0), seed=0)


def test_an_even_number_of_signs_has_no_local_entropy():
    refuses("N = 20 is even", local_entropy, random_patterns(20, 5, 0), np.ones(20), distances=[0.1])


@pytest.mark.parametrize("array", ["patterns", "labels", "features", "latent", "teacher", "signed_patterns"])
@pytest.mark.parametrize(
    "copied", [lambda one: one, copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_what_was_computed_once_stays_right_because_arrays_cannot_be_written_to(array, copied):
    instance = copied(hidden_manifold(D=5, P=4, N=7, seed=0))
    with pytest.raises(ValueError, match="read-only"):
        getattr(instance, array)[:] *= -1


def test_what_is_written_to_an_array_later_does_not_reach_the_instance():
    patterns, labels = np.ones((2, 3), np.int8), np.ones(2, np.int8)
    instance = Instance(patterns, labels, 0)
    view = patterns[:]
    view.setflags(write=False)
    other = Instance(view, labels, 0)
    patterns *= -1
    labels *= -1
    for one in (instance, other):
        assert (one.patterns == 1).all() and (one.labels == 1).all() and one.train_error(np.ones(3)) == 0.0
    assert labels.flags.writeable and patterns.flags.writeable


class Stretched:
    """An activation whose slope can be changed; functions with an equality have no hash."""

    def __init__(self) -> None:
        self.slope = 1.0

    def __call__(self, z: Any) -> Any:
        return self.slope * z / (1.0 + abs(z))

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


def test_moments_follow_the_state_of_an_activation():
    activation = Stretched()
    before, committee = activation_moments(activation), alpha_c(theory.TreeCommittee(activation=activation))
    instance = hidden_manifold(D=5, P=4, N=7, seed=0, activation=activation)
    activation.slope = 3.0
    after = activation_moments(activation)
    assert after.mu_1 == pytest.approx(3.0 * before.mu_1, rel=1e-12)
    assert after.mu_star_squared == pytest.approx(9.0 * before.mu_star_squared, rel=1e-9)
    assert alpha_c(theory.TreeCommittee(activation=activation)) == pytest.approx(committee, rel=1e-9)  # has no unit
    refuses("gives other numbers now than it gave for the training patterns", instance.test_error, np.ones(7), n=5)
    activation.slope = 1.0
    assert activation_moments(activation) == before
    instance.test_error(np.ones(7), n=5)


def test_covariances_follow_the_state_of_an_activation():
    class Bent(Stretched):
        def __call__(self, z: Any) -> Any:
            return np.tanh(self.slope * z)

    bent = Bent()
    soft = alpha_c(theory.TreeCommittee(activation=bent))
    bent.slope = 20.0
    assert abs(alpha_c(theory.TreeCommittee(activation=bent)) - alpha_c(theory.TreeCommittee(activation="sign"))) < 0.01
    bent.slope = 1.0
    assert alpha_c(theory.TreeCommittee(activation=bent)) == soft < 0.9


def test_functions_that_mix_the_elements_of_an_array_are_taken_one_by_one():
    size: dict[str, Any] = {"D": 5, "P": 4, "N": 7, "seed": 0}
    mixed = hidden_manifold(**size, activation=np.cumsum)  # of one number it is this number
    np.testing.assert_array_equal(mixed.patterns, hidden_manifold(**size, activation="identity").patterns)


@pytest.mark.parametrize("distance", [-0.1, 1.1, math.nan, None, "0.1", [0.5, -1e-9], [], 1j])
def test_binary_entropy_is_of_distances(distance):
    refuses("distance", binary_entropy, distance)


def test_binary_entropy_vanishes_at_both_ends():
    assert str(binary_entropy([0.0, 1.0])) == "[0. 0.]"


@pytest.mark.parametrize("N", [7.5, 7.0, "7", None, True, 0, -3, 10**30])
def test_effective_margins_are_of_whole_numbers_of_weights(N):
    refuses("N = ", effective_margin, 0.1, N)


@pytest.mark.parametrize("adaptive", ["no", "False", None, 0, 1, math.nan, []])
def test_flags_are_true_or_false(adaptive):
    instance = random_patterns(21, 5, 0)
    refuses("adaptive = .*: allowed are True and False", belief_propagation, instance, seed=0, adaptive=adaptive)
    refuses("adaptive = .*: allowed are True and False", focusing_bp, instance, seed=0, adaptive=adaptive)
    refuses("stop_at_first = .*: allowed are True and", anneal, instance, seed=0, stop_at_first=adaptive)
    refuses("stop_at_first = .*: allowed are True and", binarynet, instance, seed=0, stop_at_first=adaptive)


@pytest.mark.parametrize("solver", [belief_propagation, focusing_bp, amp])
def test_a_start_without_magnetization_may_be_written_with_a_sign(solver):
    instance = random_patterns(21, 5, 0)
    runs = [solver(instance, seed=0, epsilon=epsilon) for epsilon in (0.0, -0.0)]
    np.testing.assert_array_equal(runs[0].weights, runs[1].weights)


@pytest.mark.parametrize("tolerance", [1.5, 1e300])
def test_tolerances_that_everything_meets_are_refused(tolerance):
    instance = random_patterns(21, 5, 0)
    refuses(r"tolerance = .*: allowed are \(0, 1\]", belief_propagation, instance, seed=0, tolerance=tolerance)
    refuses(
        r"tolerance = .*: allowed are \(0, 1\]",
        local_entropy,
        instance,
        np.ones(21),
        distances=[0.1],
        tolerance=tolerance,
    )


def test_overlaps_of_committees_do_not_broadcast():
    refuses(r"second of shape \(9,\)", committee_overlap, TREE_WEIGHTS, TREE_WEIGHTS[0])
    refuses(r"second of shape \(1, 9\)", committee_overlap, TREE_WEIGHTS, TREE_WEIGHTS[:1])
    refuses("a unit is all zeros", committee_overlap, TREE_WEIGHTS, TREE_WEIGHTS * [[0.0], [1.0], [1.0]])
    refuses("nan is among them", committee_overlap, TREE_WEIGHTS, np.full((3, 9), math.nan))


def test_a_committee_is_a_tree_or_fully_connected():
    for machine in (TreeCommittee, FullCommittee):
        refuses("data = ndarray object", machine, np.ones((3, 3)), 3)
        refuses("test = ndarray object", machine, random_patterns(9, 5, 0), 3, np.ones((3, 3)))


@pytest.mark.parametrize("optimizer", ["SGD", "rmsprop", "", None, 1])
def test_unknown_optimizers_train_nothing(optimizer):
    settings = CNN_SETTINGS | {"optimizer": optimizer}
    refuses(
        "optimizer = .* is not known: allowed are sgd, adam", train, CNN, IMAGES, TEN, generators=streams(), **settings
    )


@pytest.mark.parametrize("precision", ["float16", "float64", None, torch.bfloat16])
def test_unknown_precisions_train_nothing(precision):
    settings = CNN_SETTINGS | {"precision": precision}
    refuses(
        "precision = .* is not known: allowed are float32, bf",
        train,
        CNN,
        IMAGES,
        TEN,
        generators=streams(),
        **settings,
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": INPUTS[:, :2]}, r"inputs of shape \(7, 2\): allowed is \(patterns, 3\)"),
        ({"inputs": torch.cat([INPUTS] * 9, 1)}, r"inputs of shape \(7, 27\)"),
        ({"inputs": INPUTS[:6]}, r"labels of shape \(7,\): allowed is \(6,\)"),
        ({"inputs": INPUTS.double()}, "inputs of type torch.float64 on cpu: allowed is torch.float32"),
        ({"inputs": INPUTS * math.nan}, "inputs: infinity or NaN"),
        ({"labels": LABELS[:, None]}, r"labels of shape \(7, 1\): allowed is \(7,\)"),
        ({"labels": (LABELS > 0).float()}, r"labels\[\d\] = 0.0: allowed are -1 and 1; 2 \* labels - 1"),
        ({"labels": LABELS > 0}, "labels is a tensor of type torch.bool"),
        ({"labels": LABELS * math.nan}, r"labels\[0\] = nan"),
        ({"epochs": 0}, "epochs = 0"),
        ({"epochs": 2.5}, "epochs = 2.5 is not an integer"),
        ({"learning_rate": -1}, "learning_rate = -1"),
        ({"learning_rate": 0}, "learning_rate = 0"),
        ({"learning_rate": math.nan}, "learning_rate = nan"),
        ({"margin": 0}, "margin = 0"),
        ({"margin": "1"}, "margin = '1'"),
        ({"checkpoint": "file"}, "checkpoint = str object"),
        ({"report": "yes"}, "report = 'yes': allowed is a function"),
    ],
)
def test_adam_trains_what_fits(changes, message):
    refuses(message, train_adam, **{"ensemble": MLP, "inputs": INPUTS, "labels": LABELS, **ADAM, **changes})


def test_networks_of_different_widths_have_no_alignment():
    wider = random_orthogonal(Shape(3, 6, 2), streams())
    refuses(r"other: weights of layer 0 of shape \(2, 6, 3\): allowed is \(2, 4, 3\)", align, MLP, wider)
    refuses(r"other: weights of layer 0 of shape \(1, 4, 3\)", align, MLP, MLP.select([0]))
    refuses("other: networks of 2 layers", align, MLP, random_orthogonal(Shape(3, 4, 1), streams()))


def test_images_that_are_no_numbers_have_no_class():
    folded = fold(CNN, statistics(CNN, IMAGES))
    spoiled = IMAGES.clone()
    spoiled[1, 0, 0, 0] = math.nan
    zeros = torch.zeros(4, dtype=torch.int64)
    refuses("images: infinity or NaN is among them", folded.errors, spoiled, zeros)
    refuses("images: infinity or NaN is among them", statistics, CNN, spoiled)
    huge = Folded(tuple(weight * 1e30 for weight in folded.weights), folded.biases)  # overflows to NaN, once class 0
    assert huge.errors(IMAGES, zeros).tolist() == [1.0, 1.0]


def test_outputs_that_overflow_are_errors_of_binary_networks_too():
    networks = BinaryNetworks((torch.ones(1, 3, 5), torch.ones(1, 2, 3)), ())
    networks.weights[1][0, 1, 0] = math.nan  # tensors can be written to
    assert networks.errors(torch.ones(4, 5), torch.ones(4, dtype=torch.int64)).tolist() == [1.0]


def test_networks_are_made_of_numbers():
    weights = tuple(weight.clone() for weight in MLP.weights)
    weights[1][0, 0, 0] = math.nan
    refuses("weights of layer 1: infinity or NaN", Layers, weights, MLP.biases)
    refuses(r"weights of layer 1 of shape \(2, 4, 5\)", Layers, (torch.ones(2, 4, 3), torch.ones(2, 4, 5)), ())
    refuses("width = 0", random_cnn, 0, streams())


def test_a_problem_larger_than_the_memory_is_refused_before_it_is_made():
    refuses(
        "D = 1000000000, P = 4, N = 1000000000: this takes .* GB, allowed here are", hidden_manifold, 10**9, 4, 10**9, 0
    )
    refuses("width = 100000: this takes .* GB", random_cnn, 100_000, streams())


def test_sizes_of_the_talk_beyond_the_memory_are_refused_too():
    refuses("n = 1000000000, d = 1000: this takes .* GB", generalized_linear, 10**9, 1000, 0)
    refuses("n = 10, d = 3, p = 2000000000: this takes .* GB", linear_problem, "gaussian", 10, 3, 0, p=2 * 10**9)
    intensities = generalized_linear(8, 4, 0, channel="absolute")
    refuses("units = 1000000000, runs = 1: this", descend_phase_retrieval, [intensities], seeds=[0], units=10**9)


@pytest.mark.parametrize("array", ["inputs", "labels", "teacher"])
def test_what_is_written_to_an_array_does_not_reach_a_generalized_linear_problem(array):
    arrays = {name: getattr(generalized_linear(8, 4, 0), name).copy() for name in ("inputs", "labels", "teacher")}
    problem = GeneralizedLinear(**arrays, prior="gaussian", channel="sign", seed=0)  # type: ignore[arg-type]
    before = getattr(problem, array).copy()
    arrays[array][:] = 7.0
    np.testing.assert_array_equal(getattr(problem, array), before)
    with pytest.raises(ValueError, match="read-only"):
        getattr(problem, array)[:] *= -1


def test_very_small_weights_have_the_cosine_and_the_errors_of_large_ones():
    teacher, weights = generalized_linear(8, 4, 0), np.array([1.0, -0.5, 0.25, 2.0])
    surrogate = linear_problem("gaussian", 12, 3, 0, p=4)
    for size in (2.0**-700, 2.0**-1000):
        assert teacher.cosine(size * weights) == teacher.cosine(weights) != 0.0
        small, large = (surrogate.errors(scale * weights[None]).generalization_error[0] for scale in (size, 1.0))
        assert small == large != 0.0


@pytest.mark.parametrize("solver", [committee_sgd, committee_least_action, committee_entropic_least_action])
def test_a_unit_of_one_weight_has_no_direction_to_learn(solver):
    refuses("inputs_per_unit = 1: .* allowed are at least 2", solver, random_tree_committee(9, 5, 9, 0), seed=0)


def test_the_nearest_sizes_of_a_tree_are_named_once():
    refuses("N = 30 is not divisible by units = 31; nearest allowed: 31$", random_tree_committee, 30, 5, 31, 0)
    refuses("N = 30 is not divisible by units = 7; nearest allowed: 28, 35$", random_tree_committee, 30, 5, 7, 0)


@settings(max_examples=20)
@given(
    N=st.integers(20, 100).map(lambda half: 2 * half + 1), load=st.floats(0.05, 0.5), seed=st.integers(0, 99),
    same=st.booleans(), update=st.sampled_from(["exact", "expanded"]),
    order=st.sampled_from(["parallel", "sequential"]),
)  # fmt: skip
def test_belief_propagation_does_not_converge_on_contradictions(N, load, seed, same, update, order):
    """A pattern with both labels, or a pattern and its opposite with one label."""
    whole = random_patterns(N, max(2, int(load * N)), seed)
    patterns, labels = whole.patterns.copy(), whole.labels.copy()
    patterns[1], labels[1] = (patterns[0], -labels[0]) if same else (-patterns[0], labels[0])
    spoiled = Instance(patterns, labels, 0)
    run = belief_propagation(spoiled, seed=0, max_iterations=200, update=update, order=order)
    assert (run.solved, run.converged) == (False, False)
    assert math.isnan(run.entropy)
    near = local_entropy(spoiled, run.weights, distances=[0.1, 0.3], max_iterations=200, update=update)
    assert not near.converged.any()
    assert np.isnan(near.entropy).all()


@pytest.mark.parametrize(("activation", "many"), [("sign", 2), ("tanh", 2), ("tanh", 3)])
def test_message_passing_does_not_converge_on_patterns_that_contradict_each_other(activation, many):
    """Two or three patterns of one label that add up to zero."""
    one = hidden_manifold(D=33, P=40, N=331, seed=0, activation=activation)
    patterns, latent, labels = (np.array(array) for array in (one.patterns, one.latent, one.labels))
    for array in (patterns, latent):
        array[many - 1] = -array[: many - 1].sum(0)
    labels[:many] = 1
    spoiled = HiddenManifold(patterns, labels, 0, activation, one.features, latent, one.teacher)
    for solver in (amp, two_level_amp):
        assert solver(one, seed=0).converged
        run = solver(spoiled, seed=0)
        assert not run.solved
        assert not run.converged
        assert math.isnan(run.entropy)
    assert np.isnan(amp_in_fields(spoiled, np.zeros((1, 331)))[1]).all()


def test_two_level_amp_takes_the_moments_that_the_patterns_have():
    instance = hidden_manifold(D=21, P=10, N=101, seed=0, activation=Stretched())
    assert two_level_amp(instance, seed=0).overlap > 0.0
