"""A document of headings, paragraphs, tables and pictures, as one HTML file and as PDF.

Text is marked as in HTML, with `<b>`, `<i>` and `<a href="#…">` alone, which both writers understand. All other text is
escaped by whoever makes a block (`html.escape`).
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

STYLE = """
body { font: 16px/1.5 Georgia, "DejaVu Serif", serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.9rem; line-height: 1.2 } h2 { margin-top: 3rem; border-bottom: 1px solid #999 }
nav { columns: 2; font-size: .9rem } nav div { break-inside: avoid }
table { border-collapse: collapse; font-size: .8rem; margin: 1rem 0; width: 100%; table-layout: fixed }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #ddd;
  overflow-wrap: anywhere }
td[colspan] { background: #f3f3f3; padding-left: .4rem }
th { border-bottom: 2px solid #111 } img { max-width: 100%; display: block; margin: auto }
figure { margin: 2rem 0 } figcaption { font-size: .9rem } a { color: #0a4a8a }
"""
SERIF, SANS = "DejaVuSerif", "DejaVuSans"
INCH = 72.0
PAGE, MARGIN = (8.27 * INCH, 11.69 * INCH), 0.9 * INCH
CONTENTS = 2
"""The deepest level of headings in the contents."""
FEWEST = 3 * INCH
"""A section begins on a new page if there is less room than this; a smaller part needs less."""
DOTS = 230.0
"""Dots per inch of a picture that has its natural size on paper; a wider one is made as narrow as the text."""


@dataclass(frozen=True)
class Heading:
    """A heading. Those of level 1 (a section) and 2 stand in the contents. Others lead to it by its anchor."""

    text: str
    level: int
    anchor: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class TableBlock:
    """A table. A row of one cell goes over all columns.

    Attributes:
        head: words above the columns.
        rows: cells.
        widths: of the columns, in any unit.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    widths: Sequence[float]


@dataclass(frozen=True)
class PictureBlock:
    """A picture (PNG).

    Attributes:
        file: the PNG.
        caption: what stands below it.
        anchor: by which others lead to it.
        told: what is said of it to those who do not see it, without marks.
    """

    file: Path
    caption: str
    anchor: str
    told: str


Block = Heading | Paragraph | TableBlock | PictureBlock


def to_html(title: str, blocks: Sequence[Block]) -> bytes:
    """One page that needs no other file."""
    links = [
        f'<div style="margin-left:{block.level - 1}rem"><a href="#{block.anchor}">{block.text}</a></div>'
        for block in blocks
        if isinstance(block, Heading) and block.level <= CONTENTS
    ]
    first = next(at for at, block in enumerate(blocks) if isinstance(block, Heading))
    parts = [*map(_html, blocks[:first]), f"<nav>{''.join(links)}</nav>", *map(_html, blocks[first:])]
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return "\n".join([head, f"<h1>{escape(title)}</h1>", *parts, "</html>\n"]).encode()


def _html(block: Block) -> str:
    match block:
        case Heading(text, level, anchor):
            return f'<h{level + 1} id="{anchor}">{text}</h{level + 1}>'
        case Paragraph(text):
            return f"<p>{text}</p>"
        case PictureBlock(file, caption, anchor, told):
            data = base64.b64encode(file.read_bytes()).decode()
            image = f'<img alt="{escape(told)}" src="data:image/png;base64,{data}">'
            return f'<figure id="{anchor}">{image}<figcaption>{caption}</figcaption></figure>'
        case TableBlock(head, rows, widths):
            columns = "".join(f'<col style="width:{100 * part / sum(widths):.1f}%">' for part in widths)
            heads = "".join(f"<th>{cell}</th>" for cell in head)
            whole = f' colspan="{len(head)}"'
            lines = ["".join(f"<td{whole * (len(row) == 1)}>{cell}</td>" for cell in row) for row in rows]
            return f"<table>{columns}<tr>{heads}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def to_pdf(title: str, author: str, date: datetime, blocks: Sequence[Block]) -> bytes:
    """The pages, with contents, page numbers and bookmarks. Equal blocks of an equal date give equal bytes."""
    from reportlab import rl_config
    from reportlab.pdfgen.canvas import Canvas
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate
    from reportlab.platypus import Paragraph as Text
    from reportlab.platypus.tableofcontents import TableOfContents

    rl_config.useA85 = 0  # pictures in bytes, not in letters, which takes three times as long
    styles = _styles()

    class Pages(BaseDocTemplate):  # type: ignore[misc]
        """Tells the contents of each heading that was set."""

        def afterFlowable(self, flowable: Any) -> None:
            if (heading := getattr(flowable, "heading", None)) is not None:
                self.canv.bookmarkPage(heading.anchor)
            if heading is not None and heading.level <= CONTENTS:
                self.canv.addOutlineEntry(flowable.getPlainText(), heading.anchor, heading.level - 1, heading.level > 1)
                self.notify("TOCEntry", (heading.level - 1, heading.text, self.page, heading.anchor))

    class Dated(Canvas):  # type: ignore[misc]
        """A document of the date. By itself it is of the year 2000, so that equal documents have equal bytes."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            stamp = self._doc._timeStamp
            stamp.t, stamp.lt, stamp.YMDhms = date.timestamp(), date.timetuple(), date.timetuple()[:6]

    def number(canvas: Any, pages: Any) -> None:
        canvas.setFont(SERIF, 8)
        canvas.drawCentredString(PAGE[0] / 2, MARGIN / 2, str(pages.page))

    stream = io.BytesIO()
    pages = Pages(stream, pagesize=PAGE, title=title, author=author, invariant=1)
    frame = Frame(MARGIN, MARGIN, PAGE[0] - 2 * MARGIN, PAGE[1] - 2 * MARGIN, 0, 0, 0, 0)
    pages.addPageTemplates(PageTemplate(frames=[frame], onPage=number))
    contents = TableOfContents(levelStyles=[styles["contents1"], styles["contents2"]], dotsMinLevel=0)
    story: list[Any] = [Text(escape(title), styles["title"])]
    for block in blocks:
        if isinstance(block, Heading) and contents not in story:
            story += [Text("<b>Contents</b>", styles["text"]), contents]
        story += _flowables(block, styles, frame._width)
    pages.multiBuild(story, canvasmaker=Dated)
    return stream.getvalue()


def _styles() -> dict[str, Any]:
    """The styles of paragraphs, in the fonts that Matplotlib brings, which have Greek letters and signs."""
    from matplotlib import get_data_path
    from reportlab.lib.fonts import addMapping
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    for family, slanted in ((SERIF, "Italic"), (SANS, "Oblique")):
        for (bold, italic), ending in {
            (0, 0): "",
            (1, 0): "-Bold",
            (0, 1): f"-{slanted}",
            (1, 1): f"-Bold{slanted}",
        }.items():
            file = Path(get_data_path(), "fonts/ttf", f"{family}{ending}.ttf")
            pdfmetrics.registerFont(TTFont(family + ending, file))
            addMapping(family, bold, italic, family + ending)

    def style(size: float, before: float = 0.0, after: float = 0.0, font: str = SERIF, **more: Any) -> Any:
        return ParagraphStyle(
            "", fontName=font, fontSize=size, leading=1.35 * size, spaceBefore=before, spaceAfter=after, **more
        )

    return {
        "title": style(17, after=14),
        "heading1": style(14, 16, 8, keepWithNext=1),
        "heading2": style(11, 12, 5, keepWithNext=1),
        "heading3": style(9, 8, 3, keepWithNext=1),
        "text": style(9, after=6),
        "caption": style(7.5, 4, 14, SANS),
        "cell": style(6.5, font=SANS),
        "contents1": style(8.5, 3),
        "contents2": style(7.5, leftIndent=14),
    }


def _flowables(block: Block, styles: dict[str, Any], width: float) -> Iterator[Any]:
    """What a block is on pages."""
    from reportlab.lib.colors import HexColor
    from reportlab.platypus import CondPageBreak, Image, Spacer, Table
    from reportlab.platypus import Paragraph as Text

    match block:
        case Heading(text, level, _):
            flowable = Text(text, styles[f"heading{level}"])
            flowable.heading = block
            yield CondPageBreak(FEWEST / level)
            yield flowable
        case Paragraph(text):
            yield Text(text, styles["text"])
        case PictureBlock(file, caption, anchor, _):
            image = Image(file)
            shrink = min(INCH / DOTS, width / image.drawWidth, 0.45 * PAGE[1] / image.drawHeight)
            image.drawWidth, image.drawHeight = shrink * image.drawWidth, shrink * image.drawHeight
            image.keepWithNext = 1  # and so has a heading before it
            yield image
            yield Text(f'<a name="{anchor}"/>{caption}', styles["caption"])
        case TableBlock(head, rows, widths):
            cells = [[Text(f"<b>{cell}</b>", styles["cell"]) for cell in head]]
            spans = [("SPAN", (0, at), (-1, at)) for at, row in enumerate(rows, 1) if len(row) == 1]
            shades = [("BACKGROUND", *span[1:], HexColor("#f0f0f0")) for span in spans]
            for row in rows:
                cells.append([Text(cell, styles["cell"]) for cell in row] + [""] * (len(head) - len(row)))
            lines = [("LINEBELOW", (0, 0), (-1, -1), 0.25, HexColor("#bbbbbb")), ("VALIGN", (0, 0), (-1, -1), "TOP")]
            pads = [(f"{side}PADDING", (0, 0), (-1, -1), 2.5) for side in ("LEFT", "RIGHT", "TOP", "BOTTOM")]
            columns = [width * part / sum(widths) for part in widths]
            yield Table(cells, columns, repeatRows=1, style=[*lines, *pads, *spans, *shades], splitByRow=1)
            yield Spacer(1, 10)
