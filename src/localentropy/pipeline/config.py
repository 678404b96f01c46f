"""The configuration: which files are merged, in which order, and what is wrong with them in one line.

Later layers win: `config/default.yaml` (physics), `config/scales/<scale>.yaml` (sizes only), the user's YAML files,
`key=value` overrides. An error names the layer that set the value, the key, the value, what is allowed and the
nearest valid choice.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from localentropy.errors import ConfigError
from localentropy.experiments.parameters import Experiment, ExperimentParameters
from localentropy.pipeline.allowed import allowed, field_schema, nearest, shown

ROOT = Path(__file__).resolve().parents[3]
SCALES = ("smoke", "default", "paper")
PAPERS = ("overparam", "margins", "shaping", "glm")
MAIN_PAPER = "overparam"

# What PyYAML raises besides its own errors: for a day that no month has, a number of thousands of digits, and
# brackets nested a thousand deep.
_SCALAR_ERRORS = (ValueError, OverflowError, RecursionError)

Tree = Mapping[str, Any]
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Layer:
    """One source of configuration values: a file, or the overrides of a command line."""

    name: str
    values: Tree


def _nameable(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("no file system has such a name")
    return path


class DataSettings(BaseModel):
    """Where real datasets come from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Literal["embedded", "mirror", "download"] = Field(
        description="`embedded` (in the repository), `mirror` (a directory with the official files) or `download`"
    )
    mirror: Annotated[Path, AfterValidator(_nameable)] | None = Field(description="the directory that `mirror` reads")


class General(BaseModel):
    """Keys that belong to no experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = Field(ge=0, le=2**63 - 1, description="root of every random stream")
    data: DataSettings


class Figure(BaseModel):
    """One entry of `config/figures.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shows: str = Field(description="what the figure shows, in one line of the README's table")
    experiments: tuple[str, ...] = Field(
        min_length=1, description="the experiments whose tables it draws, as <paper>/<name>"
    )


class Claim(BaseModel):
    """One entry of `config/claims.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: str = Field(min_length=1, description="what the paper says, in one sentence of our own")
    source: str = Field(min_length=1, description="where it says so: section, figure")
    printed: str | None = Field(description="the number that the paper prints, where it prints one")
    test: str = Field(
        pattern=r"^[a-z]+\.[a-z0-9_]+\.[a-z0-9_]+$",
        description="<paper>.<module>.<function> below localentropy.claims, which turns the tables into a finding",
    )
    experiments: tuple[str, ...] = Field(min_length=1, description="the experiments whose tables it is tested on")

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.test.partition(".")[0]


@dataclass(frozen=True)
class Configuration:
    """A resolved configuration.

    Attributes:
        scale: smoke, default or paper.
        folder: the path component of everything computed with it: the scale, or `<scale>-<run>` of a named run.
        seed: root seed.
        data: where real datasets come from.
        figures: target name → figure.
        claims: identifier → claim.
        experiments: `<paper>/<name>` → its typed parameters.
    """

    scale: str
    folder: str
    seed: int
    data: DataSettings
    figures: dict[str, Figure]
    claims: dict[str, Claim]
    experiments: dict[str, ExperimentParameters]


def resolve(
    scale: str | None = None,
    files: Sequence[Path] = (),
    overrides: Tree | None = None,
    run: str | None = None,
    root: Path = ROOT,
    option: str = "--config",
) -> Configuration:
    """Merge all layers and validate the result.

    Args:
        scale: smoke, default or paper; `scale` in `files` or `overrides` serves when it is None.
        files: the user's YAML files, later ones win.
        overrides: values of the command line; strings in it are read as YAML.
        run: name of the run; `run` in `files` or `overrides` serves when it is None.
        root: the repository's root.
        option: what error messages call the overrides.

    Raises:
        ConfigError: one line that names layer, key, value, what is allowed and the nearest valid choice.
    """
    user = [Layer(str(file), read_yaml(file)) for file in files]
    user.append(Layer(option, _parsed(overrides or {})))
    scale = _take_scale(scale, user)
    run = _take_run([*user, Layer("--run", {"run": run})])
    figures, claims = read_figures(root), read_claims(root)
    shipped = [
        Layer("config/default.yaml", read_yaml(root / "config/default.yaml")),
        Layer(f"config/scales/{scale}.yaml", read_yaml(root / f"config/scales/{scale}.yaml")),
    ]
    keys = {experiment_key(name): name for name in experiment_names(figures, claims)}
    layers = [*shipped, *(Layer(layer.name, _without(layer.values, "scale", "run")) for layer in user)]
    _check_top_level(layers, [*General.model_fields, *keys], ["scale", "run"])
    models = {key: load_experiment(name).Parameters for key, name in keys.items()}
    _check_sizes_only(shipped[1], models)
    general = _validate(General, "", layers, tuple(General.model_fields))
    return Configuration(
        scale=scale,
        folder=f"{scale}-{run}" if run else scale,
        seed=general.seed,
        data=general.data,
        figures=figures,
        claims=claims,
        experiments={keys[key]: _validate(model, key, layers) for key, model in models.items()},
    )


