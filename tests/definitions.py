"""Small definition documents for tests: parts that are put together, and a table of malformed definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

INVALID_DOCUMENT = "InvalidDocument"


def node(id: str, kind: str, *outlets: str, **more: Any) -> dict[str, Any]:
    """A node; an action or a decision gets a capability of its own when none is given."""
    made: dict[str, Any] = {"id": id, "kind": kind, "outlets": list(outlets), **more}
    if kind in {"action", "decision"}:
        made.setdefault("capability", f"test.{id}@1")
    return made


def edge(text: str) -> dict[str, Any]:
    """An edge, written ``from.outlet>to``."""
    way, to = text.split(">")
    source, outlet = way.split(".")
    return {"from": source, "outlet": outlet, "to": to}


def document(*nodes: Mapping[str, Any], edges: Sequence[str] = (), **top: Any) -> dict[str, Any]:
    """A definition document of these nodes and edges."""
    graph = {"nodes": [deepcopy(each) for each in nodes], "edges": [edge(text) for text in edges]}
    return {"workflow": "test", "version": 1, "area": "tests", "subjectKind": None, "graph": graph, **deepcopy(top)}


START = node("start", "trigger", "next")


def action(id: str, *outlets: str, **more: Any) -> dict[str, Any]:
    """An action with the outlet `next` and more."""
    return node(id, "action", "next", *outlets, **more)


def for_each(id: str = "fan", *, outlets: Sequence[str] = ("each",), **more: Any) -> dict[str, Any]:
    """A forEach over the payload's `lines`."""
    configuration = {"itemsFrom": "start", "itemsProperty": "lines"} | more.pop("configuration", {})
    return node(id, "forEach", *outlets, configuration=configuration, **more)


def join(id: str = "gather", of: str = "fan", **more: Any) -> dict[str, Any]:
    """A join of a forEach."""
    configuration = {"forEach": of} | more.pop("configuration", {})
    return node(id, "join", "completed", "partial", configuration=configuration, **more)


def visits(number: int) -> dict[str, int]:
    """A policy with only maxVisits."""
    return {"maxVisits": number}


def fan_out() -> dict[str, Any]:
    """A definition that is admitted: one fan-out and its join."""
    return document(
        START,
        for_each(),
        action("ship", "failed"),
        join(),
        edges=("start.next>fan", "fan.each>ship", "ship.next>gather"),
    )


@dataclass(frozen=True, slots=True)
class Bad:
    """A malformed definition and each (kind, place) that must be among its reasons; no other kind may be."""

    name: str
    document: Any
    reasons: tuple[tuple[str, str], ...]


def bad(name: str) -> Bad:
    """The malformed definition of that name."""
    return next(each for each in BAD_DEFINITIONS if each.name == name)


def _with_policy(**policy: Any) -> dict[str, Any]:
    return document(START, action("a", policy=policy), edges=("start.next>a",))


def _with_configuration(kind: str, outlet: str, configuration: Any) -> dict[str, Any]:
    return document(START, node("w", kind, outlet, configuration=configuration), edges=("start.next>w",))


def _with_join(**configuration: Any) -> dict[str, Any]:
    return document(START, for_each(), join(configuration=configuration), edges=("start.next>fan", "fan.each>gather"))


_CONFIGURATION = "graph.nodes[1].configuration"
_POLICY = "graph.nodes[1].policy"
_INVALID = "InvalidConfiguration"

