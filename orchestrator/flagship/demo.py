"""The demonstration: one run an unshipped order, looked at until it is over, with the people's part. Prints nothing.

It holds an `Orchestrator` and nothing else, so it runs as well against workers and a beat in other processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from orchestrator.client import DEFAULT_SCOPE, Orchestrator
from orchestrator.core.journal import JournalEntry
from orchestrator.errors import WaitClosed
from orchestrator.flagship.dataset import DataSet, Order
from orchestrator.flagship.definition import REVIEW, SUBJECT_KIND, WORKFLOW, order_document
from orchestrator.flagship.tally import Stage, Story, Summary, story, summary
from orchestrator.ports.store import RunFilter

#: Who decides, in turn, and what.
PEOPLE: Final = (("anna", "approved"), ("ben", "rejected"))

#: How many rows of the list of runs are read at a time.
PAGE: Final = 500

#: How many open approvals are read: those of other workflows stand among ours.
MOST_OPEN: Final = 100_000


@dataclass(frozen=True, slots=True)
class Request:
    """One entry of the inbox: an order that waits for a person."""

    wait_id: str
    order: Order
    run_id: str
    #: Why lines were not shipped, by product.
    missing: tuple[tuple[str, str], ...]
    opened_at: datetime
    deadline: datetime | None


@dataclass(frozen=True, slots=True)
class Decided:
    """What somebody made of a request."""

    request: Request
    actor: str
    outlet: str


@dataclass(frozen=True, slots=True)
class Progress:
    """All orders at one moment."""

    orders: int
    stages: Mapping[Stage, int]
    lines: int
    shipped: int
    not_shipped: int
    attempts: int
    #: Every run waits for a person or the carrier, or is over.
    gathered: bool
    #: Every run is over.
    over: bool
    #: Every run that no person has to decide is over.
    only_people: bool


class Demo:
    """One performance of the flagship with the orders of a data set that are not shipped yet."""

    def __init__(
        self, orchestrator: Orchestrator, data: DataSet, *, pick_up: timedelta | None = None, scope: str = DEFAULT_SCOPE
    ) -> None:
        self._orchestrator = orchestrator
        self._data = data
        self._pick_up = pick_up
        self._scope = scope
        self._orders: dict[str, Order] = {}
        self._tails: dict[str, int] = {}
        self._stories: dict[str, Story] = {}

    @property
    def stories(self) -> Sequence[Story]:
        """What was seen of each order at the last look, in the order of the data."""
        return tuple(self._stories[run_id] for run_id in self._orders if run_id in self._stories)

    def start(self) -> Iterator[Order]:
        """Publish the workflow and start one run for each order; each is handed out once its run is there."""
        self._orchestrator.publish(order_document(pick_up=self._pick_up), scope=self._scope)
        for order in self._data.unshipped:
            run = self._orchestrator.start(
                WORKFLOW,
                {"order": order.id, "data": str(self._data.folder)},
                subject=(SUBJECT_KIND, order.id),
                correlation=order.customer_id,
                key=order.id,
                scope=self._scope,
            )
            self._orders[run.id] = order
            yield order

    def look(self) -> Progress:
        """Read every run that has moved since the last look."""
        for run_id, tail in self._moved():
            self._stories[run_id] = story(self._orders[run_id], self._orchestrator.run(run_id, scope=self._scope))
            self._tails[run_id] = tail
        return self._progress()

    def _moved(self) -> list[tuple[str, int]]:
        which = RunFilter(scope=self._scope, workflow=WORKFLOW)
        moved, before = [], None
        while True:
            rows = self._orchestrator.runs(which, limit=PAGE, before=before)
            moved += [
                (r.run_id, r.tail) for r in rows if r.run_id in self._orders and self._tails.get(r.run_id) != r.tail
            ]
            if len(rows) < PAGE:
                return moved
            before = (rows[-1].started_at, rows[-1].run_id)

    def _progress(self) -> Progress:
        stories = self.stories
        complete = len(stories) == len(self._data.unshipped)
        return Progress(
            orders=len(self._data.unshipped),
            stages=Counter(story.stage for story in stories),
            lines=sum(story.lines for story in stories),
            shipped=sum(story.shipped for story in stories),
            not_shipped=sum(story.not_shipped for story in stories),
            attempts=sum(story.attempts for story in stories),
            gathered=complete and all(story.gathered for story in stories),
            over=complete and all(story.over for story in stories),
            only_people=complete and all(story.over or story.stage is Stage.REVIEW for story in stories),
        )

    # --- the people's part --------------------------------------------------------------------------------------------

    def inbox(self) -> Sequence[Request]:
        """What waits for a person, oldest first."""
        rows = self._orchestrator.waits(kind="approval", limit=MOST_OPEN, scope=self._scope)
        return tuple(
            Request(
                wait_id=row.wait_id,
                order=self._orders[row.run_id],
                run_id=row.run_id,
                missing=self._stories[row.run_id].missing,
                opened_at=row.opened_at,
                deadline=row.deadline,
            )
            for row in rows
            if row.run_id in self._stories
        )

    def decide(self, requests: Sequence[Request]) -> Sequence[Decided]:
        """Approve and reject in turn. Who is late learns it, and the decision that stands is handed out."""
        return tuple(self._decide(request, *PEOPLE[turn % len(PEOPLE)]) for turn, request in enumerate(requests))

    def _decide(self, request: Request, actor: str, outlet: str) -> Decided:
        act = self._orchestrator.approve if outlet == "approved" else self._orchestrator.reject
        try:
            act(request.wait_id, {"note": f"{outlet} in the demo"}, actor=actor, scope=self._scope)
        except WaitClosed as closed:
            return Decided(request, closed.actor or "somebody else", closed.outlet or "withdrawn")
        return Decided(request, actor, outlet)

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def deciders(self) -> Mapping[str, str]:
        """By run: who closed its approval, as its journal says."""
        found = {}
        for told in self.stories:
            if told.decision is not None:
                for entry in self.journal(told):
                    if entry.type == "WorkflowWaitResolved" and entry.data["execution"]["node"] == REVIEW:
                        found[told.run_id] = entry.data.get("actor") or "time"
        return found

    def journal(self, told: Story) -> Sequence[JournalEntry]:
        """All facts of one run."""
        return self._orchestrator.facts(told.run_id, scope=self._scope)

    def summary(self, *, seconds: float) -> Summary:
        """The last look in numbers."""
        return summary(self.stories, seconds=seconds)
