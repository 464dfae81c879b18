"""The kinds of node. Law: one kind, one file, one line in `KINDS`; whoever needs to know a kind reads the table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from orchestrator.core.graph import Node, NodeKind
from orchestrator.core.kinds.action import ActionKind
from orchestrator.core.kinds.approval import ApprovalKind
from orchestrator.core.kinds.decision import DecisionKind
from orchestrator.core.kinds.for_each import ForEachKind
from orchestrator.core.kinds.join import JoinKind
from orchestrator.core.kinds.kind import Configuration, Kind
from orchestrator.core.kinds.trigger import TriggerKind
from orchestrator.core.kinds.wait import WaitKind


def table(*kinds: Kind) -> Mapping[NodeKind, Kind]:
    """The kinds by name. Raises ValueError for a name that comes twice."""
    made: dict[NodeKind, Kind] = {}
    for kind in kinds:
        if kind.name in made:
            raise ValueError(f"the kind {kind.name} stands twice in the table; remove one of the lines")
        made[kind.name] = kind
    return MappingProxyType(made)


#: Every kind of node there is.
KINDS: Final = table(
    TriggerKind(),
    ActionKind(),
    DecisionKind(),
    WaitKind(),
    ApprovalKind(),
    ForEachKind(),
    JoinKind(),
)


def configuration_of(node: Node) -> Configuration:
    """The configuration of an admitted node, typed by its kind (each kind's module has a typed `read`); cached."""
    return KINDS[node.kind].read(node.configuration)
