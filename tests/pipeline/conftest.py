"""A copy of this checkout with three small experiments and figures of its own, run by the real Snakemake."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory

import pytest

from localentropy import environment
from tests import progress

ROOT = Path(__file__).resolve().parents[2]

KERNEL = '''
"""A kernel."""

import numpy as np


def square(values):
    return np.asarray(values) ** 2 * {factor}
'''

EXPERIMENT = '''
"""An experiment that squares numbers."""

import time
from typing import Annotated

import pandas as pd
from pydantic import Field

from localentropy import seeds
from localentropy.programs.parts.parameters import SIZE, ExperimentParameters
from localentropy.numerics.{kernel} import square


class Parameters(ExperimentParameters):
    offset: Annotated[float, Field(gt=0, description="a parameter")]
    points: Annotated[int, Field(ge=1, description="a size", json_schema_extra=SIZE)]
    seconds: Annotated[float, Field(ge=0, description="how long a task sleeps")]


def tasks(parameters):
    return [{{"point": point}} for point in range(parameters.points)]


def memory(parameters, task):
    return parameters.offset


def compute(parameters, task, context):
    context.report("sleeps")
    time.sleep(parameters.seconds)
    noise = seeds.generator(context.seed, "noise", point=task["point"]).normal()
    return pd.DataFrame({{"x": [task["point"]], "y": square([parameters.offset + task["point"]]), "noise": [noise]}})
'''

PLOT = '''
"""A figure of squares."""

from localentropy.figures.drawing import Drawing, panels


def draw(tables, scale):
    figure, (axis,) = panels(1, 3.0, 2.0)
    for table in tables.values():
        axis.points(table.assign(y_err=0.0), "s")
    return Drawing(figure, f"squares at scale {scale}")
'''

FIGURES = """
figure91: {shows: squares of a, experiments: [overparam/toy_a]}
figure92: {shows: squares of b, experiments: [overparam/toy_b]}
figure93: {shows: squares of both, experiments: [overparam/toy_a, overparam/toy_b]}
"""


@dataclass
class Run:
    """A finished run of Snakemake: exit status, everything it printed, and what it did."""

    status: int
    output: str

    @property
    def did(self) -> set[str]:
        """Messages of the jobs that ran, without the target rules'."""
        messages = re.findall(r"^(?:Job \d+|localrule.*?): (.*)$", self.output, re.MULTILINE)
        return {
            m for m in messages if m.startswith(("computing", "joining", "drawing", "preparing", "testing", "counting"))
        }

    @property
    def outdated(self) -> set[str]:
        """Files that `verify` did not find current, or that a run deleted."""
        lines = [line.partition(": ") for line in self.output.splitlines()]
        return {
            file for file, _, said in lines if file.startswith(("results/", "figures/", "data/")) and said != "current"
        }

    @property
    def own_lines(self) -> list[str]:
        """What it printed, less its word on the profile."""
        return [line for line in self.output.splitlines() if not line.startswith("Using workflow specific profile")]


@functools.cache
def _starter() -> subprocess.Popen[str]:
    """The process that starts programs of Python's: one for all tests. It ends with this process."""
    command = [sys.executable, str(Path(__file__).with_name("warm.py"))]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class Checkout:
    """A directory with a copy of the repository in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", *arguments]

    def snakemake(self, *arguments: str) -> Run:
        return self._warm("snakemake", arguments, dict(os.environ))

    def python(self, *arguments: str) -> Run:
        own = {"PYTHONPATH": str(self.folder / "src"), "PATH": "/usr/bin:/bin"}
        return self._warm("localentropy", arguments, own | environment.STATED)

    def _warm(self, program: str, arguments: tuple[str, ...], variables: dict[str, str]) -> Run:
        """Run a program of Python's whose libraries are imported."""
        starter = _starter()
        asked, answers = starter.stdin, starter.stdout
        assert asked and answers
        with TemporaryDirectory() as folder:
            out, err = Path(folder, "out"), Path(folder, "err")
            asked.write(json.dumps([str(self.folder), program, arguments, variables, str(out), str(err)]) + "\n")
            asked.flush()
            try:
                progress.until(lambda: select([answers], [], [], 0)[0], starter)
            except AssertionError:
                progress.kill(starter)
                _starter.cache_clear()
                raise
            return Run(int(answers.readline()), out.read_text() + err.read_text())

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        file = self.folder / path
        before = file.read_text()
        after = change(before)
        assert after != before, f"{path}: the edit changes nothing"
        file.write_text(after)

    def table(self, name: str, part: str = "") -> Path:
        """The newest table of an experiment of the main paper, or its part, such as `1-of-2`."""
        pattern = f"results/overparam/{name}/*/{part}.parquet" if part else f"results/overparam/{name}/*.parquet"
        return max(self.folder.glob(pattern), key=lambda file: file.stat().st_mtime_ns)

    def tables(self) -> dict[str, bytes]:
        """The content of all tables and their parts."""
        return self.contents("results/**/*.parquet")

    def contents(self, pattern: str) -> dict[str, bytes]:
        files = sorted(self.folder.glob(pattern))
        return {str(file.relative_to(self.folder)): file.read_bytes() for file in files if file.is_file()}


