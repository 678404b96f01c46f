"""The command: what it refuses, whom it answers, and the page in a real browser."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from localentropy.commands import cli
from localentropy.explore.catalogue import EXPLORERS
from localentropy.pipeline.config import ROOT
from tests import progress
from tests.chromium import come_true, launched, needs_chromium, new_page


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int | str | None:
    """The exit status of the command line."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["localentropy", "explore", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code


def test_without_a_name_it_lists_what_can_be_explored(monkeypatch, capsys) -> None:
    assert not run(monkeypatch)
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(EXPLORERS)


def test_a_wrong_name_is_one_line(monkeypatch, capsys) -> None:
    assert run(monkeypatch, "figur3") == 1
    error = capsys.readouterr().err
    assert (
        error.startswith("error: figur3: no such figure to explore; did you mean 'figure3'?") and error.count("\n") == 1
    )


@pytest.mark.parametrize("name", ["figure5", "overparam_figure5"])
def test_a_figure_without_a_page_is_told_with_the_reason(monkeypatch, capsys, name: str) -> None:
    assert run(monkeypatch, name) == 1
    assert capsys.readouterr().err == (
        f"error: {name}: this figure has no page, as there is no theory in it; allowed: {', '.join(EXPLORERS)}\n"
    )


def test_a_taken_port_is_one_line(monkeypatch, capsys) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert run(monkeypatch, "glm_hidden_manifold", "--port", str(port), "--no-browser") == 1
    error = capsys.readouterr().err
    assert re.fullmatch(rf"error: --port {port} is taken; a free one: \d+\n", error)


def test_without_the_toolkit_it_says_how_to_get_it(monkeypatch, capsys) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "bokeh"]:
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("server", "page"):
        monkeypatch.delitem(sys.modules, f"localentropy.explore.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "bokeh", None)
    assert run(monkeypatch, "figure3") == 1
    error = capsys.readouterr().err
    assert error.startswith("error: no package bokeh: explore needs it; run `make setup`") and error.count("\n") == 1


@pytest.fixture
def server() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A running page, and its port."""
    command = [sys.executable, "-m", "localentropy", "explore", "glm_hidden_manifold", "--port", "0", "--no-browser"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = re.match(r"http://localhost:(\d+)/", process.stdout.readline())
        assert told is not None
        yield process, int(told[1])
        process.kill()


def test_only_this_machine_is_answered_and_ctrl_c_ends_it(server) -> None:
    process, port = server
    socket.create_connection(("127.0.0.1", port)).close()
    # An address of this machine too, that a server for all addresses would answer.
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", port))
    process.send_signal(signal.SIGINT)
    out, err = progress.output(process)
    assert out.endswith("stopped\n") and err == "" and process.returncode == 0


@needs_chromium
def test_a_slider_moves_the_curve_in_a_browser(server) -> None:
    api = pytest.importorskip("playwright.sync_api", reason="no playwright to steer Chromium with")
    _, port = server
    curve = """() => [...(window.Bokeh?.documents[0]?.get_model_by_name("student, panel 0")?.data["y"] ?? [])]"""
    with api.sync_playwright() as playwright:
        browser = launched(playwright)
        page, wrong = new_page(browser, viewport={"width": 1000, "height": 600}), []
        page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda sent: (
                None if f"localhost:{port}" in sent.url or sent.url.startswith("data:") else wrong.append(sent.url)
            ),
        )
        page.goto(f"http://localhost:{port}/")
        come_true(page, f"({curve})().length === 61")
        before = page.evaluate(curve)
        page.locator(".noUi-handle").first.focus()
        for _ in range(3):
            page.keyboard.press("PageUp")
        come_true(page, f"({curve})()[30] !== {before[30]!r}")
        assert len(page.evaluate(curve)) == 61 and "hidden_manifold.fit(" in page.locator("pre").inner_text()
        browser.close()
    assert wrong == []
