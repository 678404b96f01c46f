"""The scorecard as a table, as Markdown and as HTML."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import pandas as pd

from localentropy.claims.claim import Kind
from localentropy.claims.conditions import INTERVAL, REACH, Finding, Verdict
from localentropy.closure import DIGITS

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

    from localentropy.claims.claim import Claim

SYMBOLS = {Verdict.REPRODUCED: "✓", Verdict.OFF: "≈", Verdict.NOT_REPRODUCED: "✗", Verdict.OPEN: "–"}
COLOURS = {
    Verdict.REPRODUCED: "#0072b2",
    Verdict.OFF: "#00795c",
    Verdict.NOT_REPRODUCED: "#d55e00",
    Verdict.OPEN: "#767676",
}
_STYLES: list[Any] = [
    {"selector": "", "props": "border-collapse: collapse; font: 13px/1.4 sans-serif; max-width: 110em"},
    {"selector": "caption", "props": "font-size: 16px; text-align: left; padding: 1em 0"},
    {"selector": "th, td", "props": "text-align: left; vertical-align: top; padding: 0.3em 0.7em"},
    {"selector": "th", "props": "border-bottom: 2px solid black"},
    {"selector": "td", "props": "border-bottom: 1px solid #ddd"},
]
MOST_DIGITS = 8
"""Digits behind the point beyond which a number is written with a power of ten."""
SHOWN = {
    "verdict": "verdict",
    "id": "id",
    "kind": "kind",
    "claim": "claim",
    "source": "source",
    "printed": "printed there",
    "condition": "condition",
    "ours": "ours",
    "held": "asked for",
    "detail": "numbers",
}
"""Column of the table → its heading, on the page as in Markdown, where the verdict is a symbol without a heading."""

LEGEND = {
    "printed": "the number that the source prints",
    "condition": "what our number is; a claim holds if all of its conditions do, and the worst one stands first",
    "ours": "our number, with its standard error if it has one",
    "held": "the verdict on the condition, what it asks for, and by how much our number meets or misses the limit",
    "detail": "further numbers",
}
"""Column of the table → what it tells, below the table."""

VERDICTS = f"""\
A sentence has the verdict of its worst condition. It is *{Verdict.REPRODUCED}* if all conditions hold. It is
*{Verdict.OFF}* if the statement holds and a number that is printed beside it differs from ours in its digits. It is
*{Verdict.OPEN}* if the samples or sizes are too few to decide, or if the text can be read in two ways or gives no
number. Otherwise it is *{Verdict.NOT_REPRODUCED}*. What we add has entries of its own, which are marked “ours” and are
counted apart. They hold or fail."""
"""What the verdicts mean, below the table of all papers and in the report."""

SUMMARY = [
    "text",
    "sentences",
    Verdict.REPRODUCED,
    "of these with a printed number that is off",
    Verdict.NOT_REPRODUCED,
    Verdict.OPEN,
    "our own checks",
    "hold",
    "fail",
    Verdict.OPEN,
]
"""Headings of the page over all papers."""


def table(claims: Mapping[str, Claim], findings: Mapping[str, Finding], scale: str, text: str) -> pd.DataFrame:
    """One row per condition of each claim, the worst first; `text` is what the claims are from, a paper or a talk.

    Returns:
        Columns id, kind, paper, text, claim, source, printed, verdict, off, detail, condition, value, error, bound,
        lower, upper, judged, experiments, scale. `verdict` is that on the claim, and `off` says by how much a printed
        number is off. `judged` is the verdict on the condition, whose value must lie between `lower` and `upper`.
    """
    rows = [
        {
            "id": key,
            "kind": claim.kind.value,
            "paper": claim.paper,
            "text": text,
            "claim": claim.claim,
            "source": claim.source,
            "printed": claim.printed or "",
            "verdict": findings[key].verdict.value,
            "off": findings[key].off,
            "detail": findings[key].detail,
            "condition": condition.words,
            "value": condition.value,
            "error": condition.error,
            "bound": condition.bound,
            "lower": condition.lower,
            "upper": condition.upper,
            "judged": condition.verdict.value,
            "experiments": " ".join(claim.arguments.values()),
            "scale": scale,
        }
        for key, claim in claims.items()
        for condition in findings[key].worst_first
    ]
    return pd.DataFrame(rows)


def read_table(file: Path | TextIO) -> pd.DataFrame:
    """The columns of `table` from the CSV of a scorecard. Numbers may be missing, words may be empty."""
    numbers = ("value", "error", "lower", "upper")
    kinds: Any = defaultdict(lambda: "str", dict.fromkeys(numbers, "float64"))
    return pd.read_csv(file, keep_default_na=False, na_values=dict.fromkeys(numbers, ""), dtype=kinds)


def counts(card: pd.DataFrame) -> str:
    """How many sentences of the papers and talks have each verdict, then how many of our own checks, in words."""
    (reproduced, off, *others), ours = _numbers(card)
    numbers = card.groupby("text")["paper"].nunique()
    texts = " and the ".join(text + "s" * (number > 1) for text, number in numbers.items())
    apart = f" (of these {off} with a printed number that is off)" if off else ""
    failed, open_ = others
    verdicts = f"{reproduced} {Verdict.REPRODUCED}{apart}, {failed} {Verdict.NOT_REPRODUCED}, {open_} {Verdict.OPEN}"
    words = ("hold", "fail", Verdict.OPEN)
    told = ", ".join(f"{number} {word}" for number, word in zip(ours, words, strict=True) if number)
    beside = f"; our own checks: {told}" if told else ""
    return f"{reproduced + failed + open_} sentences of the {texts}: {verdicts}{beside}"


def _numbers(card: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Sentences that are reproduced, those of them with a number that is off, those not reproduced, and those open.

    Then the checks of ours that hold, that fail, and that are open.
    """
    claims = card.drop_duplicates(["paper", "id"])
    found = [claims.loc[claims["kind"] == kind, "verdict"] for kind in (Kind.PAPER, Kind.OURS)]
    sentences, ours = ({verdict: int((verdicts == verdict).sum()) for verdict in Verdict} for verdicts in found)
    for number in (sentences, ours):
        number[Verdict.REPRODUCED] += number[Verdict.OFF]
    del ours[Verdict.OFF]
    return list(sentences.values()), list(ours.values())


