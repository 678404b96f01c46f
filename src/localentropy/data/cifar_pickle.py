"""Reader of a batch of the python version of CIFAR-10 (Krizhevsky 2009), a pickle of protocol 2.

Nothing is unpickled, because a pickle can run any code. The few instructions that such a batch consists of are followed
here, with Python's own parser of them. Every other instruction and name is refused.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from localentropy.errors import DataError

KEYS = (b"batch_label", b"labels", b"data", b"filenames")
"""Keys of a batch, which is a dictionary. Labels and data are read."""
_PIXELS = 3 * 32 * 32
_RECONSTRUCT = ("numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct")  # numpy 1, numpy 2
_NAMES = (*_RECONSTRUCT, "numpy ndarray", "numpy dtype", "_codecs encode")


def records_of_pickle(content: bytes, where: str) -> bytes:
    """The records of a batch as the binary version has them: one label byte, then the pixels of an image.

    Args:
        content: the pickle.
        where: its name, for messages.

    Returns:
        The records, one after the other.

    Raises:
        DataError: the pickle has other instructions, names or contents than a batch, or ends early.
    """
    try:
        batch = _Reader().read(content)
        labels, data = batch[b"labels"], batch[b"data"].values
        if not (set(batch) <= set(KEYS) and data.shape == (len(labels), _PIXELS)):
            raise _OtherError(f"keys {sorted(batch)}, data of shape {data.shape}")
        return np.column_stack([np.array(labels, np.uint8), data]).tobytes()
    except Exception as error:  # a damaged pickle fails anywhere
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{where}: not a batch of the python version of CIFAR-10 ({reason[:100]})") from error


class _OtherError(ValueError):
    """The pickle has something that a batch does not have."""


@dataclass(frozen=True)
class _Name:
    """A name that the pickle asks for; it stays a name."""

    text: str


@dataclass
class _Array:
    """An array of bytes of numpy, without values until its state is set."""

    values: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint8))


class _Reader:
    """The stack machine of a pickle, with the instructions of a batch."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def read(self, content: bytes) -> dict[Any, Any]:
        """The dictionary that the pickle holds."""
        end = 0
        for instruction, argument, position in pickletools.genops(content):
            if instruction.name not in _INSTRUCTIONS:
                raise _OtherError(f"instruction {instruction.name} at {position}")
            _INSTRUCTIONS[instruction.name](self, argument)
            end = (position or 0) + 1
        (batch,) = self._stack
        if end != len(content) or not isinstance(batch, dict):
            raise _OtherError(f"a {type(batch).__name__}, {len(content) - end} bytes after it")
        return batch

    def protocol(self, version: int) -> None:
        if version != 2:
            raise _OtherError(f"protocol {version}")

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def name(self, text: str) -> None:
        if text not in _NAMES:
            raise _OtherError(f"name {text!r}")
        self.push(_Name(text))

    def mark(self) -> None:
        self._marks.append(len(self._stack))

    def since_mark(self) -> list[Any]:
        """What was pushed since the last mark, taken from the stack."""
        start = self._marks.pop()
        values, self._stack[start:] = self._stack[start:], []
        return values

    def pack(self, count: int) -> None:
        values, self._stack[-count:] = tuple(self._stack[-count:]), []
        self.push(values)

    def extend(self, values: list[Any]) -> None:
        self._list().extend(values)

    def append(self) -> None:
        value = self._stack.pop()
        self._list().append(value)

    def set_items(self, pairs: list[Any]) -> None:
        if not isinstance(self._stack[-1], dict):
            raise _OtherError("items of what is no dictionary")
        self._stack[-1].update(zip(pairs[::2], pairs[1::2], strict=True))

    def set_item(self) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self.set_items([key, value])

    def put(self, place: int) -> None:
        self._memo[place] = self._stack[-1]

    def call(self) -> None:
        """The three calls of a batch: an empty array, the type of bytes, and text that stands for bytes."""
        arguments, function = self._stack.pop(), self._stack.pop()
        if not isinstance(function, _Name):
            raise _OtherError("a call of what is no name")
        if function.text in _RECONSTRUCT and arguments == (_Name("numpy ndarray"), (0,), b"b"):
            self.push(_Array())
        elif function.text == "numpy dtype" and arguments[0] in ("u1", b"u1") and len(arguments) == 3:
            self.push(np.dtype(np.uint8))
        elif function.text == "_codecs encode" and arguments[1:] == ("latin1",):
            self.push(arguments[0].encode("latin1"))
        else:
            raise _OtherError(f"call of {function.text!r}")

    def build(self) -> None:
        """Set the state of an array. That of the type of bytes has nothing that changes it."""
        state, target = self._stack.pop(), self._stack[-1]
        if isinstance(target, _Array):
            version, shape, kind, by_columns, values = state
            if (version, kind, by_columns) != (1, np.dtype(np.uint8), False) or not isinstance(values, bytes):
                raise _OtherError("an array of something else than bytes in rows")
            target.values = np.frombuffer(values, np.uint8).reshape(shape)
        elif not isinstance(target, np.dtype):
            raise _OtherError("the state of something else than an array")

    def _list(self) -> list[Any]:
        if not isinstance(self._stack[-1], list):
            raise _OtherError("elements of what is no list")
        return self._stack[-1]


def _text(reader: _Reader, argument: str) -> None:
    reader.push(argument.encode("latin1"))  # text of Python 2 is bytes


_INSTRUCTIONS: dict[str, Callable[[_Reader, Any], None]] = {
    "PROTO": lambda reader, version: reader.protocol(version),
    "STOP": lambda _reader, _: None,
    "MARK": lambda reader, _: reader.mark(),
    "EMPTY_DICT": lambda reader, _: reader.push({}),
    "EMPTY_LIST": lambda reader, _: reader.push([]),
    "EMPTY_TUPLE": lambda reader, _: reader.push(()),
    "NONE": lambda reader, _: reader.push(None),
    "NEWTRUE": lambda reader, _: reader.push(True),
    "NEWFALSE": lambda reader, _: reader.push(False),
    **dict.fromkeys(("BININT", "BININT1", "BININT2", "BINUNICODE"), lambda reader, value: reader.push(value)),
    **dict.fromkeys(("SHORT_BINSTRING", "BINSTRING"), _text),
    "GLOBAL": lambda reader, text: reader.name(text),
    "TUPLE": lambda reader, _: reader.push(tuple(reader.since_mark())),
    "TUPLE1": lambda reader, _: reader.pack(1),
    "TUPLE2": lambda reader, _: reader.pack(2),
    "TUPLE3": lambda reader, _: reader.pack(3),
    "APPEND": lambda reader, _: reader.append(),
    "APPENDS": lambda reader, _: reader.extend(reader.since_mark()),
    "SETITEM": lambda reader, _: reader.set_item(),
    "SETITEMS": lambda reader, _: reader.set_items(reader.since_mark()),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT"), lambda reader, place: reader.put(place)),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), lambda reader, place: reader.push(reader._memo[place])),
    "REDUCE": lambda reader, _: reader.call(),
    "BUILD": lambda reader, _: reader.build(),
}
"""Instructions of a batch, as `pickletools` names them."""
