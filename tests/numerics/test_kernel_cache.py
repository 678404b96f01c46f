"""The disk cache of kernels: whatever happens to it, results are right, and no bit depends on what is in it."""

import errno
import importlib
import os
import pickle
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import localentropy
from localentropy.numerics import kernel_cache
from localentropy.numerics.compiled import kernel
from localentropy.numerics.kernel_cache import KernelCache, cache_folder
from localentropy.solvers.binary import message_kernels

PACKAGE = Path(localentropy.__file__).parent
COPIED = (
    *("__init__.py", "atomic.py", "numerics/__init__.py"),
    *(f"numerics/{name}.py" for name in ("compiled", "kernel_cache", "kernel_code", "waiting")),
)

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
IMPORT = "from localentropy.caller import twice; "
CALL = "print(twice(), sum(twice.stats.cache_hits.values()))"


def small_package(folder: Path) -> Path:
    """A package of one kernel, and of the modules that make it one."""
    package = folder / "localentropy"
    for name in COPIED:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_bytes((PACKAGE / name).read_bytes())
    (package / "flags.py").write_text("FLAGS = {'nsz'}")
    (package / "caller.py").write_text(CALLER)
    (package / "callee.py").write_text(CALLEE.format(value=3))
    return package


def start(folder: Path, cache: Path, program: str = IMPORT + CALL) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-B", "-c", program]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str]) -> str:
    printed = process.communicate()[0]
    assert process.returncode == 0
    return printed.strip()


def test_an_edited_callee_in_another_file_is_compiled_anew(tmp_path):
    package = small_package(tmp_path)
    assert output(start(tmp_path, tmp_path / "cache")) == "6 0"
    assert output(start(tmp_path, tmp_path / "cache")) == "6 1"
    (package / "callee.py").write_text(CALLEE.format(value=5))
    assert output(start(tmp_path, tmp_path / "cache")) == "10 0"
    assert output(start(tmp_path, tmp_path / "cache")) == "10 1"
    (package / "flags.py").write_text("FLAGS = {'contract'}")
    assert output(start(tmp_path, tmp_path / "cache")) == "10 0"


def test_an_edit_between_import_and_call_is_no_part_of_what_is_kept(tmp_path):
    package = small_package(tmp_path)
    edit = f"open({str(package / 'callee.py')!r}, 'w').write({CALLEE.format(value=5)!r}); "
    assert output(start(tmp_path, tmp_path / "cache", IMPORT + edit + CALL)) == "6 0"
    assert output(start(tmp_path, tmp_path / "cache")) == "10 0"


def test_checkouts_with_the_same_code_share_kernels(tmp_path):
    for name in ("first", "second"):
        package = small_package(tmp_path / name)
    os.utime(package / "caller.py", (1, 1))
    assert output(start(tmp_path / "first", tmp_path / "cache")) == "6 0"
    assert output(start(tmp_path / "second", tmp_path / "cache")) == "6 1"


def test_processes_that_compile_at_the_same_time(tmp_path):
    small_package(tmp_path)
    together = [start(tmp_path, tmp_path / "cache") for _ in range(3)]
    assert {output(process)[0] for process in together} == {"6"}
    assert output(start(tmp_path, tmp_path / "cache")) == "6 1"
    assert len(list((tmp_path / "cache").rglob("*.*"))) == 1


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


def called(function, *arguments):
    """The result, and whether it was computed by what the disk has: a kernel like one of a new process."""
    compiled = kernel(function)
    result = compiled(*arguments)
    return result, sum(compiled.stats.cache_hits.values()) == 1


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return cache_folder()


def only_file(cache: Path, name: str) -> Path:
    (file,) = cache.glob(f"*.{name}-*")
    return file


def cut(size):
    def damage(file, other):
        os.truncate(file, size)

    return damage


def flip(position):
    def damage(file, other):
        content = bytearray(file.read_bytes())
        content[position] ^= 1
        file.write_bytes(content)

    return damage


def garbage(file, other):
    file.write_bytes(np.random.default_rng(0).bytes(file.stat().st_size))


def swap(file, other):
    file.write_bytes(other.read_bytes())


def pickle_without_checksum(file, other):
    file.write_bytes(pickle.dumps([]))


def folder(file, other):
    file.unlink()
    (file / "inside").mkdir(parents=True)


def pipe(file, other):
    file.unlink()
    os.mkfifo(file)


def loop(file, other):
    file.unlink()
    file.symlink_to(file)


def unreadable(file, other):
    file.chmod(0)


HEALED = [
    cut(0),
    cut(10),
    cut(32),
    cut(1000),
    cut(2**40),
    flip(0),
    flip(40),
    flip(-1),
    garbage,
    swap,
    pickle_without_checksum,
]


@pytest.mark.parametrize("damage", [*HEALED, pipe, loop])
def test_a_damaged_file_is_compiled_again_and_replaced(cache, damage):
    assert called(double, 2.5) == (5.0, False)
    assert called(triple, 2.5) == (7.5, False)
    assert called(double, 2.5) == (5.0, True)
    damage(only_file(cache, "double"), only_file(cache, "triple"))
    assert called(double, 2.5) == (5.0, False)
    assert called(double, 2.5) == (5.0, True)
    assert len(list(cache.iterdir())) == 2


