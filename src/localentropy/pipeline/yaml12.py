"""YAML by the core schema of YAML 1.2, in which every value is what it looks like.

PyYAML's own rules are those of YAML 1.1: `on` is true, `010` is 8, `1:30` is 90, and of two equal keys the last one
wins. Only PyYAML's parser is used here. Keys are text, as they are written. One rule is of YAML 1.1: `<<: *name` stands
for the keys of another mapping, and a key beside it wins over them.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

import yaml

MOST_VALUES = 100_000
"""Aliases repeat what they stand for: a few lines of aliases of aliases would fill the memory."""

# Tables of the specification (YAML 1.2.2, section 10.3.2). Longer hexadecimal numbers stay text, which no key allows.
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGERS = {10: re.compile(r"[-+]?[0-9]+"), 8: re.compile(r"0o[0-7]{1,20}"), 16: re.compile(r"0x[0-9a-fA-F]{1,16}")}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
# The fast parser of libyaml is not used: deeply nested brackets make it end the process.
_PARSER = yaml.BaseLoader
_TAGS = {
    yaml.ScalarNode: _PARSER.DEFAULT_SCALAR_TAG,
    yaml.SequenceNode: _PARSER.DEFAULT_SEQUENCE_TAG,
    yaml.MappingNode: _PARSER.DEFAULT_MAPPING_TAG,
}


class YamlError(ValueError):
    """A text that is no YAML, or says a thing twice. The message is a few words.

    Attributes:
        line: where, counted from 1; None where that is not known.
    """

    def __init__(self, problem: str, mark: yaml.Mark | None = None) -> None:
        super().__init__(problem)
        self.line = None if mark is None else mark.line + 1


class RepeatedKeyError(YamlError):
    """One of two equal keys would be lost."""


def parse(text: str) -> Any:
    """The value that a text stands for: None, bool, int, float, str, and lists and dictionaries of them.

    Raises:
        YamlError: the text is not YAML, has a tag, or too many values.
        RepeatedKeyError: a mapping has a key twice.
    """
    count = itertools.count(1)

    def value(node: yaml.Node) -> Any:
        if next(count) > MOST_VALUES:
            raise YamlError(f"more than {MOST_VALUES} values", node.start_mark)
        if node.tag != _TAGS[type(node)]:
            raise YamlError(f"the tag {node.tag} is not allowed", node.start_mark)
        if isinstance(node, yaml.SequenceNode):
            return [value(item) for item in node.value]
        if isinstance(node, yaml.MappingNode):
            return mapping(node)
        return _scalar(node)

    def mapping(node: yaml.MappingNode) -> dict[str, Any]:
        found: dict[str, Any] = {}
        inherited: dict[str, Any] | None = None
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise YamlError("a key must be a word", key.start_mark)
            if key.value in found or (key.value == "<<" and inherited is not None):
                raise RepeatedKeyError(f"the key {key.value} is written twice", key.start_mark)
            if key.value == "<<" and isinstance(item, yaml.MappingNode):
                inherited = value(item)
            else:
                found[key.value] = value(item)
        return (inherited or {}) | found

    try:
        root = yaml.compose(text, Loader=_PARSER)
        return None if root is None else value(root)
    except yaml.YAMLError as error:
        raise YamlError(
            getattr(error, "problem", None) or str(error).splitlines()[0], getattr(error, "problem_mark", None)
        ) from None
    except RecursionError:
        raise YamlError("brackets or aliases are nested too deep") from None


def _scalar(node: yaml.ScalarNode) -> Any:
    """A plain scalar by its form; a quoted one is text."""
    text = node.value
    try:
        text.encode()
        if node.style is not None:
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        for base, form in _INTEGERS.items():
            if form.fullmatch(text):
                return int(text, base)
        if _FLOAT.fullmatch(text):
            return float(text)
    except ValueError:  # half a surrogate pair, or an integer of thousands of digits
        raise YamlError("a value that is no number and no text", node.start_mark) from None
    return float(text.replace(".", "", 1)) if _SPECIAL_FLOAT.fullmatch(text) else text
