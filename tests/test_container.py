"""The image of the Dockerfile, built and run by buildah: the figures of this machine, written as an ordinary user.

Root on Debian only, and opt-in: `make test-container`. It needs the packages buildah and debootstrap, and no registry:
debootstrap makes the base image, and pip gets the packages as it is set up on this machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from localentropy import __version__
from tests.pipeline.conftest import ROOT, Checkout, copy_checkout
from tests.test_environment import conda, locked

pytestmark = pytest.mark.container
USER = 12345
"""A user that the image does not know."""
FIGURE8 = ("figure8", "--config", "scale=smoke")


@dataclass
class Image:
    """The built image, in a storage of its own."""

    storage: Path
    name: str = "localentropy"

    def buildah(self, *arguments: str | Path) -> str:
        command = ["buildah", "--root", self.storage / "root", "--runroot", self.storage / "run", *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout.strip()

    def run(self, *command: str, mounts: dict[Path, str] | None = None) -> str:
        """Run a command in a new container, as a user that it does not know. `mounts`: folders here → there."""
        volumes = [word for here, there in (mounts or {}).items() for word in ("--volume", f"{here}:{there}")]
        container = self.buildah("from", "--pull-never", self.name)
        options = ["--isolation", "chroot", "--user", f"{USER}:{USER}", *volumes]
        try:
            return self.buildah("run", *options, container, "--", *command)
        finally:
            self.buildah("rm", container)

    def entrypoint(self) -> list[str]:
        """The program that a container runs with the words behind the name of its image."""
        described = json.loads(self.buildah("inspect", "--type=image", self.name))
        words: list[str] = described["OCIv1"]["config"]["Entrypoint"]
        return words


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """Built by the Dockerfile's own steps, with this repository as the context."""
    assert os.geteuid() == 0, "only root can make the base image"
    folder = tmp_path_factory.mktemp("image")
    (base,) = re.findall(r"^FROM (debian:\w+-slim)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    release = base.removeprefix("debian:").removesuffix("-slim")
    subprocess.run(["debootstrap", "--variant=minbase", release, folder / "base"], check=True)
    wheels = ["pip", "wheel", "--quiet", "--wheel-dir", str(folder / "wheels")]
    subprocess.run([sys.executable, "-m", *wheels, "--requirement", str(ROOT / "requirements.lock")], check=True)
    (folder / "pip.conf").write_text("[global]\nno-index = true\nfind-links = /wheels\n")
    image = Image(folder / "storage")
    try:
        container = image.buildah("from", "scratch")
        image.buildah("add", "--quiet", container, folder / "base", "/")
        image.buildah("commit", "--quiet", "--rm", container, f"docker.io/library/{base}")
        mounts = [f"--volume={folder / 'wheels'}:/wheels:ro", f"--volume={folder / 'pip.conf'}:/etc/pip.conf:ro"]
        image.buildah("build", "--isolation=chroot", "--pull-never", *mounts, f"--tag={image.name}", ROOT)
        yield image
    finally:
        image.buildah("rm", "--all")
        image.buildah("rmi", "--all", "--force")
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def figure8(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The numbers of a figure, made on this machine."""
    checkout = Checkout(copy_checkout(tmp_path_factory.mktemp("local") / "checkout"))
    run = checkout.snakemake(*FIGURE8)
    assert run.status == 0, run.output
    return (checkout.folder / "figures/smoke/overparam/figure8.csv").read_bytes()


def test_the_image_has_the_locked_packages_and_the_python_of_the_project(image: Image) -> None:
    assert image.run("localentropy", "--version") == f"localentropy {__version__}"
    assert image.run("python", "--version").startswith(f"Python {conda()['python']}.")
    assert image.run("python", "-m", "pip", "check").endswith("No broken requirements found.")
    listed = json.loads(image.run("python", "-m", "pip", "--disable-pip-version-check", "list", "--format=json"))
    installed: dict[str, str] = {
        canonicalize_name(package["name"]): package["version"].partition("+")[0] for package in listed
    }
    assert {name: installed.get(name) for name in locked()} == locked()
    assert set(installed) - set(locked()) == {"localentropy", "pip"}


def test_the_image_has_what_a_run_needs_and_nothing_else(image: Image, tmp_path: Path) -> None:
    wanted = copy_checkout(tmp_path / "checkout")
    needed = {
        str(Path(folder, name).relative_to(wanted))
        for folder, _, names in os.walk(wanted, followlinks=True)
        for name in names
    }
    found = image.run("find", ".", "-type", "f", "-not", "-path", "*.egg-info/*", "-not", "-name", "*.pyc").splitlines()
    assert {name.removeprefix("./") for name in found} == needed | {"LICENSE", "data/README.md"}


@pytest.mark.parametrize("folder", ["figures", "."])
def test_a_figure_in_a_mounted_folder_is_the_users_and_has_the_numbers_of_this_machine(
    image: Image, figure8: bytes, tmp_path: Path, folder: str
) -> None:
    mounted = tmp_path / "mounted"
    if folder == ".":
        copy_checkout(mounted)
    mounted.mkdir(exist_ok=True)
    for path in (mounted, *mounted.rglob("*")):
        os.chown(path, USER, USER, follow_symlinks=False)
    before = set(mounted.rglob("*"))
    image.run(*image.entrypoint(), *FIGURE8, mounts={mounted: str(Path("/localentropy", folder))})
    made = [path for path in mounted.rglob("*") if path not in before]
    assert {(path.stat().st_uid, path.stat().st_gid) for path in made} == {(USER, USER)}
    (csv,) = mounted.rglob("figure8.csv")
    assert csv.read_bytes() == figure8
