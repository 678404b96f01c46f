"""The real browser in which pages are looked at."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(PROGRAM is None, reason="no Chromium to look at pages with (Debian: chromium)")


def launched(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
