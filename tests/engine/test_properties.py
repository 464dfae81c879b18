"""Random workflows, random outcomes, delays, duplicates, losses, late answers and acts from outside: in any order
the promises hold after every step, and every run ends or waits for something that has a name.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from orchestrator.core.decide.commands import Advance
from orchestrator.core.decide.decision import decide
from orchestrator.core.decide.draft import Known
from orchestrator.core.evolve import fold
from orchestrator.core.facts import Recorded
from orchestrator.core.facts import WorkflowNodeOperationCompleted as Receipt
from orchestrator.core.outcomes import Ambiguous, Failed, Skipped, Succeeded, Suspended, receipt_of
from orchestrator.core.state import RunState
from orchestrator.engine.loading import recorded
from orchestrator.engine.rows import doorbell
from orchestrator.engine.work import Work
from orchestrator.errors import Refused, WaitClosed
from orchestrator.performers.performing import perform
from orchestrator.ports.dispatch import Doorbell
from orchestrator.ports.records import AttemptState
from orchestrator.ports.store import Store
from orchestrator.store.memory import MemoryStore
from orchestrator.testing.clock import MovableClock
from orchestrator.testing.crash import CrashingStore, SimulatedCrash
from orchestrator.testing.simulation import Simulation
from tests.engine.workflows import documents

ITEMS = st.lists(st.integers(0, 9), max_size=4, unique=True)
FINAL = {"WorkflowRunSucceeded", "WorkflowRunFailed", "WorkflowRunCancelled"}
SPANS = {"seconds": timedelta(seconds=6), "a minute": timedelta(minutes=1), "a day": timedelta(days=1)}
VERBS = {
    "approval": ("approve", "reject", "call off"),
    "signal": ("signal", "call off"),
    "completion": ("complete",),
    "timer": (),
}
ENDS = ("lose", "stop", "time out", "hand back")


class Play:
    """One run under random acts; only its store, its clock and its workers outlive a process."""

    def __init__(self, document: dict[str, Any], items: list[int], data: st.DataObject) -> None:
        self.data = data
        self.store = MemoryStore()
        self.clock = MovableClock()
        self.simulation = self.process(self.store)
        self.simulation.orchestrator.publish(document)
        payload = {"lines": [{"key": f"k{item}"} for item in items]}
        self.run_id = self.simulation.orchestrator.start("random", payload, key="the run").id
        #: All that was ever claimed, whether its worker lives or not.
        self.claimed: list[Work] = []
        self.kind = True
        self.facts = 0
        self.suspensions = 0
        self.crashing = False

    def process(self, store: Store) -> Simulation:
        """Another process, with nothing in its memory."""
        simulation = Simulation(store=store, clock=self.clock)
        simulation.script("any@1", self.outcome)
        simulation.script("once@1", self.outcome, effect="once")
        return simulation

    # --- what happens -----------------------------------------------------------------------------------------------

    def outcome(self, call: Any) -> Any:
        done = {(f.fact.execution.id, f.fact.attempt) for f in self.journal() if isinstance(f.fact, Receipt)}
        assert (call.execution_id, call.attempt) not in done, "what is answered for is not performed again"
        if not self.kind:
            return self.anything()
        return Succeeded("b" if "decision" in self.node_kind(call.node_id) else "next")

    def node_kind(self, node: str) -> str:
        return self.state.definition.graph.node[node].kind.value

    def anything(self) -> Any:
        self.suspensions += 1
        return self.draw(
            Succeeded("next"), Succeeded("next"), Succeeded("a"), Succeeded("b"), Succeeded("next", {"big": "x" * 700}),
            Failed("no"), Failed("no", retryable=False), Skipped("no"), Succeeded("nowhere"), Succeeded("next", {1, 2}),
            Ambiguous("?"), Suspended(f"key-{self.suspensions}"), Suspended("same", timedelta(minutes=1)),
            ValueError("raised"),
        )  # fmt: skip

    def draw(self, *choices: Any) -> Any:
        return self.data.draw(st.sampled_from(choices))

    def possible(self) -> list[str]:
        """What could happen now and would make a difference; what moves a run most comes first and most often."""
        run, bells = self.simulation.orchestrator.run(self.run_id), self.simulation.doorbells.rung
        acts: list[str] = []
        acts += ["perform"] * 6 + ["claim"] * 4 if bells else []
        held, over = self.held(), self.over()
        acts += ["answer"] * 4 + [*ENDS, "answer under an old fence"] if held else []
        acts += ["ring"] * 4 if self.bells() and not bells else []
        acts += ["reconcile"] * 2 if any(e.status == "ReconciliationRequired" for e in run.executions) else []
        acts += [act for wait in run.waits for act in VERBS[wait.kind]]
        acts += ["twice", "drop"] if bells else []
        if not run.status.final:
            acts += [*SPANS]
            acts += [] if self.crashing else ["crash", "crash", "restart"]
            acts += ["cancel"] if len(over) > 5 else []
        acts += ["answer late"] if over else []
        return acts or [*SPANS]

    def act(self, what: str) -> None:
        simulation, bells = self.simulation, self.simulation.doorbells.rung
        event(what)
        match what:
            case "perform":
                self.answer(self.claim())
            case "claim":
                self.claim()
            case "answer":
                self.answer(self.draw(*self.held()))
            case "answer under an old fence":
                work = self.draw(*self.held())
                assert not simulation.engine.advance([replace(work, fence=work.fence - 1).answer(receipt_of({}))])
            case "answer late":
                assert not simulation.engine.advance([self.draw(*self.over()).answer(receipt_of({}))])
            case "drop":
                bells.popleft()
            case "twice":
                bells.append(bells[0])
            case "lose" | "stop" | "time out" | "hand back":
                self.end(what)
            case "seconds" | "a minute" | "a day":
                self.clock.move(SPANS[what])
                simulation.tick()
            case "restart":
                self.simulation = self.process(self.store)
            case "crash":
                self.crash()
            case "ring":
                bells.extend(self.bells())
            case _:
                self.outside(what)

    def end(self, what: str) -> None:
        work, engine = self.draw(*self.held()), self.simulation.engine
        ways = (engine.lost, engine.stopped, engine.timed_out, engine.hand_back)
        ways[ENDS.index(what)]([(work.attempt_id, work.fence)])

    def claim(self) -> Work | None:
        work = self.simulation.claim_next()
        self.claimed += [work] if work else []
        return work

    def held(self) -> list[Work]:
        """What workers still hold."""
        with self.store.reading() as tx:
            rows = {row.attempt_id: row for row in tx.attempts_of([self.run_id])}
        return [
            work
            for work in self.claimed
            if (row := rows.get(work.attempt_id)) and (row.state, row.fence) == (AttemptState.CLAIMED, work.fence)
        ]

    def over(self) -> list[Work]:
        """What is over, whatever its worker thinks."""
        held = self.held()
        return [work for work in self.claimed if work not in held]

    def crash(self) -> None:
        """A process that ends at one of its next commits, whatever it is about to do."""
        at, when = self.data.draw(st.integers(1, 3)), self.draw("before", "after")
        self.simulation = self.process(CrashingStore(self.store, at=at, when=when, of="commit"))
        self.simulation.doorbells.rung.extend(self.bells())
        self.crashing = True
        try:
            for _ in range(3):
                self.act(self.draw(*self.possible()))
        except SimulatedCrash:
            event("crashed")
        self.crashing = False
        self.simulation = self.process(self.store)

    def bells(self) -> list[Doorbell]:
        """What the broker brings, for all that is known: a doorbell for whatever is owed."""
        with self.store.reading() as tx:
            return [doorbell(row) for row in tx.attempts_of([self.run_id]) if row.state is AttemptState.OWED]

    def outside(self, what: str) -> None:
        orchestrator = self.simulation.orchestrator
        run = orchestrator.run(self.run_id)
        outcome = self.draw(Succeeded(), Failed("no"), Skipped("no"))
        try:
            match what:
                case "signal":
                    orchestrator.signal(self.run_id, "go@1", {"n": 1})
                case "approve" | "reject" | "call off":
                    verbs = {"approve": orchestrator.approve, "reject": orchestrator.reject}
                    verbs.get(what, orchestrator.cancel_wait)(self.draw(*run.waits).id)
                case "complete":
                    orchestrator.complete(self.draw(*(wait.key for wait in run.waits if wait.key)), outcome)
                case "reconcile":
                    doubtful = [e.id for e in run.executions if e.status == "ReconciliationRequired"]
                    orchestrator.reconcile(self.run_id, self.draw(*doubtful), outcome)
                case "cancel":
                    orchestrator.cancel(self.run_id)
        except Refused:
            pass

    def answer(self, work: Work | None) -> None:
        if work is not None:
            self.simulation.engine.advance([work.answer(perform(self.simulation.table, work))])

    def finish(self) -> None:
        """Let everything end well: nobody is late, everybody approves, every process lives."""
        self.kind = True
        for _ in range(300):
            run = self.simulation.orchestrator.run(self.run_id)
            if run.status.final:
                return
            for work in self.held():
                self.answer(work)
            while self.simulation.doorbells.rung:
                self.answer(self.claim())
            self.settle_everything()
            self.clock.move(timedelta(days=1) if run.waits else timedelta(minutes=1))
            self.simulation.tick()
            self.check()
        raise AssertionError(f"the run does not end: {self.simulation.orchestrator.run(self.run_id).document()}")

    def settle_everything(self) -> None:
        """Whatever waits for somebody from outside is done."""
        orchestrator = self.simulation.orchestrator
        for execution in orchestrator.run(self.run_id).executions:
            if execution.status == "ReconciliationRequired":
                orchestrator.reconcile(self.run_id, execution.id, Skipped("settled"))
        for wait in orchestrator.run(self.run_id).waits:
            try:
                if wait.kind == "approval":
                    orchestrator.approve(wait.id)
                elif wait.kind == "signal":
                    orchestrator.resume(wait.id)
                elif wait.key is not None:
                    orchestrator.complete(wait.key, {})
            except WaitClosed:
                event("a join took the wait back")

    # --- what holds -------------------------------------------------------------------------------------------------

    @property
    def state(self) -> RunState:
        return self.simulation.engine.state(self.run_id)

    def journal(self) -> list[Recorded]:
        with self.store.reading() as tx:
            return list(recorded(tx, self.run_id, tx.facts(self.run_id)))

    def check(self) -> None:
        """Everything that must hold after every step."""
        facts = self.journal()
        assert list(range(1, len(facts) + 1)) == [fact.number for fact in facts]
        assert self.facts <= len(facts)
        self.facts = len(facts)
        types = [type(fact.fact).__name__ for fact in facts]
        assert FINAL.isdisjoint(types[:-1]), "no fact after a final one"
        live, graph = self.state, self.state.definition.graph
        rebuilt = fold(facts)
        assert comparable(live) == comparable(rebuilt)
        half = len(facts) // 2 or 1
        assert comparable(rebuilt) == comparable(fold(facts[half:], fold(facts[:half])))
        again = decide(live, (Advance(),), self.simulation.clock.now(), Known(claimed=frozenset(), holders={}))
        assert () == again.facts or live.retrying, "what was settled is settled"
        scheduled = Counter(
            (e.ref.branch[-1].for_each, e.ref.branch[-1].visit)
            for e in live.executions.values()
            if e.status == "Scheduled" and e.ref.branch
        )
        for (for_each, _), number in scheduled.items():
            assert number <= max(1, live_bound(live, for_each))
        for execution in live.executions.values():
            policy = graph.node[execution.ref.node].policy
            assert execution.attempt <= policy.max_attempts
            if execution.ref.visit > policy.max_visits:
                assert execution.failure is not None
                assert "VisitLimitExceeded" == execution.failure.kind
        joined = Counter(f.fact.fan_out.id for f in facts if type(f.fact).__name__ == "WorkflowBranchesJoined")  # type: ignore[union-attr]
        assert set(joined.values()) <= {1}
        ends = Counter(
            f.fact.execution.id  # type: ignore[union-attr]
            for f in facts
            if type(f.fact).__name__ in {"WorkflowNodeSucceeded", "WorkflowNodeFailed", "WorkflowNodeSkipped"}
        )
        assert set(ends.values()) <= {1}, "an execution ends once"
        self.check_counts(live)
        if not live.final:
            named = live.scheduled or live.waiting or live.retrying or live.reconciling
            assert named, "a run ends, or waits for something that has a name"
        assert [] == self.simulation.verify()

    def check_counts(self, live: RunState) -> None:
        counted = Counter(e.status.value for e in live.executions.values())
        assert (
            live.pending, live.scheduled, live.waiting, live.retrying, live.reconciling
        ) == tuple(
            counted[status]
            for status in ("Pending", "Scheduled", "Waiting", "RetryPending", "ReconciliationRequired")
        )  # fmt: skip
        assert not live.concluding
        assert not live.entering
        assert not live.withdrawing
        assert sorted(live.waits.values()) == sorted(id for id, e in live.executions.items() if e.wait is not None)


def live_bound(state: RunState, for_each: str) -> int:
    bounds = [f.lane.bound or 0 for id, f in state.fan_outs.items() if id.for_each == for_each]
    return max(bounds)


def comparable(state: RunState) -> Any:
    """A state as plain values, so that two of them can be compared."""
    return (
        state.tail, state.status, state.unreachable, dict(state.executions.items()), dict(state.waits.items()),
        {key: (b.live, b.unrouted, b.abandoned, dict(b.outputs.items())) for key, b in state.branches.items()},
        {key: (f.opened, f.joined, f.succeeded, f.failed, f.lane.scheduled, len(f.lane.ready)) for key, f in
         state.fan_outs.items()},
    )  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
@given(documents(), ITEMS, st.integers(0, 30), st.data())
def test_whatever_happens_in_whatever_order_the_promises_hold(
    document: dict[str, Any], items: list[int], acts: int, data: st.DataObject
) -> None:
    play = Play(document, items, data)
    play.check()
    play.kind = False
    for _ in range(acts):
        play.act(play.draw(*play.possible()))
        play.check()
        if play.state.final:
            break
    play.finish()
    for work in play.claimed:
        assert not play.simulation.engine.advance([work.answer(receipt_of({}))]), "what is over stays over"
    play.check()
    event(play.state.status.value)
