"""Admission: all that keeps a definition from being published and a run from being started (semantics 1.14, 1.15).

All faults are found, never only the first, in the order of the document. That the text of a document can be read at
all is `document`'s; that the data of a start is acceptable JSON is `data`'s.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from orchestrator.core.complaints import place
from orchestrator.core.data import EMPTY, JsonText, load
from orchestrator.core.graph import Capability, Definition, Edge, Graph, Node, NodeKind, Outlet, Policy
from orchestrator.core.ids import id_problem
from orchestrator.core.kinds import KINDS
from orchestrator.core.kinds.kind import Violation, ViolationKind
from orchestrator.core.regions import MAX_IN_BODIES, Regions, joins_of, regions_of
from orchestrator.core.shapes import MAX_INTEGER, duration_problem, named_version_problem, read_leniently
from orchestrator.errors import Reason

# --- the start of a run -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TriggerRequest:
    """What a start asks for, as admission policies see it."""

    #: ``manual``, ``signal``, ``stageHook``, ``schedule`` …: recorded, never branched on.
    kind: str = "manual"
    payload: JsonText = EMPTY
    subject_kind: str | None = None
    subject_id: str | None = None
    correlation: str | None = None
    key: str | None = None
    scope: str = "default"

    @property
    def value(self) -> Any:
        """The payload as a Python value, a new one each time."""
        return load(self.payload)


class AdmissionPolicy(Protocol):
    """A user's own condition for a run to start."""

    @property
    def name(self) -> str:
        """A stable name, for people."""

    def check(self, definition: Definition, trigger: TriggerRequest) -> Iterable[Reason]:
        """Every reason to refuse this start; none lets it pass. It may be asked again for the same start."""


def start_reasons(
    definition: Definition, trigger: TriggerRequest, policies: Sequence[AdmissionPolicy] = ()
) -> tuple[Reason, ...]:
    """Every reason not to start this definition with this trigger; empty when it is admitted."""
    reasons = [violation.reason for violation in structural_violations(definition)]
    if trigger.subject_kind != definition.subject_kind and definition.subject_kind is not None:
        asked = "no subject" if trigger.subject_kind is None else f"the subject kind {trigger.subject_kind!r}"
        reasons.append(
            Reason(
                "SubjectKindMismatch",
                "subject",
                f"the workflow {definition.workflow!r} is about {definition.subject_kind!r} and the start has {asked}; "
                "name a subject of that kind",
            )
        )
    for policy in policies:
        reasons.extend(policy.check(definition, trigger))
    return tuple(reasons)


# --- the structure of a definition ------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def structural_violations(definition: Definition) -> tuple[Violation, ...]:
    """Every structural fault of a definition, in the order of the document; empty when it may be published."""
    return (*_identity(definition), *_graph(definition))


def _identity(definition: Definition) -> Iterator[Violation]:
    for where, value in (("workflow", definition.workflow), ("area", definition.area)):
        yield from _id_fault(where, value)
    if definition.subject_kind is not None:
        yield from _id_fault("subjectKind", definition.subject_kind)
    if not 1 <= definition.version <= MAX_INTEGER:
        yield _invalid("version", f"is {definition.version}; versions are integers from 1 to {MAX_INTEGER}")
    for pin in definition.capabilities:
        if problem := named_version_problem(pin.name, pin.version):
            yield _invalid(place(("capabilities", pin.name)), problem)
    for name, count in Counter(pin.name for pin in definition.capabilities).items():
        if count > 1:
            yield _invalid(place(("capabilities", name)), "is pinned more than once; pin a capability to one version")