@pytest.mark.parametrize("damage", [folder, unreadable])
def test_a_file_that_cannot_be_read(cache, damage):
    """Root reads it nevertheless."""
    called(double, 2.5)
    damage(only_file(cache, "double"), None)
    assert called(double, 2.5)[0] == 5.0


def test_damage_of_a_real_kernel(cache):
    patterns = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (9, 11))
    arguments = patterns, 1.0, np.ones(11, np.int8)
    expected = np.sum(patterns.sum(1) < 1.0)
    real = message_kernels.count_errors.py_func
    called(triple, 2.5)
    assert called(real, *arguments) == (expected, False)
    for damage in cut(0), garbage, swap:
        damage(only_file(cache, "count_errors"), only_file(cache, "triple"))
        assert called(real, *arguments) == (expected, False)
    assert called(real, *arguments) == (expected, True)


@pytest.mark.parametrize(
    "place", ["/dev/null", "/proc/none", "/dev/null/below", "x" * 300, "\udcff", "file", "{}", "a b"]
)
def test_a_cache_at_any_place(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", place)
    assert called(double, 2.5)[0] == called(double, 2.5)[0] == 5.0


@pytest.mark.parametrize("home", ["/dev/null", "/proc/none", ""])
def test_no_home(monkeypatch, home):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", home)
    monkeypatch.setattr(kernel_cache, "PACKAGE", "/proc/none")
    assert called(double, 2.5) == (5.0, False)


def test_a_user_without_home(monkeypatch):
    def unknown():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    assert called(double, 2.5) == (5.0, False)


def test_a_folder_that_can_only_be_read(cache, monkeypatch):
    called(double, 2.5)
    before = only_file(cache, "double").read_bytes()

    def refused(file, *arguments):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(kernel_cache, "_write", refused)
    assert called(double, 2.5) == (5.0, True)
    assert called(triple, 2.5) == (7.5, False)
    assert only_file(cache, "double").read_bytes() == before


def test_a_disk_without_space(cache):
    """The limit ends the writing of the file in its midst, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        result = called(double, 2.5)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert result == (5.0, False)
    assert list(cache.iterdir()) == []


def test_a_folder_that_is_deleted_while_a_process_runs(cache):
    compiled = kernel(double)
    assert compiled(2.5) == 5.0
    shutil.rmtree(cache)
    assert compiled(2) == 4
    assert len(list(cache.iterdir())) == 1


def test_signatures_have_files_of_their_own(cache):
    assert called(double, 2.5) == (5.0, False)
    assert called(double, 2) == (4, False)
    assert called(double, 2.5) == (5.0, True)
    assert called(double, 2) == (4, True)


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [(numba, "__version__", "0.0"), (np, "__version__", "0.0"), (sys, "version", "x"), (numba.config, "OPT", 1)],
)
def test_kernels_of_other_versions_and_settings(cache, monkeypatch, owner, name, value):
    with monkeypatch.context() as other:
        other.setattr(owner, name, value)
        assert called(double, 2.5) == (5.0, False)
    foreign = only_file(cache, "double")
    assert called(double, 2.5) == (5.0, False)
    (own,) = set(cache.iterdir()) - {foreign}
    foreign.replace(own)
    assert called(double, 2.5) == (5.0, False)


def dispatchers(module):
    """The compiled functions that a module can reach under a name: name → function."""
    return {name: value for name, value in vars(module).items() if hasattr(value, "py_func")}


def is_on_disk(function) -> bool:
    return isinstance(function._cache, KernelCache)


def modules_of_kernels():
    for file in PACKAGE.rglob("*.py"):
        if "numerics.compiled import" in file.read_text():
            yield importlib.import_module(".".join(("localentropy", *file.relative_to(PACKAGE).with_suffix("").parts)))


def test_kernels_call_subroutines_only():
    found = 0
    for module in modules_of_kernels():
        reached = dispatchers(module)
        for name, function in reached.items():
            if is_on_disk(function):
                found += 1
                called = {other for other in function.py_func.__code__.co_names if other in reached}
                assert not [other for other in called if is_on_disk(reached[other])], name
    assert found > 20


def test_every_kernel_can_be_kept():
    """One that uses a global without a text would be compiled by every process."""
    kernels = [function for module in modules_of_kernels() for function in dispatchers(module).values()]
    texts = {function._cache._code for function in kernels if is_on_disk(function)}
    assert len(texts) > 20


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
        return output(start(PACKAGE.parent, tmp_path, FOCUS))

    compiled_now = focus()
    from_disk = focus()
    for file in tmp_path.rglob("*update_messages*"):
        file.unlink()
    some_of_each = focus()
    for file in tmp_path.rglob("*.kernel"):
        os.truncate(file, 0)
    emptied = focus()
    assert compiled_now == from_disk == some_of_each == emptied
