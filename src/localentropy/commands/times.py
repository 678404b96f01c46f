"""`times`: what the jobs of a scale took, from the records of its results, into the tables of two pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localentropy.commands.gallery import put
from localentropy.errors import ArtifactError
from localentropy.pipeline import artifacts
from localentropy.pipeline.computations import ExperimentJob
from localentropy.pipeline.config import Configuration, resolve
from localentropy.pipeline.jobs import table_jobs, with_sources

FIGURES, CLUSTER = Path("docs/figures.md"), Path("docs/cluster.md")
MARK = "times"
SHORT = 60.0
"""Experiments that take less CPU than these seconds are not in the table of jobs."""


@dataclass(frozen=True)
class Cost:
    """What the parts of an experiment took: the longest one in seconds, the CPU of all in seconds, the most bytes."""

    longest: float
    cpu: float
    memory: int


def write(scale: str) -> list[Path]:
    """Write the CPU times of figures and experiments into docs/figures.md and docs/cluster.md.

    Args:
        scale: whose results are read. All are needed, of the present code and from one machine. Only tables that come
            with the repository may be of other code and of another machine; the pages name them.

    Returns:
        The pages written.

    Raises:
        ArtifactError: a result is missing or has no record, the results come from several machines, or a page has no
            place for its table; then nothing is written.
    """
    configuration = resolve(scale)
    jobs = {job.name: job for job in table_jobs(configuration)}
    records = {name: _records(job, scale) for name, job in jobs.items()}
    costs = {name: _cost(own) for name, own in records.items()}
    told = _machine([record for name, own in records.items() if not jobs[name].committed for record in own], scale)
    pages: dict[Path, str] = {}
    put(pages, FIGURES, MARK, f"\n{told}\n\n{_figures(configuration, jobs, costs, scale)}\n")
    put(pages, CLUSTER, MARK, f"\n{told}\n\n{_experiments(jobs, costs, scale)}\n")
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    return list(pages)


def measured() -> str:
    """What stands in docs/figures.md on the machine, the days and the whole CPU time.

    Raises:
        ArtifactError: nothing stands there.
    """
    block = FIGURES.read_text(encoding="utf-8").partition(f"<!-- {MARK} -->")[2].strip()
    if not block:
        raise ArtifactError(f"{FIGURES}: no times; run `python -m localentropy times`")
    return block.partition("\n\n")[0]


def of_committed(configuration: Configuration) -> dict[str, str]:
    """Experiment → the CPU of its table, in words, of the tables that come with the repository and are used."""
    jobs = [job for job in table_jobs(configuration) if job.committed]
    return {job.name: _told(_cost(_records(job, configuration.scale)).cpu) for job in jobs}


def _records(job: ExperimentJob, scale: str) -> Sequence[Mapping[str, Any]]:
    """How the parts of a table were made."""
    file = job.source[0]
    record = artifacts.read_circumstances(file) if job.committed or job.whole() else {}
    if "parts" not in record:
        missing = "has no record of its parts" if record else "missing"
        raise ArtifactError(
            f"{file}: {missing}; run `make clean` and `make all scorecard SCALE={scale}` on one machine"
        )
    return list(record["parts"])


def _cost(records: Sequence[Mapping[str, Any]]) -> Cost:
    return Cost(
        max(record["wall_seconds"] for record in records),
        sum(record["cpu_seconds"] for record in records),
        max(record["memory_bytes"] for record in records),
    )


def _machine(records: Sequence[Mapping[str, Any]], scale: str) -> str:
    """The sentence on the machine, the days and the whole CPU time."""
    machines = sorted({(record["host"], record["platform"], record["processors"]) for record in records})
    if len(machines) > 1:
        named = ", ".join(" ".join(map(str, machine)) for machine in machines)
        raise ArtifactError(f"times: the results of the scale {scale} come from {len(machines)} machines: {named}")
    _, platform, processors = machines[0]
    first, last = min(each["started"] for each in records)[:10], max(each["finished"] for each in records)[:10]
    days = f"on {first}" if first == last else f"from {first} to {last}"
    return (
        f"Measured at the scale `{scale}` {days} on one machine with {processors} processors ({platform}). All "
        f"experiments together took {_told(sum(each['cpu_seconds'] for each in records))} of CPU. This is without the "
        "tables that come with the repository."
    )


def _figures(
    configuration: Configuration, jobs: Mapping[str, ExperimentJob], costs: Mapping[str, Cost], scale: str
) -> str:
    rows = [f"| target | shows | CPU, {scale} |", "|---|---|---|"]
    for target, figure in configuration.figures.items():
        needed = set(with_sources(configuration, figure.experiments))
        committed = {name for name in needed if jobs[name].committed}
        told = _told(sum(costs[name].cpu for name in needed - committed))
        if committed:
            told += f", and {_told(sum(costs[name].cpu for name in committed))} for a committed table"
        rows.append(f"| `{target}` | {figure.shows} | {told} |")
    return "\n".join(rows)


def _experiments(jobs: Mapping[str, ExperimentJob], costs: Mapping[str, Cost], scale: str) -> str:
    paper = {job.name: job for job in table_jobs(resolve("paper"))}
    head = f"| experiment | tasks in jobs, {scale} | tasks in jobs, paper | longest part | CPU | memory |"
    rows = [head, "|---|---|---|---|---|---|"]
    for name, cost in sorted(costs.items(), key=lambda item: -item[1].cpu):
        if cost.cpu >= SHORT:
            sizes = " | ".join(_tasks(job) for job in (jobs[name], paper[name]))
            told = f"`{name}`{', committed' if jobs[name].committed else ''}"
            rows.append(
                f"| {told} | {sizes} | {cost.longest:.0f} s | {cost.cpu:.0f} s | {cost.memory / 2**30:.2f} GB |"
            )
    return "\n".join(rows)


def _tasks(job: ExperimentJob) -> str:
    return f"{len(job.experiment.tasks(job.parameters))} in {job.parts}"


def _told(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
