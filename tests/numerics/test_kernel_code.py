"""The text of a kernel: it differs where the machine code may, and does not depend on where the sources lie."""

from types import FunctionType

import pytest

from localentropy.numerics.kernel_code import NoTextError, code_text

SOURCE = """
import math
import numpy as np
from localentropy.numerics.compiled import instruction, kernel, subroutine

SCALE = 2.0
TABLE = np.array([1.0, 2.0])
PAIR = (1, frozenset({2}))

def build(typing, x):
    def generate(context, builder, signature, arguments):
        return builder.fneg(arguments[0])
    return typing, generate

negative = instruction(build, lambda x: -x)

def shifted(by):
    @subroutine
    def shift(x, more=0.5):
        return x + by + more
    return shift

shift = shifted(3.0)

@subroutine(fastmath={"nsz"})
def inner(x):
    return SCALE * math.exp(x)

@subroutine
def recursive(x):
    return recursive(x - 1) if x > 0 else inner(x)

@kernel(fastmath={"nsz", "contract"})
def outer(x):
    return [recursive(i) for i in TABLE], negative(shift(x)), PAIR[0], np.sum(TABLE)
"""


def text(source: str, path: str = "<source>") -> str:
    namespace = {"__name__": "somewhere"}
    exec(compile(source, path, "exec"), namespace)
    return code_text(namespace["outer"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE = 2.0", "SCALE = 2.5"),
        ("SCALE = 2.0", "SCALE = 2"),
        ("[1.0, 2.0]", "[1.0, 3.0]"),
        ("[1.0, 2.0])", "[1.0, 2.0], np.float32)"),
        ("(1, frozenset({2}))", "(1, frozenset({3}))"),
        ("(1, frozenset({2}))", "(2, frozenset({2}))"),
        ("fneg", "neg"),
        ("shifted(3.0)", "shifted(4.0)"),
        ("more=0.5", "more=0.25"),
        ("x + by + more", "x + more + by"),
        ('{"nsz"}', '{"contract"}'),
        ('"contract"}', '"reassoc"}'),
        ("math.exp", "math.log"),
        ("x - 1", "x - 2"),
        ("recursive(i)", "inner(i)"),
        ("np.sum", "np.prod"),
        ("@kernel(", "@kernel(boundscheck=True, "),
    ],
)
def test_what_changes_it(old, new):
    assert SOURCE.count(old) == 1
    assert text(SOURCE.replace(old, new)) != text(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE = 2.0", "# a comment\n\nSCALE = 4.0 / 2.0"),
        ("SCALE = 2.0", "SCALE = 2.0\nOTHER = 1.0"),
        ("math.exp(x)", "math.exp(\n        x\n    )"),
        ('{"nsz", "contract"}', '{"contract", "nsz"}'),
    ],
)
def test_what_does_not(old, new):
    assert SOURCE.count(old) == 1
    assert text(SOURCE.replace(old, new), "/another/path.py") == text(SOURCE)


def test_a_value_that_has_no_text():
    namespace = {"THING": object()}
    exec("def outer(x):\n    return THING", namespace)
    function = namespace["outer"]
    assert isinstance(function, FunctionType)
    with pytest.raises(NoTextError, match="object"):
        code_text(function)
