"""The fluent way to write a definition in Python; what it makes is the document, there is no third form.

    order = graph.workflow("orders.fulfil", version=1, area="orders", subject_kind="order")
    start = order.trigger("start")
    load = order.action("load-lines", "orders.load-lines@1", max_attempts=3)
    lines = order.for_each("per-line", items=load["lines"], max_parallelism=4)
    ship = order.action("ship-line", "orders.ship-line@1")
    shipped = order.join("all-shipped", of=lines)
    start >> load >> lines >> ship >> shipped
    shipped.on("partial", order.approval("review", expires_after=timedelta(days=2)))
    orchestrator.publish(order.document())

An outlet is declared by being listed, by being connected, or because the node cannot do without it. Whether the whole
makes sense is asked by `definition`, or when it is published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal

from orchestrator.core.data import canonical
from orchestrator.core.document import definition_from, document_of
from orchestrator.core.document_shapes import PART_LIMITS
from orchestrator.core.durations import format_duration
from orchestrator.core.graph import Capability, Definition, Edge, Graph, Node, NodeKind, Outlet, Policy
from orchestrator.core.shapes import named_version
from orchestrator.errors import Refused

_DEFAULT: Final = Policy()


@dataclass(frozen=True, slots=True)
class Items:
    """A list in the output of a node: ``load["lines"]``."""

    source: str
    property: str


class DraftNode:
    """A node of a workflow that is being written: connect it, or name a property of its output."""

    def __init__(self, workflow: Workflow, node: Node, *, main: str | None) -> None:
        self.id: Final = node.id
        self._workflow = workflow
        self._node = node
        self._main = main
        self._outlets = dict.fromkeys(node.outlets)

    def on(self, outlet: str, *targets: DraftNode) -> DraftNode:
        """Lead an outlet to one or several nodes; several run side by side. Declares the outlet. Returns this node."""
        self._outlets.setdefault(outlet)
        for target in targets:
            self._workflow._connect(self, outlet, target)  # noqa: SLF001 - the two are one builder
        return self

    def next(self, *targets: DraftNode) -> DraftNode:
        """Lead the outlet on which this node goes on (next, each, completed, elapsed, resumed, approved) to nodes."""
        if self._main is None:
            raise Refused(
                f"the decision {self.id!r} has no outlet that simply goes on; "
                f"say through which it leaves: .on('yes', …) instead of .next(…) or >>"
            )
        return self.on(self._main, *targets)

    def __rshift__(self, target: DraftNode) -> DraftNode:
        """``a >> b >> c``: lead each to the one after it, as `next` does."""
        self.next(target)
        return target

    def __getitem__(self, property: str) -> Items:
        """A property of this node's output, for a forEach to go through."""
        return Items(self.id, property)

    def __repr__(self) -> str:
        return f"<{self._node.kind} {self.id!r} of workflow {self._workflow.id!r}>"

    def _written(self) -> Node:
        node = self._node
        return Node(node.id, node.kind, tuple(self._outlets), node.capability, node.configuration, node.policy)


