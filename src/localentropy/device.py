"""Where PyTorch computes: on the processor or on a GPU."""

from __future__ import annotations

import torch

from localentropy.arguments import require_choice
from localentropy.errors import DomainError


def torch_device(name: str) -> torch.device:
    """The device of this name, if it is there.

    Raises:
        DomainError: neither "cpu" nor "cuda", or "cuda" without a GPU.
    """
    require_choice("device", name, ("cpu", "cuda"))
    if name == "cuda" and not torch.cuda.is_available():
        raise DomainError("device: cuda was asked for, but PyTorch finds no GPU; use device: cpu")
    return torch.device(name)
