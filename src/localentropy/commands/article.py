"""`article`: the replication report, one document of all sources as HTML and as PDF.

Every number in it is taken from a table, a record or the configuration. The sentences between them are here.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from localentropy import __version__
from localentropy.claims import rendering
from localentropy.claims.claim import Kind
from localentropy.claims.conditions import FARTHEST, Verdict
from localentropy.closure import DIGITS
from localentropy.commands import times
from localentropy.commands.behind import claims_of, figures_of, theory_of
from localentropy.commands.document import Block, Heading, Paragraph, PictureBlock, TableBlock, to_html, to_pdf
from localentropy.commands.protocol import protocol
from localentropy.data.registry import DATA_DIR, read_registry
from localentropy.figures.drawing import enumerated
from localentropy.pipeline import artifacts, provenance
from localentropy.pipeline.config import ROOT, Configuration, find_papers, load_program, resolve, split_target
from localentropy.pipeline.jobs import with_sources
from localentropy.pipeline.outputs import GALLERY, FigureJob
from localentropy.pipeline.scorecard import ScorecardJob, tested_papers

if TYPE_CHECKING:
    import pandas as pd

NAME = "article"
"""The files are called so, and the target of Snakemake."""
AGAINST = (Verdict.NOT_REPRODUCED, Verdict.OFF)
"""Verdicts that contradict a source, in its sentence or in its printed number."""

METHOD = {
    "What is replicated": """\
A source is a paper, a talk, or both. Its figures are computed by the code of this repository, from the text of the
source, from real images, and where the text refers to them from other works (Geiger et al., 2020, for figure 6). Not
all parameters of the figures are known to us. So a figure is not laid over the printed one. Instead, what the text says
was written down as sentences, in our own words and with the place in the text. Each sentence is tested on tables of
numbers. Most of them are also drawn in figures.""",
    "Verdicts": f"""\
A test is a list of conditions. A condition is a number with its standard error, if it has one, and what is asked of the
number. The test of a sentence asks for what the text says and for nothing stricter. {rendering.verdicts_html()} The
rule of a test is to be written before its number is seen. Rules that were chosen or changed after their number was seen
are named in the docstrings of the claims. Some of them open or pass a test that failed before, such as S09b, S13, S23
and S28.""",
    "Protocol": """\
Each experiment has a section of the configuration. There a value is marked (T) if our copy of the text states it, and
(C) if it is chosen here. Our copies of the papers lack most numbers that stand in formulas. So a value (C) may be
printed in the paper, and may differ from it. Sizes are chosen for three scales. The scale <i>paper</i> has the sizes of
the text where it states them. The tables <i>Deviations of protocol</i> list every marked value, and every size that is
not that of the scale <i>paper</i>. All values can be changed on the command line.""",
    "Limits": """\
A verdict holds for the sizes and for the values (C) of this report. Where a sentence is about large sizes or about many
training runs, the sizes here may hide what it says. The settings of each figure name the samples behind its error
bars.""",
}
OURS = {Verdict.REPRODUCED: "holds", Verdict.NOT_REPRODUCED: "fails"}
"""Verdicts on checks of our own that have another word."""
SIGNS = {
    "SE": "standard error",
    "> 2, open above −2": "above 2 it holds, between −2 and 2 it is open, below it fails",
    "95 % inside ±0.01": "it holds if the whole interval of 95 % is inside, and is open if only a part is, even where "
    "the number itself meets the limit",
    "normal score": "a difference over its standard error, turned into the normal number of the same probability, "
    "because few samples say less",
}
"""Words of the tables of verdicts, and what they mean."""
REPEAT = """\
The code needs Linux, Python 3.11 to 3.13, and a clone of the repository. <i>make figure3</i> makes a figure, <i>make
all scorecard</i> everything, and <i>make article</i> this report. {measured}{committed} The code has the {licence}
licence. The images have their own: {images} (data/README.md)."""
COMMITTED = """\
 These took {times}. To compute them, too, add SET='data.committed=false data.source=download'."""
INDEPENDENT = """\
These sentences or checks of our own fail, or a number that is printed beside a sentence differs from ours. For each we
give the conditions that do not hold, and what speaks for the verdict without being part of the same computation."""

EARLIER = """\
 A figure or scorecard that was committed before a value changed is still of the earlier value. Its own settings, below
