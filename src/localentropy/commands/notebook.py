"""`notebook`: a notebook, run and rendered as a page that needs no network; and the same as a page of the site.

A browser shows formulas of a notebook by a script that it loads from the network. Here they are pictures in the page.
The site has this script, so its page has the text and the code of the notebook, and the outputs of the rendered page.
"""

from __future__ import annotations

import base64
import html
import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from localentropy.errors import DataError

if TYPE_CHECKING:
    from nbformat import NotebookNode

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
    from nbclient.exceptions import CellExecutionError
    from nbconvert.exporters import HTMLExporter

    if not source.is_file():
        raise DataError(f"{source}: no such file")
    if source.suffix != ".py":
        raise DataError(f"{source}: allowed is a py:percent file, <name>.py")
    try:
        notebook = jupytext.read(source)
        _run(notebook)
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


def in_site(source: Path) -> str:
    """A py:percent file as Markdown, with the outputs of its rendered page, which lies beside it.

    Without a rendered page, or if its cells are not those of the file, the text says so and has no outputs.
    """
    import jupytext
    from bs4 import BeautifulSoup

    cells = jupytext.read(source).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    page = source.with_suffix(".html")
    ran = BeautifulSoup(page.read_bytes() if page.exists() else "", "html.parser").select(".jp-CodeCell")
    typed = [area.get_text().strip() for cell in ran for area in cell.select(".jp-InputArea pre")]
    current = typed == [cell.source.strip() for cell in code]
    about = f"The file: {{download}}`{source.name}`."
    text = [about if current else f"{about} It was not run, so there are no outputs: `make notebooks` runs it."]
    outputs = iter(ran)
    for cell in cells:
        if cell.cell_type == "markdown":
            text.append(cell.source)
        else:
            text.append(f"```python\n{cell.source}\n```")
            shown = next(outputs).select(".jp-OutputArea-output") if current else []
            text += [f"```{{raw}} html\n<div class='output'>{one.decode_contents()}</div>\n```" for one in shown]
    heading = next(number for number, part in enumerate(text) if part.startswith("# "))
    first, _, rest = text.pop(heading).partition("\n")
    return "\n\n".join([first, text.pop(0), rest, *text]) + "\n"


def _run(notebook: NotebookNode) -> None:
    """Run the cells in a kernel of this Python.

    Descriptions of kernels, which other environments may have left, and the user's start-up files are not read.
    """
    from jupyter_client.kernelspec import NATIVE_KERNEL_NAME, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    with TemporaryDirectory() as folder:
        kernel = AsyncKernelManager(
            kernel_name=NATIVE_KERNEL_NAME,
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=str(Path(folder, "kernel.json")),
        )
        client = NotebookClient(notebook, kernel, timeout=None, extra_arguments=[f"--ipython-dir={folder}"])
        client.execute(cleanup_kc=True)


def with_pictures(text: str) -> str:
    """Markdown with a picture in place of each formula; its alternative text is the formula as it was written."""
    return _FORMULA.sub(lambda found: _picture(found["display"] or found["inline"], bool(found["display"])), text)


def _picture(formula: str, display: bool) -> str:
    from matplotlib import rc_context
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import math_to_image

    from localentropy.figures.defaults import defaults

    formula, stream = " ".join(formula.split()), io.BytesIO()
    with defaults(), rc_context({"mathtext.fontset": "cm", "svg.fonttype": "path"}):
        depth = math_to_image(f"${formula}$", stream, FontProperties(size=_POINTS), format="svg")
    style = (
        "display: block; margin: 1em auto; max-width: 100%"
        if display
        else f"display: inline; vertical-align: {-depth:.2f}pt"
    )
    data = base64.b64encode(stream.getvalue()).decode()
    return f'<img style="{style}" alt="{html.escape(formula)}" src="data:image/svg+xml;base64,{data}">'
