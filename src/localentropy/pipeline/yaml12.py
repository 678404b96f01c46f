"""YAML by the core schema of YAML 1.2, in which every value is what it looks like.

PyYAML's own rules are those of YAML 1.1: `on` is true, `010` is 8, `1:30` is 90, and of two equal keys the last one
wins. Only PyYAML's parser is used here. Keys are text, as they are written. One rule is of YAML 1.1: `<<: *name` stands
for the keys of another mapping, and a key beside it wins over them.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
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
# libyaml's parser where PyYAML has it: it is ten times as fast. libyaml's composer is not used: deeply nested brackets
# make it end the process.
_PARSER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_TAGS = {
    yaml.ScalarEvent: yaml.BaseLoader.DEFAULT_SCALAR_TAG,
    yaml.SequenceStartEvent: yaml.BaseLoader.DEFAULT_SEQUENCE_TAG,
    yaml.MappingStartEvent: yaml.BaseLoader.DEFAULT_MAPPING_TAG,
}


class YamlError(ValueError):
    """A text that is no YAML, or says a thing twice. The message is a few words.

    Attributes:
        line: where, counted from 1; None where that is not known.

    Args:
        lines: of the text. What comes after them is told of the last one.
    """

    def __init__(self, problem: str, mark: yaml.Mark | None = None, lines: int | None = None) -> None:
        super().__init__(problem)
        self.line = None if mark is None else mark.line + 1
        if self.line and lines:
            self.line = min(self.line, lines)


class RepeatedKeyError(YamlError):
    """One of two equal keys would be lost."""


def parse(text: str) -> Any:
    """The value that a text stands for: None, bool, int, float, str, and lists and dictionaries of them.

    Raises:
        YamlError: the text is not YAML, has a tag, or too many values.
        RepeatedKeyError: a mapping has a key twice.
    """
    try:
        return _Document(text).value
    except yaml.YAMLError as error:
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        # Where the text ends too early, the parser names the line after it.
        raise YamlError(problem, getattr(error, "problem_mark", None), len(text.splitlines())) from None
    except UnicodeEncodeError:
        raise YamlError("half a surrogate pair") from None
    except RecursionError:
        raise YamlError("brackets or aliases are nested too deep") from None


class _Document:
    """The only document of a text.

    Attributes:
        value: what it stands for.
    """

    def __init__(self, text: str) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=_PARSER)
        self._values = 0
        self._anchors: dict[str, tuple[Any, int] | None] = {}  # values, how many are in each; None: not complete
        next(self._events)  # the start of the stream
        self.value = None
        if isinstance(next(self._events), yaml.DocumentStartEvent):
            self.value = self._node(next(self._events))
            next(self._events)  # the end of the document
            if not isinstance(more := next(self._events), yaml.StreamEndEvent):
                raise YamlError("more than one document", more.start_mark)

    def _node(self, event: yaml.NodeEvent) -> Any:
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event)
        before = self._values
        self._count(event, 1)
        if event.tag not in (None, "!", _TAGS[type(event)]):
            raise YamlError(f"the tag {event.tag} is not allowed", event.start_mark)
        if event.anchor is not None:
            if event.anchor in self._anchors:
                raise YamlError(f"the anchor {event.anchor} is written twice", event.start_mark)
            self._anchors[event.anchor] = None
        if isinstance(event, yaml.ScalarEvent):
            found = _scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            found = [self._node(item) for item in self._until(yaml.SequenceEndEvent)]
        else:
            found = self._mapping()
        if event.anchor is not None:
            self._anchors[event.anchor] = (found, self._values - before)
        return found

    def _mapping(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        inherited: dict[str, Any] | None = None
        for key in self._until(yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                raise YamlError("a key must be a word", key.start_mark)
            if key.value in found or (key.value == "<<" and inherited is not None):
                raise RepeatedKeyError(f"the key {key.value} is written twice", key.start_mark)
            value = self._node(next(self._events))
            if key.value == "<<" and isinstance(value, dict):
                inherited = value
            else:
                found[key.value] = value
        return (inherited or {}) | found

    def _until(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        return iter(lambda: None if isinstance(event := next(self._events), end) else event, None)

    def _repeated(self, alias: yaml.AliasEvent) -> Any:
        """A copy of what an alias stands for."""
        if alias.anchor not in self._anchors:
            raise YamlError(f"the alias {alias.anchor} stands for nothing", alias.start_mark)
        if (known := self._anchors[alias.anchor]) is None:
            raise YamlError(f"the alias {alias.anchor} is inside what it stands for", alias.start_mark)
        value, size = known
        self._count(alias, size)
        return copy.deepcopy(value)

    def _count(self, event: yaml.Event, size: int) -> None:
        self._values += size
        if self._values > MOST_VALUES:
            raise YamlError(f"more than {MOST_VALUES} values", event.start_mark)


def _scalar(event: yaml.ScalarEvent) -> Any:
    """A plain scalar by its form; a quoted one is text."""
    text = event.value
    try:
        text.encode()
        if event.style:
            return text
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        for base, form in _INTEGERS.items():
            if form.fullmatch(text):
                return int(text, base)
        if _FLOAT.fullmatch(text):
            return float(text)
    except ValueError:  # half a surrogate pair, or an integer of thousands of digits
        raise YamlError("a value that is no number and no text", event.start_mark) from None
    return float(text.replace(".", "", 1)) if _SPECIAL_FLOAT.fullmatch(text) else text
