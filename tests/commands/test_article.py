"""The replication report: everything of the tables and the configuration is in it, in letters that its fonts have."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pandas as pd
import pytest

from localentropy.claims.conditions import Verdict
from localentropy.commands.article import AGAINST, write
from localentropy.commands.behind import figures_of
from localentropy.commands.document import (
    SANS,
    SERIF,
    Block,
    Heading,
    Paragraph,
    PictureBlock,
    TableBlock,
    to_html,
    to_pdf,
)
from localentropy.commands.protocol import protocol
from localentropy.errors import ArtifactError
from localentropy.pipeline.artifacts import read_output
from localentropy.pipeline.config import ROOT, find_papers, read_claims, read_figures, resolve
from localentropy.pipeline.outputs import GALLERY, FigureJob


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """The page and the PDF of the gallery."""
    page, pdf = write(tmp_path_factory.mktemp("report"), None)
    return page.read_text(), pdf.read_bytes()


def words(page: str) -> str:
    return unescape(re.sub("<[^>]*>", "", page))


def test_the_report_has_every_figure_claim_and_condition(report: tuple[str, bytes]) -> None:
    page, text = report[0], words(report[0])
    for target in read_figures():
        record = read_output(GALLERY / FigureJob.place(target))[1]
        caption, settings = record["caption"], record["settings"]
        assert f'<figure id="{target}">' in page and caption in text
        assert all(value.rstrip(".") in text for value in settings.values()) and "chosen here" in settings
    for paper in find_papers():
        card = pd.read_csv(GALLERY / paper / "scorecard.csv", keep_default_na=False)
        conditions = card["condition" if "condition" in card else "quantity"]
        assert [
            one for one in {*conditions, *card["claim"], *card["printed"], *card["detail"]} if one not in text
        ] == []
        waiting = {key for key, claim in read_claims().items() if claim.paper == paper} - set(card["id"])
        assert all(re.search(rf"These claims are newer.*\b{key}\b", text) for key in waiting)
        against = set(card.loc[card["verdict"].isin(AGAINST), "id"])
        assert {key for key in card["id"] if f'id="against-{key}"' in page} == against


def test_every_claim_has_its_place_among_what_was_replicated_and_its_evidence(report: tuple[str, bytes]) -> None:
    text, configuration = words(report[0]), resolve("default")
    undrawn = re.findall(r"no figure sentences that are tested on tables alone.*", report_rows(report[0]))
    for key, claim in read_claims().items():
        judged = key in set(pd.read_csv(GALLERY / claim.paper / "scorecard.csv")["id"])
        if judged and not figures_of(claim, configuration):
            assert any(re.search(rf"\b{key}\b", row) for row in undrawn)
        assert not judged or (claim.evidence or "") in text


def test_the_conditions_that_decide_a_failure_are_below_it(report: tuple[str, bytes]) -> None:
    for paper in find_papers():
        card = pd.read_csv(GALLERY / paper / "scorecard.csv", keep_default_na=False)
        for key in set(card.loc[card["verdict"].isin(AGAINST), "id"]):
            below = words(re.split("<h[234]", report[0].partition(f'id="against-{key}"')[2])[0])
            own = card[card["id"] == key]
            assert all(one in below for one in own.loc[own["judged"] != Verdict.REPRODUCED, "condition"])
    assert "fails" in report[0].partition('id="against-O71"')[2][:20]


def test_it_says_how_to_repeat_it_from_what_is_on_record(report: tuple[str, bytes]) -> None:
    page, text = report[0], words(report[0])
    assert "Measured at the scale default on " in text and "cifar10 none stated; cite the report" in text
    assert re.search(r"These took \d+ min of CPU \(overparam/mlp\) and \d+ min of CPU \(overparam/cnn\)", text)
    links = ", ".join(f'<a href="#figure{number}">figure{number}</a>' for number in (6, 7))
    assert f'Of these {links} and <a href="#figure14">figure14</a> use tables that come with the code' in page
    assert (
        "a stochastic rule that is inspired by BP" in text and "least-action learning, and its entropic version" in text
    )


def report_rows(page: str) -> str:
    """Rows of tables as lines of text."""
    return words(page.replace("</td>", " ").replace("</tr>", "\n"))


def test_a_link_leads_to_a_place_of_the_page(report: tuple[str, bytes]) -> None:
    page = report[0]
    links = set(re.findall('href="#([^"]*)"', page))
    assert len(links) > 50 and links <= set(re.findall(' id="([^"]*)"', page))
    assert not re.search(r'(src|href)="(?!#|data:)', page)


def test_the_fonts_of_the_pdf_have_every_letter(report: tuple[str, bytes]) -> None:
    from reportlab.pdfbase import pdfmetrics

    assert report[1].startswith(b"%PDF")
    sans, serif = (set(pdfmetrics.getFont(name).face.charToGlyph) for name in (SANS, SERIF))
    prose = words("".join(re.findall(r"<(?:p|h\d)\b.*?</(?:p|h\d)>", report[0], re.DOTALL)))
    assert {letter for letter in prose if ord(letter) not in serif and letter > " "} == set()
    assert {letter for letter in words(report[0]) if ord(letter) not in sans and letter > " "} == set()


def test_the_same_blocks_give_the_same_bytes() -> None:
    picture = next(GALLERY.glob("*/*.png"))
    blocks: list[Block] = [
        Paragraph("Before the contents."),
        Heading("A section", 1, "a"),
        TableBlock(["x", "y"], [["1", "2"], ["<b>over both</b>"]], [1, 2]),
        PictureBlock(picture, "A picture.", "p", 'A "picture"'),
    ]
    day = datetime(2026, 11, 25, tzinfo=UTC)
    pdf = to_pdf("t", "a", day, blocks)
    assert to_pdf("t", "a", day, blocks) == pdf and b"/CreationDate (D:20261125000000" in pdf
    page = to_html("t", blocks).decode()
    assert 'alt="A &quot;picture&quot;"' in page
    assert '<td colspan="2"><b>over both</b></td>' in page and page.index("Before") < page.index("<nav>")


def marked(paper: str, scale: str = "default") -> dict[str, list[str]]:
    return {name: told for name, *told in protocol(paper, scale)}


def test_every_mark_of_the_configuration_is_a_deviation_or_a_value_of_the_text() -> None:
    for paper in find_papers():
        body = (ROOT / f"config/{paper}/physics.yaml").read_text().partition("\n\n")[2]
        told = marked(paper)
        for section, content in re.findall(r"^(\w+):(.*?)(?=^\w|\Z)", body, re.MULTILINE | re.DOTALL):
            remarks = re.findall(r"#.*?\(([TC])\)", content)
            for column, mark in enumerate("TC"):
                assert not remarks.count(mark) or told[section][column], (paper, section, mark)
                assert told.get(section, ["", ""])[column].count(" = ") >= remarks.count(mark), (paper, section, mark)


def test_values_that_stand_elsewhere_in_the_file_count_too() -> None:
    overparam, shaping, glm = map(marked, ("overparam", "shaping", "glm"))
    assert 'alpha_T = 5.0 ["fairly large" (T)]' in overparam["committee_sgd"][1]
    assert "noise_levels = 0, 0.0001, …, 1.0 (15 values)" in overparam["committee_sgd"][1]  # *committee_noise
    assert "tolerance = 1.0e-6" in glm["amp_binary"][1] and "prior = binary" in glm["amp_binary"][0]  # <<: *amp
    stated = shaping["fashion_solutions"][0].split("; ")
    assert "algorithms.elal.learning_rate = 2.0e-3" in stated and "algorithms.elal.batch = 100" in stated
    assert not any(one.startswith("algorithms.elal.learning_rate = 1.0e-2") for one in stated)


def test_sizes_stand_beside_those_of_the_scale_paper() -> None:
    smoke, paper = marked("overparam", "smoke")["mlp"][2], marked("overparam", "paper")["mlp"][2]
    assert re.search(r"\bsamples = \d+ \(\d+\)", smoke) and paper == ""
    assert "adam_learning_rate = 1.0e-4 [(C) the text has one rate" in marked("overparam")["cnn"][2]  # as at paper
    # the mark is not that of `distances`, a block that ends above it
    assert marked("shaping")["tree_local_entropy"][2] == "samples = 10 [default, paper: (T)]"


def test_a_run_without_its_figures_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArtifactError, match=r"^figure1: missing; run `make all scorecard SCALE=smoke` first$"):
        write(tmp_path, resolve("smoke"))
    assert Verdict.REPRODUCED not in AGAINST and [*tmp_path.iterdir()] == []
