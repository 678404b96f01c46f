"""Checks of what a user passes to a function: one line that names the argument, its value and what is allowed."""

from __future__ import annotations

import difflib
import math
import numbers
import os
import re
import resource
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from localentropy.errors import DomainError

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor


_Value = TypeVar("_Value")

LONGEST_SHOWN = 80
"""Characters of a value in a message."""
MOST_LISTED = 5
"""Largest number of choices in a message."""
LIKE = 0.5
"""Smallest likeness of two words at which an error suggests one for the other."""
LIKE_OTHERWISE = 0.6
"""The same for two words that begin differently."""
LARGEST = 1e250
"""The largest size of an element of an array: sums of them do not overflow."""
LARGEST_PATTERN = 1e6
"""The largest size of an entry of a pattern or input: sums of squares in single precision do not overflow."""

_ROOT = Path("/")
"""The root of the file system, below which the machine says how much memory a process may have."""

Shape = tuple[int | str, ...]
"""Sizes of an array. A word, such as "students", stands for any number from 1 on."""


def shown(value: object) -> str:
    """A value as it is written in Python, on one line and not longer than a line."""
    try:
        text = " ".join(repr(value).split("\n"))
    except Exception:  # an object of the user's may raise anything; Python does not write integers of 4301 digits
        text = f"{type(value).__name__} object"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def bound(end: float) -> str:
    """An end of a range, in as few digits as say exactly which number it is."""
    short = f"{end:g}"
    return short if isinstance(end, float) and float(short) == end else str(end)


def nearest_choice(value: object, choices: Iterable[str]) -> str | None:
    """The choice that is most like a value; None if no choice shares half of its words or half of its spelling."""
    best = max(choices, key=lambda choice: _likeness(value, choice), default=None)
    return best if best is not None and max(_likeness(value, best)) >= LIKE else None


def listed(value: object, choices: Sequence[str]) -> str:
    """The choices after a value that is none of them: all, or the five that are most like it and how many there are."""
    if len(choices) <= MOST_LISTED:
        return ", ".join(choices)
    likest = sorted(choices, key=lambda choice: _likeness(value, choice), reverse=True)[:MOST_LISTED]
    return f"{', '.join(likest)}, … ({len(choices)} in all)"


def _likeness(value: object, choice: str) -> tuple[float, float]:
    """How like a choice is to a value: the part of the value's words that it has, and how alike both are written.

    Capital and small letters count as the same. What stands before a `/` need not be written. Below `LIKE` it is 0, and
    below `LIKE_OTHERWISE` where the words begin differently.
    """
    text, folded = str(value)[:LONGEST_SHOWN].casefold(), choice.casefold()
    words = set(re.findall(r"[^\W_]+", text))
    same = len(words & set(re.findall(r"[^\W_]+", folded))) / max(len(words), 1)
    spelled = folded if "/" in text else folded.rpartition("/")[2]
    written = difflib.SequenceMatcher(None, spelled, text).ratio()
    return same, written if written >= (LIKE if spelled[:1] == text[:1] else LIKE_OTHERWISE) else 0.0


