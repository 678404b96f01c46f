"""The scorecard as a table, Markdown and HTML, and what is said of claims that are written wrongly."""

from __future__ import annotations

import io
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from localentropy.claims import rendering
from localentropy.claims.claim import Claim
from localentropy.claims.conditions import (
    Condition,
    Untestable,
    Verdict,
    above,
    agrees,
    all_of,
    at_least,
    at_most,
    below,
    between,
    digits,
    falls,
    largest,
    printed,
    require,
    rises,
    scored,
    smallest,
    undecided,
)
from localentropy.errors import ConfigError
from localentropy.pipeline.config import ROOT, read_claims
from localentropy.pipeline.scorecard import assess
from tests.claims.overparam.theory_tables import thresholds

CLAIM = {
    "claim": "ε | κ falls, <b>strictly</b>",
    "source": "Section II",
    "kind": "paper",
    "test": "overparam.thresholds.gap",
    "experiments": ["overparam/thresholds"],
}
NAN = float("nan")
SENTENCES = "5 sentences of the paper: 2 reproduced, 2 not reproduced, 1 open"


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
        "O01": all_of(below("|Δ|", 0.123456, 1.0, 0.0123), above("room", 0.5, 0.0), detail="1 < 2 & 3 > 2"),
        "O02": all_of(above("room", 3.0, 0.0), above("slope", -0.5, -0.25), detail="two\nlines"),
        "O05": all_of(at_most("step", 1e-7, 1.0)),
        "O03": all_of(undecided("z", "not judged"), detail="too few"),
        "O04": all_of(above("half", NAN, 0.0), detail="no number"),
        "O04b": all_of(between("q", 0.75, 0.5, 0.95)),
        "O04c": all_of(below("z", 1.5, 2.0), scored("z of the fall", -3.0), scored("z of the rise", 0.5)),
    }
    return rendering.table(claims, findings, "smoke", "paper")


def test_verdicts_are_counted(card: pd.DataFrame) -> None:
    assert rendering.counts(card) == f"{SENTENCES}; our own checks: 1 hold, 1 fail"
    assert rendering.counts(card[card["kind"] == "paper"]) == SENTENCES
    assert rendering.counts(pd.concat([card, card.assign(paper="margins")])) == (
        "10 sentences of the papers: 4 reproduced, 4 not reproduced, 2 open; our own checks: 2 hold, 2 fail"
    )


def test_a_talk_is_called_a_talk(card: pd.DataFrame) -> None:
    talk = card.assign(text="talk", paper="glm")
    assert rendering.counts(talk) == rendering.counts(card).replace("of the paper", "of the talk")
    assert rendering.counts(pd.concat([card, talk])).startswith("10 sentences of the paper and the talk: ")
    for page in (rendering.markdown(talk, "glm", "smoke"), rendering.html(talk, "glm", "smoke", "0123")):
        assert "paper" not in page and "talk" in page


def test_every_condition_is_shown_beside_its_bound_the_worst_first(card: pd.DataFrame) -> None:
    assert rendering.table({}, {}, "smoke", "paper").empty
    text = rendering.markdown(card, "overparam", "smoke")
    held = [row.split(" | ")[6:9] for row in text.splitlines() if row.startswith("| ") and "| id |" not in row]
    assert held == [
        ["\\|Δ\\|", "0.123 ± 0.012", "✓ \\< 1, limit met by 0.88 (71.3 SE)"],
        ["room", "0.5", "✓ > 0, limit met by 0.5"],
        ["slope", "-0.5", "✗ > -0.25, limit missed by 0.25"],
        ["room", "3", "✓ > 0, limit met by 3"],
        ["step", "1e-07", "✓ ≤ 1, limit met by 1"],
        ["z", "", "– not judged"],
        ["half", "", "✗ > 0"],
        ["q", "0.75", "✓ 0.5 to 0.95, limit met by 0.2"],
        ["z of the fall", "-3", "✗ > 2, open above -2, limit missed by 5"],
        ["z of the rise", "0.5", "– > 2, open above -2, limit missed by 1.5"],
        ["z", "1.5", "✓ \\< 2, limit met by 0.5"],
    ]
    assert card.loc[0, ["lower", "upper", "judged"]].tolist() == [-float("inf"), 1.0, "reproduced"]


