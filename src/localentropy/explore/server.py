"""The server of a page. It answers this machine only."""

from __future__ import annotations

import errno
import signal
import socket
from typing import Any

import pandas as pd
from bokeh.document import Document
from bokeh.server.server import Server

from localentropy.errors import LocalEntropyError
from localentropy.explore.catalogue import EXPLORERS
from localentropy.explore.page import Page
from localentropy.pipeline.config import ROOT, resolve, split_target

ADDRESS = "127.0.0.1"


def serve(target: str, port: int, browser: bool) -> None:
    """Show the page of a figure until Ctrl-C.

    Args:
        target: one of `EXPLORERS`.
        port: to listen on; 0 for any that is free.
        browser: whether to open it in the browser.

    Raises:
        LocalEntropyError: the port is taken, or not allowed.
    """
    configuration = resolve()
    explorer = EXPLORERS[target](configuration)
    paper, module = split_target(target)
    shipped = pd.read_csv(ROOT / f"figures/gallery/{paper}/{module}.csv")
    title = f"{target}: {configuration.figures[target].shows}"

    def page(document: Document) -> None:
        Page(document, title, explorer, shipped)

    try:
        server = Server({"/": page}, address=ADDRESS, port=port)
    except OSError as error:
        why = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise LocalEntropyError(f"--port {port} {why}; a free one: {_free_port()}") from None
    try:
        server.start()
        # An exception for Ctrl-C could be raised, and lost, inside of a callback.
        loop: Any = server.io_loop
        loop.asyncio_loop.add_signal_handler(signal.SIGINT, loop.stop)
        print(f"http://localhost:{server.port}/  Ctrl-C stops it", flush=True)
        if browser:
            loop.add_callback(server.show, "/")
        loop.start()
        print("\nstopped", flush=True)
    finally:
        server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])