def require_number(name: str, value: object, allowed: Callable[[], str] | None = None) -> float:
    """The argument as a finite float.

    Text and booleans are refused even where Python could convert them: they are mistakes.

    Args:
        name: of the argument.
        value: the argument.
        allowed: gives the range in words, for the message; None if there is none.

    Raises:
        DomainError: not a number, or not finite.
    """
    # A 0-d array of numpy or torch is a number too.
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise DomainError(f"{name} = {shown(value)} is not a number{_told(allowed)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DomainError(f"{name} = {number} {f'is out of range{_told(allowed)}' if allowed else 'must be finite'}")
    return number


def _told(allowed: Callable[[], str] | None) -> str:
    return f": allowed are {allowed()}" if allowed else ""


def require_integer(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """The argument as an int, from Python's or numpy's integers.

    Raises:
        DomainError: not an integer, below `least` or above `most`.
    """
    allowed = f"at least {least}" if most is None else f"from {least} to {most}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        told = "" if least is None else f": allowed are integers {allowed}"
        raise DomainError(f"{name} = {shown(value)} is not an integer{told}")
    number = int(value)
    if (least is not None and number < least) or (most is not None and number > most):
        raise DomainError(f"{name} = {shown(number)} is out of range: allowed are integers {allowed}")
    return number


def require_flag(name: str, value: object) -> bool:
    """The argument, True or False of Python or numpy.

    Other values are refused, even though Python gives each of them a truth: that of "no" is True.

    Raises:
        DomainError: neither True nor False.
    """
    import numpy as np

    if not isinstance(value, (bool, np.bool_)):
        raise DomainError(f"{name} = {shown(value)}: allowed are True and False")
    return bool(value)


def require_function(name: str, value: object) -> None:
    """Refuse what cannot be called.

    Raises:
        DomainError: says what it is.
    """
    if not callable(value):
        raise DomainError(f"{name} = {shown(value)}: allowed is a function")


def require_choice(name: str, value: object, allowed: Iterable[str], besides: str = "") -> str:
    """The argument, one of a few words.

    Args:
        name: of the argument.
        value: the argument.
        allowed: the words.
        besides: what else the caller takes, for the message: ", and a number".

    Raises:
        DomainError: with the allowed words, and the nearest one if any is near.
    """
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        text = value[:LONGEST_SHOWN] if isinstance(value, str) else shown(value)
        nearest = nearest_choice(text, words)
        hint = f"; nearest is {nearest!r}" if nearest else ""
        raise DomainError(f"{name} = {shown(value)} is not known: allowed are {listed(text, words)}{besides}{hint}")
    return value


def require_named(name: str, value: object, named: Mapping[str, _Value], kind: type[_Value], home: str) -> _Value:
    """The argument, a value of some kind, or the one that has a name.

    Args:
        name: of the argument.
        value: the argument.
        named: the values that have names.
        kind: their class.
        home: the module in which further values are.

    Raises:
        DomainError: no name of a value, and no frozen dataclass of this kind.
    """
    if isinstance(value, kind):
        is_frozen = is_dataclass(type(value)) and isinstance(value, Hashable)
        if not is_frozen:
            raise DomainError(f"{name} = {shown(value)}: allowed is a {kind.__name__} that is a frozen dataclass")
        return value
    if not isinstance(value, str):
        raise DomainError(
            f"{name} = {shown(value)}: allowed are {', '.join(named)}, and a {kind.__name__} as in {home}"
        )
    return named[require_choice(name, value, named)]


def require_array(name: str, values: Any, allowed: Callable[[], str] | None = None) -> np.ndarray:
    """The argument as a float64 array of finite numbers, or DomainError.

    Args:
        name: of one element.
        values: a number or a (nested) sequence of numbers, with at least one element. Sets, mappings and masked
            arrays are refused: sets have no order, mappings have keys and values, and masked numbers are not there.
        allowed: gives the range in words, for the message; None if there is none.
    """
    import numpy as np

    if isinstance(values, (Set, Mapping, np.ma.MaskedArray)):
        raise DomainError(f"{name}: a {type(values).__name__} given, allowed is a sequence of numbers")
    try:
        array = np.asarray(values) if hasattr(values, "__array__") else None
    except Exception:  # an object of the user's may raise anything, and a tensor that has a gradient does
        raise DomainError(f"{name}: a {type(values).__name__} given, allowed is a sequence of numbers") from None
    if array is not None and array.dtype.kind in "fiu":
        numbers = array.astype(np.float64)
        if not np.isfinite(numbers).all():
            require_number(name, numbers[~np.isfinite(numbers)][0], allowed)
    else:
        # Booleans, text and what else Python could convert are refused one by one.
        whole = not isinstance(values, Iterable) or isinstance(values, (str, bytes, bytearray, np.ndarray))
        elements = np.asarray(values if whole else list(values), dtype=object)
        numbers = np.array([require_number(name, element, allowed) for element in elements.flat]).reshape(
            elements.shape
        )
    if numbers.size == 0:
        raise DomainError(f"no {name} given")
    return numbers


def memory_limit() -> int:
    """Bytes that a process may have: the machine's, or less by a control group (containers, Slurm) or `ulimit -v`.

    Control groups lie in each other, and the smallest limit counts: Slurm sets that of the job, not that of its tasks.
    """
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        limits.append(soft)
    with suppress(OSError, IndexError):  # another layout of control groups
        own = (_ROOT / "proc/self/cgroup").read_text().partition("0::/")[2].splitlines()[0]
        top = _ROOT / "sys/fs/cgroup"
        for folder in (top / own, *(top / parent for parent in Path(own).parents)):
            with suppress(OSError, ValueError):  # "max": no limit
                limits.append(int((folder / "memory.max").read_text()))
    return min(limits)


def require_memory(size: float, **sizes: int) -> None:
    """Refuse what is larger than the memory that a process may have.

    Args:
        size: of all arrays, in bytes.
        sizes: what they come from, which the message names.

    Raises:
        DomainError: says how large both are.
    """
    memory = memory_limit()
    if size > memory:
        named = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        raise DomainError(f"{named}: this takes {size / 1e9:.3g} GB, allowed here are {memory / 1e9:.3g} GB")


def require_shape(name: str, shape: Sequence[int], *allowed: Shape) -> None:
    """Refuse an array of another shape than the allowed ones.

    Raises:
        DomainError: with the shapes that are allowed.
    """

    def fits(wanted: Shape) -> bool:
        return len(wanted) == len(shape) and all(
            found > 0 if isinstance(size, str) else found == size for size, found in zip(wanted, shape, strict=True)
        )

    if not any(fits(wanted) for wanted in allowed):
        # Two of them may be the same.
        each = dict.fromkeys(f"({', '.join(map(str, wanted))}{',' * (len(wanted) == 1)})" for wanted in allowed)
        raise DomainError(
            f"{name} of shape {tuple(shape)}: allowed {'is' if len(each) == 1 else 'are'} {' and '.join(each)}"
        )


def require_reals(name: str, values: Any, *shapes: Shape, most: float = LARGEST, missing: bool = False) -> np.ndarray:
    """The argument as a float64 array of finite numbers, or DomainError. Large arrays are checked at once.

    Args:
        name: of the array.
        values: what `_numbers` takes.
        shapes: the allowed ones; none given: any.
        most: largest size of a number.
        missing: whether numbers may be missing (NaN).
    """
    import numpy as np

    array = _numbers(name, values)
    if shapes:
        require_shape(name, array.shape, *shapes)
    numbers = array.astype(np.float64, order="C")  # the order of sums, and so the last bits, follow the order in memory
    # Comparisons with NaN are false.
    if numbers.size and not (numbers.min() >= -most and numbers.max() <= most):
        wrong = ~(np.abs(numbers) <= most) & ~(missing & np.isnan(numbers))
        if wrong.any():
            raise DomainError(
                f"{name}: {numbers[wrong][0]:g} is among them, allowed are finite real numbers, at most {bound(most)}"
            )
    return numbers


def _numbers(name: str, values: Any) -> np.ndarray:
    """The argument as an array of integers or floating-point numbers, of any shape; the argument itself if it is one.

    Args:
        name: of the array.
        values: what has such numbers: an array of numpy in any layout, a tensor in main memory with or without a
            gradient, a table or column of pandas, a (nested) sequence, also of Python objects that are numbers.

    Raises:
        DomainError: booleans, text, complex numbers, numbers that are masked or missing; what has no order or is used
            up by reading it; rows of several lengths; a tensor in another memory.
    """
    import numpy as np

    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            place = np.argwhere(np.ma.getmaskarray(values))[0]
            raise DomainError(f"{name}: a masked array with nothing at {_place(place)}, allowed are numbers everywhere")
        values = values.data
    if isinstance(values, Iterator):
        raise DomainError(f"{name}: {type(values).__name__} given, allowed is an array: list(…) makes one of it")
    values = _of_torch(name, values)
    try:
        array = np.asarray(values)
    except Exception:  # a sequence of the user's may raise anything
        raise DomainError(f"{name} must be an array of real numbers, with rows of one length") from None
    if array.dtype == object and array.ndim:
        array = _of_objects(name, array)
    if array.dtype == bool:
        raise DomainError(f"{name}: array of type bool given, allowed are real numbers, such as 2 * {name} - 1 of ±1")
    if array.dtype.kind not in "iuf":
        what = type(values).__name__ if array.dtype.kind == "O" else f"array of type {array.dtype}"
        raise DomainError(f"{name}: {what} given, allowed is an array of real numbers")
    return array


def _of_torch(name: str, values: Any) -> Any:
    """A tensor of torch without its gradient, in a type that numpy has; any other value as it is."""
    torch = sys.modules.get("torch")  # who has a tensor has imported it
    if torch is None or not isinstance(values, torch.Tensor):
        return values
    if values.device.type != "cpu" or values.layout != torch.strided:
        raise DomainError(f"{name}: a tensor on {values.device}, {values.layout}, allowed is one on cpu, torch.strided")
    tensor = values.detach().resolve_conj().resolve_neg()
    return tensor.float() if tensor.dtype == torch.bfloat16 else tensor


def _of_objects(name: str, array: np.ndarray) -> np.ndarray:
    """An array of Python objects that are numbers, in float64."""
    import numpy as np

    numbers = np.empty(array.shape)
    for place in np.ndindex(array.shape):
        numbers[place] = require_number(f"{name}{_place(place)}", array[place])
    return numbers


def _place(index: Iterable[Any]) -> str:
    """An index as it is written in Python."""
    return f"[{', '.join(str(int(one)) for one in index)}]"


def locked(array: np.ndarray) -> np.ndarray:
    """The array, which can no longer be written to."""
    array.setflags(write=False)
    return array


def frozen(array: np.ndarray) -> np.ndarray:
    """An array of a problem that nobody can write to, contiguous: the argument itself, or a copy."""
    import numpy as np

    owned = array.base is None and array.flags.c_contiguous and not array.flags.writeable
    return array if owned else locked(np.array(array, order="C"))


def require_signs(name: str, values: Any, *shapes: Shape) -> np.ndarray:
    """The argument as an int8 array of ±1: the argument itself, if it is one.

    Args:
        name: of the array.
        values: what `_numbers` takes, of any type, where every number is exactly 1 or -1.
        shapes: the allowed ones.

    Raises:
        DomainError: no such array; names the first other number and its place.
    """
    import numpy as np

    array = _numbers(name, values)
    require_shape(name, array.shape, *shapes)
    if not _all_signs(array):
        _refuse_other_signs(name, array, "1 and -1")
    return array.astype(np.int8, copy=False)


def require_patterns(name: str, values: Any, shape: Shape) -> np.ndarray:
    """The argument as patterns: int8 where every number is exactly 1 or -1, else float32, at most `LARGEST_PATTERN`.

    Args:
        name: of the array.
        values: what `_numbers` takes; real numbers in float32 only, because others would be rounded.
        shape: the allowed one.

    Raises:
        DomainError: no such array; names the first other number and its place.
    """
    import numpy as np

    array = _numbers(name, values)
    require_shape(name, array.shape, shape)
    if _all_signs(array):
        return array.astype(np.int8, copy=False)
    if array.dtype.type is np.float32:
        _refuse_large(name, array)
        return array.astype(np.float32, copy=False)
    real = f", and real numbers of type float32, such as {name}.astype(np.float32)" if array.dtype.kind == "f" else ""
    return _refuse_other_signs(name, array, f"1 and -1{real}")


def require_frozen(name: str, values: Any, shape: Shape) -> np.ndarray:
    """The argument as a float64 array of finite numbers, at most `LARGEST_PATTERN`, as `frozen` makes it.

    Raises:
        DomainError: no array of numbers; another shape; a number that is not finite, or too large.
    """
    import numpy as np

    array = _numbers(name, values)
    require_shape(name, array.shape, shape)
    _refuse_large(name, array)
    return frozen(array.astype(np.float64, copy=False))


def _all_signs(array: np.ndarray) -> bool:
    """Whether every number is 1 or -1, for integers without a second array of the same size."""
    import numpy as np

    # Comparisons with NaN are false.
    if not (array.min() >= -1 and array.max() <= 1):
        return False
    if array.dtype.kind != "f":
        return np.count_nonzero(array) == array.size
    return bool((np.abs(array) == 1).all())


def _refuse_large(name: str, array: np.ndarray) -> None:
    import numpy as np

    # Comparisons with NaN are false.
    if not (array.min() >= -LARGEST_PATTERN and array.max() <= LARGEST_PATTERN):
        wrong = ~(np.abs(array) <= LARGEST_PATTERN)
        _refuse_first(name, array, wrong, f"finite numbers, at most {bound(LARGEST_PATTERN)}")


def _refuse_other_signs(name: str, array: np.ndarray, allowed: str) -> NoReturn:
    """Refuse an array for its first number that is not 1 or -1, and say how labels of 0 and 1 become signs."""
    import numpy as np

    two = "2.0" if array.dtype.kind == "u" else "2"  # unsigned integers have no −1
    hint = f"; {two} * {name} - 1 makes them of 0 and 1" if np.isin(array, (0, 1)).all() else ""
    _refuse_first(name, array, np.abs(array) != 1, allowed + hint)


def _refuse_first(name: str, array: np.ndarray, wrong: np.ndarray, allowed: str) -> NoReturn:
    """Refuse an array for the first of its wrong numbers."""
    import numpy as np

    place = np.unravel_index(int(np.argmax(wrong)), array.shape)
    raise DomainError(f"{name}{_place(place)} = {array[place]}: allowed are {allowed}")


def require_generators(values: Any, count: int | None = None) -> list[np.random.Generator]:
    """The argument `generators` as a list of numpy's random generators, one or more.

    Raises:
        DomainError: no list of them, or another number than `count`.
    """
    import numpy as np

    generators = require_list("generators", values, np.random.Generator, count)
    if not generators:
        raise DomainError("generators: none given, allowed are one or more")
    return generators


def require_tensor(name: str, value: object, *shapes: Shape, like: Tensor | None = None) -> Tensor:
    """The argument, a tensor of finite floating-point numbers.

    Args:
        name: of the tensor.
        value: the argument.
        shapes: the allowed ones.
        like: a tensor whose type and device it must have, because both meet in one product.

    Raises:
        DomainError: no tensor, or one of another shape, type or device, or one that is not finite.
    """
    import torch

    tensor = _plain_tensor(name, value)
    if like is None and tensor.dtype not in (torch.float32, torch.float64):
        raise DomainError(f"{name} of type {tensor.dtype}: allowed are torch.float32 and torch.float64")
    if like is not None and (tensor.dtype, tensor.device) != (like.dtype, like.device):
        raise DomainError(
            f"{name} of type {tensor.dtype} on {tensor.device}: allowed is {like.dtype} on {like.device}, as the "
            "networks have it"
        )
    require_shape(name, tensor.shape, *shapes)
    if not bool(torch.isfinite(tensor).all()):
        raise DomainError(f"{name}: infinity or NaN is among them, allowed are finite numbers")
    return tensor


def require_labels(
    name: str, value: object, allowed: Iterable[int], *shapes: Shape, like: Tensor | None = None
) -> Tensor:
    """The argument as a tensor of labels.

    Args:
        name: of the tensor.
        value: a tensor, or what `_numbers` takes.
        allowed: the labels that may be in it: whole numbers in a row, or -1 and 1.
        shapes: the allowed ones.
        like: a tensor whose type the labels get, and on whose device a tensor must be; None: they stay as they are.

    Raises:
        DomainError: no array or tensor of numbers, one of another shape or on another device; names the first other
            label and its place.
    """
    import numpy as np
    import torch

    if not isinstance(value, torch.Tensor):
        value = torch.from_numpy(_numbers(name, value).astype(np.float64))
        value = value if like is None else value.to(like.device)
    tensor, choices = _plain_tensor(name, value), list(allowed)
    require_shape(name, tensor.shape, *shapes)
    if like is not None and tensor.device != like.device:
        raise DomainError(f"{name} on {tensor.device}: allowed is {like.device}, where the networks are")
    # Unsigned bytes hold no −1.
    wrong = ~torch.isin(tensor.double(), torch.tensor(choices, dtype=torch.float64, device=tensor.device))
    if bool(wrong.any()):
        listed = f"{choices[0]} to {choices[-1]}" if len(choices) > 2 else " and ".join(map(str, choices))
        found = tensor.detach().double().cpu().numpy()
        if choices == [-1, 1]:
            _refuse_other_signs(name, found, listed)
        _refuse_first(name, found, wrong.cpu().numpy(), listed)
    return tensor if like is None else tensor.to(like.dtype)


def _plain_tensor(name: str, value: object) -> Tensor:
    """The argument, a tensor with numbers in memory that are real."""
    import torch

    if not isinstance(value, torch.Tensor):
        raise DomainError(f"{name} = {shown(value)}: allowed is a tensor of torch")
    if value.layout != torch.strided or value.is_meta or value.dtype == torch.bool or value.is_complex():
        raise DomainError(
            f"{name} is a tensor of type {value.dtype}, layout {value.layout}, on {value.device}: allowed are real "
            "numbers, torch.strided, in memory"
        )
    return value


def require_list(name: str, values: Any, kind: type = object, count: int | None = None) -> list[Any]:
    """The argument as a list of things of one kind.

    Args:
        name: of the list.
        values: a list, or anything that has elements in an order; no text.
        kind: of each element.
        count: how many are needed; None: any number.

    Raises:
        DomainError: no list, an element of another kind, or another number of them.
    """
    what = "a list" if kind is object else f"a list of {kind.__name__} objects"
    if not isinstance(values, Iterable) or isinstance(values, (str, bytes, bytearray, Set, Mapping)):
        raise DomainError(f"{name} = {shown(values)}: allowed is {what}")
    try:
        listed = list(values)
    except Exception:  # arrays without dimensions; an object of the user's may raise anything
        raise DomainError(f"{name} = {shown(values)}: allowed is {what}") from None
    for value in listed:
        if not isinstance(value, kind):
            raise DomainError(f"{name}: {shown(value)} is among them, allowed are {kind.__name__} objects")
    if count is not None and len(listed) != count:
        raise DomainError(f"{name}: {len(listed)} given, allowed are {count}, one for each")
    return listed


def require_columns(name: str, table: object, columns: Iterable[str]) -> None:
    """Refuse a table that lacks a column.

    Args:
        name: of the table.
        table: the argument.
        columns: the ones that are needed.

    Raises:
        DomainError: no table of pandas, or a column is missing: names it.
    """
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        raise DomainError(f"{name}: {type(table).__name__} given, allowed is a DataFrame of pandas")
    needed = list(columns)
    missing = [column for column in needed if column not in table]
    if missing:
        raise DomainError(f"{name}: the column {missing[0]} is missing, needed: {', '.join(needed)}")
