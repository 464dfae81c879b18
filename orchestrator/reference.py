"""The reference of the definition document, written from its shapes, the table of kinds and the list of violations.

`python -m orchestrator.reference docs` writes the page and the JSON Schema beside it; a test fails when they are stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from orchestrator.core.document_schema import json_schema, schema_text
from orchestrator.core.graph import NodeKind, Outlet
from orchestrator.core.kinds import KINDS
from orchestrator.core.kinds.kind import Kind, NoConfiguration, ViolationKind

PAGE: Final = "definition-reference.md"
SCHEMA: Final = "definition.schema.json"

EXAMPLE: Final = """\
workflow: orders.fulfil
version: 1
area: orders
subjectKind: order
capabilities: {orders.load-lines: 1}
graph:
  nodes:
    - {id: start, kind: trigger, outlets: [next]}
    - {id: load-lines, kind: action, capability: orders.load-lines@1, outlets: [next],
       policy: {maxAttempts: 3, attemptTimeout: "00:01:00", retryDelay: "00:00:10"}}
    - {id: per-line, kind: forEach, outlets: [each],
       configuration: {itemsFrom: load-lines, itemsProperty: lines, maxParallelism: 4}}
    - {id: ship-line, kind: action, capability: {id: orders.ship-line, version: 1}, outlets: [next]}
    - {id: all-shipped, kind: join, outlets: [completed, partial], configuration: {forEach: per-line, mode: all}}
    - {id: review, kind: approval, outlets: [approved, rejected, expired], configuration: {expiresAfter: "2.00:00:00"}}
  edges:
    - {from: start, outlet: next, to: load-lines}
    - {from: load-lines, outlet: next, to: per-line}
    - {from: per-line, outlet: each, to: ship-line}
    - {from: ship-line, outlet: next, to: all-shipped}
    - {from: all-shipped, outlet: partial, to: review}
