"""Phase retrieval with real weights: a teacher whose outputs are known up to their sign."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from localentropy import seeds
from localentropy.arguments import require_integer
from localentropy.errors import DomainError

_NORM_ERROR = 1e-6


@dataclass(frozen=True, eq=False)
class PhaseRetrieval:
    """Patterns X and the teacher w* of labels y = |X w*|.

    Attributes:
        patterns: X, float64 [P, N]; entries of variance 1/N.
        teacher: w*, float64 [N], of squared norm N.

    Raises:
        DomainError: no arrays of these shapes, no finite numbers, a teacher of another norm.
    """

    patterns: np.ndarray
    teacher: np.ndarray

    def __post_init__(self) -> None:
        shapes = np.shape(self.patterns), np.shape(self.teacher)
        if len(shapes[0]) != 2 or 0 in shapes[0] or shapes[1] != shapes[0][1:]:
            raise DomainError(
                f"patterns of shape {shapes[0]}, teacher of shape {shapes[1]}: allowed are (P, N) and (N,), at least 1"
            )
        for name in ("patterns", "teacher"):
            values = getattr(self, name)
            if not isinstance(values, np.ndarray) or values.dtype != np.float64 or not np.isfinite(values).all():
                raise DomainError(f"{name}: allowed is an array of numpy with finite numbers in float64")
        norm = float(np.linalg.norm(self.teacher))
        if abs(norm / math.sqrt(self.N) - 1.0) > _NORM_ERROR:
            raise DomainError(f"teacher of norm {norm:.6g}: allowed is √N = {math.sqrt(self.N):.6g}")

    @property
    def P(self) -> int:
        """Number of patterns."""
        return self.patterns.shape[0]

    @property
    def N(self) -> int:
        """Number of inputs."""
        return self.patterns.shape[1]

    @property
    def intensities(self) -> np.ndarray:
        """y² of all patterns, [P]."""
        return np.square(self.patterns @ self.teacher)


def phase_retrieval(N: int, P: int, seed: int) -> PhaseRetrieval:
    """Gaussian patterns of variance 1/N, and a Gaussian teacher scaled to squared norm N.

    Source: `glm_talk`, "Gradient descent for phase retrieval". There the student has squared norm d = N and the teacher
    has it on average. (C) Here the teacher has it exactly, so that the student can reach it.

    Args:
        N: inputs.
        P: patterns; α = P/N.
        seed: root seed.

    Raises:
        DomainError: N or P below 1, or an argument that is no integer.
    """
    require_integer("N", N, 1)
    require_integer("P", P, 1)
    require_integer("seed", seed)
    stream = seeds.generator(seed, "instance", model="phase_retrieval", N=N, P=P)
    teacher = stream.standard_normal(N)
    return PhaseRetrieval(
        patterns=stream.standard_normal((P, N)) / math.sqrt(N),
        teacher=teacher * (math.sqrt(N) / np.linalg.norm(teacher)),
    )
