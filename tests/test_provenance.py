"""Import closures, random streams, tables and locks in isolation."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from localentropy import closure, seeds
from localentropy.errors import ArtifactError
from localentropy.pipeline import artifacts
from localentropy.pipeline.config import experiment_names, read_claims, read_figures

OUTSIDE = {
    "cli.py",
    "config.py",
    "artifacts.py",
    "provenance.py",
    "pipeline.py",
    "workflow.py",
    "progress.py",
}


def names(module: str) -> set[str]:
    return {file.relative_to(closure.SOURCE / "localentropy").as_posix() for file in closure.code_closure(module)}


def test_the_closure_follows_imports_inside_functions() -> None:
    files = names("localentropy.experiments.overparam.franz_parisi")
    assert {
        "__init__.py",
        "experiments/parameters.py",
        "replica/random_features.py",
        "numerics/quadrature.py",
    } <= files


def test_no_experiment_depends_on_the_pipeline_on_plots_or_on_another_experiment() -> None:
    for name in experiment_names(read_figures(), read_claims()):
        files = names(f"localentropy.experiments.{name.replace('/', '.')}")
        assert not files & OUTSIDE
        assert not any(file.startswith(("plots/", "claims/")) for file in files)
        # What several experiments share lies directly in experiments/; each paper's folder holds experiments.
        modules = {file for file in files if file.count("/") > 1 and file.startswith("experiments/")}
        assert {file for file in modules if "__init__" not in file} == {f"experiments/{name}.py"}


def test_a_solver_depends_on_no_other_solver() -> None:
    algorithms = {"anneal", "sbpi", "belief_propagation", "focusing_bp", "binarynet"}
    for name in algorithms | {"mct0"}:
        files = names(f"localentropy.experiments.overparam.solve_{name}")
        others = algorithms - {name} - ({"anneal"} if name == "mct0" else set())
        assert not files & {f"solvers/binary/{other}.py" for other in others}
        assert not any(file.startswith("replica/") for file in files)


def test_the_package_and_its_help_load_no_heavy_library() -> None:
    heavy = "{'numpy', 'torch', 'pandas', 'matplotlib', 'pydantic', 'snakemake'}"
    for module in ("localentropy", "localentropy.commands.cli"):
        code = f"import sys, {module}; sys.exit(bool({heavy} & set(sys.modules)))"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_streams_differ_by_name_value_and_root_but_not_by_type() -> None:
    draws = [
        seeds.generator(1, "instance", D=3, sample=0).integers(2**62),
        seeds.generator(1, "test", D=3, sample=0).integers(2**62),
        seeds.generator(1, "instance", D=5, sample=0).integers(2**62),
        seeds.generator(2, "instance", D=3, sample=0).integers(2**62),
    ]
    assert len(set(draws)) == len(draws)
    assert seeds.entropy(1, "instance", alpha=2) == seeds.entropy(1, "instance", alpha=2.0)
    assert seeds.entropy(1, "instance", a=1, b=2) == seeds.entropy(1, "instance", b=2, a=1)
    # Streams are part of every published number: this value may never change.
    assert seeds.generator(1, "instance", D=3, sample=0).integers(1000) == FIRST_DRAW


FIRST_DRAW = 519


def stamp(**changes: object) -> artifacts.Stamp:
    values = {"name": "overparam/x", "parameters": {"a": 1.5}, "code": "c", "inputs": {"d": "e"}} | changes
    return artifacts.Stamp(**values)  # type: ignore[arg-type]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = pd.DataFrame({"x": np.arange(4.0), "n": [1, 2, 3, 4], "name": ["a", None, "c", "d"], "b": [True] * 4})
    artifacts.write_table(tmp_path / "table.parquet", rows, stamp(), datetime.now(UTC))
    return tmp_path / "table.parquet"


def test_a_table_comes_back_with_its_stamp(table: Path) -> None:
    read = artifacts.read_table(table)
    assert read.stamp == stamp()
    assert read.rows.attrs["parameters"] == {"a": 1.5}
    assert list(read.rows["name"].fillna("missing")) == ["a", "missing", "c", "d"]


def test_the_same_table_has_the_same_bytes(table: Path, tmp_path: Path) -> None:
    rows = artifacts.read_table(table).rows
    artifacts.write_table(tmp_path / "again.parquet", rows, stamp(), datetime.now(UTC))
    assert (tmp_path / "again.parquet").read_bytes() == table.read_bytes()


@pytest.mark.parametrize(
    ("change", "label"),
    [
        ({"parameters": {"a": 2.0}}, "parameters"),
        ({"code": "other"}, "code"),
        ({"inputs": {"d": "f"}}, "inputs"),
        ({"part": "0/2"}, "experiment"),
    ],
)
def test_stamps_tell_what_differs(change: dict[str, object], label: str) -> None:
    assert stamp().difference(stamp()) is None
    assert stamp().difference(stamp(**change)) == f"made from other {label}"


def test_any_flipped_bit_or_cut_is_noticed(table: Path) -> None:
    content = table.read_bytes()
    for position in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[position] ^= 1 << (position % 8)
        table.write_bytes(bytes(damaged))
        with pytest.raises(ArtifactError):
            artifacts.read_table(table)
    for cut in (0, 1, len(content) // 2, len(content) - 1):
        table.write_bytes(content[:cut])
        with pytest.raises(ArtifactError):
            artifacts.read_table(table)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(table: Path) -> None:
    before = {file.name: file.read_bytes() for file in table.parent.iterdir()}
    with pytest.raises(RuntimeError), artifacts.atomic(table) as temporary:
        temporary.write_bytes(b"half")
        raise RuntimeError("interrupted")
    assert {file.name: file.read_bytes() for file in table.parent.iterdir()} == before


def test_writers_of_one_file_never_share_a_temporary_name(tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    with artifacts.atomic(file) as one, artifacts.atomic(file) as other:
        assert one != other and one.parent == other.parent == tmp_path
        one.write_bytes(b"same")
        other.write_bytes(b"same")
    assert file.read_bytes() == b"same"
    assert list(tmp_path.iterdir()) == [file]
