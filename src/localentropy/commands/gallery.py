"""`gallery` and `golden`: the committed copies of figures and scorecards at default scale and at smoke scale."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from localentropy.errors import ArtifactError
from localentropy.pipeline.artifacts import copy_record, publish, read_output
from localentropy.pipeline.config import MAIN_PAPER, find_target, resolve
from localentropy.pipeline.jobs import output_jobs
from localentropy.pipeline.outputs import GALLERY, FigureJob, OutputJob
from localentropy.pipeline.scorecard import ScorecardJob, SummaryJob

GOLDEN = Path("tests/golden")
README = Path("README.md")


def collect(targets: Collection[str] = ()) -> list[Path]:
    """Copy PNG, PDF, CSV and look of every figure of the default scale, and the scorecards, to `figures/gallery/`.

    Each has its record beside it, without the machine and time of the run.

    The captions, settings and counts in `docs/<paper>/gallery.md` are brought up to date. After a scorecard, so is the
    page over all scorecards of the gallery, and its counts in the README.

    Args:
        targets: figures and `<paper>_scorecard`; all if none is given.

    Returns:
        The files written.

    Raises:
        ConfigError: there is no such figure.
        ArtifactError: a file is missing, or was made from other parameters, code or inputs, or a page has
            no place for a caption; then nothing is copied.
    """
    copies: list[tuple[Path, Path]] = []
    records: list[tuple[OutputJob, Path, list[str]]] = []
    cards: dict[str, Path] = {}
    pages: dict[Path, str] = {}
    for output in _current_outputs("default", targets):
        paper, name = output.published.parent.name, output.published.name
        if isinstance(output, FigureJob):
            suffixes, mark = [*output.SUFFIXES], name
            text = _captioned(read_output(output.stem)[1])
        else:
            suffixes, mark = [".csv", ".md"], "scorecard"
            text = _counts(output.stem.with_suffix(".md").read_text(encoding="utf-8"))
            cards[paper] = output.stem.with_suffix(".csv")
        put(pages, Path("docs", paper, "gallery.md"), mark, text)
        copies += [(output.stem.with_suffix(s), GALLERY / paper / f"{name}{s}") for s in suffixes]
        records.append((output, GALLERY / paper / name, suffixes))
    if cards:
        whole = _over_all(cards)
        put(pages, README, "scorecard", _counts(whole))
        pages[GALLERY / "scorecard.md"] = whole
    written = _copied(copies)
    for output, copy, suffixes in records:
        copy_record(output.stem, copy, suffixes, output.command)
        written.append(copy.with_suffix(".json"))
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    return [*written, *(page for page in pages if page.is_relative_to(GALLERY))]


def _over_all(cards: Mapping[str, Path]) -> str:
    """The page over the gallery's scorecards, of which some are renewed: paper → CSV. The main paper comes first."""
    import pandas as pd

    from localentropy.claims.rendering import summary_markdown

    shown = {**{file.parent.name: file for file in GALLERY.glob("*/scorecard.csv")}, **cards}
    papers = sorted(shown, key=lambda paper: (paper != MAIN_PAPER, paper))
    found = {paper: pd.read_csv(shown[paper], keep_default_na=False) for paper in papers}
    return summary_markdown(found, "default")


def _captioned(record: Mapping[str, Any]) -> str:
    """The caption of a figure, and its settings as a table of Markdown."""
    rows = [f"| {_plain(name)} | {_plain(value)} |" for name, value in record["settings"].items()]
    table = ["", "| setting | value |", "|---|---|", *rows] if rows else []
    return "\n".join(["", "", _plain(record["caption"]), *table, "", ""])


def _plain(text: str) -> str:
    """Text without the marks of Markdown."""
    return re.sub(r"([\\*`|<~])", r"\\\1", text)


def _counts(page: str) -> str:
    """The line of a scorecard's page that counts the verdicts."""
    return page.splitlines()[2]


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
        paper, source = output.published.parent.name, output.stem.with_suffix(".csv")
        if isinstance(output, FigureJob):
            copies.append((source, GOLDEN / paper / f"{output.published.name}.csv"))
        elif isinstance(output, ScorecardJob):
            cards.append((source, GOLDEN / paper / "verdicts.csv"))
    written = _copied(copies)
    for card, verdicts in cards:
        pd.read_csv(card)[["id", "verdict"]].drop_duplicates().to_csv(verdicts, index=False)
        written.append(verdicts)
    return written


def _current_outputs(scale: str, targets: Collection[str] = ()) -> list[OutputJob]:
    """Figures and papers' scorecards of a scale, or those named, all there and current."""
    configuration = resolve(scale)
    outputs = {output.target: output for output in output_jobs(configuration) if not isinstance(output, SummaryJob)}
    targets = [find_target(target, outputs, "figure or scorecard") for target in targets]
    chosen = [output for target, output in outputs.items() if not targets or target in targets]
    for output in chosen:
        output.require_whole(" ".join(targets) or "all scorecard", ", without overrides")
    return chosen


def _copied(copies: list[tuple[Path, Path]]) -> list[Path]:
    for source, target in copies:
        publish(source, target)
    return [target for _, target in copies]


def put(pages: dict[Path, str], page: Path, mark: str, text: str) -> None:
    """Put another text between `<!-- mark -->` and `<!-- /mark -->` of a page; `pages` keeps what is not yet written.

    Raises:
        ArtifactError: there is no such page, or it has no such marks.
    """
    opening, closing = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    if not page.exists():
        raise ArtifactError(f"{page}: no such page; it needs the marks {opening} … {closing}")
    before, found, after = (pages.get(page) or page.read_text(encoding="utf-8")).partition(opening)
    _, ended, rest = after.partition(closing)
    if not (found and ended):
        raise ArtifactError(f"{page}: no marks {opening} … {closing}; put them where the text belongs")
    pages[page] = f"{before}{opening}{text}{closing}{rest}"
