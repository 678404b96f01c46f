"""Killed pipelines go on to the same bytes."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.robustness.conftest import Pipeline, Reference, Running, forget

pytestmark = pytest.mark.slow
KILLS = 20
SEED = 211000683
# A pipeline needs so long until its first job runs; a kill before that meets it while it reads and checks.
START_SECONDS = 8.0


def wait_for_orphans(pipeline: Pipeline) -> int:
    """Wait until no process works in the checkout; the number of those that did."""
    orphans = len(pipeline.processes())
    patience = pipeline.patience()
    while pipeline.processes():
        patience.look()
        time.sleep(0.2)
    return orphans


def forget_half(pipeline: Pipeline, chance: random.Random) -> None:
    """Delete all that half of the papers have made: a pipeline that was done before its last kill has work again.

    A table alone is not remade while what is made from it is there.
    """
    papers = sorted(folder.name for folder in pipeline.folder.glob("figures/smoke/*") if folder.is_dir())
    for paper in chance.sample(papers, -(-len(papers) // 2)):
        for folder in ("results", "results/figures", "figures/smoke"):
            shutil.rmtree(pipeline.folder / folder / paper)


def test_twenty_kills_change_no_byte(pristine: Pipeline, reference: Reference, tmp_path: Path) -> None:
    pipeline = pristine.copy_to(tmp_path / "checkout")
    chance = random.Random(SEED)
    wanted = reference.products() | reference.parts()
    kills = overlaps = 0
    while kills < KILLS:
        running = pipeline.start()
        wait = chance.uniform(0.5, START_SECONDS + 4 * reference.seconds / KILLS)
        end = time.monotonic() + wait
        while running.alive() and time.monotonic() < end:
            time.sleep(0.05)
        if not running.alive():
            run = running.finish()
            assert run.status == 0, run.output
            assert reference.same(pipeline)
            forget_half(pipeline, chance)
            continue
        group = kills % 2 == 0
        running.kill(group)
        kills += 1
        orphans = len(pipeline.processes())
        overlaps += orphans > 0
        there = pipeline.products() | pipeline.parts()
        print(
            f"kill {kills} ({'group' if group else 'main process'}) after {wait:.0f} s: "
            f"{len(there)} of {len(wanted)} files there, {orphans} orphans"
        )
        # Whatever is there under its own name is whole: nobody has to sort it out before the next run.
        assert there.items() <= wanted.items()
    assert overlaps > 0, "no kill left an orphaned job: the case was not tried"
    run = pipeline.run()
    assert run.status == 0, run.output
    wait_for_orphans(pipeline)
    assert reference.same(pipeline)
    again = pipeline.run()
    assert again.status == 0 and again.did == set(), again.output
    assert pipeline.checkout.python("verify", "--scale", "smoke").status == 0


def test_an_orphaned_job_and_its_successor_write_the_same_file(reference: Reference, finished: Pipeline) -> None:
    forget(finished, "typical", "figure8")
    first = finished.start("figure8")
    orphans = wait_for_job(finished, first)
    first.kill(group=False)
    # Stopped until the successor's job runs too, so that they write at the same time.
    for pid in orphans:
        os.kill(pid, signal.SIGSTOP)
    successor = finished.start("figure8")
    assert wait_for_job(finished, successor, but=orphans)
    for pid in orphans:
        os.kill(pid, signal.SIGCONT)
    run = successor.finish()
    assert run.status == 0, run.output
    wait_for_orphans(finished)
    assert reference.same(finished)
    again = finished.run()
    assert again.status == 0 and again.did == set(), again.output


def wait_for_job(pipeline: Pipeline, running: Running, but: Collection[int] = ()) -> list[int]:
    """Wait for a job that computes part of an experiment: its processes, without those given."""
    found: list[int] = []

    def begun() -> bool:
        found[:] = [pid for pid in pipeline.processes() if pid not in but and "--part" in command_line(pid)]
        return bool(found)

    running.wait_for(begun, pipeline.patience())
    return found


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
