"""Facts as documents: what is stored (`data`, beside the user's JSON in its own column) and what the API shows.

The shape of each field follows from its type, so a new fact needs no line here. Names are camelCase.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime, timedelta
from typing import Any, get_type_hints

from orchestrator.core.data import JsonText, compact
from orchestrator.core.durations import format_duration, parse_duration
from orchestrator.core.facts import FACT_TYPES, Branch, ExecutionRef, Fact, Step, Trigger
from orchestrator.core.instants import format_instant, parse_instant
from orchestrator.core.outcomes import FailureKind, Receipt
from orchestrator.errors import UnknownFact

Json = Any


def branch_document(branch: Branch) -> Json:
    """A branch on the wire: null in root, else its last step; `parent` only where branches nest."""
    if not branch:
        return None
    step = branch[-1]
    document = {"forEach": step.for_each, "visit": step.visit, "key": step.key}
    return document if len(branch) == 1 else {**document, "parent": branch_document(branch[:-1])}


def branch_from(document: Json) -> Branch:
    """The branch that a wire document names."""
    if document is None:
        return ()
    step = Step(document["forEach"], document["visit"], document["key"])
    return (*branch_from(document.get("parent")), step)


def execution_document(ref: ExecutionRef) -> Json:
    """An execution on the wire."""
    return {"id": ref.id, "node": ref.node, "branch": branch_document(ref.branch), "visit": ref.visit}


def execution_from(document: Json) -> ExecutionRef:
    """The execution that a wire document names."""
    return ExecutionRef(document["id"], document["node"], branch_from(document["branch"]), document["visit"])


def trigger_document(trigger: Trigger) -> Json:
    """A trigger on the wire, without its payload."""
    subject = None if trigger.subject_kind is None else {"kind": trigger.subject_kind, "id": trigger.subject_id}
    return {"kind": trigger.kind, "subject": subject, "correlation": trigger.correlation}


def _trigger_from(document: Json) -> Trigger:
    subject = document["subject"] or {"kind": None, "id": None}
    return Trigger(document["kind"], subject["kind"], subject["id"], document["correlation"])


def receipt_document(receipt: Receipt) -> Json:
    """A receipt on the wire, without its output; what does not apply is left out."""
    document = {
        "status": receipt.status,
        "outlet": receipt.outlet,
        "kind": receipt.kind,
        "reason": receipt.reason,
        "code": receipt.code,
        "retryable": receipt.retryable if receipt.status == "failed" else None,
        "key": receipt.key,
        "expiresAfter": None if receipt.expires_after is None else format_duration(receipt.expires_after),
    }
    return {name: value for name, value in document.items() if value is not None}


def receipt_from(document: Json, output: JsonText | None = None) -> Receipt:
    """The receipt that a wire document says."""
    return Receipt(
        document["status"],
        outlet=document.get("outlet"),
        output=output,
        kind=FailureKind(document["kind"]) if "kind" in document else None,
        reason=document.get("reason"),
        code=document.get("code"),
        retryable=document.get("retryable", False),
        key=document.get("key"),
        expires_after=parse_duration(document["expiresAfter"]) if "expiresAfter" in document else None,
    )


def _same(value: Json) -> Json:
    return value


_TO: Mapping[object, Callable[[Any], Json]] = {
    ExecutionRef: execution_document,
    Trigger: trigger_document,
    Receipt: receipt_document,
    datetime: format_instant,
    timedelta: format_duration,
    JsonText: json.loads,
    Mapping[str, int]: dict,
    tuple[str, ...]: list,
}
_FROM: Mapping[object, Callable[[Json], Any]] = {
    ExecutionRef: execution_from,
    Trigger: _trigger_from,
    Receipt: receipt_from,
    datetime: parse_instant,
    timedelta: parse_duration,
    FailureKind: FailureKind,
    JsonText: compact,
    tuple[str, ...]: tuple,
}


def camel(name: str) -> str:
    """``retry_due`` as ``retryDue``."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _plain(hint: object) -> object:
    """The type of a field that may be None."""
    options = [option for option in getattr(hint, "__args__", ()) if option is not type(None)]
    return options[0] if type(None) in getattr(hint, "__args__", ()) and len(options) == 1 else hint


def _plan_of(kind: Any) -> tuple[tuple[str, str, Callable[[Any], Json], Callable[[Json], Any]], ...]:
    hints = get_type_hints(kind)
    return tuple(
        (f.name, camel(f.name), _TO.get(_plain(hints[f.name]), _same), _FROM.get(_plain(hints[f.name]), _same))
        for f in fields(kind)
        if f.name != "value"
    )


#: By fact type: each field's name, its name on the wire, and the ways there and back.
_PLANS = {kind: _plan_of(kind) for kind in FACT_TYPES.values()}
#: By fact type: the fields without a default, which are None when the document leaves them out.
_NEEDED = {kind: {f.name for f in fields(kind) if f.default is MISSING} for kind in FACT_TYPES.values()}
_WITH_VALUE = frozenset(kind for kind in FACT_TYPES.values() if "value" in get_type_hints(kind))


def fact_document(fact: Fact) -> dict[str, Json]:
    """The engine's own fields of a fact on the wire; what is None is left out."""
    document = {}
    for name, wire, to, _ in _PLANS[type(fact)]:
        value = getattr(fact, name)
        if value is not None:
            document[wire] = to(value)
    return document


def fact_data(fact: Fact) -> JsonText:
    """The engine's own fields of a fact as it is stored."""
    return compact(fact_document(fact))


def fact_from(type_: str, data: str, value: JsonText | None) -> Fact:
    """The fact that was stored. Raises `UnknownFact` for a type this release does not know."""
    kind = FACT_TYPES.get(type_)
    if kind is None:
        raise UnknownFact(
            f"the stored fact type {type_!r} is not known to this release: a newer one wrote it, upgrade this process"
        )
    document = json.loads(data)
    arguments: dict[str, Any] = {}
    for name, wire, _, from_ in _PLANS[kind]:
        told = document.get(wire)
        if told is not None:
            arguments[name] = from_(told)
        elif name in _NEEDED[kind]:
            arguments[name] = None
    if kind in _WITH_VALUE:
        arguments["value"] = value
    return kind(**arguments)
