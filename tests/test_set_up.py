"""`make setup` ends with a whole environment of the Python asked for, or with one line that says what is wrong.

A checkout of a toy project with one package stands for this one: it has the real Makefile and `make_environment.py`,
and pip finds its packages in a folder.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import make_environment
from tests import progress

pytestmark = pytest.mark.pipeline

ROOT = Path(__file__).resolve().parents[1]
BASE = Path(sys._base_executable)  # type: ignore[attr-defined]
BACKEND = """
import time
from pathlib import Path
from zipfile import ZipFile

def build_editable(folder, config_settings=None, metadata_directory=None):
    Path("begun").touch()
    while Path("wait").exists():
        time.sleep(0.1)
    info = "project-1.0.dist-info"
    with ZipFile(f"{folder}/project-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("project.py", "")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: project\\nVersion: 1.0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return "project-1.0-py3-none-any.whl"
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "project"
version = "1.0"
"""


def write_wheel(folder: Path, version: str) -> None:
    """A package `toy` with a folder in its folder and a program."""
    info = f"toy-{version}.dist-info"
    files = {
        "toy/__init__.py": f"version = {version!r}\n",
        "toy/deep/__init__.py": "",
        "toy/deep/end.py": "def main(): print('toy runs')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: toy\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ntoy = toy.deep.end:main\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"toy-{version}-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)


class Checkout:
    """The toy checkout, and the machine around it: a PATH with one Python, a home."""

    def __init__(self, folder: Path) -> None:
        self.machine = folder
        self.root = folder / "a checkout"
        self.venv = self.root / ".venv"
        for path in (self.root, folder / "bin", folder / "home", folder / "wheels"):
            path.mkdir()
        for name in ("Makefile", "make_environment.py"):
            shutil.copy(ROOT / name, self.root)
        (self.root / "backend.py").write_text(BACKEND)
        (self.root / "pyproject.toml").write_text(PROJECT)
        self.lock("toy==1.0")
        for version in ("1.0", "2.0"):
            write_wheel(folder / "wheels", version)
        self.write_program("python3.11", f'exec "{BASE}" "$@"')

    def lock(self, *requirements: str) -> None:
        (self.root / "requirements.lock").write_text("\n".join(["# toys", *requirements, ""]))

    def write_program(self, name: str, text: str) -> Path:
        path = self.machine / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    @property
    def variables(self) -> dict[str, str]:
        wheels = (self.machine / "wheels").as_uri()
        path = f"{self.machine / 'bin'}:/usr/bin:/bin"
        home = str(self.machine / "home")
        return {"PATH": path, "HOME": home, "XDG_CONFIG_DIRS": home, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels}

    def start(self, *words: str | Path, **variables: str) -> subprocess.Popen[str]:
        """`make setup` with these words and variables. One that is given empty is not set."""
        environment = {name: value for name, value in (self.variables | variables).items() if value}
        command = ["make", "--no-print-directory", "-C", str(self.root), "setup", *(str(word) for word in words)]
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def setup(self, *words: str | Path, **variables: str) -> str:
        """What `make setup` says when it must succeed."""
        with self.start(*words, **variables) as process:
            said, _ = progress.output(process)
        assert process.returncode == 0, said
        return said

    def refusal(self, *words: str | Path, **variables: str) -> str:
        """The one line that a failing `make setup` ends with, after its line on what it begins."""
        with self.start(*words, **variables) as process:
            said, _ = progress.output(process)
        assert process.returncode, said
        *before, error, of_make = said.splitlines()
        assert error.startswith("error: ") and of_make.startswith("make: ***"), said
        assert all(line.startswith((str(self.venv), "installing", "fetching")) for line in before), said
        return error

    def difference(self) -> str:
        """What is wrong with the finished environment; `--check` agrees on whether it is."""
        code = f"import sys; sys.path.append({str(self.root)!r}); import make_environment as m; print(m.difference())"
        done = subprocess.run([BASE, "-I", "-c", code], capture_output=True, text=True, check=True)
        check = subprocess.run([BASE, "-I", str(self.root / "make_environment.py"), "--check"], check=False)
        assert check.returncode == bool(done.stdout.strip())
        return done.stdout.strip()

    def version(self) -> str:
        """The Python of an environment that works: its package's program runs, the project can be imported."""
        assert subprocess.run([self.venv / "bin/toy"], capture_output=True, check=True).stdout == b"toy runs\n"
        code = "import project, sys; print('%d.%d' % sys.version_info[:2])"
        command = [str(self.venv / "bin/python"), "-I", "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    @property
    def packages(self) -> Path:
        return next(self.venv.glob("lib/python*/site-packages"))

    def mark(self) -> None:
        """A file that goes when the environment is made anew."""
        (self.venv / "mark").touch()

    def is_marked(self) -> bool:
        return (self.venv / "mark").exists()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout with a finished environment. Tests leave it so, with toy 1.0 in the lock."""
    checkout = Checkout(tmp_path_factory.mktemp("machine"))
    said = checkout.setup()
    assert said.splitlines()[0].startswith("installing 1 packages") and checkout.version() == this_version()
    return checkout


def this_version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def other_python(suits: Callable[[tuple[int, ...]], bool]) -> Path:
    """A Python of another version that suits, on the PATH or beside the one that runs."""
    named = [shutil.which(f"python3.{minor}") for minor in range(6, 20)]
    for path in [*filter(None, named), *map(str, sorted(BASE.resolve().parents[2].glob("*/bin/python3")))]:
        code = "import sys, ensurepip; print(sys.version_info[0], sys.version_info[1], sys.executable)"
        done = subprocess.run([path, "-I", "-c", code], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            major, minor, executable = done.stdout.strip().split(" ", 2)
            if minor != str(sys.version_info.minor) and suits((int(major), int(minor))):
                return Path(executable)
    pytest.skip("this machine has no other Python of such a version")


def test_the_readme_says_how_much_is_downloaded() -> None:
    assert make_environment.DOWNLOAD in " ".join((ROOT / "README.md").read_text().split())


def test_it_is_said_which_package_pip_is_at(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    site, log = checkout.machine / "site", checkout.machine / "setup.log"
    monkeypatch.setattr(make_environment, "LOG", str(log))
    monkeypatch.setattr(make_environment, "ROOT", str(checkout.root))
    monkeypatch.setattr(make_environment, "site_packages", lambda: str(site))
    checkout.lock("one==1", "two-parts==2", "three==3")
    log.write_text("WARNING: Location 'x' is ignored\n")
    assert make_environment.progress() == ("", 0, "")
    log.write_text(
        "Collecting one==1 (from -r requirements.lock (line 2))\n  Downloading one\nProcessing /x/two_parts.whl\n"
    )
    assert make_environment.progress() == ("fetching", 2, "fetching 2 of 3: two_parts.whl")
    with log.open("a") as file:
        file.write("Installing collected packages: one, Two.Parts, three\n")
    (site / "one-1.dist-info").mkdir(parents=True)
    assert make_environment.progress() == ("installing", 1, "installing 2 of 3: Two.Parts")
    (site / "two_parts-2.dist-info").mkdir()
    assert make_environment.progress() == ("installing", 2, "installing 3 of 3: three")
    (site / "three-3.dist-info").mkdir()
    assert make_environment.progress() == ("", 0, "")


@pytest.mark.parametrize("python", ["/nowhere/python3.11", "{machine}/home", "true", "echo", "{machine}/old"])
def test_a_python_that_cannot_be_is_refused_before_anything_is_made(checkout: Checkout, python: str) -> None:
    checkout.write_program("../old", "echo 3.9")
    named = python.format(machine=checkout.machine)
    error = checkout.refusal(f"PYTHON={named}")
    assert f"PYTHON={named} is not a Python from 3.11 to 3.13" in error
    assert ("it says 3.9" in error) == (python == "{machine}/old")
    assert not checkout.venv.exists()


def test_an_old_python_is_refused_and_the_environment_stays(finished: Checkout) -> None:
    old = other_python(lambda version: version < (3, 11))
    assert f"PYTHON={old} is not a Python from 3.11 to 3.13" in finished.refusal(f"PYTHON={old}")
    assert finished.difference() == ""


def test_without_any_python_one_line_says_so(checkout: Checkout) -> None:
    tools = checkout.machine / "tools"
    tools.mkdir()
    for name in ("make", "sh"):
        (tools / name).symlink_to(str(shutil.which(name)))
    assert "there is no Python from 3.11 to 3.13; say where" in checkout.refusal(PATH=str(tools))


def file(checkout: Checkout) -> None:
    checkout.venv.write_text("3.11.7")


def dangling_link(checkout: Checkout) -> None:
    checkout.venv.symlink_to("gone")


def conda(checkout: Checkout) -> None:
    (checkout.venv / "conda-meta").mkdir(parents=True)


def environment_of_the_user(checkout: Checkout) -> None:
    subprocess.run([BASE, "-I", "-m", "venv", "--without-pip", checkout.venv], check=True)


@pytest.mark.parametrize("thing", [file, dangling_link, conda, environment_of_the_user])
def test_what_make_did_not_make_is_refused_and_stays(checkout: Checkout, thing: Callable[[Checkout], None]) -> None:
    thing(checkout)
    names = sorted(checkout.venv.rglob("*"))
    assert str(checkout.venv) in checkout.refusal()
    assert os.path.lexists(checkout.venv) and sorted(checkout.venv.rglob("*")) == names


def test_a_link_to_a_folder_elsewhere_stays_a_link(checkout: Checkout) -> None:
    (checkout.machine / "scratch").mkdir()
    checkout.venv.symlink_to(checkout.machine / "scratch")
    checkout.setup()
    checkout.lock("toy==2.0")
    assert f"{checkout.venv} is made anew: requirements.lock has changed" in checkout.setup()
    assert checkout.version() and checkout.venv.is_symlink() and checkout.setup() == ""


def test_a_finished_environment_is_left_alone(finished: Checkout) -> None:
    finished.mark()
    assert finished.setup() == ""
    assert finished.setup(f"PYTHON={BASE}") == ""
    assert finished.setup(f"PYTHON={finished.venv / 'bin/python'}") == ""
    (finished.packages / "more.py").touch()  # a package that the user adds
    assert finished.setup() == "" and finished.is_marked()


@pytest.mark.parametrize(
    ("name", "lacks"),
    [
        ("toy/deep/end.py", "toy/deep/end.py"),
        ("toy", "toy"),
        ("toy-1.0.dist-info", "toy-1.0.dist-info"),
        ("project-1.0.dist-info", "project-1.0.dist-info"),
        ("../../../bin/toy", "bin/toy"),
        ("../../../bin/python", "bin/python"),
        ("../../../pyvenv.cfg", "pyvenv.cfg"),
    ],
)
def test_what_is_gone_is_noticed(finished: Checkout, name: str, lacks: str) -> None:
    path = finished.packages / name
    aside = path.with_name(f"{path.name}~")
    path.rename(aside)
    try:
        assert re.fullmatch(
            rf"it lacks (lib/python[\d.]+/site-packages/)?{lacks}(/__init__.py)?", finished.difference()
        )
    finally:
        aside.rename(path)
    assert finished.setup() == "" and finished.difference() == ""


@pytest.mark.parametrize("text", ["", "{}", "Python 3.11", "\n\nx y"])
def test_a_damaged_record_is_none(finished: Checkout, text: str) -> None:
    record = finished.venv / ".installed-from-lock"
    whole = record.read_bytes()
    record.write_text(text)
    assert finished.difference()
    record.write_bytes(whole)


def test_compiled_files_may_go(finished: Checkout) -> None:
    for path in finished.packages.rglob("__pycache__"):
        shutil.rmtree(path)
    assert finished.setup() == "" and finished.difference() == ""


@pytest.fixture(params=["packages", "python"])
def damaged(finished: Checkout, request: pytest.FixtureRequest) -> Iterator[tuple[Checkout, str]]:
    """A damaged environment, and what is said of it."""
    finished.mark()
    if request.param == "packages":
        shutil.rmtree(finished.packages)
        yield finished, "it lacks lib/"
    else:
        for path in finished.venv.glob("bin/python*"):
            path.unlink()
            path.symlink_to("/nowhere/python3")
        yield finished, "it lacks bin/python"


def test_a_damaged_environment_heals(damaged: tuple[Checkout, str]) -> None:
    checkout, words = damaged
    assert f"{checkout.venv} is made anew: {words}" in checkout.setup()
    assert checkout.version() == this_version() and not checkout.is_marked() and checkout.setup() == ""


def test_a_moved_checkout_gets_its_own_environment(finished: Checkout) -> None:
    finished.root.rename(finished.machine / "elsewhere")
    finished.root, here = finished.machine / "elsewhere", finished.root
    finished.venv = finished.root / ".venv"
    assert f"its place was {here}/.venv, not {finished.venv}" in finished.setup()
    assert finished.version() and str(here) not in (finished.venv / "bin/toy").read_text()


def test_a_changed_project_is_installed_again_and_its_packages_are_not(finished: Checkout) -> None:
    finished.mark()
    (finished.root / "begun").unlink()
    (finished.root / "pyproject.toml").write_text(f"{PROJECT}description = 'new'\n")
    assert "anew" not in finished.setup()
    assert (finished.root / "begun").exists() and finished.is_marked() and finished.setup() == ""


def test_a_set_up_that_fails_leaves_the_environment_of_before(finished: Checkout) -> None:
    finished.mark()
    finished.lock("toy==1.0", "nothing-of-this-name==7.0")
    error = finished.refusal()
    assert "No matching distribution found for nothing-of-this-name==7.0" in error and "of before is back" in error
    assert "nothing-of-this-name" in (finished.venv / "setup.log").read_text()
    finished.lock("toy==1.0")
    assert finished.setup() == "" and finished.is_marked() and finished.version()


def test_a_first_set_up_that_fails_leaves_nothing(checkout: Checkout) -> None:
    checkout.lock("nothing-of-this-name==7.0")
    assert "No matching distribution" in checkout.refusal()
    assert sorted(path.name for path in checkout.venv.iterdir()) == [".lock", "setup.log"]


def test_another_python_is_taken_when_asked_for_and_kept_when_not(checkout: Checkout) -> None:
    other = other_python(lambda version: (3, 11) <= version <= (3, 13))
    checkout.setup()
    assert f"not {other.parent.name}" not in checkout.setup(f"PYTHON={other}")
    version = checkout.version()
    assert version != this_version()
    checkout.mark()
    assert checkout.setup() == "" and checkout.is_marked() and checkout.version() == version


INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def begun(checkout: Checkout, action: signal.Handlers) -> Iterator[subprocess.Popen[str]]:
    """A set-up that pip is in the middle of, until the file `wait` is gone. It is started with an action at interrupts.

    A shell starts commands in the background with an interrupt ignored, `nohup` with a hang-up ignored.
    """
    (checkout.root / "wait").touch()
    command = [str(BASE), "-I", str(checkout.root / "make_environment.py")]
    own = {number: signal.signal(number, action) for number in INTERRUPTS}
    process = subprocess.Popen(command, env=checkout.variables, stderr=subprocess.PIPE, text=True)
    for number, handler in own.items():
        signal.signal(number, handler)
    with process:
        progress.until((checkout.root / "begun").exists, process)
        yield process
        (checkout.root / "wait").unlink(missing_ok=True)


@pytest.fixture
def half_made(checkout: Checkout) -> Iterator[subprocess.Popen[str]]:
    with begun(checkout, signal.SIG_DFL) as process:
        yield process


@pytest.mark.parametrize("number", INTERRUPTS)
def test_an_interrupted_set_up_leaves_nothing(
    checkout: Checkout, half_made: subprocess.Popen[str], number: signal.Signals
) -> None:
    half_made.send_signal(number)
    *_, error = progress.output(half_made)[1].splitlines()
    assert error == "error: the set-up was interrupted; `make setup` begins it again"
    assert sorted(path.name for path in checkout.venv.iterdir()) == [".lock", "setup.log"]


def test_signals_that_are_ignored_do_not_interrupt_a_set_up(checkout: Checkout) -> None:
    with begun(checkout, signal.SIG_IGN) as process:
        for number in INTERRUPTS:
            process.send_signal(number)
        (checkout.root / "wait").unlink()
        progress.output(process)
    assert process.returncode == 0 and checkout.version() == this_version()


def test_an_interrupt_inside_a_wait_for_pip_does_not_hang(checkout: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """One between the call that takes the lock of `Popen.wait` and the block that gives it back: one in a thousand."""

    def interrupted(process: subprocess.Popen[bytes]) -> None:
        process._waitpid_lock.acquire()  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    monkeypatch.setattr(make_environment, "LOG", str(checkout.machine / "setup.log"))
    monkeypatch.setattr(make_environment, "show_progress", interrupted)
    with (checkout.machine / "lock").open("wb") as lock, pytest.raises(KeyboardInterrupt):
        make_environment.run(["sleep", "infinity"], dict(os.environ), lock.fileno())


def test_a_killed_set_up_is_begun_again(checkout: Checkout, half_made: subprocess.Popen[str]) -> None:
    half_made.kill()
    following = checkout.start()
    assert following.stdout is not None
    assert "is being made by another process" in following.stdout.readline()  # its pip goes on
    (checkout.root / "wait").unlink()
    assert "is made anew: it is not finished" in progress.output(following)[0]
    assert checkout.version() == this_version() and checkout.setup() == ""


def test_a_killed_change_leaves_the_environment_of_before(finished: Checkout) -> None:
    finished.mark()
    (finished.root / "begun").unlink()
    wait = finished.root / "wait"
    wait.touch()
    finished.lock("toy==2.0")
    command = [str(BASE), "-I", str(finished.root / "make_environment.py")]
    process = subprocess.Popen(command, env=finished.variables, stderr=subprocess.PIPE, text=True)
    progress.until((finished.root / "begun").exists, process)
    assert not finished.is_marked()
    process.kill()
    wait.unlink()
    finished.lock("toy==1.0")
    assert "anew" not in finished.setup()
    assert finished.is_marked() and finished.version() and finished.setup() == ""
    progress.ended(process)


def test_two_at_once_make_one(checkout: Checkout) -> None:
    both = [checkout.start(), checkout.start()]
    said = [progress.output(process)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum("is ready" in text for text in said) == 1 and checkout.version()


def test_settings_that_lead_elsewhere_do_not_hold_and_those_of_the_index_do(checkout: Checkout) -> None:
    elsewhere = str(checkout.machine / "elsewhere")
    lines = ["[global]", "require-virtualenv = true", f"find-links = {checkout.variables['PIP_FIND_LINKS']}"]
    lines += ["[install]", "user = true", f"target = {elsewhere}", "no-deps = true", "dry-run = true"]
    (checkout.machine / "home/.config/pip").mkdir(parents=True)
    (checkout.machine / "home/.config/pip/pip.conf").write_text("\n".join(lines))
    (checkout.machine / "cache").touch()
    checkout.setup(
        PIP_CACHE_DIR=str(checkout.machine / "cache"),  # where pip cannot write
        PIP_FIND_LINKS="",
        PIP_USER="1",
        PIP_PREFIX=elsewhere,
        PIP_ROOT=elsewhere,
        PIP_LOG=elsewhere,
        PYTHONHOME=elsewhere,
        PYTHONPATH=elsewhere,
        PYTHONUSERBASE=elsewhere,
        PYTHONNOUSERSITE="1",
        VIRTUAL_ENV=elsewhere,
    )
    assert checkout.version() == this_version() and not Path(elsewhere).exists()


def test_settings_of_pip_that_are_no_settings_are_one_line(checkout: Checkout) -> None:
    (checkout.machine / "pip.conf").write_text("no section")
    assert "pip.conf" in checkout.refusal(PIP_CONFIG_FILE=str(checkout.machine / "pip.conf"))


def test_a_full_disk_is_one_line(checkout: Checkout) -> None:
    """A limit on the size of files stands for it: writing fails in the same calls."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        error = checkout.refusal()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "setup.log" in error
    checkout.setup()
    assert checkout.version() == this_version()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_one_line(checkout: Checkout) -> None:
    checkout.venv.mkdir(mode=0o500)
    assert f"{checkout.venv}/.lock: Permission denied" in checkout.refusal()
