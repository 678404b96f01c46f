"""`diff` finds exactly the rows that moved, were lost or came, in directories and in git revisions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from localentropy.commands.diff import compare, compare_sources, lines, read_figures
from localentropy.errors import DataError
from localentropy.figures.series import MEASURED
from tests import progress
from tests.terminal import on_terminal


def rows(**changes: object) -> pd.DataFrame:
    """A theory line and two simulated points of two sizes."""
    line = pd.DataFrame({"panel": "a", "series": "theory", "x": [0.0, 1.0, 2.0], "y": [1e-12, 0.5, 1.0], "y_err": 0.0})
    points = pd.DataFrame({"panel": "a", "series": "SA", "x": 1.0, "y": [0.4, 0.3], "y_err": 0.03, "D": [33, 67]})
    return pd.concat([line, points.assign(n=5)], ignore_index=True).assign(**changes)


def at(frame: pd.DataFrame, row: int, **values: float) -> pd.DataFrame:
    changed = frame.copy()
    for column, value in values.items():
        changed.loc[row, column] = value
    return changed


def test_equal_tables_are_the_same_in_any_order_and_for_any_measured_column():
    found = compare("f", rows(), rows(n=20).sample(frac=1.0, random_state=0))
    assert found.same
    assert (found.rows, found.only_a, found.only_b, found.moved, found.beyond) == (5, 0, 0, 0, 0)
    assert found.worst == ""


def test_scores_and_agreements_are_results_and_name_no_row():
    points = rows(score=1.0).assign(chi_squared=2.0, points=3.0, drift=0.1, drift_err=0.05)
    moved = points.assign(score=1.1, chi_squared=2.2, points=4.0, drift=0.11, drift_err=0.06)
    assert compare("f", points, at(moved, 4, y=0.303)).same


PARAMETERS = (
    {"panel", "series", "D", "N", "algorithm", "alpha", "beta", "d", "dataset", "distance", "energy", "ensemble"}
    | {"epoch", "features", "gamma", "initialization", "inv_alpha", "left", "margin", "margin_effective"}
    | {"margin_ref", "optimizer", "p", "parameters", "patterns", "probability", "regularization", "right", "sample"}
    | {"sigma", "solver", "student", "width", "x"}
)
"""Columns of the figures that tell rows apart."""


def test_every_column_of_a_figure_is_sorted_into_parameters_and_results():
    root = Path(__file__).parents[2]
    figures = read_figures(str(root / "figures/gallery")), read_figures(str(root / "tests/golden"))
    columns = {column for tables in figures for table in tables.values() for column in table}
    assert columns - MEASURED == PARAMETERS


@pytest.mark.parametrize("step", [-0.2, 0.2])
def test_a_move_is_measured_in_both_standard_errors(step: float):
    moved = at(rows(), 4, y=0.3 + step, y_err=0.04)
    found = compare("f", rows(), moved)
    assert (found.moved, found.beyond) == (1, 1)
    assert found.worst.startswith("4 σ: panel a, SA, x = 1, D = 67")
    assert f"0.3 ± 0.03 → {0.3 + step:g} ± 0.04" in found.worst
    assert compare("f", rows(), moved, sigmas=4.01).same
    assert not compare("f", rows(), moved, sigmas=3.99).same


def test_a_move_without_errors_is_relative():
    assert compare("f", rows(), at(rows(), 1, y=0.5 * (1 + 0.9e-6))).same
    found = compare("f", rows(), at(rows(), 1, y=0.5 * (1 + 4e-6)))
    assert found.beyond == 1 and found.worst.startswith("4e-06 relative: panel a, theory, x = 1")
    assert compare("f", rows(), at(rows(), 1, y=0.5 * (1 + 4e-6)), relative=1e-5).same
    # What is zero up to rounding beside numbers of order one may be another such zero, but no more.
    assert compare("f", rows(), at(rows(), 0, y=-7e-12)).same
    assert compare("f", rows(), at(rows(), 0, y=1e-7)).beyond == 1


def test_thresholds_of_zero_leave_the_move_in_words():
    found = compare("f", rows(), at(rows(), 4, y=0.36), sigmas=0.0)
    assert found.beyond == 1 and found.worst.startswith("1.41 σ")
    found = compare("f", rows(), at(rows(), 1, y=0.6), relative=0.0)
    assert found.beyond == 1 and found.worst.startswith("0.167 relative")


def test_the_worst_row_is_the_one_furthest_beyond_its_own_threshold():
    found = compare("f", rows(), at(at(rows(), 4, y=0.45), 2, y=1.001))
    assert found.beyond == 2 and "theory, x = 2" in found.worst


def test_a_number_that_appears_or_vanishes_has_moved():
    for a, b in ((rows(), at(rows(), 3, y=np.nan)), (at(rows(), 3, y=np.nan), rows())):
        found = compare("f", a, b)
        assert found.beyond == 1 and found.worst.startswith("inf σ: panel a, SA")
    assert compare("f", at(rows(), 3, y=np.nan), at(rows(), 3, y=np.nan)).same


def test_an_error_that_is_missing_on_both_sides_is_no_licence_to_move():
    one = at(rows(), 3, y_err=np.nan)
    assert compare("f", one, one).same
    assert compare("f", one, at(one, 3, y=0.41)).beyond == 1


def test_lost_and_new_rows_are_counted_and_are_a_difference():
    found = compare("f", rows(), rows().drop(index=4))
    assert (found.rows, found.only_a, found.only_b, found.same) == (4, 1, 0, False)
    found = compare("f", rows().drop(index=1), rows())
    assert (found.rows, found.only_a, found.only_b, found.same) == (4, 0, 1, False)
    # The same y under another parameter is another row.
    found = compare("f", rows(), rows(D=[np.nan, np.nan, np.nan, 33, 134]).sort_values("y"))
    assert (found.only_a, found.only_b) == (1, 1)


def test_abscissae_match_up_to_rounding_and_no_further():
    close, far = (at(rows(), 2, x=2.0 * (1 + shift)) for shift in (1e-9, 1e-4))
    assert compare("f", rows(), close).same
    found = compare("f", rows(), far)
    assert (found.only_a, found.only_b) == (1, 1)


def test_rows_closer_than_rounding_match_in_their_order():
    twins = pd.DataFrame(
        {"panel": "a", "series": "s", "x": [1.0, 1.0 + 1e-10, 2.0], "y": [1.0, 2.0, 3.0], "y_err": 0.0}
    )
    assert compare("f", twins, twins).same
    assert compare("f", twins, at(twins, 1, y=2.5)).moved == 1


def test_an_abscissa_that_is_a_result_need_not_match():
    noise = pd.DataFrame(
        {
            "panel": "c",
            "series": "SGD",
            "x": [0.0, 0.11, 0.21],
            "y": [0.0, 0.1, 0.2],
            "y_err": 0.01,
            "sigma": [0.0, 0.1, 0.2],
        }
    )
    found = compare("f", noise, at(at(noise, 1, x=0.13), 2, y=0.25))
    assert (found.rows, found.only_a, found.only_b, found.moved, found.beyond) == (3, 0, 0, 1, 1)
    assert "sigma = 0.2" in found.worst
    mark = pd.DataFrame({"panel": ["a"], "series": ["threshold"], "x": [0.3], "y": [np.nan], "y_err": [0.0]})
    assert compare("f", mark, mark).same
    assert compare("f", mark, at(mark, 0, x=0.4)).beyond == 1


def write(folder: Path, figures: dict[str, pd.DataFrame]) -> Path:
    for name, frame in figures.items():
        file = folder / f"{name}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(file, index=False)
    return folder


def diff(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "localentropy", "diff", *arguments]
    return progress.run(command, cwd=folder)


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose gallery changed once: tag `first` holds the older numbers, with one figure more."""
    gallery = tmp_path / "figures/gallery"
    write(gallery, {"overparam/figure1": rows(), "margins/figure2": rows(), "overparam/figure9": rows()})
    pd.DataFrame({"id": ["O01"], "verdict": ["reproduced"]}).to_csv(gallery / "scorecard.csv", index=False)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    git(tmp_path, "tag", "first")
    write(gallery, {"overparam/figure1": at(rows(), 4, y=0.9)})
    (gallery / "overparam/figure9.csv").unlink()
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "second")
    return tmp_path