def read_figures(root: Path = ROOT) -> dict[str, Figure]:
    """The figures of `config/figures.yaml`, by target name.

    Raises:
        ConfigError: an entry is malformed, or its experiments or name belong to no known paper.
    """
    layer = Layer("config/figures.yaml", read_yaml(root / "config/figures.yaml"))
    for name in layer.values:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ConfigError(f"{layer.name}: {shown(name)}: a figure is named by lower-case letters, digits and '_'")
    figures = {name: _validate(Figure, name, [layer]) for name in layer.values}
    _check_experiment_names(layer, figures)
    return figures


def read_claims(root: Path = ROOT) -> dict[str, Claim]:
    """The claims of `config/claims.yaml`, by identifier.

    Raises:
        ConfigError: an entry is malformed, or its experiments belong to no known paper.
    """
    layer = Layer("config/claims.yaml", read_yaml(root / "config/claims.yaml"))
    claims = {name: _validate(Claim, name, [layer]) for name in layer.values}
    _check_experiment_names(layer, claims)
    return claims


def experiment_names(figures: Mapping[str, Figure], claims: Mapping[str, Claim]) -> list[str]:
    """Every experiment, `<paper>/<name>`: the figures' in their order, then those that only claims ask for."""
    entries: list[Figure | Claim] = [*figures.values(), *claims.values()]
    return list(dict.fromkeys(name for entry in entries for name in entry.experiments))


def _check_experiment_names(layer: Layer, entries: Mapping[str, Figure | Claim]) -> None:
    for key, entry in entries.items():
        for name in entry.experiments:
            if not re.fullmatch(rf"({'|'.join(PAPERS)})/[a-z][a-z0-9_]*", name):
                raise ConfigError(
                    f"{layer.name}: {shown(key)}.experiments = {shown(name)}: allowed: <paper>/<name>, "
                    f"paper one of {', '.join(PAPERS)}"
                )


def load_experiment(name: str) -> Experiment:
    """The module behind `<paper>/<name>`.

    Raises:
        ConfigError: there is no such module.
    """
    module = f"localentropy.experiments.{name.replace('/', '.')}"
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            raise ConfigError(f"config/: no experiment {name}: {module} does not exist") from None
        raise


def experiment_key(name: str) -> str:
    """Configuration key of `<paper>/<name>`: the bare name for the main paper, else `<paper>_<name>`."""
    paper, _, short = name.partition("/")
    return short if paper == MAIN_PAPER else f"{paper}_{short}"


def split_figure(target: str) -> tuple[str, str]:
    """Paper and module of a figure's target: figure3 → (overparam, figure3), margins_figure2 → (margins, figure2)."""
    paper, _, module = target.partition("_")
    return (paper, module) if paper in PAPERS else (MAIN_PAPER, target)


def read_yaml(file: Path) -> Tree:
    """A YAML file that holds one mapping.

    Raises:
        ConfigError: the file is missing, is not YAML, or holds something else.
    """
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{file}: no such configuration file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read ({error})") from None
    except (yaml.YAMLError, *_SCALAR_ERRORS) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{file}:{where} not valid YAML ({shown(str(getattr(error, 'problem', error)))})") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{file}: must hold key: value pairs, found {type(values).__name__}")
    return {str(key): value for key, value in values.items()}


def did_you_mean(key: object, choices: Sequence[str]) -> str:
    """`did you mean 'x'? allowed: …` for a key or value that is none of the choices."""
    close = difflib.get_close_matches(str(key), choices, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}allowed: {', '.join(choices)}"


def require_known(name: str, choices: Collection[str], what: str) -> None:
    """Refuse a name that is none of the choices; `what` says what it should have been the name of.

    Raises:
        ConfigError: with the nearest choice.
    """
    if name not in choices:
        raise ConfigError(f"{name}: no such {what}; {did_you_mean(name, list(choices))}")


def _take_scale(scale: str | None, user: Sequence[Layer]) -> str:
    chosen = Layer("--scale", {"scale": scale})
    if scale is None:
        chosen = next((layer for layer in reversed(user) if "scale" in layer.values), Layer("", {"scale": "default"}))
    value = chosen.values["scale"]
    if value not in SCALES:
        raise ConfigError(f"{chosen.name}: scale = {shown(value)}: {did_you_mean(value, SCALES)}")
    return str(value)


