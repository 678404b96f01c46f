"""Who may open the page, and what is left of one that is closed: the real server, and a real websocket."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pytest
from bokeh.document import Document
from bokeh.server.server import BaseServer
from bokeh.util.token import generate_jwt_token
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from localentropy.errors import LocalEntropyError
from localentropy.explore.explorer import Axes, Curve, Explorer, Slider
from localentropy.explore.page import _SOLVER, Page
from localentropy.explore.server import listening, serve


@dataclass(eq=False)
class Held:
    """A call whose pieces wait until they may be solved."""

    function: str = "erm.fit"
    pieces: int = 20
    solved: list[int] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    may_end: threading.Event = field(default_factory=threading.Event)

    def names(self) -> set[tuple[str, str]]:
        return {("localentropy.theory", "erm")}

    def python(self, rows: str) -> str:
        return f"{rows} = held"

    def solve(self, piece: int) -> pd.DataFrame:
        self.begun.set()
        self.may_end.wait()
        self.solved.append(piece)
        return pd.DataFrame({"x": [float(piece)], "value": [0.0]})


@asynccontextmanager
async def served(held: Held, allow: Sequence[str] = ()) -> AsyncIterator[BaseServer]:
    def page(document: Document) -> None:
        call: Any = held
        slider = Slider("strength", "λ", 1.0, 0.1, 5.0, 0.1)
        explorer = Explorer((slider,), (Axes("x", "y"),), lambda strength: [Curve("line", call, "value")])
        shipped = pd.DataFrame({"panel": [], "series": [], "name": [], "x": [], "y": []}).astype({"series": str})
        Page(document, "held", explorer, shipped)

    server = listening(page, 0, allow)
    server.start()
    try:
        yield server
    finally:
        held.may_end.set()
        server.stop()


def request(server: BaseServer, path: str, scheme: str = "http", **headers: str) -> HTTPRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HTTPRequest(f"{scheme}://127.0.0.1:{server.port}/{path}", headers=named, request_timeout=0.0)


async def opened(server: BaseServer, **headers: str) -> WebSocketClientConnection:
    """The websocket of a page that was loaded as its own."""
    got = await AsyncHTTPClient().fetch(request(server, ""))
    token = re.search(r'"token":"([^"]+)"', got.body.decode())
    assert token
    own = {"Host": f"localhost:{server.port}", "Origin": f"http://localhost:{server.port}"}
    wanted = {name: value for name, value in (own | headers).items() if value}
    return await websocket_connect(request(server, "ws", "ws", Sec_WebSocket_Protocol=f"bokeh, {token[1]}", **wanted))


NAMES = [
    ("localhost:PORT", True),
    ("127.0.0.1:PORT", True),
    ("LocalHost:PORT", True),
    ("hub.example.org", True),  # by `allow`
    ("localhost:8000", True),  # by `allow`
    ("localhost", False),
    ("localhost:80", False),
    ("localhost:8001", False),
    ("localhost.:PORT", False),
    ("another.example.org:PORT", False),
    ("localhost.example.org:PORT", False),
    ("127.0.0.1.example.org:PORT", False),
    ("127.0.0.2:PORT", False),
    ("0.0.0.0:PORT", False),
]


@pytest.mark.parametrize(("name", "good"), NAMES)
def test_pages_and_websockets_are_answered_under_the_names_they_were_opened_under(name: str, good: bool) -> None:
    held = Held()

    async def check() -> None:
        async with served(held, ["hub.example.org", "localhost:8000"]) as server:
            host = name.replace("PORT", str(server.port))
            for path in ("", "static/js/bokeh.min.js", "autoload.js", "metadata", "nothing"):
                got = await AsyncHTTPClient().fetch(request(server, path, Host=host), raise_error=False)
                assert (got.code == 403) != good
                if not good:
                    assert got.body.count(b"\n") == 1 and b"refused; open http://localhost:" in got.body
            assert good or not held.begun.is_set()  # a refused page computes nothing
            for scheme in ("http", "https"):
                if good:
                    (await opened(server, Host=host, Origin=f"{scheme}://{host}")).close()
                else:
                    with pytest.raises(HTTPClientError, match="403"):
                        await opened(server, Host=host, Origin=f"{scheme}://{host}")

    asyncio.run(check())


@pytest.mark.parametrize("origin", ["", "null", "http://another.example.org", "http://[", "localhost:PORT", "http://"])
def test_the_websocket_is_for_the_page_itself(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOKEH_ALLOW_WS_ORIGIN", "another.example.org")

    async def check() -> None:
        async with served(Held()) as server:
            (await opened(server)).close()
            with pytest.raises(HTTPClientError, match="403"):
                await opened(server, Origin=origin.replace("PORT", str(server.port)))

    asyncio.run(check())


EXPIRED = generate_jwt_token("a tab that slept", extra_payload={"session_expiry": 0}, expiration=-1)


@pytest.mark.parametrize("protocol", ["", "bokeh", "chat", f"bokeh, {EXPIRED}"])
def test_a_websocket_that_bokeh_refuses_is_closed_in_silence(protocol: str, caplog: pytest.LogCaptureFixture) -> None:
    async def check() -> None:
        async with served(Held()) as server:
            headers = {"Host": f"localhost:{server.port}", "Origin": f"http://localhost:{server.port}"}
            headers |= {"Sec_WebSocket_Protocol": protocol} if protocol else {}
            websocket = await websocket_connect(request(server, "ws", "ws", **headers))
            assert await websocket.read_message() is None

    with caplog.at_level(logging.WARNING):
        asyncio.run(check())
    assert caplog.text == ""


async def until(event: threading.Event) -> None:
    await asyncio.to_thread(event.wait)


async def solver_is_idle() -> None:
    """Wait until the solver has done what it has, and what would follow from that."""
    for _ in range(3):
        await asyncio.get_running_loop().run_in_executor(_SOLVER, bool)


async def closed(server: BaseServer, websocket: WebSocketClientConnection) -> None:
    websocket.close()
    while any(session.connection_count for session in server.get_sessions()):
        await asyncio.sleep(0.0)


async def forget(server: BaseServer) -> None:
    """What the server does with sessions that nobody has used for a while."""
    for session in server.get_sessions():
        session.request_expiration()
    await server._tornado._cleanup_sessions()
    assert server.get_sessions() == []


@pytest.mark.parametrize("came", [True, False], ids=["closed", "the websocket never came"])
def test_a_page_that_is_left_is_not_solved_on_and_says_nothing(came: bool, caplog: pytest.LogCaptureFixture) -> None:
    held = Held()

    async def check() -> None:
        async with served(held) as server:
            page: Any = await opened(server) if came else await AsyncHTTPClient().fetch(request(server, ""))
            await until(held.begun)
            if came:
                await closed(server, page)
            await forget(server)
            held.may_end.set()
            await solver_is_idle()

    with caplog.at_level(logging.WARNING):
        asyncio.run(check())
    assert held.solved == [0] and caplog.text == ""


def own_threads() -> int:
    """Threads but those in which asyncio looks up names."""
    return sum(not thread.name.startswith("asyncio") for thread in threading.enumerate())


def test_ten_closed_pages_leave_no_thread_and_the_eleventh_is_solved(caplog: pytest.LogCaptureFixture) -> None:
    held = Held()

    async def check() -> None:
        async with served(held) as server:
            await closed(server, await opened(server))
            await until(held.begun)
            threads = own_threads()
            for _ in range(10):
                await closed(server, await opened(server))
            assert own_threads() == threads
            await forget(server)
            held.may_end.set()
            await solver_is_idle()
            assert held.solved == [0]
            websocket = await opened(server)
            while len(held.solved) < 1 + held.pieces:
                await asyncio.sleep(0.0)
            await closed(server, websocket)

    with caplog.at_level(logging.WARNING):
        asyncio.run(check())
    assert held.solved == [0, *range(held.pieces)] and caplog.text == ""


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("http://localhost:8000/", "localhost:8000"), ("*", "localhost:8000"), ("a b", "localhost:8000")],
)
def test_a_word_that_is_no_name_is_one_line(name: str, nearest: str) -> None:
    with pytest.raises(LocalEntropyError) as caught:
        serve("figure3", 0, browser=False, allow=[name])
    assert str(caught.value).startswith(f"--allow {name}: allowed: NAME or NAME:PORT")
    assert str(caught.value).endswith(f"nearest: {nearest}")