def copy_checkout(target: Path) -> Path:
    """Copy what a clone would hold."""
    for name in ("Snakefile", "pyproject.toml", "requirements.lock", "environment.yml", "README.md"):
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)
    for name in ("config", "docs/report", "profiles", "rules", "src", "notebooks"):
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.html", "*.ipynb")
        shutil.copytree(ROOT / name, target / name, ignore=ignore)
    (target / "data").mkdir()
    shutil.copy(ROOT / "data/datasets.csv", target / "data/datasets.csv")
    (target / "data/embedded").symlink_to(ROOT / "data/embedded")
    return target


def write_toys(checkout: Path, seconds: float = 0.0) -> None:
    """Replace the papers of a checkout by three small figures of the main one."""
    source = checkout / "src/localentropy"
    for letter, factor in (("a", 1), ("b", 2)):
        (source / f"numerics/toy_kernel_{letter}.py").write_text(KERNEL.format(factor=factor))
        (source / f"programs/overparam/toy_{letter}.py").write_text(EXPERIMENT.format(kernel=f"toy_kernel_{letter}"))
    for number in (91, 92, 93):
        (source / f"figures/overparam/figure{number}.py").write_text(PLOT)
    (source / "explore/papers/overparam.py").unlink(missing_ok=True)
    shutil.rmtree(checkout / "config")
    (checkout / "config/overparam").mkdir(parents=True)
    (checkout / "config/overparam/figures.yaml").write_text(FIGURES)
    general = "seed: 1\ndata: {source: embedded, mirror: null, archive: null, committed: true}\n"
    (checkout / "config/general.yaml").write_text(general)
    physics = "".join(
        f"toy_{name}: {{offset: {offset}, seconds: {seconds}}}\n" for name, offset in (("a", 1), ("b", 2))
    )
    (checkout / "config/overparam/physics.yaml").write_text(physics)
    sizes = "{points: [3, 5, 7], chunks: 2, threads: 1}"
    (checkout / "config/overparam/sizes.yaml").write_text(f"toy_a: {sizes}\ntoy_b: {sizes}\n")


@pytest.fixture
def toys(tmp_path: Path) -> Checkout:
    """A checkout with the small experiments."""
    folder = copy_checkout(tmp_path / "checkout")
    write_toys(folder)
    return Checkout(folder)


def make_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Checkout], Run]) -> tuple[Checkout, Run]:
    """A checkout that the whole test session shares, and the run that `make` did in it.

    The first of the workers of pytest-xdist that asks for it makes it, and the others wait.
    """
    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    checkout, log = Checkout(base / name), base / f"{name}.log"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not log.exists():
            shutil.rmtree(checkout.folder, ignore_errors=True)
            run = make(Checkout(copy_checkout(checkout.folder)))
            assert run.status == 0, run.output
            log.write_text(run.output)
    return checkout, Run(0, log.read_text())


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, Run]:
    """A checkout in which all small figures were made, and the run that made them; not to be touched."""

    def make(checkout: Checkout) -> Run:
        write_toys(checkout.folder)
        return checkout.snakemake("all")

    return make_once(tmp_path_factory, "first", make)


@pytest.fixture
def made(first: tuple[Checkout, Run], tmp_path: Path) -> Checkout:
    """A copy of that checkout, with results and records, all files newly written."""
    folder = tmp_path / "made"
    shutil.copytree(first[0].folder, folder, symlinks=True, copy_function=shutil.copy)
    return Checkout(folder)
