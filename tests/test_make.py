"""The words behind a target of make: they reach Snakemake, or one line says why not. Nothing is run."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def make(*words: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    """A dry run of make, with no more of the environment than its programs need."""
    needed = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    return subprocess.run(
        ["make", "-n", *words], cwd=folder, env=needed | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["figure3"], "figure3 --config scale=default"),
        (["overparam_figure3", "SCALE=smoke"], "overparam_figure3 --config scale=smoke"),
        (
            ["all", "SET=a.b=1 c='{d: e}'", "RUN=wide"],
            """all --config scale=default run=wide "set=a.b=1 c='{d: e}'" """,
        ),
        (["report", "SET=a=$(x)$$;`y`", "RUN=$HOME"], "report --config scale=default run='$HOME' 'set=a=$(x)$$;`y`'"),
        (["tests"], "tests --config scale=default"),
        (["./README.md", "SCALE=$(shell exit)"], "README.md --config 'scale=$(shell exit)'"),
    ],
)
def test_variables_reach_snakemake_as_they_are_written(words: list[str], arguments: str) -> None:
    done = make(*words)
    assert done.returncode == 0, done.stderr
    assert shlex.split(done.stdout.splitlines()[-1])[1:] == shlex.split(arguments)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["figure3", "scale=smoke"], "scale=smoke: no such variable; did you mean SCALE=smoke? allowed: "),
        (["figure3", "SCAEL=smoke"], "SCAEL=smoke: no such variable; did you mean SCALE=smoke? allowed: "),
        (["figure3", "ALPHA=2"], "ALPHA=2: no such variable; allowed: PYTHON SCALE RUN SET; SET holds parameters"),
        (["test", "ALPHA=2"], "ALPHA=2: no such variable; allowed: "),
        (["figure3", "it's=2"], "it's=2: no such variable; allowed: "),
        (
            ["notebooks", "SCALE=smoke"],
            "SCALE=smoke: notebooks has one size and the shipped values; ask for it without",
        ),
        (["gallery", "SET=seed=3"], "SET=seed=3: gallery has one size and the shipped values; ask for it without SET"),
    ],
)
def test_variables_that_would_be_ignored_are_refused_in_one_line(words: list[str], message: str) -> None:
    done = make(*words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.partition(" *** ")[2].startswith(message), done.stderr


@pytest.mark.parametrize("name", ["SCALE", "RUN", "SET"])
def test_the_environment_sets_none_of_them(name: str) -> None:
    environment: dict[str, Any] = {name: "smoke"}
    done = make("figure3", **environment)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f" *** {name} is set in the environment, which is not taken; " in done.stderr, done.stderr
    assert make("help", ALPHA="2", **environment).returncode == 0


@pytest.mark.parametrize(
    ("target", "environment", "message"),
    [
        ("figure99", "", "figure99: no such target; docs/figures.md lists the figures"),
        ("figure99", ".venv/bin/python", ""),
        *((name, "", "") for name in ("figure3", "margins_figure2", "overparam_figure3", "datasets", "glm_scorecard")),
        ("results/x.parquet", "", ""),
    ],
)
def test_a_wrong_figure_is_refused_before_an_environment_is_made_for_it(
    target: str, environment: str, message: str, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copytree(ROOT / "config", tmp_path / "config")
    if environment:
        (tmp_path / environment).parent.mkdir(parents=True)
        (tmp_path / environment).touch()
    done = make(target, folder=tmp_path)
    assert done.stderr.partition(" *** ")[2].startswith(message) and bool(message) == bool(done.returncode), done.stderr
