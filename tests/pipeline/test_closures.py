"""What each computation depends on: the closures of this repository's own modules."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from localentropy import closure as closures
from localentropy.closure import code_closure
from localentropy.pipeline.config import read_figures, resolve
from localentropy.pipeline.jobs import output_jobs, table_jobs
from tests.test_closure import forget

JOBS = {job.name: job for job in table_jobs(resolve("smoke"))}
MODELS = {"perceptron", "random_features", "teacher_student", "tree_committee"}
SOLVERS = {"anneal", "sbpi", "belief_propagation", "focusing_bp", "binarynet"}


def closure(*modules: str) -> dict[str, list[str]]:
    """The modules of which something counts; names without the package."""
    return {name.removeprefix("localentropy."): used for name, used in code_closure(*modules).items()}


def experiment(name: str) -> dict[str, list[str]]:
    return closure(*JOBS[name].modules)


def below(found: dict[str, list[str]], *packages: str) -> set[str]:
    return {module for module in found if module.partition(".")[0] in packages}


def test_the_closure_follows_imports_inside_functions() -> None:
    files = experiment("overparam/franz_parisi")
    assert {"programs.parts.parameters", "theory.random_features", "numerics.quadrature"} <= set(files)


def test_no_program_depends_on_the_pipeline_on_plots_or_on_another_program() -> None:
    programs = {job.experiment.__name__.removeprefix("localentropy.") for job in JOBS.values()}
    for name, job in JOBS.items():
        found = experiment(name)
        assert not below(found, "commands", "pipeline", "figures", "claims")
        assert set(found) & programs == {job.experiment.__name__.removeprefix("localentropy.")}


def test_a_program_depends_on_the_model_that_its_parameters_choose_and_on_no_other() -> None:
    ensembles = {name: getattr(job.parameters, "ensemble", None) for name, job in JOBS.items()}
    chosen = {name: ensemble.model for name, ensemble in ensembles.items() if ensemble is not None}
    assert set(chosen.values()) <= MODELS and len(set(chosen.values())) > 2
    for name, model in chosen.items():
        used = {module for module, names in experiment(name).items() if names} & {f"theory.{one}" for one in MODELS}
        assert used == {f"theory.{model}"}, name


def test_a_solver_depends_on_no_other_solver() -> None:
    for name in SOLVERS | {"mct0"}:
        found = experiment(f"overparam/solve_{name}")
        others = SOLVERS - {name} - ({"anneal"} if name == "mct0" else set())
        assert f"solvers.binary.{name.replace('mct0', 'anneal')}" in found
        assert not {f"solvers.binary.{other}" for other in others} & set(found)


def test_no_solver_and_no_network_runs_again_after_an_edit_of_the_theory() -> None:
    runs = [name for name in JOBS if below(experiment(name), "solvers", "networks")]
    assert len(runs) > 10
    for name in runs:
        assert not below(experiment(name), "theory"), name


def test_figure3_does_not_depend_on_the_overparameterized_limit() -> None:
    for name in read_figures()["figure3"].experiments:
        assert not any("limit" in module for module in below(experiment(name), "theory") if experiment(name)[module])
    assert any("limit" in module for module in experiment("overparam/overparameterized_limit"))


def test_the_package_and_its_help_load_no_heavy_library() -> None:
    heavy = "{'numpy', 'torch', 'pandas', 'matplotlib', 'pydantic', 'snakemake'}"
    for module in ("localentropy", "localentropy.commands.cli"):
        code = f"import sys, {module}; sys.exit(bool({heavy} & set(sys.modules)))"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


Changed = Callable[[str, Callable[[str], str]], set[str]]


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Changed:
    """Edits files of a copy of the sources, by a pattern of their names: the tables and figures with other code now."""
    shutil.copytree(closures.SOURCE, tmp_path / "src")
    jobs = JOBS | {job.target: job for job in output_jobs(resolve("smoke"))}
    modules = {name: tuple(job.modules) for name, job in jobs.items()}
    monkeypatch.setattr(closures, "SOURCE", tmp_path / "src")

    def hashes() -> dict[str, str]:
        forget()
        return {name: closures.code_hash(*used) for name, used in modules.items()}

    def edit(pattern: str, change: Callable[[str], str]) -> set[str]:
        before, files = hashes(), list((tmp_path / "src/localentropy").glob(pattern))
        assert files
        for file in files:
            file.write_text(change(file.read_text()))
        after = hashes()
        forget()
        return {name for name in jobs if before[name] != after[name]}

    return edit


def edit_functions(source: str) -> str:
    """The source with another statement in every function."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body.append(ast.Pass())
    return ast.unparse(tree)


def edit_words(source: str) -> str:
    """The source with a comment more, and other docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            node.body[0] = ast.Expr(ast.Constant("Other words."))
    return f"# A comment.\n{ast.unparse(tree)}\n"


def test_other_words_and_a_new_type_of_parameter_change_nothing(changed: Changed) -> None:
    assert changed("**/*.py", edit_words) == set()
    new = "\n\nTemperature = Annotated[float, Field(gt=0)]\n"
    assert changed("programs/parts/parameters.py", lambda source: source + new) == set()


def test_an_edit_of_the_theory_changes_theory_only(changed: Changed) -> None:
    edited = changed("theory/**/*.py", edit_functions)
    simulations = {name for name in JOBS if below(experiment(name), "solvers", "networks")}
    assert edited and not edited & simulations
    assert {"overparam/franz_parisi", "overparam/thresholds", "overparam/typical"} <= edited


def test_an_edit_of_sbpi_changes_what_runs_sbpi(changed: Changed) -> None:
    edited = changed("solvers/binary/sbpi*.py", edit_functions)
    assert "overparam/solve_sbpi" in edited
    assert not edited & {f"overparam/solve_{name}" for name in (*SOLVERS - {"sbpi"}, "mct0")}


def test_an_edit_of_the_overparameterized_limit_leaves_the_tables_of_figure3(changed: Changed) -> None:
    edited = changed("theory/**/*limit*.py", edit_functions)
    assert "overparam/overparameterized_limit" in edited
    assert not edited & {"figure3", *read_figures()["figure3"].experiments}
