"""Every wrong configuration ends in one line that names layer, key, value, what is allowed and the nearest choice."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from localentropy.commands import docs as reference
from localentropy.errors import ConfigError
from localentropy.pipeline.config import (
    LONGEST_NAME,
    ROOT,
    find_papers,
    load_program,
    name_changes,
    name_target,
    override_words,
    read_figures,
    read_overrides,
    read_text,
    resolve,
    split_target,
)
from localentropy.programs.parts.parameters import Increasing, OddSize, Size


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root whose configuration files may be edited."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path


@pytest.mark.parametrize("scale", ["smoke", "default", "paper"])
def test_the_shipped_configuration_is_valid(scale: str) -> None:
    configuration = resolve(scale)
    assert configuration.folder == scale
    # No program without a section that uses it.
    used = {load_program(name.partition("/")[0], at.program) for name, at in configuration.experiments.items()}
    source = ROOT / "src"
    files = [file for file in source.glob("localentropy/programs/**/*.py") if "\ndef compute(" in file.read_text()]
    assert {each.__name__ for each in used} == {
        ".".join(file.relative_to(source).with_suffix("").parts) for file in files
    }


def test_a_source_is_a_paper_unless_its_folder_says_otherwise(root: Path) -> None:
    (file := root / "config/margins/source.yaml").write_text("text: talk\n")
    assert (read_text("overparam", root), read_text("margins", root)) == ("paper", "talk")
    file.write_text("text: tlk\n")
    with pytest.raises(ConfigError, match=r"config/margins/source.yaml: text = tlk: .*'?talk"):
        read_text("margins", root)


@pytest.mark.parametrize(
    ("overrides", "parts"),
    [
        ({"scale": "huge"}, ["scale = huge", "smoke, default, paper"]),
        ({"scale": "smok"}, ["did you mean 'smoke'"]),
        ({"franz_pairsi": {}}, ["franz_pairsi", "did you mean 'franz_parisi'"]),
        ({"franz_parisi": {"inv_alpa": 1}}, ["franz_parisi.inv_alpa = 1", "did you mean 'inv_alpha'"]),
        ({"franz_parisi": {"inv_alpha": -1}}, ["franz_parisi.inv_alpha = -1", "≥ 1e-09"]),
        ({"franz_parisi": {"alpha_T": 0}}, ["franz_parisi.alpha_T = 0", "≥ 1e-09"]),
        (
            {"franz_parisi": {"ensemble": {"activation": "tanhh"}}},
            ["activation = tanhh", "sign, tanh, erf", "nearest: tanh"],
        ),
        (
            {"franz_parisi": {"curves": {"one": {"margins_ref": ["kappa_u"], "margin": "same"}}}},
            ["franz_parisi.curves.one", "margin = same has no kappa_u"],
        ),
        (
            {"franz_parisi": {"curves": {"reference": {"margins_ref": [0.1, -1]}}}},
            ["franz_parisi.curves.reference.margins_ref[1] = -1", "≥ 0 and ≤ 1000 or text such as max", "nearest: 0"],
        ),
        (
            {"franz_parisi": {"curves": {"reference": {"margins_rf": [0.1]}}}},
            ["franz_parisi.curves.reference.margins_rf = [0.1]: unknown key; did you mean 'margins_ref'?"],
        ),
        ({"franz_parisi": {"largest_distance": "typical"}}, ["franz_parisi: bound = true needs a number"]),
        ({"typical": {"alphas_T": [0.2, 0.1]}}, ["alphas_T", "increase", "0.1 follows 0.2"]),
        (
            {"typical": {"at": "line"}},
            ["typical.at = line: allowed: one of lines, sizes; nearest: lines"],
        ),
        (
            {"typical": {"ensemble": {"model": "perceptron"}}},
            ["typical.ensemble.model = perceptron: allowed: random_features"],
        ),
        (
            {"margins": {"typical": {"ensemble": {"model": "perceptorn"}}}},
            [
                "margins.typical.ensemble.model = perceptorn: allowed: one of random_features, perceptron, tree",
                "nearest: perceptron",
            ],
        ),
        (
            {"margins": {"typical": {"ensemble": {"activation": "sign"}}}},
            ["margins.typical.ensemble.activation = sign: unknown key; allowed: model"],
        ),
        (
            {"margins": {"typical": {"ensemble": {"model": "tree_committee"}}}},
            ["margins.typical.ensemble.activation: missing; allowed: one of sign, relu"],
        ),
        (
            {"margins": {"typical": {"ensemble": {"model": "tree_committee", "activation": "relo"}}}},
            ["margins.typical.ensemble.activation = relo: allowed: one of sign, relu", "nearest: relu"],
        ),
        (
            {"margins": {"typical": {"ensemble": 3}}},
            ["typical.ensemble = 3: allowed: a mapping with keys model, activation or a mapping with keys model or"],
        ),
        ({"solve_sbpi": {"solver": "spbi"}}, ["solve_sbpi.solver = spbi: allowed: one of anneal", "nearest: sbpi"]),
        (
            {"solve_sbpi": {"sweeps": 3}},
            ["solve_sbpi.sweeps = 3: unknown key; allowed: solver, alpha_T, ", "… (13 in all)"],
        ),
        ({"solve_sbpi": {"passes": 0}}, ["solve_sbpi.passes = 0: allowed: an integer ≥ 1", "nearest: 1"]),
        (
            {"thresholds": {"ensemble": {"model": "tree"}}},
            [
                "thresholds.ensemble.model = tree: allowed: one of random_features, perceptron",
                "nearest: tree_committee",
            ],
        ),
        ({"typical": {"ensemble": {"model": "tree"}}}, ["typical.ensemble.model = tree: allowed: random_feat"]),
        ({"franz_parisi": {"smallest_distance": 0.6}}, ["smallest_distance = 0.6 must lie below"]),
        ({"franz_parisi": {"points": 0}}, ["points = 0", "nearest: 2"]),
        ({"franz_parisi": 3}, ["franz_parisi = 3", "mapping"]),
        (
            {"franz_parisi": {"curves": {"max_margin": {"inv_alphas": [0, 1]}}}},
            ["max_margin.inv_alphas[0] = 0", "≥ 1e-09"],
        ),
        ({"thresholds": {"over": {"alpha_T": {"from": 0}}}}, ["thresholds.over.alpha_T.from = 0", "nearest: 1e-09"]),
        (
            {"thresholds": {"over": {"alpha_T": {"from": 1e-5}}}},
            ["alpha_T = 1e-05: alpha_le is computed in [0.0001, 100]"],
        ),
        ({"thresholds": {"over": {"alpha_T": {"also": [0]}}}}, ["over.alpha_T.also[0] = 0", "≥ 1e-09"]),
        ({"typical": {"alphas_T": [0, 10]}}, ["typical.alphas_T[0] = 0", "≥ 1e-09"]),
        ({"seed": 2**63}, ["nearest: 9223372036854775807"]),
        ({"solve_sbpi": {"grids": [{}]}}, ["solve_sbpi.grids[0].D: missing"]),
        ({"solve_sbpi": {"grids": []}}, ["solve_sbpi.grids = []: allowed: a non-empty list, each entry a mapping"]),
        ({"typical": {"alphas_T": [0.1]}}, ["typical.alphas_T = [0.1]", "2 entries"]),
        ({"typical_points": {"alpha_T": 0.001}}, ["typical_points", "no patterns at D = 33"]),
        ({"solve_sbpi": {"alpha_T": 0.001}}, ["solve_sbpi", "no patterns at D = 67"]),
        ({"committee_sgd": {"inv_alphas": [1e300]}}, ["committee_sgd.inv_alphas[0]", "≤ 1e+06"]),
        (
            {"storage_limit": {"over": {"activation": ["sign", "sign"]}}},
            ["storage_limit.over.activation = ['sign', 'sign']: must differ from each other, got sign, sign"],
        ),
        ({"storage_limit": {"over": {"activation": ["tan"]}}}, ["over.activation[0] = tan", "nearest: tanh"]),
        (
            {"overparameterized_limit": {"over": {"margin": [0.5, 0.2]}}},
            ["overparameterized_limit.over.margin = [0.5, 0.2]: must increase strictly, but 0.2 follows 0.5"],
        ),
        (
            {"overparameterized_limit": {"over": {"alpha_T": {"from": 30}}}},
            ["over.alpha_T = {", "from = 30 must lie below to = 20", "allowed: a mapping with keys from, to, spacing"],
        ),
        (
            {"overparameterized_limit": {"over": {"alpha_T": {"to": "alpha_c"}}}},
            ["overparameterized_limit: alpha_T: alpha_c, overparameterized_limit needs its value"],
        ),
        ({"large_overparameterization": {"over": {"inv_alpha": [0]}}}, ["inv_alpha[0] = 0", "≥ 1e-09"]),
        ({"thresholds": {"ask": "alphac"}}, ["thresholds.ask = alphac: allowed: one of alpha_c", "nearest: alpha_c"]),
        ({"thresholds": {"over": {"alpha": [0.3]}}}, ["thresholds: alpha: no argument of alpha_c", "allowed: alpha_T"]),
        ({"thresholds": {"at": {"alpha_T": 3.0}}}, ["thresholds: alpha_T: is in over and in at; drop one"]),
        ({"thresholds": {"points": None}}, ["thresholds: points: missing; alpha_T varies along a line"]),
        ({"thresholds": {"at": {"inv_alpha": "1/alpha_lu"}}}, ["at.inv_alpha = 1/alpha_lu", "nearest: 1/alpha_le"]),
        (
            {"glm": {"transitions": {"ask": "alpha_c"}}},
            ["glm.transitions: ensemble: missing; alpha_c has a model"],
        ),
        ({"stability_density": {"inv_alphas": [0]}}, ["inv_alphas[0] = 0", "≥ 1e-09"]),
        ({"optimal_margin_onsets": {"over": {"alpha_T": [0]}}}, ["alpha_T[0] = 0", "≥ 1e-09"]),
        ({"committee_sgd": {"inv_alphas": [0]}}, ["inv_alphas[0] = 0", "≥ 1e-09"]),
        (
            {"solve_mct0": {"grids": [{"D": 9, "inv_alphas": [0], "margins": [0], "samples": 1}]}},
            ["solve_mct0.grids[0].inv_alphas[0] = 0", "≥ 1e-09"],
        ),
        (
            {"shaping": {"tree_solutions": {"algorithms": {"lal": {"batch": 0}}}}},
            ["tree_solutions.algorithms.lal.batch = 0", "an integer ≥ 1", "nearest: 1"],
        ),
        (
            {"shaping": {"tree_solutions": {"algorithms": {"lal": {"learning_rat": 1}}}}},
            ["algorithms.lal.learning_rat = 1: unknown key", "did you mean 'learning_rate'?"],
        ),
        (
            {"shaping": {"tree_solutions": {"algorithms": {"LAL": {"solver": "least_action"}}}}},
            ["tree_solutions.algorithms: LAL: allowed are names of the form"],
        ),
        # What another section's table will not have.
        (
            {"shaping": {"fashion_local_entropy": {"algorithms": ["fbp"]}}},
            [
                "fashion_local_entropy: algorithms: fbp: shaping/fashion_solutions has no such runs",
                "allowed: elal, ce_",
            ],
        ),
        (
            {"shaping": {"fashion_noise": {"algorithms": ["lal", "lal"]}}},
            ["fashion_noise.algorithms = ['lal', 'lal']: must differ from each other, got lal, lal"],
        ),
        (
            {"shaping": {"tree_spectra": {"rules": {"all": ["fpb"]}}}},
            ["tree_spectra: rules.all: fpb: shaping/tree_solutions has no such runs; allowed: fbp, "],
        ),
        (
            {"shaping": {"tree_solutions": {"samples": 2}, "tree_local_entropy": {"samples": 3}}},
            ["tree_local_entropy: samples = 3: shaping/tree_solutions has 2; allowed: an integer ≥ 1 and ≤ 2"],
        ),
        (
            {"glm": {"risk_runs": {"students": ["logstic"]}}},
            ["risk_runs: students: logstic: glm/risk has no such student", "allowed: logistic, square, hinge"],
        ),
        (
            {"glm": {"risk": {"students": {"hinge": {"regularization": [0.1, 1.0]}}}, "risk_runs": {"chunks": 2}}},
            ["risk_runs: students: hinge: glm/risk has no such student at one regularization; allowed: logistic, squ"],
        ),
        (
            {"glm": {"risk_runs": {"alphas": [0.9]}}},
            ["risk_runs: alphas: 0.9: allowed is a load of glm/risk; nearest: "],
        ),
        (
            {"glm": {"risk_runs": {"features": ["gaussian"]}}},
            ["risk_runs: features: gaussian: not what the students of glm/risk see; allowed: independent"],
        ),
        (
            {"glm": {"real_covariance": {"images": 100}, "real_runs": {"samples": [8, 51]}}},
            ["real_runs: samples: 51: allowed is at most 50, half of glm/real_covariance.images; nearest: 50"],
        ),
        (
            {"shaping": {"annealing": {"energies": [{"energy": "errors"}] * 2}}},
            ["annealing.energies", "each may be named once, got errors, errors"],
        ),
        ({"data": {"source": "miror"}}, ["data.source = miror", "nearest: mirror"]),
        ({"data": {"source": "mirror"}}, ["mirror = null: source = mirror needs the directory"]),
        ({"run": ""}, ["run = '': allowed: up to 64"]),
        ({"seed": -1}, ["seed = -1", "nearest: 0"]),
        ({"run": "a/b"}, ["run = a/b", "nearest: a-b"]),
    ],
)
def test_errors_name_what_is_wrong_and_what_is_allowed(overrides: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(overrides=overrides)
    message = str(caught.value)
    assert message.startswith("--config: ")
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_errors_name_the_file_that_set_the_value(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("franz_parisi:\n  inv_alpha: zero\n")
    with pytest.raises(ConfigError, match=r"mine\.yaml: franz_parisi\.inv_alpha = zero"):
        resolve(files=[file])
    file.write_text("franz_parisi: [")
    with pytest.raises(ConfigError, match=r"mine\.yaml: line 1 not valid YAML"):
        resolve(files=[file])
    file.write_text("- 1\n")
    with pytest.raises(ConfigError, match=r"mine\.yaml: must hold key: value pairs"):
        resolve(files=[file])
    with pytest.raises(ConfigError, match=r"absent\.yaml: no such configuration file"):
        resolve(files=[tmp_path / "absent.yaml"])


def test_a_scale_may_not_set_physics(root: Path) -> None:
    file = root / "config/overparam/sizes.yaml"
    file.write_text(file.read_text().replace("points:", "inv_alpha: 3\n  points:", 1))
    with pytest.raises(
        ConfigError, match=r"sizes\.yaml \(smoke\): franz_parisi\.inv_alpha: a scale changes sizes, never physics"
    ):
        resolve("smoke", root=root)


@pytest.mark.parametrize("points", ["[24, 108]", "[24, 108, 108, 108]", "{smoke: 24, papr: 108}"])
def test_a_size_has_a_value_for_each_scale(root: Path, points: str) -> None:
    file = root / "config/overparam/sizes.yaml"
    file.write_text(file.read_text().replace("points: [24, 108, 108]", f"points: {points}", 1))
    said = (
        r"^config/overparam/sizes\.yaml: franz_parisi\.points = .*: allowed: a value for each of smoke, default, paper"
    )
    with pytest.raises(ConfigError, match=said):
        resolve("smoke", root=root)


@pytest.mark.parametrize("points", ["[24, 108, 60]", "{paper: 60, smoke: 24, default: 108}"])
def test_a_scale_has_its_column_of_the_sizes(root: Path, points: str) -> None:
    file = root / "config/overparam/sizes.yaml"
    file.write_text(file.read_text().replace("points: [24, 108, 108]", f"points: {points}", 1))
    found = [resolve(scale, root=root).experiments["overparam/franz_parisi"] for scale in ("smoke", "default", "paper")]
    assert [parameters.points for parameters in found] == [24, 108, 60]  # type: ignore[attr-defined]


def test_a_missing_key_is_named(root: Path) -> None:
    file = root / "config/overparam/physics.yaml"
    file.write_text(file.read_text().replace("  inv_alpha:", "  # inv_alpha:", 1))
    with pytest.raises(ConfigError, match=r"franz_parisi\.inv_alpha: missing; allowed: a number ≥ 1e-09"):
        resolve(root=root)


def test_an_unknown_experiment_is_named(root: Path) -> None:
    file = root / "config/overparam/figures.yaml"
    file.write_text(file.read_text() + "figure99: {shows: nothing, experiments: [overparam/nothing]}\n")
    with pytest.raises(
        ConfigError,
        match=r"config/overparam/physics\.yaml: nothing: missing; a figure or claim names overparam/nothing",
    ):
        resolve(root=root)


def test_overrides_come_last_and_named_runs_have_their_own_folder(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("scale: smoke\nfranz_parisi: {inv_alpha: 1.7, points: 10}\n")
    configuration = resolve(files=[file], overrides={"run": "wide", "franz_parisi": {"inv_alpha": 1.9}})
    dumped = configuration.experiments["overparam/franz_parisi"].model_dump()
    assert configuration.folder == "smoke-wide"
    assert (dumped["inv_alpha"], dumped["points"]) == (1.9, 10)


@pytest.mark.parametrize(
    ("overrides", "folder"),
    [
        ({"franz_parisi": {"inv_alpha": 1.5}}, "smoke-franz_parisi.inv_alpha=1.5"),
        ({"franz_parisi": {"ensemble": {"activation": "tanh"}}}, "smoke-franz_parisi.ensemble.activation=tanh"),
        ({"seed": 3, "margins": {"typical": {"points": 9}}}, "smoke-seed=3,margins.typical.points=9"),
        ({"margins": {"typical": {"points": 9}}, "seed": 3}, "smoke-seed=3,margins.typical.points=9"),
        ({"mlp": {"device": "cuda"}}, "smoke-mlp.device=cuda"),
        ({"data": {"source": "mirror", "mirror": "a"}}, "smoke-data.source=mirror"),
        # These change no result.
        ({"franz_parisi": {"inv_alpha": 1.2, "chunks": 7}}, "smoke"),
        ({"data": {"source": "embedded", "mirror": "b"}}, "smoke"),
        ({"run": "wide", "franz_parisi": {"inv_alpha": 1.5}}, "smoke-wide"),
    ],
)
def test_a_run_without_a_name_is_called_after_the_values_that_differ(overrides: dict[str, Any], folder: str) -> None:
    assert resolve("smoke", overrides=overrides).folder == folder


def test_other_values_have_other_names_that_any_file_system_takes() -> None:
    values: list[Any] = [
        1,
        1.0,
        -0.0,
        0.0,
        1e-300,
        True,
        None,
        "1",
        "1.0",
        "true",
        "null",
        "None",
        "a",
        "A",
        "a b",
        "a_b",
        "a/b",
    ]
    values += ["", ".", "..", "é", "è", "x" * 80, "x" * 81, [1, 2], [12], [[1], 2], {"a": 1}, {"a": "1"}]
    changes: list[dict[str, Any]] = [{"key": value} for value in values]
    changes += [{"a.key": 1}, {"a": {"key": 1}}, {"a": 1, "key": 1}, {"a": "1,key=1"}]
    names = [name_changes(each) for each in changes]
    assert len({name.casefold() for name in names}) == len(names)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.=,+~-]*[A-Za-z0-9]", name) and len(name) <= LONGEST_NAME, name
        assert "=" in name or "~" in name  # no run of a user is called so


@pytest.mark.parametrize("scale", ["smoke", "paper"])
def test_the_words_of_a_configuration_make_it_again(scale: str) -> None:
    curves = {"one": {"margins_ref": [0.1, "max"], "margin": None, "inv_alphas": []}}
    overrides = {"franz_parisi": {"curves": curves, "inv_alpha": 1.5}, "margins": {"typical": {"points": 9}}, "seed": 7}
    made = resolve(scale, overrides=overrides)
    assert resolve(overrides=read_overrides(override_words(made))) == made
    named = resolve(scale, overrides=overrides, run="010")
    assert resolve(overrides=read_overrides(override_words(named))) == named
    mirrored = resolve(scale, overrides={"data": {"source": "mirror", "mirror": "/of the user/raw"}})
    assert resolve(overrides=read_overrides(override_words(mirrored))) == mirrored


def test_no_two_keys_differ_by_capital_letters_alone() -> None:
    keys = [f"{name}.{key}" for name, values in resolve("smoke").experiments.items() for key in values.model_dump()]
    assert len({key.casefold() for key in keys}) == len(keys)


def test_names_of_the_main_paper_are_bare() -> None:
    assert name_target("overparam", "figure3") == "figure3" and split_target("figure3") == ("overparam", "figure3")
    assert name_target("margins", "figure2") == "margins_figure2"


def test_a_papers_sections_lie_below_its_name(root: Path) -> None:
    shutil.copytree(root / "config/overparam", root / "config/sketch")
    (root / "config/sketch/claims.yaml").unlink()
    figures = root / "config/sketch/figures.yaml"
    figures.write_text("figure2: {shows: nothing, experiments: [sketch/typical, overparam/typical]}\n")
    for file in ("physics", "sizes"):
        path = root / f"config/sketch/{file}.yaml"
        path.write_text(yaml.safe_dump({"typical": yaml.safe_load(path.read_text())["typical"]}))
    assert find_papers(root) == [*find_papers(), "sketch"]
    assert "sketch_figure2" in read_figures(root)
    one = {"sketch": {"typical": {"points": 3}}, "typical": {"points": 4}}
    configuration = resolve("smoke", overrides=one, root=root)
    points = [configuration.experiments[f"{paper}/typical"].model_dump()["points"] for paper in ("overparam", "sketch")]
    assert points == [4, 3]
    same = resolve("smoke", overrides={"overparam": {"typical": {"points": 4}}}, root=root)
    assert same.experiments["overparam/typical"] == configuration.experiments["overparam/typical"]
    for wrong, message in (
        ({"sketch": {"typical": {"points": 1}}}, "--config: sketch.typical.points = 1: allowed: an integer ≥ 2 and"),
        ({"sketch": {"typicl": {}}}, "--config: sketch.typicl: unknown key; did you mean 'typical'?"),
        ({"sketh": {}}, "--config: sketh: unknown key; did you mean 'sketch'?"),
        ({"sketch": 3}, "--config: sketch = 3: must be a mapping with keys typical"),
        ({"overparam": {"typical": {"points": 1}}}, "--config: overparam.typical.points = 1: allowed"),
    ):
        with pytest.raises(ConfigError) as caught:
            resolve("smoke", overrides=wrong, root=root)
        assert str(caught.value).startswith(message)
    figures.write_text(figures.read_text().replace("sketch/typical", "sktech/typical"))
    with pytest.raises(
        ConfigError, match=r"config/sketch/figures\.yaml: figure2\.experiments = sktech/typical: allowed"
    ):
        resolve("smoke", root=root)


@pytest.mark.parametrize("name", ["typical", "data", "scale"])
def test_a_paper_is_not_called_as_a_key(root: Path, name: str) -> None:
    (root / "config" / name).mkdir()
    (root / "config" / name / "figures.yaml").touch()
    with pytest.raises(ConfigError, match=f"config/{name}: a key or section of overparam has this name too"):
        resolve(root=root)


def test_a_wrong_program_is_named(root: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"--config: typical\.program = typicle: no such program; did you mean 'typical'"
    ):
        resolve(overrides={"typical": {"program": "typicle"}})
    for word in ("parameters", "../x", "3"):
        with pytest.raises(ConfigError, match="no such program"):
            resolve(overrides={"typical": {"program": word}})


def test_sizes_of_plus_minus_one_sums_are_odd_and_grids_increase() -> None:
    class Sizes(BaseModel):
        N: OddSize
        widths: Annotated[Increasing[Size], "grid"]

    assert Sizes(N=11, widths=(1, 2)).N == 11
    with pytest.raises(ValidationError, match=r"must be odd.*nearest: 13"):
        Sizes(N=12, widths=(1, 2))
    with pytest.raises(ValidationError, match="must increase strictly"):
        Sizes(N=11, widths=(2, 2))


def test_generated_files_are_current() -> None:
    assert (ROOT / reference.TABLE).read_text() == reference.table_text(), "run `make docs`"
    assert (ROOT / reference.QUANTITIES).read_text() == reference.quantities_text(), "run `make docs`"


def test_the_page_of_figures_lists_every_figure() -> None:
    text = (ROOT / "docs/figures.md").read_text()
    for target, figure in read_figures().items():
        assert f"| `{target}` | {figure.shows} |" in text
