"""The configuration: files are merged in a fixed order and checked. An error is one line.

A paper is a folder of `config/`. Nothing else lists the papers. Later layers win: `config/<paper>/physics.yaml`, the
scale's column of `config/<paper>/sizes.yaml`, the user's YAML files, `key=value` overrides. An error names the layer
that set the value, the key, the value, what is allowed and the nearest valid choice.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from localentropy import quantities
from localentropy.arguments import listed, nearest_choice
from localentropy.atomic import is_special
from localentropy.claims.claim import Claim
from localentropy.data.registry import DataSource
from localentropy.errors import ConfigError
from localentropy.pipeline import provenance, yaml12
from localentropy.pipeline.allowed import allowed, field_schema, has, nearest, shown
from localentropy.programs.parts.parameters import SIZE, Experiment, ExperimentParameters, given

ROOT = Path(__file__).resolve().parents[3]
SCALES = ("smoke", "default", "paper")
MAIN_PAPER = "overparam"
"""The paper with bare names of figures and sections. Others have `<paper>_<figure>` and `<paper>: {<section>: …}`."""

OPTION = "--config"
"""The option of overrides, of Snakemake and of our commands."""
LONGEST_NAME = 64
"""Largest number of characters of a run's name, chosen by the user or made of values."""

Tree = Mapping[str, Any]
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Layer:
    """One source of configuration values: a file, or the overrides of a command line.

    Attributes:
        name: its name in error messages.
        values: section → its values.
        prefix: text before a section's name in this source.
    """

    name: str
    values: Tree
    prefix: str = ""


