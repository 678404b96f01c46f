"""The real pipeline at smoke scale, once without interruption: what every mistreated run is held against.

`LOCALENTROPY_ROBUSTNESS_TARGETS` replaces the targets (`figure8 figure9` makes a first try cheap).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import progress
from tests.pipeline.conftest import Checkout, Run, copy_checkout

TARGETS = os.environ.get("LOCALENTROPY_ROBUSTNESS_TARGETS", "all scorecard").split()
SCALE = ("--config", "scale=smoke")
KINDS = ("png", "pdf", "csv", "md", "html")


@dataclass
class Running:
    """A started pipeline, in a process group of its own."""

    process: subprocess.Popen[bytes]
    log: Path

    def alive(self) -> bool:
        return self.process.poll() is None

    def wait_for(self, event: Callable[[], Any], patience: progress.Patience | None = None) -> None:
        """Wait for something that the pipeline brings about."""
        try:
            progress.until(event, self.process, patience)
        except AssertionError as error:
            raise AssertionError(self.log.read_text()) from error

    def finish(self) -> Run:
        return Run(progress.ended(self.process), self.log.read_text())

    def kill(self, group: bool) -> None:
        """SIGKILL to the whole group, or to the main process alone: its jobs live on as orphans."""
        if group:
            os.killpg(self.process.pid, signal.SIGKILL)
        else:
            self.process.kill()
        self.process.wait()


@dataclass
class Pipeline:
    """A checkout in which the pipeline is run at smoke scale; everything it prints is kept beside the checkout."""

    folder: Path

    @property
    def checkout(self) -> Checkout:
        return Checkout(self.folder)

    def start(self, *targets: str) -> Running:
        """Start Snakemake; orphaned jobs go on writing to its log, as they would to a terminal."""
        log = self.folder.parent / f"{self.folder.name}.{time.monotonic_ns()}.log"
        with log.open("w") as stream:
            process = subprocess.Popen(
                self.checkout.command(*(targets or TARGETS), *SCALE),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return Running(process, log)

    def run(self, *targets: str) -> Run:
        return self.start(*targets).finish()

    def products(self) -> dict[str, bytes]:
        """Figures, scorecard and tables: their bytes must not depend on what the run went through."""
        patterns = [f"figures/smoke/**/*.{kind}" for kind in KINDS]
        return {
            name: content
            for pattern in [*patterns, "results/*/*/*.parquet"]
            for name, content in self.checkout.contents(pattern).items()
        }

    def parts(self) -> dict[str, bytes]:
        """The parts of the tables: one that is gone is not remade while its table is there."""
        return self.checkout.contents("results/*/*/*/*.parquet")

    def kept(self) -> dict[str, bytes]:
        """The figures and scorecards as they are kept beside the tables."""
        files = [self.checkout.contents(f"results/figures/**/*.{kind}") for kind in KINDS]
        return {name: content for found in files for name, content in found.items()}

    def patience(self) -> progress.Patience:
        """Patience with the processes that work in the checkout, whoever started them."""
        return progress.Patience(lambda: [each for pid in self.processes() for each in progress.family(pid)[:1]])

    def processes(self) -> list[int]:
        """Processes that work in the checkout."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                inside = (entry / "cwd").readlink() == self.folder and (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if inside:
                found.append(int(entry.name))
        return found

    def copy_to(self, folder: Path) -> Pipeline:
        """Everything, with results, records and times, as `cp -a` would."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Pipeline(folder)


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """A checkout as cloned: the source of all others, since this one may be edited while the tests run."""
    return Pipeline(copy_checkout(tmp_path_factory.mktemp("pristine") / "checkout"))


@dataclass
class Reference(Pipeline):
    """A finished run, and how long it took."""

    seconds: float

    def same(self, other: Pipeline) -> bool:
        """Whether the other pipeline has all that this one has, to the bit."""
        return other.products() == self.products() and other.parts().items() <= self.parts().items()


@pytest.fixture(scope="session")
def reference(pristine: Pipeline, tmp_path_factory: pytest.TempPathFactory) -> Reference:
    """An uninterrupted run of everything."""
    pipeline = pristine.copy_to(tmp_path_factory.mktemp("reference") / "checkout")
    started = time.monotonic()
    run = pipeline.run()
    assert run.status == 0, run.output
    return Reference(pipeline.folder, time.monotonic() - started)


@pytest.fixture
def finished(reference: Reference, tmp_path: Path) -> Pipeline:
    """A copy of the finished run, to be mistreated."""
    return reference.copy_to(tmp_path / "checkout")


def forget(pipeline: Pipeline, *names: str) -> None:
    """Delete what the experiments and figures have made."""
    places = (
        "results/overparam/{}",
        "results/figures/overparam/{}",
        "logs/overparam/{}",
        "figures/smoke/overparam/{}.*",
    )
    for name in names:
        for place in places:
            for file in pipeline.folder.glob(place.format(name)):
                shutil.rmtree(file) if file.is_dir() else file.unlink()
