"""What a change must be like before any adapter looks at it; a caller that breaks this has a bug, nobody was first."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.ports.records import Change


def checked(changes: Sequence[Change]) -> None:
    """Raises ValueError for facts that are not numbered on from the expected tail, or a run that stands twice."""
    if len({change.run.run_id for change in changes}) != len(changes):
        raise ValueError("an append may hold each run once; join its changes")
    for change in changes:
        run_id, after = change.run.run_id, change.expected_tail
        if not change.facts:
            continue
        numbers = [fact.number for fact in change.facts]
        if numbers != [*range(after + 1, after + 1 + len(numbers))] or change.run.tail != numbers[-1]:
            raise ValueError(f"run {run_id}: facts {numbers} do not follow {after}, or do not end at {change.run.tail}")
