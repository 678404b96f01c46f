import os
import subprocess
import sys
from pathlib import Path

CALLEE = """
from localentropy.numerics.compiled import kernel

@kernel
def value():
    return {value}
"""
CALLER = """
from localentropy.numerics.compiled import kernel
from localentropy.callee import value

@kernel
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
    from localentropy.numerics import compiled

    numerics = tmp_path / "localentropy" / "numerics"
    numerics.mkdir(parents=True)
    assert compiled.__file__ is not None
    (numerics / "compiled.py").write_bytes(Path(compiled.__file__).read_bytes())
    package = numerics.parent
    for folder in (package, numerics):
        (folder / "__init__.py").touch()
    (package / "caller.py").write_text(CALLER)
    (package / "callee.py").write_text(CALLEE.format(value=3))
    assert run(tmp_path) == "6 0"
    assert run(tmp_path) == "6 1"
    (package / "callee.py").write_text(CALLEE.format(value=5))
    assert run(tmp_path) == "10 0"
    assert not list(package.rglob("*.nbi"))
