"""The checkout that a command works on must be the one whose code runs."""

from __future__ import annotations

import os
from pathlib import Path

from localentropy.errors import LocalEntropyError
from localentropy.pipeline.config import ROOT


def require_root(anywhere: bool = False) -> None:
    """Check that the working directory is the root of the checkout whose code runs.

    Args:
        anywhere: folders that are no checkouts are allowed too: the command writes nothing and reads only what it is
            told to, or the folder was named.

    Raises:
        LocalEntropyError: it is another checkout, or no root of one; or the code that runs lies in no checkout, or in
            one whose path Python cannot take.
    """
    if not (ROOT / "config").is_dir():
        raise LocalEntropyError(
            f"no {ROOT / 'config'}: the commands work in a checkout of the repository after `make setup`; "
            "an installed library alone has none"
        )
    if os.pathsep in str(ROOT):
        raise LocalEntropyError(f"{ROOT}: a folder whose name has a {os.pathsep} cannot be on Python's path; rename it")
    here = Path.cwd()
    if here == ROOT:
        return
    if (here / "src/localentropy").is_dir():
        raise LocalEntropyError(
            f"{here}: Python runs the code of another checkout, {ROOT}; `make setup` gives this one its own Python"
        )
    if not anywhere:
        raise LocalEntropyError(f"{here}: not the root of the checkout; change to {ROOT}")
