"""What the user has set for other programs changes no byte of a figure, and ends no command."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from localentropy import environment
from tests.pipeline.conftest import ROOT, Checkout, Run, copy_checkout, write_toys

pytestmark = pytest.mark.pipeline

STYLE = "text.usetex: True\nfont.size: 30\nbackend: Qt5Agg\nsavefig.bbox: tight\nfigure.facecolor: black\n"
FILES = {
    ".config/matplotlib/matplotlibrc": STYLE,
    ".config/matplotlib/stylelib/paper.mplstyle": "no style\n",
    ".config/snakemake/default/config.yaml": "dry-run: true\n",
    f".local/lib/python3.{sys.version_info.minor}/site-packages/numpy/__init__.py": "raise ImportError('of the user')",
    ".ipython/profile_default/startup/first.py": "raise SystemExit('start-up file of the user')",
    ".gitconfig": "[no configuration\n",
    "matplotlib/matplotlibrc": "font.size: huge\n",
    "old/numpy/__init__.py": "from . import what_numpy_1_17_lacks",
    "old/random.py": "raise ImportError('a module of the user')",
    "old/sitecustomize.py": "print('sitecustomize of the user')",
    "bash": "echo a start-up file of bash; python() { false; }; cd /",
}
VARIABLES = {
    "MATPLOTLIBRC": "{home}/matplotlib",
    "MPLBACKEND": "no backend",
    "PYTHONPATH": "{home}/old",
    "PYTHONSTARTUP": "{home}/old/random.py",
    "PYTHONOPTIMIZE": "2",
    "PYTHONWARNINGS": "error",
    "PYTHONHASHSEED": "7",
    "PYTHONIOENCODING": "utf-16",
    "PYTHONDEVMODE": "1",
    "PYTHONINSPECT": "1",
    "PYTHONUTF8": "0",
    "NUMBA_ENABLE_CUDASIM": "1",
    "NUMBA_NUM_THREADS": "many",
    "NUMBA_CPU_NAME": "generic",
    "NPY_DISABLE_CPU_FEATURES": "no feature",
    "MKL_CBWR": "COMPATIBLE",
    "TORCH_LOGS": "+all",
    "SCIPY_ARRAY_API": "1",
    "CUBLAS_WORKSPACE_CONFIG": ":0:0",
    "JUPYTER_PATH": "{home}",
    "SOURCE_DATE_EPOCH": "yesterday",
    "LC_ALL": "C",
    "TZ": "Pacific/Kiritimati",
    "COLUMNS": "7",
    "TERM": "dumb",
    "FORCE_COLOR": "1",
    "GIT_DIR": "/nowhere",
    "GIT_WORK_TREE": "/nowhere",
    "BASH_ENV": "{home}/bash",
    "BASH_FUNC_python%%": "() {{ false; }}",
    "CDPATH": "/",
}


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """The variables of a user who has set much, with a home full of files."""
    home = tmp_path / "home"
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    shown = {name: value.format(home=home) for name, value in VARIABLES.items()}
    return {"PATH": os.environ["PATH"], "HOME": str(home), **shown}


def run(checkout: Checkout, variables: dict[str, str], *command: str, limits: str = "") -> Run:
    """A program of Python's as `make` and the program `snakemake` start it: it ignores Python's variables."""
    line = f"{limits} exec {shlex.join([sys.executable, *command])}"
    done = subprocess.run(
        ["/bin/sh", "-c", line], cwd=checkout.folder, env=variables, capture_output=True, text=True, check=False
    )
    return Run(done.returncode, done.stdout + done.stderr)


def drawn(checkout: Checkout) -> dict[str, bytes]:
    """The files of figure 91 but its record, which has the time of the run."""
    files = checkout.contents("figures/default/overparam/figure91.*")
    return {name: content for name, content in files.items() if not name.endswith("91.json")}


def test_variables_and_files_of_the_user_change_no_byte(
    toys: Checkout, first: tuple[Checkout, Run], variables: dict[str, str]
) -> None:
    (toys.folder / "matplotlibrc").write_text(STYLE)
    done = run(toys, variables, "-I", "-m", "snakemake", "figure91")
    assert done.status == 0, done.output
    assert "of the user" not in done.output and "start-up file" not in done.output
    assert len(drawn(first[0])) == 4 and drawn(toys) == drawn(first[0])


def test_limits_change_no_byte(toys: Checkout, first: tuple[Checkout, Run]) -> None:
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), "/proc/nowhere")
    limits = "ulimit -n 64; ulimit -s 1024; umask 077; exec <&-;"
    done = run(
        toys, {"PATH": os.environ["PATH"], **nowhere, "TMPDIR": "/proc"}, "-m", "snakemake", "figure91", limits=limits
    )
    assert done.status == 0, done.output
    assert drawn(toys) == drawn(first[0])


def test_commands_print_the_same(first: tuple[Checkout, Run], variables: dict[str, str]) -> None:
    checkout = first[0]
    source = str(checkout.folder / "src")
    hostile = variables | {"PYTHONPATH": os.pathsep.join([source, variables["PYTHONPATH"]])}
    for words in ("show figures/default/overparam/figure91.png", "verify", "diff figures/default figures/default"):
        quiet = checkout.python(*words.split())
        done = run(checkout, hostile, "-m", "localentropy", *words.split())
        assert quiet.status == 0 and done == quiet, done.output


def test_a_folder_may_have_any_name(tmp_path: Path, first: tuple[Checkout, Run]) -> None:
    checkout = Checkout(copy_checkout(tmp_path / 'a{b}c {paper} it\'s \\ 100% "$HOME"\n größe # [x]*'))
    write_toys(checkout.folder)
    done = checkout.snakemake("figure91")
    assert done.status == 0, done.output
    assert drawn(checkout) == drawn(first[0])


def test_a_folder_that_cannot_be_on_the_path_is_told_in_one_line(tmp_path: Path) -> None:
    checkout = Checkout(copy_checkout(tmp_path / "a:b"))
    write_toys(checkout.folder)
    done = checkout.snakemake("figure91")
    assert done.status == 1
    assert done.own_lines[-1].startswith(f"error: {checkout.folder}: a folder whose name has a : cannot be")


def test_make_hides_the_variables_of_other_pythons(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path / "Makefile")
    (tmp_path / "probe.mk").write_text("include Makefile\nprobe:\n\t@env\n")
    hostile = {
        "PATH": os.environ["PATH"],
        "PYTHONHOME": "/nowhere",
        "PYTHONPATH": "/nowhere",
        "PYTHONWARNINGS": "error",
    }
    command = ["make", "-f", "probe.mk", "probe"]
    done = subprocess.run(command, cwd=tmp_path, env=hostile, capture_output=True, text=True, check=True)
    assert not [line for line in done.stdout.splitlines() if line.startswith("PYTHON")]


def test_what_is_stated_stays_as_it_is() -> None:
    once = environment.stated({name: value.format(home="/home") for name, value in VARIABLES.items()})
    assert environment.stated(once) == once
    left = {"LC_ALL", "TZ", "COLUMNS", "TERM", "FORCE_COLOR", "CDPATH"}
    assert set(once) - set(environment.STATED) == left


def test_of_the_path_only_the_own_package_is_left() -> None:
    source = str(ROOT / "src")
    for path, left in ((f"/old:{source}:", source), ("/old", None), ("", None)):
        assert environment.stated({"PYTHONPATH": path}).get("PYTHONPATH") == left