def _graph(definition: Definition) -> Iterator[Violation]:
    graph = definition.graph
    regions = regions_of(graph)
    yield from _triggers(graph)
    if regions.too_many:
        message = f"the branches of all forEachs together hold more than {MAX_IN_BODIES:,} nodes; divide the workflow"
        yield _invalid("graph.nodes", message)
    pins = {pin.name: pin for pin in definition.capabilities}
    joins = joins_of(graph)
    seen: set[str] = set()
    for index, node in enumerate(graph.nodes):
        at = f"graph.nodes[{index}]"
        if node.id in seen:
            yield Violation(
                ViolationKind.DUPLICATE_NODE,
                f"{at}.id",
                f"another node has the id {node.id!r} already; ids are unique in a graph",
            )
        yield from _declared(node, at)
        yield from _capability(node, at, pins)
        yield from _policy(node.policy, f"{at}.policy")
        yield from _configuration(node, at, graph)
        if node.kind is NodeKind.FOR_EACH:
            yield from _gathering(node, at, joins.get(node.id, ()))
        if node.id not in seen:
            yield from _standing(node, at, regions)
        seen.add(node.id)
    yield from _edges(graph, regions)


def _triggers(graph: Graph) -> Iterator[Violation]:
    triggers = [index for index, node in enumerate(graph.nodes) if node.kind is NodeKind.TRIGGER]
    if not triggers:
        yield Violation(
            ViolationKind.NO_TRIGGER,
            "graph.nodes",
            "the graph has no node of kind trigger; add the one where a run begins",
        )
    for index in triggers[1:]:
        first = graph.nodes[triggers[0]].id
        yield Violation(
            ViolationKind.MORE_THAN_ONE_TRIGGER,
            f"graph.nodes[{index}].kind",
            f"{graph.nodes[index].id!r} is a second trigger beside {first!r}; a run begins in one place, remove one",
        )


# --- one node ---------------------------------------------------------------------------------------------------------


def _declared(node: Node, at: str) -> Iterator[Violation]:
    yield from _id_fault(f"{at}.id", node.id)
    seen: set[str] = set()
    for number, outlet in enumerate(node.outlets):
        yield from _id_fault(f"{at}.outlets[{number}]", outlet)
        if outlet in seen:
            yield _invalid(f"{at}.outlets[{number}]", f"repeats the outlet {outlet!r}; list each outlet once")
        seen.add(outlet)


def _capability(node: Node, at: str, pins: Mapping[str, Capability]) -> Iterator[Violation]:
    capability = node.capability
    if capability is None:
        if node.kind.performed:
            yield _invalid(
                f"{at}.capability", f"is missing; {node.id!r} is performed, name its capability as name@version"
            )
        return
    if problem := named_version_problem(capability.name, capability.version):
        yield _invalid(f"{at}.capability", problem)
    pin = pins.get(capability.name)
    if pin is not None and pin.version != capability.version:
        yield _invalid(
            f"{at}.capability", f"is {capability}, but the definition pins {pin}; change the pin or the node"
        )


def _policy(policy: Policy, at: str) -> Iterator[Violation]:
    for name, count in (("maxAttempts", policy.max_attempts), ("maxVisits", policy.max_visits)):
        if not 1 <= count <= MAX_INTEGER:
            yield _invalid(f"{at}.{name}", f"is {count}; it must be from 1 to {MAX_INTEGER}")
    for name, duration in (("attemptTimeout", policy.attempt_timeout), ("retryDelay", policy.retry_delay)):
        if problem := duration_problem(duration):
            yield _invalid(f"{at}.{name}", problem)
    if not policy.attempt_timeout:
        yield _invalid(f"{at}.attemptTimeout", "must be longer than zero; an attempt needs some time")


def _configuration(node: Node, at: str, graph: Graph) -> Iterator[Violation]:
    kind = KINDS[node.kind]
    try:
        given = json.loads(node.configuration)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        yield _invalid(f"{at}.configuration", "must be a JSON object; write {} when there is nothing to say")
        return
    configuration, problems = read_leniently(kind.configuration, given)
    for problem in problems:
        yield _invalid(place(problem.path, under=f"{at}.configuration"), problem.message)
    wrong = {problem.path[0] if problem.path else None for problem in problems}
    for fault in kind.faults(configuration, graph):
        if fault.property not in wrong and None not in wrong:
            yield _invalid(place((fault.property,), under=f"{at}.configuration"), fault.message, fault.about)


