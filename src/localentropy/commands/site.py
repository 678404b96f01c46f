"""`site`: the pages, figures, scorecards and docstrings of this repository as a site that needs no network.

Sphinx reads the pages where they are, with docs/site/conf.py. This module is also an extension of Sphinx. It adds what
pages that are written for GitHub lack: a table of contents, copies of the files that they link to, and charts.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.cmd.build import build_main
from sphinx.transforms import SphinxTransform

from localentropy.commands.gallery import GALLERY
from localentropy.errors import LocalEntropyError
from localentropy.pipeline.config import find_papers

CONFIGURATION = Path("docs/site")
PACKAGE = Path("src/localentropy")
REFERENCE = Path("docs/api")
LIBRARY = {
    "replica": "the theory",
    "instances": "problems to solve",
    "solvers": "algorithms that solve them",
    "landscape": "what surrounds a solution",
    "networks": "networks trained with PyTorch",
    "analysis": "statistics of many runs",
    "data": "the datasets",
    "numerics": "numerical methods",
}
"""The packages that the reference describes: all but those of the pipeline."""
SHOWN = (".py", ".yaml", ".sh", ".md", ".lock", ".cff")
"""Files with these endings are shown as pages. A browser saves the others."""
LOOK = ".look.json"
"""The ending of the file that says how the numbers of a figure are drawn."""
FULL_WIDTH = 1400
"""Pixels of a picture from which on it is as wide as the page."""

MARK = ".localentropy-site"
"""A file in the folder of a site, complete or not: the folder may be deleted."""


def build(folder: Path) -> None:
    """Build the site.

    Args:
        folder: where to. An earlier site is deleted first.

    Raises:
        LocalEntropyError: the folder is a link, or holds something else; or a page has a broken link, or what else
            Sphinx warns of.
    """
    if folder.is_symlink():
        raise LocalEntropyError(f"{folder}: a link; name the folder itself")
    if folder.exists() and not (folder / MARK).exists() and (folder.is_file() or any(folder.iterdir())):
        raise LocalEntropyError(
            f"{folder}: not empty, and no site; allowed: a new folder, an empty one, an earlier site"
        )
    REFERENCE.mkdir(exist_ok=True)
    for package in LIBRARY:
        (REFERENCE / f"{package}.rst").write_text(_reference(package), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    with TemporaryDirectory() as parsed:
        options = ["--quiet", "--fail-on-warning", "--jobs=auto", f"--doctree-dir={parsed}"]
        if build_main([*options, f"--conf-dir={CONFIGURATION}", ".", str(folder)]):
            raise LocalEntropyError(f"{folder}: the site is not as it should be; the lines above say why")


def _reference(package: str) -> str:
    """The page of a package, in the language of Sphinx: its modules without those of kernels, which the others call."""
    title = f"{package}: {LIBRARY[package]}"
    text = f"{title}\n{'=' * len(title)}\n\n"
    for file in sorted((PACKAGE / package).rglob("*.py")):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        if file.stat().st_size and not name.endswith("kernels"):
            heading = "" if name == package else f"{name}\n{'-' * len(name)}\n\n"
            text += f"{heading}.. automodule:: localentropy.{name}\n\n"
    return text


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx what this extension does."""
    app.connect("source-read", _add_contents)
    for transform in (FileLinks, Formulas, Pictures):
        app.add_transform(transform)
    app.connect("autodoc-process-docstring", _translate, priority=400)  # before Napoleon
    app.connect("autodoc-skip-member", _is_a_field)
    app.connect("build-finished", _copy_files)
    app.connect("build-finished", _write_charts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _add_contents(_: Sphinx, page: str, source: list[str]) -> None:
    """Add to a page the list of the pages below it, which is the navigation of the site."""
    papers = find_papers()
    chapters = {
        "Gallery": [f"docs/{paper}/gallery" for paper in papers],
        "Scorecards": ["figures/gallery/scorecard", *(f"figures/gallery/{paper}/scorecard" for paper in papers)],
        "Theory": [f"docs/{paper}/theory" for paper in papers],
        "Algorithms": ["docs/solvers/README", "docs/networks"],
        "How to": [
            "docs/commands",
            "docs/configuration",
            "docs/container",
            "docs/cluster",
            "docs/robustness",
            "data/README",
        ],
        "Learn and extend": ["notebooks/README", "CONTRIBUTING", "CHANGELOG"],
        "Reference of the library": [f"docs/api/{package}" for package in LIBRARY],
    }
    solvers = {"Solvers": [f"/{file.with_suffix('')}" for file in sorted(Path("docs/solvers").glob("[a-z]*.md"))]}
    for caption, pages in {"README": chapters, "docs/solvers/README": solvers}.get(page, {}).items():
        source[0] += "\n".join(["\n```{toctree}", ":hidden:", f":caption: {caption}", *pages, "```\n"])


class FileLinks(SphinxTransform):
    """Links to files and folders of the repository that are no pages go to copies that a browser shows."""

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Replace the links of one page."""
        for link in [*self.document.findall(_is_open)]:
            target = _path(self.env.docname, link["reftarget"])
            if target.is_dir():
                page = target / "README" if (target / "README.md").exists() else target / "index"
            elif target.suffix in SHOWN and target.is_file():
                page = _shown_at(target)
            else:
                continue
            uri = self.app.builder.get_relative_uri(self.env.docname, str(page))
            link.replace_self(nodes.reference("", "", *link.children, refuri=uri, internal=True))
            if page.name != "README":
                self.env.metadata[self.env.docname].setdefault("linked", []).append(str(target))


def _is_open(node: nodes.Node) -> bool:
    """Whether a node is a link that the parser did not recognize as one to a page."""
    return isinstance(node, addnodes.download_reference | addnodes.pending_xref) and not node.get("refdomain")


def _path(page: str, link: str) -> Path:
    """Where in the repository a link of a page leads to."""
    return Path(os.path.normpath(Path(page).parent / link))


def _shown_at(file: Path) -> Path:
    """The page that shows a file, without its ending: of a notebook that was run, what came out."""
    return file.with_suffix("") if file.with_suffix(".html").exists() else file


class Formulas(SphinxTransform):
    """Formulas on lines of their own reach MathJax as they are: they have their own numbers and environments."""

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Mark the formulas of one page."""
        for formula in self.document.findall(nodes.math_block):
            formula["no-wrap"] = True
            formula[:] = [nodes.Text(rf"\[{formula.astext()}\]")]


class Pictures(SphinxTransform):
    """A picture is a link to its file. One of many panels is as wide as the page. The gallery has charts, too."""

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Set the pictures of one page."""
        from matplotlib.image import imread

        for picture in [*self.document.findall(nodes.image)]:
            file = _path(self.env.docname, picture["uri"])
            picture["width"] = f"{min(100, 100 * imread(file).shape[1] // FULL_WIDTH)}%"
            figure = file.with_suffix("")
            if Path(self.env.docname).name == "gallery" and figure.with_suffix(LOOK).exists():
                summary = "<summary>Chart: point at a mark to read its numbers</summary>"
                name = figure.relative_to(GALLERY)
                text = f'<details class="chart" data-chart="{name}">{summary}<div></div></details>'
                block = picture.parent
                block.parent.insert(block.parent.index(block) + 1, nodes.raw("", text, format="html"))


def _translate(_: Sphinx, what: str, name: str, about: object, options: object, lines: list[str]) -> None:
    """Docstrings are plain text: `|x|` and `w*` are formulas, and what is between backquotes is code."""
    parts = re.split("`+", "\n".join(lines))
    parts[::2] = [re.sub(r"^(?!.*>>>).*", _escaped, part, flags=re.MULTILINE) for part in parts[::2]]
    text = "``".join(parts)
    # Napoleon would take what stands before a colon for a type.
    text = re.sub(r"^Returns:\n +", r"\g<0>: ", text, flags=re.MULTILINE)
    lines[:] = [""] * (what in ("data", "attribute", "property")) + text.split("\n")


def _escaped(line: re.Match[str]) -> str:
    """A line without the marks of Sphinx's language, and with links to the pages that it names."""
    plain = re.sub(r"([|*]|_\b)", r"\\\1", line[0])
    return re.sub(r"\b(docs/[\w/]+)\.md\b", r":doc:`\1.md </\1>`", plain)


def _is_a_field(_: Sphinx, what: str, name: str, about: object, skip: bool, options: object) -> bool | None:
    """Leave out the fields of a NamedTuple as members: there they have Python's words, not those of the docstring."""
    return True if type(about).__name__ == "_tuplegetter" else None


def _copy_files(app: Sphinx, failure: Exception | None) -> None:
    """Write the pages of the files and folders that others link to."""
    if failure:
        return
    shutil.copyfile(app.outdir / "README.html", app.outdir / "index.html")  # what a server shows first
    linked = {Path(path) for page in app.env.metadata.values() for path in page.get("linked", [])}
    for folder in [path for path in linked if path.is_dir()]:
        files = [file for file in sorted(folder.rglob("*")) if file.suffix in SHOWN]
        links = "".join(f'<li><a href="{(name := file.relative_to(folder))}.html">{name}</a></li>' for file in files)
        text = f"<!doctype html><meta charset=utf-8><title>{folder}</title><h2>{folder}</h2><ul>{links}</ul>"
        _write(app.outdir / folder / "index.html", text)
        linked.update(files)
    for file in filter(Path.is_file, linked):
        page = _shown_at(file).with_name(f"{_shown_at(file).name}.html")
        _write(app.outdir / page, page.read_text(encoding="utf-8") if page.exists() else _highlighted(file))


def _highlighted(file: Path) -> str:
    try:
        lexer = get_lexer_for_filename(file.name)
    except ClassNotFound:
        lexer = TextLexer()
    return highlight(file.read_text(encoding="utf-8"), lexer, HtmlFormatter(full=True, title=str(file)))


def _write_charts(app: Sphinx, failure: Exception | None) -> None:
    """Write a script for each figure that has a look. It adds the figure's chart to those of a page (charts.js)."""
    import pandas as pd

    from localentropy.plots.interactive import chart

    for file in [] if failure else sorted(GALLERY.glob(f"*/*{LOOK}")):
        name = str(file.relative_to(GALLERY)).removesuffix(LOOK)
        figure = chart(pd.read_csv(GALLERY / f"{name}.csv"), json.loads(file.read_text(encoding="utf-8")))
        text = json.dumps(figure, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        _write(app.outdir / f"_static/charts/{name}.js", f'charts["{name}"] = {text};\n')


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