def _take_run(user: Sequence[Layer]) -> str | None:
    layer = next((layer for layer in reversed(user) if layer.values.get("run") is not None), None)
    if layer is None:
        return None
    value = str(layer.values["run"])
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", value):
        valid = re.sub(r"[^A-Za-z0-9_.-]+", "-", value).strip("-.")[:64] or "my-run"
        raise ConfigError(
            f"{layer.name}: run = {shown(value)}: allowed: up to 64 letters, digits, '_', '-', '.'; nearest: {valid}"
        )
    return value


def _without(tree: Tree, *keys: str) -> Tree:
    return {key: value for key, value in tree.items() if key not in keys}


def _parsed(value: Any) -> Any:
    """Read the strings of a command line's tree as YAML (Snakemake hands nested values over as text)."""
    if isinstance(value, Mapping):
        return {str(key): _parsed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_parsed(item) for item in value]
    if isinstance(value, str):
        try:
            return yaml.safe_load(value)
        except (yaml.YAMLError, *_SCALAR_ERRORS):
            return value
    return value


def _check_top_level(layers: Sequence[Layer], keys: Sequence[str], user_keys: Sequence[str]) -> None:
    for layer in layers:
        choices = [*keys, *user_keys] if not layer.name.startswith("config/") else keys
        for key in layer.values:
            if key not in keys:
                raise ConfigError(f"{layer.name}: {shown(key)}: unknown key; {did_you_mean(key, sorted(choices))}")


def _check_sizes_only(scale: Layer, models: Mapping[str, type[ExperimentParameters]]) -> None:
    for key, values in scale.values.items():
        properties = models[key].model_json_schema()["properties"] if key in models else {}
        for name in values if isinstance(values, Mapping) else ():
            if name in properties and not properties[name].get("size"):
                raise ConfigError(
                    f"{scale.name}: {key}.{name}: a scale changes sizes, never physics; set it in config/default.yaml"
                )


def _validate(model: type[Model], key: str, layers: Sequence[Layer], only: tuple[str, ...] | None = None) -> Model:
    """Merge `key` of all layers (the whole layers where key is empty) and build the model from it."""
    merged: dict[str, Any] = {}
    for layer in layers:
        values = (
            layer.values.get(key, {})
            if key
            else {name: layer.values[name] for name in only or () if name in layer.values}
        )
        if values is None:
            values = {}
        if not isinstance(values, Mapping):
            raise ConfigError(
                f"{layer.name}: {shown(key)} = {shown(values)}: "
                f"must be a mapping with keys {', '.join(model.model_fields)}"
            )
        merged = _merge(merged, values)
    try:
        return model.model_validate(merged)
    except ValidationError as error:
        raise ConfigError(_one_line(model, key, layers, merged, error)) from None


def _merge(base: Tree, update: Tree) -> dict[str, Any]:
    merged = dict(base)
    for key, value in update.items():
        old = merged.get(str(key))
        merged[str(key)] = _merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def _one_line(model: type[BaseModel], key: str, layers: Sequence[Layer], merged: Tree, error: ValidationError) -> str:
    """The first problem of a validation error, as one line."""
    problem = error.errors(include_url=False)[0]
    # Only names and positions that exist in the data: pydantic also lists the branches of unions.
    location: list[str | int] = []
    value: Any = merged
    for part in problem["loc"]:
        if _has(value, part):
            value = value[part]
        elif problem["type"] != "missing" or isinstance(part, int):
            continue
        location.append(part)
    path = ([key] if key else []) + location
    dotted = shown("".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip("."))
    refused = f"{dotted} = {shown(value)}"
    layer = _setter(layers, path)
    schema = field_schema(model, location)
    if problem["type"] == "extra_forbidden":
        siblings = field_schema(model, location[:-1]).get("properties", {})
        return f"{layer}: {refused}: unknown key; {did_you_mean(location[-1], list(siblings))}"
    if problem["type"] == "missing" and not isinstance(problem["loc"][-1], int):  # then it is the list that is short
        return f"{layer}: {dotted}: missing; allowed: {allowed(schema)}"
    if problem["type"] == "value_error" and not location:
        return f"{layer}: {dotted}: {problem['ctx']['error']}"
    if problem["type"] == "value_error":
        return f"{layer}: {refused}: {problem['ctx']['error']}; allowed: {allowed(schema)}"
    choice = nearest(value, schema)
    return f"{layer}: {refused}: allowed: {allowed(schema)}" + (f"; nearest: {choice}" if choice else "")


def _setter(layers: Sequence[Layer], path: Sequence[str | int]) -> str:
    """Name of the last layer that set the value at the path, or the longest part of it."""
    best, depth = layers[0].name, 0
    for layer in layers:
        value: Any = layer.values
        reached = 0
        for part in path:
            if not _has(value, part):
                break
            value = value[part]
            reached += 1
        if reached >= depth and reached > 0:
            best, depth = layer.name, reached
    return best


def _has(value: Any, part: str | int) -> bool:
    if isinstance(value, (list, tuple)):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, Mapping) and part in value
