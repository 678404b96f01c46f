"""What runs again when, with the real Snakemake."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

from localentropy.pipeline import artifacts
from tests import progress
from tests.pipeline.conftest import ROOT, Checkout, Run, write_toys


def jobs(letter: str) -> set[str]:
    """What makes the table of one small experiment."""
    name = f"overparam/toy_{letter}"
    parts = {f"computing {name}, part {part} of 2" for part in (1, 2)}
    return parts | {f"joining the parts of {name}"}


def drawing(*numbers: int) -> set[str]:
    return {f"drawing figure{number}" for number in numbers}


_CLASS = "class Parameters(ExperimentParameters):"
KERNEL = "src/localentropy/numerics/toy_kernel_a.py"
ALL_A = jobs("a") | drawing(91, 93)
EVERYTHING = jobs("a") | jobs("b") | drawing(91, 92, 93)


def touch_everything(folder: Path, seconds: float) -> None:
    """Shift the times of every file of the sources and the configuration."""
    for file in [*folder.glob("src/**/*.py"), *folder.glob("config/**/*.yaml"), folder / "Snakefile"]:
        os.utime(file, (time.time() + seconds, time.time() + seconds))


def test_a_first_run_makes_every_output_and_a_second_nothing(first: tuple[Checkout, Run], made: Checkout) -> None:
    assert first[1].did == EVERYTHING
    for number in (91, 92, 93):
        for suffix in ("png", "pdf", "csv", "json"):
            assert (made.folder / f"figures/default/overparam/figure{number}.{suffix}").stat().st_size > 0
    before = made.contents("figures/**/*")
    second = made.snakemake("all")
    assert second.status == 0
    assert second.did == set(), second.output
    touch_everything(made.folder, 7200.0)
    shutil.rmtree(made.folder / ".snakemake")
    third = made.snakemake("all")
    assert third.status == 0
    assert third.did == set(), third.output
    assert made.contents("figures/**/*") == before


def test_edits_that_change_no_number_rerun_nothing(made: Checkout) -> None:
    comments: Callable[[str], str] = lambda text: "# edited\n" + text.replace('"""\n', 'An edited docstring."""\n', 1)  # noqa: E731
    for path in (KERNEL, "src/localentropy/experiments/overparam/toy_a.py", "src/localentropy/plots/drawing.py"):
        made.edit(path, comments)
    new_type = "\n\nclass Temperature(ExperimentParameters):\n    value: float\n"
    made.edit("src/localentropy/experiments/parameters.py", lambda text: text + new_type)
    run = made.snakemake("all")
    assert run.status == 0
    assert run.did == set(), run.output


def test_edits_rerun_exactly_what_depends_on_them(made: Checkout) -> None:
    made.edit("src/localentropy/plots/overparam/figure92.py", lambda text: text.replace("squares at", "a square at"))
    made.edit(KERNEL, lambda text: text.replace("np.asarray", "np.array"))
    plan = made.snakemake("-n", "figure91", "figure92", "figure93")
    assert plan.did == ALL_A | drawing(92), plan.output
    run = made.snakemake("figure91", "figure92", "figure93")
    assert run.status == 0, run.output
    assert run.did == ALL_A | drawing(92)
    made.edit("config/overparam/physics.yaml", lambda text: text.replace("toy_a: {offset: 1", "toy_a: {offset: 3"))
    assert made.snakemake("all").did == ALL_A


def test_marks_of_a_killed_run_hide_nothing_that_is_missing(made: Checkout) -> None:
    # Snakemake marks the outputs of running jobs. The orphan of a killed run has written this one since.
    mark = made.folder / ".snakemake/incomplete" / b64encode(b"results/default/overparam/toy_a/1-of-2.parquet").decode()
    mark.parent.mkdir(exist_ok=True)
    mark.write_text('{"external_jobid": null}')
    (made.folder / "figures/default/overparam/figure92.png").unlink()
    run = made.snakemake("all")
    assert run.status == 0, run.output
    assert run.did == drawing(92), run.output
    assert made.snakemake("all").did == set()


def test_other_data_rerun_what_reads_them_and_missing_prepared_data_nothing(toys: Checkout) -> None:
    toys.edit(
        "src/localentropy/experiments/overparam/toy_a.py",
        lambda text: text.replace(_CLASS, f'{_CLASS}\n    DATASETS = ("cifar10",)'),
    )
    assert toys.snakemake("all").did == EVERYTHING | {"preparing the dataset cifar10"}
    # A damaged file that nothing needs is set aside, and nobody says that it is made again.
    (toys.folder / "data/prepared/embedded/cifar10.json").write_text("{}")
    assert_as_verify_says(toys, {"data/prepared/embedded/cifar10.npz"}, set())
    shutil.rmtree(toys.folder / "data/prepared")
    assert toys.snakemake("all").did == set()
    # The plan is enough: the raw files of another source need not be there.
    mirror = toys.snakemake("-n", "all", "--config", "data={source: mirror, mirror: elsewhere}")
    assert mirror.did == EVERYTHING | {"preparing the dataset cifar10"}, mirror.output
    assert "figures/default-data.source=mirror/overparam/figure91.png" in mirror.output
    edit = lambda text: text.replace("save(dataset, output)", "save(dataset, Path(output))")  # noqa: E731
    toys.edit("src/localentropy/data/prepare.py", edit)
    assert toys.snakemake("-n", "all").did == ALL_A | {"preparing the dataset cifar10"}
    # The same with the prepared file there.
    assert toys.snakemake("data/prepared/embedded/cifar10.npz").did == {"preparing the dataset cifar10"}
    run = toys.snakemake("figure91", "figure92")
    assert run.did == jobs("a") | drawing(91), run.output
    (toys.folder / "data/embedded").unlink()
    shutil.copytree(ROOT / "data/embedded", toys.folder / "data/embedded")
    with (toys.folder / "data/embedded/cifar10.npz").open("ab") as embedded:
        embedded.write(b"another")
    assert toys.snakemake("-n", "figure91").did == jobs("a") | drawing(91) | {"preparing the dataset cifar10"}


def assert_as_verify_says(checkout: Checkout, outdated: set[str], did: set[str]) -> None:
    """Check that a run sets aside what `verify` names, speaks of nothing else, and leaves nothing outdated."""
    verified = checkout.python("verify")
    assert verified.status == 1 and verified.outdated == outdated, verified.output
    for dry, words in ((["-n"], "a real run sets it aside"), ([], "set aside")):
        run = checkout.snakemake("all", *dry)
        assert run.status == 0 and run.did == did and run.outdated == outdated, run.output
        assert run.output.count(f"; {words}\n") == len(outdated), run.output
    verified = checkout.python("verify")
    assert verified.status == 0 and verified.outdated == set(), verified.output


def test_parts_that_nothing_needs_are_set_aside_and_not_said_to_be_remade(made: Checkout) -> None:
    folder = made.folder / "results/default/overparam"
    for file in ("toy_a/1-of-2.json", "toy_a.json"):
        (folder / file).unlink()
    run, verified = made.snakemake("all"), made.python("verify")
    assert run.did == run.outdated == verified.outdated == set() and verified.status == 0, run.output + verified.output
    cut = folder / "toy_a/1-of-2.parquet"
    cut.write_bytes(cut.read_bytes()[:-9])
    (folder / "toy_b/2-of-2.json").write_text("altered")
    outdated = {f"results/default/overparam/{part}.parquet" for part in ("toy_a/1-of-2", "toy_b/2-of-2")}
    assert_as_verify_says(made, outdated, set())
    # A part that is asked for is needed.
    (folder / "toy_a/2-of-2.json").write_text("altered")
    asked = made.snakemake("results/default/overparam/toy_a/2-of-2.parquet")
    assert asked.did == {"computing overparam/toy_a, part 2 of 2"}, asked.output


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
        if threads > 1:
            toys.edit("config/overparam/sizes.yaml", lambda text: text.replace("threads: 1", "threads: 2"))
        run = toys.python("run", "overparam/toy_a", "--scale", "smoke", "--part", "1")
        assert run.status == 0, run.output
        (part,) = toys.folder.glob("results/smoke/overparam/toy_a/1-of-2.parquet")
        assert set(artifacts.read_table(part).rows["y"]) == {threads}


def test_scales_do_not_disturb_each_other(made: Checkout) -> None:
    before = made.contents("figures/default/**/*") | made.contents("results/default/**/*.parquet")
    assert made.snakemake("figure91", "--config", "scale=smoke").status == 0
    assert made.snakemake("figure91", "--config", "run=wide", "toy_a={offset: 9}").status == 0
    assert (made.folder / "figures/default-wide/overparam/figure91.png").exists()
    (made.folder / "mine.yaml").write_text("toy_a: {offset: 9, points: 5}\n")
    for given, did in ((["--config", "toy_a.offset=9.0"], ALL_A - drawing(93)), (["--configfile", "mine.yaml"], set())):
        run = made.snakemake("figure91", *given)
        assert run.status == 0 and run.did == did, run.output
        assert run.output.endswith("look at figures/default-toy_a.offset=9.0/overparam/figure91.png in any browser\n")
    assert made.snakemake("figure91", "--config", "toy_a.offset=1").did == set()
    assert made.contents("figures/default/**/*") | made.contents("results/default/**/*.parquet") == before
    assert made.snakemake("figure91").did == set()
    assert made.snakemake("figure91", "--config", "scale=smoke").did == set()


def test_without_metadata_nothing_stale_is_shown(made: Checkout) -> None:
    shutil.rmtree(made.folder / ".snakemake")
    made.edit(KERNEL, lambda text: text.replace("* 1", "* 5"))
    os.utime(made.folder / KERNEL, (1e9, 1e9))
    made.edit("config/overparam/physics.yaml", lambda text: text.replace("toy_b: {offset: 2", "toy_b: {offset: 3"))
    run = made.snakemake("all")
    assert run.status == 0, run.output
    assert run.did == EVERYTHING
    assert "toy_a.parquet: made from other code; set aside" in run.output
    assert "toy_b.parquet: made from other parameters; set aside" in run.output
    assert (made.folder / "results/default/overparam/toy_b.parquet.aside").exists()


def test_corrupt_files_are_set_aside_and_remade_and_no_timer_of_a_job_limit_keeps_snakemake_busy(
    made: Checkout,
) -> None:
    made.edit(
        "Snakefile", lambda text: text + '\nonsuccess:\n    print("limit:", workflow.scheduler.job_rate_limiter)\n'
    )
    good = made.contents("figures/default/**/*.csv") | made.contents("results/default/**/*.parquet")
    table = made.folder / "results/default/overparam/toy_a.parquet"
    times = table.stat()
    content = bytearray(table.read_bytes())
    content[len(content) // 3] ^= 4
    table.write_bytes(bytes(content))
    png = made.folder / "figures/default/overparam/figure92.png"
    png.write_bytes(png.read_bytes()[:-100])
    os.utime(table, ns=(times.st_atime_ns, times.st_mtime_ns))
    run = made.snakemake("all")
    assert run.status == 0, run.output
    assert "limit: None" in run.output, run.output
    assert "toy_a.parquet" in run.output and "set aside" in run.output
    assert {"joining the parts of overparam/toy_a", "drawing figure92"} <= run.did
    assert made.contents("figures/default/**/*.csv") | made.contents("results/default/**/*.parquet") == good


def test_altered_records_are_reported_and_remade(made: Checkout) -> None:
    good = made.contents("figures/default/**/*.csv") | made.contents("results/default/**/*.parquet")
    files = ["results/default/overparam/toy_a.json", "figures/default/overparam/figure92.json"]
    for file in files:
        made.edit(file, lambda text: text.replace('"host": "', '"host": "not-'))
    verified = made.python("verify")
    assert verified.status == 1 and "error: 4 files are not current" in verified.output, verified.output
    assert verified.output.count("made from the table of overparam/toy_a, which is not current") == 2
    for file in files:
        assert f"{Path(file).name} is altered" in verified.output
    run = made.snakemake("all", "results/default/overparam/toy_a.parquet")
    assert run.status == 0, run.output
    # The table of figures 91 and 93 is new to Snakemake, so that it draws them too.
    assert run.did == {"joining the parts of overparam/toy_a", *(f"drawing figure{number}" for number in (91, 92, 93))}
    assert made.contents("figures/default/**/*.csv") | made.contents("results/default/**/*.parquet") == good
    assert made.python("verify").status == 0


def test_a_killed_run_completes_and_a_second_pipeline_is_refused(made: Checkout) -> None:
    wanted = made.contents("figures/**/*.csv") | made.contents("figures/**/*.png")
    write_toys(made.folder, seconds=1.0)
    # A new log shows that the pipeline holds the lock and its jobs run.
    log = made.folder / "logs/default/overparam/toy_a/1-of-2.log"
    log.unlink()
    process = subprocess.Popen(
        made.command("all"),
        cwd=made.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    progress.until(log.exists, process)
    second = made.snakemake("all")
    assert second.status == 1
    assert "another pipeline" in second.output and "Traceback" not in second.output
    dry = made.snakemake("-n", "all")
    assert dry.status == 0
    progress.until(lambda: "1 of 3 tasks done" in log.read_text(), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    write_toys(made.folder, seconds=0.0)
    again = made.snakemake("all")
    assert again.status == 0, again.output
    assert made.contents("figures/**/*.csv") | made.contents("figures/**/*.png") == wanted


def test_code_edited_while_a_job_runs_never_signs_its_result(made: Checkout) -> None:
    write_toys(made.folder, seconds=2.0)
    log = made.folder / "logs/default/overparam/toy_a/1-of-2.log"
    log.unlink()
    process = subprocess.Popen(
        made.command("figure91"), cwd=made.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    progress.until(lambda: log.exists() and "1 of 3 tasks done" in log.read_text(), process)
    made.edit(KERNEL, lambda text: text.replace("* 1", "* 5"))
    output, _ = progress.output(process)
    assert process.returncode != 0
    assert "1-of-2.parquet: not written: the code was edited while it was computed; run again" in output
    again = made.snakemake("figure91")
    assert again.status == 0, again.output
    table = artifacts.read_table(made.folder / "results/default/overparam/toy_a.parquet").rows
    assert list(table["y"]) == [5 * (1 + x) ** 2 for x in table["x"]]


def test_the_number_of_chunks_changes_no_bit(made: Checkout) -> None:
    before = made.contents("results/default/overparam/toy_a.parquet")
    (table,) = before
    (made.folder / table).unlink()
    run = made.snakemake(table, "--config", "toy_a={chunks: 5}")
    assert run.status == 0 and len(run.did) == 6, run.output
    assert made.contents("results/default/overparam/toy_a.parquet") == before


def test_a_failed_job_shows_its_log_in_one_line(made: Checkout) -> None:
    made.edit(
        "src/localentropy/experiments/overparam/toy_a.py",
        lambda text: (
            text.replace("time.sleep(parameters.seconds)", "raise_convergence()")
            + "\n\ndef raise_convergence():\n    from localentropy.errors import ConvergenceError\n"
            + "    raise ConvergenceError('toy', {'alpha_T': 3.0}, 0.5)\n"
        ),
    )
    run = made.snakemake("figure91")
    assert run.status != 0
    assert "toy did not converge at alpha_T=3 (residual 0.5)" in run.output
    assert "Traceback" not in run.output


def test_tables_without_what_a_figure_draws_are_refused_in_one_line(made: Checkout) -> None:
    module = "src/localentropy/plots/overparam/figure91.py"
    made.edit(module, lambda text: text.replace("for table in", "tables['a'].iloc[0]\n    for table in"))
    refused = made.python("plot", "figure91")
    place = "localentropy/plots/overparam/figure91.py, line 9: KeyError: 'a'"
    assert refused.status == 1 and refused.output == (
        f"error: figure91: cannot be drawn from these tables ({place}); "
        "they may lack rows that the shipped parameters give\n"
    )


def test_show_and_verify(made: Checkout) -> None:
    for file in ("results/default/overparam/toy_a.parquet", "figures/default/overparam/figure91.png"):
        shown = made.python("show", file)
        assert shown.status == 0, shown.output
        assert "code hash" in shown.output and "versions" in shown.output and "changed values  none" in shown.output
    command = "snakemake figure91 --config scale=smoke run=wide toy_a.offset=9.0 toy_b.points=2"
    assert made.snakemake(*command.split()[1:]).status == 0
    shown = made.python("show", "figures/smoke-wide/overparam/figure91.csv")
    changed = "toy_a.offset = 9.0 (shipped: 1.0), toy_b.points = 2 (shipped: 3)"
    values = {"run": "wide", "changed values": changed, "command": command}
    for name, value in values.items():
        assert f"\n  {name:<14}  {value}\n" in shown.output, shown.output
    verified = made.python("verify")
    assert verified.status == 0, verified.output
    assert verified.output.count("current") == len(EVERYTHING)
    made.edit(KERNEL, lambda text: text.replace("* 1", "* 5"))
    stale = made.python("verify")
    assert stale.status == 1
    assert "toy_a.parquet: made from other code" in stale.output
    assert made.python("show", "README.md").output.startswith("error: README.md: nothing to show")


def test_the_report_shows_the_figures_first_and_says_what_they_show(made: Checkout) -> None:
    run = made.snakemake("all", "--report", "report.html")
    assert run.status == 0, run.output
    page = (made.folder / "report.html").read_text()
    categories = json.loads(re.search(r"categories = (\{.*?\});", page)[1])  # type: ignore[index]
    pictures = [f"figures/default/overparam/figure{number}.png" for number in (91, 92, 93)]
    # The page sorts the names of the parts of a category.
    assert min(categories["overparam"]) == "figures" and categories["overparam"]["figures"] == pictures
    assert '"shows": "squares of both"' in page
