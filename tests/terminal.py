"""A command whose output goes to a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from tests import progress


def on_terminal(folder: Path, *arguments: str, stream: str = "stdout") -> tuple[int, str]:
    """The exit status of `python -m localentropy`, and what a terminal gets that is its standard output or error."""
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "localentropy", *arguments]
    environment = os.environ | {"COLUMNS": "160", "TERM": "xterm", "PYTHONPATH": str(folder / "src")}
    process = subprocess.Popen(command, cwd=folder, env=environment, **{stream: terminal})  # type: ignore[call-overload]
    os.close(terminal)
    shown = b""
    try:
        while block := os.read(screen, 65536):
            shown += block
    except OSError:  # nobody writes to it any more
        pass
    os.close(screen)
    return progress.ended(process), shown.decode()
