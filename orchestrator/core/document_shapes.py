"""The words of the definition document, as shapes: what may stand where. The published JSON Schema is made of them.

Reading a document, with all that may be wrong with it, is `document`'s.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field

from orchestrator.core.data import DataLimits, JsonText, canonical
from orchestrator.core.durations import format_duration
from orchestrator.core.graph import Capability, Definition, Edge, Graph, Node, NodeKind, Policy
from orchestrator.core.kinds import KINDS
from orchestrator.core.shapes import Duration, NamedVersion, Shape, spelled
from orchestrator.errors import BadData

#: The canonical text of a definition is kept with each of its runs.
MAX_DOCUMENT_BYTES: Final = 4 * 2**20
PART_LIMITS: Final = DataLimits(max_bytes=MAX_DOCUMENT_BYTES)
WHOLE_LIMITS: Final = DataLimits(max_bytes=MAX_DOCUMENT_BYTES, max_depth=PART_LIMITS.max_depth + 8)


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    try:
        canonical(value, PART_LIMITS)
    except BadData as problem:
        raise ValueError(f"is not acceptable JSON: {problem.message}") from None
    return value


class StrictShape(Shape):
    """A shape in which a property that is not known is a mistake of spelling."""

    model_config = ConfigDict(extra="forbid")


_DEFAULT: Final = Policy()


def _shown_default(duration: timedelta) -> Any:
    return Field(json_schema_extra={"default": format_duration(duration)})


class PolicyShape(StrictShape):
    """How often and how long a node may be tried and visited. All but maxVisits concern only action and decision."""

    max_attempts: Annotated[int, Field(json_schema_extra={"minimum": 1})] = _DEFAULT.max_attempts
    """How many attempts an execution has; 1 is no retry."""
    attempt_timeout: Annotated[Duration, _shown_default(_DEFAULT.attempt_timeout)] = _DEFAULT.attempt_timeout
    """How long one attempt may take from when a worker has it; above zero."""
    retry_delay: Annotated[Duration, _shown_default(_DEFAULT.retry_delay)] = _DEFAULT.retry_delay
    """How long after a failure the next attempt is due."""
    max_visits: Annotated[int, Field(json_schema_extra={"minimum": 1})] = _DEFAULT.max_visits
    """How often one branch may arrive here; on a cycle it must be above 1."""

    def read(self) -> Policy:
        """The same as the engine has it."""
        return Policy(self.max_attempts, self.attempt_timeout, self.retry_delay, self.max_visits)


class NodeShape(StrictShape):
    """One step of the workflow."""

    id: str
    """Unique in the graph; any text of at most 255 bytes."""
    kind: Literal["trigger", "action", "decision", "wait", "approval", "forEach", "join"]
    """What the node does."""
    outlets: list[str]
    """Every outlet it may leave through; an outlet need not be connected."""
    capability: NamedVersion | None = None
    """What its performer is registered for: text name@version, or {id, version}. Needed for action and decision."""
    configuration: Annotated[dict[str, Any], AfterValidator(_storable)] = Field(default_factory=dict)
    """What the kind needs to know; never a secret. Unknown properties are kept."""
    policy: PolicyShape = PolicyShape()
    """How often and how long it may be tried and visited."""

    def read(self) -> Node:
        """The same as the engine has it."""
        kind, named = NodeKind(self.kind), self.capability
        configuration = spelled(KINDS[kind].configuration, self.configuration)
        return Node(
            id=self.id,
            kind=kind,
            outlets=tuple(self.outlets),
            capability=None if named is None else Capability(named.id, named.version),
            configuration=canonical(configuration, PART_LIMITS),
            policy=self.policy.read(),
        )


class EdgeShape(StrictShape):
    """One way from an outlet of a node to another node."""

    from_: Annotated[str, Field(alias="from")]
    """The id of the node it leaves."""
    outlet: str
    """The outlet it leaves through; the node must list it."""
    to: str
    """The id of the node it leads to."""


class GraphShape(StrictShape):
    """Nodes and the edges between their outlets."""

    nodes: list[NodeShape]
    """The steps; exactly one is a trigger."""
    edges: list[EdgeShape] = Field(default_factory=list)
    """The ways. Several edges may leave one outlet: the paths then run side by side."""


class Document(Shape):
    """One version of a workflow."""

    workflow: str
    """The id of the workflow."""
    version: Annotated[int, Field(json_schema_extra={"minimum": 1})]
    """An integer from 1. A published version never changes."""
    area: str
    """The part of the business that owns it."""
    subject_kind: str | None = None
    """The kind of thing its runs are about; absent or null is anything."""
    capabilities: dict[str, int] = Field(default_factory=dict)
    """Pins: the version of a capability that every node of this definition must name."""
    graph: GraphShape
    """The nodes and edges."""

    def read(self, extra: JsonText) -> Definition:
        """The same as the engine has it."""
        nodes = tuple(node.read() for node in self.graph.nodes)
        edges = tuple(Edge(edge.from_, edge.outlet, edge.to) for edge in self.graph.edges)
        pins = tuple(Capability(name, version) for name, version in sorted(self.capabilities.items()))
        return Definition(self.workflow, self.version, self.area, self.subject_kind, Graph(nodes, edges), pins, extra)
