"""What the trainers of all networks share: the check of the loss, and the state that is saved and restored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from localentropy.device import Tensor, torch
from localentropy.errors import ConvergenceError, DomainError
from localentropy.networks.checkpoint import Checkpoint


def require_finite(what: str, loss: Tensor, epoch: int) -> None:
    """Refuse a loss of any network that is not finite.

    Args:
        what: was trained.
        loss: [networks].
        epoch: for the message.

    Raises:
        ConvergenceError: says what was trained, and the epoch. The learning rate is too large.

    Example:
        >>> import torch
        >>> from localentropy.networks.training import require_finite
        >>> require_finite("CNN", torch.tensor([0.1, float("inf")]), epoch=3)
        Traceback (most recent call last):
            ...
        localentropy.errors.ConvergenceError: training of the CNN did not converge at epoch=3 (residual nan)
    """
    if not bool(torch.isfinite(loss).all()):
        raise ConvergenceError(f"training of the {what}", {"epoch": epoch}, float("nan"))


class Resumed:
    """The state of a training, restored from a checkpoint and saved to it where there is one.

    Attributes:
        first: the epoch to go on from; 0 where nothing was restored.

    Args:
        checkpoint: the side file, or None.
        state: tensors that are saved. Restoring overwrites tensors, generators and optimizer in place.
        generators: random streams.
        optimizer: an optimizer of torch.

    Raises:
        DomainError: `checkpoint` is neither a `Checkpoint` nor None.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> import torch
        >>> from localentropy.networks.checkpoint import Checkpoint
        >>> from localentropy.networks.training import Resumed
        >>> with TemporaryDirectory() as folder:
        ...     checkpoint = Checkpoint(Path(folder, "run"), key="my run", report=lambda line: None)
        ...     Resumed(checkpoint, {"weights": torch.ones(3)}).save_finished(10)
        ...     print(Resumed(checkpoint, {"weights": torch.zeros(3)}).first)
        10
    """

    def __init__(
        self,
        checkpoint: Checkpoint | None,
        state: Mapping[str, Tensor],
        generators: Sequence[np.random.Generator] = (),
        optimizer: torch.optim.Optimizer | None = None,
    ) -> None:
        if not isinstance(checkpoint, Checkpoint | None):
            raise DomainError(f"checkpoint = {type(checkpoint).__name__} object: allowed are a Checkpoint and None")
        self._checkpoint, self._state, self._generators, self._optimizer = checkpoint, state, generators, optimizer
        saved = None if checkpoint is None else checkpoint.load(next(iter(state.values())).device)
        self.first = 0 if saved is None else saved["epoch"]
        if saved is None:
            return
        for name, tensor in state.items():
            tensor.copy_(saved[name])
        for generator, stream in zip(generators, json.loads(saved["generators"]), strict=True):
            generator.bit_generator.state = stream
        if optimizer is not None:
            optimizer.load_state_dict(saved["optimizer"])

    def save_if_due(self, epoch: int) -> None:
        """Save the state before this epoch, if the last save was long ago."""
        if self._checkpoint is not None and self._checkpoint.due():
            self._save(self._checkpoint, epoch)

    def save_finished(self, epochs: int) -> None:
        """Save the state after all epochs, unless it was restored."""
        if self._checkpoint is not None and self.first < epochs:
            self._save(self._checkpoint, epochs)

    def _save(self, checkpoint: Checkpoint, epoch: int) -> None:
        # As text: the states of random streams have integers that no tensor can hold.
        streams = json.dumps([generator.bit_generator.state for generator in self._generators])
        optimizer = {} if self._optimizer is None else self._optimizer.state_dict()
        checkpoint.save({"epoch": epoch, "generators": streams, "optimizer": optimizer, **self._state})
