"""A world for one run of the pure core: a journal, its folded state and a `now` that tests move. No store, no engine.

Every command is told as an engine would tell it, and after each one everything that must always hold is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from orchestrator.core.codec import fact_data, fact_from
from orchestrator.core.data import DEFAULT_LIMITS, DataLimits, JsonText, canonical, load, size
from orchestrator.core.decide.commands import (
    Advance,
    AnswerAttempt,
    CancelRun,
    Command,
    CompleteWait,
    LoseAttempt,
    ReconcileExecution,
    ResolveWait,
    SendSignal,
    StopAttempt,
    TimeOutAttempt,
    Wake,
)
from orchestrator.core.decide.decision import Decision, decide
from orchestrator.core.decide.draft import Known, Missing
from orchestrator.core.document import definition_from, text_of
from orchestrator.core.effects import Effects, effects
from orchestrator.core.evolve import evolve, fold
from orchestrator.core.facts import (
    Recorded,
    Trigger,
    WorkflowBranchesFannedOut,
    WorkflowNodeScheduled,
    WorkflowRunAdmitted,
    value_of,
)
from orchestrator.core.ids import attempt_id, run_id
from orchestrator.core.inputs import compose, input_size, referred
from orchestrator.core.journal import JournalEntry, entries
from orchestrator.core.outcomes import receipt_of
from orchestrator.core.snapshot import RunSnapshot, large_outputs, snapshot
from orchestrator.core.state import INLINE_BYTES, Execution, ExecutionStatus, Output, RunState, Wait
from orchestrator.errors import CeleriacError, Refused
from tests.core.invariants import check_journal, check_settled, check_state

#: When every world begins.
DAWN = datetime(2026, 1, 15, 10, 7, tzinfo=UTC)

#: Of a longer decision only the first and the last steps are taken up again from the middle.
RESUMED_AT_EACH_END = 12

#: Told again, these change nothing; the others are refused or find nothing open.
REPEATABLE = (AnswerAttempt, TimeOutAttempt, LoseAttempt, StopAttempt, Wake, CancelRun, Advance)


@dataclass(frozen=True, slots=True)
class Told:
    """One call of `World.tell` that was not refused: what, when, and the facts it led to."""

    commands: tuple[Command, ...]
    at: datetime
    facts: tuple[Recorded, ...]


class World:
    """One run. `start` makes it; the methods are what may happen to it."""

    def __init__(self, first: Recorded, limits: DataLimits) -> None:
        self.now = first.at
        self.limits = limits
        self.journal: list[Recorded] = [first]
        self.state = evolve(None, first)
        self.told: list[Told] = []
        #: The state after each fact, as it was when it was folded from what is stored.
        self.states: list[RunState] = [fold([as_stored(first)])]
        #: The outbox as the effects keep it: by attempt id, whether a worker has claimed it.
        self.owed: dict[str, bool] = {}
        #: By execution id, as the effects keep them.
        self.timers: dict[str, datetime] = {}
        #: Completion keys that other runs hold, with their executions.
        self.foreign_keys: dict[str, str] = {}
        self._inputs: dict[str, JsonText] = {}
        self._claimed: frozenset[str] = frozenset()

    @classmethod
    def start(
        cls,
        definition: Mapping[str, Any],
        payload: object = None,
        *,
        trigger: Trigger = Trigger(),  # noqa: B008
        limits: DataLimits = DEFAULT_LIMITS,
        now: datetime = DAWN,
        key: str = "the-run",
    ) -> World:
        """Admit a run of this definition; a payload that is left out is an empty object."""
        read = definition_from(definition)
        value = canonical({} if payload is None else payload, limits)
        id = run_id("default", read.workflow, key)
        admitted = WorkflowRunAdmitted(id, "default", key, text_of(read), trigger, value)
        world = cls(Recorded(1, now, admitted, size(value)), limits)
        world.tell(Advance())
        return world

    # --- what may happen --------------------------------------------------------------------------------------------

    def answer(
        self,
        node: str,
        outcome: object = None,
        *,
        key: str | None = None,
        visit: int | None = None,
        attempt: int | None = None,
    ) -> bool:
        """The performer answers; nothing stands for a plain success. False when the answer is late."""
        execution = self.execution(node, key, visit=visit)
        receipt = receipt_of({} if outcome is None else outcome, self.limits)
        return bool(self.tell(AnswerAttempt(execution.ref.id, attempt or execution.attempt, receipt, "worker-1")))

    def claim(self, node: str, *, key: str | None = None) -> None:
        """A worker claims the attempt that is owed for this node."""
        execution = self.execution(node, key)
        id = attempt_id(execution.ref.id, execution.attempt)
        assert id in self.owed, f"no attempt of {node!r} is owed"
        self.owed[id] = True

    def time_out(self, node: str, *, key: str | None = None, effect: str = "idempotent") -> bool:
        """The claimed attempt is past its deadline."""
        execution = self.execution(node, key)
        return bool(self.tell(TimeOutAttempt(execution.ref.id, execution.attempt, effect)))

    def lose(self, node: str, *, losses: int = 1, key: str | None = None, effect: str = "idempotent") -> bool:
        """The worker of the attempt vanished, for the `losses`-th time."""
        execution = self.execution(node, key)
        return bool(self.tell(LoseAttempt(execution.ref.id, execution.attempt, losses, effect)))

    def stop(self, node: str, *, key: str | None = None, effect: str = "idempotent", claimed: bool = True) -> bool:
        """The job that carried the attempt was stopped."""
        execution = self.execution(node, key)
        return bool(self.tell(StopAttempt(execution.ref.id, execution.attempt, effect, claimed)))

    def wake(self, after: timedelta = timedelta(0), **span: float) -> None:
        """Time passes, and beat looks at the run."""
        self.now += after + timedelta(**span)
        self.tell(Wake())

    def signal(self, contract: str, payload: object = None, *, actor: str | None = None) -> int:
        """Answers with how many waits it resumed."""
        value = canonical({} if payload is None else payload, self.limits)
        resumed = self.tell(SendSignal(contract, value, actor))
        assert isinstance(resumed, int)
        return resumed

    def resolve(
        self, node: str, outlet: str, payload: object = None, *, key: str | None = None, actor: str | None = None
    ) -> None:
        """Somebody closes the open wait of a node."""
        value = canonical({} if payload is None else payload, self.limits)
        self.tell(ResolveWait(self.wait(node, key).id, outlet, value, actor))

    def complete(self, node: str, outcome: object, *, key: str | None = None, actor: str | None = None) -> None:
        """The answer of a suspended node has come."""
        self.tell(CompleteWait(self.wait(node, key).id, receipt_of(outcome, self.limits), actor))

    def reconcile(self, node: str, outcome: object, *, key: str | None = None, actor: str | None = None) -> None:
        """A person chooses the outcome of an ambiguous execution."""
        execution = self.execution(node, key)
        self.tell(ReconcileExecution(execution.ref.id, receipt_of(outcome, self.limits), actor))

    def cancel(self, actor: str | None = None, reason: str | None = None) -> None:
        """Somebody ends the run."""
        self.tell(CancelRun(actor, reason))

    # --- what can be seen -------------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        return self.state.status.value

    def execution(self, node: str, key: str | None = None, *, visit: int | None = None) -> Execution:
        """The latest execution of a node in a branch, or that of one visit."""
        found = [e for e in self.executions(node, key) if visit in (None, e.ref.visit)]
        assert found, f"no execution of {node!r} in branch {key!r}"
        return found[-1]

    def executions(self, node: str, key: str | None = None) -> list[Execution]:
        """All visits of one branch (of the latest fan-outs too) at a node, in the order of arrival."""
        found = [e for e in self.state.executions.values() if e.ref.node == node and branch_key(e) == key]
        return sorted(found, key=lambda e: e.born)

    def statuses(self, node: str) -> dict[str | None, str]:
        """Where each branch's latest execution of a node stands, in the order of arrival."""
        found = sorted((e for e in self.state.executions.values() if e.ref.node == node), key=lambda e: e.born)
        return {branch_key(e): e.status.value for e in found}

    def scheduled(self) -> list[tuple[str, str | None]]:
        """Node and branch key of what workers have to do, in the order of arrival."""
        found = [e for e in self.state.executions.values() if e.status is ExecutionStatus.SCHEDULED]
        return [(e.ref.node, branch_key(e)) for e in sorted(found, key=lambda e: e.born)]

    def wait(self, node: str, key: str | None = None) -> Wait:
        """The open wait of a node."""
        [found] = [e.wait for e in self.executions(node, key) if e.wait is not None]
        return found

    def facts(self, *types: type[Any]) -> list[Any]:
        """The facts of these types, or all, in order."""
        return [recorded.fact for recorded in self.journal if not types or isinstance(recorded.fact, types)]

    def types(self, since: int = 0) -> list[str]:
        """The types of the facts after a number, without the prefix they share."""
        return [type(recorded.fact).__name__.removeprefix("Workflow") for recorded in self.journal[since:]]

    def entries(self) -> list[JournalEntry]:
        """The journal as the API shows it."""
        return list(entries(self.journal))

    def snapshot(self) -> RunSnapshot:
        """The run as people see it."""
        numbers = large_outputs(self.state)
        values = self.values(numbers)
        return snapshot(self.state, lambda output: output.text or values[output.number])

    def input(self, node: str, key: str | None = None, *, visit: int | None = None) -> Any:
        """What the performer got."""
        return load(self._inputs[self.execution(node, key, visit=visit).ref.id])

    def output(self, node: str, key: str | None = None, *, visit: int | None = None) -> Any:
        """What an execution left behind."""
        output = self.execution(node, key, visit=visit).output
        assert output is not None, f"{node!r} has not succeeded"
        return load(self.text(output))

    def text(self, output: Output) -> JsonText:
        """The JSON of an output, wherever it is kept."""
        return output.text or self.values({output.number})[output.number]

    def values(self, numbers: frozenset[int] | set[int]) -> dict[int, JsonText]:
        """The values that these facts brought in."""
        found = {number: value_of(self.journal[number - 1].fact) for number in numbers}
        return {number: value for number, value in found.items() if value is not None}

    # --- telling, and looking at everything after it ----------------------------------------------------------------

    def tell(self, *commands: Command) -> object:
        """Decide for these commands in one go, append, look at all that must hold; answers with the last reply."""
        before = self.state
        self._claimed = frozenset(id.split(".")[0] for id, claimed in self.owed.items() if claimed)
        try:
            decision = self._decide(before, commands)
        except CeleriacError:
            assert self.states[-1] == before, "a refusal changed the state"
            raise
        self._compare_with_one_by_one(before, commands, decision)
        self.told.append(Told(commands, self.now, decision.facts))
        self._append(decision)
        self._resume(commands, decision)
        self._tell_again(commands[-1])
        return decision.replies[-1]

    def check_whole(self) -> None:
        """Fold the journal anew: every state is what it was when it was made, so none was changed since."""
        state: RunState | None = None
        for recorded, kept in zip(self.journal, self.states, strict=True):
            state = evolve(state, recorded)
            assert state == kept

    def _decide(self, state: RunState, commands: Sequence[Command], since: Sequence[Recorded] = ()) -> Decision:
        """Decide, loading what is asked for. What is stored is this state; facts since the last append lead to it."""
        known = Known(limits=self.limits)
        for _ in range(3 + len(commands) * 3):
            try:
                return decide(state, commands, self.now, known)
            except Missing as asked:
                missing = asked
            known = self._more(state, since, known, missing)
        raise AssertionError("asks for more and more")

    def _more(self, state: RunState, since: Sequence[Recorded], known: Known, missing: Missing) -> Known:
        """What was known, and what was missing, as a store answers."""
        if missing.values:
            assert max(missing.values) <= state.tail, "what a decision itself brings in is not stored yet"
            own = {r.number: value for r in since if (value := value_of(r.fact)) is not None}
            values = self.values({number for number in missing.values if number not in own})
            known = replace(known, values={**known.values, **values, **own})
        if missing.claims:
            assert known.claimed is None
            fresh = frozenset(r.fact.execution.id for r in since if isinstance(r.fact, WorkflowNodeScheduled))
            known = replace(known, claimed=self._claimed - fresh)
        if missing.keys:
            holders = {key: self._holder(state, key) for key in missing.keys}
            known = replace(known, holders={**known.holders, **holders})
        return known

    def _holder(self, state: RunState, key: str) -> str | None:
        mine = (e.ref.id for e in state.executions.values() if e.wait is not None and e.wait.key == key)
        return self.foreign_keys.get(key) or next(mine, None)

    def _append(self, decision: Decision) -> None:
        for recorded in decision.facts:
            assert decision.state.run_id == self.state.run_id
            self.journal.append(recorded)
            self.states.append(evolve(self.states[-1], as_stored(recorded)))
            check_state(self.states[-1])
        self.state = decision.state
        assert self.states[-1] == self.state, "the state that was decided is not the one that is folded"
        self._follow(effects(decision.facts, self.state))
        check_state(self.state)
        check_settled(self.state)
        check_journal(self.journal, self.state)
        self._compose(decision)
        if decision.facts and self.state.final is not None:
            self.check_whole()

    def _follow(self, owes: Effects) -> None:
        """Keep the outbox and the timers as a store does, and see that they are what the state asks for."""
        for id in owes.ended:
            self.owed.pop(id, None)
        for id in owes.owed:
            assert id not in self.owed, f"attempt {id} is owed twice"
            self.owed[id] = False
        for execution, due in owes.timers.items():
            if due is None:
                self.timers.pop(execution, None)
            else:
                self.timers[execution] = due
        if owes.swept:
            self.owed, self.timers = {}, {}
        owed, timers = self.owed, self.timers
        self.refold_rows()
        assert set(self.owed) == set(owed)
        assert self.timers == timers
        self.owed = owed
        assert set(owes.waits.values()) <= {e.ref for e in self.state.executions.values()}

    def refold_rows(self) -> None:
        """Make outbox and timers anew from the state, as repair does: nothing in it is claimed."""
        executions = self.state.executions.items()
        unanswered = [(id, e) for id, e in executions if e.status is ExecutionStatus.SCHEDULED and e.answer is None]
        self.owed = {attempt_id(id, e.attempt): False for id, e in unanswered}
        due_at = {id: e.wait.deadline if e.wait else e.retry_due for id, e in executions}
        self.timers = {id: due for id, due in due_at.items() if due is not None}

    def _compose(self, decision: Decision) -> None:
        """Every attempt of an execution gets the same input, and its size is known without composing it."""
        for recorded in decision.facts:
            if not isinstance(recorded.fact, WorkflowNodeScheduled):
                continue
            id = recorded.fact.execution.id
            state = self.states[recorded.number - 1]
            execution = state.executions[id]
            text = compose(state, execution, self.values(referred(state, execution)))
            assert execution.pin is not None
            assert size(text) == input_size(state, execution.ref.branch, execution.pin) <= self.limits.max_input_bytes
            assert text == self._inputs.setdefault(id, text)

    def _compare_with_one_by_one(self, before: RunState, commands: Sequence[Command], decision: Decision) -> None:
        """Several commands at once are decided as if they had come one by one."""
        if len(commands) == 1:
            return
        facts: list[Recorded] = []
        state = before
        for command in commands:
            step = self._decide(state, [command], facts)
            facts.extend(step.facts)
            state = step.state
        assert tuple(facts) == decision.facts
        assert state == decision.state

    def _resume(self, commands: Sequence[Command], decision: Decision) -> None:
        """Taken up again from after any of its facts, a decision goes on as it went (B98)."""
        if len(commands) != 1:
            return
        [command] = commands
        count = len(decision.facts)
        again = command if isinstance(command, REPEATABLE) else Advance()
        for done in range(1, count):
            if RESUMED_AT_EACH_END <= done < count - RESUMED_AT_EACH_END or not self._decided(command, decision, done):
                continue
            state = self.states[decision.facts[done].number - 2]
            rest = self._decide(state, [again], decision.facts[:done])
            assert decision.facts[done:] == rest.facts, f"after {done} of {count} facts the decision goes another way"

    @staticmethod
    def _decided(command: Command, decision: Decision, done: int) -> bool:
        """Whether after so many facts all of what the command itself says stands; the rest is what follows."""
        match command:
            case SendSignal():
                return done >= int(str(decision.replies[0]))
            case ReconcileExecution():
                return not any("Resolved" in type(r.fact).__name__ for r in decision.facts[done:])
            case _:
                return True

    def _tell_again(self, command: Command) -> None:
        """Nothing is left to do, and the last command changes nothing when it is told twice."""
        assert () == self._decide(self.state, [Advance()]).facts
        match command:
            case SendSignal():
                return
            case StopAttempt(execution_id=id, attempt=attempt) | LoseAttempt(execution_id=id, attempt=attempt):
                execution = self.state.executions[id]
                if execution.status is ExecutionStatus.SCHEDULED and execution.attempt == attempt:
                    return  # handed out again under the next fence, which the outbox tells apart
            case _:
                pass
        try:
            again = self._decide(self.state, [command])
        except Refused:
            assert not isinstance(command, REPEATABLE)
        else:
            assert isinstance(command, REPEATABLE)
            assert () == again.facts


def as_stored(recorded: Recorded) -> Recorded:
    """A fact as it comes back from a store: through its document, and without a value that is large."""
    fact = recorded.fact
    value = value_of(fact)
    assert fact == fact_from(type(fact).__name__, fact_data(fact), value)
    assert recorded.size == (0 if value is None else size(value))
    kept = value if recorded.size <= INLINE_BYTES or isinstance(fact, WorkflowBranchesFannedOut) else None
    return replace(recorded, fact=fact_from(type(fact).__name__, fact_data(fact), kept))


def branch_key(execution: Execution) -> str | None:
    """The item's key, in a branch."""
    return execution.ref.branch[-1].key if execution.ref.branch else None
