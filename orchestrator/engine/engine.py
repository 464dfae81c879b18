"""The engine's face: one object with all that can be asked of it; each method hands on to the module that does it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from orchestrator.core.admission import AdmissionPolicy
from orchestrator.core.data import DEFAULT_LIMITS, DataLimits
from orchestrator.core.decide.commands import Command, Wake
from orchestrator.core.graph import Definition
from orchestrator.core.state import RunState
from orchestrator.engine import performing, starting
from orchestrator.engine.advancing import apply
from orchestrator.engine.deps import Deps
from orchestrator.engine.loading import FoldedStates
from orchestrator.engine.rows import due_now
from orchestrator.engine.starting import Started, StartRequest
from orchestrator.engine.work import Answer, Work
from orchestrator.errors import NotFound
from orchestrator.ports.dispatch import Clock, Dispatcher
from orchestrator.ports.records import AttemptRow, DefinitionRow
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

    def start(self, request: StartRequest) -> Started:
        """See `starting.start`."""
        return starting.start(self._deps, request, self._policies)

    def tell(self, run_id: str, command: Command) -> object:
        """Apply one command to a run and answer with its reply. Raises `NotFound` and the errors of the command."""
        batch = apply(self._deps, {run_id: (command,)})
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
        """See `performing.advance`."""
        return performing.advance(self._deps, answers)

    def renew(self, claims: Sequence[tuple[str, int]]) -> set[str]:
        """See `performing.renew`."""
        return performing.renew(self._deps, claims)

    def hand_back(self, claims: Sequence[tuple[str, int]]) -> None:
        """See `performing.hand_back`."""
        performing.hand_back(self._deps, claims)

    def lost(self, claims: Sequence[tuple[str, int]]) -> None:
        """See `performing.lost`."""
        performing.lost(self._deps, claims)

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
        """Look at these runs for what is due; what is due and cannot be is left to whatever frees the run."""
        batch = apply(self._deps, {run_id: (Wake(),) for run_id in run_ids})
        for run_id, decision in batch.decisions.items():
            state = decision.state
            waiting = [*state.waits.values(), *_retries(state)]
            blocked = [id for id in waiting if due_now(state.executions[id], now)]
            if blocked and not state.final:
                with self.store.transaction() as tx:
                    tx.park_timers(run_id, blocked)

    def take_stored(self, run_ids: Sequence[str]) -> int:
        """See `performing.take_stored`."""
        return performing.take_stored(self._deps, run_ids)

    def lose(self, rows: Sequence[AttemptRow]) -> None:
        """See `performing.lose`."""
        performing.lose(self._deps, rows)


def _retries(state: RunState) -> list[str]:
    lanes = [state.lane, *(state.fan_outs[id].lane for id in state.gathering)]
    return [id for lane in lanes for id in lane.retries]
