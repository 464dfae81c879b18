"""Journals: complete from the first fact, the same from every prefix on, and readable (semantics 2.1)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.decide.commands import Advance
from orchestrator.core.decide.decision import decide
from orchestrator.core.facts import (
    FACT_TYPES,
    WorkflowNodeAttemptFailed,
    WorkflowNodeOperationCompleted,
    WorkflowNodeSucceeded,
    WorkflowRunAdmitted,
)
from orchestrator.core.outcomes import Ambiguous, Failed, Skipped, Succeeded
from orchestrator.core.snapshot import snapshot
from orchestrator.core.state import ExecutionStatus, RunState
from tests.core.graphs import approval, chain, gathered, lines, signal_wait, single, timer, tries
from tests.core.rich import cancelled, failed, succeeded
from tests.core.world import World
from tests.definitions import START, action, document, node

DOCUMENTED = {
    "WorkflowRunAdmitted",
    "WorkflowNodeScheduled",
    "WorkflowNodeInputPinned",
    "WorkflowNodeOperationCompleted",
    "WorkflowNodeSucceeded",
    "WorkflowNodeSkipped",
    "WorkflowNodeAttemptFailed",
    "WorkflowNodeFailed",
    "WorkflowNodeOutcomeAmbiguous",
    "WorkflowRunNeedsReconciliation",
    "WorkflowNodeReconciled",
    "WorkflowBranchesFannedOut",
    "WorkflowBranchesJoined",
    "WorkflowWaitOpened",
    "WorkflowWaitResolved",
    "WorkflowWaitCancelled",
    "WorkflowJobStopped",
    "WorkflowNodesUnreachable",
    "WorkflowRunSucceeded",
    "WorkflowRunFailed",
    "WorkflowRunCancelled",
}


@pytest.mark.behaviour("B101")
def test_the_types_of_facts_are_the_documented_names() -> None:
    assert set(FACT_TYPES) == DOCUMENTED


@pytest.mark.behaviour("B101")
def test_the_three_runs_hold_every_type_and_begin_with_their_admission() -> None:
    worlds = (succeeded(), failed(), cancelled())
    assert {f"Workflow{type_}" for world in worlds for type_ in world.types()} == DOCUMENTED
    for world in worlds:
        assert isinstance(world.journal[0].fact, WorkflowRunAdmitted)
        assert 1 == world.journal[0].number


# --- prefixes ---------------------------------------------------------------------------------------------------------


def later_on(world: World, number: int) -> World:
    """The run as somebody finds it who knows nothing but the first facts of its journal."""
    again = World(world.journal[0], world.limits)
    again.journal = list(world.journal[:number])
    again.states = list(world.states[:number])
    again.state = again.states[-1]
    again.now = again.journal[-1].at
    again.refold_rows()
    again.tell(Advance())
    return again


OUTCOMES: dict[tuple[str, int], object] = {
    ("a", 1): Failed("not yet", "E1"),
    ("a", 2): {"large": "a" * 700},
    ("d", 1): Succeeded("two", {"n": 2}),
    ("x", 1): {"n": 1},
    ("y", 1): Failed("no", retryable=False),
    ("z", 1): Skipped("no"),
    ("q", 1): Ambiguous("who knows"),
}


def end(world: World) -> World:
    """Let always the same happen until the run is over: who is asked answers by node and attempt alone."""
    while world.state.final is None:
        open_ = sorted(world.state.executions.values(), key=lambda e: e.born)
        by_status = {status: [e for e in open_ if e.status is status] for status in ExecutionStatus}
        if by_status[ExecutionStatus.RECONCILIATION_REQUIRED]:
            world.reconcile(by_status[ExecutionStatus.RECONCILIATION_REQUIRED][0].ref.node, {"chosen": True})
        elif work := by_status[ExecutionStatus.SCHEDULED]:
            ref = work[0].ref
            key = ref.branch[0].key if ref.branch else None
            world.answer(ref.node, OUTCOMES.get((ref.node, work[0].attempt)), key=key)
        elif by_status[ExecutionStatus.RETRY_PENDING] or any(e.wait and e.wait.kind == "timer" for e in open_):
            world.wake(minutes=5)
        else:
            waiting = by_status[ExecutionStatus.WAITING][0]
            key = waiting.ref.branch[0].key if waiting.ref.branch else None
            world.resolve(waiting.ref.node, "approved" if waiting.ref.node == "ok" else "resumed", key=key)
    return world


def outcome(state: RunState) -> dict[str, Any]:
    """What a run came to, without its order and its times."""
    values = {e.ref.id: (e.status, e.outlet, e.output and e.output.text) for e in state.executions.values()}
    return {"status": state.status, "unreachable": state.unreachable, **values}


WORKFLOWS: dict[str, tuple[dict[str, Any], object]] = {
    "a line": (chain(action("a", policy=tries(2)), approval("ok"), timer("t"), action("b")), {}),
    "choices": (
        single(node("d", "decision", "one", "two"), action("x"), action("y"), edges=("d.one>x", "d.two>y", "d.two>x")),
        {},
    ),
    "a fan-out": (
        gathered(action("a", policy=tries(2)), signal_wait("w"), action("x"), bound=2),
        lines("k1", "k2", "k3"),
    ),
    "an early join": (gathered(action("x"), signal_wait("w"), mode="any", bound=2), lines("k1", "k2", "k3")),
    "a partial join": (gathered(action("x"), action("y"), mode="all"), lines("k1", "k2")),
    "a stop": (
        document(START, action("q"), action("x"), timer("t"), edges=("start.next>q", "start.next>x", "x.next>t")),
        {},
    ),
    "skips": (gathered(action("z"), bound=1), lines("k1", "k2")),
}


@pytest.mark.behaviour("B98")
@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_rebuilt_prefix_is_the_live_run_at_that_point(name: str) -> None:
    definition, payload = WORKFLOWS[name]
    world = end(World.start(definition, payload))
    decided = {told.facts[-1].number for told in world.told if told.facts}
    for number in range(1, world.state.tail + 1):
        again = later_on(world, number)
        expected = next(last for last in sorted(decided) if last >= number)
        assert world.journal[:expected] == again.journal
        assert world.states[expected - 1] == again.state
        assert world.states[expected - 1].status == again.state.status


@pytest.mark.behaviour("B99")
@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_run_that_is_forgotten_between_any_two_facts_ends_the_same(name: str) -> None:
    definition, payload = WORKFLOWS[name]
    world = end(World.start(definition, payload))
    expected = outcome(world.state)
    for number in range(1, world.state.tail + 1):
        assert expected == outcome(end(later_on(world, number)).state)


@pytest.mark.behaviour("B98")
def test_a_snapshot_of_a_prefix_can_be_shown() -> None:
    world = succeeded()
    for state in world.states:
        seen = snapshot(state, world.text)
        assert state.tail == seen.tail
        assert seen.document()["status"] == state.status.value


def test_a_decision_never_touches_the_state_it_was_given() -> None:
    world = succeeded()
    for number in (1, 20, 40):
        state = world.states[number]
        before = snapshot(state, world.text)
        first = decide(state, [Advance()], world.now)
        assert first == decide(state, [Advance()], world.now)
        assert before == snapshot(state, world.text)


# --- as people see it -------------------------------------------------------------------------------------------------


def shown(world: World, type_: str) -> list[dict[str, Any]]:
    """The data of the facts of a type."""
    return [entry.data for entry in world.entries() if entry.type == f"Workflow{type_}"]


def test_a_fact_is_shown_with_number_type_time_and_data() -> None:
    world = World.start(single(action("a")), {"n": 1})
    first = world.entries()[0].document()
    assert ["number", "type", "at", "data"] == list(first)
    assert (1, "WorkflowRunAdmitted", "2026-01-15T10:07:00Z") == (first["number"], first["type"], first["at"])
    assert {"kind": "manual", "subject": None, "correlation": None, "payload": {"n": 1}} == first["data"]["trigger"]
    assert "test" == first["data"]["definition"]["workflow"]


def test_the_branch_of_an_execution_is_null_in_root_and_says_item_and_visit_elsewhere() -> None:
    world = World.start(gathered(action("x")), lines("k1"))
    scheduled = shown(world, "NodeScheduled")
    assert {"forEach": "fan", "visit": 1, "key": "k1"} == scheduled[0]["execution"]["branch"]
    world.answer("x", key="k1")
    assert None is shown(world, "NodeScheduled")[1]["execution"]["branch"]


def test_a_success_shows_the_output_that_it_refers_to() -> None:
    world = World.start(chain(action("a"), approval("ok")), {"n": 0})
    world.answer("a", {"large": "x" * 600})
    world.resolve("ok", "approved", {"n": 2})
    assert [{"n": 0}, {"large": "x" * 600}, {"n": 2}] == [data["output"] for data in shown(world, "NodeSucceeded")]
    assert {"large": "x" * 600} == shown(world, "NodeOperationCompleted")[0]["outcome"]["output"]
    assert {"n": 2} == shown(world, "WaitResolved")[0]["output"]


@pytest.mark.parametrize("output", (None, False, 0, "", []))
def test_an_output_that_counts_as_false_is_shown_as_it_is(output: object) -> None:
    world = World.start(single(action("a")))
    world.answer("a", Succeeded(output=output))
    assert output == shown(world, "NodeSucceeded")[1]["output"]
    assert output == shown(world, "NodeOperationCompleted")[0]["outcome"]["output"]


def test_where_time_closed_a_wait_or_nothing_was_brought_in_the_output_is_empty() -> None:
    world = World.start(chain(timer("t", "00:00:00"), action("a")))
    world.wake()
    assert [{}] == [data["output"] for data in shown(world, "WaitResolved")]
    assert [{}, {}] == [data["output"] for data in shown(world, "NodeSucceeded")]


def test_a_failure_shows_kind_code_reason_and_the_outlet_where_there_is_one() -> None:
    world = World.start(single(action("a", "failed"), action("b"), edges=("a.failed>b",)))
    world.answer("a", Failed("no stock", "E7"))
    world.answer("b", Failed("no"))
    first, second = shown(world, "NodeFailed")
    assert ("Error", "E7", "no stock", "failed") == tuple(first[name] for name in ("kind", "code", "reason", "outlet"))
    assert ("Error", "no") == (second["kind"], second["reason"])
    assert {"outlet", "code"}.isdisjoint(second)


def test_items_and_the_report_of_a_join_are_shown() -> None:
    world = World.start(gathered(action("x")), lines("k1"))
    world.answer("x", key="k1")
    assert [{"key": "k1"}] == shown(world, "BranchesFannedOut")[0]["items"]
    assert "succeeded" == shown(world, "BranchesJoined")[0]["output"]["k1"]["status"]


def test_a_completion_and_a_reconciled_outcome_show_what_was_chosen() -> None:
    world = succeeded()
    [completed] = [data["outcome"] for data in shown(world, "WaitResolved") if "outcome" in data]
    assert {"status": "succeeded", "outlet": "next", "output": {"invoice": "R-1"}} == completed
    [chosen] = shown(world, "NodeReconciled")
    assert ("failed", "it was not booked", "anna") == (
        chosen["outcome"]["status"],
        chosen["outcome"]["reason"],
        chosen["actor"],
    )


# --- what follows what ------------------------------------------------------------------------------------------------


def test_the_facts_of_a_plain_run_in_their_order() -> None:
    world = World.start(chain(action("a", policy=tries(2)), approval("ok")))
    world.answer("a", Failed("no"))
    world.wake(seconds=30)
    world.answer("a")
    world.resolve("ok", "rejected")
    assert [
        "RunAdmitted",
        "NodeSucceeded",
        "NodeInputPinned",
        "NodeScheduled",
        "NodeOperationCompleted",
        "NodeAttemptFailed",
        "NodeScheduled",
        "NodeOperationCompleted",
        "NodeSucceeded",
        "WaitOpened",
        "WaitResolved",
        "NodeSucceeded",
        "RunSucceeded",
    ] == world.types()


def test_every_success_has_its_fact_after_the_one_that_caused_it() -> None:
    world = succeeded()
    for number, fact in enumerate(world.facts(), start=1):
        if isinstance(fact, WorkflowNodeSucceeded) and fact.output_at is not None:
            assert fact.output_at < number


def test_an_attempt_that_failed_has_its_receipt_only_if_somebody_answered() -> None:
    world = World.start(single(action("a", policy=tries(2, retryDelay="00:00:00"))))
    world.time_out("a")
    world.answer("a", Failed("no"))
    assert [2] == [fact.attempt for fact in world.facts(WorkflowNodeOperationCompleted)]
    assert [1, 2] == [fact.attempt for fact in world.facts(WorkflowNodeAttemptFailed)]
