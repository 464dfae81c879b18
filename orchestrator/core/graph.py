"""The workflow as plain data: nodes, edges, policies, the definition, and the indexes the engine walks (semantics 1.1).

Nothing here judges a graph (`admission`) or moves through one (`evolve`, `decide`).
"""

from __future__ import annotations

import enum
import hashlib
import json
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any, Final


class NodeKind(enum.StrEnum):
    """The seven kinds of node (semantics 1.2)."""

    TRIGGER = "trigger"
    ACTION = "action"
    DECISION = "decision"
    WAIT = "wait"
    APPROVAL = "approval"
    FOR_EACH = "forEach"
    JOIN = "join"

    @property
    def performed(self) -> bool:
        """Whether user code does it; the other kinds are the engine's and their capability is never looked up."""
        return self in (NodeKind.ACTION, NodeKind.DECISION)


class Outlet:
    """The twelve outlet names that have a meaning (semantics 1.4); a node may declare any other name beside them."""

    NEXT: Final = "next"
    FAILED: Final = "failed"
    FALLBACK: Final = "fallback"
    EACH: Final = "each"
    COMPLETED: Final = "completed"
    PARTIAL: Final = "partial"
    RESUMED: Final = "resumed"
    CANCELLED: Final = "cancelled"
    ELAPSED: Final = "elapsed"
    EXPIRED: Final = "expired"
    APPROVED: Final = "approved"
    REJECTED: Final = "rejected"


@dataclass(frozen=True, slots=True, order=True)
class Capability:
    """What a node needs done: a name and an integer version, written ``orders.ship-line@1``."""

    name: str
    version: int

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class Policy:
    """How often and how long a node may be tried and visited (semantics 1.5)."""

    max_attempts: int = 1
    attempt_timeout: timedelta = timedelta(minutes=10)
    retry_delay: timedelta = timedelta(seconds=30)
    max_visits: int = 1


@dataclass(frozen=True, slots=True)
class Node:
    """One node as its author wrote it; `configuration` is compact JSON text with unknown properties kept."""

    id: str
    kind: NodeKind
    outlets: tuple[str, ...]
    capability: Capability | None = None
    configuration: str = "{}"
    policy: Policy = Policy()


@dataclass(frozen=True, slots=True)
class Edge:
    """From an outlet of one node to another node."""

    source: str
    outlet: str
    target: str


@dataclass(frozen=True)
class Graph:
    """Nodes and edges, with the look-ups the engine needs; of nodes with one id the first is found."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @cached_property
    def node(self) -> dict[str, Node]:
        """Node by id."""
        return {node.id: node for node in reversed(self.nodes)}

    @cached_property
    def _targets(self) -> dict[tuple[str, str], tuple[str, ...]]:
        found: dict[tuple[str, str], list[str]] = {}
        for edge in self.edges:
            found.setdefault((edge.source, edge.outlet), []).append(edge.target)
        return {key: tuple(value) for key, value in found.items()}

    def targets(self, source: str, outlet: str) -> tuple[str, ...]:
        """The nodes that the edges of one outlet lead to, in the author's order; empty when it is not connected."""
        return self._targets.get((source, outlet), ())

    @cached_property
    def trigger(self) -> Node:
        """The one trigger of an admitted graph."""
        return next(node for node in self.nodes if node.kind is NodeKind.TRIGGER)

    @cached_property
    def joins(self) -> dict[str, tuple[Node, ...]]:
        """The joins that name each forEach, by the forEach's id."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            if node.kind is NodeKind.JOIN:
                gathered = json.loads(node.configuration).get("forEach")
                if isinstance(gathered, str):
                    found.setdefault(gathered, []).append(node)
        return {key: tuple(value) for key, value in found.items()}

    def join_of(self, for_each: str) -> Node:
        """The one join of a forEach of an admitted graph."""
        return self.joins[for_each][0]


@dataclass(frozen=True)
class Definition:
    """One version of a workflow (semantics 1.15). Immutable: the same version with other content is refused."""

    workflow: str
    version: int
    area: str
    subject_kind: str | None
    graph: Graph
    capabilities: tuple[Capability, ...] = ()
    #: Anything else the document said, kept and ignored, as compact JSON text.
    extra: str = field(default="{}")

    @cached_property
    def digest(self) -> str:
        """Equal for equal content, whatever the spelling of the document was."""
        return hashlib.sha256(json.dumps(self._content(), sort_keys=True, ensure_ascii=True).encode()).hexdigest()

    def _content(self) -> list[Any]:
        def node(n: Node) -> list[Any]:
            policy = n.policy
            return [
                n.id,
                n.kind.value,
                list(n.outlets),
                str(n.capability) if n.capability else None,
                json.loads(n.configuration),
                [
                    policy.max_attempts,
                    policy.attempt_timeout.total_seconds(),
                    policy.retry_delay.total_seconds(),
                    policy.max_visits,
                ],
            ]

        return [
            self.workflow,
            self.version,
            self.area,
            self.subject_kind,
            sorted(map(str, self.capabilities)),
            [node(n) for n in self.graph.nodes],
            [[e.source, e.outlet, e.target] for e in self.graph.edges],
            json.loads(self.extra),
        ]