def test_revisions_and_directories_are_compared(repository: Path):
    same = diff(repository, "HEAD", "figures/gallery")
    assert same.returncode == 0, same.stderr
    assert same.stdout.splitlines() == [
        "margins/figure2: 5 rows, 0 only in A, 0 only in B, 0 moved, 0 beyond",
        "overparam/figure1: 5 rows, 0 only in A, 0 only in B, 0 moved, 0 beyond",
    ]
    moved = diff(repository, "first", "HEAD")
    assert moved.returncode == 1 and moved.stderr == ""
    assert "overparam/figure1: 5 rows, 0 only in A, 0 only in B, 1 moved, 1 beyond; largest 14.1 σ" in moved.stdout
    assert "figure9" not in moved.stdout
    assert diff(repository, "first", "figures/gallery", "--sigmas", "15").returncode == 0
    write(repository / "figures/default", {"overparam/figure1": rows()})
    assert diff(repository, "figures/default", "first").returncode == 0


def test_a_table_on_a_terminal(repository: Path):
    status, shown = on_terminal(repository, "diff", "first", "HEAD")
    assert status == 1
    assert "largest move" in shown and "14.1 σ" in shown and "\x1b[" in shown


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (("figures/nothing", "HEAD"), "figures/nothing: neither a directory nor a git revision"),
        (("HEAD", "v9"), "v9: neither a directory nor a git revision"),
        (("HEAD", "--", "-x"), "-x: neither a directory nor a git revision"),
        ((".git", "HEAD"), ".git: no <paper>/<figure>.csv in it"),
        (("damaged", "HEAD"), "overparam/figure1.csv: no column"),
        (("empty", "HEAD"), "overparam/figure1.csv: not readable"),
        (("words", "HEAD"), "overparam/figure1.csv: column y has values that are not numbers"),
        (("other", "HEAD"), "other and HEAD: no figure in both (glm/figure1; margins/figure2, overparam/figure1)"),
    ],
)
def test_errors_are_one_line(repository: Path, sources: tuple[str, ...], message: str):
    write(repository / "damaged", {"overparam/figure1": rows().drop(columns="y_err")})
    write(repository / "other", {"glm/figure1": rows()})
    write(repository / "words", {"overparam/figure1": rows(y="one")})
    (repository / "empty/overparam").mkdir(parents=True)
    (repository / "empty/overparam/figure1.csv").touch()
    found = diff(repository, *sources)
    assert found.returncode == 1 and found.stdout == ""
    assert found.stderr.startswith("error: ") and found.stderr.count("\n") == 1, found.stderr
    assert message in found.stderr


def test_git_says_why_it_names_no_revision(repository: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own switch for tests
    found = diff(repository, "figures/gallery", "HEAD")
    assert found.returncode == 1 and found.stderr.count("\n") == 1
    assert "HEAD: no directory, and git names no revision (fatal: detected dubious ownership" in found.stderr
    assert "git config --global --add safe.directory" in found.stderr


def test_outside_a_repository_a_revision_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(DataError, match=r"HEAD: no directory, and git names no revision \(fatal: not a git repository"):
        read_figures("HEAD")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataError, match=r"HEAD: no directory, and git cannot be started \(No such file"):
        read_figures("HEAD")


def test_the_committed_gallery_agrees_with_itself():
    gallery = Path(__file__).parents[2] / "figures/gallery"
    found = compare_sources(str(gallery), str(gallery), sigmas=0.0, relative=0.0)
    figures = [file for file in gallery.glob("*/*.csv") if file.stem != "scorecard"]
    assert len(found) == len(figures) and all(c.same and c.rows for c in found)
    assert len(list(lines(found))) == len(found)
