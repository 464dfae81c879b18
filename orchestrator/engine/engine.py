"""The engine's face: one object with all that can be asked of it; each method hands on to the module that does it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from orchestrator.core.admission import AdmissionPolicy
from orchestrator.core.data import DEFAULT_LIMITS, DataLimits
from orchestrator.core.decide.commands import Command
from orchestrator.core.graph import Definition
from orchestrator.core.state import RunState
from orchestrator.engine import performing, starting, waking
from orchestrator.engine.answers import act, advance, take_stored
from orchestrator.engine.deps import Deps
from orchestrator.engine.loading import FoldedStates
from orchestrator.engine.starting import Started, StartRequest
from orchestrator.engine.work import Answer, Work
from orchestrator.errors import NotFound
from orchestrator.ports.dispatch import Clock, Dispatcher
from orchestrator.ports.records import DefinitionRow
from orchestrator.ports.store import ClaimRequest, Store


class Engine:
    """Thread-safe; every call is one or a few short transactions. Raises `StoreUnavailable` while the store is away."""

    def __init__(
        self,
        store: Store,
        dispatcher: Dispatcher,
        clock: Clock,
        *,
        limits: DataLimits = DEFAULT_LIMITS,
        lease: timedelta = timedelta(seconds=30),
        policies: Sequence[AdmissionPolicy] = (),
        cached_runs: int = 1_000,
    ) -> None:
        self.store = store
        self.dispatcher = dispatcher
        self.clock = clock
        self.limits = limits
        self._policies = tuple(policies)
        self._deps = Deps(store, dispatcher, clock, limits=limits, lease=lease, states=FoldedStates(cached_runs))

    # --- producers --------------------------------------------------------------------------------------------------

    def publish(self, scope: str, definition: Definition) -> DefinitionRow:
        """See `starting.publish`."""
        return starting.publish(self._deps, scope, definition)

    def activate(self, scope: str, workflow: str, version: int | None) -> None:
        """See `starting.activate`."""
        starting.activate(self._deps, scope, workflow, version)

    def start(self, request: StartRequest) -> Started:
        """See `starting.start`."""
        return starting.start(self._deps, request, self._policies)

    def tell(self, run_id: str, command: Command) -> object:
        """Apply one command to a run and answer with its reply. Raises `NotFound` and the errors of the command."""
        batch = act(self._deps, (run_id,), lambda _, held: dict.fromkeys(held, (command,)))
        if run_id in batch.refused:
            raise batch.refused[run_id]
        if run_id not in batch.decisions:
            raise NotFound("run", run_id)
        return batch.decisions[run_id].replies[0]

    def state(self, run_id: str) -> RunState:
        """The run's state as of now. Raises `NotFound`."""
        with self.store.reading() as tx:
            head = tx.head(run_id)
            if head is None:
                raise NotFound("run", run_id)
            return self._deps.states.load(tx, run_id, head.tail)

    # --- workers ----------------------------------------------------------------------------------------------------

    def claim(self, requests: Sequence[ClaimRequest], worker: str) -> list[Work]:
        """See `performing.claim`."""
        return performing.claim(self._deps, requests, worker)

    def advance(self, answers: Sequence[Answer]) -> frozenset[str]:
        """See `answers.advance`."""
        return advance(self._deps, answers)

    def renew(self, claims: Sequence[tuple[str, int]]) -> set[str]:
        """See `performing.renew`."""
        return performing.renew(self._deps, claims)

    def hand_back(self, claims: Sequence[tuple[str, int]]) -> None:
        """See `performing.hand_back`."""
        performing.hand_back(self._deps, claims)

    def lost(self, claims: Sequence[tuple[str, int]], *, unless_renewed: bool = False) -> None:
        """See `performing.lost`."""
        performing.lost(self._deps, claims, unless_renewed=unless_renewed)

    def stopped(self, claims: Sequence[tuple[str, int]]) -> None:
        """See `performing.stopped`."""
        performing.stopped(self._deps, claims)

    def timed_out(self, claims: Sequence[tuple[str, int]]) -> None:
        """See `performing.timed_out`."""
        performing.timed_out(self._deps, claims)

    def performer_missing(self, attempt_ids: Sequence[str], worker: str) -> None:
        """See `performing.performer_missing`."""
        performing.performer_missing(self._deps, attempt_ids, worker)

    # --- beat -------------------------------------------------------------------------------------------------------

    def wake(self, run_ids: Sequence[str], now: datetime) -> None:
        """See `waking.wake`."""
        waking.wake(self._deps, run_ids, now)

    def take_stored(self, run_ids: Sequence[str]) -> int:
        """See `answers.take_stored`."""
        return take_stored(self._deps, run_ids)
