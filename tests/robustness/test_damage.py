"""Damaged, touched, outdated and contested files of the finished pipeline: remade or refused, never mixed."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable

import pytest

from tests.robustness.conftest import Pipeline, Reference, forget

pytestmark = pytest.mark.slow
SEED = 211000683
DAMAGED = 12
DAYS = 86400.0


def flip(content: bytes, chance: random.Random) -> bytes:
    altered = bytearray(content)
    altered[chance.randrange(len(altered))] ^= 1 << chance.randrange(8)
    return bytes(altered)


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def test_damaged_files_are_deleted_and_remade_when_they_are_needed(reference: Reference, finished: Pipeline) -> None:
    chance = random.Random(SEED)
    wanted = reference.products() | reference.parts() | reference.kept()
    harms: list[Callable[[bytes, random.Random], bytes]] = [flip, cut]
    victims = chance.sample(sorted(wanted), min(DAMAGED, len(wanted)))
    for position, name in enumerate(victims):
        file = finished.folder / name
        times = file.stat()
        file.write_bytes(harms[position % 2](wanted[name], chance))
        # A failing disk does not change times.
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    run = finished.run()
    assert run.status == 0, run.output
    there = finished.products() | finished.parts() | finished.kept()
    # A table is made again when something needs it: what was made from it is right.
    assert there.items() <= wanted.items()
    assert all(name.endswith(".parquet") and name in victims for name in set(wanted) - set(there)), run.output
    for name in victims:
        if name.startswith("results/"):
            assert f"{name.rpartition('/')[0]}/" in run.output, f"{name} was not noticed\n{run.output}"
    shutil.rmtree(finished.folder / "results/figures")
    assert finished.run().status == 0
    assert reference.same(finished)


def test_torn_records_of_snakemake_harm_nothing(reference: Reference, finished: Pipeline) -> None:
    records = [file for file in (finished.folder / ".snakemake").rglob("*") if file.is_file()]
    assert records
    for file in records:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    run = finished.run()
    assert run.status == 0, run.output
    assert reference.same(finished)


def test_touched_files_and_wrong_clocks_rerun_nothing(reference: Reference, finished: Pipeline) -> None:
    chance = random.Random(SEED)
    for folder in ("src", "config", "rules", "results", "figures", "data/prepared"):
        for file in (finished.folder / folder).rglob("*"):
            moment = time.time() + chance.uniform(-400 * DAYS, 2 * DAYS)
            os.utime(file, (moment, moment))
    run = finished.run()
    assert run.status == 0, run.output
    assert run.did == set(), run.output
    assert reference.same(finished)


def test_results_of_an_older_version_are_remade_and_never_mixed(reference: Reference, finished: Pipeline) -> None:
    old = (finished.folder / "figures/smoke/overparam/figure9.csv").read_bytes()
    finished.checkout.edit(
        "src/localentropy/programs/typical.py",
        lambda text: text.replace("threshold * BEYOND", "BEYOND * threshold"),
    )
    # The records of Snakemake are lost, as where results are brought from another machine, and times say nothing.
    shutil.rmtree(finished.folder / ".snakemake")
    drawn = finished.checkout.python("plot", "figure9", "--scale", "smoke")
    assert drawn.status == 1 and drawn.output.count("\n") == 1, drawn.output
    assert drawn.output.endswith(
        ".parquet: no such table; run `python -m localentropy run overparam/typical --config scale=smoke` first\n"
    ), drawn.output
    merged = finished.checkout.python("merge", "overparam/typical", "--scale", "smoke")
    assert merged.status == 1 and ".parquet: no such table" in merged.output
    assert (finished.folder / "figures/smoke/overparam/figure9.csv").read_bytes() == old
    run = finished.run("figure9")
    assert run.status == 0, run.output
    assert {"joining the parts of overparam/typical", "drawing figure9"} <= run.did
    assert finished.checkout.python("plot", "figure9", "--scale", "smoke").status == 0
    # What was made by the older version is still there, under its own name.
    assert reference.products().items() < finished.products().items()


def test_three_pipelines_started_at_once_end_with_the_same_bytes(reference: Reference, finished: Pipeline) -> None:
    forget(finished, "typical", "figure8", "figure9")
    running = [finished.start() for _ in range(3)]
    for run in [each.finish() for each in running]:
        assert run.status == 0, run.output
    assert reference.same(finished)
    assert finished.run().did == set()
