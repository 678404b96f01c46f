"""The pages name what there is to use: every command, every option, every question to the theory."""

from __future__ import annotations

import re

import typer.main

from localentropy import theory
from localentropy.commands.cli import app
from localentropy.commands.gallery import _captioned
from localentropy.pipeline.config import ROOT, read_figures, split_target
from localentropy.theory.model import Asked

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def test_every_command_and_option_is_on_the_page() -> None:
    page = (ROOT / "docs/commands.md").read_text()
    named = set(re.findall(r"^\| `([a-z]+)", page, re.MULTILINE))
    assert set(COMMANDS) <= named
    options = {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        if not getattr(parameter, "hidden", False)
        for option in parameter.opts
        if option.startswith("--") and option != "--help"
    }
    assert options and all(f"`{option}" in page for option in options), options


def test_the_page_of_the_library_names_every_question_and_model_of_the_theory() -> None:
    text = (ROOT / "docs/library.md").read_text()
    named = [name for name in theory.__all__ if name[0].islower() or issubclass(getattr(theory, name), Asked)]
    assert [name for name in named if not re.search(rf"`{name}\b|\b{name}\(", text)] == []


def test_formulas_have_no_command_that_github_refuses() -> None:
    refused = re.compile(r"\\(operatorname|DeclareMathOperator|(re)?newcommand|def|let|require|href|includegraphics)\b")
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("notebooks/*.py")]:
        found = refused.search(page.read_text())
        assert found is None, f"{page.relative_to(ROOT)}: {found[0]}"


def test_every_caption_is_short_and_has_a_table_of_settings() -> None:
    for target in read_figures():
        paper, name = split_target(target)
        page = (ROOT / f"docs/{paper}/gallery.md").read_text()
        (text,) = re.findall(rf"<!-- {name} -->\n\n(.*)\n\n<!-- /{name} -->", page, re.DOTALL)
        caption, table = text.split("\n\n")
        assert 20 <= len(caption.split()) <= 120, target
        assert re.search(r"^\| chosen here \| .+ \|$", table, re.MULTILINE), target
        assert "that of" not in caption, target


def test_marks_of_markdown_in_a_caption_are_text() -> None:
    text = _captioned({"caption": "Loss λ|w|² < 1", "settings": {"a|b": "w*"}})
    assert text.split("\n") == [
        "",
        "",
        "Loss λ\\|w\\|² \\< 1",
        "",
        "| setting | value |",
        "|---|---|",
        "| a\\|b | w\\* |",
        "",
        "",
    ]
    assert _captioned({"caption": "Short.", "settings": {}}) == "\n\nShort.\n\n"
