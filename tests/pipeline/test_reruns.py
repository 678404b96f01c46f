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

import pytest

from localentropy.pipeline import artifacts
from tests import progress
from tests.pipeline.conftest import ROOT, Checkout, Run, write_toys

pytestmark = pytest.mark.pipeline


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
    for path in (KERNEL, "src/localentropy/programs/overparam/toy_a.py", "src/localentropy/figures/drawing.py"):
        made.edit(path, comments)
    new_type = "\n\nclass Temperature(ExperimentParameters):\n    value: float\n"
    made.edit("src/localentropy/programs/parts/parameters.py", lambda text: text + new_type)
    run = made.snakemake("all")
    assert run.status == 0
    assert run.did == set(), run.output


def test_edits_rerun_exactly_what_depends_on_them(made: Checkout) -> None:
    made.edit("src/localentropy/figures/overparam/figure92.py", lambda text: text.replace("squares at", "a square at"))
    made.edit(KERNEL, lambda text: text.replace("np.asarray", "np.array"))
    plan = made.snakemake("-n", "figure91", "figure92", "figure93")
    assert plan.did == ALL_A | drawing(92), plan.output
    run = made.snakemake("figure91", "figure92", "figure93")
    assert run.status == 0, run.output
    assert run.did == ALL_A | drawing(92)
    made.edit("config/overparam/physics.yaml", lambda text: text.replace("toy_a: {offset: 1", "toy_a: {offset: 3"))
    assert made.snakemake("all").did == ALL_A


def test_a_value_or_code_that_is_taken_back_finds_its_results(made: Checkout) -> None:
    before = made.contents("figures/**/*")
    made.edit(KERNEL, lambda text: text.replace("* 1", "* 5"))
    assert made.snakemake("all").did == ALL_A
    assert made.contents("figures/default/**/figure91.csv") != {
        name: content for name, content in before.items() if name.endswith("figure91.csv")
    }
    made.edit(KERNEL, lambda text: text.replace("* 5", "* 1"))
    run = made.snakemake("all")
    assert run.status == 0 and run.did == set(), run.output
    assert made.contents("figures/**/*") == before


def test_marks_of_a_killed_run_hide_nothing_that_is_missing(made: Checkout) -> None:
    # Snakemake marks the outputs of running jobs. The orphan of a killed run has written this one since.
    part = str(made.table("toy_a", "1-of-2").relative_to(made.folder))
    mark = made.folder / ".snakemake/incomplete" / b64encode(part.encode()).decode()
    mark.parent.mkdir(exist_ok=True)
    mark.write_text('{"external_jobid": null}')
    shutil.rmtree(made.folder / "results/figures/overparam/figure92")
    run = made.snakemake("all")
    assert run.status == 0, run.output
    assert run.did == drawing(92), run.output
    assert made.snakemake("all").did == set()


def test_other_data_rerun_what_reads_them_and_missing_prepared_data_nothing(toys: Checkout) -> None:
    toys.edit(
        "src/localentropy/programs/overparam/toy_a.py",
        lambda text: text.replace(_CLASS, f'{_CLASS}\n    DATASETS = ("cifar10",)'),
    )
    assert toys.snakemake("all").did == EVERYTHING | {"preparing the dataset cifar10"}
    # A damaged file that nothing needs is deleted, and nobody says that it is made again.
    (record,) = toys.folder.glob("data/prepared/cifar10/*.json")
    record.write_text("{}")
    assert_as_verify_says(toys, {str(record.with_suffix(".npz").relative_to(toys.folder))}, set())
    shutil.rmtree(toys.folder / "data/prepared")
    assert toys.snakemake("all").did == set()
    # The plan is enough: the raw files of another source need not be there.
    mirror = toys.snakemake("-n", "all", "--config", "data={source: mirror, mirror: elsewhere}")
    assert mirror.did == ALL_A | {"preparing the dataset cifar10"}, mirror.output
    edit = lambda text: text.replace("save(dataset, output)", "save(dataset, Path(output))")  # noqa: E731
    toys.edit("src/localentropy/data/prepare.py", edit)
    assert toys.snakemake("-n", "all").did == ALL_A | {"preparing the dataset cifar10"}
    # The same with the prepared file there.
    assert toys.snakemake("datasets").did == {"preparing the dataset cifar10"}
    run = toys.snakemake("figure91", "figure92")
    assert run.did == jobs("a") | drawing(91), run.output
    (toys.folder / "data/embedded").unlink()
    shutil.copytree(ROOT / "data/embedded", toys.folder / "data/embedded")
    with (toys.folder / "data/embedded/cifar10.npz").open("ab") as embedded:
        embedded.write(b"another")
    assert toys.snakemake("-n", "figure91").did == jobs("a") | drawing(91) | {"preparing the dataset cifar10"}


