"""The archive of a run: whole, checked file by file, and a source of tables for another run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from localentropy.commands.archive import codemeta
from localentropy.pipeline.archive import SUMS, write_sums
from tests.pipeline.conftest import ROOT, Checkout, Run, make_once, write_toys

pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, Run]:
    """A checkout with the small figures, and the archive of them at smoke scale; not to be touched."""

    def make(checkout: Checkout) -> Run:
        write_toys(checkout.folder)
        for name in ("CITATION.cff", "LICENSE"):
            shutil.copy(ROOT / name, checkout.folder / name)
        shutil.copytree(ROOT / "docs", checkout.folder / "docs", dirs_exist_ok=True)  # times, names
        return checkout.snakemake("archive", "--config", "scale=smoke", "toy_a.offset=1.5")

    return make_once(tmp_path_factory, "archived", make)


def test_an_archive_has_tables_figures_report_and_checksums(archived: tuple[Checkout, Run]) -> None:
    checkout, run = archived
    (folder,) = checkout.folder.glob("archive/*")
    assert run.output.endswith(f"look at archive/{folder.name}/article.html in any browser\n")
    for name in ("README.md", "CITATION.cff", "LICENSE", "requirements.lock", "environment.yml", "article.pdf"):
        assert (folder / name).stat().st_size > 100, name
    tables = {
        str(file.relative_to(checkout.folder)): file for file in checkout.folder.glob("results/overparam/*/*.parquet")
    }
    assert len(tables) == 2
    for name, file in tables.items():
        assert (folder / name).read_bytes() == file.read_bytes()
    for number in (91, 92, 93):
        for suffix in (".png", ".pdf", ".csv", ".look.json", ".json"):
            copy = folder / f"figures/overparam/figure{number}{suffix}"
            published = checkout.folder / f"figures/{folder.name}/overparam/{copy.name}"
            assert copy.read_bytes() == published.read_bytes()
    text = (folder / "README.md").read_text()
    assert "2 tables" in text and "3 figures" in text and "SET='toy_a.offset=1.5 data.archive=FOLDER'" in text
    page = (folder / "article.html").read_text()
    assert "toy_a.offset = 1.5" in page and "squares at scale smoke" in page and "at smoke (at paper)" in page
    command = ["sha256sum", "--check", "--strict", SUMS]
    checked = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (
        checked.returncode == 0
        and checked.stdout.count(": OK") == sum(path.is_file() for path in folder.rglob("*")) - 1
    )


def test_codemeta_has_what_pyproject_and_the_citation_say(archived: tuple[Checkout, Run]) -> None:
    (file,) = archived[0].folder.glob("archive/*/codemeta.json")
    about = json.loads(file.read_text())
    assert about["name"] == "localentropy" and about["license"] == "https://spdx.org/licenses/MIT"
    assert "arXiv:2110.00683" in {one["identifier"] for one in about["referencePublication"]}
    project = {"name": "n", "description": "d", "license": "MIT", "authors": [], "keywords": [], "dependencies": []}
    about = codemeta(project | {"requires-python": ">=3"}, {"references": []})
    assert about["referencePublication"] == [] and about["runtimePlatform"] == "Python >=3"


def _damaged(folder: Path) -> tuple[Path, str]:
    file = next(folder.glob("results/**/*.parquet"))
    file.write_bytes(file.read_bytes()[:-9] + b"123456789")
    return file, "altered: it does not match its checksum"


def _missing(folder: Path) -> tuple[Path, str]:
    (folder / "article.pdf").unlink()
    return folder / "article.pdf", "missing"


def _foreign(folder: Path) -> tuple[Path, str]:
    (folder / "figures/notes.txt").write_text("mine")
    return folder / "figures/notes.txt", f"not in {SUMS}"


def _link(folder: Path) -> tuple[Path, str]:
    (folder / "LICENSE").rename(folder.parent / "elsewhere")
    (folder / "LICENSE").symlink_to(folder.parent / "elsewhere")
    return folder / "LICENSE", "no regular file"


def _pipe(folder: Path) -> tuple[Path, str]:
    (folder / "LICENSE").unlink()
    os.mkfifo(folder / "LICENSE")
    return folder / "LICENSE", "no regular file"


def _exchanged(folder: Path) -> tuple[Path, str]:
    """A table under the name of another, in an archive whose list was written anew."""
    one, other = sorted(folder.glob("results/**/*.parquet"))
    shutil.copy(other, one)
    shutil.copy(other.with_suffix(".json"), one.with_suffix(".json"))
    write_sums(folder)
    return one, "holds another result than its name says"


FAULTS: list[Callable[[Path], tuple[Path, str]]] = [_damaged, _missing, _foreign, _link, _pipe, _exchanged]


@pytest.mark.parametrize("break_it", FAULTS)
def test_a_fault_is_one_line(
    archived: tuple[Checkout, Run], tmp_path: Path, break_it: Callable[[Path], tuple[Path, str]]
) -> None:
    (whole,) = archived[0].folder.glob("archive/*")
    folder = Path(shutil.copytree(whole, tmp_path / "copy"))
    run = archived[0].python("verify", str(folder))
    number = len((folder / SUMS).read_text().splitlines())
    assert run.status == 0 and run.own_lines == [f"{folder}: {number} files, all as they were archived"]
    file, fault = break_it(folder)
    run = archived[0].python("verify", str(folder))
    assert run.status == 1
    number += break_it is _foreign
    assert run.own_lines == [f"{file}: {fault}", f"error: {folder}: 1 of {number} files are not as they were archived"]


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (None, "no archive, SHA256SUMS is missing; allowed: a folder that `make archive` has made"),
        ("no list\n", "SHA256SUMS: line 1 is damaged: it is no checksum and name of a file"),
    ],
)
def test_what_is_no_archive_is_refused(
    archived: tuple[Checkout, Run], tmp_path: Path, write: str | None, said: str
) -> None:
    if write:
        (tmp_path / SUMS).write_text(write)
    run = archived[0].python("verify", str(tmp_path))
    assert run.status == 1 and len(run.own_lines) == 1 and run.own_lines[0].endswith(said)


def test_a_run_takes_its_tables_from_an_archive(archived: tuple[Checkout, Run], toys: Checkout) -> None:
    (folder,) = archived[0].folder.glob("archive/*")
    words = ["--config", "scale=smoke", "toy_a.offset=1.5", f"data.archive={folder}"]
    dry = toys.snakemake("figure93", "-n", *words)
    assert dry.status == 0 and not [*toys.folder.glob("results/**/*.parquet")]
    run = toys.snakemake("figure93", *words)
    assert run.status == 0, run.output
    assert f"{folder}: 2 tables taken" in run.own_lines and run.did == {"drawing figure93"}
    for suffix in (".csv", ".png"):
        drawn = toys.folder / f"figures/{folder.name}/overparam/figure93{suffix}"
        assert drawn.read_bytes() == (folder / f"figures/overparam/figure93{suffix}").read_bytes()
    # What the archive does not have is computed; other values are other tables.
    run = toys.snakemake("figure93", "--config", "scale=smoke", "toy_a.offset=2.5", f"data.archive={folder}")
    assert f"{folder}: 0 tables taken" in run.own_lines and "computing overparam/toy_a, part 1 of 2" in run.did
    assert not any("toy_b" in one for one in run.did)


def test_a_damaged_table_of_an_archive_is_not_taken(archived: tuple[Checkout, Run], toys: Checkout) -> None:
    (whole,) = archived[0].folder.glob("archive/*")
    folder = Path(shutil.copytree(whole, toys.folder / "copy"))
    file, fault = _damaged(folder)
    words = ["--config", "scale=smoke", "toy_a.offset=1.5", "data.archive=copy"]
    run = toys.snakemake("figure93", *words)
    file = file.relative_to(toys.folder)
    assert (
        run.status != 0 and f"error: data.archive: {file}: {fault}; run without it, or restore the file" in run.output
    )


def test_a_folder_of_mine_is_not_replaced(archived: tuple[Checkout, Run], tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    run = archived[0].python("archive", str(tmp_path), "--scale", "smoke", "--config", "toy_a.offset=1.5")
    assert run.status == 1 and run.own_lines == [
        f"error: {tmp_path}: no archive; allowed: a new folder, an empty one, an earlier archive"
    ]
    assert [*tmp_path.iterdir()] == [tmp_path / "mine.txt"]


def test_an_archive_without_its_results_is_refused(archived: tuple[Checkout, Run], tmp_path: Path) -> None:
    run = archived[0].python("archive", str(tmp_path / "new"), "--scale", "paper")
    assert run.status == 1 and len(run.own_lines) == 1 and "no such table" in run.output
    assert [*tmp_path.iterdir()] == []
