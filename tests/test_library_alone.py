"""The wheel in an environment of its own, outside of any checkout, with the packages that it names and no others."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.helpers import python_blocks

ROOT = Path(__file__).resolve().parents[1]


def needed(package: str, found: set[str]) -> set[str]:
    """A package and all that it needs, without extras. `found` are those known already."""
    name = canonicalize_name(package)
    if name not in found:
        found.add(name)
        for text in distribution(name).requires or []:
            requirement = Requirement(text)
            if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
                needed(requirement.name, found)
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a new environment with the wheel in it.

    Nothing is downloaded: the packages that the wheel needs are linked from this environment, and no others are there.
    """
    folder = tmp_path_factory.mktemp("alone")
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run([*build, str(source)], check=True)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    subprocess.run([*pip, "--python", str(environment), "install", "--no-deps", "--no-index", str(wheel)], check=True)
    (metadata,) = packages.glob("localentropy-*.dist-info/METADATA")
    lines = metadata.read_text().partition("\n\n")[0].splitlines()
    requirements = [Requirement(line.partition(": ")[2]) for line in lines if line.startswith("Requires-Dist: ")]
    names: set[str] = set()
    for requirement in requirements:
        if not requirement.marker:
            needed(requirement.name, names)
    for name in names:
        linked = distribution(name)
        for top in {file.parts[0] for file in linked.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(str(linked.locate_file(top))))
    return environment


def outside(environment: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the environment far from any checkout."""
    folder = environment.parent / "elsewhere"
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [str(environment / "bin" / program), *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_library_alone_runs_the_snippets_of_the_readme(alone: Path) -> None:
    done = outside(alone, "python", "-c", "\n".join(python_blocks(ROOT / "README.md")))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_library_alone_has_a_version_and_no_commands(alone: Path) -> None:
    version = outside(alone, "python", "-c", "import localentropy; print(localentropy.__version__)").stdout
    assert outside(alone, "localentropy", "--version").stdout == f"localentropy {version}"
    for command in ([], ["verify"], ["run", "overparam/typical"]):
        done = outside(alone, "localentropy", *command)
        assert done.returncode == 1
        assert done.stderr.startswith("error: no package typer: ") and done.stderr.count("\n") == 1


def test_commands_outside_of_a_checkout_say_what_is_missing(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    command = [sys.executable, "-m", "localentropy", "run", "overparam/typical"]
    environment = {"PYTHONPATH": str(tmp_path / "src"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: no {tmp_path / 'config'}: the commands work in a checkout")
    assert done.stderr.count("\n") == 1
