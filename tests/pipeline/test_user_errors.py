"""What a user gets wrong on Snakemake's command line or ours ends in one line, without a traceback."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.pipeline.conftest import Checkout, copy_checkout, write_toys


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with the small experiments, for commands that are refused: one for all of them."""
    folder = copy_checkout(tmp_path_factory.mktemp("untouched") / "checkout")
    write_toys(folder)
    (folder / "mine.yaml").write_text("toy_b: {points: 0}\n")
    os.mkfifo(folder / "pipe.yaml")
    return Checkout(folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--config", "scale=huge"], "error: --config: scale = huge: allowed: smoke, default, paper"),
        (["--config", "toy_a={ofset: 2}"], "toy_a.ofset = 2: unknown key; did you mean 'offset'?"),
        (["--config", "toy_a={offset: -2}"], "toy_a.offset = -2: allowed: a number > 0; nearest: anything above 0"),
        (["--config", "toy_a={offset: two}"], "toy_a.offset = two: allowed: a number > 0"),
        (["--config", "toy_a={offset: true}"], "toy_a.offset = true: allowed: a number > 0"),
        (["--config", "toy_a={points: 1_0}"], "toy_a.points = 1_0: allowed: an integer ≥ 1"),
        (["--config", "toy_a={points: 1, points: 2}"], "--config toy_a={points: 1, points: 2}: the key points is"),
        (["--config", "scale=smoke", "scale=paper"], "scale=paper: scale was set to smoke by an earlier --config"),
        (["--config", "scale=smoke", "--config", "run=x"], "--config is given 2 times; allowed: once"),
        (["--config", "run=../up"], "run = ../up: allowed"),
        (["--configfile", "mine.yaml"], "error: mine.yaml: toy_b.points = 0: allowed: an integer ≥ 1; nearest: 1"),
    ],
)
def test_snakemake_refuses_a_wrong_configuration_in_one_line(
    untouched: Checkout, arguments: list[str], message: str
) -> None:
    run = untouched.snakemake("figure91", *arguments)
    assert run.status == 1
    assert len(run.own_lines) == 1, run.output
    assert message in run.own_lines[0]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("figrue91", "error: figrue91: no such target; did you mean 'figure91'? allowed: "),
        ("scorecards", "error: scorecards: no such target; did you mean 'scorecard'? allowed: "),
        ("figures/smoke/overparam/figure99.png", "error: figure99: no such figure; did you mean 'figure9"),
        ("figures/smoke/margins/figure91.png", "error: margins_figure91: no such figure; did you mean 'figure91'?"),
        ("notebooks/frist_look.html", "error: frist_look: no such notebook; did you mean 'first_look'? allowed: "),
        ("results/smoke/overparam/toy_c.parquet", "error: overparam/toy_c: no such experiment; did you mean"),
    ],
)
def test_snakemake_refuses_a_wrong_target_in_one_line(untouched: Checkout, target: str, message: str) -> None:
    run = untouched.snakemake(target, "--config", "scale=smoke")
    assert run.status == 1
    # After Snakemake's own header, which ends so.
    after = run.output.partition("Building DAG of jobs...\n")[2]
    assert after.startswith(message) and after.count("\n") == 1, run.output


def test_a_job_without_the_memory_is_refused_before_any_job_runs(untouched: Checkout, made: Checkout) -> None:
    run = untouched.snakemake("all", "--config", "scale=smoke", "toy_b={offset: 1.0e+18}")
    after = run.output.partition("Building DAG of jobs...\n")[2]
    assert run.status == 1 and after.startswith(
        "error: overparam/toy_b: point=0: needs at least 931,322,574.6 GiB of memory"
    )
    assert after.endswith("; choose smaller sizes\n") and after.count("\n") == 1, run.output
    direct = untouched.python("run", "overparam/toy_b", "--set", "toy_b.offset=1.0e+18")
    assert direct.status == 1 and "error: overparam/toy_b: point=0: needs at least" in direct.output
    # What was made on a larger machine is taken.
    made.edit("src/localentropy/arguments.py", lambda text: text.replace("return min(limits)", "return 0"))
    run = made.snakemake("-n", "all")
    assert run.status == 0 and run.did == set(), run.output


