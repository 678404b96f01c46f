"""The Python in README and docs runs as it stands there, page by page, and gives the numbers that its comments say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from localentropy.pipeline.artifacts import Stamp, write_table

ROOT = Path(__file__).resolve().parents[1]


def python_blocks(page: Path) -> list[str]:
    """The Python blocks of a page of Markdown."""
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


PAGES = [page for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))) if python_blocks(page)]


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
    for name in re.findall(r'"(results/[^"]*\.parquet)"', text):
        rows = pd.DataFrame({"D": [21], "inv_alpha": [1.2], "quantity": ["solved"], "value": [1.0]})
        Path(name).parent.mkdir(parents=True)
        write_table(Path(name), rows, Stamp("a/table", {}, "code"), datetime.now(UTC))
    names: dict[str, object] = {}
    for block in python_blocks(page):
        for statement, number in statements(block):
            source = ast.unparse(statement)
            if number is None:
                exec(source, names)
            else:
                digits = len(number.partition(".")[2])
                assert f"{eval(source, names):.{digits}f}" == number, source
