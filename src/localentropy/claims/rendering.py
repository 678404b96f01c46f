"""The scorecard as a table, as Markdown and as HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from localentropy.claims.claim import Kind
from localentropy.claims.finding import Finding, Verdict

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

    from localentropy.claims.claim import Claim

SYMBOLS = {Verdict.REPRODUCED: "✓", Verdict.NOT_REPRODUCED: "✗", Verdict.NOT_TESTABLE: "–"}
COLOURS = {Verdict.REPRODUCED: "#0072b2", Verdict.NOT_REPRODUCED: "#d55e00", Verdict.NOT_TESTABLE: "#767676"}
_STYLES: list[Any] = [
    {"selector": "", "props": "border-collapse: collapse; font: 13px/1.4 sans-serif; max-width: 110em"},
    {"selector": "caption", "props": "font-size: 16px; text-align: left; padding: 1em 0"},
    {"selector": "th, td", "props": "text-align: left; vertical-align: top; padding: 0.3em 0.7em"},
    {"selector": "th", "props": "border-bottom: 2px solid black"},
    {"selector": "td", "props": "border-bottom: 1px solid #ddd"},
]
SHOWN = {
    "verdict": "verdict",
    "id": "id",
    "kind": "kind",
    "claim": "claim",
    "source": "source",
    "printed": "in the paper",
    "ours": "ours",
    "bound": "its bound",
    "quantity": "held to",
    "detail": "numbers",
}
"""Column of the table → its heading, on the page as in Markdown, where the verdict is a symbol without a heading."""


_SUMMARY = ["paper", "sentences", *Verdict, "our own checks", "hold", "fail", Verdict.NOT_TESTABLE]


def table(claims: Mapping[str, Claim], findings: Mapping[str, Finding], scale: str) -> pd.DataFrame:
    """One row per claim.

    Returns:
        Columns id, kind, paper, claim, source, printed, quantity, value, error, lower, upper, verdict, detail,
        experiments, scale. `lower` and `upper` are the bounds of the value, both missing if it has none.
    """
    rows = []
    for key, claim in claims.items():
        finding = findings[key]
        lower, upper = finding.bounds or (math.nan, math.nan)
        rows.append(
            {
                "id": key,
                "kind": claim.kind.value,
                "paper": claim.paper,
                "claim": claim.claim,
                "source": claim.source,
                "printed": claim.printed or "",
                "quantity": finding.quantity,
                "value": finding.value,
                "error": finding.error,
                "lower": lower,
                "upper": upper,
                "verdict": finding.verdict.value,
                "detail": finding.detail,
                "experiments": " ".join(claim.arguments.values()),
                "scale": scale,
            }
        )
    return pd.DataFrame(rows)


def counts(card: pd.DataFrame) -> str:
    """How many sentences of the papers have each verdict, then how many of our own checks, in words."""
    sentences, ours = _numbers(card)
    papers = "paper" if card["paper"].nunique() == 1 else "papers"
    verdicts = ", ".join(f"{number} {verdict}" for number, verdict in zip(sentences, Verdict, strict=True))
    words = ("hold", "fail", Verdict.NOT_TESTABLE)
    told = ", ".join(f"{number} {word}" for number, word in zip(ours, words, strict=True) if number)
    beside = f"; our own checks: {told}" if told else ""
    return f"{sum(sentences)} sentences of the {papers}: {verdicts}{beside}"


def _numbers(card: pd.DataFrame) -> tuple[list[int], list[int]]:
    """Sentences of the papers with each verdict, and checks of ours."""
    found = [card.loc[card["kind"] == kind, "verdict"] for kind in (Kind.PAPER, Kind.OURS)]
    sentences, ours = ([int((verdicts == verdict).sum()) for verdict in Verdict] for verdicts in found)
    return sentences, ours


def markdown(card: pd.DataFrame, paper: str, scale: str) -> str:
    """The counts, then the claims as a table."""
    lines = [f"# Scorecard of {paper} at scale {scale}", "", f"{counts(card)}.", ""]
    lines += [f"A claim's test, quantity and bounds: `config/{paper}/claims.yaml` and `src/localentropy/claims/`.", ""]
    lines += ["| | " + " | ".join(list(SHOWN.values())[1:]) + " |", "|---" * len(SHOWN) + "|"]
    for row in _shown(card).to_dict("records"):
        symbol = SYMBOLS[Verdict(row.pop("verdict"))]
        lines.append("| " + " | ".join([symbol, *map(_cell, row.values())]) + " |")
    legend = "; ".join(f"{symbol} {verdict.value}" for verdict, symbol in SYMBOLS.items())
    return "\n".join([*lines, "", f"{legend}."]) + "\n"


def summary_markdown(cards: Mapping[str, pd.DataFrame], scale: str) -> str:
    """The counts over all papers, then of each."""
    whole = pd.concat(cards.values())
    lines = [f"# Scorecards at scale {scale}", "", f"{counts(whole)}.", ""]
    lines += ["| " + " | ".join(_SUMMARY) + " |", "|---" * len(_SUMMARY) + "|"]
    for paper, card in cards.items():
        cells = [f"[{paper}]({paper}/scorecard.md)", *_summed(card)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def summary_html(cards: Mapping[str, pd.DataFrame], scale: str) -> str:
    """The same as a page that links the papers' pages."""
    rows = [(f'<a href="{paper}/scorecard.html">{paper}</a>', *_summed(card)) for paper, card in cards.items()]
    style = pd.DataFrame(rows, columns=_SUMMARY).style
    return _page(style, "scorecards", f"Scorecards at scale {scale}.")


