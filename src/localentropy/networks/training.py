"""What the trainers of all networks share: a loss that must be finite, random streams in a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from localentropy.errors import ConvergenceError


def require_finite(what: str, loss: Tensor, epoch: int) -> None:
    """Refuse a loss of any network that is infinite or no number: the learning rate is too large.

    Raises:
        ConvergenceError: naming what is trained, and the epoch.
    """
    if not bool(torch.isfinite(loss).all()):
        raise ConvergenceError(f"training of the {what}", {"epoch": epoch}, float("nan"))


def saved_streams(generators: Sequence[np.random.Generator]) -> str:
    """The states of random streams as text: they have integers that no tensor can hold."""
    return json.dumps([generator.bit_generator.state for generator in generators])


def restore_streams(generators: Sequence[np.random.Generator], states: str) -> None:
    """Set random streams to what `saved_streams` saved."""
    for generator, state in zip(generators, json.loads(states), strict=True):
        generator.bit_generator.state = state