it, say what it was made with."""


@dataclass(frozen=True)
class Exhibit:
    """A figure as it was drawn.

    Attributes:
        target: its name.
        picture: the PNG. The CSV of its numbers lies beside it.
        record: its caption, its settings and how it was made; that of a committed copy lacks the machine and the times.
    """

    target: str
    picture: Path
    record: Mapping[str, Any]


def write(folder: Path, configuration: Configuration | None) -> list[Path]:
    """Write the report.

    Args:
        folder: where to.
        configuration: of the run whose figures and scorecards it shows; None takes the committed ones of the gallery.

    Returns:
        The page and the PDF.

    Raises:
        ArtifactError: a figure or scorecard was not made, or cannot be written.
    """
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    subject = citation["title"].partition(": ")[2]
    title = f"Replication report: {subject[0].lower()}{subject[1:]}"
    blocks = list(_blocks(configuration, citation))
    authors = ", ".join(map(_name, citation["authors"]))
    date = datetime.fromisoformat(provenance.git_date() or str(citation["date-released"])).replace(tzinfo=UTC)
    contents = {".html": to_html(title, blocks), ".pdf": to_pdf(title, authors, date, blocks)}
    files = []
    for suffix, content in contents.items():
        with artifacts.atomic(folder / f"{NAME}{suffix}") as temporary:
            temporary.write_bytes(content)
        files.append(folder / f"{NAME}{suffix}")
    return files


def _blocks(run: Configuration | None, citation: Mapping[str, Any]) -> Iterator[Block]:
    configuration = run or resolve("default")
    exhibits = list(_exhibits(run, configuration))
    cards = dict(_cards(run))
    committed = times.of_committed(configuration)
    yield from _front(run, configuration, exhibits, cards, citation, committed)
    yield from _summary(cards, citation)
    yield Heading("Method", 1, "method")
    for name, text in (METHOD | {"How to repeat it": _repeat(citation, committed)}).items():
        yield Heading(name, 2, f"method-{name.split()[0].lower()}")
        yield Paragraph(text)
    yield Heading("Signs and short names", 2, "signs")
    yield TableBlock(["sign, word", "what it means"], [[*map(escape, row)] for row in _signs()], [1.5, 4])
    yield Heading("Programs", 2, "programs")
    yield Paragraph("Experiments are sections of the configuration. Each is computed by one of these programs.")
    yield TableBlock(["program", "what it computes"], list(_programs(configuration)), [1.5, 4])
    for paper in find_papers():
        yield from _source(
            paper, run, configuration, [one for one in exhibits if split_target(one.target)[0] == paper], cards
        )
    yield from _provenance(run, configuration, exhibits, committed)
    yield Heading("References", 1, "references")
    yield TableBlock(["source", "reference"], list(_references(citation)), [1, 6])


def _exhibits(run: Configuration | None, configuration: Configuration) -> Iterator[Exhibit]:
    """The figures of a run, or those of the gallery."""
    for target in configuration.figures:
        stem = GALLERY / FigureJob.place(target)
        if run:
            job = FigureJob.from_configuration(run, target)
            job.require_whole()
            stem = job.stem
        yield Exhibit(target, stem.with_suffix(".png"), artifacts.read_output(stem)[1])


def _cards(run: Configuration | None) -> Iterator[tuple[str, pd.DataFrame]]:
    """The papers that have claims, and their scorecards."""
    for paper in tested_papers(run or resolve()):
        file = GALLERY / paper / "scorecard.csv"
        if run:
            job = ScorecardJob.from_configuration(run, paper)
            job.require_whole()
            file = job.stem.with_suffix(".csv")
        yield paper, rendering.read_table(file)


def _front(
    run: Configuration | None,
    configuration: Configuration,
    exhibits: list[Exhibit],
    cards: Mapping[str, pd.DataFrame],
    citation: Mapping[str, Any],
    committed: Mapping[str, str],
) -> Iterator[Block]:
    """Authors, abstract, and of what this is the report."""
    import pandas as pd

    of = f"the run <i>{escape(run.folder)}</i>" if run else "the figures and scorecards that come with the code"
    kinds = [reference["type"] for reference in sources(citation)]
    number = f"{kinds.count('article')} papers and {kinds.count('slides')} talks"
    day = provenance.git_date()
    yield Paragraph(
        f"<b>{escape(', '.join(map(_name, citation['authors'])))}.</b> localentropy {__version__}, code of "
        f"{provenance.git_describe() or 'an unknown commit'}{f' ({day})' * bool(day)}, licence {citation['license']}."
    )
    taken = _taken(configuration, exhibits, committed)
    computed = f"Of these {taken} use tables that come with the code; all others" if taken else "All"
    counts = f" {escape(rendering.counts(pd.concat(cards.values())))}." if cards else ""
    yield Paragraph(
        f"<b>Abstract.</b> {len(exhibits)} figures of {number} on learning in neural networks are made by one command "
        f"each. {computed} are computed from nothing. What the texts say is tested on tables of numbers, condition by "
        f"condition.{counts} For each source this report has what was replicated and how, each choice that the text "
        "left open, all figures, every verdict with its conditions, and what contradicts the source."
    )
    yield Paragraph(f"<b>Scope.</b> This is the report of {of}, at the scale <i>{configuration.scale}</i>.")
    if run and run.changes:
        changed = "; ".join(f"{key} = {value}" for key, value in run.changes.items())
        yield Paragraph(f"<b>Values of this run that are not the shipped ones.</b> {escape(changed)}.")


def _taken(configuration: Configuration, exhibits: list[Exhibit], committed: Mapping[str, str]) -> str:
    """The figures that are drawn from tables that come with the code, with links."""
    needed = {
        one.target: with_sources(configuration, configuration.figures[one.target].experiments) for one in exhibits
    }
    return enumerated([f'<a href="#{target}">{target}</a>' for target in needed if {*committed} & {*needed[target]}])


def _repeat(citation: Mapping[str, Any], committed: Mapping[str, str]) -> str:
    """How everything is made again, what it takes, and the licences."""
    took = enumerated([f"{cpu} of CPU ({name})" for name, cpu in committed.items()])
    licences = {raw.dataset: raw.licence for raw in read_registry(DATA_DIR / "datasets.csv")}
    return REPEAT.format(
        measured=re.sub("`(.*?)`", r"<i>\1</i>", times.measured()),
        committed=COMMITTED.format(times=took) * bool(took),
        licence=citation["license"],
        images="; ".join(f"<i>{dataset}</i> {escape(licence)}" for dataset, licence in licences.items()),
    )


def _signs() -> Iterator[list[str]]:
    """Signs and short names of the tables and figures, and what they mean."""
    for verdict, meaning in rendering.meanings().items():
        ours = f"; of our own checks: {OURS[verdict]}" if verdict in OURS else ""
        most = f", which is {100 * FARTHEST:.0f} % at most; a number that is further off is not reproduced"
        yield [rendering.SYMBOLS[verdict], f"{meaning}{ours}{most * (verdict is Verdict.OFF)}"]
    for column in ("condition", "ours", "held"):
        yield [rendering.SHOWN[column], rendering.LEGEND[column]]
    yield from map(list, SIGNS.items())
    _, _, names = (ROOT / "docs/solvers/README.md").read_text(encoding="utf-8").partition("## Short names\n")
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", names.partition("\n## ")[0], re.MULTILINE)
    yield from map(list, rows[1:])  # without the headings


def _summary(cards: Mapping[str, pd.DataFrame], citation: Mapping[str, Any]) -> Iterator[Block]:
    """The counts, and the list of what is contradicted."""
    import pandas as pd

    yield Heading("Summary", 1, "summary")
    if not cards:
        return
    yield Paragraph(f"{escape(rendering.counts(pd.concat(cards.values())))}.")
    rows = [[f'<a href="#{paper}">{paper}</a>', *map(str, rendering.summed(card))] for paper, card in cards.items()]
    yield TableBlock(rendering.SUMMARY, rows, [max(8, *map(len, name.split())) for name in rendering.SUMMARY])
    papers = {_key(one) for one in sources(citation) if one["type"] == "article"}
    for talk in sources(citation):
        if talk["type"] == "slides" and _key(talk) in papers:
            yield Paragraph(
                f"The sentences of the talk <i>{escape(talk['title'])}</i> are counted with those of its paper, "
                f"<i>{_key(talk)}</i>."
            )
    found = [row for card in cards.values() for row in _claims(card) if Verdict(row["verdict"]) in AGAINST]
    yield Paragraph(
        "These sentences are contradicted, or a number that is printed beside them. Checks of our own that fail follow."
    )
    found.sort(key=lambda row: row["kind"] == Kind.OURS)
    rows = [
        [f'<a href="#against-{row["id"]}">{row["id"]}</a>', *map(escape, (row["kind"], row["claim"], _verdict(row)))]
        for row in found
    ]
    yield TableBlock(["id", "from", "claim", "verdict"], rows, [1, 1, 8, 3])


def _source(
    paper: str, run: Configuration | None, at: Configuration, exhibits: list[Exhibit], cards: Mapping[str, pd.DataFrame]
) -> Iterator[Block]:
    """The sections of one source."""
    yield Heading(f"Source {paper}", 1, paper)
    yield Heading("What was replicated, and how", 2, f"{paper}-what")
    yield Paragraph(f"The formulas are derived in docs/{paper}/theory.md, whose sections the last column names.")
    rows, judged = [], {key for card in cards.values() for key in card["id"]}
    for one in exhibits:
        figure = at.figures[one.target]
        programs = dict.fromkeys(at.experiments[name].program for name in figure.experiments)
        places: dict[str, list[str]] = {}
        for of, title, _ in theory_of(one.target, at):
            places.setdefault(of, []).append(title.partition(".")[0])
        link = f'<a href="#{one.target}">{split_target(one.target)[1]}</a>'
        words = (
            figure.shows,
            ", ".join(programs),
            ", ".join(key for key in claims_of(one.target, at) if key in judged),
        )
        theory = "; ".join(f"{of} {', '.join(numbers)}" for of, numbers in places.items())
        rows.append([link, *map(escape, (*words, theory))])
    if undrawn := [key for key, one in at.claims.items() if one.paper == paper and not figures_of(one, at)]:
        tables = (name for key in undrawn for name in at.claims[key].arguments.values())
        programs = dict.fromkeys(at.experiments[name].program for name in tables)
        told = (", ".join(programs), ", ".join(key for key in undrawn if key in judged))
        rows.append(["no figure", "sentences that are tested on tables alone", *map(escape, told), ""])
    yield TableBlock(["figure", "shows", "programs", "claims", "theory"], rows, [1.9, 4, 3, 2.4, 2])
    yield Heading("Deviations of protocol", 2, f"{paper}-protocol")
    yield Paragraph(
        "A remark of the configuration stands in brackets. Values are those that this version of the code ships."
        + EARLIER * (not run)
    )
    head = ["experiment", "stated in the text (T)", "chosen here (C)", f"sizes at {at.scale} (at paper)"]
    yield TableBlock(head, [[*map(escape, row)] for row in protocol(paper, at.scale)], [2, 3, 4, 3])
    yield Heading("Figures", 2, f"{paper}-figures")
    for one in exhibits:
        told, record = one.record["caption"], one.record["settings"].items()
        settings = "; ".join(f"<i>{escape(name)}</i>: {escape(value.rstrip('.'))}" for name, value in record)
        caption = f"<b>{paper}.</b> {escape(told)} {settings}{'.' * bool(settings)}"
        yield PictureBlock(one.picture, caption, one.target, f"{paper}: {first_sentence(told)}")
    if (card := cards.get(paper)) is None:
        return
    yield Heading("Verdicts", 2, f"{paper}-verdicts")
    yield Paragraph(
        f"{escape(rendering.counts(card))}. A shaded row is a claim. Its conditions follow, the worst one first."
    )
    if waiting := [key for key, claim in at.claims.items() if claim.paper == paper and key not in judged]:
        yield Paragraph(f"These claims are newer than the scorecard, and are not judged in it: {', '.join(waiting)}.")
    yield _conditions(card, list(_claims(card)))
    against = [row for row in _claims(card) if Verdict(row["verdict"]) in AGAINST]
    others = {key: claim.evidence for key, claim in at.claims.items() if claim.paper == paper and claim.evidence}
    for key in [key for key in others if key in judged and key not in {row["id"] for row in against}]:
        yield Paragraph(f"<b>Beside the conditions of {key}.</b> {escape(str(others[key]))}")
    yield Heading("What is contradicted, and what of our own fails", 2, f"{paper}-contradicted")
    yield Paragraph(INDEPENDENT if against else "Nothing.")
    for row in against:
        yield Heading(f"{row['id']}, {_verdict(row)}", 3, f"against-{row['id']}")
        yield _conditions(card[card["judged"] != Verdict.REPRODUCED], [row])
        yield from _evidence(row["id"], at, cards)


def _claims(card: pd.DataFrame) -> Iterator[dict[str, str]]:
    """The first row of each claim, as text."""
    yield from rendering.cells(card).query("id != ''").to_dict("records")


def _verdict(row: Mapping[str, str]) -> str:
    """The verdict on a claim; checks of our own hold or fail."""
    verdict = Verdict(row["verdict"])
    words = OURS if row["kind"] == Kind.OURS else {}
    return rendering.off_by(row["off"]) if row["off"] else words.get(verdict, verdict)


def _conditions(card: pd.DataFrame, claims: list[dict[str, str]]) -> TableBlock:
    """Claims, below each its conditions and further numbers."""
    rows: list[list[str]] = []
    cells = rendering.cells(card).assign(of=card["id"]).to_dict("records")
    for claim in claims:
        printed = f" Printed: {escape(claim['printed'])}." if claim["printed"] else ""
        numbers = f" Numbers: {escape(claim['detail'])}." if claim["detail"] else ""
        symbol = rendering.SYMBOLS[Verdict(claim["verdict"])]
        said = f"{escape(claim['claim'])} <i>{escape(claim['source'])} ({claim['kind']}).</i>{printed}{numbers}"
        rows.append([f"<b>{symbol} {claim['id']}, {_verdict(claim)}.</b> {said}"])
        rows += [
            [escape(row[name]) for name in ("condition", "ours", "held")] for row in cells if row["of"] == claim["id"]
        ]
    return TableBlock(["condition", "ours", rendering.SHOWN["held"]], rows, [6, 2, 4])


def _evidence(key: str, at: Configuration, cards: Mapping[str, pd.DataFrame]) -> Iterator[Block]:
    """What else speaks for a verdict: the words of the claim's entry, and the conditions of claims that they name."""
    text = at.claims[key].evidence if key in at.claims else None
    yield Paragraph(f"<b>Independent evidence.</b> {escape(text or 'None is on record.')}")
    for named in re.findall(r"\(([A-Z]\d+[a-z]?)\)", text or ""):
        card = cards.get(at.claims[named].paper) if named in at.claims else None
        if card is not None and named in set(card["id"]):
            yield _conditions(card, [row for row in _claims(card) if row["id"] == named])


