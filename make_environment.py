"""Maker of `.venv`, the environment of this checkout for the Python that runs this file.

If the environment is whole and right, this file leaves it. Otherwise it makes it anew. `make setup` runs this file, and
so does each other target of `make` first. With `--check` the exit status says whether `.venv` is right, and nothing is
made. `make` asks this before everything else. So `--check` imports nothing that Python has not loaded at its start: the
import of `json` or `pathlib` takes longer than the check.

A finished environment holds a record: the Python, the place and the packages that it was made for, and the folders of
these packages. The record is written last, so an environment whose set-up was interrupted has none.
"""

from __future__ import annotations

import os
import sys
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen

ROOT = os.path.dirname(os.path.realpath(__file__))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
RECORD = os.path.join(VENV, ".installed-from-lock")
LOCK = os.path.join(VENV, ".lock")
LOG = os.path.join(VENV, "setup.log")
BEFORE = os.path.join(VENV, ".before")
"""The place of the finished old environment while a new one is made. If that fails, the old one is put back."""
KEPT = {os.path.basename(path) for path in (LOCK, LOG, BEFORE)}

PACKAGES = "requirements.lock"
PROJECT = "pyproject.toml"
DOWNLOAD = "about 470 MB with a CPU build of PyTorch"
PIP_SETTINGS = {
    *("index-url", "pypi-url", "extra-index-url", "find-links", "no-index", "trusted-host", "cert", "client-cert"),
    *("proxy", "timeout", "default-timeout", "retries", "keyring-provider", "cache-dir", "no-cache-dir"),
    *("constraint", "no-binary", "only-binary", "use-feature", "use-deprecated"),
}
"""The user's settings of pip that are used: they say how packages are reached. Others would put packages elsewhere."""


class SetupError(Exception):
    """What keeps the environment from being made, in words for the user."""


def main(arguments: list[str]) -> int:
    """The exit status of `make_environment.py [--check]`."""
    if arguments:
        return int(not is_current())
    import signal

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, signal.default_int_handler)
    try:
        make_current()
    except KeyboardInterrupt:
        tell("error: the set-up was interrupted; `make setup` begins it again")
        return 130
    except SetupError as error:
        tell(f"error: {error}")
        return 1
    except OSError as error:
        tell(f"error: {error.filename or VENV}: {error.strerror}; make must be able to write there")
        return 1
    return 0


def tell(text: str) -> None:
    """Print one line for the user."""
    print(" ".join(text.split()), file=sys.stderr, flush=True)


# What the environment is, and what it must be.


def asked() -> dict[str, str]:
    """The facts that the environment must have. Packages outlive a new release of the same minor version of Python."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}{sys.abiflags}"
    return {
        "Python": f"{version} at {os.path.realpath(base_python())}",
        "place": " at ".join(dict.fromkeys((VENV, os.path.realpath(VENV)))),
        PACKAGES: checksum(PACKAGES),
        PROJECT: checksum(PROJECT),
    }


def base_python() -> str:
    """The Python behind the running one, which may be that of an environment."""
    return sys._base_executable  # type: ignore[attr-defined,no-any-return]


def checksum(name: str) -> str:
    """The checksum of a file of the checkout."""
    with open(os.path.join(ROOT, name), "rb") as file:
        return str(zlib.crc32(file.read()))


def recorded() -> tuple[dict[str, str], dict[str, int]]:
    """The facts of the environment and its folders with their times in ns: both empty if it is not finished."""
    try:
        with open(RECORD, encoding="utf-8", errors="surrogateescape") as file:
            facts, _, folders = file.read().partition("\n\n")
        times = [line.split(" ", 1) for line in folders.splitlines()]
        return dict(line.split(" ", 1) for line in facts.splitlines()), {name: int(time) for time, name in times}
    except (OSError, ValueError):
        return {}, {}


def is_current() -> bool:
    """Whether the environment is the one asked for, and none of its folders changed since the record."""
    facts, folders = recorded()
    try:
        return facts == asked() and all(os.stat(inside(name)).st_mtime_ns == time for name, time in folders.items())
    except OSError:
        return False


def inside(name: str) -> str:
    """The path of a name in the environment."""
    return f"{VENV}/{name}"


def difference() -> str:
    """The difference from the environment asked for, in words; empty if at most the project's metadata differ."""
    facts, folders = recorded()
    if not facts:
        return "it is not finished"
    for name, value in asked().items():
        if name != PROJECT and facts.get(name) != value:
            return f"{name} has changed" if name == PACKAGES else f"its {name} was {facts.get(name)}, not {value}"
    missing = next(missing_files(folders), "")
    return missing and f"it lacks {missing}"


def missing_files(folders: dict[str, int]) -> Iterator[str]:
    """Missing files: the Python, folders, and files that the packages' own lists name, except compiled ones."""
    import csv

    if not os.access(PYTHON, os.X_OK):
        yield "bin/python"
    for folder in folders:
        if not os.path.exists(inside(folder)):
            yield folder
        elif os.path.exists(inside(f"{folder}/RECORD")):
            with open(inside(f"{folder}/RECORD"), newline="", encoding="utf-8") as file:
                names = [os.path.normpath(os.path.join(folder, "..", row[0])) for row in csv.reader(file) if row]
            yield from (name for name in names if "__pycache__" not in name and not os.path.lexists(inside(name)))


