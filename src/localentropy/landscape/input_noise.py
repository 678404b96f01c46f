"""How a solution stands noise on its inputs: every pixel may be drawn again from its own training marginal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from localentropy import seeds
from localentropy.instances.committee import Committee, normalised_units
from localentropy.instances.perceptron import Instance
from localentropy.numerics.waiting import counted
from localentropy.quantities import DRAWS, PROBABILITY


def input_noise_error(
    instance: Committee,
    weights: np.ndarray,
    *,
    probabilities: Sequence[float] | np.ndarray,
    draws: int,
    seed: int,
) -> np.ndarray:
    """Train error when every input is, with some probability, drawn again from its own training marginal.

    The noise depends on the seed, the sizes and the number of the draw only. So all weights meet the same noise, and a
    pixel that is drawn again at one probability has the same new value at all larger ones. Labels stay.

    Source: `shaping`, talk ("colored (pixel-dependent) noise"); the kind of noise is chosen here.

    Args:
        instance: the training set, ±1 patterns.
        weights: [K, inputs_per_unit]; units may have any norm but 0.
        probabilities: of a new value for each input, in [0, 1].
        draws: number of noises.
        seed: root seed.

    Returns:
        Fractions of wrong patterns, [probabilities, draws].

    Raises:
        DomainError: not a committee with ±1 patterns, weights of another shape, not finite or with a unit of zeros, an
            argument out of range.

    Example:
        >>> from localentropy.instances.committee import TreeCommittee
        >>> from localentropy.instances import random_patterns
        >>> machine = TreeCommittee(random_patterns(N=99, P=50, seed=0), units=3)
        >>> from localentropy.solvers.committee.least_action import committee_least_action
        >>> weights = committee_least_action(machine, seed=0).weights
        >>> from localentropy.landscape.input_noise import input_noise_error
        >>> input_noise_error(machine, weights, probabilities=[0.0, 0.1], draws=100, seed=0).mean(axis=1).round(2)
        array([0.  , 0.29])
    """
    unit_weights = normalised_units(instance, weights)
    levels = PROBABILITY.require_all(probabilities).ravel()
    draws = DRAWS.require(draws)
    data = instance.data
    errors = np.empty((len(levels), draws))
    for draw in counted(range(draws), "input_noise_error"):
        stream = seeds.generator(seed, "input_noise", P=instance.P, N=data.N, draw=draw)
        for level, patterns in enumerate(resampled(data.compact_patterns, levels, stream)):
            noisy = type(instance)(Instance(patterns, data.labels, data.seed), instance.units)
            errors[level, draw] = noisy.train_error(unit_weights)
    return errors


def resampled(patterns: np.ndarray, probabilities: np.ndarray, generator: np.random.Generator) -> Iterator[np.ndarray]:
    """Patterns in which each number is new with some probability: drawn from the training values of its input.

    All probabilities have the same random numbers.

    Args:
        patterns: ±1, [P, N].
        probabilities: for each of them the patterns are made once.
        generator: of the random numbers, which are the same for all probabilities.

    Yields:
        int8, [P, N].

    Example:
        >>> import numpy as np
        >>> from localentropy.landscape.input_noise import resampled
        >>> patterns = np.where(np.random.default_rng(0).random((200, 50)) < 0.5, np.int8(1), np.int8(-1))
        >>> made = resampled(patterns, [0.0, 0.1, 1.0], np.random.default_rng(1))
        >>> [round(float(np.mean(one != patterns)), 2) for one in made]  # half of the new values are as before
        [0.0, 0.05, 0.5]
    """
    places, values = generator.random((2, *patterns.shape))
    fresh = np.where(values < np.mean(patterns > 0, axis=0), np.int8(1), np.int8(-1))
    for probability in probabilities:
        yield np.where(places < probability, fresh, patterns)
