"""YAML by the rules of YAML 1.2: what is read is what is written, and nothing is lost."""

from __future__ import annotations

import json
import math
import re
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localentropy.errors import ConfigError
from localentropy.pipeline import yaml12
from localentropy.pipeline.config import MAIN_PAPER, read_overrides, resolve
from tests.pipeline.test_config_mutations import many

# JSON writes later characters as two escapes, which YAML does not know.
TEXT = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=30)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4))

WORDS_OF_YAML_11 = ["yes", "no", "on", "off", "Y", "n", "1:30", "190:20:30", "1_000", "0b11", "2026-01-01", "=", "<<"]
"""What YAML 1.1 takes for another thing than text."""


@many(200)
@given(tree=TREES)
def test_a_text_of_json_is_read_as_json(tree: Any) -> None:
    assert yaml12.parse(json.dumps(tree)) == tree


@many(300)
@given(word=st.from_regex(r"[-+]?[0-9a-fxo_:.eE+-]{1,9}", fullmatch=True) | st.sampled_from(WORDS_OF_YAML_11))
def test_a_word_is_text_or_the_number_that_it_looks_like(word: str) -> None:
    try:
        value = yaml12.parse(word)
    except yaml12.YamlError:
        assert not re.fullmatch(r"[-+0-9.eE]+", word) or word.startswith(("---", "...")), word
        return
    if isinstance(value, (int, float)) and not math.isinf(value):
        assert "_" not in word and ":" not in word
        assert value == (int(word, 0) if word[:2] in ("0x", "0o") else float(word))
    elif isinstance(value, str) and not re.search(r": |:$|^- ", word):
        assert value == word
        # No number of everyday's spelling is taken for text.
        assert not re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", word)


@many(100)
@given(tree=st.dictionaries(TEXT, TREES, min_size=1, max_size=4), data=st.data())
def test_a_key_that_is_written_twice_is_refused(tree: dict[str, Any], data: Any) -> None:
    key = data.draw(st.sampled_from(list(tree)))
    pairs = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in [*tree.items(), (key, data.draw(TREES))]]
    with pytest.raises(yaml12.RepeatedKeyError, match="is written twice"):
        yaml12.parse("{outer: [{" + ", ".join(pairs) + "}]}")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: !!bool x", "tag"),
        ("a: !!python/name:os.system x", "tag"),
        ("? [a]\n: b", "a key must be a word"),
        ("a: &a [*a]", "inside"),
        ("".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9 if i else '1')}]\n" for i in range(9)), "values"),
        ("[" * 3000, "nested too deep"),
        ("9" * 5000, "no number"),
        ('"\\ud800"', "no text|Unicode"),
        ("<<: {a: 1}\n<<: {a: 2}", "written twice"),
        ("a: 1\n---\nb: 2", "document"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, problem: str) -> None:
    with pytest.raises(yaml12.YamlError, match=problem):
        yaml12.parse(text)


def test_keys_of_another_mapping_come_after_ones_own() -> None:
    assert yaml12.parse("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}") == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}}


def numbers(values: dict[str, Any], path: str) -> list[str]:
    """Keys of a configuration whose value is a number."""
    found = []
    for key, value in values.items():
        if isinstance(value, dict):
            found += numbers(value, f"{path}.{key}")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found.append(f"{path}.{key}")
    return found


SHIPPED = resolve("smoke").experiments
NUMBERS = [
    key
    for name, parameters in SHIPPED.items()
    for key in numbers(parameters.model_dump(mode="json"), name.replace("/", "."))
]


@many(80)
@given(key=st.sampled_from(NUMBERS), word=st.sampled_from([*WORDS_OF_YAML_11, "true", "null", '"3"', "'1.5'"]))
def test_nothing_but_a_number_is_taken_for_a_number(key: str, word: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve("smoke", overrides=read_overrides([f"{key}={word}"]))
    said, field = str(caught.value), key.removeprefix(f"{MAIN_PAPER}.")
    assert said.startswith(f"--config: {key} = ") or said.startswith(f"--config: {field} = "), said
    assert word.strip("\"'") in said and "allowed" in said, said


SETTINGS = ["typical.points=9", "typical={alphas_T: [1, 2]}", "typical.margins=[0]", "typical={points: 8}", "typical=3"]


@pytest.mark.parametrize("items", [*permutations(SETTINGS, 2)])
def test_no_override_loses_another(items: tuple[str, ...]) -> None:
    values = [read_overrides([item]) for item in items]
    clash = "typical=3" in items or sum("points" in item for item in items) == 2
    if clash:
        with pytest.raises(ConfigError, match=r"--config typical.*=.*: typical.* was set to .* by an earlier --config"):
            read_overrides(items)
    else:
        assert read_overrides(items) == {"typical": values[0]["typical"] | values[1]["typical"]}


def test_an_option_does_not_lose_a_setting_of_the_same_thing() -> None:
    for name, other in (("scale", "paper"), ("run", "b")):
        with pytest.raises(ConfigError, match=f"--config: {name} = {other}: --{name} says "):
            resolve("smoke", overrides={name: other}, run="a")
    assert resolve("smoke", overrides={"scale": "smoke", "run": "a"}, run="a").folder == "smoke-a"


def test_a_value_is_not_set_below_the_papers_name_and_without_it() -> None:
    with pytest.raises(ConfigError, match=r"--config: overparam: typical\.points was set to 9 by an earlier"):
        resolve(overrides=read_overrides(["typical.points=9", "overparam.typical.points=8"]))
    with pytest.raises(ConfigError, match="the key points is written twice"):
        read_overrides(["typical={points: 8, points: 9}"])


@pytest.mark.parametrize("name", ["on", "010", "true", "1e3", "null", "2026-01-01", "1_0"])
def test_a_run_is_called_as_it_is_written(name: str, tmp_path: Any) -> None:
    assert resolve("smoke", overrides=read_overrides([f"run={name}"])).folder == f"smoke-{name}"
    file = tmp_path / "mine.yaml"
    file.write_text(f"run: '{name}'\n")
    assert resolve("smoke", files=[file]).folder == f"smoke-{name}"
    file.write_text(f"run: {name}\n")
    try:
        assert resolve("smoke", files=[file]).folder in (f"smoke-{name}", "smoke")
    except ConfigError as error:
        assert re.search(r"mine\.yaml: run = .*: allowed: text; write a number or true in quotes", str(error))