def _summed(card: pd.DataFrame) -> list[int]:
    """The cells of one paper on the page over all."""
    sentences, ours = _numbers(card)
    return [sum(sentences), *sentences, sum(ours), *ours]


def html(card: pd.DataFrame, paper: str, scale: str, code: str) -> str:
    """A complete page."""

    def coloured(verdict: str) -> str:
        return f"color: white; background: {COLOURS[Verdict(verdict)]}"

    style = _shown(card).rename(columns=SHOWN).style.map(coloured, subset=["verdict"]).format(escape="html")
    caption = f"Scorecard of {paper} at scale {scale}. {counts(card)}. Code {code[:12]}."
    return _page(style, "scorecard", caption)


def _page(style: Styler, name: str, caption: str) -> str:
    page = style.hide(axis="index").set_uuid(name).set_caption(caption).set_table_styles(_STYLES)
    return str(page.to_html(doctype_html=True))


def _shown(card: pd.DataFrame) -> pd.DataFrame:
    rows = list(card.itertuples())
    ours = [_number(row.value, row.error) for row in rows]
    bound = [_bound(row.value, row.error, row.lower, row.upper, Verdict(row.verdict)) for row in rows]
    return card.assign(ours=ours, bound=bound)[list(SHOWN)]


def _cell(value: object) -> str:
    """Text for one cell of a Markdown table, with its special characters escaped."""
    return " ".join(str(value).split()).replace("|", "\\|").replace("<", "\\<")


def _number(value: float, error: float) -> str:
    """A value with its error, to significant digits."""
    if math.isnan(value):
        return ""
    if not error > 0:
        return f"{value:.4g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def _bound(value: float, error: float, lower: float, upper: float, verdict: Verdict) -> str:
    """The bounds of a value, and by how much it lies inside or outside of the nearer one; nothing if it has none.

    A claim may fail although its value lies inside: then this says that another of its conditions decides.
    """
    if math.isnan(value) or math.isnan(lower):
        return ""
    inside = min(value - lower, upper - value)
    limits = f"≥ {lower:.5g}" if math.isinf(upper) else f"≤ {upper:.5g}"
    if math.isfinite(lower) and math.isfinite(upper):
        limits = f"{lower:.5g} to {upper:.5g}"
    errors = f" ({abs(inside) / error:.1f} SE)" if error > 0 else ""
    other = "; another condition fails" if inside >= 0 and verdict is Verdict.NOT_REPRODUCED else ""
    return f"{limits}, {'inside' if inside >= 0 else 'outside'} by {abs(inside):.2g}{errors}{other}"