def test_a_number_at_a_limit_is_said_to_be_there() -> None:
    finding = all_of(above("room", 0.0, 0.0), at_most("step", 1.0, 1.0), at_least("share", 1.0, 1.0, 0.1))
    held = rendering.cells(rendering.table({"O01": claim()}, {"O01": finding}, "smoke", "paper"))["held"]
    assert held.tolist() == [
        "✗ > 0, exactly at the limit",
        "✓ ≤ 1, exactly at the limit, which is allowed",
        "✓ ≥ 1, exactly at the limit, which is allowed",
    ]


def test_of_an_interval_the_end_that_decides_is_told() -> None:
    values = {"open": (-0.0199, 0.0095), "met": (0.004, 0.001), "outside": (0.0409, 0.0031), "missing": (NAN, NAN)}
    finding = all_of(*(agrees(name, value, error, 0.02) for name, (value, error) in values.items()))
    card = rendering.table({"O01": claim()}, {"O01": finding}, "smoke", "paper").set_index("condition", drop=False)
    assert rendering.cells(card.loc[list(values)])["held"].tolist() == [
        "– 95 % inside ±0.02, interval ends at -0.0385, limit missed by 0.019",
        "✓ 95 % inside ±0.02, interval ends at 0.00596, limit met by 0.014",
        "✗ 95 % inside ±0.02, interval begins at 0.0348, limit missed by 0.015",
        "– 95 % inside ±0.02",
    ]


def test_both_pages_say_what_the_columns_and_symbols_mean(card: pd.DataFrame) -> None:
    text, page = rendering.markdown(card, "overparam", "smoke"), rendering.html(card, "overparam", "smoke", "0123")
    below = page.partition("</table>")[2]
    for column, told in rendering.LEGEND.items():
        assert f"- *{rendering.SHOWN[column]}*: {told}." in text
        assert f"<li><i>{rendering.SHOWN[column]}</i>: {told}.</li>" in below
    for symbol, said in (("✓", "reproduced"), ("✗", "not reproduced")):
        assert f"{symbol} {said};" in text.rpartition("|")[2] and f"{symbol} {said};" in below


def test_the_worst_condition_decides() -> None:
    holds, fails, open_ = above("a", 1.0, 0.0), above("b", -1.0, 0.0), scored("c", 1.0)
    near, far = digits("d", 1.6349, "1.63"), digits("e", 1.6669, "1.63")
    assert all_of(holds).verdict is Verdict.REPRODUCED and all_of(holds, near).off == ""
    assert all_of(holds, near, far).verdict is Verdict.OFF and all_of(holds, near, far).off == "+2.3 %"
    assert all_of(holds, open_, far).verdict is Verdict.OPEN
    for others in ((), (open_,), (far,), (open_, near)):
        assert all_of(holds, *others, fails).verdict is Verdict.NOT_REPRODUCED
        assert all_of(holds, *others, fails).off == ""
        assert all_of(holds, *others, fails).worst_first[0] is fails
    # A number that is missing or infinite is not off by some per cent.
    for number in (NAN, float("inf")):
        assert all_of(holds, digits("d", number, "1.63")).verdict is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (above("x", 0.0, 0.0), False),
        (at_least("x", 0.0, 0.0), True),
        (below("x", 0.0, 0.0), False),
        (at_most("x", 0.0, 0.0), True),
        (between("x", 1.0, 0.0, 1.0), False),
        (above("x", 1.0, 0.0, 0.4, by=2), True),
        (above("x", 1.0, 0.0, 0.5, by=2), False),
        (above("x", 1.0, 0.0, 0.5, by=2, or_open=True), None),
        (above("x", -1.0, 0.0, 0.5, by=2, or_open=True), False),
        (below("x", -1.0, 0.0, 0.4, by=2, or_open=True), True),
        (below("x", 0.9, 0.0, 0.5, by=2, or_open=True), None),
        (scored("x", 2.0), None),
        (scored("x", 2.1), True),
        (scored("x", -2.0), False),
        (scored("x", 2.5, least=3.0), None),
        (printed("x", 0.8334, "0.833"), True),
        (printed("x", 0.83351, "0.833"), False),
        (falls("x", [2, 1], [3, 2, 1], along="y"), True),
        (falls("x", [2, 1], [3, 2, 2], along="y"), False),
        (rises("x", [1, 2], along="y"), True),
        (undecided("x", "why"), None),
    ],
)
def test_a_limit_is_inside_or_outside(condition: Condition, holds: bool | None) -> None:
    assert condition.holds is holds


