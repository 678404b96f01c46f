"""`gallery`: the committed pictures and scorecard, copied from current files of the default scale."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from localentropy.config import resolve
from localentropy.errors import ArtifactError
from localentropy.jobs import Job, output_jobs, table_jobs
from localentropy.outputs import FigureJob

GALLERY = Path("figures/gallery")
README = Path("README.md")
COUNTS = re.compile(r"(<!-- scorecard -->).*?(<!-- /scorecard -->)", re.DOTALL)


def collect() -> list[Path]:
    """Copy PNG and CSV of every figure of the default scale, and the scorecard, to `figures/gallery/`.

    The counts of verdicts in the README are brought up to date too.

    Returns:
        The files written.

    Raises:
        ArtifactError: a file is missing, or was made from other parameters (an override), code or inputs; then
            nothing is copied.
    """
    configuration = resolve("default")
    outputs = list(output_jobs(configuration))
    jobs: list[Job] = [*table_jobs(configuration), *outputs]
    for job in jobs:
        file = job.files()[0]
        difference = "missing" if not file.exists() else job.problem()
        if difference:
            raise ArtifactError(f"{file}: {difference}; run `make all` before `make gallery`, without overrides")
    copies = []
    for output in outputs:
        if isinstance(output, FigureJob):
            folder, suffixes = GALLERY / output.stem.parent.name, (".png", ".csv")
        else:
            folder, suffixes = GALLERY, (".md", ".csv")
            _state_counts(output.stem.with_suffix(".md"))
        copies += [(output.stem.with_suffix(s), folder / f"{output.stem.name}{s}") for s in suffixes]
    for source, target in copies:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return [target for _, target in copies]


def _state_counts(scorecard: Path) -> None:
    """Put the scorecard's line of counts between the README's marks."""
    counts = scorecard.read_text(encoding="utf-8").splitlines()[2]
    readme = README.read_text(encoding="utf-8")
    README.write_text(COUNTS.sub(rf"\g<1>{counts}\g<2>", readme), encoding="utf-8")
