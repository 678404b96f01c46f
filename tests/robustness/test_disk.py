"""A full disk and a read-only folder: one line, nothing half written, and the run goes on when the trouble is over."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from localentropy.pipeline import artifacts
from tests.pipeline.conftest import Run
from tests.robustness.conftest import Pipeline, Reference, forget

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")]


@contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[None]:
    """The folder with something mounted over it."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", *arguments, str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Use up the space that is left; the file that holds it."""
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as stream:
        for size in (1 << 16, 1 << 12, 1):
            with suppress(OSError):
                while True:
                    stream.write(b"\0" * size)
    return ballast


def own_lines(run: Run) -> list[str]:
    return [line for line in run.output.splitlines() if line.startswith("error: ")]


def test_a_full_disk_below_the_results(reference: Reference, finished: Pipeline) -> None:
    forget(finished, "typical", "figure8", "figure9")
    results = finished.folder / "results"
    kept = finished.folder.parent / "kept"
    results.rename(kept)
    with mounted(results, "-t", "tmpfs", "-o", "size=64m", "none"):
        shutil.copytree(kept, results, dirs_exist_ok=True)
        ballast = fill(results)
        full = finished.run("figure8", "figure9")
        assert full.status != 0
        assert own_lines(full) and all("No space left" in line for line in own_lines(full)), full.output
        assert "Traceback" not in full.output
        for file in results.rglob("*.parquet"):
            artifacts.read_table(file)
        assert not list(results.rglob("*.tmp"))
        ballast.unlink()
        again = finished.run()
        assert again.status == 0, again.output
        assert reference.same(finished)


def test_a_full_disk_below_everything(reference: Reference, tmp_path: Path) -> None:
    folder = tmp_path / "checkout"
    with mounted(folder, "-t", "tmpfs", "-o", "size=140m", "none"):
        shutil.copytree(reference.folder, folder, symlinks=True, dirs_exist_ok=True)
        pipeline = Pipeline(folder)
        forget(pipeline, "typical", "figure8", "figure9")
        running = pipeline.start("figure8", "figure9")
        running.wait_for(lambda: [*folder.glob("logs/overparam/typical/*/1-of-2.log")])
        ballast = fill(folder)
        full = running.finish()
        assert full.status != 0
        assert any("No space left" in line for line in full.output.splitlines()), full.output
        products = pipeline.products()
        assert all(reference.products()[name] == content for name, content in products.items())
        ballast.unlink()
        again = pipeline.run()
        assert again.status == 0, again.output
        assert reference.same(pipeline)


def test_read_only_results(reference: Reference, finished: Pipeline) -> None:
    results = finished.folder / "results"
    (table,) = results.glob("overparam/typical/*.parquet")
    with mounted(results, "--bind", str(results)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(results)], check=True)
        idle = finished.run()
        assert idle.status == 0 and idle.did == set(), idle.output
        # Something to do: a table of other parameters has another name, and cannot be written.
        command = finished.checkout.python("run", "overparam/typical", "--scale", "smoke", "--config", "seed=5")
        assert command.status == 1 and command.output.count("\n") == 1, command.output
        assert "Read-only file system" in command.output
    table.write_bytes(table.read_bytes()[:-1])
    forget(finished, "figure8")  # a damaged table is remade if something needs it
    with mounted(results, "--bind", str(results)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(results)], check=True)
        refused = finished.run()
        assert refused.status != 0 and "Traceback" not in refused.output, refused.output
        assert len(own_lines(refused)) == 1 and "Read-only file system" in own_lines(refused)[0]
    again = finished.run()
    assert again.status == 0, again.output
    assert reference.same(finished)
