"""The real browser in which pages are looked at."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.progress import Patience

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="no Chromium to look at pages with (Debian: chromium)")


def launched(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])


def new_page(browser: Browser | BrowserContext, **options: Any) -> Page:
    """A page that has as much time as it needs."""
    page = browser.new_page(**options)
    page.set_default_timeout(0)
    return page


def come_true(page: Page, expression: str) -> None:
    """Wait for an expression of the page, as long as the browser or a server works."""
    _patiently(lambda limit: page.wait_for_function(expression, timeout=limit))


def appears(place: Locator) -> None:
    """Wait for an element, as long as the browser or a server works."""
    _patiently(lambda limit: place.wait_for(timeout=limit))


def _patiently(wait: Callable[[float], Any]) -> None:
    from playwright.sync_api import TimeoutError as NotYet

    patience = Patience()
    while True:
        try:
            wait(1000.0)
            return
        except NotYet:
            patience.look()
