"""The values that a configuration key allows, in words, from its JSON schema; and refused values as text."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from localentropy.arguments import bound, nearest_choice

Schema = dict[str, Any]

_NOUNS = {
    "integer": "an integer",
    "number": "a number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
}
_LONGEST = 160
_BOUNDS = {"exclusiveMinimum": ">", "minimum": "≥", "exclusiveMaximum": "<", "maximum": "≤"}


def shown(value: object) -> str:
    """A key or value as error messages print it, as YAML where that is short: always one line of bounded length."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    text = printable(value if isinstance(value, str) and value else reprlib.repr(value))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def printable(text: str) -> str:
    """The text as one line: line ends and control characters, such as those of a file's name, as they are escaped."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def field_schema(model: type[BaseModel], location: Sequence[str | int], values: Any = None) -> Schema:
    """JSON schema of the value at `location` (field names and list positions) of a model; {} if there is none.

    Each reference in it is replaced by what it refers to, and each choice of models on the way by the model that the
    values choose.
    """
    root = model.model_json_schema()
    schema: Schema = _chosen(_inlined(root, root.get("$defs", {})), values)
    for part in location:
        if isinstance(part, int):
            items = schema.get("prefixItems", [])
            schema = items[part] if part < len(items) else schema.get("items", {})
        else:
            schema = schema.get("properties", {}).get(part) or entry_schema(schema)
        values = values[part] if has(values, part) else None
        schema = _chosen(schema, values)
    return schema


def entry_schema(schema: Schema) -> Schema:
    """JSON schema of the values of a mapping whose keys are free, or bound by a pattern only; {} of anything else."""
    return next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties") or {})


def has(value: Any, part: str | int) -> bool:
    """Whether a value read from YAML has such a key or position."""
    if isinstance(value, (list, tuple)):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, Mapping) and part in value


def _chosen(schema: Schema, value: Any) -> Schema:
    """The branch of a choice that a value chooses by its shape or tag; the tag alone where that chooses none."""
    if "discriminator" not in schema and isinstance(value, Mapping | list):
        shape = "array" if isinstance(value, list) else "object"
        for branch in schema.get("anyOf") or schema.get("oneOf") or ():
            if branch.get("type") == shape or (shape == "object" and "discriminator" in branch):
                return _chosen(branch, value)
            if (nested := _chosen(branch, value)) is not branch:
                return nested
    if "discriminator" not in schema or not isinstance(value, Mapping):
        return schema
    tag = schema["discriminator"]["propertyName"]
    branches = {branch["properties"][tag]["const"]: branch for branch in schema["oneOf"]}
    branch = branches.get(str(value.get(tag)), {"properties": {}})
    choice = schema["oneOf"][0]["properties"][tag] | {"enum": list(branches)}
    return branch | {"properties": branch["properties"] | {tag: choice}}


def allowed(schema: Schema) -> str:
    """What the schema allows: `an integer ≥ 1 and ≤ 10`, `one of a, b`, `a list of …`."""
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(allowed(branch) for branch in schema[union]))
    if "enum" in schema or "const" in schema:
        choices = schema.get("enum", [schema.get("const")])
        return ("one of " if len(choices) > 1 else "") + ", ".join(str(choice) for choice in choices)
    if schema.get("type") == "array":
        entries = schema.get("prefixItems", [])
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        count = f" of {least} entries" if least == most else f" of at least {least} entries" if least > 1 else ""
        each = allowed(schema.get("items", entries[0] if entries else {}))
        return f"a {'non-empty ' if least == 1 else ''}list{count}, each entry {each}"
    if schema.get("type") == "object":
        if "properties" not in schema and (entry := entry_schema(schema)):
            return f"a mapping, each value {allowed(entry)}"
        return f"a mapping with keys {', '.join(schema.get('properties', {}))}"
    if "examples" in schema:
        return f"text such as {', '.join(map(str, schema['examples']))}"
    noun = "a path" if schema.get("format") == "path" else _NOUNS.get(schema.get("type", ""), "any value")
    noun = f"non-empty {noun}" if schema.get("minLength", 0) > 0 else noun
    bounds = [f"{sign} {bound(schema[key])}" for key, sign in _BOUNDS.items() if key in schema]
    return f"{noun} {' and '.join(bounds)}".strip()


def nearest(value: Any, schema: Schema) -> str | None:
    """The valid choice nearest to a refused value; None if no choice is near."""
    if "anyOf" in schema:
        candidates = [nearest(value, branch) for branch in schema["anyOf"]]
        return next((candidate for candidate in candidates if candidate), None)
    if "enum" in schema or "const" in schema:
        return nearest_choice(value, map(str, schema.get("enum", [schema.get("const")])))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if "minimum" in schema and value < schema["minimum"]:
        return bound(schema["minimum"])
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        return f"anything above {bound(schema['exclusiveMinimum'])}"
    if "maximum" in schema and value > schema["maximum"]:
        return bound(schema["maximum"])
    if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        return f"anything below {bound(schema['exclusiveMaximum'])}"
    if schema.get("type") == "integer":
        return str(round(value)) if math.isfinite(value) else None
    return None


def _inlined(schema: Any, definitions: Schema) -> Any:
    if isinstance(schema, list):
        return [_inlined(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        named = definitions[schema["$ref"].rpartition("/")[2]]
        schema = {**named, **{key: value for key, value in schema.items() if key != "$ref"}}
    return {key: _inlined(value, definitions) for key, value in schema.items()}
