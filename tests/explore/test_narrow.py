"""The pages in a real browser on a narrow screen, and one by the keyboard alone."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from localentropy.explore.catalogue import EXPLORERS
from tests.chromium import appears, launched, needs_chromium, new_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

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
OTHERS = [pytest.param(target, marks=pytest.mark.slow) for target in EXPLORERS if target != "figure8"]


@contextmanager
def explored(target: str) -> Iterator[Page]:
    """The page of a figure on a narrow screen, with its first curves, on which nothing goes wrong."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "localentropy", "explore", target, "--no-browser", "--port", "0"]
    errors: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, sync_playwright() as playwright:
        try:
            assert process.stdout is not None
            address = re.match(r"http://\S+", process.stdout.readline())
            assert address
            page = new_page(launched(playwright), viewport={"width": WIDTH, "height": 900})
            page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(address[0])
            appears(page.get_by_text("plt.show()"))
            yield page
        finally:
            process.terminate()
    assert errors == []


@needs_chromium
@pytest.mark.parametrize("target", ["figure8", *OTHERS])
def test_a_narrow_page_has_all_parts_below_each_other(target: str) -> None:
    with explored(target) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
        boxes = sorted(page.evaluate(BOXES), key=lambda box: float(box["top"]))
    assert len(boxes) >= 2  # a control and a chart
    for box in boxes:
        assert box["left"] >= 0 and box["right"] <= WIDTH
    for upper, lower in pairwise(boxes):
        assert upper["bottom"] <= lower["top"] + 1.0


@needs_chromium
def test_a_slider_obeys_the_keyboard() -> None:
    with explored("figure8") as page:
        appears(page.get_by_text("inv_alpha=x, margin=0.0"))
        page.locator(".noUi-handle").nth(1).focus()
        page.keyboard.press("ArrowRight")
        appears(page.get_by_text("inv_alpha=x, margin=0.01"))
