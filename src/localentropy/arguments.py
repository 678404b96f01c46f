"""Checks of what a user passes to a function: one line that names the argument, its value and what is allowed."""

from __future__ import annotations

import difflib
import math
import numbers
import os
import resource
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localentropy.errors import DomainError

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor


LONGEST_SHOWN = 80
"""Characters of a value in a message."""
LARGEST = 1e250
"""The largest size of an element of an array: sums of them do not overflow."""
LARGEST_PATTERN = 1e6
"""The largest size of an entry of a pattern or input: sums of squares in single precision do not overflow."""
LARGEST_RATE = 1e100
"""The largest learning rate, coupling or sharpness in double precision: squares of them do not overflow."""

LARGEST_SIZE = 2**31 - 1
"""The largest number of weights, patterns or units."""
MOST_STEPS = 10**8
"""The largest number of steps of an algorithm, or of patterns drawn."""
MOST_DRAWS = 10**6
"""The largest number of random draws that are kept, and of points of a curve."""

_ROOT = Path("/")
"""Of the file system, where the machine says what a process may have."""

Shape = tuple[int | str, ...]
"""Sizes of an array. A word, such as "students", stands for any number from 1 on."""


def shown(value: object) -> str:
    """A value as it is written in Python, on one line and not longer than a line."""
    try:
        text = " ".join(repr(value).split("\n"))
    except Exception:  # an object of the user's may raise anything; Python does not write integers of 4301 digits
        text = f"{type(value).__name__} object"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def nearest_choice(value: object, choices: Iterable[str]) -> str | None:
    """The choice that is written most like a value; None where none is like it by half.

    Capital and small letters count as the same.
    """
    folded = {choice.casefold(): choice for choice in choices}
    close = difflib.get_close_matches(str(value).casefold(), folded, n=1, cutoff=0.5)
    return folded[close[0]] if close else None


