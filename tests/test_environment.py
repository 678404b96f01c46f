"""pyproject.toml, requirements.lock and environment.yml name the same packages at the same versions."""

from __future__ import annotations

import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from localentropy import __version__
from tests.pipeline.conftest import copy_checkout

ROOT = Path(__file__).resolve().parents[1]
CONDA_NAMES = {
    "pytorch-cpu": "torch",
    "matplotlib-base": "matplotlib",
    "playwright-python": "playwright",
    "python-build": "build",
}


def declared() -> dict[str, Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = project["dependencies"] + [text for extra in project["optional-dependencies"].values() for text in extra]
    return {canonicalize_name(Requirement(text).name): Requirement(text) for text in texts}


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def conda() -> dict[str, str]:
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    texts = [text for text in dependencies if isinstance(text, str)]
    texts += [text.replace("==", "=") for entry in dependencies if isinstance(entry, dict) for text in entry["pip"]]
    pairs = [text.split("=") for text in texts if "=" in text]
    return {CONDA_NAMES.get(name, name): version for name, version in pairs}


def test_the_lock_satisfies_every_declared_requirement() -> None:
    versions = locked()
    for name, requirement in declared().items():
        assert versions[name] in requirement.specifier, f"{requirement} is locked at {versions[name]}"


def test_the_lock_is_exact_and_without_local_versions() -> None:
    for name, version in locked().items():
        assert "+" not in version and "@" not in version, f"{name} is locked at {version}"


def test_conda_users_get_the_declared_packages_at_the_locked_versions() -> None:
    packages = conda()
    assert set(packages) - {"python", "setuptools"} == set(declared())
    for name, version in packages.items():
        if name != "python":
            assert f"{locked()[name]}.".startswith(f"{version}."), f"{name}: {version} against {locked()[name]}"


def test_python_is_the_declared_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lowest, below = project["requires-python"].split(",")
    assert lowest == f">={conda()['python']}"
    finds = (ROOT / "Makefile").read_text()
    assert "python3.11 python3.12 python3.13 python3" in finds and "3.11|3.12|3.13)" in finds and below == "<3.14"


def test_the_image_has_the_lock_and_the_files_of_a_checkout(tmp_path: Path) -> None:
    steps = (ROOT / "Dockerfile").read_text()
    assert "pip install --no-cache-dir --requirement /localentropy/requirements.lock" in steps
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    checkout = copy_checkout(tmp_path / "checkout")
    needed = {"docs/report" if path.name == "docs" else path.name for path in checkout.iterdir()}
    assert "*" in lines and kept == needed | {"LICENSE"}


def test_the_library_needs_few_packages_and_caps_none() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    texts = {"alone": project["dependencies"], "networks": extras["networks"], "estimators": extras["estimators"]}
    requirements = [Requirement(text) for group in texts.values() for text in group]
    names = {key: {Requirement(text).name for text in group} for key, group in texts.items()}
    assert names == {
        "alone": {"numba", "numpy", "pandas", "scipy"},
        "networks": {"torch"},
        "estimators": {"scikit-learn"},
    }
    assert all({part.operator for part in requirement.specifier} == {">="} for requirement in requirements)


def test_the_citation_and_the_newest_entry_of_the_changelog_name_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    newest = next(line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ["))
    assert newest in ("## [Unreleased]", f"## [{__version__}] - {citation.get('date-released')}")
