"""The simulation: engine, store, performers and beat in one thread, moved step by step by a test."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from orchestrator.client import Orchestrator
from orchestrator.core.admission import AdmissionPolicy
from orchestrator.core.data import DEFAULT_LIMITS, DataLimits
from orchestrator.core.snapshot import RunSnapshot
from orchestrator.engine.auditing import audit
from orchestrator.engine.engine import Engine
from orchestrator.engine.work import Work
from orchestrator.performers.invocation import Invocation
from orchestrator.performers.performer import performer
from orchestrator.performers.performing import Surroundings, perform, performed
from orchestrator.performers.table import PerformerTable, table_of
from orchestrator.ports.dispatch import Doorbell
from orchestrator.ports.store import ClaimRequest, Store
from orchestrator.pumps.metronome import PUMPS
from orchestrator.store.memory import MemoryStore
from orchestrator.testing.clock import MovableClock
from orchestrator.testing.crash import SimulatedCrash

#: So many attempts in one `settle` mean that a workflow does not come to rest.
MANY = 100_000


class Doorbells:
    """The dispatcher port for tests: what was rung stands in a queue."""

    def __init__(self) -> None:
        self.rung: deque[Doorbell] = deque()
        self.called_off: list[str] = []

    def ring(self, doorbells: Sequence[Doorbell]) -> int:
        """Put them into the queue."""
        self.rung.extend(doorbells)
        return len(doorbells)

    def call_off(self, attempt_ids: Sequence[str]) -> None:
        """Note which attempts were called off."""
        self.called_off.extend(attempt_ids)


class Script:
    """A performer that answers what it is told, one answer a call; the last one is repeated.

    An answer is an outcome, a plain output, an exception to raise, or a function of the `Invocation`.
    """

    def __init__(self, answers: Iterable[Any]) -> None:
        self._answers = deque(answers) or deque([{}])
        self.calls: list[Invocation] = []

    def __call__(self, call: Invocation) -> Any:
        self.calls.append(call)
        answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer(call) if callable(answer) else answer


class Simulation:
    """A whole Celeriac on a clock that you move; `orchestrator` is the handle a producer would hold."""

    def __init__(
        self,
        *performers: Callable[..., Any],
        store: Store | None = None,
        clock: MovableClock | None = None,
        limits: DataLimits = DEFAULT_LIMITS,
        policies: Sequence[AdmissionPolicy] = (),
        scripts: Mapping[str, Any] | None = None,
    ) -> None:
        """With marked performers, and scripts by capability (``name@version``): an answer or a list of answers."""
        self.store = store or MemoryStore()
        self.clock = clock or MovableClock()
        self.doorbells = Doorbells()
        self.engine = Engine(self.store, self.doorbells, self.clock, limits=limits, policies=policies)
        self.orchestrator = Orchestrator(engine=self.engine)
        self._limits = limits
        self._policies = policies
        self._marked = list(performers)
        #: Every attempt that was performed, in order.
        self.performed: list[Work] = []
        #: What performers raised, in order; raise one again to see where it came from.
        self.raised: list[BaseException] = []
        for capability, answers in (scripts or {}).items():
            self.script(capability, *(answers if isinstance(answers, list) else [answers]))

    def script(self, capability: str, *answers: Any, effect: str = "idempotent") -> Script:
        """Let a capability answer these, one a call, the last one again and again; its calls are kept."""
        name, _, version = capability.rpartition("@")
        script = Script(answers)

        def scripted(call: Invocation) -> Any:
            return script(call)

        mark = performer(name, version=int(version), effect=effect)  # type: ignore[arg-type]
        self.forget(capability)
        self._marked.append(mark(scripted))
        return script

    def forget(self, capability: str) -> None:
        """Have no performer for this capability, as a worker of an older release."""
        self._marked = [known for known in self._marked if capability not in capabilities_of(known)]

    def restarted(self) -> Simulation:
        """Another process after this one ended: the same store, clock and performers, and nothing in its memory."""
        return Simulation(
            *self._marked, store=self.store, clock=self.clock, limits=self._limits, policies=self._policies
        )

    @property
    def table(self) -> PerformerTable:
        """The performers as a worker would hold them."""
        return table_of(self._marked)

    def claim_next(self, worker: str = "simulation") -> Work | None:
        """Answer the next doorbell: claim its attempt, as a worker does. None: it was for nothing."""
        bell = self.doorbells.rung.popleft()
        known = self.table.get(bell.capability)
        if known is None:
            self.engine.performer_missing([bell.attempt_id], worker)
            return None
        claimed = self.engine.claim([ClaimRequest(bell.attempt_id, known.effect)], worker)
        return claimed[0] if claimed else None

    def perform(self, work: Work) -> bool:
        """Perform a claimed attempt and record its answer; False when the answer was late, or none was worth recording.

        A performer that raises `SimulatedCrash` takes its whole process with it.
        """
        self.performed.append(work)
        performer_ = self.table.get(work.capability)
        if performer_ is None:
            return bool(self.engine.advance([work.answer(perform(self.table, work, self._limits))]))
        surroundings = Surroundings(
            clock=self.clock.now,
            called_off=lambda: work.attempt_id in self.doorbells.called_off,
            goes_through=lambda error: isinstance(error, SimulatedCrash | KeyboardInterrupt),
        )
        done = performed(performer_, work, limits=self._limits, surroundings=surroundings)
        if done.error is not None:
            self.raised.append(done.error)
        return not done.called_off and bool(self.engine.advance([work.answer(done.receipt)]))

    def settle(self, *, most: int = MANY) -> int:
        """Perform everything that is rung until nothing moves; answers with how many attempts were performed.

        Raises `AssertionError` when `most` attempts do not bring the workflow to rest.
        """
        before = len(self.performed)
        while self.doorbells.rung:
            work = self.claim_next()
            if work is not None:
                self.perform(work)
            if self.doorbells.rung and len(self.performed) - before >= most:
                raise AssertionError(f"the workflow does not come to rest: {most} attempts were performed")
        return len(self.performed) - before

    def tick(self) -> int:
        """What beat does in one tick, until it has nothing more to do."""
        handled = 0
        for pump in PUMPS:
            while count := pump.run(self.engine, self.clock.now(), 100):
                handled += count
        return handled

    def pass_time(self, by: timedelta) -> None:
        """Let time pass, stopping at every instant at which something is due, with all the work that brings."""
        until = self.clock.now() + by
        self._catch_up()
        while (due := self.next_due()) is not None and due <= until:
            self.clock.move_to(due)
            self._catch_up()
        self.clock.move_to(until)
        self._catch_up()

    def _catch_up(self) -> None:
        """All that is due by now, with all the work that brings."""
        self.settle()
        while self.tick():
            self.settle()

    def next_due(self) -> datetime | None:
        """When time alone will move something next; None: never."""
        with self.store.reading() as tx:
            runs = tx.run_ids(limit=100_000)
            due = [timer.due_at for id in runs for timer in tx.timers_of(id) if not timer.parked]
            due += [attempt.due_at for attempt in tx.attempts_of(runs)]
        return min((instant for instant in due if instant > self.clock.now()), default=None)

    def run_to_end(
        self, run_id: str, *, within: timedelta = timedelta(days=3650), scope: str = "default"
    ) -> RunSnapshot:
        """Go from due time to due time until the run is final or only a person or a signal can move it."""
        until = self.clock.now() + within
        self._catch_up()
        while not (found := self.orchestrator.run(run_id, scope=scope)).status.final:
            due = self.next_due()
            if due is None or due > until:
                return found
            self.clock.move_to(due)
            self._catch_up()
        return found

    def verify(self) -> list[str]:
        """What `celeriac verify` would print; nothing, in health."""
        return [str(difference) for difference in audit(self.store)]


def capabilities_of(marked: Callable[..., Any]) -> frozenset[str]:
    """The capabilities that a marked performer performs."""
    return frozenset(table_of([marked]).capabilities)