def require_number(name: str, value: object) -> float:
    """The argument as a finite float.

    Text and booleans are refused even where Python could convert them: they are mistakes.

    Raises:
        DomainError: not a number, or not finite.
    """
    # A 0-d array of numpy or torch is a number too.
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise DomainError(f"{name} = {shown(value)} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise DomainError(f"{name} = {number} must be finite")
    return number


def require_integer(name: str, value: object, least: int | None = None, most: int | None = None) -> int:
    """The argument as an int, from Python's or numpy's integers.

    Raises:
        DomainError: not an integer, below `least` or above `most`.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise DomainError(f"{name} = {shown(value)} is not an integer")
    number = int(value)
    if (least is not None and number < least) or (most is not None and number > most):
        allowed = f"at least {least}" if most is None else f"from {least} to {most}"
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


def require_choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """The argument, one of a few words.

    Raises:
        DomainError: with the allowed words, and the nearest one if any is near.
    """
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        text = value[:LONGEST_SHOWN] if isinstance(value, str) else shown(value)
        nearest = nearest_choice(text, words)
        hint = f"; nearest is {nearest!r}" if nearest else ""
        raise DomainError(f"{name} = {shown(value)} is not known: allowed are {', '.join(words)}{hint}")
    return value


def require_positive(*, most: float = math.inf, **values: float) -> None:
    """Refuse values that are not positive and finite, or larger than `most`.

    Raises:
        DomainError: naming the first.
    """
    for name, value in values.items():
        if not 0.0 < require_number(name, value) <= most:
            bound = "finite" if math.isinf(most) else f"at most {most:g}"
            raise DomainError(f"{name} = {value} is out of range: it must be positive and {bound}")


def require_fraction(**values: float) -> None:
    """Refuse values outside [0, 1).

    Raises:
        DomainError: naming the first.
    """
    for name, value in values.items():
        if not 0.0 <= require_number(name, value) < 1.0:
            raise DomainError(f"{name} = {value} is out of range: allowed is 0 <= {name} < 1")


def require_between(name: str, value: object, low: float, high: float) -> float:
    """The argument as a float in [low, high], or DomainError."""
    number = require_number(name, value)
    if not low <= number <= high:
        raise DomainError(f"{name} = {number:.12g} is out of range: allowed are [{low:g}, {high:g}]")
    return number


def require_array(name: str, values: Any, low: float, high: float, *, inclusive: bool = True) -> np.ndarray:
    """The argument as a float64 array of finite numbers in an interval, or DomainError.

    Args:
        name: of one element.
        values: a number or a (nested) sequence of numbers, with at least one element. Sets, mappings and masked
            arrays are refused: sets have no order, mappings have keys and values, and masked numbers are not there.
        low: lower end of the interval.
        high: upper end.
        inclusive: whether the ends are allowed.
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
            require_number(name, numbers[~np.isfinite(numbers)][0])
    else:
        # Booleans, text and what else Python could convert are refused one by one.
        whole = not isinstance(values, Iterable) or isinstance(values, (str, bytes, bytearray, np.ndarray))
        elements = np.asarray(values if whole else list(values), dtype=object)
        numbers = np.array([require_number(name, element) for element in elements.flat]).reshape(elements.shape)
    if numbers.size == 0:
        raise DomainError(f"no {name} given")
    inside = (low <= numbers) & (numbers <= high) if inclusive else (low < numbers) & (numbers < high)
    if not inside.all():
        interval = f"[{low:g}, {high:g}]" if inclusive else f"({low:g}, {high:g})"
        raise DomainError(f"{name} = {numbers[~inside].flat[0]:.12g} is outside {interval}")
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
        values: an array of integers or floating-point numbers, or a (nested) sequence of them. Arrays of booleans,
            texts, complex numbers or objects are refused, and masked ones, whose mask would be lost.
        shapes: the allowed ones.
        most: largest size of a number.
        missing: whether numbers may be missing (NaN).
    """
    import numpy as np

    if isinstance(values, np.ma.MaskedArray):
        raise DomainError(f"{name}: a masked array given, allowed is an array without a mask")
    try:
        array = np.asarray(values)
    except Exception:  # a sequence of the user's may raise anything
        raise DomainError(f"{name} must be an array of real numbers, with rows of one length") from None
    if array.dtype.kind not in "iuf":
        what = type(values).__name__ if array.dtype.kind == "O" else f"array of type {array.dtype}"
        raise DomainError(f"{name}: {what} given, allowed is an array of real numbers")
    require_shape(name, array.shape, *shapes)
    numbers = array.astype(np.float64, order="C")  # the order of sums, and so the last bits, follow the order in memory
    # Comparisons with NaN are false.
    if not (numbers.min() >= -most and numbers.max() <= most):
        wrong = ~(np.abs(numbers) <= most) & ~(missing & np.isnan(numbers))
        if wrong.any():
            raise DomainError(
                f"{name}: {numbers[wrong][0]:g} is among them, allowed are finite real numbers, at most {most:g}"
            )
    return numbers


def locked(array: np.ndarray) -> np.ndarray:
    """The array, which can no longer be written to."""
    array.setflags(write=False)
    return array


def require_frozen(name: str, array: object, shape: Shape, *kinds: type[np.generic]) -> np.ndarray:
    """An array of a problem that nobody can write to, contiguous: the argument itself, or a copy.

    Args:
        name: of the array.
        array: the argument.
        shape: the allowed one.
        kinds: the allowed types; int8 is for ±1.

    Raises:
        DomainError: no array; another type or shape; int8 other than ±1; a real number not finite, or too large.
    """
    import numpy as np

    allowed = " and ".join(f"{kind.__name__}{' of ±1' * (kind is np.int8)}" for kind in kinds)
    if type(array) is not np.ndarray:
        raise DomainError(f"{name}: a {type(array).__name__} given, allowed is an array of numpy, {allowed}")
    if array.dtype.type not in kinds:
        raise DomainError(f"{name} of type {array.dtype}: allowed is {allowed}")
    require_shape(name, array.shape, shape)
    least, most = array.min(), array.max()
    # Comparisons with NaN are false.
    if array.dtype == np.int8:
        if not (least >= -1 and most <= 1 and np.count_nonzero(array) == array.size):
            wrong = array[(array != 1) & (array != -1)][0]
            raise DomainError(f"{name}: {wrong} is among them, allowed are 1 and -1")
    elif not (least >= -LARGEST_PATTERN and most <= LARGEST_PATTERN):
        wrong = array[~(np.abs(array) <= LARGEST_PATTERN)][0]
        raise DomainError(f"{name}: {wrong:g} is among them, allowed are finite numbers, at most {LARGEST_PATTERN:g}")
    owned = array.base is None and array.flags.c_contiguous and not array.flags.writeable
    return array if owned else locked(np.array(array, order="C"))


def require_signs(name: str, values: Any, *shapes: Shape) -> np.ndarray:
    """The argument as an int8 array of ±1, or DomainError; see `require_reals`."""
    import numpy as np

    numbers = require_reals(name, values, *shapes)
    if not (np.abs(numbers) == 1.0).all():
        raise DomainError(f"{name}: {numbers[np.abs(numbers) != 1.0].flat[0]:g} is among them, allowed are 1 and -1")
    return numbers.astype(np.int8)


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
    """The argument, a tensor of labels.

    Args:
        name: of the tensor.
        value: the argument.
        allowed: the labels that may be in it: whole numbers in a row, or -1 and 1.
        shapes: the allowed ones.
        like: a tensor whose device it must have, if any.

    Raises:
        DomainError: no tensor, or one of another shape or device, or with another label in it.
    """
    import torch

    tensor, choices = _plain_tensor(name, value), list(allowed)
    require_shape(name, tensor.shape, *shapes)
    if like is not None and tensor.device != like.device:
        raise DomainError(f"{name} on {tensor.device}: allowed is {like.device}, where the networks are")
    # Unsigned bytes hold no −1.
    wrong = ~torch.isin(tensor.double(), torch.tensor(choices, dtype=torch.float64, device=tensor.device))
    if bool(wrong.any()):
        listed = f"{choices[0]} to {choices[-1]}" if len(choices) > 2 else " and ".join(map(str, choices))
        raise DomainError(f"{name}: {tensor[wrong][0].item():g} is among them, allowed are {listed}")
    return tensor


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
