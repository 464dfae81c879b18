"""What became of orders, read from the snapshots of their runs: nothing is counted that a snapshot does not say."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.core.codec import camel
from orchestrator.core.snapshot import ExecutionView, RunSnapshot
from orchestrator.core.state import ExecutionStatus, RunStatus
from orchestrator.flagship.dataset import Order
from orchestrator.flagship.definition import ALL_SHIPPED, LOAD_LINES, REVIEW, SHIP_LINE


class Stage(enum.StrEnum):
    """Where an order stands."""

    LOADING = "loading"
    SHIPPING = "shipping"
    PICK_UP = "pick-up"
    REVIEW = "review"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Story:
    """What one run says of its order."""

    order: Order
    run_id: str
    stage: Stage
    lines: int
    shipped: int
    not_shipped: int
    #: How many attempts are over, over all nodes.
    attempts: int
    #: The outlet of the join, ``completed`` or ``partial``; None while lines are on their way.
    join: str | None
    #: The outlet of the approval, ``approved``, ``rejected`` or ``expired``; None while nobody has decided.
    decision: str | None
    #: Why lines were not shipped, by product.
    missing: tuple[tuple[str, str], ...]
    #: What ended the run badly; None in health.
    problem: str | None

    @property
    def gathered(self) -> bool:
        """Whether all that can happen before a person or the carrier comes has happened."""
        return self.stage in {Stage.PICK_UP, Stage.REVIEW, Stage.DONE, Stage.FAILED}

    @property
    def over(self) -> bool:
        """Whether the run has come to its end, or to a point that it will not leave by itself."""
        return self.stage in {Stage.DONE, Stage.FAILED}


def story(order: Order, run: RunSnapshot) -> Story:
    """What this snapshot says of the order."""
    loaded, joined, reviewed = (_last(run, node) for node in (LOAD_LINES, ALL_SHIPPED, REVIEW))
    ships = run.executions_of(SHIP_LINE)
    return Story(
        order=order,
        run_id=run.id,
        stage=_stage(run, loaded, joined, reviewed),
        lines=len(loaded.output["lines"]) if loaded and loaded.output is not None else 0,
        shipped=sum(ship.status is ExecutionStatus.SUCCEEDED for ship in ships),
        not_shipped=sum(ship.status is ExecutionStatus.FAILED for ship in ships),
        attempts=sum(e.attempts - (e.status is ExecutionStatus.SCHEDULED) for e in run.executions),
        join=joined.outlet if joined else None,
        decision=reviewed.outlet if reviewed else None,
        missing=tuple((ship.key or "", ship.failure.reason) for ship in ships if ship.failure),
        problem=_problem(run),
    )


def _last(run: RunSnapshot, node: str) -> ExecutionView | None:
    return next(reversed(run.executions_of(node)), None)


def _stage(
    run: RunSnapshot, loaded: ExecutionView | None, joined: ExecutionView | None, reviewed: ExecutionView | None
) -> Stage:
    if run.status is RunStatus.SUCCEEDED:
        return Stage.DONE
    if run.status.final or run.status is RunStatus.RECONCILIATION_REQUIRED:
        return Stage.FAILED
    if reviewed is not None:
        return Stage.REVIEW
    if joined is not None and joined.outlet is not None:
        return Stage.PICK_UP if joined.outlet == "completed" else Stage.REVIEW
    return Stage.SHIPPING if loaded is not None and loaded.status is ExecutionStatus.SUCCEEDED else Stage.LOADING


def _problem(run: RunSnapshot) -> str | None:
    if run.status is RunStatus.SUCCEEDED or not (run.status.final or run.status is RunStatus.RECONCILIATION_REQUIRED):
        return None
    unrouted = [failure for failure in run.failures if failure.outlet is None and not failure.execution.branch]
    return "; ".join(f"{f.execution.node}: {f.code or f.kind}, {f.reason}" for f in unrouted) or run.status.value


@dataclass(frozen=True, slots=True)
class Summary:
    """The flagship in numbers."""

    runs: int
    lines: int
    shipped: int
    not_shipped: int
    #: Runs by how their join was left.
    completed: int
    partial: int
    #: Runs by what a person decided.
    approved: int
    rejected: int
    #: Runs that a person has still to decide.
    waiting: int
    failed: int
    seconds: float

    def document(self) -> dict[str, Any]:
        """On the wire."""
        return {camel(name): value for name, value in asdict(self).items()}


def summary(stories: Iterable[Story], *, seconds: float) -> Summary:
    """Add the stories up."""
    told = tuple(stories)
    return Summary(
        runs=len(told),
        lines=sum(story.lines for story in told),
        shipped=sum(story.shipped for story in told),
        not_shipped=sum(story.not_shipped for story in told),
        completed=sum(story.join == "completed" for story in told),
        partial=sum(story.join == "partial" for story in told),
        approved=sum(story.decision == "approved" for story in told),
        rejected=sum(story.decision == "rejected" for story in told),
        waiting=sum(story.stage is Stage.REVIEW and story.decision is None for story in told),
        failed=sum(story.stage is Stage.FAILED for story in told),
        seconds=round(seconds, 2),
    )
