"""What runs again when, with the real Snakemake."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from localentropy.pipeline import artifacts
from tests.pipeline.conftest import Checkout, write_toys

ALL_A = {
    "computing overparam/toy_a, part 0 of 2",
    "computing overparam/toy_a, part 1 of 2",
    "joining the parts of overparam/toy_a",
}


def touch_everything(folder: Path, seconds: float) -> None:
    """Shift the times of every file of the sources and the configuration."""
    for file in [*folder.glob("src/**/*.py"), *folder.glob("config/**/*.yaml"), folder / "Snakefile"]:
        os.utime(file, (time.time() + seconds, time.time() + seconds))


def test_a_second_run_does_nothing_and_every_output_is_there(toys: Checkout) -> None:
    first = toys.snakemake("all")
    assert first.status == 0, first.output
    assert len(first.did) == 9
    for number in (91, 92, 93):
        for suffix in ("png", "pdf", "csv", "json"):
            assert (toys.folder / f"figures/default/overparam/figure{number}.{suffix}").stat().st_size > 0
    before = toys.contents("figures/**/*")
    second = toys.snakemake("all")
    assert second.status == 0
    assert second.did == set()
    assert toys.contents("figures/**/*") == before


def test_edits_rerun_exactly_what_depends_on_them(toys: Checkout) -> None:
    assert toys.snakemake("all").status == 0
    toys.edit("src/localentropy/plots/overparam/figure91.py", lambda text: text + "\n# edited\n")
    assert toys.snakemake("all").did == {"drawing figure91"}
    toys.edit("src/localentropy/numerics/toy_kernel_a.py", lambda text: text + "\n# edited\n")
    assert toys.snakemake("all").did == ALL_A | {"drawing figure91", "drawing figure93"}
    toys.edit("config/default.yaml", lambda text: text.replace("toy_a: {offset: 1", "toy_a: {offset: 3"))
    assert toys.snakemake("all").did == ALL_A | {"drawing figure91", "drawing figure93"}
    touch_everything(toys.folder, 0.0)
    assert toys.snakemake("all").did == set()
    touch_everything(toys.folder, 7200.0)
    assert toys.snakemake("all").did == set()


def test_a_part_has_the_threads_of_its_parameters_also_without_snakemake(toys: Checkout) -> None:
    counting = """
import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_info


def square(values):
    return np.array([max(pool["num_threads"] for pool in threadpool_info())])
