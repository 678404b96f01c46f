"""Every test computes on one thread, as the shipped scales do: on tiny tensors a second one costs time.

None is timed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from localentropy import environment

# The tests, and the programs that they start, do not see what the user has set for other programs.
environment.adopt()

# Before any test module imports numpy or PyTorch. Snakemake sets it for its jobs anew, from their `threads`.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The first example of a property may have to compile a kernel, and machines may be busy. All runs try the same values.
settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")


LONG = ("pipeline", "site", "robustness", "claims", "explore")
"""Folders with the longest files, because their tests start programs, or are many."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first, so that at the end no worker is left alone with one.

    pytest-xdist would begin with the files of most tests (`--no-loadscope-reorder` in the Makefile). But a file of the
    pipeline has few tests of many seconds, and one of the arguments thousands of milliseconds.
    """

    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        return LONG.index(folder) if folder in LONG else len(LONG)

    items.sort(key=place)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Also where the variable says otherwise, or an earlier test has changed it. PyTorch is not imported for it."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
