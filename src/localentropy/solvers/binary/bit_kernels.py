"""Count of bits, and random words without a global state, for the bit-parallel kernels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from localentropy.numerics.compiled import instruction, subroutine
from localentropy.seeds import entropy

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


def _count_bits(typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


count_bits: Any = instruction(_count_bits, lambda word: np.uint64(np.bitwise_count(word)))
"""Number of ones in a uint64, by the instruction of the processor, also on vectors."""


def word_stream(seed: int, name: str) -> np.ndarray:
    """Key of the random words of a stream, and the number of words used so far (0): uint64, [2]."""
    return np.array([entropy(seed, name) % 2**64, 0], np.uint64)


@subroutine
def random_word(key: np.uint64, counter: np.uint64) -> np.uint64:
    """Word number `counter` of the stream `key`: SplitMix64, a function of its arguments only."""
    word = key + counter * _STEP
    word = (word ^ (word >> np.uint64(30))) * _MIX_1
    word = (word ^ (word >> np.uint64(27))) * _MIX_2
    return word ^ (word >> np.uint64(31))


@subroutine
def high_index(word: np.uint64, size: np.uint64) -> np.uint64:
    """An index below `size` < 2³² from the upper half of a random word, biased by less than size / 2³²."""
    return ((word >> _32) * size) >> _32


@subroutine
def low_half(word: np.uint64) -> np.uint64:
    """The lower half of a random word, uniform below 2³²."""
    return word & _LOW_32


@subroutine
def accepts(word: np.uint64, exponent: float) -> bool:
    """Whether the lower half of a random word is below floor(2³² exp(−exponent)), which is 0 above 32 ln 2 = 22.2."""
    return exponent < 23.0 and low_half(word) < np.uint64(4294967296.0 * math.exp(-exponent))
