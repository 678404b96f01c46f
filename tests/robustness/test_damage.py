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


def test_damaged_files_are_set_aside_and_remade(reference: Reference, finished: Pipeline) -> None:
    chance = random.Random(SEED)
    wanted = reference.products() | reference.parts()
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
    assert reference.same(finished)
    for name in victims:
        assert (finished.folder / f"{name}.aside").exists(), f"{name} was not noticed\n{run.output}"


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
        "src/localentropy/experiments/typical.py",
        lambda text: text.replace("BEYOND = 1.0 + 1e-9", "BEYOND = 1e-9 + 1.0"),
    )
    # The records of Snakemake are lost, as where results are brought from another machine, and times say nothing.
    shutil.rmtree(finished.folder / ".snakemake")
    table = finished.folder / "results/smoke/overparam/typical.parquet"
    drawn = finished.checkout.python("plot", "figure9", "--scale", "smoke")
    assert drawn.status == 1 and drawn.output.count("\n") == 1, drawn.output
    assert "typical.parquet: made from other parameters or code" in drawn.output
    merged = finished.checkout.python("merge", "overparam/typical", "--scale", "smoke")
    assert merged.status == 1 and "made from other code" in merged.output
    assert (finished.folder / "figures/smoke/overparam/figure9.csv").read_bytes() == old
    run = finished.run("figure9")
    assert run.status == 0, run.output
    assert {"joining the parts of overparam/typical", "drawing figure9"} <= run.did
    assert table.with_name("typical.parquet.aside").exists()
    assert finished.checkout.python("plot", "figure9", "--scale", "smoke").status == 0
    kept = "results/smoke/overparam/overparameterized_limit.parquet"
    assert finished.products()[kept] == reference.products()[kept]


def test_of_two_pipelines_started_at_once_one_runs(reference: Reference, finished: Pipeline) -> None:
    forget(finished, "typical", "figure8", "figure9")
    both = [finished.start(), finished.start()]
    runs = [running.finish() for running in both]
    refused = [run for run in runs if run.status != 0]
    assert len(refused) == 1, [run.output for run in runs]
    assert "error: another pipeline" in refused[0].output and "Traceback" not in refused[0].output
    assert reference.same(finished)
    assert finished.run().did == set()
