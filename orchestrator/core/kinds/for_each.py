"""The forEach: one branch for each item of a list in another node's output (semantics 1.3, 2.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import AfterValidator, ConfigDict

from orchestrator.core.data import compact, load
from orchestrator.core.facts import Branch, WorkflowBranchesFannedOut
from orchestrator.core.graph import Graph, NodeKind, Outlet
from orchestrator.core.ids import id_problem
from orchestrator.core.kinds.entering import Entering
from orchestrator.core.kinds.kind import Configuration, Fault, reader, reference_faults
from orchestrator.core.outcomes import FailureKind
from orchestrator.core.state import Execution, Output

#: The kinds whose output may hold items; a forEach's own output is always empty.
_WITH_OUTPUT: Final = frozenset(NodeKind) - {NodeKind.FOR_EACH}


class ForEachConfiguration(Configuration):
    """Where the items are, and how many branches work at once."""

    model_config = ConfigDict(json_schema_extra={"required": ["itemsFrom", "itemsProperty"]})

    items_from: str = ""
    """The id of the node whose output holds the items; the trigger's output is the payload."""
    items_property: str = ""
    """The property of that output with the list; each item is an object with a unique text `key`."""
    max_parallelism: Annotated[int, AfterValidator(lambda value: max(value, 1))] = 1
    """How many executions of its branches may be scheduled at once; absent or below 1 counts as 1."""


#: The configuration of an admitted forEach.
read: Final = reader(ForEachConfiguration)


class ForEachKind:
    """A fan-out over a list."""

    name: Final = NodeKind.FOR_EACH
    sentence: Final = "Opens one branch for each item of a list; exactly one join gathers them."
    usual_outlets: Final = (Outlet.EACH,)
    shape: Final = "processes"
    configuration: Final = ForEachConfiguration
    read = staticmethod(read)

    def faults(self, configuration: ForEachConfiguration, graph: Graph) -> Iterator[Fault]:
        """The items must be somewhere."""
        yield from reference_faults(graph, "itemsFrom", configuration.items_from, allowed=_WITH_OUTPUT)
        if not configuration.items_property:
            yield Fault("itemsProperty", "is missing; name the property of that output which holds the list")

    def enter(self, draft: Entering, execution: Execution) -> None:
        """Pin the items, one branch each; a list that is none, or keys that cannot be, are `InvalidOutput`."""
        node = draft.node(execution)
        if Outlet.EACH not in node.outlets:
            draft.fail(execution, FailureKind.INVALID_OUTLET, f"outlet 'each' is not declared by node {node.id!r}")
            return
        configuration = read(node.configuration)
        source = _seen(draft, execution.ref.branch, configuration.items_from)
        where = f"{configuration.items_property!r} of the output of node {configuration.items_from!r}"
        if source is None:
            problem: str | None = f"node {configuration.items_from!r} has not succeeded, so there are no items"
            items: object = None
        else:
            output = load(draft.known.text(source))
            items = output.get(configuration.items_property) if isinstance(output, dict) else None
            problem = _problem(items, where)
        if problem is not None:
            draft.fail(execution, FailureKind.INVALID_OUTPUT, problem)
        else:
            draft.emit(WorkflowBranchesFannedOut(execution.ref, compact(items)))


def _seen(draft: Entering, branch: Branch, node: str) -> Output | None:
    for depth in range(len(branch), -1, -1):
        output = draft.state.branch(branch[:depth]).outputs.get(node)
        if output is not None:
            return output
    return None


def _problem(items: object, where: str) -> str | None:
    """What keeps a value from being the items of a fan-out, or None (semantics 2.5)."""
    if not isinstance(items, list):
        return f"{where} is not a list"
    seen: set[str] = set()
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            return f"item {place} of {where} is not an object"
        key = item.get("key")
        if not isinstance(key, str):
            return f"item {place} of {where} has no text property 'key'"
        if (problem := id_problem(key)) is not None:
            return f"the key of item {place} of {where} {problem}"
        if key in seen:
            return f"item {place} of {where} repeats the key {key!r}"
        seen.add(key)
    return None
