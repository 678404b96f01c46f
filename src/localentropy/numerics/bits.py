"""Signs packed 64 to a word, for kernels that count with AND and popcount."""

from __future__ import annotations

import numpy as np


def pack_signs(signs: np.ndarray) -> np.ndarray:
    """Words of 64 signs along the last axis: bit b of word j is 1 where sign 64 j + b is positive.

    Args:
        signs: [..., length].

    Returns:
        uint64, [..., ceil(length / 64)], contiguous; bits beyond the length are 0.

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.bits import pack_signs
        >>> pack_signs(np.array([1, 1, -1, 1])).tolist()  # 1 + 2 + 8
        [11]
    """
    packed = np.packbits(signs > 0, axis=-1, bitorder="little")
    words = -(-signs.shape[-1] // 64)
    filled = np.zeros((*signs.shape[:-1], 8 * words), np.uint8)
    filled[..., : packed.shape[-1]] = packed
    return filled.view("<u8").astype(np.uint64, copy=False)


def unpack_signs(words: np.ndarray, length: int) -> np.ndarray:
    """The ±1 signs of words that `pack_signs` has made.

    Args:
        words: uint64, [..., words].
        length: number of signs.

    Returns:
        int8, [..., length].

    Example:
        >>> import numpy as np
        >>> from localentropy.numerics.bits import unpack_signs
        >>> unpack_signs(np.array([11], np.uint64), 4).tolist()
        [1, 1, -1, 1]
    """
    packed = np.ascontiguousarray(words.astype("<u8", copy=False)).view(np.uint8)
    bits = np.unpackbits(packed, axis=-1, count=length, bitorder="little")
    return 2 * bits.astype(np.int8) - 1
