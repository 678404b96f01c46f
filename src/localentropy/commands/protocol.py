"""What of an experiment is from the text, what is chosen here, and which sizes are not those of the scale `paper`.

These are the marks (T) and (C) in the comments of `config/<paper>/physics.yaml` and `sizes.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from localentropy.pipeline.config import ROOT, SCALES
from localentropy.programs.parts.parameters import ExperimentParameters

COMMENT = re.compile(r"(?:^|\s)#\s*(.*)$")
MARKS = ("(T)", "(C)")
LONGEST = 8
"""Of a longer list the first two values and the last one are told, and their number."""


def protocol(paper: str, scale: str) -> Iterator[list[str]]:
    """The experiments of a paper that have marked values or sizes, or sizes that are not those of the scale `paper`.

    Args:
        paper: key of the paper.
        scale: smoke, default or paper.

    Yields:
        Name of the experiment; its values that the text states; those chosen here; its sizes that have a mark or
        are not those of the scale `paper`, with the latter behind it, and with the remark.
    """
    physics, sizes = (_File(ROOT / "config" / paper / f"{name}.yaml") for name in ("physics", "sizes"))
    for section, node in physics.sections.items():
        told: dict[str, list[str]] = {mark: [] for mark in MARKS}
        for key, value, remark in physics.marked(node):
            mark = min((mark for mark in MARKS if mark in remark), key=remark.index)
            words = " ".join(remark.replace(mark, "", 1).split()).strip(" ,:")
            told[mark].append(f"{key} = {value}" + f" [{words}]" * bool(words))
        small = list(_sizes(sizes, section, scale))
        if any(told.values()) or small:
            yield [section, *("; ".join(part) for part in (*told.values(), small))]


def _sizes(sizes: _File, section: str, scale: str) -> Iterator[str]:
    """Sizes that differ from those of the scale `paper`, and those that have a mark."""
    node = sizes.sections.get(section)
    for key, item in _pairs(node) if isinstance(node, yaml.MappingNode) else ():
        value, remark = _plain(item), sizes.remark(key, item)
        if key.value in ExperimentParameters.model_fields or not isinstance(value, dict | list):
            continue
        here, there = (value[at] if isinstance(value, dict) else value[SCALES.index(at)] for at in (scale, "paper"))
        other = f" ({_told(there)})" * (here != there)
        if other or remark:
            yield f"{key.value} = {_told(here)}{other}" + f" [{remark}]" * bool(remark)


class _File:
    """A file of the configuration with its comments."""

    def __init__(self, file: Path) -> None:
        text = file.read_text(encoding="utf-8")
        self._lines = text.splitlines()
        self._root = yaml.compose(text, Loader=yaml.BaseLoader)

    @property
    def sections(self) -> dict[str, yaml.Node]:
        """Name → node."""
        return {key.value: item for key, item in self._root.value}

    def remark(self, key: yaml.Node, item: yaml.Node) -> str:
        """The comment of a key: beside it, beside the end of its value, or alone in the line above."""
        above = self._lines[key.start_mark.line - 1].strip() if key.start_mark.line else ""
        end = item.end_mark  # of a block it is where the next key begins
        behind = bool("".join(self._lines[end.line : end.line + 1])[: end.column].strip())
        lines = [self._lines[key.start_mark.line], self._lines[end.line - (not behind)]]
        lines += [above] * above.startswith("#")
        found = [match[1] for match in map(COMMENT.search, lines) if match]
        return next((text for text in found if any(mark in text for mark in MARKS)), "")

    def marked(self, node: yaml.Node, path: str = "") -> Iterator[tuple[str, str, str]]:
        """Key, value and remark of each marked value below a node. Values that `<<` takes from elsewhere count too."""
        if isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value, 1):
                yield from self.marked(item, f"{path}[{number}]")
        if not isinstance(node, yaml.MappingNode):
            return
        for key, item in _pairs(node):
            where = f"{path}.{key.value}".lstrip(".")
            if _inner(item):
                yield from self.marked(item, where)
            elif remark := self.remark(key, item):
                yield where, _told(_plain(item)), remark


def _inner(node: yaml.Node) -> bool:
    """Whether values below a node have keys of their own."""
    if isinstance(node, yaml.SequenceNode):
        return any(map(_inner, node.value))
    return isinstance(node, yaml.MappingNode)


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Keys and values of a mapping, with those that `<<` takes from elsewhere and that are not its own."""
    own = {key.value for key, _ in node.value}
    for key, item in node.value:
        if key.value == "<<":
            yield from (pair for pair in _pairs(item) if pair[0].value not in own)
        else:
            yield key, item


def _plain(node: yaml.Node) -> Any:
    """A node as text, lists and dictionaries."""
    if isinstance(node, yaml.MappingNode):
        return {key.value: _plain(item) for key, item in node.value}
    return [_plain(item) for item in node.value] if isinstance(node, yaml.SequenceNode) else node.value


def _told(value: Any) -> str:
    """A value in one line. Of a list of mappings each key has all its values."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_told(inner)}" for key, inner in value.items()) + "}"
    if not isinstance(value, list):
        return str(value)
    if value and all(isinstance(item, dict) for item in value):
        found: dict[str, list[Any]] = {}
        for key, one in (pair for item in value for pair in item.items()):
            found.setdefault(key, []).extend(one if isinstance(one, list) else [one])
        return _told(found)
    words = list(dict.fromkeys(map(_told, value)))
    return (
        ", ".join(words) if len(words) <= LONGEST else f"{words[0]}, {words[1]}, …, {words[-1]} ({len(words)} values)"
    )