def _gathering(node: Node, at: str, joins: Sequence[Node]) -> Iterator[Violation]:
    if len(joins) != 1:
        found = (
            "no join names it" if not joins else "the joins " + ", ".join(repr(join.id) for join in joins) + " name it"
        )
        yield Violation(
            ViolationKind.FOR_EACH_WITHOUT_SINGLE_JOIN,
            at,
            f"the forEach {node.id!r} needs exactly one join whose configuration names it as forEach, but {found}",
        )


def _standing(node: Node, at: str, regions: Regions) -> Iterator[Violation]:
    """Faults of where a node stands."""
    fan = regions.holder.get(node.id)
    if fan is not None and node.kind is NodeKind.FOR_EACH:
        yield Violation(
            ViolationKind.NESTED_FOR_EACH_NOT_SUPPORTED,
            at,
            f"the forEach {node.id!r} stands in the branches of {fan!r}; place it after the join of {fan!r}, "
            "or start a workflow of its own for each item",
        )
    if fan is not None and node.kind is NodeKind.JOIN:
        yield _invalid(
            at,
            f"the join {node.id!r} stands in the branches of {fan!r}, which it does not gather; move it out of them",
        )
    if node.id in regions.cyclic and node.policy.max_visits <= 1:
        yield Violation(
            ViolationKind.UNBOUNDED_CYCLE,
            f"{at}.policy.maxVisits",
            f"{node.id!r} lies on a cycle and may be visited only once; give it a maxVisits above 1",
        )


# --- edges ------------------------------------------------------------------------------------------------------------


def _edges(graph: Graph, regions: Regions) -> Iterator[Violation]:
    seen: set[Edge] = set()
    for index, edge in enumerate(graph.edges):
        at = f"graph.edges[{index}]"
        source, target = graph.node.get(edge.source), graph.node.get(edge.target)
        for end, id, node in (("from", edge.source, source), ("to", edge.target, target)):
            if node is None:
                yield Violation(
                    ViolationKind.UNKNOWN_NODE,
                    f"{at}.{end}",
                    f"the graph has no node {id!r}; correct the id or add the node",
                    (id,),
                )
        declared = source is not None and edge.outlet in source.outlets
        if source is not None and not declared:
            yield Violation(
                ViolationKind.UNDECLARED_OUTLET,
                f"{at}.outlet",
                f"the node {source.id!r} does not declare the outlet {edge.outlet!r}; add it to its outlets",
            )
        if edge in seen:
            yield _invalid(
                at, f"repeats the edge from {edge.source!r} through {edge.outlet!r} to {edge.target!r}; remove it"
            )
        seen.add(edge)
        if target is not None and target.kind is NodeKind.TRIGGER:
            yield _invalid(
                f"{at}.to", f"leads into the trigger {target.id!r}; a run only begins there, lead the edge elsewhere"
            )
        if source is not None and target is not None and declared and _enters_join(source, edge, target, regions):
            yield _invalid(
                f"{at}.to",
                f"leads from outside into the join {target.id!r}, which only branches of its forEach may reach",
            )


def _enters_join(source: Node, edge: Edge, target: Node, regions: Regions) -> bool:
    """Whether the root region enters a join by an edge; the branches of a forEach leave it through `each`."""
    into_branches = source.kind is NodeKind.FOR_EACH and edge.outlet == Outlet.EACH
    return target.kind is NodeKind.JOIN and source.id in regions.root and not into_branches


def _id_fault(where: str, value: str) -> Iterator[Violation]:
    if problem := id_problem(value):
        yield _invalid(where, problem)


def _invalid(where: str, message: str, about: tuple[str, ...] = ()) -> Violation:
    return Violation(ViolationKind.INVALID_CONFIGURATION, where, message, about)
