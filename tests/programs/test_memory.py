"""Sizes that no machine has the memory for are refused before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from localentropy import arguments
from localentropy.arguments import memory_limit
from localentropy.errors import LocalEntropyError
from localentropy.pipeline.computations import ExperimentJob
from localentropy.pipeline.config import load_program, resolve
from localentropy.pipeline.jobs import table_jobs
from localentropy.pipeline.machine import MachineError, refusals
from localentropy.programs.parts.perceptron_sizes import sizes

HUGE: dict[str, dict[str, Any]] = {
    "overparam/solve_sbpi": {"grids": [{"D": 9999, "inv_alphas": [1e4], "samples": 1, "margins": [0.0]}]},
    "overparam/two_level_amp": {"grids": [{"D": 9999, "inv_alphas": [1e4], "samples": 1, "margins": [0.0]}]},
    "overparam/equivalent_features": {"sbpi": [{"D": 9999, "inv_alphas": [1e4], "samples": 1}]},
    "overparam/solution_overlaps": {
        "grids": [{"D": 9999, "inv_alphas": [1e4], "samples": 2, "solver": "sbpi", "runs": 2}]
    },
    "overparam/solution_barriers": {
        "grids": [{"D": 9999, "inv_alphas": [1e4], "samples": 2, "solvers": ["sbpi"], "runs": 2}]
    },
    "overparam/solution_surroundings": {"grids": [{"D": 9999, "inv_alphas": [1e4], "samples": 2, "solver": "sbpi"}]},
    "overparam/committee_focusing_bp": {"D": 9999, "inv_alphas": [1e5]},
    "overparam/committee_sgd": {"D": 9999, "inv_alphas": [1e5]},
    "overparam/mlp": {"widths": [10**7], "device": "cpu"},
    "overparam/cnn": {"widths": [10**5], "device": "cpu"},
    "margins/binary_mlp_mnist": {"width": 10**7 + 1, "device": "cpu"},
    "margins/local_entropy": {"N": 10**8 + 1},
    "margins/storage_sbpi": {"grids": [{"N": 10**8 + 1, "alphas": [0.5], "samples": 1}]},
    "shaping/annealing": {"N": 10**8 + 1},
    "shaping/tree_solutions": {"N": 999_999},
    "shaping/belief_volume": {"N": 999_999},
    "shaping/tree_spectra": {},
    "shaping/fashion_noise": {"solutions": "shaping/tree_solutions", "algorithms": ["lal"]},
    "glm/amp_perceptron": {"d": 100_000, "alphas": [900.0]},
    "glm/amp_committee": {"d": 100_000, "alphas": [900.0]},
    "glm/risk_runs": {"sizes": [{"d": 10_000, "samples": 2}], "alphas": [999.0]},
    "glm/descent": {
        "grids": [{"student": "plain", "d": 9999, "alphas": [999.0], "samples": 10_000, "step": 0.1, "iterations": 10}]
    },
    "glm/uniqueness": {"grids": [{"d": 1000, "alphas": [999.0], "samples": 1}]},
}

BESIDE: dict[str, dict[str, Any]] = {
    "glm/risk_runs": {"risk": {"alphas": [0.1, 999.0]}},
    "shaping/tree_spectra": {"tree_solutions": {"N": 999_999}},
    "shaping/fashion_noise": {"tree_solutions": {"N": 999_999}},
}
"""What sections beside them must have."""


def test_every_program_that_states_its_memory_is_tried() -> None:
    shipped = resolve("smoke").experiments
    programs = {name: load_program(name.partition("/")[0], at.program) for name, at in shipped.items()}
    stating = {program.__name__ for program in programs.values() if hasattr(program, "memory")}
    assert stating == {programs[name].__name__ for name in HUGE}


@pytest.mark.parametrize("name", HUGE)
def test_sizes_beyond_the_machine_are_refused_in_one_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path("/"))  # where nothing could be written either
    paper, _, section = name.partition("/")
    configuration = resolve("smoke", overrides={paper: {section: HUGE[name], **BESIDE.get(name, {})}})
    job = ExperimentJob.from_configuration(configuration, name)
    with pytest.raises(MachineError) as caught:
        for number in job.numbers:
            job.require_memory(number)
    said = str(caught.value)
    assert said.startswith(f"{name}: ") and "\n" not in said
    assert f"allowed here: {memory_limit() / 2**30:,.1f} GiB; choose smaller sizes" in said


def needed(name: str, **changes: Any) -> int:
    """Bytes that the first task of an experiment asks for."""
    paper, _, section = name.partition("/")
    experiment: Any = load_program(paper, resolve("smoke").experiments[name].program)
    job = ExperimentJob.from_configuration(resolve("smoke", overrides={paper: {section: changes}}), name)
    size: int = experiment.memory(job.parameters, experiment.tasks(job.parameters)[0])
    return size


def test_messages_are_counted_where_there_are_any() -> None:
    grids = [{"D": 101, "inv_alphas": [4.0], "samples": 1, "margins": [0.0]}]
    P, N = sizes(3.0, 101, 4.0)
    patterns = N * (P + 8 * 101)
    assert needed("overparam/solve_sbpi", grids=grids) == patterns
    for solver in ("focusing_bp", "belief_propagation"):
        assert needed(f"overparam/solve_{solver}", grids=grids) == patterns + 12 * N * P
    assert needed("margins/local_entropy", N=1001, alpha=0.5) == 14 * 1001 * 500
    for distances, bytes_of_edge in (([], 2), ([0.1], 14)):
        assert needed("shaping/annealing", N=1001, alphas=[0.5], distances=distances) == bytes_of_edge * 1001 * 500


def test_training_sets_that_are_made_together_are_counted_together() -> None:
    size = {"D": 101, "inv_alphas": [4.0], "samples": 7}
    one = needed("overparam/committee_sgd", device="cpu", **size)
    assert needed("overparam/committee_sgd", device="cuda", **size) == 7 * one
    assert needed("overparam/committee_focusing_bp", **size) == one


def test_no_more_networks_are_counted_than_there_are() -> None:
    size = {"widths": [8], "samples": 5, "device": "cpu"}
    at_once = [needed("overparam/cnn", networks_at_once=number, **size) for number in (1, 5, 1000)]
    assert at_once[1] == at_once[2] == 5 * at_once[0]


@pytest.mark.parametrize("scale", ["smoke", "default", "paper"])
def test_the_shipped_sizes_fit_into_an_ordinary_machine(scale: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localentropy.pipeline.computations.memory_limit", lambda: 8 * 2**30)
    for job in table_jobs(resolve(scale)):
        for number in job.numbers:
            job.require_memory(number)


def test_an_array_that_does_not_fit_is_one_line() -> None:
    for grab in (lambda: np.ones(2**55), lambda: torch.ones(2**55)):
        with pytest.raises(LocalEntropyError, match="out of memory") as caught, refusals():
            grab()
        assert "\n" not in str(caught.value) and "choose smaller sizes" in str(caught.value)
    for error in (RuntimeError("shapes differ"), RecursionError()):
        with pytest.raises(type(error)), refusals():
            raise error


def test_the_smallest_limit_of_all_control_groups_counts(tmp_path, monkeypatch):
    job = tmp_path / "sys/fs/cgroup/slurm/job_1"
    (job / "step_0/task_0").mkdir(parents=True)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/slurm/job_1/step_0/task_0\n")
    monkeypatch.setattr(arguments, "_ROOT", tmp_path)
    whole = memory_limit()
    (job / "step_0/task_0/memory.max").write_text("max\n")
    assert memory_limit() == whole
    (job / "memory.max").write_text("1000000\n")
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("2000000\n")
    assert memory_limit() == 1_000_000
