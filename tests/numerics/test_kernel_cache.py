"""The disk cache of compiled kernels: edited sources are noticed, and no bit of a result depends on what is in it."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import localentropy

PACKAGE = Path(localentropy.__file__).parent

CALLEE = """
from localentropy.numerics.compiled import subroutine

@subroutine
def value():
    return {value}
"""
CALLER = """
from localentropy.numerics.compiled import kernel
from localentropy.callee import value
from localentropy.flags import FLAGS

@kernel(fastmath=FLAGS)
def twice():
    return 2 * value()
"""
RUN = "from localentropy.caller import twice; print(twice(), sum(twice.stats.cache_hits.values()))"


def run(folder: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_an_edited_callee_in_another_file_is_compiled_anew(tmp_path):
    package = tmp_path / "localentropy"
    for name in ("__init__.py", "closure.py", "numerics/__init__.py", "numerics/compiled.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_bytes((PACKAGE / name).read_bytes())
    (package / "flags.py").write_text("FLAGS = {'nsz'}")
    (package / "caller.py").write_text(CALLER)
    (package / "callee.py").write_text(CALLEE.format(value=3))
    assert run(tmp_path) == "6 0"
    assert run(tmp_path) == "6 1"
    (package / "callee.py").write_text(CALLEE.format(value=5))
    assert run(tmp_path) == "10 0"
    assert run(tmp_path) == "10 1"
    (package / "flags.py").write_text("FLAGS = {'contract'}")
    assert run(tmp_path) == "10 0"
    assert not list(package.rglob("*.nbi"))


def dispatchers(module):
    """The compiled functions that a module can reach under a name: name → function."""
    return {name: value for name, value in vars(module).items() if hasattr(value, "py_func")}


def is_on_disk(function) -> bool:
    return type(function._cache).__name__ != "NullCache"


def test_kernels_call_subroutines_only():
    found = 0
    for file in PACKAGE.rglob("*_kernels.py"):
        module = importlib.import_module(".".join(("localentropy", *file.relative_to(PACKAGE).with_suffix("").parts)))
        reached = dispatchers(module)
        for name, function in reached.items():
            if is_on_disk(function):
                found += 1
                called = {other for other in function.py_func.__code__.co_names if other in reached}
                assert not [other for other in called if is_on_disk(reached[other])], name
    assert found > 10


FOCUS = """
import hashlib
from localentropy.instances import hidden_manifold
from localentropy.solvers import focusing_bp

# Unsolvable, so the messages wander, and one rounding more or less changes all that follows.
instance = hidden_manifold(D=33, P=99, N=89, seed=3, activation="sign")
print(hashlib.sha256(focusing_bp(instance, seed=1).magnetizations.tobytes()).hexdigest())
"""


def test_bits_do_not_depend_on_which_kernels_come_from_the_disk(tmp_path):
    """Killed runs leave any of these states behind."""

    def focus() -> str:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", FOCUS], env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    compiled_now = focus()
    from_disk = focus()
    for file in tmp_path.rglob("*update_messages*"):
        file.unlink()
    some_of_each = focus()
    assert compiled_now == from_disk == some_of_each
