"""What the experiments of a finished run needed: the costs in README.md and docs/cluster.md.

    python benchmarks/pipeline.py [smoke | default | paper]

Snakemake measured these numbers: it samples each job, and writes `logs/<paper>/<experiment>/<hash>/*.benchmark.tsv`. A
job of less than a second may have no sample, and then counts as nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from localentropy.pipeline.computations import ExperimentJob
from localentropy.pipeline.config import resolve
from localentropy.pipeline.jobs import output_jobs, table_jobs


def parts(job: ExperimentJob) -> pd.DataFrame:
    """The measured parts of an experiment, one row each."""
    files = sorted(Path("logs", job.name, job.address).glob("*.benchmark.tsv"))
    empty = pd.DataFrame(columns=["s", "max_rss", "cpu_time"], dtype=float)
    return pd.concat([empty, *(pd.read_csv(file, sep="\t", na_values="-") for file in files)])


def main(scale: str = "default") -> None:
    configuration = resolve(scale)
    jobs = {job.name: job for job in table_jobs(configuration)}
    measured = {name: parts(job) for name, job in jobs.items()}
    cpu = {name: float(rows["cpu_time"].sum()) for name, rows in measured.items()}
    print("\nexperiment | tasks in jobs | longest part, s | CPU, s | memory, GB")
    for name, rows in measured.items():
        longest, memory = rows["s"].max(), rows["max_rss"].max() / 1000.0
        tasks = len(jobs[name].experiment.tasks(jobs[name].parameters))
        print(f"{name} | {tasks} in {len(rows)} | {longest:.0f} | {cpu[name]:.0f} | {memory:.2f}")
    print("\ntarget | CPU of all experiments that it needs, s")
    for output in output_jobs(configuration):
        needed = {name: None for table in output.tables for name in [*jobs[table].tables, table]}
        print(f"{output.target} | {sum(cpu[name] for name in needed):.0f}")
    for paper in dict.fromkeys(name.split("/")[0] for name in cpu):
        print(f"\n{paper}: {sum(spent for name, spent in cpu.items() if name.startswith(paper + '/')) / 60.0:.1f} min")


if __name__ == "__main__":
    main(*sys.argv[1:])
