"""What a user gets wrong on Snakemake's command line or ours ends in one line, without a traceback."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests import progress
from tests.pipeline.conftest import Checkout, copy_checkout, write_toys

pytestmark = pytest.mark.pipeline

ORIGIN = "0123456789abcdef"


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with the small experiments, for commands that are refused: one for all of them."""
    folder = copy_checkout(tmp_path_factory.mktemp("untouched") / "checkout")
    write_toys(folder)
    (folder / "mine.yaml").write_text("toy_b: {points: 0}\n")
    (folder / "no-text.yaml").write_bytes(b"\xff\xfe")
    (folder / "open.yaml").write_text("toy_b: {points: 0\n")
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
        (["--config", "toy_a.offset=-2"], "--config: toy_a.offset = -2: allowed: a number > 0"),
        (["--config", "toy_a.offset=2", "toy_a={offset: 3}"], "toy_a.offset was set to 2 by an earlier --config"),
        (["--config", "toy_a"], "--config toy_a: allowed: key=value or key.key=value"),
        (["--config=toy_a"], "--config toy_a: allowed: key=value or key.key=value"),
        (["-Ctoy_a"], "--config toy_a: allowed: key=value or key.key=value"),
        (["--config", "scale=smoke", "figure92"], "--config figure92: allowed: key=value"),
        (["--config", "=3"], "--config =3: allowed: key=value"),
        (["--config", "-3"], "--config -3: allowed: key=value"),
        (["--config", "q={"], "--config: q: unknown key; allowed: seed, data, scale, run, overparam, … (7 in all)"),
        (["--config", "seed= "], "--config: seed = null: allowed: an integer"),
        (["--config", "seed=#"], "--config: seed = null: allowed: an integer"),
        (["--config", "set=toy_a.offset='2"], "SET = toy_a.offset='2: No closing quotation"),
        (["--configfile", "absent.yaml"], "error: absent.yaml: no such configuration file"),
        (["--configfile", "mine.yaml", "src"], "error: src: a folder, a pipe or a device; write the configuration to"),
        (["--configfiles", "no-text.yaml", "-n"], "error: no-text.yaml: cannot be read ('utf-8' codec can't decode"),
        (["--configfile=open.yaml"], "error: open.yaml: line 1 not valid YAML ("),
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
        ("overparam_figrue91", "error: overparam_figrue91: no such target; did you mean 'figure91'? allowed: "),
        ("scorecards", "error: scorecards: no such target; did you mean 'scorecard'? allowed: "),
        ("figure91/", "error: figure91/: no such target; did you mean 'figure91'? allowed: "),
        ("", "error: '': no such target; allowed: "),
        ("plot", "error: plot: no such target; did you mean 'report'? allowed: "),
        ("README.md", "error: README.md: no such target; allowed: "),
        ("figures/smoke/overparam/figure91.png", "no such target; did you mean 'figure91'? allowed: "),
        ("/results/figures/overparam/figure99.png", "no such target; did you mean 'figure9"),
        ("overparam/toy_aa", "error: overparam/toy_aa: no such target; did you mean 'overparam/toy_a'? allowed: "),
        (
            f"results/figures/overparam/figure99/{ORIGIN}/figure99.png",
            "error: figure99: no such figure; did you mean 'figure9",
        ),
        (f"results/overparam/toy_c/{ORIGIN}.parquet", "error: overparam/toy_c: no such experiment; did you mean"),
        (f"results/overparam/toy_a/{ORIGIN}.parquet", f"error: {ORIGIN}: a result of other parameters or code than"),
    ],
)
def test_snakemake_refuses_a_wrong_target_in_one_line(untouched: Checkout, target: str, message: str) -> None:
    run = untouched.snakemake(target, "--config", "scale=smoke")
    # Where a file's own job refuses it, Snakemake's header stands before the line.
    said = "\n".join(run.own_lines).rpartition("Building DAG of jobs...\n")[2]
    assert run.status == 1 and said.startswith("error: ") and message in said and "\n" not in said, run.output


@pytest.mark.parametrize("option", ["--until", "--omit-from", "--forcerun", "--prioritize"])
def test_a_word_for_rules_is_one_of_them(untouched: Checkout, option: str) -> None:
    run = untouched.snakemake("-n", "figure91", option, "plto")
    assert run.status == 1 and len(run.own_lines) == 1, run.output
    assert run.own_lines[0].startswith("error: plto: no such target; did you mean 'plot'? allowed: "), run.output
    assert untouched.snakemake("-n", "figure91", option, "plot").status == 0


