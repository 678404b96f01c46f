"""The code behind a computation: the top-level statements of this package that it uses, at any depth, and their hash.

A statement counts as its syntax tree: comments, docstrings and layout change no hash. One that defines names (`def`,
`class`, `NAME = ...`, `import`) counts where a name of it is used. Any other runs for its effect, and counts wherever
its module is imported. A whole module counts where nothing narrower is certain: `import *`, a module passed as a value,
a name that a module makes at run time. Imports inside functions count. Imports for the type checker and imports by name
at run time do not.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "localentropy"
SOURCE = Path(__file__).resolve().parent.parent
"""The folder that holds the package."""
DIGITS = 12
"""How many digits of a hash are printed."""

_ALL, _EFFECTS = "*", ""
"""In the place of a name in a module: all its names, or only what runs when it is imported."""
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""Where statements have statements inside."""
_NAME = re.compile(r"Name\(id='(\w+)'(?:, ctx=\w+\(\))?\)(?:, attr='(\w+)')?")
"""A name in the text of a syntax tree, and the attribute that is taken of it. Some Pythons leave out a usual `ctx`."""


@dataclass(frozen=True)
class _Import:
    """A name, and what it stands for: `there` in the module `origin`, or the module itself where `there` is empty."""

    name: str
    origin: str
    there: str

    @property
    def text(self) -> str:
        """The import in words."""
        return f"{self.name} is {self.there or 'all'} of {self.origin}"

    def target(self, attribute: str) -> tuple[str, str]:
        """Module and name that are used where this attribute of the name is taken."""
        return self.origin, self.there or attribute


@dataclass(frozen=True)
class _Statement:
    """A top-level statement that is no import.

    Attributes:
        text: its syntax tree without positions and docstrings.
        binds: the names that it defines; empty where it runs for its effect.
        uses: the names that it mentions, each with the attribute that is taken of it, or `_ALL`.
        imports: what it imports inside.
    """

    text: str
    binds: frozenset[str]
    uses: frozenset[tuple[str, str]]
    imports: tuple[_Import, ...]

    def imported(self) -> Iterator[tuple[str, str]]:
        """Modules and names that its own imports make it use."""
        for entry in self.imports:
            taken = {attribute for name, attribute in self.uses if name == entry.name}
            yield from (entry.target(attribute) for attribute in (taken if self.binds else {_ALL}) | {_EFFECTS})


class _Module:
    """What a module is made of.

    Attributes:
        imports: its imports; `imported` has their places by name.
        statements: the others; `defined` has their places by name, and under `_EFFECTS` those that define none.
    """

    def __init__(self, imports: list[_Import], statements: list[_Statement]) -> None:
        self.imports, self.statements = imports, statements
        self.imported: dict[str, list[int]] = {}
        self.defined: dict[str, list[int]] = {_EFFECTS: []}
        for place, entry in enumerate(imports):
            self.imported.setdefault(entry.name, []).append(place)
        for place, statement in enumerate(statements):
            for name in statement.binds or {_EFFECTS}:
                self.defined.setdefault(name, []).append(place)

    def places(self, name: str) -> Iterable[int]:
        """The statements that count where a name of the module is used."""
        if name == _ALL:
            return range(len(self.statements))
        return {*self.defined[_EFFECTS], *self.defined.get(name, ())}


def code_closure(*modules: str) -> dict[str, list[str]]:
    """Module → the names in it that `modules` use, at any depth, in the order of the source.

    Args:
        modules: dotted names of modules of this package, or `<module>:<name>` for what one name in it uses, or paths
            of scripts.
    """
    return {module: [name for names, _ in used for name in names] for module, used in _closure(modules, _read)}


@functools.cache
def code_hash(*modules: str) -> str:
    """SHA-256 over the code that the modules use, as this process first met it; arguments as for `code_closure`."""
    return _hash_code(modules, _read_once)


def edited(*modules: str) -> bool:
    """Whether the code behind `code_hash` is another by now."""
    return _hash_code(modules, _read) != code_hash(*modules)