def write_record() -> None:
    """Write the record of the environment. With it the environment is finished."""
    lines = [f"{name} {value}" for name, value in asked().items()] + [""]
    lines += [f"{os.stat(inside(name)).st_mtime_ns} {name}" for name in package_folders()]
    with open(f"{RECORD}.part", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("\n".join(lines))
    os.replace(f"{RECORD}.part", RECORD)


def package_folders() -> Iterator[str]:
    """The folders that hold programs and packages, below `.venv`. Those of pip, which may change, are left out."""
    yield from ("bin", "pyvenv.cfg")
    for path, names, _ in os.walk(site_packages()):
        names[:] = [name for name in names if name != "__pycache__" and name.partition("-")[0] != "pip"]
        yield os.path.relpath(path, VENV)


def site_packages() -> str:
    """The folder of the environment's packages."""
    return inside(f"lib/python{sys.version_info.major}.{sys.version_info.minor}{sys.abiflags}/site-packages")


# How it is made.


def make_current() -> None:
    """Make the environment the one asked for, alone of all processes."""
    refuse_what_is_not_ours()
    os.makedirs(VENV, exist_ok=True)
    with open(LOCK, "w") as lock:
        wait_for(lock.fileno())
        recover()
        reason = difference()
        if reason:
            make_anew(reason, lock.fileno())
        elif recorded()[0] != asked():
            install_project(pip_variables(), lock.fileno())
        write_record()
        recover()


def refuse_what_is_not_ours() -> None:
    """Refuse to replace what `make` has not made: somebody may need it.

    Raises:
        SetupError: something else than an environment of `make` lies in its place.
    """
    if os.path.islink(VENV) and not os.path.exists(VENV):
        raise SetupError(
            f"{VENV} is a link to {os.readlink(VENV)}, which is gone; make that folder, or remove the link"
        )
    if os.path.lexists(VENV) and not os.path.isdir(VENV):
        raise SetupError(f"{VENV} is a file; make keeps its environment there: move the file away")
    if os.path.isdir(VENV) and os.listdir(VENV) and not (os.path.exists(LOCK) or os.path.exists(RECORD)):
        raise SetupError(f"{VENV} was not made by make, which keeps its environment there: remove it, or move it away")


def wait_for(lock: int) -> None:
    """Take the lock. Processes that it is passed on to hold it too. A file system without locks has none."""
    import fcntl

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        tell(f"{VENV} is being made by another process; waiting for its end ...")
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        pass


def recover() -> None:
    """Leave one environment: remove the old one if the new one is finished, and put the old one back if not."""
    import shutil

    if os.path.isdir(BEFORE) and recorded()[0]:
        shutil.rmtree(BEFORE)
    elif os.path.isdir(BEFORE):
        put_back()


def make_anew(reason: str, lock: int) -> None:
    """Make the whole environment. If this fails, a finished old one is put back; if there is none, nothing is left.

    Raises:
        SetupError: Python or pip cannot make it.
    """
    import importlib.util

    if importlib.util.find_spec("ensurepip") is None:
        raise SetupError(f"{base_python()} lacks its module ensurepip: install it (Debian: apt install python3-venv)")
    if contents():
        tell(f"{VENV} is made anew: {reason}")
    if recorded()[0]:
        put_aside()
    try:
        clear()
        install(lock)
    except BaseException as error:
        clear()
        recover()
        if isinstance(error, SetupError) and recorded()[0]:
            raise SetupError(f"{error}; the environment of before is back: `make` without PYTHON keeps it") from None
        raise


def contents() -> list[str]:
    """The names of what belongs to the environment; the record is the first."""
    return sorted(set(os.listdir(VENV)) - KEPT, key=lambda name: inside(name) != RECORD)


def clear() -> None:
    """Remove the environment. Its folder stays: it may be a link, or a file system of its own."""
    import shutil

    for name in contents():
        path = inside(name)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.remove(path)


def put_aside() -> None:
    """Move the environment to the place for an old one, the record first."""
    os.mkdir(BEFORE)
    for name in contents():
        os.rename(inside(name), os.path.join(BEFORE, name))


def put_back() -> None:
    """Move the old environment back, the record last."""
    clear()
    for name in sorted(os.listdir(BEFORE), key=lambda name: inside(name) == RECORD):
        os.rename(os.path.join(BEFORE, name), inside(name))
    os.rmdir(BEFORE)


def install(lock: int) -> None:
    """Make an environment without packages, and install the lock's packages and the project."""
    count = len(locked())
    tell(f"installing {count} packages into {VENV} with Python {asked()['Python']}: {DOWNLOAD} ...")
    run([base_python(), "-I", "-m", "venv", os.path.realpath(VENV)], clean(), lock)  # it takes no link
    variables = pip_variables()
    run(pip("install", "--requirement", PACKAGES), variables, lock)
    install_project(variables, lock)
    isolate("snakemake")
    tell(f"{VENV} is ready")


def locked() -> list[str]:
    """The requirements of the lock."""
    with open(os.path.join(ROOT, PACKAGES), encoding="utf-8") as file:
        return [line for line in file if line.strip() and not line.startswith("#")]


def install_project(variables: dict[str, str], lock: int) -> None:
    """Install the checkout itself: its programs run the code that lies here."""
    run(pip("install", "--no-deps", "--no-build-isolation", "--editable", "."), variables, lock)


def isolate(program: str) -> None:
    """Let a program ignore the variables and packages of other Pythons, as all that make starts does.

    Its first line names its Python. In a long path the second one does.
    """
    import re

    path = inside(f"bin/{program}")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        lines[:2] = [re.sub(r'(/bin/python[\d.]*"?)(?! -I)', r"\1 -I", line, count=1) for line in lines[:2]]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)