def test_a_job_without_the_memory_is_refused_before_any_job_runs(untouched: Checkout, made: Checkout) -> None:
    run = untouched.snakemake("all", "--config", "scale=smoke", "toy_b={offset: 1.0e+18}")
    after = run.output.partition("Building DAG of jobs...\n")[2]
    assert run.status == 1 and after.startswith(
        "error: overparam/toy_b: point=0: needs at least 931,322,574.6 GiB of memory"
    )
    assert after.endswith("; choose smaller sizes\n") and after.count("\n") == 1, run.output
    direct = untouched.python("run", "overparam/toy_b", "--config", "toy_b.offset=1.0e+18")
    assert direct.status == 1 and "error: overparam/toy_b: point=0: needs at least" in direct.output
    # What was made on a larger machine is taken.
    made.edit("src/localentropy/arguments.py", lambda text: text.replace("return min(limits)", "return 0"))
    run = made.snakemake("-n", "all")
    assert run.status == 0 and run.did == set(), run.output


def test_a_part_that_is_none_is_refused(untouched: Checkout) -> None:
    plan = untouched.snakemake("-n", "overparam/toy_a", "--config", "scale=smoke").output
    made = re.search(r"results/overparam/toy_a/[0-9a-f]{16}/", plan)
    assert made, plan
    for part, parts in ((0, 2), (3, 2), (1, 3)):
        run = untouched.snakemake(f"{made[0]}{part}-of-{parts}.parquet", "--config", "scale=smoke")
        assert f"\nerror: overparam/toy_a: no part {part} of {parts}; allowed: 1 to 2\n" in run.output, run.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "overparam/toy_c"], "overparam/toy_c: no such experiment; did you mean 'overparam/toy_"),
        (["plot", "figure99"], "figure99: no such figure; did you mean"),
        (["run", "overparam/toy_a", "--part", "7"], "--part = 7: allowed: 1 to 2"),
        (["run", "toy_a"], "toy_a: no such experiment; did you mean 'overparam/toy_a'? allowed: overparam/toy_a, "),
        (["run", "overparam/toy_a", "--config", "toy_a.points"], "--config toy_a.points: allowed: key=value"),
        (["run", "overparam/toy_a", "--config", "toy_a.points=-1"], "--config: toy_a.points = -1: allowed"),
        (["run", "overparam/toy_a", "--config", "toy_b.points=1", "toy_a.points=0"], "toy_a.points = 0: allowed"),
        (["plot", "figure91"], ".parquet: no such table; run `python -m localentropy run overparam/toy_a` first"),
        (["show", "overparam/toy_a"], ".parquet: no such table; `snakemake overparam/toy_a` makes it"),
        (["show", "overparam/toy_c"], "overparam/toy_c: no such experiment; did you mean 'overparam/toy_"),
        (["show", "absent.parquet"], "absent.parquet: no such table"),
        (["shwo", "figure91"], "shwo: no such command; did you mean 'show'? allowed: show, "),
        (["figure91"], "figure91: no such command; allowed: run, "),
        (["show", "Figure91"], "Figure91: nothing to show; did you mean 'figure91'? allowed: a table"),
        (
            ["show", "overparam_figrue91"],
            "overparam_figrue91: nothing to show; did you mean 'figure91'? allowed: a table",
        ),
        (
            ["show", "figures/smoke/overparam/figure91.png"],
            "91.png: no such file; `snakemake figure91 --config scale=smoke`",
        ),
        (
            ["run", "figure91"],
            "error: figure91: a figure, no experiment; it needs overparam/toy_a; `make figure91` draws",
        ),
        (["merge", "overparam/toy_a", "--scale", "smoke"], "run overparam/toy_a --config scale=smoke` first"),
        (
            ["show", "overparam_figure91"],
            "figures/default/overparam/figure91.png: not there; `snakemake figure91` makes",
        ),
        (["show", "two\nlines.parquet"], "two\\nlines.parquet: no such table"),
        (
            ["prepare", "mnist", "--config", "data.source=mirror", 'data.mirror="two\\nlines"'],
            "two\\nlines does not exist, expected a directory with the raw files",
        ),
        (["prepare", "mnits"], "(did you mean mnist?)"),
        (["verify"], "results, figures/default: nothing to verify; figures so far: none"),
        (["verify", "--scale", "smoke", "--run", "x"], "results, figures/smoke-x: nothing to verify"),
        (["show", "figures/gallery/overparam/figure3.png"], "figures/gallery/overparam/figure3.png: nothing to show"),
        (["show", "overparam_figrue91"], "overparam_figrue91: nothing to show; did you mean 'figure91'? allowed: "),
        (["run", "overparam/toy_a", "--log", "/proc/none/log"], "/proc/none/log: cannot be written"),
        (["plot", "figure91", "--log", "mine.yaml/log"], "mine.yaml/log: cannot be written"),
        (["run", "overparam/toy_a", "--log", "pipe.yaml"], "pipe.yaml: a pipe, which would wait for a reader"),
        (["dag", "/proc/none/dag.svg"], "/proc/none/dag.svg: cannot be written"),
        (["run", "overparam/toy_a", "--configfile", "pipe.yaml"], "pipe.yaml: a folder, a pipe or a device; write"),
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
    run = untouched.snakemake("-n", "-p", "report", "--config", "scale=smoke", f"run={name}")
    assert run.status == 0, run.output
    assert f"--report figures/smoke-{name}/report.html" in run.output