def _programs(configuration: Configuration) -> Iterator[list[str]]:
    """The programs and the first sentence of each."""
    used = {(name.partition("/")[0], one.program) for name, one in configuration.experiments.items()}
    found = {program: load_program(paper, program).__doc__ or "" for paper, program in sorted(used)}
    for program, text in sorted(found.items()):
        sentence = " ".join(text.partition("\n\n")[0].split())
        yield [program, escape(re.sub(rf" \((?:{'|'.join(find_papers())})\b[^()]*\)", "", sentence))]


def _provenance(
    run: Configuration | None, configuration: Configuration, exhibits: list[Exhibit], committed: Mapping[str, str]
) -> Iterator[Block]:
    """Files, code, machines."""
    yield Heading("Provenance", 1, "provenance")
    if not run:
        taken = _taken(configuration, exhibits, committed)
        yield Paragraph(
            "The committed figures have no record of the machine that made them. The command makes them again"
            + f", {taken} from tables that come with the code" * bool(taken)
            + ". If the SHA-256 is another one, compare the numbers: different processors round differently "
            "(<i>localentropy diff</i>). The packages are those of requirements.lock."
        )
    head = ["figure", "command", "SHA-256 of its numbers (CSV)", "of the picture", "code"]
    rows = []
    for one in exhibits:
        command = " ".join(one.record["circumstances"]["command"])
        hashes = (*(one.record["files"][suffix] for suffix in (".csv", ".png")), one.record["stamp"]["code"])
        rows.append([one.target, escape(command), *(text[:DIGITS] for text in hashes)])
    yield TableBlock(head, rows, [2, 4, 2, 2, 2])
    if run:
        records = [one.record for one in exhibits]
        machines = sorted({(one["circumstances"]["platform"], one["circumstances"]["processors"]) for one in records})
        packages = sorted({f"{name} {version}" for one in records for name, version in one["versions"].items()})
        told = "; ".join(f"{system}, {cores} cores" for system, cores in machines)
        yield Paragraph(f"Drawn on: {escape(told)}. Packages: {', '.join(packages)}.")
    yield Paragraph(
        "A table of numbers is named by a hash of its parameters, its code and what it reads. So the same name on "
        f"another machine means the same computation. This report was written with Python {platform.python_version()}."
    )


