"""Checks of arguments: every refusal is one short line, whatever is passed."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from localentropy.arguments import (
    bound,
    frozen,
    listed,
    nearest_choice,
    require_array,
    require_choice,
    require_columns,
    require_flag,
    require_function,
    require_generators,
    require_integer,
    require_labels,
    require_list,
    require_memory,
    require_number,
    require_patterns,
    require_reals,
    require_shape,
    require_signs,
    require_tensor,
    shown,
)
from localentropy.errors import DomainError
from localentropy.quantities import ALPHA, DAMPING, SIZE


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")


NO_NUMBERS: list[Any] = [
    "1", "x" * 300, b"1", None, True, np.bool_(True), np.array(True), 1 + 2j, [1.0], np.ones((3, 3)), torch.ones(2, 2),
    {}, {1.0}, object, Unprintable(), math.nan, math.inf, 10**400, 10**5000, -(10**5000),
]  # fmt: skip
CHECKS: dict[str, Callable[[str, Any], object]] = {
    "number": require_number,
    "integer": require_integer,
    "small integer": lambda name, value: require_integer(name, value, 1, 9),
    "choice": lambda name, value: require_choice(name, value, ("sign", "absolute")),
    "quantity": lambda name, value: DAMPING.called(name).require(value),
    "count": lambda name, value: SIZE.called(name).require(value),
    "array": lambda name, value: require_array(name, [0.5, value]),
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("number", range(len(NO_NUMBERS)))
def test_a_refusal_is_one_short_line(check, number):
    value = NO_NUMBERS[number]
    if check == "integer" and isinstance(value, int) and not isinstance(value, bool):
        assert require_integer("argument", value) == value
        return
    with pytest.raises(DomainError) as refused:
        CHECKS[check]("argument", value)
    message = str(refused.value)
    assert message.startswith("argument = ")
    assert "\n" not in message
    assert len(message) < 200


def test_at_most_five_choices_are_listed_and_those_with_the_same_words_come_first():
    names = ["overparam/typical", "overparam/typical_points", "margins/typical", "glm/risk", "glm/amp", "glm/gibbs"]
    assert listed("typcal", names[:5]) == ", ".join(names[:5])
    assert listed("points of typical", names).startswith("overparam/typical_points, overparam/typical, margins/typical")
    assert listed("xyz", names) == f"{', '.join(names[:5])}, … (6 in all)"
    assert nearest_choice("typical", reversed(names)) == "margins/typical"
    assert nearest_choice("typcal", names) == "overparam/typical"
    assert nearest_choice("xyz", names) is None


@given(st.sampled_from(["smoke", "default", "paper"]), st.data())
def test_capital_and_small_letters_are_alike_for_the_nearest_choice(choice, data):
    written = "".join(data.draw(st.sampled_from([letter.lower(), letter.upper()])) for letter in choice)
    assert nearest_choice(written, ["smoke", "default", "paper"]) == choice
    assert nearest_choice(written + "s", ["Smoke", "Default", "Paper"]) == choice.capitalize()


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), np.array(1.0), Fraction(1), torch.tensor(1.0)])
def test_numbers_of_all_kinds(value):
    assert require_number("argument", value) == 1.0
    assert type(require_number("argument", value)) is float
    array = require_array("argument", value)
    assert (array.shape, array.dtype) == ((), np.float64)


@pytest.mark.parametrize("values", [(0.1, 0.2), np.array([0.1, 0.2]), torch.tensor([0.1, 0.2], dtype=torch.float64)])
def test_arrays_of_all_kinds(values):
    assert require_array("argument", values).tolist() == [0.1, 0.2]
    assert require_array("argument", [values, values]).shape == (2, 2)


@pytest.mark.parametrize("values", [{0.1, 0.2}, frozenset({0.1}), {0.1: 1.0}])
def test_what_has_no_order_is_no_array(values):
    with pytest.raises(DomainError, match="allowed is a sequence of numbers"):
        require_array("argument", values)


def test_bytes_are_no_numbers():
    with pytest.raises(DomainError, match="is not a number"):
        require_array("argument", b"12")


def test_values_are_shown_as_python_writes_them():
    assert shown("a") == "'a'"
    assert shown(np.eye(2)) == "array([[1., 0.],        [0., 1.]])"
    assert shown(10**5000) == "int object"
    assert shown("x" * 300) == "'" + "x" * 78 + "…"


NO_ARRAYS: list[Any] = [
    None, "1", b"1", 1 + 2j, {1.0}, {0: 1.0}, object, Unprintable(), True, [True, False], ["1"], [[1.0], [1.0, 2.0]],
    [None], [1j], np.ma.masked_array([1.0, 2.0], mask=[True, False]), torch.ones(2).to_sparse(),
    torch.ones(2, device="meta"), np.zeros(2, "datetime64[s]"), np.array([1.0, None]), np.array([1, True], object),
    [math.nan, 1.0], [1.0, -math.inf], [1e251, 1.0], [], iter([1.0, -1.0]), (one for one in (1, -1)), {1: 1}.values(),
    np.zeros(2, "i4,i4"), pd.Series([1, None], dtype="Int8"), pd.DataFrame({"a": [1, -1], "b": ["1", "x"]}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(NO_ARRAYS)))
@pytest.mark.parametrize("check", [require_reals, require_signs])
def test_what_is_no_array_of_numbers_is_refused_in_one_short_line(check, number):
    with pytest.raises(DomainError) as refused:
        check("weights", NO_ARRAYS[number], ("N",), (), ("N", "M"))
    message = str(refused.value)
    assert message.startswith("weights")
    assert "\n" not in message
    assert len(message) < 200


SIGNS = np.array([[1, -1, -1], [-1, 1, 1]])
HELD: dict[str, Any] = {
    "lists": SIGNS.tolist(),
    "tuples": tuple(map(tuple, SIGNS)),
    "list of arrays": list(SIGNS),
    "objects": SIGNS.astype(object),
    "objects of all kinds": [[1, -1.0, Fraction(-1)], [np.int8(-1), np.float32(1.0), np.array(1)]],
    "transposed": np.asfortranarray(SIGNS),
    "reversed": SIGNS[::-1, ::-1].copy()[::-1, ::-1],
    "strided": np.repeat(SIGNS, 3, axis=1)[:, ::3],
    "read-only": np.frombuffer(SIGNS.astype(np.int16).tobytes(), np.int16).reshape(2, 3),
    "matrix": SIGNS.view(np.matrix),
    "without a masked number": np.ma.masked_array(SIGNS, mask=False),
    "table": pd.DataFrame(SIGNS, columns=["a", "b", "c"]),
    "table of nullable integers": pd.DataFrame(SIGNS).astype("Int8"),
    **{dtype: SIGNS.astype(dtype) for dtype in ("i1", ">i2", "i8", "f2", "f4", ">f8", "longdouble")},
    **{str(dtype): torch.tensor(SIGNS, dtype=dtype) for dtype in (torch.int8, torch.int64, torch.half, torch.bfloat16)},
    "tensor with a gradient": torch.tensor(SIGNS, dtype=torch.float64, requires_grad=True),
    "tensor, transposed": torch.tensor(SIGNS.T.copy()).T,
}


@pytest.mark.parametrize("held", HELD)
def test_signs_are_taken_from_whatever_holds_them(held):
    for check, kind in ((require_reals, np.float64), (require_signs, np.int8), (require_patterns, np.int8)):
        found = check("weights", HELD[held], (2, "N"))
        assert (found.tolist(), found.dtype, type(found)) == (SIGNS.tolist(), kind, np.ndarray)
    assert require_labels("labels", HELD[held], (-1, 1), (2, 3)).tolist() == SIGNS.tolist()
    one = require_labels("labels", HELD[held], (-1, 1), (2, 3), like=torch.ones(1))
    assert (one.tolist(), one.dtype) == (SIGNS.tolist(), torch.float32)


def test_signs_in_a_file_and_in_a_column(tmp_path):
    np.save(tmp_path / "signs.npy", SIGNS.astype(np.int8))
    assert require_signs("labels", np.load(tmp_path / "signs.npy", mmap_mode="r"), (2, 3)).tolist() == SIGNS.tolist()
    assert require_signs("labels", pd.Series(SIGNS[0]), (3,)).tolist() == SIGNS[0].tolist()


def test_signs_that_are_right_already_are_not_copied():
    given = SIGNS.astype(np.int8)
    assert require_signs("labels", given, (2, 3)) is given
    assert frozen(given) is not given and given.flags.writeable
    given.setflags(write=False)
    assert frozen(require_patterns("patterns", given, (2, 3))) is given


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (SIGNS > 0, "labels: array of type bool given, allowed are real numbers, such as 2 * labels - 1 of ±1"),
        ((SIGNS + 1) // 2, "labels[0, 1] = 0: allowed are 1 and -1; 2 * labels - 1 makes them of 0 and 1"),
        (np.uint8(SIGNS > 0), "labels[0, 1] = 0: allowed are 1 and -1; 2.0 * labels - 1 makes them of 0 and 1"),
        (SIGNS.astype(np.uint8), "labels[0, 1] = 255: allowed are 1 and -1"),
        (SIGNS * [[1, 1, 1], [1, 1, 2]], "labels[1, 2] = 2: allowed are 1 and -1"),
        (SIGNS * (1 + 1e-15), "labels[0, 0] = 1.000000000000001: allowed are 1 and -1"),
        (np.where(SIGNS > 0, 1.0, math.nan), "labels[0, 1] = nan: allowed are 1 and -1"),
        (np.ma.masked_equal(SIGNS, 1), "labels: a masked array with nothing at [0, 0], allowed are numbers everywhere"),
        (np.array([[1, "1", 1]], object), "labels[0, 1] = '1' is not a number"),
        (iter(SIGNS), "labels: iterator given, allowed is an array: list(…) makes one of it"),
        (
            torch.ones(2, 3, device="meta"),
            "labels: a tensor on meta, torch.strided, allowed is one on cpu, torch.strided",
        ),
    ],
)
def test_other_numbers_than_signs_are_named_with_their_place(values, message):
    with pytest.raises(DomainError) as refused:
        require_signs("labels", values, ("P", "N"))
    assert str(refused.value) == message


def test_patterns_are_signs_or_real_numbers_of_single_precision():
    real = np.float32(SIGNS * 0.5)
    assert require_patterns("patterns", real, (2, 3)) is real
    assert require_patterns("patterns", real.astype(">f4"), (2, 3)).dtype == np.dtype("=f4")
    for values, message in (
        (
            SIGNS * 0.5,
            r"patterns\[0, 0\] = 0.5: .*, and real numbers of type float32, such as patterns.astype\(np.float32\)$",
        ),
        (SIGNS * 2, r"patterns\[0, 0\] = 2: allowed are 1 and -1$"),
        (real * 1e7, r"patterns\[0, 0\] = 5000000.0: allowed are finite numbers, at most 1e\+06$"),
    ):
        with pytest.raises(DomainError, match=message):
            require_patterns("patterns", values, (2, 3))


@pytest.mark.parametrize(
    ("shape", "allowed", "message"),
    [
        ((3,), [(4,)], r"weights of shape \(3,\): allowed is \(4,\)"),
        ((3, 2), [(4,), ("students", 4)], r"weights of shape \(3, 2\): allowed are \(4,\) and \(students, 4\)"),
        ((0, 4), [("students", 4)], r"weights of shape \(0, 4\): allowed is \(students, 4\)"),
        ((), [(1,)], r"weights of shape \(\): allowed is \(1,\)"),
    ],
)
def test_shapes(shape, allowed, message):
    with pytest.raises(DomainError, match=message):
        require_shape("weights", shape, *allowed)


NO_FLAGS: list[Any] = [*NO_NUMBERS[:4], *NO_NUMBERS[7:], 0, 1, "True", np.array([True])]


@pytest.mark.parametrize("number", range(len(NO_FLAGS)))
def test_flags_are_true_or_false(number):
    value = NO_FLAGS[number]
    with pytest.raises(DomainError, match=r"^flag = .*: allowed are True and False$"):
        require_flag("flag", value)


@pytest.mark.parametrize("value", [True, np.bool_(True), False, np.False_])
def test_flags_of_all_kinds(value):
    assert require_flag("flag", value) is bool(value)


@pytest.mark.parametrize("value", [None, 1, "function", [abs]])
def test_what_cannot_be_called_is_no_function(value):
    require_function("solver", abs)
    with pytest.raises(DomainError, match=r"^solver = .*: allowed is a function$"):
        require_function("solver", value)


@pytest.mark.parametrize("value", [None, 1, "text", b"text", {1}, {1: 2}, np.array(1.0), object()])
def test_what_has_no_elements_in_an_order_is_no_list(value):
    with pytest.raises(DomainError, match=r"^seeds = .*: allowed is a list"):
        require_list("seeds", value)


def test_lists_have_elements_of_one_kind_and_as_many_as_are_needed():
    assert require_list("seeds", (one for one in (1, 2)), int, 2) == [1, 2]
    with pytest.raises(DomainError, match=r"^seeds: 'x' is among them, allowed are int objects$"):
        require_list("seeds", [1, "x"], int)
    with pytest.raises(DomainError, match=r"^seeds: 1 given, allowed are 2, one for each$"):
        require_list("seeds", [1], int, 2)
    with pytest.raises(DomainError, match=r"^generators: none given"):
        require_generators([])
    with pytest.raises(DomainError, match=r"^generators: 0 is among them, allowed are Generator objects$"):
        require_generators([0])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (pd.DataFrame({"N": [5]}), "table: the column D is missing, needed: D, N"),
        (pd.DataFrame(), "table: the column D is missing, needed: D, N"),
        (pd.Series({"D": 3, "N": 5}), "table: Series given, allowed is a DataFrame of pandas"),
        ({"D": 3, "N": 5}, "table: dict given, allowed is a DataFrame of pandas"),
    ],
)
def test_tables_have_the_columns_that_are_needed(value, message):
    require_columns("table", pd.DataFrame({"D": [3], "N": [5]}), ["D", "N"])
    with pytest.raises(DomainError) as refused:
        require_columns("table", value, ["D", "N"])
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ones(2), "allowed is a tensor of torch"),
        (torch.ones(3), r"of shape \(3,\): allowed is \(2,\)"),
        (torch.ones(2, dtype=torch.float64), "of type torch.float64 on cpu: allowed is torch.float32 on cpu"),
        (torch.ones(2, dtype=torch.int64), "of type torch.int64"),
        (torch.ones(2).to_sparse(), "layout torch.sparse_coo"),
        (torch.ones(2, device="meta"), "on meta"),
        (torch.ones(2) > 0, "of type torch.bool"),
        (torch.tensor([1.0, math.nan]), "infinity or NaN is among them"),
        (torch.tensor([1.0, -math.inf]), "infinity or NaN is among them"),
    ],
)
def test_tensors(value, message):
    like = torch.zeros(1)
    assert require_tensor("inputs", torch.ones(2), (2,), like=like).tolist() == [1.0, 1.0]
    with pytest.raises(DomainError, match=f"^inputs .*{message}|^inputs: {message}") as refused:
        require_tensor("inputs", value, (2,), like=like)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("wrong", [0, 3, -1, 0.5, math.nan, math.inf, 300])
def test_labels(wrong):
    good = torch.tensor([1.0, 2.0])
    assert require_labels("labels", good, range(1, 3), (2,)) is good
    bytes_ = torch.ones(2, dtype=torch.uint8)
    assert require_labels("labels", bytes_, (-1, 1), (2,)) is bytes_
    with pytest.raises(DomainError, match=r"^labels\[1\] = .*: allowed are 1 and 2$"):
        require_labels("labels", torch.tensor([1.0, wrong]), range(1, 3), (2,))
    with pytest.raises(DomainError, match=r"allowed are 0 to 9$"):
        require_labels("labels", torch.tensor([-1, 300]), range(10), (2,))


def test_what_does_not_fit_the_memory():
    require_memory(1e6, N=1000)
    with pytest.raises(DomainError, match=r"^N = 5, P = 6: this takes 1e\+09 GB, allowed here are .* GB$"):
        require_memory(1e18, N=5, P=6)


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (1e-9, "1e-09"),
        (0.5, "0.5"),
        (1e9, "1e+09"),
        (10**6, "1000000"),
        (2.0**31 - 1, "2147483647.0"),
        (0.1 + 0.2, "0.30000000000000004"),
    ],
)
def test_an_end_of_a_range_is_written_exactly(end, words):
    assert bound(end) == words
    assert float(words) == end


def test_a_name_that_begins_otherwise_must_be_more_alike_to_be_suggested():
    assert nearest_choice("abs", ["sign", "absolute"]) == "absolute"
    assert nearest_choice("figure99", ["margins/sign_curves", "overparam/typical"]) is None
    assert nearest_choice("igure3", ["figure3"]) == "figure3"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "alpha = nan is out of range: allowed are [1e-09, 1e+09]"),
        (math.inf, "alpha = inf is out of range: allowed are [1e-09, 1e+09]"),
        ("0.5", "alpha = '0.5' is not a number: allowed are [1e-09, 1e+09]"),
        (True, "alpha = True is not a number: allowed are [1e-09, 1e+09]"),
    ],
)
def test_what_is_no_number_of_a_quantity_is_refused_with_its_range(value, message):
    for ask in (ALPHA.require, ALPHA.require_all, lambda number: ALPHA.require_all([0.5, number])):
        with pytest.raises(DomainError, match=f"^{re.escape(message)}$"):
            ask(value)


def test_what_is_no_integer_of_a_quantity_is_refused_with_its_range():
    with pytest.raises(DomainError, match=r"^N = '50' is not an integer: allowed are integers from 1 to 2147483647$"):
        SIZE.require("50")
