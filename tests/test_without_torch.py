"""The library without PyTorch: what computes, and what says in one line what it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT_TORCH = """
import sys
from importlib.abc import MetaPathFinder


class Without(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"No module named {name!r}", name="torch")


sys.meta_path.insert(0, Without())
"""

THEORY = """
from localentropy.theory import Perceptron, TreeCommittee, alpha_c, bayes, franz_parisi, local_entropy, typical

assert typical(Perceptron(alpha=0.5)).entropy > 0
assert list(alpha_c([Perceptron(margin=0.1), Perceptron(margin=0.2)]).margin) == [0.1, 0.2]
assert franz_parisi(TreeCommittee(alpha=0.5), [0.1]).entropy[0] > 0
assert local_entropy(Perceptron(alpha=0.7), [0.1]).entropy[0] > 0
assert 0 < bayes.learning(alpha=1.0, prior="binary").bayes_error < 0.5
"""

SOLVERS = """
from localentropy import solvers
from localentropy.instances import random_patterns
from localentropy.solvers.amp import amp

instance = random_patterns(N=201, P=60, seed=0)
for name in set(solvers.MODULES) - {"binarynet"}:
    assert instance.train_error(getattr(solvers, name)(instance, seed=0).weights) < 0.1, name
assert amp(instance, seed=0).converged
"""

LANDSCAPES = """
from localentropy.instances import random_patterns
from localentropy.instances.committee import random_tree_committee
from localentropy.landscape.binary_local_energy import expected_flip_energy
from localentropy.landscape.committee import committee_overlap
from localentropy.landscape.committee_local_entropy import committee_local_entropy
from localentropy.landscape.hessian import largest_eigenvalue
from localentropy.landscape.local_entropy import local_entropy
from localentropy.solvers import sbpi
from localentropy.solvers.committee.least_action import committee_least_action

instance = random_patterns(N=201, P=60, seed=0)
weights = sbpi(instance, seed=0).weights
assert local_entropy(instance, weights, distances=[0.1], margin=0.0).entropy[0] > 0
assert expected_flip_energy(instance, weights, distances=[0.0], margin=0.0) == 0
machine = random_tree_committee(N=99, P=20, K=3, seed=0)
weights = committee_least_action(machine, seed=0).weights
assert committee_local_entropy(machine, weights, distances=[0.1]).converged
assert largest_eigenvalue(machine, weights, 1.0) > 0
assert abs(committee_overlap(weights, weights) - 1) < 1e-12
"""

EACH_MODULE = """
import importlib, pkgutil
import localentropy
from localentropy.errors import LocalEntropyError

for package in ("analysis", "data", "instances", "landscape", "networks", "numerics", "solvers", "theory"):
    parent = importlib.import_module(f"localentropy.{package}")
    for module in pkgutil.walk_packages(parent.__path__, f"localentropy.{package}."):
        try:
            importlib.import_module(module.name)
        except LocalEntropyError as error:
            print(module.name, error, sep=": ")
"""

IN_ONE_LINE = """
from localentropy.errors import LocalEntropyError

try:
    {statement}
except LocalEntropyError as error:
    print(error)
"""


def run(program: str) -> str:
    """What a fresh process prints. It computes on one thread, and whatever else it says is an error."""
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("program", [THEORY, SOLVERS, LANDSCAPES], ids=["theory", "solvers", "landscapes"])
def test_what_needs_no_torch_computes_without_it(program: str) -> None:
    run(WITHOUT_TORCH + program)


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("from localentropy.networks.mlp.training import train", "networks.mlp.training"),
        ("from localentropy.networks.cnn.network import CNN", "networks.cnn.network"),
        ("from localentropy.networks.align import Layers", "networks.align"),
        ("from localentropy.solvers import binarynet", "solvers.binary.binarynet"),
        ("import localentropy.solvers; localentropy.solvers.binarynet", "solvers.binary.binarynet"),
        ("from localentropy.solvers.committee.sgd import committee_sgd", "solvers.committee.sgd"),
        ("from localentropy.solvers.descent import descend_phase_retrieval", "solvers.descent"),
        ("from localentropy.landscape.random_flips import random_flips", "landscape.random_flips"),
        (
            "from localentropy.landscape.committee import committee_local_energy as energy; "
            "energy(None, None, sigmas=[], draws=1, generators=[])",
            "landscape.committee",
        ),
        ("import localentropy.device", "device"),
    ],
)
def test_what_needs_torch_says_so_in_one_line(statement: str, module: str) -> None:
    said = run(WITHOUT_TORCH + IN_ONE_LINE.format(statement=statement))
    assert said == f"localentropy.{module} needs PyTorch: pip install 'localentropy[networks]'\n"


def test_only_networks_descents_and_tensors_need_torch() -> None:
    lines = run(WITHOUT_TORCH + EACH_MODULE).splitlines()
    refused = {line.partition(": ")[0].removeprefix("localentropy.") for line in lines}
    assert all(line.endswith(" needs PyTorch: pip install 'localentropy[networks]'") for line in lines)
    assert {module for module in refused if not module.startswith("networks.")} == {
        "landscape.local_energy",
        "landscape.random_flips",
        "landscape.spectra",
        "numerics.adam",
        "solvers.binary.binarynet",
        "solvers.committee.sgd",
        "solvers.descent",
    }


def test_snakemake_looks_at_every_job_without_torch() -> None:
    """Its own process lasts as long as the run, and torch takes a second to import."""
    program = """
from localentropy.pipeline.config import resolve
from localentropy.pipeline.jobs import table_jobs

jobs = [job for job in table_jobs(resolve("smoke")) if hasattr(job.experiment, "memory")]
for job in jobs:
    job.require_memory(1)
print(len(jobs) > 10)
"""
    assert run(WITHOUT_TORCH + program) == "True\n"


def test_a_torch_that_lacks_a_library_of_its_own_is_not_called_missing(tmp_path) -> None:
    """Its own error says more than that it is not installed."""
    (tmp_path / "torch.py").write_text("import a_library_of_torch\n")
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
try:
    import localentropy.device
except ModuleNotFoundError as error:
    print(error.name)
"""
    assert run(program) == "a_library_of_torch\n"


def test_the_import_of_the_theory_brings_neither_torch_nor_pandas() -> None:
    program = 'import sys, localentropy.theory; print(sorted({"pandas", "torch"} & set(sys.modules)))'
    assert run(program) == "[]\n"


def test_the_solvers_and_landscapes_that_need_no_torch_do_not_import_it() -> None:
    program = SOLVERS + LANDSCAPES + 'import sys; print("torch" in sys.modules)'
    assert run(program) == "False\n"