def sources(citation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The references of a citation that are papers and talks whose figures are made; others are only cited."""
    return [reference for reference in citation["references"] if _key(reference)]


def _key(reference: Mapping[str, Any]) -> str:
    """The key of the source that a reference is; empty of others."""
    return str(reference.get("notes", "")).partition(", key ")[2].strip("`")


def _references(citation: Mapping[str, Any]) -> Iterator[list[str]]:
    for one in citation["references"]:
        authors = ", ".join(map(_name, one["authors"]))
        pages = "–".join(str(one[name]) for name in ("start", "end") if name in one)
        within = one.get("journal") or one.get("collection-title") or one.get("institution", {}).get("name", "")
        place = ", ".join(filter(None, (f"{within} {one.get('volume', '')}".strip(), pages)))
        dated = " ".join(filter(None, (place, f"({one['year']})" if "year" in one else "")))
        notes = str(one.get("notes", "")).partition(", key ")[0]
        yield [
            _key(one) or "cited",
            escape(". ".join(filter(None, (f"{authors}: {one['title']}", dated, notes))) + "."),
        ]


def first_sentence(caption: str) -> str:
    """The name of a figure and the first sentence of its caption.

    Example:
        >>> first_sentence("Figure s1. (a) An error of 0.5 is chance. (b) Another one.")
        'Figure s1. (a) An error of 0.5 is chance.'
    """
    found = re.match(r"(Figure [^.]*\. )?.*?\.(?=\s|$)", caption)
    return found[0] if found else caption


def _name(person: Mapping[str, str]) -> str:
    """A person of a citation, or a group."""
    return person.get("name") or f"{person['given-names']} {person['family-names']}"