def markdown(card: pd.DataFrame, paper: str, scale: str) -> str:
    """The counts, then the claims as a table: a row for each condition, the claim itself in the first one."""
    lines = [f"# Scorecard of {paper} at scale {scale}", "", f"{counts(card)}.", ""]
    lines += [f"A claim's test and its conditions: `config/{paper}/claims.yaml` and `src/localentropy/claims/`.", ""]
    lines += ["| | " + " | ".join(list(SHOWN.values())[1:]) + " |", "|---" * len(SHOWN) + "|"]
    for row in cells(card).to_dict("records"):
        verdict, off = row.pop("verdict"), row.pop("off")
        symbol = f"{SYMBOLS[Verdict(verdict)]} {off}".strip() if verdict else ""
        lines.append("| " + " | ".join([symbol, *map(_cell, row.values())]) + " |")
    columns = [f"- *{SHOWN[column]}*: {told}." for column, told in LEGEND.items()]
    return "\n".join([*lines, "", _symbols(), "", *columns]) + "\n"


def meanings() -> dict[Verdict, str]:
    """What the symbols of the verdicts mean."""
    return {verdict: verdict.value for verdict in Verdict} | {Verdict.OFF: off_by("the part that is given")}


def _symbols() -> str:
    """The symbols of the verdicts and what they mean, as one line."""
    words = meanings()
    return "; ".join(f"{symbol} {words[verdict]}" for verdict, symbol in SYMBOLS.items()) + "."


