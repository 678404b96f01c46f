"""The site, looked at in a real browser: every page, link, picture, chart and formula, without a network.

Listings of files, six of seven pages, are read without it: one of each kind is looked at in both ways.
"""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, sync_playwright

from localentropy.commands.behind import TAG, claims_of, configured, figures_of, judged_in, theory_of
from localentropy.commands.site import LIBRARY, build
from localentropy.errors import LocalEntropyError
from localentropy.explore.catalogue import EXPLORERS
from localentropy.pipeline.config import ROOT, find_papers, split_target
from localentropy.pipeline.outputs import LOOK
from localentropy.theory import barycenter, bayes, monotonicity, typical_solutions
from tests.chromium import appears, come_true, launched, needs_chromium, new_page

GALLERY = ROOT / "figures/gallery"
PHONE = 400
"""Pixels of a narrow screen."""
pytestmark = [needs_chromium, pytest.mark.pipeline]

EVERYTHING = """async () => {
    if (window.MathJax) await MathJax.startup.promise;
    const all = (selector) => [...document.querySelectorAll(selector)];
    const drawn = async (image) => {
        image.loading = "eager";
        await image.decode().catch(() => {});
        return image.naturalWidth > 0;
    };
    const shown = document.querySelector("article")?.cloneNode(true);
    shown?.querySelectorAll("code, pre, mjx-container").forEach((node) => node.remove());
    return {
        links: all("a[href]").map((link) => link.href),
        behind: all("ul.behind").map((list) => [...list.querySelectorAll("a[href]")].map((link) => link.href)),
        commands: all("ul.behind code").map((node) => node.textContent),
        rows: Object.fromEntries(
            all("tr[id]").map((row) => [row.id, [...row.querySelectorAll("a[href]")].map((link) => link.href)])
        ),
        anchors: all("[id]").map((node) => node.id),
        pictures: await Promise.all(all("article img").map(async (image) => [image.src, await drawn(image)])),
        formulas: all(".math").length,
        typeset: all(".math > mjx-container > svg").filter((svg) => svg.getBoundingClientRect().width > 0).length,
        errors: all("mjx-merror, [data-mml-node=merror]").map((node) => node.textContent),
        text: shown?.textContent ?? "",
    };
}"""

OVERLAPS = """(details) => {
    const texts = [...details.querySelectorAll("div svg text")].filter((node) => node.textContent.trim());
    const places = texts.map((node) => [node.textContent, node.getBoundingClientRect()]).filter(([, at]) => at.width);
    const shown = details.getBoundingClientRect();
    const wrong = places.filter(([, at]) => at.left < shown.left - 1 || at.right > shown.right + 1);
    const over = ([, one], [, other]) =>
        Math.min(one.right, other.right) - Math.max(one.left, other.left) > 0.5 &&
        Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 0.5;
    const pairs = places.flatMap((one, number) => places.slice(0, number).filter((other) => over(one, other))
        .map(([text]) => [`${one[0]} over ${text}`]));
    return [...wrong, ...pairs].map(([text]) => text);
}"""


@dataclass
class Chart:
    """How many points, lines and areas a chart shows, and which of its texts lie over another or outside."""

    marks: int
    overlaps: list[str]


