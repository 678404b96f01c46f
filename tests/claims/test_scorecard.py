"""The scorecard as a table, Markdown and HTML, and what is said of claims that are written wrongly."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from localentropy.claims import rendering
from localentropy.claims.finding import Finding, Untestable, Verdict, largest, smallest
from localentropy.errors import ConfigError
from localentropy.pipeline.config import ROOT, Claim, read_claims
from localentropy.pipeline.scorecard import assess
from tests.claims.theory_tables import thresholds

CLAIM = {
    "claim": "ε | κ falls, <b>strictly</b>",
    "source": "Section II",
    "printed": None,
    "test": "overparam.thresholds.gap",
    "experiments": ["overparam/thresholds"],
}
NAN = float("nan")


def claim(**changes: Any) -> Claim:
    return Claim.model_validate(CLAIM | changes)


@pytest.fixture
def card() -> pd.DataFrame:
    claims = {
        "O01": claim(),
        "O02": claim(printed="< 0.5"),
        "M01": claim(test="margins.a.b"),
        "O03": claim(),
        "O04": claim(),
    }
    findings = {
        "O01": Finding("|Δ| < 1", 0.123456, True, "1 < 2 & 3 > 2", 0.0123),
        "O02": Finding("slope", -0.5, False, "two\nlines"),
        "M01": Finding("step", 1e-7, True, ""),
        "O03": Finding.untestable("z", "too few"),
        "O04": Finding("half", NAN, True, "no number"),
    }
    return rendering.table(claims, findings, "smoke")


def test_verdicts_are_counted(card: pd.DataFrame) -> None:
    assert rendering.counts(card) == "2 reproduced, 2 not reproduced, 1 not testable at this scale"
    assert rendering.counts(card[:0]) == "0 reproduced, 0 not reproduced, 0 not testable at this scale"


def test_a_finding_without_a_number_is_not_reproduced() -> None:
    assert Finding("q", NAN, True, "").verdict is Verdict.NOT_REPRODUCED
    assert Finding("q", 0.0, True, "").verdict is Verdict.REPRODUCED
    assert Finding("q", NAN, None, "").verdict is Verdict.NOT_TESTABLE


def test_extremes_do_not_pass_over_missing_numbers() -> None:
    for values in ([1.0, NAN], [NAN, 1.0], pd.Series([NAN, 1.0])):
        assert pd.isna(largest(values)) and pd.isna(smallest(values))
    assert (largest([1, 3, 2]), smallest([2, 1, 3])) == (3.0, 1.0)
    for extreme in (largest, smallest):
        with pytest.raises(Untestable, match="too few"):
            extreme([])


def test_markdown_has_a_row_for_every_claim_below_its_paper(card: pd.DataFrame) -> None:
    text = rendering.markdown(card, "smoke")
    assert text.startswith("# Scorecard at scale smoke\n\n5 claims: 2 reproduced, 2 not reproduced, 1 not testable")
    papers = text.split("\n## ")[1:]
    assert [paper.split("\n")[0] for paper in papers] == ["overparam", "margins"]
    rows = [line for line in text.splitlines() if line.startswith("| ") and "| id |" not in line]
    assert [row.split(" | ")[1] for row in rows] == ["O01", "O02", "O03", "O04", "M01"]
    assert [row[2] for row in rows] == ["✓", "✗", "–", "✗", "✓"]
    # Eight cells in each, whatever stands in them, and no markup of the claim's own.
    assert all(row.replace("\\|", "").count("|") == 9 for row in rows)
    assert "ε \\| κ falls, \\<b>strictly\\</b>" in rows[0] and "\\|Δ\\| \\< 1" in rows[0]
    assert "0.123 ± 0.012" in rows[0] and "two lines" in rows[1] and "\\< 0.5" in rows[1]
    assert "| -0.5 |" in rows[1] and "nan" not in text


class Balance(HTMLParser):
    """Every element is closed, in the right order."""

    VOID = frozenset({"meta", "br", "link", "col"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "td":
            self.cells[-1] += data


def test_html_is_well_formed_and_shows_texts_as_they_are(card: pd.DataFrame) -> None:
    page = rendering.html(card, "smoke", "0123456789abcdef")
    reader = Balance()
    reader.feed(page)
    reader.close()
    assert reader.open == [] and page.startswith("<!DOCTYPE html>")
    assert "b" not in reader.tags
    assert len(reader.cells) == len(card) * len(rendering.SHOWN)
    assert "ε | κ falls, <b>strictly</b>" in reader.cells and "1 < 2 & 3 > 2" in reader.cells
    assert "5 claims, 2 reproduced, 2 not reproduced" in page and "Code 0123456789ab." in page
    assert rendering.html(card, "smoke", "0123456789abcdef") == page


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": "overparam.thresholds.gup"}, "O99.test = overparam.thresholds.gup: no such function below"),
        ({"test": "overparam.threshold.gap"}, "O99.test = overparam.threshold.gap: no such function below"),
        ({"test": "nothing.thresholds.gap"}, "O99.test = nothing.thresholds.gap: no such function below"),
        ({"test": "overparam.thresholds.np"}, "O99.test = overparam.thresholds.np: no such function below"),
        ({"experiments": ["overparam/typical"]}, "O99.experiments = overparam/typical: allowed: thresholds"),
        (
            {"experiments": ["overparam/thresholds", "overparam/typical"]},
            "O99.experiments = overparam/thresholds, overparam/typical: allowed: thresholds",
        ),
    ],
)
def test_a_claim_without_its_test_is_one_line(changes: dict[str, Any], message: str) -> None:
    tables = {"overparam/thresholds": thresholds(), "overparam/typical": thresholds()}
    with pytest.raises(ConfigError) as caught:
        assess("O99", claim(**changes), tables)
    assert str(caught.value).startswith("config/claims.yaml: ") and "\n" not in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sourc": "x"}, "O99.sourc = x: unknown key; did you mean 'source'?"),
        ({"experiments": ["overparm/thresholds"]}, "O99.experiments = overparm/thresholds: allowed: <paper>/<name>"),
        ({"experiments": ["Thresholds"]}, "O99.experiments = Thresholds: allowed: <paper>/<name>"),
        ({"experiments": []}, "O99.experiments = []: allowed"),
        ({"test": "gap"}, "O99.test = gap: allowed"),
        ({"claim": ""}, "O99.claim = : allowed"),
    ],
)
def test_a_wrong_entry_is_one_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    file = tmp_path / "config/claims.yaml"
    with file.open("a") as text:
        yaml.safe_dump({"O99": CLAIM | changes}, text)
    with pytest.raises(ConfigError) as caught:
        read_claims(tmp_path)
    assert str(caught.value).startswith("config/claims.yaml: ") and "\n" not in str(caught.value)
    assert message in str(caught.value)


def test_every_claim_names_a_test_that_exists() -> None:
    for key, entry in read_claims().items():
        empty = {name: pd.DataFrame() for name in entry.experiments}
        assert assess(key, entry, empty).verdict is Verdict.NOT_TESTABLE
