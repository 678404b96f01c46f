"""A training that is interrupted."""

from __future__ import annotations

from pathlib import Path

from localentropy.networks.checkpoint import Checkpoint, State


class Interrupted(Exception):
    pass


class StopsAt(Checkpoint):
    """Saves before every epoch; the run is interrupted after the save before a given one."""

    def __init__(self, path: Path, key: str, epoch: int) -> None:
        super().__init__(path, key, seconds=0)
        self.epoch = epoch

    def save(self, state: State) -> None:
        super().save(state)
        if state["epoch"] == self.epoch:
            raise Interrupted
