"""What a kind of node is, as admission, schema, reference and drawing see it; and what may be wrong with a graph.

Law of this package: one kind, one file, one line in the table `KINDS`. A kind knows nodes and graphs, and never
documents or admission.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Protocol, TypeVar

from orchestrator.core.graph import Graph, Node, NodeKind
from orchestrator.core.shapes import Shape
from orchestrator.errors import Reason


class ViolationKind(enum.StrEnum):
    """The structural faults of a definition by their stable names (semantics 1.14)."""

    NO_TRIGGER = "NoTrigger"
    MORE_THAN_ONE_TRIGGER = "MoreThanOneTrigger"
    DUPLICATE_NODE = "DuplicateNode"
    UNKNOWN_NODE = "UnknownNode"
    UNDECLARED_OUTLET = "UndeclaredOutlet"
    FOR_EACH_WITHOUT_SINGLE_JOIN = "ForEachWithoutSingleJoin"
    NESTED_FOR_EACH_NOT_SUPPORTED = "NestedForEachNotSupported"
    UNBOUNDED_CYCLE = "UnboundedCycle"
    INVALID_CONFIGURATION = "InvalidConfiguration"


@dataclass(frozen=True, slots=True)
class Violation:
    """One structural fault: what, where in the document, and a sentence with what to do."""

    kind: ViolationKind
    where: str
    message: str
    #: The ids that the fault hangs on, beside the place: it is no fault if one of them could not be read.
    about: tuple[str, ...] = ()

    @property
    def reason(self) -> Reason:
        """The same as it is answered to the author."""
        return Reason(self.kind.value, self.where, self.message)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of one node's configuration (`InvalidConfiguration`); `property` is its name there, "" for the whole."""

    property: str
    message: str
    about: tuple[str, ...] = ()


class Configuration(Shape):
    """The configuration of a node as the engine reads it; unknown properties are ignored."""


class NoConfiguration(Configuration):
    """Nothing that the engine reads."""


class Kind(Protocol):
    """One kind of node."""

    @property
    def name(self) -> NodeKind:
        """Which kind."""

    @property
    def sentence(self) -> str:
        """What a node of this kind does, in one sentence for authors."""

    @property
    def usual_outlets(self) -> tuple[str, ...]:
        """The outlets that have a meaning here, in the order people list them."""

    @property
    def shape(self) -> str:
        """The figure it is drawn as, by Mermaid's name."""

    @property
    def configuration(self) -> type[Configuration]:
        """What its configuration may say."""

    @property
    def read(self) -> Callable[[str], Configuration]:
        """Reads the configuration text of an admitted node; cached. Raises ValueError for a text that does not fit."""

    def faults(self, configuration: Any, graph: Graph) -> Iterator[Fault]:
        """What is wrong with a configuration whose properties are each of the right form."""


C = TypeVar("C", bound=Configuration)


def reader(model: type[C]) -> Callable[[str], C]:
    """A cached reader of the configurations of admitted nodes; it raises ValueError for a text that does not fit."""

    @lru_cache(maxsize=4096)
    def read(text: str) -> C:
        return model.model_validate(json.loads(text))

    return read


#: The reader of the kinds whose configuration the engine does not look into.
read_nothing: Final = reader(NoConfiguration)


def reference_faults(
    graph: Graph, property: str, target: str, *, allowed: frozenset[NodeKind] | None = None
) -> Iterator[Fault]:
    """The faults of a property that names another node."""
    found: Node | None = graph.node.get(target)
    if not target:
        yield Fault(property, "is missing; name the node that is meant")
    elif found is None:
        yield Fault(property, f"names the node {target!r}, which the graph does not have; correct the id", (target,))
    elif allowed is not None and found.kind not in allowed:
        kinds = " or ".join(sorted(allowed))
        yield Fault(
            property, f"names the node {target!r}, which is of kind {found.kind}; name one of kind {kinds}", (target,)
        )