@dataclass
class Visit:
    """What a page showed, and what went wrong on it."""

    links: list[str] = field(default_factory=list)
    behind: list[list[str]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    rows: dict[str, list[str]] = field(default_factory=dict)
    anchors: list[str] = field(default_factory=list)
    pictures: list[tuple[str, bool]] = field(default_factory=list)
    formulas: int = 0
    typeset: int = 0
    charts: dict[str, Chart] = field(default_factory=dict)
    width_on_a_phone: int = field(default=PHONE, compare=False)
    text: str = ""
    errors: list[str] = field(default_factory=list)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A web server of a folder; its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/favicon.ico":  # browsers ask for it by themselves
                self.send_response(204)
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def visited(browser: Browser, address: str, pages: list[str]) -> dict[str, Visit]:
    """All pages of a site, each opened in the browser; scripts that many of them share are read once."""
    with browser.new_context() as reader:
        return {name: visit(reader, address, name) for name in pages}


PLAIN = {"html", "head", "title", "meta", "body", "h2", "div", "pre", "span", "ul", "li", "a"}
"""What a listing of a file or a folder is made of: nothing that runs, and nothing that a browser would ask for."""


def listing(address: str, folder: Path, name: str) -> Visit | None:
    """What a listing shows, read without a browser, in which it could not go wrong; None of any other page."""
    text = (folder / name).read_text()
    assert re.search(r'<meta [^>]*charset="?utf-8', text), name
    styles = "".join(re.findall("<style.*?</style>", text, re.DOTALL))
    elements = re.findall(r"<(\w+)([^>]*)", re.sub("<style.*?</style>|<!--.*?-->", "", text, flags=re.DOTALL))
    written = styles + "".join(rest for _, rest in elements)
    if not {element for element, _ in elements} <= PLAIN or re.search(r"url\(|@import|\b(src|on\w+)=", written):
        return None
    links = [link for element, rest in elements if element == "a" for link in re.findall(r'\bhref="([^"]*)"', rest)]
    anchors = [anchor for _, rest in elements for anchor in re.findall(r'\bid="([^"]*)"', rest)]
    return Visit(links=[urljoin(f"{address}/{name}", unescape(link)) for link in links], anchors=anchors)


def visit(reader: BrowserContext, address: str, name: str) -> Visit:
    """Open a page, and each chart on it; then make the screen that of a phone."""
    page = new_page(reader)
    errors = watched(page, address)
    page.goto(f"{address}/{name}")
    seen = page.evaluate(EVERYTHING)
    found = Visit(**seen, charts=charts(page))
    page.set_viewport_size({"width": PHONE, "height": 900})
    found.width_on_a_phone = page.evaluate("document.documentElement.scrollWidth")
    found.errors += errors
    page.close()
    return found


def watched(page: Page, address: str) -> list[str]:
    """What goes wrong on a page from now on, and what it asks of others; the list grows."""
    errors: list[str] = []

    def tell(what: str, wrong: bool = True) -> None:
        if wrong:
            errors.append(what)

    page.on("console", lambda message: tell(message.text, message.type in ("error", "warning")))
    page.on("pageerror", lambda error: tell(str(error)))
    page.on("requestfailed", lambda request: tell(f"{request.url}: {request.failure}"))
    page.on("response", lambda answer: tell(f"{answer.url}: {answer.status}", answer.status >= 400))
    page.on("request", lambda sent: tell(f"asks for {sent.url}", not sent.url.startswith((address, "data:", "blob:"))))
    return errors


def charts(page: Page) -> dict[str, Chart]:
    """Open every chart, and look at it."""
    marks = ".points path, .js-line, .js-fill, .bars path, .hm image, .contourlines path, .errorbar path"
    shown = {}
    for name, details in opened(page):
        shown[name] = Chart(details.locator(marks).count(), details.evaluate(OVERLAPS))
    return shown


def opened(page: Page) -> Iterator[tuple[str, Locator]]:
    """Every chart of a page once it is drawn: its name, and its place."""
    for number, details in enumerate(page.locator("details.chart").all()):
        details.locator("summary").click()
        come_true(page, f"document.querySelectorAll('details.chart')[{number}].dataset.drawn === ''")
        yield details.get_attribute("data-chart") or "", details


def dead_links(address: str, visits: dict[str, Visit], folder: Path) -> list[str]:
    """Links within the site that lead to no file, or to no place on a page."""
    dead = []
    for name, found in visits.items():
        for link in found.links:
            target, anchor = urldefrag(link)
            if not target.startswith(address):
                continue
            file = unquote(target.removeprefix(f"{address}/")).partition("?")[0]
            there = visits[file].anchors if file in visits else None
            # As a browser does: the anchor as it is, or else without its percent signs.
            lost = anchor and there is not None and not {anchor, unquote(anchor)} & set(there)
            if not (folder / file).is_file() or lost:
                dead.append(f"{name}: {link.removeprefix(address)}")
    return dead


def test_a_folder_with_something_else_is_not_deleted(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(LocalEntropyError, match="not empty, and no site"):
        build(tmp_path)
    assert (tmp_path / "mine.txt").exists()


def test_a_link_to_an_earlier_site_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "site")
    with pytest.raises(LocalEntropyError, match="a link; name the folder itself"):
        build(tmp_path / "link")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield launched(playwright)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site that has just been built, where the variable says so; or else a new one."""
    if "LOCALENTROPY_SITE" in os.environ:
        return Path(os.environ["LOCALENTROPY_SITE"])
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "localentropy", "site", str(folder)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with served(folder) as address:
        yield address


@pytest.fixture(scope="module")
def listings(folder: Path, address: str) -> dict[str, Visit]:
    pages = sorted(str(file.relative_to(folder)) for file in folder.rglob("*.html"))
    return {page: found for page in pages if (found := listing(address, folder, page))}


@pytest.fixture(scope="module")
def visits(browser: Browser, folder: Path, address: str, listings: dict[str, Visit]) -> dict[str, Visit]:
    pages = {str(file.relative_to(folder)) for file in folder.rglob("*.html")}
    return listings | visited(browser, address, sorted(pages - listings.keys()))


def test_no_page_has_an_error_and_none_asks_for_the_network(visits: dict[str, Visit]) -> None:
    assert {name: found.errors for name, found in visits.items() if found.errors} == {}


def test_every_page_fits_on_a_phone(visits: dict[str, Visit], listings: dict[str, Visit]) -> None:
    assert len(visits) > len(listings) + 40
    assert {name: found.width_on_a_phone for name, found in visits.items() if found.width_on_a_phone > PHONE} == {}


def test_a_listing_is_read_as_a_browser_shows_it(browser: Browser, address: str, listings: dict[str, Visit]) -> None:
    kinds = {Path(name).name.partition(".")[2]: name for name in listings}
    assert {"html", "py.html", "yaml.html"} <= set(kinds)
    seen = visited(browser, address, list(kinds.values()))
    assert seen == {name: listings[name] for name in kinds.values()}


def test_every_link_leads_somewhere(visits: dict[str, Visit], address: str, folder: Path) -> None:
    assert sum(len(found.links) for found in visits.values()) > 1000
    assert dead_links(address, visits, folder) == []


def test_every_picture_is_drawn(visits: dict[str, Visit]) -> None:
    assert [source for found in visits.values() for source, drawn in found.pictures if not drawn] == []


def test_every_formula_is_drawn(visits: dict[str, Visit]) -> None:
    for paper in find_papers():
        assert visits[f"docs/{paper}/theory.html"].formulas > 100
    for name, found in visits.items():
        assert found.typeset == found.formulas, name
        if (ROOT / name).with_suffix(".md").exists():
            assert re.search(r"\$[^$]+\$|\\[a-z]{2}", found.text) is None, name


def test_the_gallery_has_every_figure(visits: dict[str, Visit]) -> None:
    for paper in find_papers():
        shown = {Path(source).name for source, _ in visits[f"docs/{paper}/gallery.html"].pictures}
        assert len(shown) == len([*(GALLERY / paper).glob("*.png")])


def test_every_figure_leads_to_what_is_behind_it(visits: dict[str, Visit], address: str, folder: Path) -> None:
    configuration = configured()
    for target, figure in configuration.figures.items():
        paper, name = split_target(target)
        page = visits[f"docs/{paper}/gallery.html"]
        assert target in page.anchors
        lists = {tuple(link.removeprefix(f"{address}/") for link in links) for links in page.behind}
        (links,) = [one for one in lists if f"src/localentropy/figures/{paper}/{name}.py.html" in one]
        (csv,) = [link for link in links if link.endswith(f"/{name}.csv")]
        assert (folder / csv).read_bytes() == (GALLERY / paper / f"{name}.csv").read_bytes()
        assert len([link for link in links if "/physics.yaml.html#line-" in link]) == len(figure.experiments)
        cited = [place for *_, equations in theory_of(target, configuration) for place in ("section", *equations)]
        assert len([link for link in links if "/theory.html#" in link]) == len(cited)
        claims = claims_of(target, configuration)
        assert [link.partition("#")[2] for link in links if "/scorecard.html#" in link] == [
            key for key in claims if key in judged_in(GALLERY / configuration.claims[key].paper / "scorecard")
        ]
        assert (f"python -m localentropy explore {target}" in page.commands) == (target in EXPLORERS)


def test_every_claim_has_an_anchor_and_leads_to_its_test_and_figures(visits: dict[str, Visit], address: str) -> None:
    judged = {key for paper in find_papers() for key in judged_in(GALLERY / paper / "scorecard")}
    assert len(judged) > 100
    for key, claim in configured().claims.items():
        if key not in judged:  # a new claim, which waits for the next scorecard
            continue
        page = visits[f"figures/gallery/{claim.paper}/scorecard.html"]
        assert key in page.anchors
        links = {link.removeprefix(f"{address}/") for link in page.rows[key]}
        module = claim.test.rpartition(".")[0].replace(".", "/")
        assert any(link.startswith(f"src/localentropy/claims/{module}.py.html#line-") for link in links)
        for target in figures_of(claim, configured()):
            assert f"docs/{split_target(target)[0]}/gallery.html#{target}" in links


def test_every_chart_shows_something(visits: dict[str, Visit]) -> None:
    drawn = {name: chart.marks for found in visits.values() for name, chart in found.charts.items()}
    if not drawn and not [*GALLERY.glob(f"*/*{LOOK}")]:
        pytest.skip("the gallery has no looks of figures, of which charts are made; `make gallery` adds them")
    assert set(drawn) == {str(file.relative_to(GALLERY).with_suffix("")) for file in GALLERY.glob("*/*.png")}
    assert [name for name, marks in drawn.items() if marks == 0] == []


COLUMNS = """(details) => {
    const { _fullLayout: layout } = details.querySelector("div");
    const lefts = Object.keys(layout).filter((key) => /^xaxis[0-9]*$/.test(key)).map((key) => layout[key].domain);
    const widest = Math.max(...lefts.map(([low, high]) => high - low));
    return new Set(lefts.filter(([low, high]) => high - low > 0.9 * widest).map(([low]) => low.toFixed(3))).size;
}"""


def test_no_chart_has_text_over_another(visits: dict[str, Visit]) -> None:
    wrong = [(name, each.overlaps) for found in visits.values() for name, each in found.charts.items() if each.overlaps]
    assert wrong == []


@pytest.mark.parametrize("paper", find_papers())
def test_on_a_phone_charts_have_one_column_and_no_text_over_another(browser: Browser, address: str, paper: str) -> None:
    page = new_page(browser, viewport={"width": PHONE, "height": 900})
    page.goto(f"{address}/docs/{paper}/gallery.html")
    for name, details in opened(page):
        assert (name, details.evaluate(OVERLAPS), details.evaluate(COLUMNS)) == (name, [], 1)
    page.close()


NUMBERS = """() => {
    const numbers = [...document.querySelectorAll(".eqno")];
    const shown = numbers.map((node) => [node.textContent, node.getBoundingClientRect()]);
    return shown.filter(([, at]) => at.width > 0 && at.left >= 0 && at.right <= innerWidth).map(([text]) => text);
}"""


@pytest.mark.parametrize("width", [1400, PHONE])
@pytest.mark.parametrize("paper", find_papers())
def test_every_equation_has_its_number_on_the_screen(browser: Browser, address: str, paper: str, width: int) -> None:
    page = new_page(browser, viewport={"width": width, "height": 900})
    page.goto(f"{address}/docs/{paper}/theory.html")
    page.evaluate("MathJax.startup.promise")
    written = TAG.findall((ROOT / f"docs/{paper}/theory.md").read_text())
    assert len(written) > 30 and page.evaluate(NUMBERS) == [f"({number})" for number in written]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()


@pytest.mark.parametrize("width", [1400, PHONE])
@pytest.mark.parametrize("name", sorted(file.stem for file in ROOT.glob("notebooks/*.py")))
def test_a_notebook_has_the_navigation_of_the_site(browser: Browser, address: str, name: str, width: int) -> None:
    page = new_page(browser, viewport={"width": width, "height": 900})
    page.goto(f"{address}/notebooks/{name}.html")
    assert page.locator(".sidebar-tree a").count() > 20
    assert page.locator("article .highlight-python").count() > 3
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()


def test_every_page_has_the_icon(visits: dict[str, Visit], folder: Path) -> None:
    (icon,) = folder.rglob("favicon.svg")
    for paper in find_papers():
        assert icon.name in (folder / f"docs/{paper}/gallery.html").read_text()


def test_the_reference_has_no_constants_and_shows_the_source_of_functions(folder: Path) -> None:
    for package in LIBRARY:
        page = (folder / f"docs/api/{package}.html").read_text()
        assert 'class="py data"' not in page and "ClassVar" not in page and "<blockquote>" not in page
        callables = re.findall(r'<dl class="py (?:function|class)">.*?</dt>', page, re.DOTALL)
        assert callables and [one for one in callables if "viewcode-link" not in one] == [], package


def test_no_docstring_is_misread(folder: Path, visits: dict[str, Visit]) -> None:
    """Words before a colon are no type of a property, and what is between backquotes is code."""
    for package in LIBRARY:
        assert re.search("<dt[^>]*>Type<", (folder / f"docs/api/{package}.html").read_text()) is None, package
    assert [name for name, found in visits.items() if "`" in found.text] == []


def test_the_reference_has_every_public_function_of_the_theory(visits: dict[str, Visit]) -> None:
    for module in (bayes, barycenter, monotonicity, typical_solutions):
        functions = [name for name, _ in inspect.getmembers(module, inspect.isfunction) if not name.startswith("_")]
        own = {f"{module.__name__}.{name}" for name in functions if vars(module)[name].__module__ == module.__name__}
        assert own and own <= set(visits["docs/api/theory.html"].anchors)


def test_the_search_finds_a_page(browser: Browser, address: str) -> None:
    page = new_page(browser)
    page.goto(f"{address}/search.html?q=kappa_max")
    appears(page.locator("#search-results li a").first)
    links = [link.get_attribute("href") or "" for link in page.locator("#search-results a").all()]
    page.close()
    assert any("docs/api/theory.html" in link for link in links)


def test_what_is_broken_is_found(browser: Browser, tmp_path: Path) -> None:
    """The same look at a page on which everything is wrong."""
    (tmp_path / "bad.html").write_text(
        "<!doctype html><article><a href='no.html'>a</a><a href='#no'>b</a><img src='no.png'><p>a formula $x$</p>"
        "<span class=math>x</span><script>console.error('wrong')</script><script src='https://example.org/a.js'></script>"
        "<style>body { margin: 0; width: 900px }</style>"
    )
    with served(tmp_path) as address:
        visits = visited(browser, address, ["bad.html"])
        dead = dead_links(address, visits, tmp_path)
    found = visits["bad.html"]
    assert found.width_on_a_phone == 900
    assert len(dead) == 2 and [drawn for _, drawn in found.pictures] == [False] and "$x$" in found.text
    assert (found.formulas, found.typeset) == (1, 0)
    told = " ".join(found.errors)
    assert "wrong" in told and "no.png: 404" in told and "asks for https://example.org/a.js" in told
