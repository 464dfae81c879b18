"""The definition document: what an author writes, read into a `Definition` and written back in one canonical form.

Its words are in `document_shapes`; files are read elsewhere; what a graph means is judged by `admission`, which is
asked here so that all faults are told at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from pydantic import ValidationError

from orchestrator.core.admission import structural_violations
from orchestrator.core.complaints import Problem, place, problems_of
from orchestrator.core.data import EMPTY, JsonText, canonical, compact
from orchestrator.core.document_shapes import PART_LIMITS, WHOLE_LIMITS, Document
from orchestrator.core.durations import format_duration, parse_duration
from orchestrator.core.graph import Capability, Definition, Edge, Graph, Node, NodeKind, Policy
from orchestrator.core.kinds.kind import Violation, ViolationKind
from orchestrator.core.salvage import salvage
from orchestrator.core.shapes import named_version, spellings
from orchestrator.errors import BadData, Reason, Rejected

INVALID_DOCUMENT: Final = "InvalidDocument"


# --- reading ----------------------------------------------------------------------------------------------------------


def definition_from(document: object) -> Definition:
    """The definition that a document describes.

    Raises Rejected with every problem: `InvalidDocument` for what cannot be read, the violations of semantics 1.14 for
    the rest, also of the parts that can be read when others cannot.
    """
    reasons, extra = _extra(document)
    try:
        definition = Document.model_validate(document).read(extra)
    except ValidationError as error:
        problems = problems_of(error)
        reasons += [_reason(problem) for problem in problems]
        reasons += [violation.reason for violation in _of_the_rest(document, problems)]
        raise Rejected(dict.fromkeys(reasons)) from None
    reasons += [violation.reason for violation in structural_violations(definition)]
    reasons = reasons or _too_large(definition)
    if reasons:
        raise Rejected(dict.fromkeys(reasons))
    return definition


def _too_large(definition: Definition) -> list[Reason]:
    try:
        text_of(definition)
    except BadData as problem:
        return [Reason(INVALID_DOCUMENT, "", f"the definition as a whole cannot be stored: {problem.message}")]
    return []


def _extra(document: object) -> tuple[list[Reason], JsonText]:
    """The properties that this release does not know, as canonical text, and what is wrong with them."""
    if not isinstance(document, Mapping):
        return [], EMPTY
    known = spellings(Document)
    meant = {_letters(name): alias for name, alias in known.items()}
    extra = {name: value for name, value in document.items() if name not in known}
    near = [name for name in extra if isinstance(name, str) and _letters(name) in meant]
    reasons = [
        Reason(INVALID_DOCUMENT, place((name,)), f"is not known here; did you mean {meant[_letters(name)]}?")
        for name in near
    ]
    try:
        return reasons, canonical(extra, PART_LIMITS)
    except BadData as problem:
        return [*reasons, Reason(INVALID_DOCUMENT, "", f"is not acceptable JSON: {problem.message}")], EMPTY


def _letters(name: str) -> str:
    return re.sub("[^a-z]", "", name.lower())


def _reason(problem: Problem) -> Reason:
    match problem.path:
        case ("graph", "nodes", int(), "policy" | "configuration", *_):
            kind = ViolationKind.INVALID_CONFIGURATION.value
        case _:
            kind = INVALID_DOCUMENT
    return Reason(kind, place(tuple(step for step in problem.path if step != "[key]")), problem.message)


def _of_the_rest(document: object, problems: Sequence[Problem]) -> Iterator[Violation]:
    """The violations of what can be read although `problems` were found."""
    rest = salvage(document, problems) if isinstance(document, Mapping) else None
    if rest is None:
        return
    try:
        definition = Document.model_validate(rest.document).read(EMPTY)
    except ValidationError:
        return
    yield from rest.told(structural_violations(definition))


# --- writing ----------------------------------------------------------------------------------------------------------


def document_of(definition: Definition) -> dict[str, Any]:
    """The document of a definition in its canonical form: camelCase, what is default left out, `name@version`.

    Reading it gives an equal definition. The configuration texts must be JSON.
    """
    document: dict[str, Any] = {
        "workflow": definition.workflow,
        "version": definition.version,
        "area": definition.area,
        "subjectKind": definition.subject_kind,
    }
    if definition.capabilities:
        document["capabilities"] = {pin.name: pin.version for pin in sorted(definition.capabilities)}
    document["graph"] = {
        "nodes": [_node_document(node) for node in definition.graph.nodes],
        "edges": [{"from": edge.source, "outlet": edge.outlet, "to": edge.target} for edge in definition.graph.edges],
    }
    document.update(json.loads(definition.extra))
    return document


def text_of(definition: Definition) -> JsonText:
    """The text a definition is stored as. Raises BadData when it is larger than a definition may be."""
    return canonical(document_of(definition), WHOLE_LIMITS)


def _node_document(node: Node) -> dict[str, Any]:
    document: dict[str, Any] = {"id": node.id, "kind": node.kind.value}
    if node.capability is not None:
        document["capability"] = str(node.capability)
    document["outlets"] = list(node.outlets)
    if configuration := json.loads(node.configuration):
        document["configuration"] = configuration
    if node.policy != Policy():
        document["policy"] = {
            "maxAttempts": node.policy.max_attempts,
            "attemptTimeout": format_duration(node.policy.attempt_timeout),
            "retryDelay": format_duration(node.policy.retry_delay),
            "maxVisits": node.policy.max_visits,
        }
    return document


# --- stored text ------------------------------------------------------------------------------------------------------

_WRITTEN: Final = frozenset({"workflow", "version", "area", "subjectKind", "capabilities", "graph"})


@lru_cache(maxsize=256)
def definition_from_text(text: str) -> Definition:
    """The definition of a text that `text_of` made. Nothing is checked: for journals and tables, not for authors."""
    document = json.loads(text)
    return Definition(
        workflow=document["workflow"],
        version=document["version"],
        area=document["area"],
        subject_kind=document["subjectKind"],
        graph=Graph(
            tuple(_stored_node(node) for node in document["graph"]["nodes"]),
            tuple(Edge(edge["from"], edge["outlet"], edge["to"]) for edge in document["graph"]["edges"]),
        ),
        capabilities=tuple(Capability(name, version) for name, version in document.get("capabilities", {}).items()),
        extra=compact({name: value for name, value in document.items() if name not in _WRITTEN}),
    )


def _stored_node(node: Mapping[str, Any]) -> Node:
    policy = node.get("policy")
    return Node(
        id=node["id"],
        kind=NodeKind(node["kind"]),
        outlets=tuple(node["outlets"]),
        capability=named_version(node["capability"]) if "capability" in node else None,
        configuration=compact(node.get("configuration", {})),
        policy=_stored_policy(policy) if policy else Policy(),
    )


def _stored_policy(policy: Mapping[str, Any]) -> Policy:
    return Policy(
        policy["maxAttempts"],
        parse_duration(policy["attemptTimeout"]),
        parse_duration(policy["retryDelay"]),
        policy["maxVisits"],
    )