def _hash_code(modules: tuple[str, ...], read: Callable[[str], _Module | None]) -> str:
    lines = (line for module, used in _closure(modules, read) for line in (module, *(text for _, text in used)))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _closure(
    modules: tuple[str, ...], read: Callable[[str], _Module | None]
) -> list[tuple[str, list[tuple[list[str], str]]]]:
    """Modules by name; of each what counts in the order of the source, as the names that it binds and its text."""
    sources: dict[str, _Module | None] = {}
    found: dict[str, dict[tuple[int, int], tuple[list[str], str]]] = {}
    waiting, seen = [(module, name or _ALL) for module, _, name in (entry.partition(":") for entry in modules)], set()
    while waiting:
        module, name = item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        if module not in sources:
            sources[module] = read(module)
        source = sources[module]
        if source is None:
            continue
        if module not in found:
            waiting.append((module.rpartition(".")[0], _EFFECTS))
            waiting.extend((entry.origin, _EFFECTS) for entry in source.imports)
        used = found.setdefault(module, {})
        if name not in source.imported and name not in source.defined and name != _ALL:
            submodule = f"{module}.{name}"
            waiting.append((submodule, _ALL) if _source_file(submodule) else (module, _ALL))
        mentioned = {(name, _ALL)}
        for place in source.places(name):
            if (1, place) not in used:
                statement = source.statements[place]
                used[1, place] = sorted(statement.binds), statement.text
                mentioned |= statement.uses
                waiting.extend(statement.imported())
        for mention, attribute in mentioned:
            if mention in source.defined:
                waiting.append((module, mention))
            for place in source.imported.get(mention, ()):
                entry = source.imports[place]
                used[0, place] = [], entry.text
                waiting.append(entry.target(attribute))
    return [(module, [used[key] for key in sorted(used)]) for module, used in sorted(found.items()) if used]


def _source_file(module: str) -> Path | None:
    if module.endswith(".py"):
        return Path(module)
    if module != PACKAGE and not module.startswith(PACKAGE + "."):
        return None
    path = SOURCE.joinpath(*module.split("."))
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)


def _read(module: str) -> _Module | None:
    """The module as it is on disk; None where it is not of this package."""
    file = _source_file(module)
    if file is None:
        return None
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    return _parse(package, file.read_text(encoding="utf-8"))


_read_once = functools.cache(_read)


@functools.cache
def _parse(package: str, source: str) -> _Module:
    imports: list[_Import] = []
    statements: list[_Statement] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom) and node.names[0].name != _ALL:
            imports.extend(_imports(node, package))
        elif not _is_text(node) and not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            statements.append(_statement(node, package))
    return _Module(imports, statements)


def _statement(node: ast.stmt, package: str) -> _Statement:
    imports = tuple(entry for inside in _without_docstrings(node) for entry in _imports(inside, package))
    text = ast.dump(node)
    uses = frozenset((name, attribute or _ALL) for name, attribute in _NAME.findall(text))
    return _Statement(text, frozenset(_bound(node)), uses, imports)


def _without_docstrings(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports in a statement, from which all docstrings are removed on the way."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if isinstance(block, list):  # that of a lambda is an expression
            block[:] = [inside for inside in block if not _is_text(inside)]
            for inside in block:
                yield from _without_docstrings(inside)


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is a docstring, of whatever stands above it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement defines, if that is all it does."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    flat = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    names = {part.id for part in flat if isinstance(part, ast.Name)}
    return names if len(names) == len(flat) else set()


def _imports(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[_Import]:
    for alias in node.names:
        if isinstance(node, ast.Import):
            # `import a.b` binds a, of which anything may be taken.
            root = alias.name.partition(".")[0]
            yield _Import(alias.asname or root, alias.name, "" if alias.asname or root == alias.name else _ALL)
            continue
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        origin = ".".join([*above, *filter(None, [node.module])])
        submodule = f"{origin}.{alias.name}"
        is_module = _source_file(submodule) is not None
        yield _Import(alias.asname or alias.name, *((submodule, "") if is_module else (origin, alias.name)))
