"""Every test computes on one thread, as the shipped scales do: on tiny tensors a second one costs time.

None is timed.
"""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import settings

from localentropy import environment

# The tests, and the programs that they start, do not see what the user has set for other programs.
environment.adopt()

# Before any test module imports numpy or PyTorch. Snakemake sets it for its jobs anew, from their `threads`.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The first example of a property may have to compile a kernel, and machines may be busy.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Also where the variable says otherwise, or an earlier test has changed it. PyTorch is not imported for it."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
