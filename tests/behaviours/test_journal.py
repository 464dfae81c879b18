"""The journal (B98–B101): state is a fold, and nothing but the journal is needed to go on."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.decide.commands import Advance, CancelRun
from orchestrator.core.decide.decision import decide
from orchestrator.core.decide.draft import Known
from orchestrator.core.evolve import fold
from orchestrator.core.facts import FACT_TYPES
from orchestrator.core.outcomes import Ambiguous, Failed, Succeeded
from orchestrator.engine.engine import Engine
from orchestrator.engine.loading import recorded
from orchestrator.engine.rows import change_of
from orchestrator.errors import Conflict
from tests.behaviours.stage import Stage
from tests.definitions import START, action, document, for_each, join, node

RICH = document(
    START,
    action("load", policy={"maxAttempts": 2, "retryDelay": "00:00:05"}),
    for_each(configuration={"maxParallelism": 2}),
    action("ship", "failed"),
    join(configuration={"mode": "atLeast", "threshold": 2}),
    node("w", "approval", "approved", "expired", configuration={"expiresAfter": "01:00:00"}),
    action("pay", "failed"),
    action("caught"),
    edges=(
        "start.next>load", "load.next>fan", "fan.each>ship", "ship.next>gather", "gather.completed>w",
        "gather.partial>w", "w.expired>pay", "pay.failed>caught",
    ),
)  # fmt: skip
LINES = {"lines": [{"key": f"k{n}"} for n in range(4)]}


def run_rich(stage: Stage) -> None:
    stage.play(
        RICH,
        LINES,
        load=[Failed("once"), {}],
        ship=lambda call: Failed("no") if call.input["item"]["key"] == "k0" else {"n": 1},
        pay=Ambiguous("?"),
    )
    stage.pass_time(hours=2)
    stage.orchestrator.reconcile(stage.run_id, stage.execution("pay").id, Failed("not paid"), actor="ada")
    stage.simulation.settle()
    assert "Succeeded" == stage.status


def facts_of(stage: Stage) -> list[Any]:
    with stage.simulation.store.reading() as tx:
        return list(recorded(tx, stage.run_id, tx.facts(stage.run_id)))


@pytest.mark.behaviour("B98")
def test_any_prefix_folds_to_the_state_the_live_run_had_there(stored: Stage) -> None:
    run_rich(stored)
    facts = facts_of(stored)
    live = None
    for number, fact in enumerate(facts, 1):
        live = fold([fact], live)
        rebuilt = fold(facts[:number])
        assert live.status == rebuilt.status
        assert dict(live.executions.items()) == dict(rebuilt.executions.items())
        known = Known(claimed=frozenset(), holders={})
        now = fact.at
        assert decide(live, (Advance(),), now, known).facts == decide(rebuilt, (Advance(),), now, known).facts


@pytest.mark.behaviour("B99")
def test_a_process_that_forgets_everything_between_any_two_steps_ends_the_run_alike(stored: Stage) -> None:
    run_rich(stored)
    expected = [(fact.type, fact.data) for fact in stored.facts()]
    forgetful = Stage(stored.simulation.store)
    forgetful.begin(
        RICH | {"workflow": "forgetful"},
        LINES,
        load=[Failed("once"), {}],
        ship=lambda call: Failed("no") if call.input["item"]["key"] == "k0" else {"n": 1},
        pay=Ambiguous("?"),
    )

    def forget() -> None:
        simulation = forgetful.simulation
        simulation.engine = Engine(simulation.store, simulation.doorbells, simulation.clock)

    for _ in range(100):
        forget()
        if forgetful.simulation.doorbells.rung:
            work = forgetful.simulation.claim_next()
            forget()
            if work is not None:
                forgetful.simulation.perform(work)
        elif (due := forgetful.simulation.next_due()) is not None:
            forgetful.simulation.clock.move_to(due)
            forgetful.simulation.tick()
        else:
            break
    forgetful.orchestrator.reconcile(forgetful.run_id, forgetful.execution("pay").id, Failed("not paid"), actor="ada")
    forgetful.simulation.settle()
    assert [type_ for type_, _ in expected] == [fact.type for fact in forgetful.facts()]


@pytest.mark.behaviour("B100")
def test_of_two_writers_at_one_tail_one_wins_and_nothing_of_the_other_is_stored(stored: Stage) -> None:
    stored.begin(document(START, action("x"), edges=("start.next>x",)))
    state = stored.simulation.engine.state(stored.run_id)
    decision = decide(state, (CancelRun("late"),), stored.simulation.clock.now())
    stored.orchestrator.cancel(stored.run_id, actor="first")
    before = stored.facts()
    with pytest.raises(Conflict), stored.simulation.store.transaction() as tx:
        tx.append([change_of(state.tail, decision.facts, decision.state)])
    assert before == stored.facts()
    assert "first" == before[-1].data["actor"]


@pytest.mark.behaviour("B101")
def test_every_stored_type_is_one_of_the_documented_names_and_the_first_is_the_admission(stored: Stage) -> None:
    run_rich(stored)
    types = [fact.type for fact in stored.facts()]
    assert "WorkflowRunAdmitted" == types[0]
    assert set(types) <= set(FACT_TYPES)
    assert list(range(1, len(types) + 1)) == [fact.number for fact in stored.facts()]
    assert {
        "WorkflowRunAdmitted", "WorkflowNodeScheduled", "WorkflowNodeInputPinned", "WorkflowNodeOperationCompleted",
        "WorkflowNodeSucceeded", "WorkflowNodeSkipped", "WorkflowNodeAttemptFailed", "WorkflowNodeFailed",
        "WorkflowNodeOutcomeAmbiguous", "WorkflowRunNeedsReconciliation", "WorkflowNodeReconciled",
        "WorkflowBranchesFannedOut", "WorkflowBranchesJoined", "WorkflowWaitOpened", "WorkflowWaitResolved",
        "WorkflowWaitCancelled", "WorkflowJobStopped", "WorkflowNodesUnreachable", "WorkflowRunSucceeded",
        "WorkflowRunFailed", "WorkflowRunCancelled",
    } == set(FACT_TYPES)  # fmt: skip


def test_every_success_stands_after_the_fact_that_caused_it(stage: Stage) -> None:
    run_rich(stage)
    facts = stage.facts()
    for fact in facts:
        if fact.type == "WorkflowNodeSucceeded" and "outputAt" in fact.data:
            assert fact.data["outputAt"] < fact.number
    assert Succeeded().outlet == next(f for f in facts if f.type == "WorkflowNodeSucceeded").data["outlet"]
