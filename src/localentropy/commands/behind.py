"""What is behind a figure, as links of the site: its numbers, script, parameters, theory, explorer and claims.

Nothing is listed here. The links follow from the configuration, the catalogue of explorers, the files of the gallery,
and the docstrings of the code that a figure uses, which name the equations and sections of `docs/<paper>/theory.md`.
"""

from __future__ import annotations

import ast
import csv
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_parser.slugs import github_slugify
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

from localentropy.claims.claim import Claim
from localentropy.claims.rendering import SHOWN
from localentropy.explore.catalogue import EXPLORERS
from localentropy.pipeline.computations import ExperimentJob
from localentropy.pipeline.config import Configuration, resolve, split_target
from localentropy.pipeline.outputs import GALLERY, FigureJob

DOWNLOADS = {".csv": "numbers (CSV)", ".png": "picture (PNG)", ".pdf": "drawing (PDF)"}
"""Ending of a file of the gallery that is copied into the site → its name."""
_NUMBER = r"(?:[A-Z]\.)?\d+[a-z]?"
_FIGURE = r"s?\d+"
CITATION = re.compile(
    rf"docs/(\w+)/theory\.md,?\s+(eqs?\.|sections?|§)\s*({_NUMBER}(?:(?:-|,\s+|\s+and\s+|\s+to\s+){_NUMBER})*)"
)
"""A place of the theory in a docstring: paper, what is counted, numbers."""
TAG = re.compile(r"\s*\\tag\{(.*?)\}")
"""The number of an equation of the theory."""

DOCUMENTED = (ast.FunctionDef, ast.ClassDef)

configured = functools.cache(resolve)


def figures_of(claim: Claim, configuration: Configuration) -> list[str]:
    """The figures that show what a claim is about.

    Returns:
        Targets of the figures that its source names, such as figure 3; if it names none, of those that draw most of its
        tables. Empty if no figure draws one.
    """
    named = {
        (claim.paper, place)
        for words in re.findall(rf"figures? ({_FIGURE}(?:(?:, | and ){_FIGURE})*)", claim.source)
        for number in re.findall(_FIGURE, words)
        for place in (f"figure{number}", number)
    }
    said = [target for target in configuration.figures if split_target(target) in named]
    if said:
        return said
    tables = set(claim.arguments.values())
    shared = {target: len(tables.intersection(at.experiments)) for target, at in configuration.figures.items()}
    most = max(shared.values())
    return [target for target, count in shared.items() if most and count == most]


def claims_of(target: str, configuration: Configuration) -> list[str]:
    """Identifiers of the claims that a figure is about (`figures_of`)."""
    return [key for key, claim in configuration.claims.items() if target in figures_of(claim, configuration)]


@functools.cache
def judged_in(card: Path) -> frozenset[str]:
    """Identifiers of the claims that a scorecard has, named by its path without ending: a new claim may wait for it."""
    with card.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return frozenset(row["id"] for row in csv.DictReader(file))


def line_of(file: Path, start: str) -> int:
    """The number of the first line of a file that begins with a text, counted from 1.

    Raises:
        StopIteration: there is none.
    """
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
    return next(number for number, line in lines if line.startswith(start))


def theory_of(target: str, configuration: Configuration) -> list[tuple[str, str, list[str]]]:
    """The sections of theory that the code of a figure cites.

    Returns:
        Paper and title of each section, and the numbers of its equations that are cited, in the order of the pages. The
        citations are those in the docstrings of the figure's module, of its experiments' programs, and of what these
        import.
    """
    modules = set(FigureJob.from_configuration(configuration, target).modules)
    for name in configuration.figures[target].experiments:
        modules.update(ExperimentJob.from_configuration(configuration, name).modules)
    cited = set().union(*map(_cited, modules))
    return [
        (paper, title, [number for what, number in places if what == "eq" and (paper, what, number) in cited])
        for paper in sorted({paper for paper, *_ in cited})
        for title, places in _sections(paper).items()
        if any((paper, *place) in cited for place in places)
    ]