def test_a_missing_number_never_holds() -> None:
    for kind in (above, below, at_least, at_most):
        assert kind("x", NAN, 0.0).holds is False
    assert above("x", 1.0, 0.0, NAN, by=2, or_open=True).holds is False
    assert scored("x", NAN).holds is printed("x", NAN, "1").holds is between("x", NAN, 0.0, 1.0).holds is False
    assert falls("x", [2.0, NAN, 1.0], along="y").holds is False


def test_only_a_failure_can_be_left_open() -> None:
    assert above("x", 1.0, 0.0).open_if(True).holds is True
    assert above("x", -1.0, 0.0).open_if(True).holds is None and above("x", -1.0, 0.0).open_if(False).holds is False


@pytest.mark.parametrize(
    ("printed", "ours", "off"),
    [
        ("1.63", 1.666921, "+2.3 %"),
        ("7.65", 7.680221, "+0.4 %"),
        ("1.76", 1.729907, "-1.7 %"),
        ("2.95", 2.987765, "+1.3 %"),
        ("3.02", 3.145842, "+4.2 %"),
        ("1.245", 1.246, "+0.08 %"),
        ("7", 7.69, "+9.9 %"),
    ],
)
def test_the_part_by_which_a_number_is_off_has_its_sign(printed: str, ours: float, off: str) -> None:
    condition = digits("x", ours, printed)
    assert (condition.off, condition.holds, condition.verdict) == (off, False, Verdict.OFF)


@pytest.mark.parametrize("ours", [21.0, 7.71, 6.29, -7.0, float("nan")])
def test_a_number_that_is_far_off_is_another_one(ours: float) -> None:
    assert digits("x", ours, "7").verdict is Verdict.NOT_REPRODUCED


def test_a_number_that_is_off_is_marked_and_counted(card: pd.DataFrame) -> None:
    claims = {key: claim() for key in ("O01", "O02")} | {"O03": claim(kind="ours")}
    statement = above("states beside it", 1.0, 0.0)
    finding = all_of(statement, digits("end", 1.6669, "1.63"), digits("other end", 7.6, "7.65"))
    known = all_of(statement, digits("end", 1.63, "1.63"))
    marked = rendering.table(claims, {"O01": finding, "O02": known, "O03": finding}, "smoke", "paper")
    claimed = marked.drop_duplicates("id")
    assert claimed["verdict"].tolist()[:2] == ["reproduced, printed number off", "reproduced"]
    assert claimed["off"].tolist()[:2] == ["+2.3 %, -0.65 %", ""]
    assert rendering.counts(marked) == (
        "2 sentences of the paper: 2 reproduced (of these 1 with a printed number that is off), 0 not reproduced, "
        "0 open; our own checks: 1 hold"
    )
    text = rendering.markdown(marked, "overparam", "smoke")
    assert "| ≈ +2.3 %, -0.65 % | O01 |" in text and "| ✓ | O02 |" in text
    legend = "≈ reproduced, printed number off by the part that is given; ✗ not reproduced; – open."
    assert f"{legend}\n\n" in text
    reader = Balance()
    reader.feed(rendering.html(marked, "overparam", "smoke", "0123456789abcdef"))
    reader.close()
    assert "reproduced, printed number off by +2.3 %, -0.65 %" in reader.cells
    assert len(reader.cells) == len(marked) * len(rendering.SHOWN)
    # A card from before has no column `off`; only its verdicts are read.
    page = rendering.summary_markdown({"overparam": marked, "margins": card.drop(columns="off")}, "smoke")
    assert "| [overparam](overparam/scorecard.md) | 2 | 2 | 1 | 0 | 0 | 1 | 1 | 0 | 0 |" in page


