"""Deciding: what it asks for, what it answers, and that it is a function of state, commands and now alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from orchestrator.core.data import EMPTY
from orchestrator.core.decide.commands import (
    Advance,
    AnswerAttempt,
    CancelRun,
    Command,
    LoseAttempt,
    ResolveWait,
    SendSignal,
    StopAttempt,
    TimeOutAttempt,
    Wake,
)
from orchestrator.core.decide.decision import decide
from orchestrator.core.decide.draft import Known, Missing
from orchestrator.core.outcomes import Failed, Suspended, receipt_of
from orchestrator.errors import Refused
from tests.core.graphs import approval, chain, gathered, lines, signal_wait, single
from tests.core.world import World
from tests.definitions import START, action, document, for_each, join


def asked(world: World, commands: Sequence[Command], known: Known | None = None) -> Missing:
    """What deciding asks for first."""
    with pytest.raises(Missing) as request:
        decide(world.state, commands, world.now, known or Known())
    return request.value


def answering(world: World, node: str, outcome: object = None, *, key: str | None = None) -> AnswerAttempt:
    """The answer of a performer."""
    execution = world.execution(node, key)
    return AnswerAttempt(execution.ref.id, execution.attempt, receipt_of({} if outcome is None else outcome))


# --- what it asks for -------------------------------------------------------------------------------------------------


def test_a_join_asks_for_all_large_outputs_of_its_branches_at_once() -> None:
    world = World.start(gathered(action("x")), lines("a", "b", "c"))
    world.answer("x", {"large": "a" * 600}, key="a")
    world.answer("x", {"small": 1}, key="b")
    [large] = [recorded.number for recorded in world.journal if recorded.size > 512]
    request = asked(world, [answering(world, "x", {"large": "c" * 600}, key="c")])
    assert {large} == request.values, "its own value is at hand"
    assert not request.claims
    assert not request.keys


def test_a_for_each_asks_for_the_large_output_that_holds_its_items() -> None:
    given = document(
        START, approval("ok"), for_each(), join(), edges=("start.next>ok", "ok.approved>fan", "fan.each>gather")
    )
    world = World.start(given, lines("a", note="x" * 600))
    assert {1} == asked(world, [ResolveWait(world.wait("ok").id, "approved", EMPTY)]).values


def test_claims_are_asked_for_only_when_a_join_fires_before_scheduled_work() -> None:
    world = World.start(gathered(action("x"), mode="any"), lines("a", "b"))
    assert asked(world, [answering(world, "x", key="a")]).claims
    alone = World.start(gathered(action("x"), mode="any", bound=1), lines("a", "b"))
    assert decide(alone.state, [answering(alone, "x", key="a")], alone.now).facts


def test_the_holder_of_a_key_is_asked_for_only_when_somebody_suspends() -> None:
    world = World.start(single(action("a")))
    assert {"k"} == asked(world, [answering(world, "a", Suspended("k"))]).keys
    assert decide(world.state, [answering(world, "a", Suspended("k"))], world.now, Known(holders={"k": None})).facts


def test_a_large_input_is_measured_without_being_loaded() -> None:
    world = World.start(chain(action("a"), action("b")), {"large": "x" * 600})
    assert decide(world.state, [answering(world, "a", {"large": "x" * 600})], world.now).facts


def test_a_request_says_what_it_wants() -> None:
    assert "values [1, 2], claims False, keys ['k']" == str(Missing(values=(2, 1), keys=("k",)))


# --- what it answers --------------------------------------------------------------------------------------------------


def test_each_command_has_its_reply() -> None:
    given = document(
        START, action("a"), signal_wait("w"), action("b"), edges=("start.next>a", "start.next>w", "start.next>b")
    )
    world = World.start(given)
    commands: list[Command] = [
        answering(world, "a"),
        answering(world, "a"),
        SendSignal("paid@1", EMPTY),
        SendSignal("paid@1", EMPTY),
        Wake(),
        LoseAttempt(world.execution("b").ref.id, 1, 1),
        CancelRun(),
        StopAttempt(world.execution("b").ref.id, 1),
        TimeOutAttempt(world.execution("b").ref.id, 1),
        SendSignal("paid@1", EMPTY),
        Advance(),
    ]
    decision = decide(world.state, commands, world.now)
    assert (True, False, 1, 0, None, True, None, False, False, 0, None) == decision.replies


def test_a_refusal_among_several_commands_refuses_them_all() -> None:
    world = World.start(document(START, action("a"), approval("ok"), edges=("start.next>a", "start.next>ok")))
    commands: list[Command] = [answering(world, "a"), ResolveWait(world.wait("ok").id, "resumed", EMPTY)]
    with pytest.raises(Refused):
        world.tell(*commands)
    assert [("a", None)] == world.scheduled()


def test_every_fact_of_a_decision_bears_its_now_and_the_next_number() -> None:
    world = World.start(chain(action("a"), action("b")))
    world.wake(minutes=1)
    decision = decide(world.state, [answering(world, "a")], world.now)
    assert [(5, world.now), (6, world.now), (7, world.now), (8, world.now)] == [
        (r.number, r.at) for r in decision.facts
    ]
    assert 8 == decision.state.tail
    assert 4 == world.state.tail


def test_no_command_decides_nothing() -> None:
    world = World.start(single(action("a")))
    decision = decide(world.state, [], world.now)
    assert ((), (), world.state) == (decision.facts, decision.replies, decision.state)


@pytest.mark.parametrize("command", (Advance(), Wake()))
def test_looking_at_a_run_that_owes_nothing_changes_nothing(command: Command) -> None:
    world = World.start(gathered(action("x"), signal_wait("w"), bound=1), lines("a", "b"))
    world.answer("x", Failed("no"), key="a")
    assert () == decide(world.state, [command], world.now).facts
