"""Mutated configurations and command lines: each resolves, or ends in one line that says where and what."""

from __future__ import annotations

import copy
import functools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localentropy.commands import cli
from localentropy.errors import ConfigError
from localentropy.pipeline.computations import ExperimentJob
from localentropy.pipeline.config import ROOT, resolve
from localentropy.pipeline.jobs import output_jobs, table_jobs

SHIPPED = {str(file.relative_to(ROOT)): file.read_text() for file in sorted((ROOT / "config").rglob("*.yaml"))}
LONGEST_LINE = 4000

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from([10**400, -1, 0, 1e308, "sign", "max", "../x", "a\nb", "\0", "2026-13-45", "é" * 300])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=2),
    max_leaves=5,
)


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every key and list position of a tree."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from places(value, (*path, key))


@st.composite
def mutated_trees(draw: Any, tree: dict[str, Any]) -> dict[str, Any]:
    """The tree with one to three of its places replaced, dropped, renamed, doubled or joined by a stranger."""
    mutant = copy.deepcopy(tree)
    for _ in range(draw(st.integers(1, 3))):
        *parents, last = draw(st.sampled_from(list(places(mutant)) or [("empty",)]))
        branch = mutant
        for key in parents:
            branch = branch[key]
        kind = draw(st.sampled_from(["replace", "drop", "rename", "double", "stranger"]))
        if kind == "replace" or (isinstance(branch, dict) and last not in branch):
            branch[last] = draw(VALUES)
        elif kind == "drop":
            del branch[last]
        elif isinstance(branch, list):
            branch.append(branch[last])
        elif kind == "stranger":
            branch[draw(st.text(max_size=8))] = draw(VALUES)
        else:
            branch[f"{last}{draw(st.sampled_from(['x', '_', ' ', chr(10)]))}"] = branch[last]
            if kind == "rename":
                del branch[last]
    return mutant


PATCHES = ["", ":", "- ", "{", "]", '"', "\t", "&a ", "*a ", "\n", "#", "!!x ", "[" * 2000, "0", "2026-13-45"]


@st.composite
def mutated_texts(draw: Any, text: str) -> str:
    """The text with some characters replaced, dropped or put in."""
    for _ in range(draw(st.integers(1, 3))):
        position = draw(st.integers(0, len(text)))
        length = draw(st.sampled_from([0, 0, 1, 1, 5, 200]))
        patch = draw(st.sampled_from(PATCHES))
        text = text[:position] + patch + text[position + length :]
    return text


def resolves_or_says_why(scale: str, root: Path, **arguments: Any) -> None:
    try:
        configuration = resolve(scale, root=root, **arguments)
        for job in (*table_jobs(configuration), *output_jobs(configuration)):
            job.model_dump_json()
            if isinstance(job, ExperimentJob):
                assert job.parts >= 1  # tasks can be made of the parameters
    except ConfigError as error:
        message = str(error)
        assert len(message.splitlines()) == 1 and message.isprintable(), message
        assert len(message) < LONGEST_LINE
        drawn = ": no module src/localentropy/figures/" not in message  # it names a new figure, not the file
        assert not drawn or message.startswith(("config/", "--config", "mine.yaml", str(root))), message


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("root")
    shutil.copytree(ROOT / "config", folder / "config")
    return folder


def many(examples: int) -> settings:
    slow = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    return settings(max_examples=examples, suppress_health_check=slow)


@pytest.mark.parametrize("name", SHIPPED)
def test_mutated_trees_of_the_shipped_files(name: str, root: Path) -> None:
    @many(17)
    @given(mutated_trees(yaml.safe_load(SHIPPED[name])))
    def check(tree: dict[str, Any]) -> None:
        (root / name).write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")
        resolves_or_says_why("smoke", root)

    try:
        check()
    finally:
        (root / name).write_text(SHIPPED[name])


@pytest.mark.parametrize("name", SHIPPED)
def test_mutated_texts_of_the_shipped_files(name: str, root: Path) -> None:
    @many(11)
    @given(mutated_texts(SHIPPED[name]))
    def check(text: str) -> None:
        (root / name).write_text(text)
        resolves_or_says_why("smoke", root)

    try:
        check()
    finally:
        (root / name).write_text(SHIPPED[name])


@many(100)
@given(mutated_trees(yaml.safe_load(SHIPPED["config/overparam/physics.yaml"])))
def test_mutated_files_of_a_user(root: Path, tree: dict[str, Any]) -> None:
    file = root / "mine.yaml"
    file.write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")
    resolves_or_says_why("smoke", root, files=[file])


@many(100)
@given(
    st.dictionaries(
        st.sampled_from(["franz_parisi", "data", "seed", "run", "scale", "typical", "mlp", "x"]) | st.text(max_size=5),
        VALUES
        | st.dictionaries(st.sampled_from(["points", "margins", "source", "widths"]) | st.text(max_size=5), VALUES),
        max_size=2,
    )
)
def test_mutated_overrides(root: Path, tree: dict[str, Any]) -> None:
    resolves_or_says_why("smoke", root, overrides=tree)


@functools.cache
def shipped_values() -> dict[str, dict[str, Any]]:
    return {name: values.model_dump(mode="json") for name, values in resolve("smoke").experiments.items()}


@st.composite
def overrides_of_any_paper(draw: Any) -> dict[str, Any]:
    """One section of one paper, mutated."""
    name = draw(st.sampled_from(sorted(shipped_values())))
    paper, _, section = name.partition("/")
    return {paper: {section: draw(mutated_trees(shipped_values()[name]))}}


@many(100)
@given(overrides_of_any_paper())
def test_mutated_sections_of_every_paper(root: Path, tree: dict[str, Any]) -> None:
    resolves_or_says_why("smoke", root, overrides=tree)


COMMANDS = ["run", "prepare", "merge", "plot", "scorecard", "show", "verify", "gallery", "shwo", ""]
WORDS = st.sampled_from(
    [
        *("--scale", "smoke", "hug", "--config", "typical.points=3", "seed=x", "=", "a.b.c=1", "seed.a=1"),
        "--configfile",
        *("/dev/null", "absent.yaml", "..", ".", "--run", "a/b", "--job", "{}", "[", '{"parameters": 3}', "--part"),
        *("figure3", "figure99", "overparam/typical", "overparam/absent", "absent.parquet", "mnist", "-x", "--", "\n"),
    ]
) | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@many(200)
@given(command=st.sampled_from(COMMANDS), words=st.lists(WORDS, max_size=5))
def test_mutated_command_lines(
    command: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A part that no experiment has, so that nothing is computed however valid the rest.
    part = ["--part", "1001"] if command == "run" else []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("localentropy.pipeline.checkout.ROOT", tmp_path)
    (tmp_path / "config").mkdir(exist_ok=True)
    monkeypatch.setattr("sys.argv", ["localentropy", command, *words, *part])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    captured = capsys.readouterr()
    if ended.value.code:
        assert captured.err.startswith("error: "), captured.err
        assert len(captured.err.splitlines()) == 1 and "Traceback" not in captured.err, captured.err
        assert "the commands work in a checkout" not in captured.err, captured.err
