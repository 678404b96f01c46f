"""PyTorch for all modules that need it, and where it computes: on the processor or on a GPU."""

from __future__ import annotations

import inspect
from traceback import walk_stack

from localentropy.arguments import require_choice
from localentropy.errors import DomainError, MissingPackageError


def _importer() -> str:
    """The module of this package that imports this one, or this one itself."""
    names = [frame.f_globals.get("__name__", "") for frame, _ in walk_stack(inspect.currentframe())]
    return next((name for name in names if name.startswith("localentropy.") and name != __name__), __name__)


try:
    import torch
    from torch import Tensor
    from torch.nn import functional
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise MissingPackageError(f"{_importer()} needs PyTorch: pip install 'localentropy[networks]'") from None

__all__ = ["Tensor", "functional", "torch", "torch_device"]


def torch_device(name: str) -> torch.device:
    """The device of this name, if it is there.

    Raises:
        DomainError: neither "cpu" nor "cuda", or "cuda" without a GPU.
    """
    require_choice("device", name, ("cpu", "cuda"))
    if name == "cuda" and not torch.cuda.is_available():
        raise DomainError("device: cuda was asked for, but PyTorch finds no GPU; use device: cpu")
    return torch.device(name)
