"""`site`: the pages, figures, scorecards and docstrings of this repository as a site that needs no network.

Sphinx reads the pages where they are, with docs/site/conf.py. This module is also an extension of Sphinx. It adds what
pages that are written for GitHub lack: a table of contents, copies of the files that they link to, and charts.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import shutil
from functools import cached_property
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

from localentropy.commands import article
from localentropy.commands.behind import TAG, BehindClaims, BehindFigures, with_links
from localentropy.commands.notebook import in_site
from localentropy.errors import LocalEntropyError
from localentropy.pipeline.config import find_papers
from localentropy.pipeline.outputs import GALLERY, LOOK

CONFIGURATION = Path("docs/site")
PACKAGE = Path("src/localentropy")
REFERENCE = Path("docs/api")
LIBRARY = {
    "theory": "replica theory",
    "instances": "problems to solve",
    "solvers": "algorithms that solve them",
    "landscape": "what surrounds a solution",
    "networks": "networks trained with PyTorch",
    "estimators": "classifiers for scikit-learn",
    "analysis": "statistics of many runs",
    "data": "the datasets",
    "numerics": "numerical methods",
}
"""The packages that the reference describes: all but those of the pipeline."""
SHOWN = (".py", ".yaml", ".sh", ".md", ".lock", ".cff")
"""Files with these endings are shown as pages. A browser saves the others."""
FULL_WIDTH = 1400
"""Pixels of a picture from which on it is as wide as the page."""
WITHOUT_LINKS = nodes.literal | nodes.reference | nodes.title | nodes.math | nodes.math_block
"""In these, the number of an equation is no link."""
BLOCK = r"^(\S.*)\n\n((?: {2,}(?!>>>)\S.*(?:\n(?= ))?)+)"
"""A line of a docstring, and below an empty one lines that are indented: formulas, or a table."""
SESSION = r"^ *>>> .*(?:\n *\S.*)*"
"""Lines of an example, with what they print."""

COUNTED = "<!-- /scorecard -->"
REPORT = '<a href="article.html">All of it in one document</a>, also as <a href="article.pdf">PDF</a>.'
"""The link to the replication report, on the first page behind the counts. There the report is made with the site."""

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
    article.write(folder, None)


def _reference(package: str) -> str:
    """The page of a package, in the language of Sphinx."""
    title = f"{package}: {LIBRARY[package]}"
    text = f"{title}\n{'=' * len(title)}\n\n"
    for name in described(package):
        heading = "" if name == package else f"{name}\n{'-' * len(name)}\n\n"
        text += f"{heading}.. automodule:: localentropy.{name}\n\n"
    return text


def described(package: str) -> list[str]:
    """The modules of a package that its page describes: all but those of kernels, which the others call."""
    files = [file.relative_to(PACKAGE) for file in sorted((PACKAGE / package).rglob("*.py")) if file.stat().st_size]
    names = [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files]
    return [name for name in names if not name.endswith("kernels")]


def source_of(module: str, name: str) -> str | None:
    """The address of a function or class in the page that shows its file, from the reference; None of anything else."""
    about: object = importlib.import_module(module)
    for part in name.split("."):
        about = getattr(about, part, None)
    try:
        _, line = inspect.getsourcelines(code := inspect.unwrap(about))  # type: ignore[arg-type]
        file = Path(inspect.getsourcefile(code) or "").relative_to(Path.cwd())
    except (TypeError, OSError, ValueError):
        return None
    return f"{'../' * len(REFERENCE.parts)}{file}.html#line-{line}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx what this extension does."""
    app.connect("source-read", _read_notebook)
    app.connect("source-read", _add_contents)
    for transform in (FileLinks, Formulas, Equations, Pictures, BehindFigures, BehindClaims):
        app.add_transform(transform)
    app.connect("autodoc-process-docstring", _translate, priority=400)  # before Napoleon
    app.connect("autodoc-skip-member", _is_internal)
    app.connect("build-finished", _copy_files)
    app.connect("build-finished", _write_charts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _read_notebook(_: Sphinx, page: str, source: list[str]) -> None:
    """A notebook is a page of Markdown with the outputs of its last run."""
    if (file := Path(f"{page}.py")).exists():
        source[0] = in_site(file)


def _add_contents(_: Sphinx, page: str, source: list[str]) -> None:
    """Add to a page the list of the pages below it, the navigation of the site, and to the first one the report."""
    papers = find_papers()
    chapters = {
        "Start": [
            "docs/first_steps",
            "docs/figures",
            "docs/library",
            "docs/inventory",
            "docs/own_model",
            "docs/estimators",
        ],
        "Gallery": [f"docs/{paper}/gallery" for paper in papers],
        "Scorecards": [f"{GALLERY}/scorecard", *(f"{GALLERY}/{paper}/scorecard" for paper in papers)],
        "Theory": [f"docs/{paper}/theory" for paper in papers],
        "Algorithms": ["docs/solvers/README", "docs/landscapes", "docs/networks"],
        "How to": [
            "docs/commands",
            "docs/configuration",
            "docs/quantities",
            "docs/container",
            "docs/cluster",
            "docs/robustness",
            "data/README",
        ],
        "Learn and extend": ["notebooks/README", "CONTRIBUTING", "docs/release", "CHANGELOG"],
        "Reference of the library": [f"docs/api/{package}" for package in LIBRARY],
    }
    if page == "README":
        source[0] = source[0].replace(COUNTED, f"{COUNTED} {REPORT}", 1)
    solvers = {"Solvers": [f"/{file.with_suffix('')}" for file in sorted(Path("docs/solvers").glob("[a-z]*.md"))]}
    tours = {"Notebooks": [f"/{file.with_suffix('')}" for file in sorted(Path("notebooks").glob("*.py"))]}
    below = {"README": chapters, "docs/solvers/README": solvers, "notebooks/README": tours}
    for caption, pages in below.get(page, {}).items():
        source[0] += "\n".join(["\n```{toctree}", ":hidden:", f":caption: {caption}", *pages, "```\n"])


class FileLinks(SphinxTransform):
    """Links to files and folders of the repository that are no pages go to copies that a browser shows."""

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Replace the links of one page."""
        for link in [*self.document.findall(self._is_open)]:
            target = self._target(link)
            if target.is_dir():
                page = target / "README" if (target / "README.md").exists() else target / "index"
            elif target.suffix in SHOWN and target.is_file():
                page = target
            else:
                continue
            uri = self.app.builder.get_relative_uri(self.env.docname, str(page))
            link.replace_self(nodes.reference("", "", *link.children, refuri=uri, internal=True))
            if page.name != "README":
                self.env.metadata[self.env.docname].setdefault("linked", []).append(str(target))

    def _is_open(self, node: nodes.Node) -> bool:
        """Whether a node is a link that the parser did not recognize as one to a page that there is."""
        if not isinstance(node, addnodes.download_reference | addnodes.pending_xref):
            return False
        return not node.get("refdomain") or self._to_code(node)

    def _to_code(self, link: nodes.Element) -> bool:
        """Whether a link is to a Python file: the parser takes it for a notebook, which is a page."""
        return link.get("refdomain") == "doc" and link["reftarget"] not in self.env.found_docs

    def _target(self, link: nodes.Element) -> Path:
        if self._to_code(link):
            return Path(f"{link['reftarget']}.py")
        return _path(self.env.docname, link["reftarget"])


def _path(page: str, link: str) -> Path:
    """Where in the repository a link of a page leads to."""
    return Path(os.path.normpath(Path(page).parent / link))


class Formulas(SphinxTransform):
    """Formulas on lines of their own reach MathJax as they are, with their environments.

    The number of an equation stands beside it. In the formula it would be off the screen if the formula is wide.
    """

    default_priority = 200

    def apply(self, **_: Any) -> None:
        """Mark the formulas of one page."""
        for formula in [*self.document.findall(nodes.math_block)]:
            numbers = TAG.findall(text := formula.astext())
            formula["no-wrap"] = True
            formula[:] = [nodes.Text(rf"\[{TAG.sub('', text)}\]")]
            if numbers:
                (number,) = numbers
                mark = f'<a class="eqno" href="#eq-{number}">({number})</a>'
                equation = nodes.container("", classes=["equation"], ids=[f"eq-{number}"])
                formula.replace_self(equation)
                equation += [formula, nodes.raw("", mark, format="html")]


class Equations(SphinxTransform):
    """The numbers of equations in the text of a page are links to the equations."""

    default_priority = 205  # after the formulas

    def apply(self, **_: Any) -> None:
        """Link the numbers of one page."""
        numbers = [id for node in self.document.findall(nodes.container) for id in node["ids"] if id.startswith("eq-")]
        known = "|".join(re.escape(id.removeprefix("eq-")) for id in numbers)
        for text in [*self.document.findall(nodes.Text)] if numbers else []:
            parts = re.split(rf"\(({known})\)", text)
            if len(parts) == 1 or isinstance(text.parent, WITHOUT_LINKS):
                continue
            links = [nodes.reference("", f"({part})", refuri=f"#eq-{part}", internal=True) for part in parts[1::2]]
            words = [nodes.Text(part) for part in parts[::2]]
            text.parent.replace(
                text, [node for pair in zip(words, [*links, None], strict=True) for node in pair if node]
            )


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
    """Docstrings are plain text: `|x|` and `w*` are formulas, what is between backquotes is code, and indented
    paragraphs keep their lines.
    """
    text = "\n".join(lines)
    blocks = re.findall(BLOCK, text, flags=re.MULTILINE)
    text = re.sub(BLOCK, "\\g<1>\n\n::\n\n\0", text, flags=re.MULTILINE)
    sessions = re.findall(SESSION, text, flags=re.MULTILINE)
    text = re.sub(SESSION, "\1", text, flags=re.MULTILINE)
    parts = re.split("`+", text)
    parts[::2] = [re.sub(r"([|*]|_\b)", r"\\\1", part) for part in parts[::2]]  # marks of Sphinx's language
    parts[::2] = [_with_pages(with_links(part, "..")) for part in parts[::2]]
    text = "``".join(parts)
    # Napoleon would take what stands before a colon for a type.
    text = re.sub(r"^Returns:\n +", r"\g<0>: ", text, flags=re.MULTILINE)
    for block in blocks:
        text = text.replace("\0", block[1], 1)
    for session in sessions:
        text = text.replace("\1", session, 1)
    # An empty comment in front: Napoleon would take what stands before a colon in the first line for a type, too.
    lines[:] = ["..", ""] * (what in ("data", "attribute", "property")) + text.split("\n")


def _with_pages(text: str) -> str:
    """A docstring with links to the pages that it names."""
    return re.sub(r"\b(docs/[\w/]+)\.md\b", r":doc:`\1.md </\1>`", text)


def _is_internal(_: Sphinx, what: str, name: str, about: object, skip: bool, options: object) -> bool | None:
    """Leave out what is not for users.

    These are the constants of modules and of classes, and the fields of a NamedTuple as members: there they have
    Python's words, not those of the docstring. Methods that another package adds to a class, as scikit-learn does, are
    left out too.
    """
    explained = inspect.isclass(about) or inspect.isroutine(about) or isinstance(about, property | cached_property)
    constant = what in ("module", "class") and not explained
    return True if constant or type(about).__name__ == "_tuplegetter" or _is_of_another_package(about) else None


def _is_of_another_package(about: object) -> bool:
    """Whether the code of a function lies in a file outside this package."""
    function = inspect.unwrap(about)  # type: ignore[arg-type]
    if not inspect.isfunction(function):
        return False
    file = Path(function.__code__.co_filename)
    return file.is_file() and PACKAGE.resolve() not in file.parents


def _copy_files(app: Sphinx, failure: Exception | None) -> None:
    """Write the pages of the files and folders that others link to."""
    if failure:
        return
    shutil.copyfile(app.outdir / "README.html", app.outdir / "index.html")  # what a server shows first
    linked = {Path(path) for page in app.env.metadata.values() for path in page.get("linked", [])}
    linked.update(file for package in LIBRARY for file in (PACKAGE / package).rglob("*.py"))
    for folder in [path for path in linked if path.is_dir()]:
        files = [file for file in sorted(folder.rglob("*")) if file.suffix in SHOWN]
        links = "".join(f'<li><a href="{(name := file.relative_to(folder))}.html">{name}</a></li>' for file in files)
        text = f"<!doctype html><meta charset=utf-8><title>{folder}</title><h2>{folder}</h2><ul>{links}</ul>"
        _write(app.outdir / folder / "index.html", text)
        linked.update(files)
    for file in filter(Path.is_file, linked):
        _write(app.outdir / f"{file}.html", _highlighted(file))


def _highlighted(file: Path) -> str:
    try:
        lexer = get_lexer_for_filename(file.name)
    except ClassNotFound:
        lexer = TextLexer()
    # With an encoding the page says its own, and is made of bytes.
    look = HtmlFormatter(full=True, title=str(file), lineanchors="line", encoding="utf-8")
    page: bytes = highlight(file.read_text(encoding="utf-8"), lexer, look)
    return page.decode("utf-8")


def _write_charts(app: Sphinx, failure: Exception | None) -> None:
    """Write a script for each figure that has a look. It adds the figure's chart to those of a page (charts.js)."""
    import pandas as pd

    from localentropy.figures.interactive import chart

    for file in [] if failure else sorted(GALLERY.glob(f"*/*{LOOK}")):
        name = str(file.relative_to(GALLERY)).removesuffix(LOOK)
        figure = chart(pd.read_csv(GALLERY / f"{name}.csv"), json.loads(file.read_text(encoding="utf-8")))
        text = json.dumps(figure, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        _write(app.outdir / f"_static/charts/{name}.js", f'charts["{name}"] = {text};\n')


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
