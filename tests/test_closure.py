"""Which statements count for a module's code hash, on small packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localentropy import closure

FILES = {
    "__init__": "",
    "used": "LIMIT = 3\n\ndef helper():\n    return LIMIT\n\ndef other():\n    return 4\n",
    "whole": "A = 1\nB = 2\n",
    "sub.__init__": "",
    "sub.deep": "def f():\n    return 1\n\ndef g():\n    return 2\n",
}
Edit = Callable[[str, str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Edit]:
    """Writes a module of a package of its own: dotted name and source."""
    monkeypatch.setattr(closure, "SOURCE", tmp_path)

    def write_module(name: str, source: str) -> None:
        file = tmp_path.joinpath("localentropy", *name.split(".")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)

    for name, source in FILES.items():
        write_module(name, source)
    yield write_module
    forget()


def forget() -> None:
    """As in a new process: what a process has met it does not read again."""
    closure.code_hash.cache_clear()
    closure._read_once.cache_clear()


def current() -> str:
    forget()
    return closure.code_hash("localentropy.entry")


def changes(write: Edit, entry: str, module: str, source: str) -> bool:
    """Whether the hash of `entry` is another when `module` gets another source."""
    write("entry", entry)
    before = current()
    write(module, source)
    return current() != before


USES_HELPER = "from localentropy.used import helper\n\ndef compute():\n    return helper()\n"


@pytest.mark.parametrize(
    "source",
    [
        "# A comment\n" + FILES["used"],
        '"""A docstring."""\n' + FILES["used"],
        FILES["used"].replace("    return LIMIT", '    """A docstring."""\n\n    # why\n    return LIMIT'),
        FILES["used"].replace("LIMIT = 3", 'LIMIT = 3\n"""What it limits."""'),
        FILES["used"].replace("return LIMIT", "return (\n        LIMIT\n    )"),
        FILES["used"].replace("return 4", "return 5"),
        FILES["used"] + "\nclass New:\n    value = 1\n",
        "from localentropy.whole import A\nfrom localentropy import sub\n" + FILES["used"],
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from localentropy.whole import A\n" + FILES["used"],
    ],
)
def test_what_changes_no_number_changes_no_hash(write: Edit, source: str) -> None:
    assert not changes(write, USES_HELPER, "used", source)


@pytest.mark.parametrize(
    "source",
    [
        FILES["used"].replace("3", "4"),
        FILES["used"].replace("return LIMIT", "return -LIMIT"),
        FILES["used"].replace("return LIMIT", "from localentropy.whole import A\n    return LIMIT + A"),
        FILES["used"] + "\nLIMIT += 1\n",
        FILES["used"] + "\nother.cache = {}\n",
        "import functools\n" + FILES["used"].replace("def helper", "@functools.cache\ndef helper"),
        FILES["used"] + "\nif LIMIT:\n    helper = other\n",
        "from localentropy.whole import A as LIMIT\n" + FILES["used"].replace("LIMIT = 3\n", ""),
    ],
)
def test_what_may_change_a_number_changes_the_hash(write: Edit, source: str) -> None:
    assert changes(write, USES_HELPER, "used", source)


@pytest.mark.parametrize(
    ("entry", "module", "narrow"),
    [
        ("from localentropy import used\nx = used.helper()\n", "used", True),
        ("import localentropy.used as u\nx = u.helper()\n", "used", True),
        ("def compute():\n    from localentropy.used import helper\n    return helper()\n", "used", True),
        ("def compute():\n    from localentropy import used\n    return used.helper()\n", "used", True),
        ("from localentropy import used\nx = vars(used)\n", "used", False),
        ("import localentropy.used\nx = localentropy.used.helper()\n", "used", False),
        ("from localentropy.used import *\n", "used", False),
        ("try:\n    from localentropy import used\nexcept ImportError:\n    used = None\n", "used", False),
        ("from localentropy.used import made_at_run_time\nx = made_at_run_time\n", "used", False),
    ],
)
def test_a_module_counts_whole_where_nothing_narrower_is_certain(
    write: Edit, entry: str, module: str, narrow: bool
) -> None:
    assert changes(write, entry, module, FILES[module].replace("return 4", "return 5")) is not narrow
    write(module, FILES[module])
    if "made" not in entry:
        assert changes(write, entry, module, FILES[module].replace("LIMIT = 3", "LIMIT = 5"))


def test_names_are_followed_through_modules_that_pass_them_on(write: Edit) -> None:
    write("between", "from localentropy.used import helper\nfrom localentropy.sub import deep\n")
    entry = "from localentropy.between import helper, deep\nx = helper() + deep.f()\n"
    assert changes(write, entry, "used", FILES["used"].replace("3", "4"))
    assert changes(write, entry, "sub.deep", FILES["sub.deep"].replace("return 1", "return 3"))
    assert not changes(write, entry, "used", FILES["used"].replace("3", "4").replace("return 4", "return 5"))


def test_what_runs_on_import_counts_also_in_packages_above(write: Edit) -> None:
    entry = "from localentropy.sub.deep import f\nx = f()\n"
    assert changes(write, entry, "sub.__init__", "print('imported')\n")
    assert not changes(write, entry, "sub.deep", FILES["sub.deep"].replace("return 2", "return 3"))
    assert not changes(write, entry, "sub.__init__", "print('imported')\nUNUSED = 1\n")


def test_relative_imports_are_followed(write: Edit) -> None:
    write("sub.near", "from .deep import f\nfrom ..used import helper\ny = f() + helper()\n")
    entry = "from localentropy.sub.near import y\nx = y\n"
    assert changes(write, entry, "sub.deep", FILES["sub.deep"].replace("return 1", "return 3"))
    assert changes(write, entry, "used", FILES["used"].replace("3", "4"))


def test_an_edit_after_the_first_look_is_noticed(write: Edit) -> None:
    write("entry", USES_HELPER)
    first = current()
    assert not closure.edited("localentropy.entry")
    write("used", FILES["used"].replace("3", "4"))
    assert closure.code_hash("localentropy.entry") == first
    assert closure.edited("localentropy.entry")


def test_a_script_counts_like_a_module(write: Edit, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(USES_HELPER)
    assert closure.code_closure(str(script))["localentropy.used"] == ["LIMIT", "helper"]
