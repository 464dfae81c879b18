"""What every adapter asks of changes: that they follow from each other, and in which order waits are written."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.ports.records import Change, WaitRow


def checked(changes: Sequence[Change]) -> None:
    """Raises ValueError, for it is a bug of the caller and nobody was first: facts that are not numbered on from the
    expected tail, or a run that stands twice."""
    if len({change.run.run_id for change in changes}) != len(changes):
        raise ValueError("an append may hold each run once; join its changes")
    for change in changes:
        run_id, after = change.run.run_id, change.expected_tail
        if not change.facts:
            continue
        numbers = [fact.number for fact in change.facts]
        if numbers != [*range(after + 1, after + 1 + len(numbers))] or change.run.tail != numbers[-1]:
            raise ValueError(f"run {run_id}: facts {numbers} do not follow {after}, or do not end at {change.run.tail}")


def waits_in_order(changes: Sequence[Change]) -> list[WaitRow]:
    """The waits to write, each as it is said last. Closed ones first, for a key that one gives up may be taken by
    another in the same append; by key, so that two writers never wait for each other."""
    last = {wait.wait_id: wait for change in changes for wait in change.waits}
    return sorted(last.values(), key=lambda wait: (wait.status == "open", wait.scope, wait.key or ""))
