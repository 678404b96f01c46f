"""Signs packed 64 to a word, for kernels that count with AND and popcount."""

from __future__ import annotations

import numpy as np


def pack_signs(signs: np.ndarray) -> np.ndarray:
    """Words of 64 signs along the last axis: bit b of word j is 1 where sign 64 j + b is positive.

    Args:
        signs: [..., length].

    Returns:
        uint64, [..., ceil(length / 64)], contiguous; bits beyond the length are 0.
    """
    packed = np.packbits(signs > 0, axis=-1, bitorder="little")
    words = -(-signs.shape[-1] // 64)
    filled = np.zeros((*signs.shape[:-1], 8 * words), np.uint8)
    filled[..., : packed.shape[-1]] = packed
    return filled.view("<u8").astype(np.uint64, copy=False)


def unpack_signs(words: np.ndarray, length: int) -> np.ndarray:
    """The ±1 signs of `pack_signs`, int8, [..., length]."""
    packed = np.ascontiguousarray(words.astype("<u8", copy=False)).view(np.uint8)
    bits = np.unpackbits(packed, axis=-1, count=length, bitorder="little")
    return 2 * bits.astype(np.int8) - 1