def assert_as_verify_says(checkout: Checkout, damaged: set[str], did: set[str]) -> None:
    """Check that a run deletes what `verify` names, speaks of nothing else, and leaves nothing damaged."""
    verified = checkout.python("verify")
    assert verified.status == 1 and verified.outdated == damaged, verified.output
    plan = checkout.snakemake("all", "-n")
    assert plan.status == 0 and plan.outdated == damaged, plan.output
    assert plan.output.count("; a real run deletes it\n") == len(damaged), plan.output
    run = checkout.snakemake("all")
    assert run.status == 0 and run.did == did and run.outdated == damaged, run.output
    assert run.output.count("; deleted\n") == len(damaged), run.output
    verified = checkout.python("verify")
    assert verified.status == 0 and verified.outdated == set(), verified.output


def test_parts_that_nothing_needs_are_deleted_and_not_said_to_be_remade(made: Checkout) -> None:
    for table in (made.table("toy_a"), made.table("toy_a", "1-of-2")):
        table.with_suffix(".json").unlink()
    run, verified = made.snakemake("all"), made.python("verify")
    assert run.did == run.outdated == verified.outdated == set() and verified.status == 0, run.output + verified.output
    cut, altered = made.table("toy_a", "1-of-2"), made.table("toy_b", "2-of-2")
    cut.write_bytes(cut.read_bytes()[:-9])
    altered.with_suffix(".json").write_text("altered")
    assert_as_verify_says(made, {str(part.relative_to(made.folder)) for part in (cut, altered)}, set())
    # A part that is asked for is needed.
    part = made.table("toy_a", "2-of-2")
    part.with_suffix(".json").write_text("altered")
    asked = made.snakemake(str(part.relative_to(made.folder)))
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
        assert set(artifacts.read_table(toys.table("toy_a", "1-of-2")).rows["y"]) == {threads}


def test_scales_and_runs_do_not_disturb_each_other_and_share_tables(made: Checkout) -> None:
    before = made.contents("figures/default/**/*")
    assert made.snakemake("figure91", "--config", "scale=smoke").did == ALL_A - drawing(93)
    run = made.snakemake("figure91", "figure92", "--config", "run=wide", "toy_a={offset: 9}")
    assert run.status == 0 and run.did == ALL_A - drawing(93), run.output
    for number in (91, 92):
        assert (made.folder / f"figures/default-wide/overparam/figure{number}.png").exists()
    (made.folder / "mine.yaml").write_text("toy_a: {offset: 9, points: 5}\n")
    for given in (["--config", "toy_a.offset=9.0"], ["--configfile", "mine.yaml"]):
        run = made.snakemake("figure91", *given)
        assert run.status == 0 and run.did == set(), run.output
        assert run.output.endswith("look at figures/default-toy_a.offset=9.0/overparam/figure91.png in any browser\n")
    # The sizes of another scale: its tables are there, and only the caption names the scale.
    run = made.snakemake("figure91", "--config", "scale=paper", "toy_a.points=5", "toy_a.chunks=1")
    assert run.status == 0 and run.did == drawing(91), run.output
    assert made.contents("figures/default/**/*") == before
    assert made.snakemake("figure91").did == made.snakemake("figure91", "--config", "scale=smoke").did == set()


