"""`clean --unused`: delete the results that no shipped configuration wants."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from localentropy.pipeline.artifacts import delete
from localentropy.pipeline.computations import RESULTS
from localentropy.pipeline.config import SCALES, Configuration, resolve
from localentropy.pipeline.jobs import every_job, notebook_names, notebook_page

LOGS = Path("logs")


def delete_unused(also: Iterable[Configuration] = ()) -> tuple[int, int]:
    """Delete results and logs of parameters or code that are not those of a shipped scale.

    Args:
        also: further configurations whose results are kept.

    Returns:
        How many files were deleted, and their bytes.

    Raises:
        MachineError: one cannot be deleted.
    """
    kept = {notebook_page(name).stem for name in notebook_names()}
    for configuration in (*map(resolve, SCALES), *also):
        kept.update(job.address for job, _ in every_job(configuration))
    number = size = 0
    for file in _files():
        # The name of a result, of the folder of its parts, or of a temporary file begins with its address.
        if kept.isdisjoint(part.lstrip(".").partition(".")[0] for part in file.parts):
            number, size = number + 1, size + file.lstat().st_size
            delete(file)
    for top in (RESULTS, LOGS):
        for folder, _, _ in os.walk(top, topdown=False):
            with suppress(OSError):  # it is not empty
                Path(folder).rmdir()
    return number, size


def _files() -> Iterator[Path]:
    for top in (RESULTS, LOGS):
        for folder, _, names in os.walk(top):
            # The logs of reports, pictures and the site lie in folders of their own, or in `logs` itself.
            if top == RESULTS or len(Path(folder).parts) > 2:
                yield from (Path(folder, name) for name in names)
