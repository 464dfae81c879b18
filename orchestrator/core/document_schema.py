"""The published JSON Schema of the definition document, made from its shapes and the table of kinds.

It helps editors to complete and check a document. What it accepts may still be refused by `admission`, which knows
the graph as a whole.
"""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic.json_schema import models_json_schema

from orchestrator.core.document_shapes import Document, NodeShape
from orchestrator.core.kinds import KINDS
from orchestrator.core.kinds.kind import Kind, NoConfiguration
from orchestrator.core.shapes import Shape

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

#: Where a schema holds further schemas by name, one further schema, or a list of them.
_BY_NAME: Final = frozenset({"properties", "$defs"})
_ONE: Final = frozenset({"items", "additionalProperties", "if", "then"})
_SEVERAL: Final = frozenset({"anyOf", "allOf"})


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a definition document in camelCase, the spelling that is written."""
    shapes: list[type[Shape]] = [Document]
    shapes += [kind.configuration for kind in KINDS.values() if kind.configuration is not NoConfiguration]
    _, made = models_json_schema([(shape, "validation") for shape in shapes], by_alias=True)
    parts = {_part(name): _tidy(part) for name, part in made["$defs"].items()}
    document = parts.pop(_part(Document.__name__))
    parts[_part(NodeShape.__name__)]["allOf"] = [_of_kind(kind) for kind in KINDS.values()]
    return {"$schema": _DIALECT, "title": "Celeriac workflow definition", **document, "$defs": parts}


def schema_text() -> str:
    """The schema as it is published."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def _of_kind(kind: Kind) -> dict[str, Any]:
    """What holds for nodes of one kind."""
    demands: dict[str, Any] = {"description": kind.sentence}
    if kind.name.performed:
        demands["required"] = ["capability"]
    if kind.configuration is not NoConfiguration:
        demands["properties"] = {"configuration": {"$ref": f"#/$defs/{_part(kind.configuration.__name__)}"}}
    if kind.configuration.model_json_schema().get("required"):
        demands["required"] = ["configuration"]
    return {"if": {"properties": {"kind": {"const": kind.name.value}}, "required": ["kind"]}, "then": demands}


def _part(name: str) -> str:
    return name.removesuffix("Shape")


def _tidy(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles and empty defaults that pydantic adds."""
    made: dict[str, Any] = {}
    for word, value in schema.items():
        if word in _BY_NAME:
            made[word] = {name: _tidy(inner) for name, inner in value.items()}
        elif word in _ONE and isinstance(value, dict):
            made[word] = _tidy(value)
        elif word in _SEVERAL:
            made[word] = [_tidy(inner) for inner in value]
        elif word == "$ref":
            made[word] = _part(value)
        elif word != "title" and not (word == "default" and (not value or isinstance(value, dict))):
            made[word] = value
    return made