def test_a_part_that_is_none_is_refused(untouched: Checkout) -> None:
    for part, parts in ((0, 2), (3, 2), (1, 3)):
        run = untouched.snakemake(f"results/smoke/overparam/toy_a/{part}-of-{parts}.parquet", "--config", "scale=smoke")
        assert f"\nerror: overparam/toy_a: no part {part} of {parts}; allowed: 1 to 2\n" in run.output, run.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "overparam/toy_c"], "overparam/toy_c: no such experiment; did you mean 'overparam/toy_"),
        (["plot", "figure99"], "figure99: no such figure; did you mean"),
        (["run", "overparam/toy_a", "--part", "7"], "--part = 7: allowed: 1 to 2"),
        (["run", "overparam/toy_a", "--set", "toy_a.points"], "--set toy_a.points: allowed: key=value"),
        (["run", "overparam/toy_a", "--set", "toy_a.points=-1"], "--set: toy_a.points = -1: allowed"),
        (["plot", "figure91"], "results/default/overparam/toy_a.parquet: no such table"),
        (["show", "absent.parquet"], "absent.parquet: no such table"),
        (["show", "two\nlines.parquet"], "two\\nlines.parquet: no such table"),
        (
            ["prepare", "mnist", "--set", "data.source=mirror", "--set", 'data.mirror="two\\nlines"'],
            "two\\nlines does not exist, expected a directory with the raw files",
        ),
        (["prepare", "mnits"], "(did you mean mnist?)"),
        (["verify"], "results/default, figures/default: nothing to verify; made so far: nothing"),
        (["verify", "--scale", "smoke", "--run", "x"], "results/smoke-x, figures/smoke-x: nothing to verify"),
        (["show", "figures/gallery/overparam/figure3.png"], "a copy, which has no record of how it was made"),
        (["run", "overparam/toy_a", "--log", "/proc/none/log"], "/proc/none/log: cannot be written"),
        (["plot", "figure91", "--log", "mine.yaml/log"], "mine.yaml/log: cannot be written"),
        (["run", "overparam/toy_a", "--log", "pipe.yaml"], "pipe.yaml: a pipe, which would wait for a reader"),
        (["dag", "/proc/none/dag.svg"], "/proc/none/dag.svg: cannot be written"),
        (["run", "overparam/toy_a", "--config", "pipe.yaml"], "pipe.yaml: a folder, a pipe or a device; write"),
        (["gallery"], "missing; run `make all scorecard SCALE=default`"),
        (["golden"], "missing; run `make all scorecard SCALE=smoke`"),
        (
            ["diff", "figures/absent", "HEAD"],
            "figures/absent: no directory, and git names no revision (fatal: not a git repository",
        ),
        (["diff", "src", "src"], "src: no <paper>/<figure>.csv in it"),
    ],
)
def test_our_commands_refuse_in_one_line(untouched: Checkout, arguments: list[str], message: str) -> None:
    run = untouched.python(*arguments)
    assert run.status == 1
    assert run.output.startswith("error: ") and run.output.count("\n") == 1, run.output
    assert message in run.output


@pytest.mark.parametrize("name", ["on", "010", "1_0"])
def test_a_run_is_called_as_it_is_written(untouched: Checkout, name: str) -> None:
    run = untouched.snakemake("-n", "figure91", "--config", "scale=smoke", f"run={name}")
    assert run.status == 0, run.output
    assert f"figures/smoke-{name}/overparam/figure91.png" in run.output


def test_without_a_target_all_figures_are_made_and_the_last_line_says_where(made: Checkout) -> None:
    assert {"drawing figure91", "drawing figure92", "drawing figure93"} <= made.snakemake("-n", "--forceall").did
    shutil.rmtree(made.folder / "figures")
    for arguments, did, last in (
        (["figure92"], {"drawing figure92"}, "look at figures/default/overparam/figure92.png in any browser"),
        (
            [],
            {"drawing figure91", "drawing figure93"},
            "look at the 3 pictures and pages below figures/default, such as",
        ),
        (["figure92"], set(), "look at figures/default/overparam/figure92.png in any browser"),
    ):
        run = made.snakemake(*arguments)
        assert run.status == 0 and run.did == did, run.output
        assert run.output.splitlines()[-1].startswith(last), run.output


@pytest.mark.parametrize("command", ["verify", "docs", "run overparam/toy_a", "plot figure91", "show README.md"])
def test_commands_refuse_another_checkout(made: Checkout, untouched: Checkout, tmp_path: Path, command: str) -> None:
    before = made.contents("**/*")
    elsewhere = f"error: {tmp_path}: not the root of the checkout; change to {made.folder}\n"
    if command.startswith("show"):  # it only looks at what it is told to
        elsewhere = "error: README.md: nothing to show"
    for folder, message in (
        (untouched.folder, f"error: {untouched.folder}: Python runs the code of another checkout, {made.folder}; "),
        (tmp_path, elsewhere),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "localentropy", *command.split()],
            cwd=folder,
            env={"PYTHONPATH": str(made.folder / "src"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1 and done.stderr.startswith(message) and done.stderr.count("\n") == 1, done.stderr
    assert made.contents("**/*.md") == {name: text for name, text in before.items() if name.endswith(".md")}


def test_ctrl_c_ends_with_one_line_that_says_how_to_go_on(toys: Checkout) -> None:
    write_toys(toys.folder, seconds=60.0)
    # A shell's background jobs ignore Ctrl-C, and so would the commands that this process starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    log = toys.folder / "logs/smoke/overparam/toy_a/1-of-2.log"
    for command in (
        toys.command("figure91", "--config", "scale=smoke"),
        [sys.executable, "-m", "localentropy", "run", "overparam/toy_a", "--scale", "smoke", "--log", str(log)],
    ):
        process = subprocess.Popen(
            command,
            cwd=toys.folder,
            env=os.environ | {"PYTHONPATH": str(toys.folder / "src")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        while not log.exists():
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)
        output = process.communicate(timeout=50)[0]
        assert process.returncode in (1, 130)
        # On a busy machine Snakemake may first say that a job, which Ctrl-C reaches too, has ended.
        assert output.endswith("interrupted: what is complete is kept; the same command goes on from there\n"), output
        assert "Traceback" not in output, output
        assert "Traceback" not in log.read_text() and "interrupted" in log.read_text()
        log.unlink()


def test_steps_run_without_snakemake(toys: Checkout) -> None:
    assert toys.python("run", "overparam/toy_a", "--scale", "smoke").status == 0
    drawn = toys.python("plot", "figure91", "--scale", "smoke")
    assert drawn.status == 0, drawn.output
    assert (toys.folder / "figures/smoke/overparam/figure91.png").exists()
    assert toys.python("verify", "--scale", "smoke").status == 0
