"""Tables and their stamps in isolation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localentropy.commands.show import describe
from localentropy.errors import ArtifactError
from localentropy.pipeline import artifacts
from localentropy.pipeline.computations import read_checked
from localentropy.pipeline.outputs import GALLERY
from localentropy.pipeline.provenance import Start, circumstances
from tests.pipeline.test_config_mutations import many, mutated_trees

MADE = (Start.now(), ["snakemake", "x"])


def stamp(**changes: object) -> artifacts.Stamp:
    values = {"name": "overparam/x", "parameters": {"a": 1.5}, "code": "c", "inputs": {"d": "e"}} | changes
    return artifacts.Stamp(**values)  # type: ignore[arg-type]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = pd.DataFrame({"x": np.arange(4.0), "n": [1, 2, 3, 4], "name": ["a", None, "c", "d"], "b": [True] * 4})
    artifacts.write_table(tmp_path / "table.parquet", rows, stamp(), *MADE)
    return tmp_path / "table.parquet"


def test_a_table_comes_back_with_its_stamp(table: Path) -> None:
    read = artifacts.read_table(table)
    assert read.stamp == stamp()
    assert read.rows.attrs["parameters"] == {"a": 1.5}
    assert list(read.rows["name"].fillna("missing")) == ["a", "missing", "c", "d"]


def test_a_column_of_vectors_comes_back(tmp_path: Path) -> None:
    file, vectors = tmp_path / "table.parquet", [np.arange(3, dtype=np.float32), np.ones(2, np.float32)]
    artifacts.write_table(
        file, pd.DataFrame({"x": [1, 2], "weights": vectors}), stamp(), Start.now(), ["snakemake", "x"]
    )
    for found, vector in zip(artifacts.read_table(file).rows["weights"], vectors, strict=True):
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, vector)


def test_the_same_table_has_the_same_bytes(table: Path, tmp_path: Path) -> None:
    rows = artifacts.read_table(table).rows
    artifacts.write_table(tmp_path / "again.parquet", rows, stamp(), *MADE)
    assert (tmp_path / "again.parquet").read_bytes() == table.read_bytes()


@pytest.mark.parametrize(
    ("change", "label"),
    [
        ({"parameters": {"a": 2.0}}, "parameters"),
        ({"code": "other"}, "code"),
        ({"origins": {"overparam/y": "f"}}, "tables or datasets"),
        ({"name": "overparam/y"}, "experiment"),
    ],
)
def test_stamps_tell_what_differs(change: dict[str, object], label: str) -> None:
    assert stamp().difference(stamp()) is None
    assert stamp().difference(stamp(**change)) == f"made from other {label}"


def test_the_cpu_time_of_a_run_is_without_that_of_the_process_before_it() -> None:
    while sum(os.times()[:4]) < 0.2:
        sum(range(10_000))
    before = sum(os.times()[:4])
    started = Start.now()
    while sum(os.times()[:4]) < before + 0.05:
        sum(range(10_000))
    spent = circumstances(started, [])["cpu_seconds"]
    assert 0.04 <= spent <= sum(os.times()[:4]) - before + 0.01


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


def test_without_the_file_beside_it_no_flipped_bit_changes_a_value(table: Path) -> None:
    rows = artifacts.read_table(table).rows
    table.with_suffix(".json").unlink()
    content = table.read_bytes()
    noticed = []
    for position in range(0, len(content), 3):
        damaged = bytearray(content)
        damaged[position] ^= 1 << (position % 8)
        table.write_bytes(bytes(damaged))
        try:
            read = artifacts.read_table(table).rows
        except ArtifactError:
            noticed.append(position)
        else:
            pd.testing.assert_frame_equal(read, rows)
    assert len(noticed) > len(content) / 6


def test_parameters_that_were_exchanged_are_noticed(table: Path) -> None:
    import pyarrow.parquet as pq

    table.with_suffix(".json").unlink()
    content = pq.read_table(table)
    ((key, record),) = content.schema.metadata.items()
    assert b'"a":1.5' in record
    pq.write_table(content.replace_schema_metadata({key: record.replace(b'"a":1.5', b'"a":1.6')}), table)
    with pytest.raises(ArtifactError, match="its content does not match its own checksum"):
        artifacts.read_table(table)


@pytest.mark.parametrize("folder", ["results", "elsewhere"])
def test_only_a_damaged_result_is_deleted(
    folder: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = Path(folder, "table.parquet")
    file.parent.mkdir()
    file.write_bytes(table.read_bytes()[:-1])
    with pytest.raises(ArtifactError, match="not a readable result table"):
        read_checked(file, "any")
    assert file.exists() == (folder != "results")


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


@pytest.fixture
def figure(tmp_path: Path) -> Path:
    artifacts.write_output(
        tmp_path / "figure", {".png": b"picture"}, stamp(), "A caption.", Start.now(), ["snakemake", "x"]
    )
    return tmp_path / "figure.png"


@pytest.mark.parametrize("kind", ["table", "figure"])
def test_an_altered_record_is_never_shown(kind: str, request: pytest.FixtureRequest) -> None:
    file = request.getfixturevalue(kind)
    beside = file.with_suffix(".json")
    written = json.loads(beside.read_text())
    assert written["circumstances"]["host"] in describe(file)

    @many(150)
    @given(altered=mutated_trees(written) | st.sampled_from([[], {}, None, 3, "x", [written]]))
    def check(altered: Any) -> None:
        beside.write_text(json.dumps(altered))
        if json.loads(beside.read_text()) == written:
            return
        for asked in (file, beside):
            with pytest.raises(ArtifactError) as caught:
                describe(asked)
            assert "\n" not in str(caught.value) and beside.name in str(caught.value)

    check()
    for text in ("", "{", "\0", "[" * 5000):
        beside.write_text(text)
        with pytest.raises(ArtifactError, match=r"\.json"):
            describe(file)
    beside.unlink()
    if kind == "table":
        assert "host" not in describe(file)
    else:
        with pytest.raises(ArtifactError):
            describe(file)


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
@pytest.mark.parametrize(("made", "suffix"), [("table", ".parquet"), ("table", ".json"), ("figure", ".json")])
def test_what_is_no_file_is_refused_and_not_waited_for(
    made: str, suffix: str, kind: str, request: pytest.FixtureRequest
) -> None:
    file = request.getfixturevalue(made)
    place = file.with_suffix(suffix)
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/zero")
    for asked in (file, place):
        with pytest.raises(ArtifactError) as caught:
            describe(asked)
        assert str(caught.value) == f"{place}: is a folder, a pipe or a device, expected a file"


def test_the_record_of_another_table_is_refused(table: Path) -> None:
    rows = artifacts.read_table(table).rows
    artifacts.write_table(table.with_name("other.parquet"), rows + rows, stamp(), *MADE)
    table.with_suffix(".json").write_text(table.with_name("other.json").read_text())
    with pytest.raises(ArtifactError, match=r"does not match the checksum in table\.json"):
        artifacts.read_table(table)


def test_a_figure_alone_means_that_of_the_default_scale_and_one_in_a_folder_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`figures/smoke/margins/figure2` without a suffix is not overparam's figure2."""
    monkeypatch.chdir(tmp_path)  # figures may be there in a checkout
    for asked in ("figures/smoke/overparam/figure3", "figures/smoke/margins/figure2"):
        with pytest.raises(ArtifactError, match=f"{asked}: nothing to show"):
            describe(Path(asked))


def test_the_command_of_an_earlier_version_is_shown(tmp_path: Path) -> None:
    command = ["localentropy", "run", "x", "--config", "mine.yaml"]
    artifacts.write_table(tmp_path / "table.parquet", pd.DataFrame({"x": [1]}), stamp(), MADE[0], command)
    assert "localentropy run x --config mine.yaml" in describe(tmp_path / "table.parquet")


def test_the_page_over_all_scorecards_names_those_that_have_a_record() -> None:
    with pytest.raises(
        ArtifactError, match=r"has no record of its own; allowed are theirs: \S+/glm/scorecard\.md, "
    ) as told:
        describe(GALLERY / "scorecard.md")
    for name in str(told.value).partition("theirs: ")[2].split(", "):
        assert "scorecard" in describe(Path(name))
