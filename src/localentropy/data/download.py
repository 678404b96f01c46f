"""Download of a raw file: with retries and a checksum. Only a whole file is put in place."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from localentropy.data.registry import RawFile, mismatch
from localentropy.errors import DataError, first_line

if TYPE_CHECKING:
    import requests

TIMEOUT = 30.0  # seconds without a byte
CHUNK = 1 << 18


def download(raw: RawFile, folder: Path, attempts: int = 3, delay: float = 2.0) -> Path:
    """Fetch a raw file into `folder`, unless the right one is there already.

    Args:
        raw: the file and its locations.
        folder: its folder; made if missing.
        attempts: tries at each location before the next one.
        delay: seconds before the second try, doubled at each further one.

    Returns:
        The path of the verified file.

    Raises:
        DataError: no location gave the file (no network, errors, wrong content), or the disk is full.
    """
    target = folder / raw.file
    if target.exists():
        problem = mismatch(target, raw)
        if not problem:
            return target
        print(f"{target}: {problem}: fetching it again", file=sys.stderr)
    reason = "no location is known"
    for url in raw.urls:
        for attempt in range(attempts):
            if attempt:
                time.sleep(delay * 2 ** (attempt - 1))
            problem, final = _fetch(url, raw, target)
            if not problem:
                return target
            reason = f"{urlsplit(url).netloc}: {problem}"
            if final:
                break
    raise DataError(
        f"{target}: cannot be downloaded: {reason}; "
        "check the network, or set data.source=mirror (a directory with the file) or embedded"
    )


class _WrongContentError(Exception):
    """The content is not that of the wanted file."""


def _fetch(url: str, raw: RawFile, target: Path) -> tuple[str, bool]:
    """One try: the problem (empty if there is none), and whether another try at this location is useless."""
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    progress = _Progress(raw.file, raw.bytes)
    fetch = pooch.HTTPDownloader(
        progressbar=progress, chunk_size=CHUNK, timeout=TIMEOUT, headers={"Accept-Encoding": "identity"}
    )

    def fetch_and_check(url: str, output_file: str, pooch: object) -> None:
        fetch(url, output_file, pooch)
        problem = mismatch(Path(output_file), raw)
        if problem:
            raise _WrongContentError(problem)

    try:
        pooch.retrieve(url, f"sha256:{raw.sha256}", raw.file, target.parent, downloader=fetch_and_check)
    except _WrongContentError as error:
        return str(error), False
    except requests.exceptions.RequestException as error:
        return _explain(error, raw)
    except OSError as error:
        raise DataError(
            f"{target}: cannot be written ({error.strerror or error}, {raw.bytes} bytes needed); "
            "free some space or choose another folder"
        ) from error
    finally:
        progress.close()
    return "", True


def _explain(error: requests.exceptions.RequestException, raw: RawFile) -> tuple[str, bool]:
    """A failed request in words, and whether another try is useless."""
    from requests.exceptions import ChunkedEncodingError, ConnectionError, Timeout

    if error.response is not None:
        status = error.response.status_code
        return f"the server answered {status}", 400 <= status < 500 and status not in {408, 429}
    if isinstance(error, Timeout):
        return f"no answer within {TIMEOUT:.0f} s", False
    if isinstance(error, ChunkedEncodingError):
        return f"the connection closed before all {raw.bytes} bytes came", False
    if isinstance(error, ConnectionError):
        return "no connection", False
    return first_line(error), False


class _Progress:
    """Progress of one download, called by pooch: a bar on a terminal, else one line at the start."""

    def __init__(self, name: str, size: int) -> None:
        self.total = size
        self._bar: Any = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

            columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task(name, total=size)
            self._bar.start()
        else:
            print(f"downloading {name} ({size / 1e6:.1f} MB)", file=sys.stderr)

    def update(self, count: int) -> None:
        if self._bar:
            self._bar.update(self._task, advance=count)

    def reset(self) -> None:
        if self._bar:
            self._bar.update(self._task, completed=0)

    def close(self) -> None:
        if self._bar:
            self._bar.stop()
