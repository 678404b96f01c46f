"""Notebooks become pages that need no network. Formulas are pictures, and each picture has an alternative text."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import jupytext
import pytest

from localentropy.commands.notebook import in_site, render, with_pictures
from localentropy.errors import DataError
from localentropy.pipeline.config import ROOT

NOTEBOOKS = sorted(ROOT.glob("notebooks/*.py"))
SOURCE = r"""
# %% [markdown]
# The overlap $q_1 < 1$ of an entropy
# $$\phi = \frac{1}{2}\ln 2.$$

# %% alt="A line that \"rises\" <from> 0."
import matplotlib.pyplot as plt
plt.plot([0, 1])
plt.show()
"""


class Page(HTMLParser):
    """Alternative texts of the pictures of a page, and all that it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.alternatives: list[str | None] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "img":
            self.alternatives.append(named.get("alt"))
        self.loaded += [value for name, value in attrs if value and name == "src"]
        self.loaded += [value for name, value in attrs if value and tag == "link" and name == "href"]


def test_a_page_loads_nothing_and_says_what_its_pictures_show(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(SOURCE)
    render(tmp_path / "small.py", tmp_path / "small.html")
    page = Page()
    page.feed((tmp_path / "small.html").read_text())
    assert page.alternatives == ["q_1 < 1", r"\phi = \frac{1}{2}\ln 2.", 'A line that "rises" <from> 0.']
    assert len(page.loaded) == 3 and all(address.startswith("data:image/") for address in page.loaded)


def test_the_site_shows_the_text_and_the_outputs_of_the_last_run(tmp_path: Path) -> None:
    source = tmp_path / "small.py"
    source.write_text("# %% [markdown]\n# # A title\n# The overlap $q$.\n\n# %%\nx = 2\n\nprint(x + 1)\n")
    assert "It was not run" in in_site(source)
    render(source, source.with_suffix(".html"))
    page = in_site(source)
    assert page.startswith("# A title\n") and "The overlap $q$." in page and "It was not run" not in page
    assert "```python\nx = 2\n\nprint(x + 1)\n```" in page and "<pre>3\n</pre>" in page
    source.write_text(source.read_text().replace("x = 2", "x = 4"))
    assert "It was not run" in in_site(source) and "<pre>" not in in_site(source)


def test_no_kernel_and_no_start_up_file_of_the_user_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "jupyter/kernels/python3/kernel.json": '{"argv": ["false"], "display_name": "another", "language": "python"}',
        "ipython/profile_default/startup/first.py": "leaked = True",
        "small.py": "# %%\nimport sys\nprint(sys.executable, 'leaked' in dir())\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", "/proc")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    render(tmp_path / "small.py", tmp_path / "small.html")
    assert f"{sys.executable} False\n" in (tmp_path / "small.html").read_text()


def test_a_missing_notebook_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.py: no such file"):
        render(tmp_path / "none.py", tmp_path / "none.html")


def test_what_cannot_be_rendered_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text("# %%\nx = 1\n\n# %%\ny = 0\nx / y\n")
    (tmp_path / "latin.py").write_bytes("# %%\n# é\n".encode("latin-1"))
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    for name, message in {
        "failing.py": "the cell that begins with `y = 0` fails: ZeroDivisionError: division by zero$",
        "latin.py": "not readable as UTF-8",
        "picture.png": "allowed is a py:percent file",
    }.items():
        with pytest.raises(DataError, match=message):
            render(tmp_path / name, tmp_path / "page.html")
        assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_every_formula_can_be_drawn_and_every_picture_has_words(file: Path) -> None:
    for cell in jupytext.read(file).cells:
        if cell.cell_type == "markdown":
            assert "$" not in re.sub(r'src="[^"]*"|alt="[^"]*"', "", with_pictures(cell.source))
        elif re.search(r"plt\.show\(\)|display\(drawing", cell.source):
            assert len(cell.metadata.get("alt", "")) > 20, cell.source