def _nameable(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("no file system has such a name")
    return path


class DataSettings(BaseModel):
    """The sources of real datasets and of tables."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: DataSource = Field(
        description="`embedded` (in the repository), `mirror` (a directory with the official files) or `download`"
    )
    mirror: Annotated[Path, AfterValidator(_nameable)] | None = Field(description="the directory that `mirror` reads")
    archive: Annotated[Path, AfterValidator(_nameable)] | None = Field(
        description="an archive (`make archive`): a run takes the tables that it has in place of computing them"
    )
    committed: bool = Field(
        description="whether tables that come with the repository (`data/tables`) are used, not computed"
    )

    @model_validator(mode="after")
    def _mirror_is_named(self) -> Self:
        if self.source == "mirror" and self.mirror is None:
            raise ValueError("mirror = null: source = mirror needs the directory with the official files")
        return self


class General(BaseModel):
    """Keys that belong to no experiment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = given(quantities.ROOT_SEED, "root of every random stream")
    data: DataSettings


class Figure(BaseModel):
    """One entry of `config/<paper>/figures.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shows: str = Field(description="what the figure shows, in one line of the report and of `explore`")
    experiments: tuple[str, ...] = Field(
        min_length=1, description="the experiments whose tables it draws, as <paper>/<name>"
    )


class Source(BaseModel):
    """`config/<paper>/source.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Literal["paper", "talk"] = Field(description="what the sentences of the claims are from")


@dataclass(frozen=True)
class Configuration:
    """A resolved configuration.

    Attributes:
        scale: smoke, default or paper.
        run: name of the run; None if the user gave none.
        changes: dotted key → value, of the values that results depend on and that are not those of the scale.
        seed: root seed.
        data: where real datasets, and tables that are not computed, come from.
        figures: target name → figure.
        claims: identifier → claim.
        experiments: `<paper>/<name>` → its typed parameters; those whose tables an experiment reads come before it.
    """

    scale: str
    run: str | None
    changes: dict[str, Any]
    seed: int
    data: DataSettings
    figures: dict[str, Figure]
    claims: dict[str, Claim]
    experiments: dict[str, ExperimentParameters]

    @property
    def folder(self) -> str:
        """The folder name of all results of this configuration: the scale, and the run's name or the changed values."""
        name = self.run or name_changes(self.changes)
        return f"{self.scale}-{name}" if name else self.scale


def resolve(
    scale: str | None = None,
    files: Sequence[Path] = (),
    overrides: Tree | None = None,
    run: str | None = None,
    root: Path = ROOT,
) -> Configuration:
    """Merge all layers and validate the result.

    Args:
        scale: smoke, default or paper; None takes `scale` from `files` or `overrides`.
        files: the user's YAML files, later ones win.
        overrides: values of the command line (`read_overrides`).
        run: name of the run; None takes `run` from `files` or `overrides`.
        root: the repository's root.

    Raises:
        ConfigError: one line that names layer, key, value, what is allowed and the nearest valid choice.
    """
    for name, value in (("scale", scale), ("run", run)):
        if value is not None and (overrides or {}).get(name, value) != value:
            raise ConfigError(f"{OPTION}: {name} = {shown((overrides or {})[name])}: --{name} says {shown(value)}")
    user = [Layer(str(file), read_yaml(file)) for file in files]
    user.append(Layer(OPTION, overrides or {}))
    scale = _take_scale(scale, user)
    run = _take_run([*user, Layer("--run", {"run": run})])
    figures, claims = read_figures(root), read_claims(root)
    shipped = _read(root, "config/general.yaml")
    general_keys = list(General.model_fields)
    _check_keys(shipped, general_keys)
    papers, own_keys = find_papers(root), [*general_keys, "scale", "run"]
    for paper in papers:
        if paper in [*own_keys, *_read(root, f"config/{MAIN_PAPER}/physics.yaml").values]:
            raise ConfigError(f"config/{paper}: a key or section of {MAIN_PAPER} has this name too; rename the paper")
    asked = experiment_names(figures, claims)
    layers = {paper: [_read(root, f"config/{paper}/physics.yaml"), _sizes(root, paper, scale)] for paper in papers}
    sections = {paper: list(dict.fromkeys([*_sections(asked, paper), *layers[paper][0].values])) for paper in papers}
    for layer in user:
        _check_keys(layer, [*own_keys, *papers], sections[MAIN_PAPER])
    of_user = [Layer(layer.name, _only(layer.values, general_keys)) for layer in user]
    general = _validate(General, "", [shipped, *of_user])
    for paper, names in sections.items():
        _check_keys(layers[paper][1], names)
    changed = {
        paper: [part for layer in user for part in _of_paper(layer, paper, names)] for paper, names in sections.items()
    }
    experiments = _experiments(asked, {paper: [*layers[paper], *changed[paper]] for paper in papers})
    for paper, (physics, *_) in layers.items():
        _check_keys(physics, _sections(experiments, paper))
    changes = {}
    if any(layer.values for layer in [*of_user, *(part for parts in changed.values() for part in parts)]):
        whole = values_of_results(_validate(General, "", [shipped]), _experiments(asked, layers))
        changes = _differences(values_of_results(general, experiments), whole)
    return Configuration(
        scale=scale,
        run=run,
        changes=changes,
        seed=general.seed,
        data=general.data,
        figures=figures,
        claims=claims,
        experiments=experiments,
    )


def values_of_results(general: General | Configuration, experiments: Mapping[str, ExperimentParameters]) -> Tree:
    """Section → all values that results depend on. The stamps have these values."""
    sections = {
        name_section(name): parameters.model_dump(mode="json", exclude={"chunks"})
        for name, parameters in experiments.items()
    }
    data = {"source": general.data.source, "committed": general.data.committed}
    return {"seed": general.seed, "data": data} | sections


def _differences(values: Tree, shipped: Tree, prefix: str = "") -> dict[str, Any]:
    """Dotted key → value, for the values that are not the shipped ones. A mapping that lacks keys is one value."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        old: Any = shipped.get(key)
        where = f"{prefix}{key}"
        if key in shipped and provenance.canonical_json({"": value}) == provenance.canonical_json({"": old}):
            continue
        both = isinstance(value, Mapping) and isinstance(old, Mapping) and value.keys() >= old.keys()
        if both and all(re.fullmatch(r"\w+", str(inner)) for inner in value):
            found |= _differences(value, old, f"{where}.")
        else:
            found[where] = value
    return found


def name_changes(changes: Tree) -> str:
    """A name for changed values. It has at most 64 characters, any file system takes it, and no other values have it.

    It is the values themselves, such as `franz_parisi.inv_alpha=1.5`. If they are long, or have other characters than
    a name may have, it is their beginning and a hash. It has `=` or `~`, so no name of a user's run is equal to it.
    """
    text = ",".join(f"{key}={_spelled(value)}" for key, value in changes.items())
    plain = re.sub(r"[^A-Za-z0-9_.=,+-]+", "_", text)
    if plain == text and len(text) <= LONGEST_NAME:
        return text
    mark = "~" + provenance.canonical_hash(changes)[:12]
    return plain[: LONGEST_NAME - len(mark)] + mark


def _spelled(value: Any) -> str:
    """A value as YAML. Text that is a plain word in small letters needs no quotes."""
    word = isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_]*", value) and value not in ("true", "false", "null")
    return value if word else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def override_words(configuration: Configuration) -> tuple[str, ...]:
    """The words behind `--config` that make this configuration from the shipped one."""
    scale = [f"scale={configuration.scale}"] if configuration.scale != "default" else []
    run = [f"run={configuration.run}"] if configuration.run else []
    # No result depends on where the mirror is, so it is among no changes.
    data = configuration.data
    mirror = [f"data.mirror={_spelled(str(data.mirror))}"] if data.source == "mirror" else []
    return (*scale, *run, *(f"{key}={_spelled(value)}" for key, value in configuration.changes.items()), *mirror)


def find_papers(root: Path = ROOT) -> list[str]:
    """The papers, the main one first: the folders of `config/`.

    Raises:
        ConfigError: a folder's name is not that of a paper.
    """
    names = sorted(path.name for path in (root / "config").iterdir() if path.is_dir() and path.name[0] not in "._")
    for name in names:
        if not re.fullmatch(r"[a-z]+", name):
            raise ConfigError(f"config/{shown(name)}: a paper's folder is named by lower-case letters only")
    return sorted(names, key=lambda name: name != MAIN_PAPER)


def read_figures(root: Path = ROOT) -> dict[str, Figure]:
    """The figures of every `config/<paper>/figures.yaml`, by target name.

    Raises:
        ConfigError: an entry is malformed, its experiments belong to no paper, or two figures have one target.
    """
    figures: dict[str, Figure] = {}
    papers = find_papers(root)
    for paper in papers:
        layer = _read(root, f"config/{paper}/figures.yaml")
        for name in layer.values:
            if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                raise ConfigError(
                    f"{layer.name}: {shown(name)}: a figure is named by lower-case letters, digits and '_'"
                )
            if paper == MAIN_PAPER and name.partition("_")[0] in papers:
                raise ConfigError(f"{layer.name}: {name}: another paper's figures begin with this; choose another name")
        entries = {name: _validate(Figure, name, [layer]) for name in layer.values}
        _check_experiment_names(layer, {name: entry.experiments for name, entry in entries.items()}, papers)
        figures |= {name_target(paper, name): entry for name, entry in entries.items()}
    return figures


def read_claims(root: Path = ROOT) -> dict[str, Claim]:
    """The claims of every `config/<paper>/claims.yaml`, by identifier; a paper may have none.

    Raises:
        ConfigError: an entry is malformed, it names an unknown paper or a test of another paper, or two claims have one
            identifier.
    """
    claims: dict[str, Claim] = {}
    papers = find_papers(root)
    for paper in papers:
        if not (root / f"config/{paper}/claims.yaml").exists():
            continue
        layer = _read(root, f"config/{paper}/claims.yaml")
        entries = {name: _validate(Claim, name, [layer]) for name in layer.values}
        _check_experiment_names(layer, {name: [*entry.arguments.values()] for name, entry in entries.items()}, papers)
        for name, entry in entries.items():
            where = f"{layer.name}: {shown(name)}"
            if entry.paper != paper:
                raise ConfigError(f"{where}.test = {entry.test}: allowed: {paper}.<module>.<function>")
            if len(entry.arguments) < len(entry.experiments):
                raise ConfigError(
                    f"{where}.experiments = {shown(', '.join(entry.experiments))}: two are called the same; "
                    "allowed: a mapping argument: <paper>/<name>"
                )
            if name in claims:
                raise ConfigError(f"{where}: config/{claims[name].paper}/claims.yaml has a claim of this name")
        claims |= entries
    return claims


def read_text(paper: str, root: Path = ROOT) -> str:
    """What the claims of a paper's folder are from, in one word: `paper`, or what its `source.yaml` says.

    Raises:
        ConfigError: the file is malformed.
    """
    name = f"config/{paper}/source.yaml"
    return _validate(Source, "", [_read(root, name)]).text if (root / name).exists() else "paper"


def experiment_names(figures: Mapping[str, Figure], claims: Mapping[str, Claim]) -> list[str]:
    """Every experiment, `<paper>/<name>`: the figures' in their order, then those that only claims ask for."""
    drawn = [name for figure in figures.values() for name in figure.experiments]
    tested = [name for claim in claims.values() for name in claim.arguments.values()]
    return list(dict.fromkeys([*drawn, *tested]))


@functools.cache
def load_program(paper: str, program: str) -> Experiment:
    """The module of a program: the paper's own (`programs/<paper>/`), or one that all papers share.

    Raises:
        ConfigError: there is no such program.
    """
    modules = (f"localentropy.programs.{paper}.{program}", f"localentropy.programs.{program}")
    for module in modules if re.fullmatch(r"[a-z][a-z0-9_]*", program) else ():
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name and module.startswith(error.name):
                continue
            raise
        if hasattr(found, "compute"):
            return found
    raise ConfigError(f"no such program; {did_you_mean(program, _programs(paper))}")


def _programs(paper: str) -> list[str]:
    """Names of the programs that a paper's sections may use."""
    package = Path(__file__).resolve().parents[1] / "programs"
    files = [*package.glob("*.py"), *package.glob(f"{paper}/*.py")]
    return sorted(file.stem for file in files if "\ndef compute(" in file.read_text(encoding="utf-8"))


def name_target(paper: str, name: str) -> str:
    """Target of a figure: its bare name for the main paper, else `<paper>_<name>`."""
    return name if paper == MAIN_PAPER else f"{paper}_{name}"


def name_section(experiment: str) -> str:
    """Section of an experiment in a user's configuration: bare name for the main paper, else `<paper>.<name>`."""
    paper, _, name = experiment.partition("/")
    return name if paper == MAIN_PAPER else f"{paper}.{name}"


def bare_target(name: str) -> str:
    """The target of a name that may stand behind the main paper's key: `figure3` of `overparam_figure3`."""
    return name.removeprefix(f"{MAIN_PAPER}_")


def find_target(name: str, targets: Collection[str], what: str) -> str:
    """The target that a user names (`bare_target`).

    Raises:
        ConfigError: there is none; with the nearest ones.
    """
    bare = bare_target(name)
    target = bare if bare in targets and name not in targets else name
    require_known(target, targets, what)
    return target


def split_target(target: str) -> tuple[str, str]:
    """Paper and module of a figure's target: figure3 → (overparam, figure3), margins_figure2 → (margins, figure2)."""
    paper, _, module = target.partition("_")
    return (paper, module) if paper in find_papers() else (MAIN_PAPER, target)


_parse_yaml = functools.lru_cache(maxsize=32)(yaml12.parse)


def read_yaml(file: Path) -> Tree:
    """A YAML file that holds one mapping.

    Raises:
        ConfigError: the file is missing, is not YAML, has a key twice, or holds something else.
    """
    if is_special(file):  # Snakemake has read a pipe to its end: nothing would ever come
        raise ConfigError(f"{file}: a folder, a pipe or a device; write the configuration to a file")
    try:
        values = _parse_yaml(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{file}: no such configuration file") from None
    except yaml12.YamlError as error:
        where = f" line {error.line}" if error.line else ""
        raise ConfigError(f"{file}:{where} not valid YAML ({shown(str(error))})") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read ({error})") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{file}: must hold key: value pairs, found {type(values).__name__}")
    return values


def split_overrides(text: str) -> list[str]:
    """The overrides in one text, such as make's SET: words between spaces, in quotes if they have spaces themselves.

    Raises:
        ConfigError: a quote is not closed.
    """
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ConfigError(
            f"SET = {shown(text)}: {error}; allowed: key=value words, in quotes if they have spaces"
        ) from None


def read_overrides(items: Iterable[str]) -> Tree:
    """The values of a command line: `key=value` or `key.key=value`, each value as YAML.

    Raises:
        ConfigError: an item has another form, or says what an earlier one has said.
    """
    tree: Tree = {}
    for item in items:
        if any("\ud800" <= character <= "\udfff" for character in item):  # bytes of a shell that are no UTF-8
            raise ConfigError(f"{OPTION} {shown(item)}: not UTF-8 text")
        path, equals, text = item.partition("=")
        keys = path.split(".")
        if not equals or not all(keys):
            raise ConfigError(
                f"{OPTION} {shown(item)}: allowed: key=value or key.key=value, in quotes if there are spaces in it"
            )
        value = _override(text, f"{OPTION} {shown(item)}")
        if keys == ["run"]:  # a name, such as 010
            value = text or None
        for key in reversed(keys):
            value = {key: value}
        tree = _join(tree, value, f"{OPTION} {shown(item)}", OPTION)
    return tree


def _override(text: str, where: str) -> Any:
    """A value of a command line. What is no YAML is text, such as a path with a bracket in it."""
    try:
        return yaml12.parse(text)
    except yaml12.RepeatedKeyError as error:
        raise ConfigError(f"{where}: {error}") from None
    except yaml12.YamlError:
        return text


def _join(base: Tree, update: Tree, where: str, earlier: str, prefix: str = "") -> Tree:
    """Both trees in one.

    Raises:
        ConfigError: both set a value.
    """
    joined = dict(base)
    for key, value in update.items():
        old = joined.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            joined[key] = _join(old, value, where, earlier, f"{prefix}{key}.")
        elif key in joined:
            raise ConfigError(f"{where}: {shown(prefix + key)} was set to {shown(old)} by an earlier {earlier}")
        else:
            joined[key] = value
    return joined


def did_you_mean(key: object, choices: Sequence[str]) -> str:
    """`did you mean 'x'? allowed: …` for a key or value that is not one of the choices."""
    close = nearest_choice(key, choices)
    hint = f"did you mean {close!r}? " if close else ""
    return f"{hint}allowed: {listed(key, choices)}"


def require_known(name: str, choices: Collection[str], what: str) -> None:
    """Refuse a name that is not one of the choices; `what` is the kind of thing that was expected.

    Raises:
        ConfigError: with the nearest choice.
    """
    if name not in choices:
        raise ConfigError(f"{shown(name)}: no such {what}; {did_you_mean(bare_target(name), list(choices))}")


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
    value = layer.values["run"]
    if not isinstance(value, str):
        raise ConfigError(f"{layer.name}: run = {shown(value)}: allowed: text; write a number or true in quotes")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", value) or len(value) > LONGEST_NAME:
        valid = re.sub(r"[^A-Za-z0-9_.-]+", "-", value).strip("-.")[:LONGEST_NAME] or "my-run"
        raise ConfigError(
            f"{layer.name}: run = {shown(value)}: allowed: up to {LONGEST_NAME} letters, digits, '_', '-', '.'; "
            f"nearest: {valid}"
        )
    return value


def _read(root: Path, name: str) -> Layer:
    """A file of the repository. Error messages call it by its path there."""
    return Layer(name, read_yaml(root / name))


def _sizes(root: Path, paper: str, scale: str) -> Layer:
    """The sizes of a scale, from the file that has those of all.

    Raises:
        ConfigError: a key has values for other than the three scales.
    """
    file = _read(root, f"config/{paper}/sizes.yaml")
    sections = {
        section: {
            key: _of_scale(scale, value, f"{file.name}: {shown(section)}.{shown(key)}") for key, value in values.items()
        }
        if isinstance(values, Mapping)
        else values
        for section, values in file.values.items()
    }
    return Layer(f"{file.name} ({scale})", sections)


def _of_scale(scale: str, value: Any, where: str) -> Any:
    """The value at a scale: an entry of a list of three, one of three named values, or the one value for all scales."""
    if isinstance(value, Mapping) and value.keys() == set(SCALES):
        return value[scale]
    if isinstance(value, list) and len(value) == len(SCALES):
        return value[SCALES.index(scale)]
    if isinstance(value, (Mapping, list)):
        raise ConfigError(f"{where} = {shown(value)}: allowed: a value for each of {', '.join(SCALES)}, or one for all")
    return value


def _only(tree: Tree, keys: Collection[str]) -> Tree:
    return {key: value for key, value in tree.items() if key in keys}


def _of_paper(layer: Layer, paper: str, sections: Collection[str]) -> list[Layer]:
    """A paper's sections in a user's layer: below the paper's name, for the main paper also without it.

    Raises:
        ConfigError: below the paper's name is something else, or a value that is also set without it.
    """
    bare = [Layer(layer.name, _only(layer.values, sections))] if paper == MAIN_PAPER else []
    values = layer.values.get(paper)
    if values is None:
        return bare
    if not isinstance(values, Mapping):
        raise ConfigError(
            f"{layer.name}: {paper} = {shown(values)}: must be a mapping with keys {listed('', [*sections])}"
        )
    below = Layer(layer.name, values, prefix=f"{paper}.")
    _check_keys(below, sections)
    for other in bare:
        _join(other.values, below.values, f"{layer.name}: {paper}", "key of the same file or option")
    return [*bare, below]


def _check_keys(layer: Layer, keys: Collection[str], more: Collection[str] = ()) -> None:
    choices = [*keys, *more]
    for key in layer.values:
        if key not in choices:
            raise ConfigError(f"{layer.name}: {layer.prefix}{shown(key)}: unknown key; {did_you_mean(key, choices)}")


def _check_experiment_names(layer: Layer, entries: Mapping[str, Sequence[str]], papers: Sequence[str]) -> None:
    for key, names in entries.items():
        for name in names:
            if not re.fullmatch(rf"({'|'.join(papers)})/[a-z][a-z0-9_]*", name):
                raise ConfigError(
                    f"{layer.name}: {shown(key)}.experiments = {shown(name)}: allowed: <paper>/<name>, "
                    f"paper one of {', '.join(papers)}"
                )


def _experiments(names: Sequence[str], layers: Mapping[str, Sequence[Layer]]) -> dict[str, ExperimentParameters]:
    """The typed parameters of experiments, and before each those of the experiments whose tables it reads."""
    found: dict[str, ExperimentParameters] = {}

    def add(name: str, readers: tuple[str, ...]) -> None:
        if name in found:
            return
        paper, _, section = name.partition("/")
        parameters = _experiment(paper, section, layers[paper])
        for field, program in parameters.table_fields().items():
            read = getattr(parameters, field)
            where = f"{_key(layers[paper], [section, field])} = {shown(read)}"
            choices = [
                f"{each}/{shown(key)}"
                for each, of_paper in layers.items()
                for key in of_paper[0].values
                if _values(key, of_paper)["program"] == program
            ]
            if read not in choices:
                raise ConfigError(f"{where}: no experiment of the program {program}; {did_you_mean(read, choices)}")
            if read in (circle := (*readers, name)):
                circle = (*circle[circle.index(read) :], read)
                raise ConfigError(f"{where}: experiments read each other in a circle: {' ← '.join(circle)}")
            add(read, circle)
        check = getattr(load_program(paper, parameters.program), "check_sources", None)
        if check is not None:
            try:
                check(parameters, {read: found[read] for read in parameters.tables()})
            except ValueError as error:
                raise ConfigError(f"{_key(layers[paper], [section])}: {error}") from None
        found[name] = parameters

    for name in names:
        add(name, ())
    return found


def _experiment(paper: str, section: str, layers: Sequence[Layer]) -> ExperimentParameters:
    """The typed parameters of one section. The first two layers are its physics and the scale."""
    physics, scale = layers[:2]
    if section not in physics.values:
        raise ConfigError(f"{physics.name}: {section}: missing; a figure or claim names {paper}/{section}")
    merged = _values(section, layers)
    key = _key(layers, [section, "program"])
    try:
        model = load_program(paper, str(merged["program"])).Parameters.of(merged)
    except ConfigError as error:
        raise ConfigError(f"{key} = {shown(merged['program'])}: {error}") from None
    sizes = scale.values.get(section)
    for name in sizes if isinstance(sizes, Mapping) else ():
        if name in model.model_fields and model.model_fields[name].json_schema_extra != SIZE:
            raise ConfigError(
                f"{scale.name}: {section}.{name}: a scale changes sizes, never physics; set it in {physics.name}"
            )
    return _build(model, section, layers, merged)


def _values(section: str, layers: Sequence[Layer]) -> dict[str, Any]:
    """The values of a section of all layers, with its program. The first two layers are its physics and the scale."""
    shipped = [layer.values.get(section) for layer in layers[:2]]
    keys = [key for values in shipped if isinstance(values, Mapping) for key in values]
    return {"program": section} | _merged(section, layers, keys)


def _sections(experiments: Iterable[str], paper: str) -> list[str]:
    """The sections of a paper among experiments `<paper>/<name>`."""
    return [name.partition("/")[2] for name in experiments if name.startswith(f"{paper}/")]


def _validate(model: type[Model], key: str, layers: Sequence[Layer]) -> Model:
    """Merge `key` of all layers (the whole layers where key is empty) and build the model from it."""
    return _build(model, key, layers, _merged(key, layers, model.model_fields))


def _merged(key: str, layers: Sequence[Layer], keys: Collection[str]) -> dict[str, Any]:
    """The values of `key` of all layers; later layers win. The error for a value that is no mapping lists `keys`."""
    merged: dict[str, Any] = {}
    for layer in layers:
        values = layer.values.get(key) if key else layer.values
        if values is None:
            continue
        if not isinstance(values, Mapping):
            raise ConfigError(
                f"{layer.name}: {layer.prefix}{shown(key)} = {shown(values)}: "
                f"must be a mapping with keys {listed('', [*keys])}"
            )
        merged = _merge(merged, values)
    return merged


def _build(model: type[Model], key: str, layers: Sequence[Layer], merged: Tree) -> Model:
    try:
        # By the rules of JSON a list is a tuple and a text a path. Strict: true is no number, and '3' neither.
        return model.model_validate_json(json.dumps(merged, default=str), strict=True)
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
    kind, path = problem["type"], list(problem["loc"])
    if kind.startswith("union_tag"):  # of a choice of models
        path.append(problem["ctx"]["discriminator"].strip("'"))
        kind = "missing" if kind == "union_tag_not_found" else kind
    # Only names and positions in the data are kept: pydantic also lists the branches of unions.
    location: list[str | int] = []
    value: Any = merged
    for index, part in enumerate(path):
        if has(value, part):
            value = value[part]
        elif kind != "missing" or index < len(path) - 1 or isinstance(part, int):
            continue
        location.append(part)
    where = _key(layers, ([key] if key else []) + location)
    number_as_text = isinstance(value, str) and not isinstance(_override(value, where), str)
    refused = f"{where} = {shown(repr(value) if number_as_text else value)}"
    schema = field_schema(model, location, merged)
    if path[-1:] == ["[key]"]:
        name, form = shown(location.pop()), problem["ctx"]["pattern"]
        return f"{_key(layers, ([key] if key else []) + location)}: {name}: allowed are names of the form {form}"
    if kind == "extra_forbidden":
        siblings = field_schema(model, location[:-1], merged).get("properties", {})
        own_first = sorted(siblings, key=lambda name: name in ExperimentParameters.model_fields)
        return f"{refused}: unknown key; {did_you_mean(location[-1], own_first)}"
    if kind == "missing" and not isinstance(path[-1], int):  # otherwise the list is too short
        return f"{where}: missing; allowed: {allowed(schema)}"
    if kind == "value_error" and not location:
        return f"{where}: {problem['ctx']['error']}"
    if kind == "value_error":
        return f"{refused}: {problem['ctx']['error']}; allowed: {allowed(schema)}"
    choice = nearest(value, schema)
    return f"{refused}: allowed: {allowed(schema)}" + (f"; nearest: {choice}" if choice else "")


def _key(layers: Sequence[Layer], path: Sequence[str | int]) -> str:
    """`<layer>: <key>` of a value, for the last layer that set it, or the longest part of its path."""
    setter, depth = layers[0], 0
    for layer in layers:
        value: Any = layer.values
        reached, replaces = 0, False
        for part in path:
            if not has(value, part):
                break
            value = value[part]
            reached += 1
            # Mappings are merged. Anything else takes the place of what earlier layers have there.
            replaces = replaces or not isinstance(value, Mapping)
        if reached > 0 and (reached >= depth or replaces):
            setter, depth = layer, reached
    dotted = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return f"{setter.name}: {shown(setter.prefix + dotted)}"