def test_extremes_do_not_pass_over_missing_numbers() -> None:
    for values in ([1.0, NAN], [NAN, 1.0], pd.Series([NAN, 1.0])):
        assert pd.isna(largest(values)) and pd.isna(smallest(values))
    assert (largest([1, 3, 2]), smallest([2, 1, 3])) == (3.0, 1.0)
    for extreme in (largest, smallest):
        with pytest.raises(Untestable, match="too few"):
            extreme([])
    require(True, "too few")
    with pytest.raises(Untestable, match="too few"):
        require(np.bool_(False), "too few")


def test_markdown_has_a_row_for_every_condition(card: pd.DataFrame) -> None:
    text = rendering.markdown(card, "overparam", "smoke")
    assert text.startswith(f"# Scorecard of overparam at scale smoke\n\n{SENTENCES}; our own checks")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "| id |" not in line]
    keys = [row.split(" | ")[1] for row in rows]
    assert [key for key in keys if key] == ["O01", "O02", "O05", "O03", "O04", "O04b", "O04c"]
    first = [row for row, key in zip(rows, keys, strict=True) if key]
    assert [row[2] for row in first] == ["✓", "✗", "✓", "–", "✗", "✓", "✗"]
    # Ten cells in each, whatever stands in them, and no markup of the claim's own.
    assert all(row.replace("\\|", "").count("|") == 11 for row in rows)
    assert "ε \\| κ falls, \\<b>strictly\\</b>" in first[0] and "two lines" in first[1] and "\\< 0.5" in first[1]
    assert "nan" not in text and [row for row in rows if row not in first if "falls" in row] == []
    for column in rendering.LEGEND:
        assert f"\n- *{rendering.SHOWN[column]}*: " in text and f"| {rendering.SHOWN[column]} |" in text


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
    cards = {"overparam": card, "margins": card[:2].assign(paper="margins")}
    text = rendering.summary_markdown(cards, "smoke")
    assert "6 sentences of the papers: 3 reproduced, 2 not reproduced, 1 open; our own checks" in text
    assert "| [overparam](overparam/scorecard.md) | 5 | 2 | 0 | 2 | 1 | 2 | 1 | 1 | 0 |" in text
    assert "| [margins](margins/scorecard.md) | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 0 |" in text
    reader = Balance()
    reader.feed(rendering.summary_html(cards, "smoke"))
    reader.close()
    assert reader.open == []
    assert reader.cells == [*("overparam", *"520212110"), *("margins", *"110000000")]


def test_tables_of_two_papers_meet_in_one_claim() -> None:
    entry = claim(
        test="overparam.franz_parisi.typical_are_isolated",
        experiments={
            "franz_parisi": "margins/franz_parisi",
            "franz_parisi_text": "overparam/franz_parisi",
            "franz_parisi_isolated": "overparam/franz_parisi_isolated",
        },
    )
    curve = {"curve": ["reference"], "margin_ref": 0.0, "inv_alpha": 1.2, "distance": 0.01, "slope": 1.0}
    tables = {
        "margins/franz_parisi": pd.DataFrame(curve | {"entropy": -0.1}),
        "overparam/franz_parisi": pd.DataFrame(curve | {"curve": ["isolated"], "inv_alpha": 2.0, "entropy": -0.2}),
        "overparam/franz_parisi_isolated": pd.DataFrame(
            curve | {"curve": ["isolated"], "inv_alpha": 30.0, "entropy": -0.1}
        ),
    }
    assert assess("O99", entry, tables).conditions[0].value == -0.1


def test_the_csv_is_read_as_it_was_written(card: pd.DataFrame) -> None:
    claims, finding = {"O01": claim(printed="1.63")}, all_of(above("x", 0.00215 - 1e-13, 0.0))
    for written in (card, rendering.table(claims, {"O01": finding}, "smoke", "paper")):
        text = written.to_csv(index=False, float_format="%.10g")
        read = rendering.read_table(io.StringIO(text))
        pd.testing.assert_frame_equal(read, written, rtol=1e-9)
        assert read.to_csv(index=False, float_format="%.10g") == text
    assert read["value"].tolist() == [0.00215]


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