def test_without_metadata_nothing_stale_is_shown(made: Checkout) -> None:
    shutil.rmtree(made.folder / ".snakemake")
    before = made.tables()
    made.edit(KERNEL, lambda text: text.replace("* 1", "* 5"))
    os.utime(made.folder / KERNEL, (1e9, 1e9))
    made.edit("config/overparam/physics.yaml", lambda text: text.replace("toy_b: {offset: 2", "toy_b: {offset: 3"))
    run = made.snakemake("all")
    assert run.status == 0, run.output
    assert run.did == EVERYTHING
    assert made.tables().items() > before.items()


def test_damaged_files_are_deleted_and_remade_and_no_timer_of_a_job_limit_keeps_snakemake_busy(made: Checkout) -> None:
    made.edit(
        "Snakefile", lambda text: text + '\nonsuccess:\n    print("limit:", workflow.scheduler.job_rate_limiter)\n'
    )
    good = made.contents("figures/default/**/*.csv") | made.tables()
    table = made.table("toy_a")
    times = table.stat()
    content = bytearray(table.read_bytes())
    content[len(content) // 3] ^= 4
    table.write_bytes(bytes(content))
    os.utime(table, ns=(times.st_atime_ns, times.st_mtime_ns))
    for number in (91, 92):
        (png,) = made.folder.glob(f"results/figures/overparam/figure{number}/*/*.png")
        png.write_bytes(png.read_bytes()[:-100])
    copy = made.folder / "figures/default/overparam/figure92.csv"
    copy.write_text("altered")
    run = made.snakemake("all")
    assert run.status == 0, run.output
    assert "limit: None" in run.output, run.output
    assert run.output.count("; deleted\n") == 3, run.output
    # The table of figure 93 is new to Snakemake, and its job finds that the figure is there.
    assert run.did == {"joining the parts of overparam/toy_a"} | drawing(91, 92, 93), run.output
    assert run.output.count("figure93: made before") == 1 and "figure91: made before" not in run.output, run.output
    assert made.contents("figures/default/**/*.csv") | made.tables() == good


def test_altered_records_are_reported_and_remade(made: Checkout) -> None:
    good = made.contents("figures/default/**/*.csv") | made.tables()
    (record,) = (file.with_suffix(".json") for file in made.folder.glob("results/figures/overparam/figure92/*/*.png"))
    files = [made.table("toy_a").with_suffix(".json"), record]
    files.append(made.folder / "figures/default/overparam/figure91.json")
    for file in files:
        made.edit(str(file.relative_to(made.folder)), lambda text: text.replace('"host": "', '"host": "not-'))
    verified = made.python("verify")
    assert verified.status == 1 and "error: 3 files are not current" in verified.output, verified.output
    for file in files:
        assert f"{file.name} is altered" in verified.output
    run = made.snakemake("all", "overparam/toy_a")
    assert run.status == 0, run.output
    # The table of figures 91 and 93 is new to Snakemake, and their jobs find that the figures are there.
    assert run.did == {"joining the parts of overparam/toy_a"} | drawing(91, 92, 93), run.output
    assert run.output.count(": made before") == 2 and "figure92: made before" not in run.output, run.output
    assert made.contents("figures/default/**/*.csv") | made.tables() == good
    assert made.python("verify").status == 0


def test_a_killed_run_completes(made: Checkout) -> None:
    wanted = made.contents("figures/**/*.csv") | made.contents("figures/**/*.png")
    write_toys(made.folder, seconds=1.0)
    logs = set(made.folder.glob("logs/overparam/toy_a/*/1-of-2.log"))
    process = subprocess.Popen(
        made.command("all"),
        cwd=made.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    progress.until(lambda: "1 of 3 tasks done" in new_log(made, logs), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    again = made.snakemake("all")
    assert again.status == 0, again.output
    assert made.contents("figures/**/*.csv") | made.contents("figures/**/*.png") == wanted


def new_log(checkout: Checkout, before: set[Path]) -> str:
    """The text of a log of part 1 that was not there before; empty if there is none."""
    logs = set(checkout.folder.glob("logs/overparam/toy_a/*/1-of-2.log")) - before
    return "".join(log.read_text() for log in logs)


def test_three_pipelines_at_the_same_moment_make_the_same_bytes(toys: Checkout, first: tuple[Checkout, Run]) -> None:
    targets = (["all"], ["figure93", "figure91"], ["all", "--config", "run=mine"])
    processes = [
        subprocess.Popen(
            toys.command(*words), cwd=toys.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for words in targets
    ]
    for process in processes:
        output, _ = progress.output(process)
        assert process.returncode == 0, output
    assert toys.tables() == first[0].tables()
    for kind in ("png", "pdf", "csv"):
        wanted = first[0].contents(f"figures/default/**/*.{kind}")
        assert len(wanted) == 3 and toys.contents(f"figures/default/**/*.{kind}") == wanted
        mine = toys.contents(f"figures/default-mine/**/*.{kind}")
        assert {name.replace("-mine", ""): content for name, content in mine.items()} == wanted
    assert toys.snakemake("all").did == set() and toys.python("verify").status == 0


def test_code_edited_while_a_job_runs_never_signs_its_result(made: Checkout) -> None:
    write_toys(made.folder, seconds=2.0)
    logs = set(made.folder.glob("logs/overparam/toy_a/*/1-of-2.log"))
    process = subprocess.Popen(
        made.command("figure91"), cwd=made.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    progress.until(lambda: "1 of 3 tasks done" in new_log(made, logs), process)
    made.edit(KERNEL, lambda text: text.replace("* 1", "* 5"))
    output, _ = progress.output(process)
    assert process.returncode != 0
    assert "1-of-2.parquet: not written: the code was edited while it was computed; run again" in output
    again = made.snakemake("figure91")
    assert again.status == 0, again.output
    table = artifacts.read_table(made.table("toy_a")).rows
    assert list(table["y"]) == [5 * (1 + x) ** 2 for x in table["x"]]


def test_the_number_of_chunks_changes_no_bit(made: Checkout) -> None:
    table = made.table("toy_a")
    before = table.read_bytes()
    table.unlink()
    run = made.snakemake("overparam/toy_a", "--config", "toy_a={chunks: 5}")
    assert run.status == 0 and len(run.did) == 6, run.output
    assert table.read_bytes() == before


def test_a_failed_job_shows_its_log_in_one_line(made: Checkout) -> None:
    made.edit(
        "src/localentropy/programs/overparam/toy_a.py",
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
    module = "src/localentropy/figures/overparam/figure91.py"
    made.edit(module, lambda text: text.replace("for table in", "tables['a'].iloc[0]\n    for table in"))
    refused = made.python("plot", "figure91")
    place = "localentropy/figures/overparam/figure91.py, line 9: KeyError: 'a'"
    assert refused.status == 1 and refused.output == (
        f"error: figure91: cannot be drawn from these tables ({place}); "
        "they may lack rows that the shipped parameters give\n"
    )


def test_show_and_verify(made: Checkout) -> None:
    table = str(made.table("toy_a").relative_to(made.folder))
    assert table in made.python("show", "overparam/toy_a").output
    for file in (table, "figures/default/overparam/figure91.png"):
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
    copies = 3
    assert verified.output.count("current") == len(EVERYTHING) + copies
    made.edit(KERNEL, lambda text: text.replace("* 1", "* 5"))
    stale = made.python("verify")
    assert stale.status == 1
    assert "figures/default/overparam/figure91.png: made from other tables or datasets" in stale.output
    assert made.python("show", "README.md").output.startswith("error: README.md: nothing to show")


def test_the_report_shows_the_figures_first_and_says_what_they_show(made: Checkout) -> None:
    run = made.snakemake("all", "--report", "report.html")
    assert run.status == 0, run.output
    page = (made.folder / "report.html").read_text()
    categories = json.loads(re.search(r"categories = (\{.*?\});", page)[1])  # type: ignore[index]
    pictures = [str(file.relative_to(made.folder)) for file in made.folder.glob("results/figures/**/*.png")]
    # The page sorts the names of the parts of a category.
    assert min(categories["overparam"]) == "figures" and categories["overparam"]["figures"] == sorted(pictures)
    assert '"shows": "squares of both"' in page


def test_another_folder_takes_all_that_is_made(made: Checkout, tmp_path: Path) -> None:
    before = {name for name in made.contents("[!.]*/**/*") if "__pycache__" not in name}
    out = Checkout(tmp_path / "out")
    options = ("figure91", "--directory", str(out.folder), "--config", "toy_a.offset=1", "run=there")
    run = made.snakemake(*options)
    assert run.status == 0 and run.did == jobs("a") | drawing(91), run.output
    for kind in ("png", "pdf", "csv"):
        there = out.contents(f"figures/default-there/overparam/figure91.{kind}")
        assert [*there.values()] == [*made.contents(f"figures/default/overparam/figure91.{kind}").values()]
    assert {name for name in made.contents("[!.]*/**/*") if "__pycache__" not in name} == before
    again = made.snakemake(*options)
    assert again.status == 0 and again.did == set(), again.output


MODULE = """
module minima:
    snakefile: {snakefile!r}
    config: {{"scale": "smoke", "run": "theirs", "toy_a": {{"points": 5}}}}

use rule * from minima as minima_*

rule mine:
    input: rules.minima_figure91.input
    output: "mine.txt"
    shell: "ls {{input}} > {{output}}"
"""


def test_the_snakefile_is_a_module_of_another_workflow(made: Checkout, tmp_path: Path) -> None:
    theirs = Checkout(tmp_path / "theirs")
    theirs.folder.mkdir()
    (theirs.folder / "Snakefile").write_text(MODULE.format(snakefile=str(made.folder / "Snakefile")))
    run = theirs.snakemake("mine", "--cores", "1")
    assert run.status == 0 and run.did == jobs("a") | drawing(91), run.output
    assert "figure91.csv" in (theirs.folder / "mine.txt").read_text()
    (numbers,) = theirs.contents("figures/smoke-theirs/overparam/figure91.csv").values()
    assert [numbers] == [*made.contents("figures/default/overparam/figure91.csv").values()]
    again = theirs.snakemake("mine", "--cores", "1")
    assert again.status == 0 and "Nothing to be done" in again.output, again.output


def test_clean_deletes_what_no_shipped_configuration_wants(made: Checkout) -> None:
    wanted = made.contents("results/**/*") | made.contents("figures/**/*")
    assert made.snakemake("figure91", "--config", "toy_a.offset=4", "run=four").status == 0
    mine = made.contents("results/**/*")
    (made.folder / "results/default").mkdir()
    (made.folder / "results/default/toy_a.parquet.aside").write_text("of an earlier version")
    refused = made.python("clean")
    assert refused.status == 1 and refused.output.startswith("error: clean: allowed: clean --unused; "), refused.output
    kept = made.python("clean", "--unused", "--config", "toy_a.offset=4")
    assert kept.status == 0 and kept.output == "1 files deleted, 0.0 MiB\n", kept.output
    assert made.contents("results/**/*") == mine
    done = made.python("clean", "--unused")
    # A table, two parts, their records, and a figure of five files; the logs and times of four jobs.
    assert done.status == 0 and done.output.startswith("19 files deleted, "), done.output
    left = made.contents("results/**/*") | made.contents("figures/default/**/*")
    assert left == wanted and not (made.folder / "results/default").exists()
    assert (made.folder / "figures/default-four/overparam/figure91.png").exists()
    assert made.snakemake("all").did == set()
