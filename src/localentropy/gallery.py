"""`gallery`: the committed pictures, copied from current figures of the default scale."""

from __future__ import annotations

import shutil
from pathlib import Path

from localentropy import pipeline
from localentropy.config import resolve
from localentropy.errors import ArtifactError

GALLERY = Path("figures/gallery")


def collect() -> list[Path]:
    """Copy PNG and CSV of every figure of the default scale to `figures/gallery/<paper>/`.

    Returns:
        The files written.

    Raises:
        ArtifactError: a figure is missing, or was made from other parameters (an override), code or inputs; then
            nothing is copied.
    """
    configuration = resolve("default")
    copies = []
    for job in pipeline.all_jobs(configuration):
        file = pipeline.files_of(job)[0]
        difference = "missing" if not file.exists() else pipeline.problem(job)
        if difference:
            raise ArtifactError(f"{file}: {difference}; run `make all` before `make gallery`, without overrides")
        if isinstance(job, pipeline.FigureJob):
            folder = GALLERY / job.stem.parent.name
            copies += [(job.stem.with_suffix(s), folder / f"{job.stem.name}{s}") for s in (".png", ".csv")]
    for source, target in copies:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return [target for _, target in copies]