BAD_DEFINITIONS: tuple[Bad, ...] = (
    # --- the graph as a whole
    Bad("no-trigger", document(action("a")), (("NoTrigger", "graph.nodes"),)),
    Bad("no-nodes", document(), (("NoTrigger", "graph.nodes"),)),
    Bad(
        "two-triggers",
        document(START, node("again", "trigger", "next")),
        (("MoreThanOneTrigger", "graph.nodes[1].kind"),),
    ),
    Bad(
        "two-nodes-with-one-id",
        document(START, action("a"), action("a"), edges=("start.next>a",)),
        (("DuplicateNode", "graph.nodes[2].id"),),
    ),
    # --- edges
    Bad(
        "edge-to-a-missing-node",
        document(START, edges=("start.next>ghost",)),
        (("UnknownNode", "graph.edges[0].to"),),
    ),
    Bad(
        "edge-from-a-missing-node",
        document(START, edges=("ghost.next>start",)),
        (("UnknownNode", "graph.edges[0].from"), (_INVALID, "graph.edges[0].to")),
    ),
    Bad(
        "edge-from-an-undeclared-outlet",
        document(START, action("a"), edges=("start.then>a",)),
        (("UndeclaredOutlet", "graph.edges[0].outlet"),),
    ),
    Bad(
        "same-edge-twice",
        document(START, action("a"), edges=("start.next>a", "start.next>a")),
        ((_INVALID, "graph.edges[1]"),),
    ),
    Bad(
        "edge-into-the-trigger",
        document(START, action("a"), edges=("start.next>a", "a.next>start")),
        (
            (_INVALID, "graph.edges[1].to"),
            ("UnboundedCycle", "graph.nodes[0].policy.maxVisits"),
            ("UnboundedCycle", "graph.nodes[1].policy.maxVisits"),
        ),
    ),
    # --- forEach and join
    Bad(
        "forEach-without-join",
        document(START, for_each(), action("a"), edges=("start.next>fan", "fan.each>a")),
        (("ForEachWithoutSingleJoin", "graph.nodes[1]"),),
    ),
    Bad(
        "forEach-with-two-joins",
        document(
            START,
            for_each(),
            action("a"),
            join("j1"),
            join("j2"),
            edges=("start.next>fan", "fan.each>a", "a.next>j1", "a.next>j2"),
        ),
        (("ForEachWithoutSingleJoin", "graph.nodes[1]"),),
    ),
    Bad(
        "forEach-in-a-branch",
        document(
            START,
            for_each(),
            for_each("inner"),
            join("gather-inner", "inner"),
            join(),
            edges=("start.next>fan", "fan.each>inner", "inner.each>gather-inner", "gather-inner.completed>gather"),
        ),
        (("NestedForEachNotSupported", "graph.nodes[2]"), (_INVALID, "graph.nodes[3]")),
    ),
    Bad(
        "branch-that-leads-back-to-its-forEach",
        document(
            START,
            for_each(policy=visits(2)),
            action("a", "again", policy=visits(2)),
            join(policy=visits(2)),
            edges=("start.next>fan", "fan.each>a", "a.again>fan", "a.next>gather"),
        ),
        (("NestedForEachNotSupported", "graph.nodes[1]"),),
    ),
    Bad(
        "join-in-the-branches-of-another-forEach",
        document(
            START,
            for_each(),
            for_each("other"),
            join("gather-other", "other"),
            join(),
            edges=("start.next>fan", "start.next>other", "fan.each>gather-other", "other.each>gather-other"),
        ),
        ((_INVALID, "graph.nodes[3]"),),
    ),
    Bad(
        "join-entered-from-root",
        document(START, for_each(), join(), edges=("start.next>fan", "fan.each>gather", "start.next>gather")),
        ((_INVALID, "graph.edges[2].to"),),
    ),
    Bad(
        "join-entered-by-a-failure-of-its-forEach",
        document(
            START,
            for_each(outlets=("each", "failed")),
            join(),
            edges=("start.next>fan", "fan.each>gather", "fan.failed>gather"),
        ),
        ((_INVALID, "graph.edges[2].to"),),
    ),
    # --- cycles
    Bad(
        "cycle-with-one-node-of-one-visit",
        document(
            START,
            action("a", policy=visits(2)),
            action("b"),
            edges=("start.next>a", "a.next>b", "b.next>a"),
        ),
        (("UnboundedCycle", "graph.nodes[2].policy.maxVisits"),),
    ),
    Bad(
        "self-loop",
        document(START, action("a"), edges=("start.next>a", "a.next>a")),
        (("UnboundedCycle", "graph.nodes[1].policy.maxVisits"),),
    ),
    Bad(
        "cycle-in-a-branch",
        document(
            START,
            for_each(),
            action("a", "again", policy=visits(3)),
            action("b"),
            join(),
            edges=("start.next>fan", "fan.each>a", "a.again>b", "b.next>a", "a.next>gather"),
        ),
        (("UnboundedCycle", "graph.nodes[3].policy.maxVisits"),),
    ),
    Bad(
        "cycle-over-a-fan-out",
        document(
            START,
            for_each(policy=visits(3)),
            action("a"),
            join(),
            edges=("start.next>fan", "fan.each>a", "a.next>gather", "gather.partial>fan"),
        ),
        (("UnboundedCycle", "graph.nodes[3].policy.maxVisits"),),
    ),
    Bad(
        "cycle-that-nothing-reaches",
        document(START, action("a"), action("b"), edges=("a.next>b", "b.next>a")),
        (("UnboundedCycle", "graph.nodes[1].policy.maxVisits"), ("UnboundedCycle", "graph.nodes[2].policy.maxVisits")),
    ),
    # --- configuration
    Bad(
        "timer-without-after",
        _with_configuration("wait", "elapsed", {"kind": "timer"}),
        ((_INVALID, f"{_CONFIGURATION}.after"),),
    ),
    Bad(
        "timer-with-negative-after",
        _with_configuration("wait", "elapsed", {"kind": "timer", "after": "-00:00:01"}),
        ((_INVALID, f"{_CONFIGURATION}.after"),),
    ),
    Bad(
        "wait-of-an-unknown-kind",
        _with_configuration("wait", "elapsed", {"kind": "approval"}),
        ((_INVALID, f"{_CONFIGURATION}.kind"),),
    ),
    Bad(
        "wait-with-half-a-contract",
        _with_configuration("wait", "resumed", {"signal": {"id": "paid"}}),
        ((_INVALID, f"{_CONFIGURATION}.signal.version"),),
    ),
    Bad(
        "wait-with-version-zero",
        _with_configuration("wait", "resumed", {"signal": {"id": "paid", "version": 0}}),
        ((_INVALID, f"{_CONFIGURATION}.signal"),),
    ),
    Bad(
        "approval-with-negative-expiry",
        _with_configuration("approval", "approved", {"expiresAfter": "-P2D"}),
        ((_INVALID, f"{_CONFIGURATION}.expiresAfter"),),
    ),
    Bad(
        "approval-with-a-number-as-expiry",
        _with_configuration("approval", "approved", {"expiresAfter": 60}),
        ((_INVALID, f"{_CONFIGURATION}.expiresAfter"),),
    ),
    Bad(
        "duration-beyond-every-calendar",
        _with_configuration("approval", "approved", {"expiresAfter": "1000001.00:00:00"}),
        ((_INVALID, f"{_CONFIGURATION}.expiresAfter"),),
    ),
    Bad(
        "forEach-without-its-items",
        document(START, node("fan", "forEach", "each"), join(), edges=("start.next>fan", "fan.each>gather")),
        ((_INVALID, f"{_CONFIGURATION}.itemsFrom"), (_INVALID, f"{_CONFIGURATION}.itemsProperty")),
    ),
    Bad(
        "forEach-over-a-missing-node",
        document(
            START, for_each(configuration={"itemsFrom": "ghost"}), join(), edges=("start.next>fan", "fan.each>gather")
        ),
        ((_INVALID, f"{_CONFIGURATION}.itemsFrom"),),
    ),
    Bad(
        "forEach-over-a-forEach",
        document(
            START, for_each(configuration={"itemsFrom": "fan"}), join(), edges=("start.next>fan", "fan.each>gather")
        ),
        ((_INVALID, f"{_CONFIGURATION}.itemsFrom"),),
    ),
    Bad(
        "forEach-with-half-a-parallelism",
        document(
            START, for_each(configuration={"maxParallelism": 2.5}), join(), edges=("start.next>fan", "fan.each>gather")
        ),
        ((_INVALID, f"{_CONFIGURATION}.maxParallelism"),),
    ),
    Bad(
        "join-without-forEach",
        document(START, node("gather", "join", "completed")),
        ((_INVALID, f"{_CONFIGURATION}.forEach"),),
    ),
    Bad("join-of-a-missing-node", document(START, join(of="ghost")), ((_INVALID, f"{_CONFIGURATION}.forEach"),)),
    Bad("join-of-an-action", document(START, join(of="a"), action("a")), ((_INVALID, f"{_CONFIGURATION}.forEach"),)),
    Bad("join-of-most", _with_join(mode="most"), ((_INVALID, "graph.nodes[2].configuration.mode"),)),
    Bad(
        "join-of-at-least-nothing", _with_join(mode="atLeast"), ((_INVALID, "graph.nodes[2].configuration.threshold"),)
    ),
    Bad(
        "join-of-at-least-zero",
        _with_join(mode="atLeast", threshold=0),
        ((_INVALID, "graph.nodes[2].configuration.threshold"),),
    ),
    Bad(
        "configuration-with-nan",
        document(START, action("a", configuration={"x": float("nan")})),
        ((_INVALID, _CONFIGURATION),),
    ),
    Bad("configuration-that-is-a-list", document(START, action("a", configuration=[])), ((_INVALID, _CONFIGURATION),)),
    Bad(
        "configuration-in-both-spellings",
        _with_configuration("approval", "approved", {"expiresAfter": "00:01:00", "expires_after": "00:02:00"}),
        ((_INVALID, _CONFIGURATION),),
    ),
    # --- policy
    Bad("no-attempt", _with_policy(maxAttempts=0), ((_INVALID, f"{_POLICY}.maxAttempts"),)),
    Bad("no-visit", _with_policy(maxVisits=0), ((_INVALID, f"{_POLICY}.maxVisits"),)),
    Bad("no-time", _with_policy(attemptTimeout="00:00:00"), ((_INVALID, f"{_POLICY}.attemptTimeout"),)),
    Bad("negative-delay", _with_policy(retryDelay="-00:00:01"), ((_INVALID, f"{_POLICY}.retryDelay"),)),
    Bad("attempts-as-text", _with_policy(maxAttempts="3"), ((_INVALID, f"{_POLICY}.maxAttempts"),)),
    Bad("attempts-as-true", _with_policy(maxAttempts=True), ((_INVALID, f"{_POLICY}.maxAttempts"),)),
    Bad("misspelt-policy", _with_policy(maxAttempt=3), ((_INVALID, f"{_POLICY}.maxAttempt"),)),
    # --- nodes
    Bad("repeated-outlet", document(START, action("a", "next")), ((_INVALID, "graph.nodes[1].outlets[1]"),)),
    Bad("empty-outlet", document(START, action("a", "")), ((_INVALID, "graph.nodes[1].outlets[1]"),)),
    Bad("empty-id", document(START, action("", capability="x@1")), ((_INVALID, "graph.nodes[1].id"),)),
    Bad("id-of-256-bytes", document(START, action("é" * 128, capability="x@1")), ((_INVALID, "graph.nodes[1].id"),)),
    Bad(
        "action-without-capability",
        document(START, action("a", capability=None)),
        ((_INVALID, "graph.nodes[1].capability"),),
    ),
    Bad(
        "decision-without-capability",
        document(START, node("d", "decision", "yes", capability=None)),
        ((_INVALID, "graph.nodes[1].capability"),),
    ),
    Bad(
        "capability-of-version-zero",
        document(START, action("a", capability="x@0")),
        ((_INVALID, "graph.nodes[1].capability"),),
    ),
    Bad(
        "pin-that-a-node-contradicts",
        document(START, action("a", capability="x@2"), capabilities={"x": 1}),
        ((_INVALID, "graph.nodes[1].capability"),),
    ),
    # --- the document
    Bad("a-list", [], ((INVALID_DOCUMENT, ""),)),
    Bad("text", "workflow: x", ((INVALID_DOCUMENT, ""),)),
    Bad("null", None, ((INVALID_DOCUMENT, ""),)),
    Bad("an-empty-object", {}, tuple((INVALID_DOCUMENT, name) for name in ("workflow", "version", "area", "graph"))),
    Bad("graph-that-is-a-list", document(START, graph=[]), ((INVALID_DOCUMENT, "graph"),)),
    Bad("nodes-that-are-an-object", document(graph={"nodes": {}}), ((INVALID_DOCUMENT, "graph.nodes"),)),
    Bad("node-that-is-text", document(START, graph={"nodes": ["start"]}), ((INVALID_DOCUMENT, "graph.nodes[0]"),)),
    Bad("version-as-text", document(START, version="1"), ((INVALID_DOCUMENT, "version"),)),
    Bad("version-zero", document(START, version=0), ((_INVALID, "version"),)),
    Bad("version-beyond-every-column", document(START, version=2**31), ((_INVALID, "version"),)),
    Bad("empty-area", document(START, area=""), ((_INVALID, "area"),)),
    Bad("empty-subject-kind", document(START, subjectKind=""), ((_INVALID, "subjectKind"),)),
    Bad("workflow-with-nul", document(START, workflow="a\0"), ((_INVALID, "workflow"),)),
    Bad("misspelt-subject-kind", document(START, subjectkind="order"), ((INVALID_DOCUMENT, "subjectkind"),)),
    Bad("extra-with-infinity", document(START, labels={"x": float("inf")}), ((INVALID_DOCUMENT, ""),)),
    Bad("pins-as-a-list", document(START, capabilities=["x@1"]), ((INVALID_DOCUMENT, "capabilities"),)),
    Bad("pin-of-text", document(START, capabilities={"x": "1"}), ((INVALID_DOCUMENT, "capabilities.x"),)),
    Bad("unknown-kind", document(START, node("a", "script", "next")), ((INVALID_DOCUMENT, "graph.nodes[1].kind"),)),
    Bad(
        "misspelt-node-property", document(START, action("a", polcy={})), ((INVALID_DOCUMENT, "graph.nodes[1].polcy"),)
    ),
    Bad(
        "capability-without-version",
        document(START, action("a", capability="x")),
        ((INVALID_DOCUMENT, "graph.nodes[1].capability"),),
    ),
    Bad(
        "outlets-left-out",
        document(START, {"id": "a", "kind": "approval"}),
        ((INVALID_DOCUMENT, "graph.nodes[1].outlets"),),
    ),
    Bad(
        "edge-without-end",
        document(START, graph={"nodes": [START], "edges": [{"from": "start", "outlet": "next"}]}),
        ((INVALID_DOCUMENT, "graph.edges[0].to"),),
    ),
    # --- several at once
    Bad(
        "three-faults",
        document(
            START, action("a", policy=visits(0)), for_each(), edges=("start.next>a", "a.next>ghost", "start.next>fan")
        ),
        (
            (_INVALID, f"{_POLICY}.maxVisits"),
            ("UnknownNode", "graph.edges[1].to"),
            ("ForEachWithoutSingleJoin", "graph.nodes[2]"),
        ),
    ),
    Bad(
        "unreadable-and-faulty",
        document(
            START,
            action("a", policy={"maxAttempts": "many"}),
            action("b"),
            edges=("start.next>a", "b.next>b"),
            version=None,
        ),
        (
            (INVALID_DOCUMENT, "version"),
            (_INVALID, f"{_POLICY}.maxAttempts"),
            ("UnboundedCycle", "graph.nodes[2].policy.maxVisits"),
        ),
    ),
)
