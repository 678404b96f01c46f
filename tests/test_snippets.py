"""The Python in README and docs runs as it stands there, page by page, and gives the numbers that stand beside it.

The values that `make` lines set are values that the configuration takes.
"""

from __future__ import annotations

import ast
import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from localentropy.pipeline.artifacts import Stamp, write_table
from localentropy.pipeline.computations import ExperimentJob
from localentropy.pipeline.config import read_overrides, resolve
from localentropy.pipeline.outputs import FigureJob
from localentropy.pipeline.provenance import Start

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = [ROOT / "README.md", ROOT / "data/README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


def python_blocks(page: Path, language: str = "python") -> list[str]:
    """The Python blocks of a page of Markdown; those of the language `pycon` are sessions with outputs."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


def lines_of_make(page: Path) -> list[tuple[str, list[str]]]:
    """Targets and overrides of the lines of a page that set values with `make`."""
    lines = re.findall(r"^ {4}(make \w+ .*SET=.*)$", page.read_text(), re.MULTILINE)
    words = [shlex.split(line, comments=True) for line in lines]
    return [
        (word[1], next(one for one in word if one.startswith("SET=")).removeprefix("SET=").split()) for word in words
    ]


PAGES = [page for page in WRITTEN if python_blocks(page) and page.name != "CONTRIBUTING.md"]
SESSIONS = [page for page in WRITTEN if python_blocks(page, "pycon")]
SETTING = [page for page in WRITTEN if lines_of_make(page)]


def statements(block: str) -> Iterator[tuple[ast.stmt, str | None]]:
    """Each statement of a block, and the number that the comment behind it begins with."""
    lines = block.splitlines()
    for statement in ast.parse(block).body:
        number = re.search(r"#\s*(-?\d+\.\d+)", lines[(statement.end_lineno or 0) - 1])
        yield statement, number and number[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_snippets_of_a_page_run_in_their_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(python_blocks(page))
    for name in re.findall(r'resolve\(\), "(\w+/\w+)"\)\.table', text):
        rows = pd.DataFrame({"D": [21], "inv_alpha": [1.2], "quantity": ["solved"], "value": [1.0]})
        table = ExperimentJob.from_configuration(resolve(), name).table
        write_table(table, rows, Stamp("a/table", {}, "code"), Start.now(), ["snakemake"])
    names: dict[str, object] = {}
    for block in python_blocks(page):
        for statement, number in statements(block):
            source = ast.unparse(statement)
            if number is None:
                exec(source, names)
            else:
                digits = len(number.partition(".")[2])
                assert f"{eval(source, names):.{digits}f}" == number, source


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_sessions_of_a_page_print_what_stands_there(page: Path) -> None:
    text = "\n".join(python_blocks(page, "pycon"))
    session = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    told: list[str] = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(session, out=told.append)
    assert tried > 0 and failed == 0, "".join(told)


@pytest.mark.parametrize("page", SETTING, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_values_that_a_page_sets_are_taken_by_the_configuration(page: Path) -> None:
    for target, words in lines_of_make(page):
        assert target in resolve(overrides=read_overrides(words)).figures


def test_the_first_steps_name_what_is_written() -> None:
    page = ROOT / "docs/first_steps.md"
    ((target, words),) = lines_of_make(page)
    for configuration in (resolve(), resolve(overrides=read_overrides(words))):
        published = FigureJob.from_configuration(configuration, target).published
        assert f"look at {published}.png in any browser" in page.read_text()
    numbers = len(pd.read_csv(ROOT / "figures/gallery/overparam" / f"{target}.csv"))
    drawn = FigureJob.from_configuration(resolve(), target).published
    assert f"{target}: {numbers} plotted numbers → {drawn}.png" in page.read_text()
