"""Python programs that need not import their libraries: each is a fork of this process, which has imported them.

To start Snakemake took 2.0 s of CPU, of which 1.5 s were imports, and the tests start it some 200 times. This package
is not imported here: each program imports the one of its own checkout. A line of JSON on standard input asks for a
program, and a line on standard output has its exit status.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import sys

LIBRARIES = ("snakemake.cli", "pandas", "pyarrow.parquet", "pydantic", "typer", "yaml")


def run(folder: str, program: str, arguments: list[str], variables: dict[str, str], out: str, err: str) -> None:
    """Run a program in a folder, as `python -m` does."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[:0] = filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))
    for stream, file in enumerate((os.devnull, out, err)):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), stream)
    sys.argv[1:] = arguments
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.freeze()  # so that no fork copies what it only looks through
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            run(*json.loads(line))
            break  # and ends as every program does
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
