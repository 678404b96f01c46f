"""The scorecard as a table, as Markdown and as HTML."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from localentropy.claims.finding import Finding, Verdict

if TYPE_CHECKING:
    from localentropy.pipeline.config import Claim

SYMBOLS = {Verdict.REPRODUCED: "✓", Verdict.NOT_REPRODUCED: "✗", Verdict.NOT_TESTABLE: "–"}
COLOURS = {Verdict.REPRODUCED: "#0072b2", Verdict.NOT_REPRODUCED: "#d55e00", Verdict.NOT_TESTABLE: "#767676"}
SHOWN = ["id", "claim", "source", "printed", "ours", "verdict", "quantity", "detail"]


def table(claims: Mapping[str, Claim], findings: Mapping[str, Finding], scale: str) -> pd.DataFrame:
    """One row per claim.

    Returns:
        Columns id, paper, claim, source, printed, quantity, value, error, verdict, detail, experiments, scale.
    """
    rows = []
    for key, claim in claims.items():
        finding = findings[key]
        rows.append(
            {
                "id": key,
                "paper": claim.paper,
                "claim": claim.claim,
                "source": claim.source,
                "printed": claim.printed or "",
                "quantity": finding.quantity,
                "value": finding.value,
                "error": finding.error,
                "verdict": finding.verdict.value,
                "detail": finding.detail,
                "experiments": " ".join(claim.experiments),
                "scale": scale,
            }
        )
    return pd.DataFrame(rows)


def counts(card: pd.DataFrame) -> str:
    """How many claims came to which verdict, in words."""
    numbers = card["verdict"].value_counts()
    return ", ".join(f"{numbers.get(verdict.value, 0)} {verdict.value}" for verdict in Verdict)


def markdown(card: pd.DataFrame, scale: str) -> str:
    """The counts, then one table per paper."""
    lines = [f"# Scorecard at scale {scale}", "", f"{len(card)} claims: {counts(card)}.", ""]
    lines += ["A claim's test, quantity and bounds: `config/claims.yaml` and `src/localentropy/claims/`.", ""]
    for paper, rows in _shown(card).groupby(card["paper"], sort=False):
        lines += [f"## {paper}", "", "| | id | claim | source | in the paper | ours | held to | numbers |"]
        lines.append("|---|---|---|---|---|---|---|---|")
        for row in rows.to_dict("records"):
            symbol = SYMBOLS[Verdict(row.pop("verdict"))]
            lines.append("| " + " | ".join([symbol, *map(_cell, row.values())]) + " |")
        lines.append("")
    legend = "; ".join(f"{symbol} {verdict.value}" for verdict, symbol in SYMBOLS.items())
    return "\n".join([*lines, f"{legend}."]) + "\n"


def html(card: pd.DataFrame, scale: str, code: str) -> str:
    """A page that stands alone."""

    def coloured(verdict: str) -> str:
        return f"color: white; background: {COLOURS[Verdict(verdict)]}"

    style = (
        _shown(card)
        .style.hide(axis="index")
        .map(coloured, subset=["verdict"])
        .format(escape="html")
        .set_uuid("scorecard")
        .set_caption(f"Scorecard at scale {scale}: {len(card)} claims, {counts(card)}. Code {code[:12]}.")
        .set_table_styles(
            [
                {"selector": "", "props": "border-collapse: collapse; font: 13px/1.4 sans-serif; max-width: 110em"},
                {"selector": "caption", "props": "font-size: 16px; text-align: left; padding: 1em 0"},
                {"selector": "th, td", "props": "text-align: left; vertical-align: top; padding: 0.3em 0.7em"},
                {"selector": "th", "props": "border-bottom: 2px solid black"},
                {"selector": "td", "props": "border-bottom: 1px solid #ddd"},
            ]
        )
    )
    page: str = style.to_html(doctype_html=True)
    return page


def _shown(card: pd.DataFrame) -> pd.DataFrame:
    return card.assign(ours=[_number(row.value, row.error) for row in card.itertuples()])[SHOWN]


def _cell(value: object) -> str:
    """A text in one cell of a Markdown table, shown as it is."""
    return " ".join(str(value).split()).replace("|", "\\|").replace("<", "\\<")


def _number(value: float, error: float) -> str:
    """A value with its error, to the digits that mean something."""
    if math.isnan(value):
        return ""
    if not error > 0:
        return f"{value:.4g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.{digits}f}"
