"""Test adapters for the desk: a registry of attempts in plain dicts, and bells that note what happens to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from orchestrator.core.data import JsonText
from orchestrator.core.outcomes import Receipt
from orchestrator.engine.work import Answer, Work
from orchestrator.errors import StoreUnavailable
from orchestrator.ports.store import ClaimRequest
from workers.bell import Answered, Fate
from workers.desk import Desk

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DONE = Answered(Receipt("succeeded", outlet="next", output=JsonText("{}")))

Claims = Sequence[tuple[str, int]]


def work(attempt_id: str, *, capability: str = "a@1", fence: int = 1) -> Work:
    """One claimed attempt."""
    return Work(
        attempt_id=attempt_id,
        fence=fence,
        scope="default",
        run_id="r",
        workflow="w",
        node_id="n",
        branch=(),
        visit=1,
        execution_id=attempt_id.partition(".")[0],
        attempt=1,
        capability=capability,
        configuration=JsonText("{}"),
        input=JsonText('{"item":null}'),
        claimed_at=NOON,
        deadline=NOON + timedelta(minutes=10),
    )


class Ledger:
    """The registry's port in memory; notes every call, and fails when told to."""

    def __init__(self) -> None:
        self.claimed: dict[str, int] = {}
        self.over: set[str] = set()
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self.away = False
        #: Attempts that make any call with them fail, for a reason of its own.
        self.poisoned: set[str] = set()
        self.on_call: Callable[[str], None] = lambda _: None

    def claim(self, requests: Sequence[ClaimRequest], worker: str) -> list[Work]:
        """Grant what nobody has and is not over."""
        self._called("claim", [request.attempt_id for request in requests])
        granted = []
        for request in requests:
            if request.attempt_id not in self.claimed and request.attempt_id not in self.over:
                self.claimed[request.attempt_id] = 1
                granted.append(work(request.attempt_id))
        return granted

    def advance(self, answers: Sequence[Answer]) -> frozenset[str]:
        """Record."""
        self._called("advance", [answer.attempt_id for answer in answers])
        counted = frozenset(answer.attempt_id for answer in answers if answer.attempt_id in self.claimed)
        self.over |= counted
        for attempt_id in counted:
            del self.claimed[attempt_id]
        return counted

    def hand_back(self, claims: Claims) -> None:
        """Owed again."""
        self._released("hand_back", claims)

    def lost(self, claims: Claims) -> None:
        """Owed again."""
        self._released("lost", claims)

    def stopped(self, claims: Claims) -> None:
        """Owed again."""
        self._released("stopped", claims)

    def timed_out(self, claims: Claims) -> None:
        """Owed again."""
        self._released("timed_out", claims)

    def performer_missing(self, attempt_ids: Sequence[str], worker: str) -> None:
        """Note it."""
        self._called("performer_missing", attempt_ids)

    def _released(self, name: str, claims: Claims) -> None:
        self._called(name, [attempt_id for attempt_id, _ in claims])
        for attempt_id, _ in claims:
            self.claimed.pop(attempt_id, None)
            self.on_call(attempt_id)

    def _called(self, name: str, attempt_ids: Sequence[str]) -> None:
        if self.away:
            raise StoreUnavailable
        if self.poisoned & set(attempt_ids):
            raise ValueError(f"{name} of {attempt_ids}")
        self.calls.append((name, tuple(attempt_ids)))


@dataclass(eq=False)
class Ring:
    """A bell that notes what happens to it."""

    attempt_id: str
    capability: str = "a@1"
    effect: str = "idempotent"
    called_off: bool = False
    submitted: bool = False
    started: bool = False
    work: Work | None = None
    killed: list[int] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)
    desk: Desk | None = None

    def submit(self, work: Work) -> None:
        """As a request does."""
        if self.desk is None or not self.desk.closing:
            self.work = work
            self.submitted = True

    def kill(self, fence: int) -> None:
        """Note it."""
        self.killed.append(fence)

    def over(self, fate: Fate) -> None:
        """Note it."""
        self.fates.append(fate)