def pip(*arguments: str) -> list[str]:
    """A command of the environment's pip, which asks nothing."""
    return [PYTHON, "-I", "-m", "pip", "--no-input", "--disable-pip-version-check", *arguments]


def clean() -> dict[str, str]:
    """The variables of this process without those that lead Python or pip elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_", "VIRTUAL_ENV"))}


def pip_variables() -> dict[str, str]:
    """The variables for pip: the settings of the user and the machine that `PIP_SETTINGS` names, and no others.

    Raises:
        SetupError: pip cannot read a file of settings.
    """
    import ast
    import subprocess

    files = {name: value for name, value in os.environ.items() if name == "PIP_CONFIG_FILE"}
    done = subprocess.run(
        pip("config", "list"), env=clean() | files, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SetupError(f"pip cannot read its settings: {done.stderr}")
    sections: dict[str, dict[str, str]] = {"global": {}, "install": {}}
    for line in done.stdout.splitlines():
        name, _, value = line.partition("=")
        section, _, key = name.rpartition(".")
        if section in sections and key in PIP_SETTINGS:
            sections[section][variable(key)] = ast.literal_eval(value)
    given = {name: os.environ[name] for name in map(variable, PIP_SETTINGS) if os.environ.get(name)}
    return clean() | {"PIP_CONFIG_FILE": os.devnull} | sections["global"] | sections["install"] | given


def variable(key: str) -> str:
    """The variable of a setting of pip."""
    return f"PIP_{key.upper().replace('-', '_')}"


def run(command: list[str], variables: dict[str, str], lock: int) -> None:
    """Run a command whose output goes to the log, and show how far it is. It keeps the lock if this process is killed.

    Raises:
        SetupError: it fails.
    """
    import signal
    import subprocess
    from contextlib import suppress

    with open(LOG, "wb") as log:
        process = subprocess.Popen(
            command,
            env=variables,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(lock,),
            process_group=0,  # what pip starts is stopped with it
        )
    try:
        show_progress(process)
    except BaseException:
        # The process may have been interrupted while it held the lock of `wait`, which would then wait for itself.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(process.pid, 0)
        raise
    if process.returncode:
        raise SetupError(f"{last_error()}; {LOG} has all that was said")


def show_progress(process: Popen[bytes]) -> None:
    """Say which package pip is at until it ends: on one line of a terminal, else at every tenth package."""
    import subprocess

    said = ("", -1)
    while process.returncode is None:
        try:
            process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            verb, count, text = progress()
            if text and sys.stderr.isatty():
                print(f"\r\033[K{text[:79]}", end="", file=sys.stderr, flush=True)
            elif text and said != (verb, count // 10):
                tell(text)
            said = (verb, count // 10)
    if said[0] and sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def progress() -> tuple[str, int, str]:
    """What pip does, with how many packages, and both in words; empty before pip begins."""
    with open(LOG, encoding="utf-8", errors="replace") as file:
        lines = [line.split() for line in file]
    fetched = [os.path.basename(words[1]) for words in lines if words and words[0] in ("Collecting", "Processing")]
    listed = next((words[3:] for words in lines if words[:3] == ["Installing", "collected", "packages:"]), [])
    names = [name.rstrip(",") for name in listed]
    there = installed() if names else set()
    left = [name for name in names if normal(name) not in there]
    if left:
        done = len(names) - len(left)
        return "installing", done, f"installing {done + 1} of {len(names)}: {left[0]}"
    if fetched and not names:
        return "fetching", len(fetched), f"fetching {len(fetched)} of {max(len(fetched), len(locked()))}: {fetched[-1]}"
    return "", 0, ""


def installed() -> set[str]:
    """The packages that pip has finished."""
    return {normal(name.split("-")[0]) for name in os.listdir(site_packages()) if name.endswith(".dist-info")}


def normal(name: str) -> str:
    """The name of a package as indexes write it."""
    return name.lower().replace("_", "-").replace(".", "-")


def last_error() -> str:
    """The last error in the log, or its last line. A full disk leaves none."""
    import shutil

    with open(LOG, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error:")]
    silence = f"it ended without a word; {shutil.disk_usage(VENV).free // 10**6} MB of its disk are free"
    return (errors or lines or [silence])[-1].removeprefix("ERROR:").strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