"""

#: The twelve outlets that have a meaning.
OUTLETS: Final[Mapping[str, str]] = {
    Outlet.NEXT: "the ordinary way on",
    Outlet.FAILED: "the node failed for good",
    Outlet.FALLBACK: "a performer answered with an outlet that is not declared, or with output that cannot be used",
    Outlet.EACH: "of a forEach, once for each item",
    Outlet.COMPLETED: "the join is satisfied",
    Outlet.PARTIAL: "every branch has ended and the join is not satisfied",
    Outlet.RESUMED: "the signal has come",
    Outlet.CANCELLED: "the signal wait was called off",
    Outlet.ELAPSED: "the timer's time has come",
    Outlet.EXPIRED: "the time to wait has run out",
    Outlet.APPROVED: "a person has approved",
    Outlet.REJECTED: "a person has rejected",
}

VIOLATIONS: Final[Mapping[ViolationKind, str]] = {
    ViolationKind.NO_TRIGGER: "No node is of kind trigger.",
    ViolationKind.MORE_THAN_ONE_TRIGGER: "A second node is of kind trigger.",
    ViolationKind.DUPLICATE_NODE: "Another node has this id already.",
    ViolationKind.UNKNOWN_NODE: "An edge names a node that the graph does not have.",
    ViolationKind.UNDECLARED_OUTLET: "An edge leaves through an outlet that its node does not list.",
    ViolationKind.FOR_EACH_WITHOUT_SINGLE_JOIN: "A forEach is named by no join, or by several.",
    ViolationKind.NESTED_FOR_EACH_NOT_SUPPORTED: "A forEach stands in the branches of a forEach.",
    ViolationKind.UNBOUNDED_CYCLE: "A node on a cycle has a maxVisits of 1.",
    ViolationKind.INVALID_CONFIGURATION: (
        "A configuration, policy, id or pin does not fit; an edge stands twice or leads into the trigger; an outlet is "
        "repeated; a performed node has no capability; a join stands in the branches of another forEach or is entered "
        "from outside of its own."
    ),
}


def page() -> str:
    """The page, in Markdown."""
    return "\n".join(_lines()) + "\n"


def write(folder: Path) -> None:
    """Write the page and the schema."""
    (folder / PAGE).write_text(page(), encoding="utf-8")
    (folder / SCHEMA).write_text(schema_text(), encoding="utf-8")


def _lines() -> Iterator[str]:
    schema = json_schema()
    parts = schema["$defs"]
    yield "# The definition document"
    yield ""
    yield "<!-- Written by `make docs` from orchestrator/reference.py; edit that, not this. -->"
    yield ""
    yield "A definition is one version of a workflow, written as YAML or JSON, one definition a file. Property names"
    yield "are camelCase; snake_case is read too. A property that is null counts as absent. In YAML, only what is a"
    yield "number, `true`, `false` or `null` in JSON is one; all else is text, so durations and dates need no quotes."
    yield f"Editors complete and check it with [the JSON Schema]({SCHEMA}), which `celeriac schema` prints too."
    yield ""
    yield "```yaml"
    yield from EXAMPLE.splitlines()
    yield "```"
    yield ""
    yield "## The whole"
    yield ""
    yield from _properties(schema)
    yield "Further properties at this level are kept and ignored. Below it a property that is not known is refused,"
    yield "except in a node's `configuration`."
    yield ""
    for title, name in (("Graph", "Graph"), ("Nodes", "Node"), ("Policies", "Policy"), ("Edges", "Edge")):
        yield f"## {title}"
        yield ""
        yield parts[name]["description"]
        yield ""
        yield from _properties(parts[name])
    yield "Durations are text, `[days.]hh:mm:ss[.fraction]`, such as `00:00:30` or `2.00:00:00`; ISO-8601 such as"
    yield "`PT30S` or `P2D` is read too. A capability or a signal contract is written `name@version`."
    yield ""
    yield "## Kinds of node"
    for kind in KINDS.values():
        yield from _kind(kind, parts)
    yield ""
    yield "## Outlets"
    yield ""
    yield "A node has exactly the outlets that its author lists, under any names. Twelve names have a meaning:"
    yield ""
    yield from _table(("outlet", "taken when"), ((f"`{name}`", meaning) for name, meaning in OUTLETS.items()))
    yield "## What is refused"
    yield ""
    yield "Every fault is reported, with its place in the document. What cannot be read at all is `InvalidDocument`."
    yield ""
    yield from _table(("fault", "meaning"), ((f"`{kind}`", meaning) for kind, meaning in VIOLATIONS.items()), end=False)


def _kind(kind: Kind, parts: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield f"### {kind.name}"
    yield ""
    yield kind.sentence
    yield ""
    outlets = ", ".join(f"`{outlet}`" for outlet in kind.usual_outlets)
    yield f"Usual outlets: {'its own, ' if kind.name is NodeKind.DECISION else ''}{outlets}."
    if kind.configuration is not NoConfiguration:
        yield ""
        yield from _properties(parts[kind.configuration.__name__], end=False)


def _properties(schema: Mapping[str, Any], *, end: bool = True) -> Iterator[str]:
    required = schema.get("required", ())
    rows = (
        (f"`{name}`", _type(part), "needed" if name in required else _default(part), part["description"])
        for name, part in schema["properties"].items()
    )
    return _table(("property", "is", "default", "meaning"), rows, end=end)


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]], *, end: bool = True) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    if end:
        yield ""


def _default(part: Mapping[str, Any]) -> str:
    return f"`{part['default']}`" if "default" in part else ""


_TYPES: Final = {"string": "text", "integer": "integer", "array": "list", "object": "object"}


def _type(part: Mapping[str, Any]) -> str:
    """What may stand there, in a few words."""
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    if "pattern" in part:
        return "duration"
    if "anyOf" in part:
        return _type(next(inner for inner in part["anyOf"] if inner.get("type") != "null"))
    if "$ref" in part:
        return "`name@version`" if part["$ref"].endswith("/NamedVersion") else "object"
    if part["type"] == "array":
        return f"list of {'text' if part['items'].get('type') == 'string' else 'objects'}"
    return _TYPES[part["type"]]


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
