"""What a user gets wrong on Snakemake's command line or ours ends in one line, without a traceback."""

from __future__ import annotations

import pytest

from tests.helpers import own_lines
from tests.pipeline.conftest import Checkout, copy_checkout, write_toys


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with the small experiments, for commands that are refused: one for all of them."""
    folder = copy_checkout(tmp_path_factory.mktemp("untouched") / "checkout")
    write_toys(folder)
    (folder / "mine.yaml").write_text("toy_b: {points: 0}\n")
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
    lines = own_lines(run.output)
    assert len(lines) == 1, run.output
    assert message in lines[0]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("figrue91", "error: figrue91: no such target; did you mean 'figure91'? allowed: "),
        ("scorecards", "error: scorecards: no such target; did you mean 'scorecard'? allowed: "),
        ("figures/smoke/overparam/figure99.png", "error: figure99: no such figure; did you mean 'figure9"),
        ("figures/smoke/margins/figure91.png", "error: margins_figure91: no such figure; did you mean 'figure91'?"),
        ("results/smoke/overparam/toy_c.parquet", "error: overparam/toy_c: no such experiment; did you mean"),
    ],
)
def test_snakemake_refuses_a_wrong_target_in_one_line(untouched: Checkout, target: str, message: str) -> None:
    run = untouched.snakemake(target, "--config", "scale=smoke")
    assert run.status == 1
    # After Snakemake's own header, which ends so.
    after = run.output.partition("Building DAG of jobs...\n")[2]
    assert after.startswith(message) and after.count("\n") == 1, run.output


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
        (["prepare", "mnits"], "mnits"),
        (["gallery"], "missing; run `make all scorecard SCALE=default`"),
        (["golden"], "missing; run `make all scorecard SCALE=smoke`"),
        (["diff", "figures/absent", "HEAD"], "figures/absent: neither a directory nor a git revision"),
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


def test_steps_run_without_snakemake(toys: Checkout) -> None:
    assert toys.python("run", "overparam/toy_a", "--scale", "smoke").status == 0
    drawn = toys.python("plot", "figure91", "--scale", "smoke")
    assert drawn.status == 0, drawn.output
    assert (toys.folder / "figures/smoke/overparam/figure91.png").exists()
    assert toys.python("verify", "--scale", "smoke").status == 0
