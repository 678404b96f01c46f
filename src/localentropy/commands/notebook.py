"""`notebook`: a notebook, run and rendered as a page that needs no network.

A browser shows formulas of a notebook by a script that it loads from the network. Here they are pictures in the page.
"""

from __future__ import annotations

import base64
import html
import io
import re
from pathlib import Path

from localentropy.errors import DataError

_FORMULA = re.compile(r"\$\$(?P<display>.+?)\$\$|\$(?P<inline>[^$]+)\$", re.DOTALL)
_POINTS = 11.0
# Without the scripts of the network. Pictures have the alternative text of their cell, `# %% alt="…"`.
_TEMPLATE = """\
{%- extends "lab/index.html.j2" -%}
{%- block html_head_js_requirejs -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block data_png scoped -%}
{{ super() | replace("<img ", '<img alt="' ~ (cell.metadata.get("alt", "") | escape_html) ~ '" ') }}
{%- endblock -%}
"""


def render(source: Path, page: Path) -> None:
    """Run a py:percent file from top to bottom, and write the page with its outputs.

    Raises:
        DataError: there is no such file, it is no py:percent file, or one of its cells fails.
    """
    import jupytext
    from jinja2 import DictLoader
    from nbconvert.exporters import HTMLExporter
    from nbconvert.preprocessors import CellExecutionError, ExecutePreprocessor

    if not source.is_file():
        raise DataError(f"{source}: no such file")
    if source.suffix != ".py":
        raise DataError(f"{source}: allowed is a py:percent file, <name>.py")
    try:
        notebook = jupytext.read(source)
        ExecutePreprocessor(timeout=None).preprocess(notebook, {"metadata": {"path": "."}})
    except UnicodeDecodeError as error:
        raise DataError(f"{source}: not readable as UTF-8 ({error.reason} at byte {error.start})") from None
    except CellExecutionError as error:
        failed = (
            cell for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "error"
        )
        line = next(failed).source.splitlines()[0]
        raise DataError(f"{source}: the cell that begins with `{line}` fails: {error.ename}: {error.evalue}") from error
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = with_pictures(cell.source)
    exporter = HTMLExporter(extra_loaders=[DictLoader({"page": _TEMPLATE})], template_file="page")
    text, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": source.stem}})
    page.write_text(text, encoding="utf-8")


def with_pictures(text: str) -> str:
    """Markdown with a picture in place of each formula; its alternative text is the formula as it was written."""
    return _FORMULA.sub(lambda found: _picture(found["display"] or found["inline"], bool(found["display"])), text)


def _picture(formula: str, display: bool) -> str:
    from matplotlib import rc_context
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import math_to_image

    formula, stream = " ".join(formula.split()), io.BytesIO()
    with rc_context({"mathtext.fontset": "cm", "svg.fonttype": "path"}):
        depth = math_to_image(f"${formula}$", stream, FontProperties(size=_POINTS), format="svg")
    style = (
        "display: block; margin: 1em auto; max-width: 100%"
        if display
        else f"display: inline; vertical-align: {-depth:.2f}pt"
    )
    data = base64.b64encode(stream.getvalue()).decode()
    return f'<img style="{style}" alt="{html.escape(formula)}" src="data:image/svg+xml;base64,{data}">'
