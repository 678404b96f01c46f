"""`times` writes what the jobs of a complete run took, from their records, or says why it cannot."""

from __future__ import annotations

import re
import shutil
from typing import Any

import pytest

from localentropy.commands import times
from localentropy.errors import ArtifactError
from tests.pipeline.conftest import Checkout

MARKS = "before <!-- times -->old<!-- /times --> after"


def record(**changes: Any) -> dict[str, Any]:
    days = {"started": "2026-11-27T10:00:00+00:00", "finished": "2026-11-27T10:01:00+00:00"}
    machine = {"host": "a", "platform": "Linux", "processors": 2}
    return machine | days | {"wall_seconds": 60.0, "cpu_seconds": 50.0, "memory_bytes": 2**30} | changes


def test_the_pages_hold_what_the_jobs_took(made: Checkout) -> None:
    pages = [made.folder / name for name in ("docs/figures.md", "docs/cluster.md")]
    absent = made.python("times")
    assert absent.status == 1 and "docs/figures.md: no such page" in absent.output
    pages[0].parent.mkdir(exist_ok=True)
    for page in pages:
        page.write_text(MARKS)
    assert made.python("times").output.split() == ["docs/figures.md", "docs/cluster.md"]
    figures, cluster = (page.read_text() for page in pages)
    for text in (figures, cluster):
        assert text.startswith("before <!-- times -->\nMeasured at the scale `default` on 20")
        assert text.endswith("<!-- /times --> after") and "old" not in text
    spent = re.findall(r"^\| `figure9\d` \| .* \| (\d+) s \|$", figures, re.MULTILINE)
    assert len(spent) == 3  # toys take no second
    assert cluster.count("|---|---|---|---|---|---|") == 1  # no toy takes a minute
    table = made.table("toy_a")
    assert re.search(
        r"parts +\d+, [\d.]+ s of CPU in all, the longest [\d.]+ s", made.python("show", str(table)).output
    )

    committed = made.folder / "data/tables/overparam/toy_a/default.parquet"
    committed.parent.mkdir(parents=True)
    for suffix in (".parquet", ".json"):
        shutil.copy(table.with_suffix(suffix), committed.with_suffix(suffix))
    table.unlink()
    assert made.python("times").status == 0
    assert re.search(r"^\| `figure91` \| .* \| \d+ s, and \d+ s for a committed table \|$", pages[0].read_text(), re.M)

    shutil.rmtree(committed.parent)
    figures = pages[0].read_text()
    refused = made.python("times")
    assert refused.status == 1 and f"{table.name}: missing; run `make clean`" in refused.output
    assert pages[0].read_text() == figures

    # A part was copied without its record: nothing is said of the parts.
    made.table("toy_a", "1-of-2").with_suffix(".json").unlink()
    assert made.snakemake("overparam/toy_a").status == 0
    assert not re.search(r"^ +parts ", made.python("show", str(table)).output, re.MULTILINE)
    assert f"{table.name}: has no record of its parts; run `make clean`" in made.python("times").output


def test_costs_are_those_of_all_parts() -> None:
    parts = [record(wall_seconds=70.0, cpu_seconds=100.0), record(memory_bytes=3 * 2**30)]
    assert times._cost(parts) == times.Cost(longest=70.0, cpu=150.0, memory=3 * 2**30)
    told = times._machine([*parts, record(finished="2026-11-28T00:00:00+00:00")], "smoke")
    assert told == (
        "Measured at the scale `smoke` from 2026-11-27 to 2026-11-28 on one machine with 2 processors (Linux). All "
        "experiments together took 3 min of CPU. This is without the tables that come with the repository."
    )


def test_two_machines_are_refused() -> None:
    with pytest.raises(ArtifactError, match=r"scale paper come from 2 machines: a Linux 2, b Linux 2"):
        times._machine([record(), record(host="b")], "paper")