def summary_markdown(cards: Mapping[str, pd.DataFrame], scale: str) -> str:
    """The counts over all papers, then of each."""
    whole = pd.concat(cards.values())
    lines = [f"# Scorecards at scale {scale}", "", f"{counts(whole)}.", ""]
    lines += ["| " + " | ".join(SUMMARY) + " |", "|---" * len(SUMMARY) + "|"]
    for paper, card in cards.items():
        cells = [f"[{paper}]({paper}/scorecard.md)", *summed(card)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join([*lines, "", VERDICTS]) + "\n"


def summary_html(cards: Mapping[str, pd.DataFrame], scale: str) -> str:
    """The same as a page that links the papers' pages."""
    rows = [(f'<a href="{paper}/scorecard.html">{paper}</a>', *summed(card)) for paper, card in cards.items()]
    style = pd.DataFrame(rows, columns=SUMMARY).style
    return _page(style, "scorecards", f"Scorecards at scale {scale}.", f"<p>{verdicts_html()}</p>")


def verdicts_html() -> str:
    """What the verdicts mean, as HTML."""
    return re.sub(r"\*(.*?)\*", r"<i>\1</i>", VERDICTS)


def summed(card: pd.DataFrame) -> list[int]:
    """The cells of one paper on the page over all."""
    sentences, ours = _numbers(card)
    reproduced, _, failed, open_ = sentences
    return [reproduced + failed + open_, *sentences, sum(ours), *ours]


def html(card: pd.DataFrame, paper: str, scale: str, code: str) -> str:
    """A complete page."""

    def coloured(verdict: str) -> str:
        return f"color: white; background: {COLOURS[words[verdict]]}" if verdict else ""

    shown = cells(card)
    told = [off_by(off) if off else verdict for verdict, off in zip(shown["verdict"], shown["off"], strict=True)]
    words = {said: Verdict(verdict) for said, verdict in zip(told, shown["verdict"], strict=True) if verdict}
    shown = shown.assign(verdict=told).drop(columns="off")
    style = shown.rename(columns=SHOWN).style.map(coloured, subset=["verdict"]).format(escape="html")
    caption = f"Scorecard of {paper} at scale {scale}. {counts(card)}. Code {code[:DIGITS]}."
    columns = "".join(f"<li><i>{SHOWN[column]}</i>: {told}.</li>" for column, told in LEGEND.items())
    return _page(style, "scorecard", caption, f"<p>{_symbols()}</p><ul>{columns}</ul>")


def _page(style: Styler, name: str, caption: str, below: str = "") -> str:
    """A complete page of a table, with what stands below it."""
    page = style.hide(axis="index").set_uuid(name).set_caption(caption).set_table_styles(_STYLES)
    return str(page.to_html(doctype_html=True)).replace("</table>", f"</table>\n{below}", 1)


def cells(card: pd.DataFrame) -> pd.DataFrame:
    """The cells. What is said of a claim stands in the first of its rows only."""
    rows = list(card.itertuples())
    ours = [_number(row.value, row.error) for row in rows]
    held = [_held(row.value, row.error, row.bound, row.lower, row.upper, Verdict(row.judged)) for row in rows]
    kind = card["kind"].where(card["kind"] != Kind.PAPER, card["text"])
    shown = card.assign(ours=ours, held=held, kind=kind)[[*SHOWN, "off"]]
    of_claim = shown.columns.difference(["condition", "ours", "held"])
    shown.loc[shown["id"].duplicated(), of_claim] = ""
    return shown


def _cell(value: object) -> str:
    """Text for one cell of a Markdown table, with its special characters escaped."""
    return " ".join(str(value).split()).replace("|", "\\|").replace("<", "\\<")


def _number(value: float, error: float) -> str:
    """A value with its error, to significant digits."""
    if math.isnan(value):
        return ""
    if not error > 0:
        return f"{value + 0.0:.4g}"  # a zero without a sign
    digits = max(0, 1 - math.floor(math.log10(error)))
    if digits > MOST_DIGITS:
        return f"{value:.1e} ± {error:.1e}"
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def _held(value: float, error: float, bound: str, lower: float, upper: float, verdict: Verdict) -> str:
    """The verdict on a condition, what it asks for, and by how much the value meets or misses the nearer limit.

    Of an interval that must be inside the limits, the end decides that is nearer to a limit, or beyond it. If all of it
    is outside, the other end does.
    """
    judged = ""
    if bound.startswith(INTERVAL) and math.isfinite(value):
        outside = verdict is Verdict.NOT_REPRODUCED
        value, error = value + math.copysign(REACH * error, -value if outside else value), math.nan
        judged = f"interval {'begins' if outside else 'ends'} at {value:.3g}"
    inside = min(value - lower, upper - value)
    errors = ""
    if error > 0:
        many = abs(inside) / error
        errors = f" ({many:.1f} SE)" if many < 1000.0 else " (more than 1000 SE)"
    side = f"limit {'met' if inside > 0 else 'missed'} by {abs(inside):.2g}{errors}" if math.isfinite(inside) else ""
    if inside == 0:
        side = "exactly at the limit" + ", which is allowed" * (verdict is Verdict.REPRODUCED)
    return " ".join([SYMBOLS[verdict], ", ".join(filter(None, (bound, judged, side)))]).strip()


def off_by(far: str) -> str:
    """The verdict on a claim whose statement holds and whose printed number does not, with how far it is off."""
    return f"{Verdict.OFF} by {far}"
