"""`gallery` and `golden`: the committed copies of figures and scorecards at default scale and at smoke scale."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from localentropy.errors import ArtifactError
from localentropy.pipeline.artifacts import read_output
from localentropy.pipeline.config import require_known, resolve
from localentropy.pipeline.jobs import Job, output_jobs, table_jobs
from localentropy.pipeline.outputs import FIGURES, FigureJob, OutputJob
from localentropy.pipeline.scorecard import ScorecardJob, SummaryJob

GALLERY = Path("figures/gallery")
GOLDEN = Path("tests/golden")
README = Path("README.md")


def collect(targets: Collection[str] = ()) -> list[Path]:
    """Copy PNG and CSV of every figure of the default scale, and the scorecards, to `figures/gallery/`.

    The captions and counts in `docs/<paper>/gallery.md` and the counts in the README are brought up to date.

    Args:
        targets: figures, `<paper>_scorecard`, and `scorecard`, the page over them; all if none is given.

    Returns:
        The files written.

    Raises:
        ConfigError: there is no such figure.
        ArtifactError: a file is missing, or was made from other parameters (an override), code or inputs, or a page has
            no place for a caption; then nothing is copied.
    """
    outputs, copies = _current_outputs("default", targets), []
    pages: dict[Path, str] = {}
    for output in outputs:
        folder = GALLERY / output.stem.relative_to(FIGURES / output.folder).parent
        page = Path("docs", output.stem.parent.name, "gallery.md")
        if isinstance(output, FigureJob):
            suffixes, mark, text = [".png", ".csv"], output.stem.name, read_output(output.stem)[1]["caption"]
        else:
            suffixes = [suffix for suffix in output.SUFFIXES if suffix != ".html"]
            mark, text = "scorecard", output.stem.with_suffix(".md").read_text(encoding="utf-8").splitlines()[2]
            page = README if isinstance(output, SummaryJob) else page
        pages[page] = _put(page, pages.get(page) or page.read_text(encoding="utf-8"), mark, text)
        copies += [(output.stem.with_suffix(s), folder / f"{output.stem.name}{s}") for s in suffixes]
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    return _copied(copies)


def collect_golden() -> list[Path]:
    """Copy the CSV of every figure of the smoke scale, and the scorecards' verdicts, to `tests/golden/<paper>/`.

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
        elif isinstance(output, ScorecardJob):
            cards.append(source)
    written = _copied(copies)
    for card in cards:
        verdicts = GOLDEN / card.parent.name / "verdicts.csv"
        pd.read_csv(card)[["id", "verdict"]].to_csv(verdicts, index=False)
        written.append(verdicts)
    return written


def _current_outputs(scale: str, targets: Collection[str] = ()) -> list[OutputJob]:
    """Figures and scorecards of a scale, or those named, all there and current."""
    configuration = resolve(scale)
    outputs = {output.target: output for output in output_jobs(configuration)}
    for target in targets:
        require_known(target, outputs, "figure")
    chosen = [output for target, output in outputs.items() if not targets or target in targets]
    tables = {name for output in chosen for name in output.tables}
    jobs: list[Job] = [*(job for job in table_jobs(configuration) if job.name in tables), *chosen]
    for job in jobs:
        file = job.files()[0]
        difference = "missing" if not file.exists() else job.problem()
        if difference:
            wanted = f"`make {' '.join(targets) or 'all scorecard'} SCALE={scale}` first, without overrides"
            raise ArtifactError(f"{file}: {difference}; run {wanted}")
    return chosen


def _copied(copies: list[tuple[Path, Path]]) -> list[Path]:
    for source, target in copies:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return [target for _, target in copies]


def _put(page: Path, content: str, mark: str, text: str) -> str:
    """The page's content with another text between `<!-- mark -->` and `<!-- /mark -->`.

    Raises:
        ArtifactError: the page has no such marks.
    """
    opening, closing = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, found, after = content.partition(opening)
    _, ended, rest = after.partition(closing)
    if not (found and ended):
        raise ArtifactError(f"{page}: no marks {opening} … {closing}; put them where the text belongs")
    return f"{before}{opening}{text}{closing}{rest}"
