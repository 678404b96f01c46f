"""The page in a real browser on a narrow screen, and by the keyboard alone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.chromium import appears, launched, needs_chromium, new_page

pytest.importorskip("playwright.sync_api")

WIDTH = 400
BOXES = """() => {
    const roots = [document], found = []
    while (roots.length) {
        for (const each of roots.pop().querySelectorAll("*")) {
            if (each.shadowRoot) roots.push(each.shadowRoot)
            if (each.matches(".bk-Figure, .bk-SliderTitle, .noUi-target, select"))
                found.push(each.getBoundingClientRect().toJSON())
        }
    }
    return found
}"""


@pytest.fixture
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "localentropy", "explore", "figure8", "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    found = re.match(r"http://\S+", process.stdout.readline())
    assert found
    yield found.group(0)
    process.terminate()
    process.wait()


@needs_chromium
def test_a_narrow_page_has_all_parts_below_each_other_and_obeys_the_keyboard(address: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        page = new_page(launched(playwright), viewport={"width": WIDTH, "height": 900})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        shown = page.get_by_text("inv_alpha=x, margin=0.0")
        appears(shown)
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
        boxes = sorted(page.evaluate(BOXES), key=lambda box: float(box["top"]))
        assert len(boxes) >= 4
        for box in boxes:
            assert box["left"] >= 0 and box["right"] <= WIDTH
        for upper, lower in pairwise(boxes):
            assert upper["bottom"] <= lower["top"] + 1.0
        handle = page.locator(".noUi-handle").nth(1)
        handle.focus()
        page.keyboard.press("ArrowRight")
        appears(page.get_by_text("inv_alpha=x, margin=0.01"))
        assert errors == []
