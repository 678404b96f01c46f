"""Matplotlib's own defaults, in place of the user's files and settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl


@contextmanager
def defaults() -> Iterator[None]:
    """A block in which every parameter of matplotlib's style has its default. After it, the user's values are back."""
    with mpl.rc_context():
        mpl.rcdefaults()
        yield
