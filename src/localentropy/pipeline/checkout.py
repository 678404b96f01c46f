"""The checkout that a command works on must be the one whose code runs."""

from __future__ import annotations

from pathlib import Path

from localentropy.errors import LocalEntropyError
from localentropy.pipeline.config import ROOT


def require_root() -> None:
    """Check that the working directory is the root of the checkout whose code runs.

    Raises:
        LocalEntropyError: it is another checkout, or no root of one; or the code that runs lies in no checkout.
    """
    here = Path.cwd()
    if here == ROOT:
        return
    if not (ROOT / "config").is_dir():
        raise LocalEntropyError(
            f"{ROOT}: the code that runs lies in no checkout; the commands need a clone and its `make setup`"
        )
    if (here / "src/localentropy").is_dir():
        raise LocalEntropyError(
            f"{here}: Python runs the code of another checkout, {ROOT}; `make setup` gives this one its own Python"
        )
    raise LocalEntropyError(f"{here}: not the root of the checkout; change to {ROOT}")
