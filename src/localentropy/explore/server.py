"""The server of a page. It answers this machine only, and only under the names that the page was opened under."""

from __future__ import annotations

import errno
import json
import logging
import re
import signal
import socket
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pandas as pd
from bokeh.document import Document
from bokeh.protocol.exceptions import ProtocolError
from bokeh.server.server import BaseServer
from bokeh.server.tornado import BokehTornado
from bokeh.server.util import bind_sockets
from bokeh.server.views.ws import WSHandler
from bokeh.settings import settings
from tornado.httpserver import HTTPServer
from tornado.httputil import HTTPServerRequest
from tornado.ioloop import IOLoop
from tornado.log import app_log
from tornado.routing import AnyMatches, Matcher, RuleRouter
from tornado.web import Application, RequestHandler

from localentropy.errors import LocalEntropyError
from localentropy.explore.catalogue import EXPLORERS
from localentropy.explore.page import Page
from localentropy.figures.interactive import with_names
from localentropy.pipeline.config import ROOT, resolve, split_target
from localentropy.pipeline.outputs import GALLERY, LOOK

ADDRESS = "127.0.0.1"


def serve(target: str, port: int, browser: bool, allow: Sequence[str] = ()) -> None:
    """Show the page of a figure until Ctrl-C.

    Args:
        target: one of `EXPLORERS`.
        port: to listen on; 0 for any that is free.
        browser: whether to open it in the browser.
        allow: further names, `NAME` or `NAME:PORT`, that the page may be opened under.

    Raises:
        LocalEntropyError: the port is taken, or not allowed; a word of `allow` is no name.
    """
    for name in allow:
        _require_name(name)
    configuration = resolve()
    explorer = EXPLORERS[target](configuration)
    paper, module = split_target(target)
    gallery = ROOT / GALLERY / paper
    look = json.loads((gallery / f"{module}{LOOK}").read_text(encoding="utf-8"))
    shipped = with_names(pd.read_csv(gallery / f"{module}.csv"), look)
    title = f"{target}: {configuration.figures[target].shows}"

    def page(document: Document) -> None:
        Page(document, title, explorer, shipped)

    try:
        server = listening(page, port, allow)
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


def listening(page: Callable[[Document], None], port: int, allow: Sequence[str] = ()) -> BaseServer:
    """A server of a page that listens on a port of this machine, and is not started.

    Args:
        page: fills a document.
        port: to listen on; 0 for any that is free.
        allow: further names that the page may be opened under.

    Raises:
        OSError: the port is taken, or not allowed.
    """
    sockets, port = bind_sockets(ADDRESS, port)
    names = [_normal(name) for name in (f"localhost:{port}", f"{ADDRESS}:{port}", *allow)]
    # Bokeh checks the websocket's origin once more. A list of the user's environment would come before an argument.
    settings.allowed_ws_origin.set_value(names)
    # Messages to a closed tab are lost. Nobody needs to know this.
    logging.getLogger(WSHandler.__module__).setLevel(logging.ERROR)
    app_log.addFilter(_is_no_refusal)
    bokeh = BokehTornado({"/": page})
    refusing = Application([(".*", _Refusal, {"names": names})], log_function=lambda handler: None)
    http = HTTPServer(RuleRouter([(_OpenedUnder(names), bokeh), (AnyMatches(), refusing)]))
    http.add_sockets(sockets)
    return BaseServer(IOLoop.current(), bokeh, http)


class _OpenedUnder(Matcher):
    """Requests of pages that were opened under one of the names.

    Another page's name may lead to this machine too (DNS rebinding), so the name is checked and not the address. All
    browsers say in `Origin` which page opens a websocket. A websocket without it is refused.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        websocket = request.headers.get("Upgrade", "").lower() == "websocket"
        origin = request.headers.get("Origin", "" if websocket else None)
        asked = [request.host] if origin is None else [request.host, origin.partition("://")[2]]
        return {} if all(_normal(name) in self._names for name in asked) else None


class _Refusal(RequestHandler):
    """The answer to every other request: one line."""

    def initialize(self, names: Sequence[str]) -> None:
        self._names = names

    def prepare(self) -> None:
        self.set_status(403)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        asked = self.request.headers.get("Origin") or self.request.host
        here = " or ".join(f"http://{name}/" for name in self._names)
        self.finish(f"{asked}: refused; open {here}, or start explore with --allow and the name that you use\n")


def _is_no_refusal(record: logging.LogRecord) -> bool:
    """Whether a record is not of a websocket that Bokeh refuses, such as that of a tab that slept for too long."""
    return record.exc_info is None or not isinstance(record.exc_info[1], ProtocolError)


def _normal(name: str) -> str:
    """A name as browsers write it: in lower case, and without the port that they leave out."""
    return name.lower().removesuffix(":80")


def _require_name(name: str) -> None:
    if not re.fullmatch(r"([\w.-]+|\[[\da-fA-F:]+\])(:\d{1,5})?", name, re.ASCII):
        nearest = name.partition("://")[2].partition("/")[0] or "localhost:8000"
        raise LocalEntropyError(
            f"--allow {name}: allowed: NAME or NAME:PORT, as the browser's address has it; nearest: {nearest}"
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])
