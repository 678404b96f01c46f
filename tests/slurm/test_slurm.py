"""The pipeline on a real Slurm of one node, which these tests install and start: the bytes of a local run.

Root on Debian only, and opt-in: `make test-slurm`. `LOCALENTROPY_SLURM_TARGETS="all scorecard"` runs everything.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from localentropy.pipeline.config import resolve
from localentropy.pipeline.jobs import table_jobs
from tests.pipeline.conftest import Run, copy_checkout
from tests.robustness.conftest import Pipeline
from tests.robustness.test_kills import wait_for_job

pytestmark = pytest.mark.slurm
# An experiment of each paper that needs no GPU: of its paper scale the first part.
PAPER_PARTS = (
    *("overparam/solve_belief_propagation", "margins/local_entropy"),
    *("shaping/tree_solutions", "glm/amp_perceptron"),
)
TARGETS = os.environ.get("LOCALENTROPY_SLURM_TARGETS", "figure8 figure9").split()
# This cluster keeps no accounts to ask, and its jobs are short.
SLURM = (
    *("--profile", "profiles/slurm", "--slurm-status-command", "squeue"),
    *("--slurm-init-seconds-before-status-checks", "5"),
)


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("slurm")
    script = Path(__file__).with_name("cluster.sh")
    subprocess.run([script, "start", folder], check=True)
    try:
        yield
    finally:
        subprocess.run([script, "stop", folder], check=True)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """A run of the same sources on this machine, without Slurm."""
    pipeline = Pipeline(copy_checkout(tmp_path_factory.mktemp("local") / "checkout"))
    run = pipeline.run(*TARGETS)
    assert run.status == 0, run.output
    return pipeline


def fresh(local: Pipeline, folder: Path) -> Pipeline:
    """A checkout of the same sources without results."""
    pipeline = local.copy_to(folder)
    subprocess.run(["rm", "-rf", "results", "figures", "logs", "data/prepared", ".snakemake"], cwd=folder, check=True)
    return pipeline


def queue() -> str:
    return subprocess.run(["squeue", "--noheader"], check=True, capture_output=True, text=True).stdout


def submitted(run: Run, name: str) -> str:
    """What Slurm says of the job of an experiment, `<paper>_<name>`."""
    number = re.search(rf"submitted with SLURM jobid (\d+) \(log: \S*{name}", run.output)
    assert number, run.output
    return subprocess.run(["scontrol", "show", "job", number[1]], check=True, capture_output=True, text=True).stdout


def only_figure8(local: Pipeline) -> dict[str, bytes]:
    """The main paper's figure 8 and its only table."""
    names = ("figures/smoke/overparam/figure8.", "results/overparam/typical/")
    return {name: content for name, content in local.products().items() if name.startswith(names)}


def test_the_bytes_are_those_of_a_local_run(local: Pipeline, tmp_path: Path) -> None:
    pipeline = fresh(local, tmp_path / "checkout")
    run = pipeline.run(*TARGETS, *SLURM)
    assert run.status == 0, run.output
    assert len(re.findall("submitted with SLURM jobid", run.output)) == len(run.did)
    assert pipeline.products() == local.products() and pipeline.parts() == local.parts()
    again = pipeline.run(*TARGETS, *SLURM)
    assert again.status == 0 and again.did == set(), again.output
    assert pipeline.run(*TARGETS).did == set()


def test_a_killed_submitter_leaves_its_jobs_to_the_next_one(local: Pipeline, tmp_path: Path) -> None:
    pipeline = fresh(local, tmp_path / "checkout")
    running = pipeline.start("figure8", *SLURM)
    running.wait_for(lambda: " R " in queue(), pipeline.patience())
    running.kill(group=True)
    assert queue(), "the jobs went with their submitter: nothing to meet"
    run = pipeline.run("figure8", *SLURM)
    assert run.status == 0, run.output
    patience = pipeline.patience()
    while queue():
        patience.look()
        time.sleep(0.5)
    assert pipeline.products() == only_figure8(local)
    assert pipeline.run("figure8").did == set()


def test_a_killed_job_is_submitted_again(local: Pipeline, tmp_path: Path) -> None:
    pipeline = fresh(local, tmp_path / "checkout")
    running = pipeline.start("figure8", *SLURM)
    # The program, not Slurm's job: what a node does that runs out of memory.
    for pid in wait_for_job(pipeline, running):
        os.kill(pid, signal.SIGKILL)
    run = running.finish()
    assert run.status == 0, run.output
    assert "Trying to restart job" in run.output, run.output
    assert pipeline.products() == only_figure8(local)
    assert pipeline.run("figure8").did == set()


def test_parts_of_the_paper_scale_stay_below_what_the_profile_asks_for(local: Pipeline, tmp_path: Path) -> None:
    pipeline = fresh(local, tmp_path / "checkout")
    jobs = {job.name: job for job in table_jobs(resolve("paper")) if job.name in PAPER_PARTS}
    run = pipeline.checkout.snakemake(*(str(job.part(1)) for job in jobs.values()), "--config", "scale=paper", *SLURM)
    assert run.status == 0, run.output
    for name, job in jobs.items():
        assert (pipeline.folder / job.part(1)).exists()
        benchmark = pipeline.folder / "logs" / name / job.address / f"1-of-{job.parts}.benchmark.tsv"
        needed = pd.read_csv(benchmark, sep="\t").iloc[0]
        print(f"{name}, part 1 of {job.parts}: {needed['s']:.0f} s, {needed['max_rss'] / 1000:.2f} GB")
        asked = submitted(run, name.replace("/", "_"))
        memory, hours = re.search(r"\bmem=(\d+)M", asked), re.search(r"TimeLimit=(\d\d):00:00", asked)
        assert memory and hours, asked
        assert needed["max_rss"] < float(memory[1]) and needed["s"] < 3600.0 * float(hours[1])


def test_jobs_of_a_gpu_ask_for_one_and_fail_in_one_line_without(local: Pipeline, tmp_path: Path) -> None:
    # The cluster's GPU is one in name only, so the job is started, and PyTorch finds none.
    pipeline = fresh(local, tmp_path / "checkout")
    (pipeline.folder / "mine.yaml").write_text("mlp: {device: cuda, chunks: 1}\n")
    run = pipeline.run("overparam/mlp", *SLURM, "--retries", "0", "--configfile", "mine.yaml")
    assert run.status != 0 and not [*pipeline.folder.glob("results/overparam/mlp/*.parquet")]
    assert "error: device: cuda was asked for, but PyTorch finds no GPU" in run.output, run.output
    job = submitted(run, "overparam_mlp")
    # Slurm 22 separates with a colon, later ones with a slash.
    assert re.search(r"TresPerJob=gres[:/]gpu:1\b", job), job
