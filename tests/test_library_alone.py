"""The distributions: what they hold, and the wheel in an environment of its own, outside of any checkout.

The wheel is built from the source distribution, as `make dist` does it. Its environment has the packages that it names
and no others.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.pipeline.conftest import ROOT, copy_checkout
from tests.test_snippets import python_blocks


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
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the source distribution of a checkout, the wheel that is built from it, and what the build said."""
    folder = tmp_path_factory.mktemp("distributions")
    source = copy_checkout(folder / "source")
    for name in ("CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "tests", source / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(source)]
    done = subprocess.run(build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    (folder / "build.log").write_text(done.stdout)
    return folder


@pytest.fixture(scope="module")
def alone(distributions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a new environment with the wheel in it.

    Nothing is downloaded: the packages that the wheel needs are linked from this environment, and no others are there.
    """
    folder = tmp_path_factory.mktemp("alone")
    (wheel,) = distributions.glob("*.whl")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", str(environment)]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", str(wheel)], check=True)
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


def modules() -> set[str]:
    """Files of the package, below `src/`."""
    return {str(file.relative_to(ROOT / "src")) for file in (ROOT / "src/localentropy").rglob("*.py")}


@pytest.mark.slow
def test_the_wheel_has_the_package_and_nothing_else(distributions: Path) -> None:
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    metadata = {name.partition("/")[2] for name in names if ".dist-info/" in name}
    assert {name for name in names if ".dist-info/" not in name} == modules()
    assert metadata == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "top_level.txt"}


@pytest.mark.slow
def test_the_source_distribution_has_what_builds_the_wheel_and_nothing_else(distributions: Path) -> None:
    (source,) = distributions.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    pages = {"CHANGELOG.md", "CITATION.cff", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml"}
    made = {name for name in names if ".egg-info/" in name} | {"PKG-INFO", "setup.cfg"}
    assert names == pages | made | {f"src/{name}" for name in modules()}


@pytest.mark.slow
def test_the_build_warns_of_nothing(distributions: Path) -> None:
    lines = (distributions / "build.log").read_text().splitlines()
    said = {line for line in lines if "warning" in line.lower() or "deprecat" in line.lower()}
    # Of these two the first word is the build's own: pip compiles modules when it installs the wheel.
    assert said <= {f"warning: {step}: byte-compiling is disabled, skipping." for step in ("build_py", "install_lib")}


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/library.md", "docs/own_model.md"])
def test_the_library_alone_runs_the_snippets_of_a_page(alone: Path, page: str) -> None:
    done = outside(alone, "python", "-c", "\n".join(python_blocks(ROOT / page)))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_library_alone_has_no_torch_and_says_so_where_it_is_needed(alone: Path) -> None:
    done = outside(alone, "python", "-c", "import localentropy.networks.align")
    said = "localentropy.networks.align needs PyTorch: pip install 'localentropy[networks]'"
    assert done.stderr.splitlines()[-1] == f"localentropy.errors.MissingPackageError: {said}"


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