"""
    toys.edit("src/localentropy/numerics/toy_kernel_a.py", lambda _: counting)
    for threads in (1, 2):
        toys.edit("config/scales/smoke.yaml", lambda text: text.replace("threads: 1", f"threads: {threads}"))  # noqa: B023
        run = toys.python("run", "overparam/toy_a", "--scale", "smoke", "--part", "0")
        assert run.status == 0, run.output
        (part,) = toys.folder.glob("results/smoke/overparam/toy_a/0-of-2.parquet")
        assert set(artifacts.read_table(part).rows["y"]) == {threads}


def test_no_timer_of_a_job_limit_keeps_snakemake_busy_or_waiting(toys: Checkout) -> None:
    toys.edit(
        "Snakefile", lambda text: text + '\nonsuccess:\n    print("limit:", workflow.scheduler.job_rate_limiter)\n'
    )
    run = toys.snakemake("figure91")
    assert run.status == 0 and "limit: None" in run.output, run.output


def test_several_targets_at_once_are_remade(toys: Checkout) -> None:
    assert toys.snakemake("figure91", "figure93").status == 0
    toys.edit("src/localentropy/numerics/toy_kernel_a.py", lambda text: text + "\n# edited\n")
    run = toys.snakemake("figure91", "figure93")
    assert run.status == 0, run.output
    assert run.did == ALL_A | {"drawing figure91", "drawing figure93"}


def test_scales_do_not_disturb_each_other(toys: Checkout) -> None:
    assert toys.snakemake("figure91").status == 0
    before = toys.contents("figures/default/**/*") | toys.contents("results/default/**/*.parquet")
    assert toys.snakemake("figure91", "--config", "scale=smoke").status == 0
    assert toys.snakemake("figure91", "--config", "run=wide", "toy_a={offset: 9}").status == 0
    assert (toys.folder / "figures/default-wide/overparam/figure91.png").exists()
    assert toys.contents("figures/default/**/*") | toys.contents("results/default/**/*.parquet") == before
    assert toys.snakemake("figure91").did == set()
    assert toys.snakemake("figure91", "--config", "scale=smoke").did == set()


def test_a_copy_with_results_and_metadata_reruns_nothing(toys: Checkout, tmp_path: Path) -> None:
    assert toys.snakemake("all").status == 0
    clone = Checkout(tmp_path / "clone")
    shutil.copytree(toys.folder, clone.folder, symlinks=True, copy_function=shutil.copy)
    touch_everything(clone.folder, 0.0)
    run = clone.snakemake("all")
    assert run.status == 0
    assert run.did == set(), run.output


def test_without_metadata_nothing_stale_is_shown(toys: Checkout) -> None:
    assert toys.snakemake("all").status == 0
    shutil.rmtree(toys.folder / ".snakemake")
    toys.edit("src/localentropy/numerics/toy_kernel_a.py", lambda text: text.replace("* 1", "* 5"))
    os.utime(toys.folder / "src/localentropy/numerics/toy_kernel_a.py", (1e9, 1e9))
    assert ALL_A | {"drawing figure91", "drawing figure93"} <= toys.snakemake("all").did
    shutil.rmtree(toys.folder / ".snakemake")
    toys.edit("config/default.yaml", lambda text: text.replace("toy_b: {offset: 2", "toy_b: {offset: 3"))
    run = toys.snakemake("figure92")
    assert "made from other parameters; set aside" in run.output
    assert "drawing figure92" in run.did
    assert list(toys.folder.glob("results/default/overparam/*.aside"))


def test_corrupt_files_are_set_aside_and_remade(toys: Checkout) -> None:
    assert toys.snakemake("all").status == 0
    good = toys.contents("figures/default/**/*.csv") | toys.contents("results/default/**/*.parquet")
    table = toys.folder / "results/default/overparam/toy_a.parquet"
    times = table.stat()
    content = bytearray(table.read_bytes())
    content[len(content) // 3] ^= 4
    table.write_bytes(bytes(content))
    png = toys.folder / "figures/default/overparam/figure92.png"
    png.write_bytes(png.read_bytes()[:-100])
    os.utime(table, ns=(times.st_atime_ns, times.st_mtime_ns))
    run = toys.snakemake("all")
    assert run.status == 0, run.output
    assert "toy_a.parquet" in run.output and "set aside" in run.output
    assert {"joining the parts of overparam/toy_a", "drawing figure92"} <= run.did
    assert toys.contents("figures/default/**/*.csv") | toys.contents("results/default/**/*.parquet") == good


def test_a_killed_run_completes_and_a_second_pipeline_is_refused(toys: Checkout, tmp_path: Path) -> None:
    assert toys.snakemake("all").status == 0
    wanted = toys.contents("figures/**/*.csv") | toys.contents("figures/**/*.png")
    write_toys(toys.folder, seconds=1.0)
    # A new log shows that the pipeline holds the lock and its jobs run.
    log = toys.folder / "logs/default/overparam/toy_a/0-of-2.log"
    log.unlink()
    process = subprocess.Popen(
        toys.command("all"),
        cwd=toys.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not log.exists():
        assert process.poll() is None
        time.sleep(0.05)
    second = toys.snakemake("all")
    assert second.status == 1
    assert "another pipeline" in second.output and "Traceback" not in second.output
    dry = toys.snakemake("-n", "all")
    assert dry.status == 0
    time.sleep(0.7)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    write_toys(toys.folder, seconds=0.0)
    again = toys.snakemake("all")
    assert again.status == 0, again.output
    assert toys.contents("figures/**/*.csv") | toys.contents("figures/**/*.png") == wanted


def test_code_edited_while_a_job_runs_never_signs_its_result(toys: Checkout) -> None:
    write_toys(toys.folder, seconds=2.0)
    process = subprocess.Popen(
        toys.command("figure91"), cwd=toys.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    log = toys.folder / "logs/default/overparam/toy_a/0-of-2.log"
    while not (log.exists() and "[1/" in log.read_text()):
        assert process.poll() is None
        time.sleep(0.05)
    toys.edit("src/localentropy/numerics/toy_kernel_a.py", lambda text: text.replace("* 1", "* 5"))
    output, _ = process.communicate()
    assert process.returncode != 0
    assert "0-of-2.parquet: not written, for the code was edited while it was computed; run again" in output
    again = toys.snakemake("figure91")
    assert again.status == 0, again.output
    table = artifacts.read_table(toys.folder / "results/default/overparam/toy_a.parquet").rows
    assert list(table["y"]) == [5 * (1 + x) ** 2 for x in table["x"]]


def test_the_number_of_chunks_changes_no_bit(toys: Checkout) -> None:
    assert toys.snakemake("figure91").status == 0
    before = toys.contents("results/default/overparam/toy_a.parquet")
    assert toys.snakemake("figure91", "--config", "toy_a={chunks: 5}").status == 0
    assert toys.contents("results/default/overparam/toy_a.parquet") == before


def test_a_failed_job_shows_its_log_in_one_line(toys: Checkout) -> None:
    toys.edit(
        "src/localentropy/experiments/overparam/toy_a.py",
        lambda text: (
            text.replace("time.sleep(parameters.seconds)", "raise_convergence()")
            + "\n\ndef raise_convergence():\n    from localentropy.errors import ConvergenceError\n"
            + "    raise ConvergenceError('toy', {'alpha_T': 3.0}, 0.5)\n"
        ),
    )
    run = toys.snakemake("figure91")
    assert run.status != 0
    assert "toy did not converge at alpha_T=3 (residual 0.5)" in run.output
    assert "Traceback" not in run.output


def test_show_and_verify(toys: Checkout) -> None:
    assert toys.snakemake("figure91").status == 0
    for file in ("results/default/overparam/toy_a.parquet", "figures/default/overparam/figure91.png"):
        shown = toys.python("show", file)
        assert shown.status == 0, shown.output
        assert "code hash" in shown.output and "versions" in shown.output
    verified = toys.python("verify")
    assert verified.status == 0, verified.output
    assert verified.output.count("current") == 4
    toys.edit("src/localentropy/numerics/toy_kernel_a.py", lambda text: text + "\n# edited\n")
    stale = toys.python("verify")
    assert stale.status == 1
    assert "toy_a.parquet: made from other code" in stale.output
    assert toys.python("show", "README.md").output.startswith("error: README.md: nothing to show")