@functools.cache
def _cited(entry: str) -> set[tuple[str, str, str]]:
    """What a module, or `<module>:<name>` of it, and what it imports cite: paper, `eq` or `section`, number.

    Of a module that is imported as a whole, those functions count that are taken from it.
    """
    module, _, name = entry.partition(":")
    tree = _parsed(module)
    used = {module: {name}} if name else {module: {node.name for node in tree.body if isinstance(node, DOCUMENTED)}}
    inside = next((node for node in tree.body if isinstance(node, DOCUMENTED) and node.name == name), tree)
    taken = [node for node in ast.walk(inside) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    for node in ast.walk(inside):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("localentropy."):
            for alias in node.names:
                of_it = {each.attr for each in taken if each.value.id == alias.name}  # type: ignore[attr-defined]
                used.setdefault(node.module, set()).add(alias.name)
                used.setdefault(f"{node.module}.{alias.name}", set()).update(of_it)
    texts = " ".join(" ".join(text.split()) for origin, names in used.items() for text in _docstrings(origin, names))
    return {
        (paper, "eq" if what.startswith("eq") else "section", number)
        for paper, what, numbers in CITATION.findall(texts)
        for number in re.findall(_NUMBER, numbers)
    }


def _docstrings(module: str, names: set[str]) -> Iterator[str]:
    """Those of a module and of functions and classes in it."""
    for node in (tree := _parsed(module), *tree.body):
        if node is tree or (isinstance(node, DOCUMENTED) and node.name in names):
            yield ast.get_docstring(node) or ""


@functools.cache
def _parsed(module: str) -> ast.Module:
    """The syntax tree of a module; an empty one of a package."""
    file = Path("src", *module.split(".")).with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8") if file.exists() else "")


@functools.cache
def _sections(paper: str) -> dict[str, list[tuple[str, str]]]:
    """Title → what can be cited of a section of the paper's theory: its own number, and its equations."""
    sections: dict[str, list[tuple[str, str]]] = {}
    parts = re.split(r"^#+ (.*)\n", Path(f"docs/{paper}/theory.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for title, text in zip(parts[1::2], parts[2::2], strict=True):
        own = [("section", number) for number in re.findall(r"^(\d+)\. ", title)]
        sections[title] = own + [("eq", tag) for tag in TAG.findall(text)]
    return sections


def with_links(text: str, folder: str) -> str:
    """A docstring in Sphinx's language, with links at the equations and sections of theory that it cites.

    Args:
        text: the docstring.
        folder: the address of the folder of the papers' pages, from the page of the docstring.
    """

    def linked(citation: re.Match[str]) -> str:
        paper, what, numbers = citation.groups()
        page = f"{folder}/{paper}/theory.html"
        anchors = {
            number: f"eq-{number}" if what.startswith("eq") else github_slugify(title)
            for title, places in _sections(paper).items()
            for kind, number in places
            if (kind == "eq") == what.startswith("eq")
        }
        places = re.sub(_NUMBER, lambda one: f"\\ `{one[0]} <{page}#{anchors[one[0]]}>`__", numbers)
        return citation[0].removesuffix(numbers) + places

    return CITATION.sub(linked, text)


class BehindFigures(SphinxTransform):
    """Below the caption and the settings of each figure of the gallery stands what is behind it."""

    default_priority = 210  # after the charts

    def apply(self, **_: Any) -> None:
        """Add the links to one page."""
        page = self.env.docname
        if Path(page).name != "gallery":
            return
        places = {GALLERY / FigureJob.place(target): target for target in configured().figures}
        for picture in [*self.document.findall(nodes.image)]:
            target = places.get(Path(page, "..", picture["uri"]).resolve().relative_to(Path.cwd()).with_suffix(""))
            if target is None:
                continue
            block = picture.parent
            block["ids"].append(target)
            end = f"<!-- /{split_target(target)[1]} -->"
            at = next(index for index, node in enumerate(block.parent, 1) if node.astext().strip() == end)
            items = [nodes.list_item("", _sentence(name, links)) for name, links in self._links(target) if links]
            block.parent.insert(at, nodes.bullet_list("", *items, classes=["behind"]))

    def _links(self, target: str) -> Iterator[tuple[str, list[nodes.Node]]]:
        """What is behind a figure: a word for each kind, and its links."""
        configuration = configured()
        paper, module = split_target(target)
        files = {GALLERY / paper / f"{module}{ending}": name for ending, name in DOWNLOADS.items()}
        there = [_download(file, name) for file, name in files.items() if file.exists()]
        drawn = f"make {target}"
        lacking = not (GALLERY / paper / f"{module}.pdf").exists()
        yield (
            "Files",
            there + [nodes.inline("", "", nodes.literal(drawn, drawn), nodes.Text(" draws the PDF"))] * lacking,
        )
        yield "Script", [to_line(self, Path(f"src/localentropy/figures/{paper}/{module}.py"), None, f"{module}.py")]
        entries = [to_line(self, file := Path(f"config/{paper}/figures.yaml"), line_of(file, f"{module}:"), "figure")]
        for name in configuration.figures[target].experiments:
            of, _, section = name.partition("/")
            file = Path(f"config/{of}/physics.yaml")
            entries.append(to_line(self, file, line_of(file, f"{section}:"), name))
        yield "Configuration", entries
        yield (
            "Theory that its code cites",
            [
                link
                for of, title, equations in theory_of(target, configuration)
                for link in (
                    to_anchor(self, f"docs/{of}/theory", github_slugify(title), f"{of} {title}"),
                    *(to_anchor(self, f"docs/{of}/theory", f"eq-{at}", f"({at})") for at in equations),
                )
            ],
        )
        explorer = f"python -m localentropy explore {target}"
        yield "Explore", [nodes.literal(explorer, explorer)] if target in EXPLORERS else []
        claims = claims_of(target, configuration)
        cards = {key: GALLERY / configuration.claims[key].paper / "scorecard" for key in claims}
        judged = [key for key in claims if key in judged_in(cards[key])]
        yield "Claims", [to_anchor(self, str(cards[key]), key, key) for key in judged]


class BehindClaims(SphinxTransform):
    """The row of a claim in a scorecard has an anchor, and links to the claim's figures and its test."""

    default_priority = 210

    def apply(self, **_: Any) -> None:
        """Add the links to one page."""
        if Path(self.env.docname).name != "scorecard":
            return
        configuration = configured()
        identifier, source = (list(SHOWN).index(column) for column in ("id", "source"))
        for row in self.document.findall(nodes.row):
            cells: list[Any] = row.children
            claim = configuration.claims.get(key := cells[identifier].astext())
            if claim is None:
                continue
            row["ids"].append(key)
            module, test = claim.test.rsplit(".", 1)
            file = Path("src/localentropy/claims", *module.split(".")).with_suffix(".py")
            to_test = to_line(self, file, line_of(file, f"def {test}("), "test")
            cells[identifier][:] = [
                _sentence("", [to_anchor(self, self.env.docname, key, key)]),
                _sentence("", [to_test]),
            ]
            figures = figures_of(claim, configuration)
            pages = {target: f"docs/{split_target(target)[0]}/gallery" for target in figures}
            if figures:
                cells[source] += _sentence("", [to_anchor(self, pages[at], at, at) for at in figures])


def _sentence(name: str, links: Iterable[nodes.Node]) -> nodes.paragraph:
    paragraph = nodes.paragraph("", f"{name}: " if name else "")
    for number, link in enumerate(links):
        paragraph += [nodes.Text(", ")] * bool(number) + [link]
    return paragraph


def to_line(transform: SphinxTransform, file: Path, line: int | None, text: str) -> nodes.reference:
    """A link of a page to a line of a file of the repository, which the site shows as a page of its own."""
    transform.env.metadata[transform.env.docname].setdefault("linked", []).append(str(file))
    return to_anchor(transform, str(file), f"line-{line}" if line else "", text)


def to_anchor(transform: SphinxTransform, page: str, anchor: str, text: str) -> nodes.reference:
    """A link of a page to an anchor of another or of itself."""
    uri = transform.app.builder.get_relative_uri(transform.env.docname, page) + f"#{anchor}" * bool(anchor)
    return nodes.reference("", text, refuri=uri, internal=True)


def _download(file: Path, text: str) -> nodes.Node:
    return addnodes.download_reference("", "", nodes.Text(text), reftarget=f"/{file}", refdomain="")
