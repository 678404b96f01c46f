"""The environment variables of programs of this repository, whatever the user's shell has set.

A variable that could change a result, or end a program, is taken out. The variables that are left say where things are
(PATH, HOME, TMPDIR), how programs speak to the user (LC_ALL, COLUMNS), and how many threads there are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from localentropy.closure import SOURCE

TAKEN_OUT = (
    "PYTHON",  # packages of other Pythons, switches such as PYTHONOPTIMIZE and PYTHONWARNINGS
    *("NUMBA_", "NPY_", "SCIPY_", "TORCH_", "ATEN_", "CUBLAS_", "CUDNN_", "NVIDIA_TF32_"),
    *("OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "DNNL_", "ONEDNN_"),
    *("MATPLOTLIBRC", "MPLBACKEND", "JUPYTER_", "IPYTHON", "BOKEH_"),
    "SOURCE_DATE_EPOCH",
    "GIT_",  # another repository, as inside of a hook
    *("BASH_", "SHELLOPTS", "BASHOPTS"),  # files that bash runs first, functions in the place of programs
)
"""Beginnings of the names of variables that are taken out."""

KEPT = (
    "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT",
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    "GIT_CONFIG_",  # which folders git trusts
)
"""Beginnings of the names of variables that are left although `TAKEN_OUT` has them."""

MARK = "LOCALENTROPY_ENVIRONMENT"
STATED = {
    MARK: "stated",
    "PYTHONNOUSERSITE": "1",
    "PYTHONSAFEPATH": "1",
    "PYTHONUTF8": "1",
    # An empty file. Without it matplotlib reads one in the user's home.
    "MATPLOTLIBRC": os.devnull,
    # Jupyter's files of this Python come before those in the user's home.
    "JUPYTER_PREFER_ENV_PATH": "1",
}
"""Variables that are set."""


def stated(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables without those that are taken out, and with those that are set.

    In PYTHONPATH only the folder of this package is left.
    """
    kept = {name: value for name, value in variables.items() if name.startswith(KEPT) or not name.startswith(TAKEN_OUT)}
    own = any(Path(folder).resolve() == SOURCE for folder in _folders(variables))
    return kept | STATED | ({"PYTHONPATH": str(SOURCE)} if own else {})


def adopt() -> None:
    """Put this process and those that it starts into the stated environment, as far as a running one can be."""
    foreign = {folder for folder in _folders(os.environ) if Path(folder).resolve() != SOURCE}
    sys.path[:] = [folder for folder in sys.path if folder not in foreign]
    wanted = stated(os.environ)
    os.environ.clear()
    os.environ.update(wanted)


def adopt_for_jobs() -> None:
    """Put Snakemake and its jobs into the stated environment. Jobs run Snakemake's Python, and this package."""
    adopt()
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH")]
    os.environ["PATH"] = os.pathsep.join(filter(None, folders))
    os.environ["PYTHONPATH"] = str(SOURCE)
    import tempfile  # after PYTHONPATH is that of the project: it imports `random`

    # A folder that can be written: the user's, if it can be written.
    os.environ["TMPDIR"] = tempfile.gettempdir()


def restart() -> None:
    """Start this program again in the stated environment, unless it runs in this environment."""
    if MARK not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], stated(os.environ))


def _folders(variables: Mapping[str, str]) -> list[str]:
    return [folder for folder in variables.get("PYTHONPATH", "").split(os.pathsep) if folder]
