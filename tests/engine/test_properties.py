"""Random workflows, random outcomes, delays, duplicates, losses, late answers and acts from outside: in any order
the promises hold after every step, and every run ends or waits for something that has a name.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from orchestrator.core.decide.commands import Advance
from orchestrator.core.decide.decision import decide
from orchestrator.core.decide.draft import Known
from orchestrator.core.evolve import fold
from orchestrator.core.outcomes import Ambiguous, Failed, Outcome, Skipped, Succeeded, Suspended, receipt_of
from orchestrator.core.state import RunState
from orchestrator.engine.loading import recorded
from orchestrator.engine.work import Work
from orchestrator.errors import Refused
from orchestrator.performers.performing import perform
from orchestrator.testing.simulation import Simulation
from tests.engine.workflows import documents

ITEMS = st.lists(st.integers(0, 9), max_size=4, unique=True)
FINAL = {"WorkflowRunSucceeded", "WorkflowRunFailed", "WorkflowRunCancelled"}
ACTS = st.sampled_from(
    ["perform", "perform", "perform", "perform", "claim", "answer", "answer late", "drop", "twice", "lose", "stop",
     "time", "minute", "day", "signal", "approve", "reject", "call off", "complete", "reconcile", "cancel"]
)  # fmt: skip


class Play:
    """One run under random acts."""

    def __init__(self, document: dict[str, Any], items: list[int], data: st.DataObject) -> None:
        self.data = data
        self.simulation = Simulation()
        self.simulation.script("any@1", self.outcome)
        self.simulation.orchestrator.publish(document)
        payload = {"lines": [{"key": f"k{item}"} for item in items]}
        self.run_id = self.simulation.orchestrator.start("random", payload).id
        self.held: list[Work] = []
        self.over: list[Work] = []
        self.kind = True
        self.facts = 0
        self.suspensions = 0

    # --- what happens -----------------------------------------------------------------------------------------------

    def outcome(self, call: Any) -> Any:
        if not self.kind:
            return self.anything()
        return Succeeded("b" if "decision" in self.node_kind(call.node_id) else "next")

    def node_kind(self, node: str) -> str:
        return self.state.definition.graph.node[node].kind.value

    def anything(self) -> Any:
        self.suspensions += 1
        return self.data.draw(
            st.sampled_from(
                [
                    Succeeded("next"), Succeeded("a"), Succeeded("b"), Succeeded("next", {"big": "x" * 700}),
                    Failed("no"), Failed("no", retryable=False), Skipped("no"), Succeeded("nowhere"),
                    Succeeded("next", {1, 2}), Ambiguous("?"), Suspended(f"key-{self.suspensions}"),
                    Suspended("same", timedelta(minutes=1)), ValueError("raised"),
                ]
            )
        )  # fmt: skip

    def act(self, what: str) -> None:
        simulation, bells = self.simulation, self.simulation.doorbells.rung
        match what:
            case "perform" if bells:
                self.answer(simulation.claim_next())
            case "claim" if bells:
                work = simulation.claim_next()
                self.held += [work] if work else []
            case "answer" if self.held:
                self.answer(self.held.pop(self.data.draw(st.integers(0, len(self.held) - 1))))
            case "answer late" if self.over:
                work = self.over[self.data.draw(st.integers(0, len(self.over) - 1))]
                before = self.state.tail
                assert not simulation.engine.advance([work.answer(receipt_of({}))])
                assert before == self.state.tail
            case "drop" if bells:
                bells.popleft()
            case "twice" if bells:
                bells.append(bells[0])
            case "lose" | "stop" if self.held:
                work = self.held.pop()
                tell = simulation.engine.lost if what == "lose" else simulation.engine.stopped
                tell([(work.attempt_id, work.fence)])
                self.over.append(work)
            case "time" | "minute" | "day":
                span = {"time": timedelta(seconds=6), "minute": timedelta(minutes=1), "day": timedelta(days=1)}[what]
                simulation.clock.move(span)
                simulation.tick()
            case _:
                self.outside(what)

    def outside(self, what: str) -> None:
        orchestrator = self.simulation.orchestrator
        run = orchestrator.run(self.run_id)
        try:
            match what:
                case "signal":
                    orchestrator.signal(self.run_id, "go@1", {"n": 1})
                case "approve" | "reject" | "call off" if run.waits:
                    wait = run.waits[self.data.draw(st.integers(0, len(run.waits) - 1))]
                    verbs = {"approve": orchestrator.approve, "reject": orchestrator.reject}
                    verbs.get(what, orchestrator.cancel_wait)(wait.id)
                case "complete" if keys := [wait.key for wait in run.waits if wait.key]:
                    outcomes: st.SearchStrategy[Outcome] = st.sampled_from([Succeeded(), Failed("no"), Skipped("no")])
                    orchestrator.complete(self.data.draw(st.sampled_from(keys)), self.data.draw(outcomes))
                case "reconcile" if doubtful := [e.id for e in run.executions if e.status == "ReconciliationRequired"]:
                    outcomes = st.sampled_from([Succeeded(), Failed("no"), Skipped("no")])
                    orchestrator.reconcile(self.run_id, doubtful[0], self.data.draw(outcomes))
                case "cancel" if self.data.draw(st.integers(0, 9)) == 0:
                    orchestrator.cancel(self.run_id)
        except Refused:
            pass

    def answer(self, work: Work | None) -> None:
        if work is not None:
            self.simulation.performed.append(work)
            answer = work.answer(perform(self.simulation.table, work))
            self.simulation.engine.advance([answer])
            self.over.append(work)

    def finish(self) -> None:
        """Let everything end well: nobody is late, everybody approves."""
        self.kind = True
        for _ in range(300):
            while self.held:
                self.answer(self.held.pop())
            while self.simulation.doorbells.rung:
                self.act("perform")
            run = self.simulation.orchestrator.run(self.run_id)
            if run.status.final:
                return
            for what in ("reconcile", "complete", "signal", "approve", "call off"):
                if not self.simulation.doorbells.rung:
                    self.act(what)
            self.act("day" if run.waits and not self.simulation.doorbells.rung else "minute")
            self.check()
        raise AssertionError(f"the run does not end: {self.simulation.orchestrator.run(self.run_id).document()}")

    # --- what holds -------------------------------------------------------------------------------------------------

    @property
    def state(self) -> RunState:
        return self.simulation.engine.state(self.run_id)

    def check(self) -> None:
        """Everything that must hold after every step."""
        with self.simulation.store.reading() as tx:
            facts = list(recorded(tx, self.run_id, tx.facts(self.run_id)))
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
@given(documents(), ITEMS, st.lists(ACTS, max_size=40), st.data())
def test_whatever_happens_in_whatever_order_the_promises_hold(
    document: dict[str, Any], items: list[int], acts: list[str], data: st.DataObject
) -> None:
    play = Play(document, items, data)
    play.check()
    play.kind = False
    for what in acts:
        play.act(what)
        play.check()
    play.finish()
    play.check()
    event(play.state.status.value)