class Workflow:
    """A definition that is being written; made by `workflow`."""

    def __init__(
        self, id: str, *, version: int, area: str, subject_kind: str | None, capabilities: Mapping[str, int]
    ) -> None:
        self.id: Final = id
        self._version = version
        self._area = area
        self._subject_kind = subject_kind
        self._pins = tuple(sorted(Capability(name, pinned) for name, pinned in capabilities.items()))
        self._nodes: dict[str, DraftNode] = {}
        self._edges: list[Edge] = []

    # --- nodes, one method a kind -------------------------------------------------------------------------------------

    def trigger(self, id: str, *, outlets: Iterable[str] = (Outlet.NEXT,)) -> DraftNode:
        """Add the place where a run begins; its output is the payload."""
        return self._add(Node(id, NodeKind.TRIGGER, tuple(outlets)), main=Outlet.NEXT)

    def action(
        self,
        id: str,
        capability: str,
        *,
        outlets: Iterable[str] = (Outlet.NEXT,),
        configuration: Mapping[str, Any] | None = None,
        max_attempts: int = _DEFAULT.max_attempts,
        attempt_timeout: timedelta = _DEFAULT.attempt_timeout,
        retry_delay: timedelta = _DEFAULT.retry_delay,
        max_visits: int = _DEFAULT.max_visits,
    ) -> DraftNode:
        """Add work that the performer of a capability, written ``name@version``, does."""
        policy = Policy(max_attempts, attempt_timeout, retry_delay, max_visits)
        return self._performed(NodeKind.ACTION, id, capability, outlets, configuration, policy, main=Outlet.NEXT)

    def decision(
        self,
        id: str,
        capability: str,
        *,
        outlets: Iterable[str] = (),
        configuration: Mapping[str, Any] | None = None,
        max_attempts: int = _DEFAULT.max_attempts,
        attempt_timeout: timedelta = _DEFAULT.attempt_timeout,
        retry_delay: timedelta = _DEFAULT.retry_delay,
        max_visits: int = _DEFAULT.max_visits,
    ) -> DraftNode:
        """Add a choice between the node's own outlets, which the performer of a capability takes."""
        policy = Policy(max_attempts, attempt_timeout, retry_delay, max_visits)
        return self._performed(NodeKind.DECISION, id, capability, outlets, configuration, policy, main=None)

    def wait_timer(self, id: str, *, after: timedelta, max_visits: int = 1) -> DraftNode:
        """Add a wait for time to pass; it leaves through `elapsed`."""
        configuration = {"kind": "timer", "after": format_duration(after)}
        return self._engine(id, NodeKind.WAIT, (Outlet.ELAPSED,), configuration, max_visits)

    def wait_signal(
        self, id: str, *, signal: str | None = None, expires_after: timedelta | None = None, max_visits: int = 1
    ) -> DraftNode:
        """Add a wait for a signal, written ``name@version``; None is any. It leaves through `resumed`."""
        configuration: dict[str, Any] = {"kind": "signal", **_expiry(expires_after)}
        if signal is not None:
            contract = _capability(id, signal)
            configuration["signal"] = {"id": contract.name, "version": contract.version}
        outlets = (Outlet.RESUMED, Outlet.CANCELLED, *_expired(expires_after))
        return self._engine(id, NodeKind.WAIT, outlets, configuration, max_visits)

    def approval(self, id: str, *, expires_after: timedelta | None = None, max_visits: int = 1) -> DraftNode:
        """Add a decision that a person takes; it leaves through `approved` or `rejected`."""
        outlets = (Outlet.APPROVED, Outlet.REJECTED, *_expired(expires_after))
        return self._engine(id, NodeKind.APPROVAL, outlets, _expiry(expires_after), max_visits)

    def for_each(self, id: str, *, items: Items, max_parallelism: int = 1, max_visits: int = 1) -> DraftNode:
        """Add a fan-out: one branch for each item of a list, named as ``load["lines"]``."""
        configuration = {
            "itemsFrom": items.source,
            "itemsProperty": items.property,
            "maxParallelism": max_parallelism,
        }
        return self._engine(id, NodeKind.FOR_EACH, (Outlet.EACH,), configuration, max_visits)

    def join(
        self,
        id: str,
        *,
        of: DraftNode,
        mode: Literal["all", "any", "atLeast"] = "all",
        threshold: int | None = None,
        max_visits: int = 1,
    ) -> DraftNode:
        """Add the end of a fan-out: it goes on through `completed`, or `partial` when too few branches succeeded."""
        configuration: dict[str, Any] = {"forEach": of.id, "mode": mode}
        if threshold is not None:
            configuration["threshold"] = threshold
        return self._engine(id, NodeKind.JOIN, (Outlet.COMPLETED, Outlet.PARTIAL), configuration, max_visits)

    # --- the whole ----------------------------------------------------------------------------------------------------

    def document(self) -> dict[str, Any]:
        """The definition document, as it would be written by hand."""
        graph = Graph(tuple(node._written() for node in self._nodes.values()), tuple(self._edges))  # noqa: SLF001
        return document_of(
            Definition(self.id, self._version, self._area, self._subject_kind, graph, capabilities=self._pins)
        )

    def definition(self) -> Definition:
        """The checked definition. Raises Rejected with everything that is wrong with it."""
        return definition_from(self.document())

    def _performed(
        self,
        kind: NodeKind,
        id: str,
        capability: str,
        outlets: Iterable[str],
        configuration: Mapping[str, Any] | None,
        policy: Policy,
        *,
        main: str | None,
    ) -> DraftNode:
        named, text = _capability(id, capability), _configuration(configuration or {})
        return self._add(Node(id, kind, tuple(outlets), named, text, policy), main=main)

    def _engine(
        self, id: str, kind: NodeKind, outlets: tuple[str, ...], configuration: Mapping[str, Any], max_visits: int
    ) -> DraftNode:
        node = Node(
            id, kind, outlets, configuration=_configuration(configuration), policy=Policy(max_visits=max_visits)
        )
        return self._add(node, main=outlets[0])

    def _add(self, node: Node, *, main: str | None) -> DraftNode:
        if node.id in self._nodes:
            raise Refused(f"the workflow {self.id!r} has a node {node.id!r} already; give this one another id")
        return self._nodes.setdefault(node.id, DraftNode(self, node, main=main))

    def _connect(self, source: DraftNode, outlet: str, target: DraftNode) -> None:
        if self._nodes.get(target.id) is not target:
            raise Refused(f"{target!r} belongs to another workflow than {source!r}; add the node to this one")
        self._edges.append(Edge(source.id, outlet, target.id))


def workflow(
    id: str,
    *,
    version: int,
    area: str,
    subject_kind: str | None = None,
    capabilities: Mapping[str, int] | None = None,
) -> Workflow:
    """Begin a definition; `capabilities` are the pins, by name."""
    return Workflow(id, version=version, area=area, subject_kind=subject_kind, capabilities=capabilities or {})


def _capability(node: str, text: str) -> Capability:
    try:
        return named_version(text)
    except ValueError as problem:
        raise Refused(f"what the node {node!r} names {problem}") from None


def _configuration(value: Mapping[str, Any]) -> str:
    return canonical(dict(value), PART_LIMITS)


def _expiry(expires_after: timedelta | None) -> dict[str, Any]:
    return {} if expires_after is None else {"expiresAfter": format_duration(expires_after)}


def _expired(expires_after: timedelta | None) -> tuple[str, ...]:
    return (Outlet.EXPIRED,) if expires_after else ()
