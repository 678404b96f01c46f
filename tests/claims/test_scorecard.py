"""The scorecard as a table, Markdown and HTML, and what is said of claims that are written wrongly."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from localentropy.claims import rendering
from localentropy.claims.claim import Claim
from localentropy.claims.finding import Bounds, Finding, Untestable, Verdict, decided, jointly, largest, smallest
from localentropy.errors import ConfigError
from localentropy.pipeline.config import ROOT, read_claims
from localentropy.pipeline.scorecard import assess
from tests.claims.theory_tables import thresholds

CLAIM = {
    "claim": "ε | κ falls, <b>strictly</b>",
    "source": "Section II",
    "kind": "paper",
    "printed": None,
    "test": "overparam.thresholds.gap",
    "experiments": ["overparam/thresholds"],
}
NAN = float("nan")
SENTENCES = "5 sentences of the paper: 2 reproduced, 2 not reproduced, 1 not testable at this scale"


def claim(**changes: Any) -> Claim:
    return Claim.model_validate(CLAIM | changes)


@pytest.fixture
def card() -> pd.DataFrame:
    claims = {
        "O01": claim(),
        "O02": claim(printed="< 0.5"),
        "O05": claim(),
        "O03": claim(),
        "O04": claim(),
        "O04b": claim(kind="ours"),
        "O04c": claim(kind="ours"),
    }
    findings = {
        "O01": Finding("|Δ| < 1", 0.123456, True, "1 < 2 & 3 > 2", 0.0123, Bounds(upper=1.0)),
        "O02": Finding("slope", -0.5, False, "two\nlines", bounds=Bounds(lower=-0.25)),
        "O05": Finding("step", 1e-7, True, ""),
        "O03": Finding.untestable("z", "too few"),
        "O04": Finding("half", NAN, True, "no number", bounds=Bounds(lower=0.0)),
        "O04b": Finding.of_theory("q", 0.75, True, "", Bounds(0.5, 0.95)),
        "O04c": Finding("z", 1.5, False, "", bounds=Bounds(upper=2.0)),
    }
    return rendering.table(claims, findings, "smoke")


def test_verdicts_are_counted(card: pd.DataFrame) -> None:
    assert rendering.counts(card) == f"{SENTENCES}; our own checks: 1 hold, 1 fail"
    assert rendering.counts(card[:5]) == SENTENCES
    assert rendering.counts(pd.concat([card, card.assign(paper="margins")])) == (
        "10 sentences of the papers: 4 reproduced, 4 not reproduced, 2 not testable at this scale; "
        "our own checks: 2 hold, 2 fail"
    )


def test_a_number_is_shown_beside_its_bound(card: pd.DataFrame) -> None:
    assert rendering.table({}, {}, "smoke").empty
    text = rendering.markdown(card, "overparam", "smoke")
    rows = {row.split(" | ")[1]: row for row in text.splitlines() if row.startswith("| ")}
    assert "| ≤ 1, inside by 0.88 (71.3 SE) |" in rows["O01"]
    assert "| ≥ -0.25, outside by 0.25 |" in rows["O02"]
    assert "| 0.5 to 0.95, inside by 0.2 |" in rows["O04b"]
    assert "| ≤ 2, inside by 0.5; another condition fails |" in rows["O04c"]
    assert not any("side by" in rows[key] for key in ("O03", "O04", "O05"))
    assert card.set_index("id").loc["O01", ["lower", "upper"]].tolist() == [-float("inf"), 1.0]


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


def test_differences_within_their_errors_leave_a_claim_open() -> None:
    assert decided([2.1, 5.0]) is True and decided([9.0, -2.1]) is False
    assert decided([9.0, 1.9]) is None and decided([-1.9, 9.0]) is None and decided([2.5], least=3.0) is None
    assert decided([9.0, NAN]) is False
    assert jointly(True, True) is True and jointly(True, None) is None and jointly(None, False, True) is False


def test_markdown_has_a_row_for_every_claim(card: pd.DataFrame) -> None:
    text = rendering.markdown(card, "overparam", "smoke")
    assert text.startswith(f"# Scorecard of overparam at scale smoke\n\n{SENTENCES}; our own checks")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "| id |" not in line]
    assert [row.split(" | ")[1] for row in rows] == ["O01", "O02", "O05", "O03", "O04", "O04b", "O04c"]
    assert [row[2] for row in rows] == ["✓", "✗", "✓", "–", "✗", "✓", "✗"]
    # Ten cells in each, whatever stands in them, and no markup of the claim's own.
    assert all(row.replace("\\|", "").count("|") == 11 for row in rows)
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
        if "td" in self.open:
            self.cells[-1] += data


def test_the_page_over_all_papers_counts_each(card: pd.DataFrame) -> None:
    cards = {"overparam": card, "margins": card[:1].assign(paper="margins")}
    text = rendering.summary_markdown(cards, "smoke")
    assert (
        "6 sentences of the papers: 3 reproduced, 2 not reproduced, 1 not testable at this scale; our own checks"
        in text
    )
    assert "| [overparam](overparam/scorecard.md) | 5 | 2 | 2 | 1 | 2 | 1 | 1 | 0 |" in text
    assert "| [margins](margins/scorecard.md) | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |" in text
    reader = Balance()
    reader.feed(rendering.summary_html(cards, "smoke"))
    reader.close()
    assert reader.open == []
    assert reader.cells == [*("overparam", *"52212110"), *("margins", *"11000000")]


def test_tables_of_two_papers_meet_in_one_claim() -> None:
    entry = claim(
        test="overparam.franz_parisi.typical_are_isolated",
        experiments={"franz_parisi": "margins/franz_parisi", "franz_parisi_text": "overparam/franz_parisi"},
    )
    curve = {"curve": ["reference"], "margin_ref": 0.0, "inv_alpha": 1.2, "distance": 0.01}
    tables = {
        "margins/franz_parisi": pd.DataFrame(curve | {"entropy": -0.1}),
        "overparam/franz_parisi": pd.DataFrame(curve | {"curve": ["isolated"], "inv_alpha": 2.0, "entropy": -0.2}),
    }
    assert assess("O99", entry, tables).value == -0.1


def test_html_is_well_formed_and_shows_texts_as_they_are(card: pd.DataFrame) -> None:
    page = rendering.html(card, "overparam", "smoke", "0123456789abcdef")
    reader = Balance()
    reader.feed(page)
    reader.close()
    assert reader.open == [] and page.startswith("<!DOCTYPE html>")
    assert "b" not in reader.tags
    assert len(reader.cells) == len(card) * len(rendering.SHOWN)
    assert "ε | κ falls, <b>strictly</b>" in reader.cells and "1 < 2 & 3 > 2" in reader.cells
    assert SENTENCES in page and "Code 0123456789ab." in page
    assert rendering.html(card, "overparam", "smoke", "0123456789abcdef") == page


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
    assert re.match(r"config/[a-z]+/claims\.yaml: ", str(caught.value)) and "\n" not in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "theirs"}, "O99.kind = theirs: allowed: one of paper, ours"),
        ({"sourc": "x"}, "O99.sourc = x: unknown key; did you mean 'source'?"),
        ({"experiments": ["overparm/thresholds"]}, "O99.experiments = overparm/thresholds: allowed: <paper>/<name>"),
        ({"experiments": ["Thresholds"]}, "O99.experiments = Thresholds: allowed: <paper>/<name>"),
        ({"experiments": ["overparam/typical", "a/b"]}, "O99.experiments = a/b: allowed: <paper>/<name>"),
        ({"experiments": {"x": "Thresholds"}}, "O99.experiments = Thresholds: allowed: <paper>/<name>"),
        ({"experiments": 3}, "O99.experiments = 3: allowed: a list, each entry text or a mapping, each value text"),
        ({"test": "margins.a.b"}, "O99.test = margins.a.b: allowed: overparam.<module>.<function>"),
        ({"experiments": []}, "O99.experiments = []: allowed"),
        ({"test": "gap"}, "O99.test = gap: allowed"),
        ({"claim": ""}, "O99.claim = '': allowed: non-empty text"),
    ],
)
def test_a_wrong_entry_is_one_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    file = tmp_path / "config/overparam/claims.yaml"
    with file.open("a") as text:
        yaml.safe_dump({"O99": CLAIM | changes}, text)
    with pytest.raises(ConfigError) as caught:
        read_claims(tmp_path)
    assert re.match(r"config/[a-z]+/claims\.yaml: ", str(caught.value)) and "\n" not in str(caught.value)
    assert message in str(caught.value)


def test_every_claim_names_a_test_that_exists() -> None:
    for key, entry in read_claims().items():
        empty = {name: pd.DataFrame() for name in entry.arguments.values()}
        assert assess(key, entry, empty).verdict is Verdict.NOT_TESTABLE