@pytest.mark.parametrize("arguments", [[], ["--config", "scale=smoke"], ["--forceall"]])
def test_without_a_target_it_is_said_what_there_is_and_nothing_is_made(toys: Checkout, arguments: list[str]) -> None:
    before = toys.contents("[!.]*/**/*")
    run = toys.snakemake(*arguments)
    assert run.status == 0 and run.did == set(), run.output
    assert "\noverparam  figure91 figure92 figure93\n" in f"\n{run.output}"
    assert "\nall        every figure of every paper\n" in run.output and "\nscorecard  " in run.output
    assert {name for name in toys.contents("[!.]*/**/*") if "__pycache__" not in name} == set(before)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (">&-", ""),
        ("> /dev/full", "error: No space left on device; fix that and run again: what is complete is kept\n"),
        ("| true", ""),
    ],
)
@pytest.mark.parametrize(
    "arguments", ["snakemake", "localentropy --help", "localentropy --version", "localentropy dag"]
)
def test_a_reader_that_is_gone_is_met_in_silence(
    untouched: Checkout, arguments: str, stream: str, message: str
) -> None:
    words = f"{arguments} {untouched.folder / 'dag.svg'}" if arguments.endswith("dag") else arguments
    line = f"{sys.executable} -m {words} {stream}"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=untouched.folder,
        env=os.environ | {"PYTHONPATH": str(untouched.folder / "src")},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    said = done.stderr.rpartition("Building DAG of jobs...\n")[2]
    assert said == message, done.stderr


def test_a_figure_of_the_main_paper_may_have_the_papers_key_before_its_name(made: Checkout) -> None:
    file = "figures/default/overparam/figure92.png"
    (drawn,) = made.folder.glob("results/figures/overparam/figure92/*/*.png")
    assert made.snakemake("overparam_figure92", str(drawn.relative_to(made.folder))).did == set()
    drawn.unlink()
    run = made.snakemake("overparam_figure92")
    assert run.did == {"drawing figure92"} and run.output.endswith(f"look at {file} in any browser\n"), run.output
    for command in ("plot", "show"):
        done = made.python(command, "overparam_figure92")
        assert done.status == 0 and file in done.output, done.output


def test_figures_are_put_where_people_look_and_the_last_line_says_where(made: Checkout) -> None:
    whole = made.contents("figures/**/*")
    shutil.rmtree(made.folder / "figures")
    for arguments, last in (
        (["figure92"], "look at figures/default/overparam/figure92.png in any browser"),
        (["all"], "look at the 3 pictures and pages below figures/default, such as"),
    ):
        run = made.snakemake(*arguments)
        assert run.status == 0 and run.did == set(), run.output
        assert run.output.splitlines()[-1].startswith(last), run.output
        found = made.contents("figures/**/*")
        assert found == {name: content for name, content in whole.items() if arguments == ["all"] or "92" in name}


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


def sleeps(folder: Path, logs: str) -> bool:
    """Whether a log says that its task sleeps."""
    return any("sleeps" in log.read_text() for log in folder.glob(logs))


def test_ctrl_c_ends_with_one_line_that_says_how_to_go_on(toys: Checkout) -> None:
    write_toys(toys.folder, seconds=1e6)
    # A shell's background jobs ignore Ctrl-C, and so would the commands that this process starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    direct = ["run", "overparam/toy_a", "--scale", "smoke", "--log", "job.log"]
    for command, logs in (
        (toys.command("figure91", "--config", "scale=smoke"), "logs/overparam/toy_a/*/1-of-2.log"),
        ([sys.executable, "-m", "localentropy", *direct], "job.log"),
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
        progress.until(partial(sleeps, toys.folder, logs), process)
        os.killpg(process.pid, signal.SIGINT)
        output = progress.output(process)[0]
        assert process.returncode in (1, 130)
        # On a busy machine Snakemake may first say that a job, which Ctrl-C reaches too, has ended.
        assert output.endswith("interrupted: what is complete is kept; the same command goes on from there\n"), output
        assert "Traceback" not in output, output
        (log,) = toys.folder.glob(logs)
        assert "Traceback" not in log.read_text() and "interrupted" in log.read_text()


def test_steps_run_without_snakemake(toys: Checkout) -> None:
    assert toys.python("run", "overparam/toy_a", "--scale", "smoke").status == 0
    drawn = toys.python("plot", "figure91", "--scale", "smoke")
    assert drawn.status == 0, drawn.output
    assert (toys.folder / "figures/smoke/overparam/figure91.png").exists()
    assert toys.python("verify", "--scale", "smoke").status == 0
