"""`gallery` and `golden`: the committed copies of figures and scorecard at default scale and at smoke scale."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from localentropy.config import resolve
from localentropy.errors import ArtifactError
from localentropy.jobs import Job, output_jobs, table_jobs
from localentropy.outputs import FigureJob, OutputJob

GALLERY = Path("figures/gallery")
GOLDEN = Path("tests/golden")
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
    copies = []
    for output in _current_outputs("default"):
        if isinstance(output, FigureJob):
            folder, suffixes = GALLERY / output.stem.parent.name, (".png", ".csv")
        else:
            folder, suffixes = GALLERY, (".md", ".csv")
            _state_counts(output.stem.with_suffix(".md"))
        copies += [(output.stem.with_suffix(s), folder / f"{output.stem.name}{s}") for s in suffixes]
    return _copied(copies)


def collect_golden() -> list[Path]:
    """Copy the CSV of every figure of the smoke scale, and the scorecard's verdicts, to `tests/golden/`.

    Returns:
        The files written.

    Raises:
        ArtifactError: as `collect`.
    """
    import pandas as pd

    copies, cards = [], []
    for output in _current_outputs("smoke"):
        source = output.stem.with_suffix(".csv")
        if isinstance(output, FigureJob):
            copies.append((source, GOLDEN / source.parent.name / source.name))
        else:
            cards.append(source)
    written = _copied(copies)
    for card in cards:
        verdicts = GOLDEN / "verdicts.csv"
        pd.read_csv(card)[["id", "verdict"]].to_csv(verdicts, index=False)
        written.append(verdicts)
    return written


def _current_outputs(scale: str) -> list[OutputJob]:
    """Figures and scorecard of a scale, all there and current."""
    configuration = resolve(scale)
    outputs = list(output_jobs(configuration))
    jobs: list[Job] = [*table_jobs(configuration), *outputs]
    for job in jobs:
        file = job.files()[0]
        difference = "missing" if not file.exists() else job.problem()
        if difference:
            wanted = f"`make all scorecard SCALE={scale}` first, without overrides"
            raise ArtifactError(f"{file}: {difference}; run {wanted}")
    return outputs


def _copied(copies: list[tuple[Path, Path]]) -> list[Path]:
    for source, target in copies:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return [target for _, target in copies]


def _state_counts(scorecard: Path) -> None:
    """Put the scorecard's line of counts between the README's marks."""
    counts = scorecard.read_text(encoding="utf-8").splitlines()[2]
    readme = README.read_text(encoding="utf-8")
    README.write_text(COUNTS.sub(rf"\g<1>{counts}\g<2>", readme), encoding="utf-8")
