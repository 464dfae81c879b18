"""What is owed for facts: attempts, timers and waits, each with its last word only.

That rows kept by effects are those that the state asks for is looked at after every command of every world.
"""

from __future__ import annotations

from datetime import timedelta

from orchestrator.core.decide.commands import AnswerAttempt
from orchestrator.core.effects import Effects, effects
from orchestrator.core.ids import attempt_id
from orchestrator.core.outcomes import Failed, Suspended, receipt_of
from tests.core.graphs import chain, gathered, lines, signal_wait, single, timer, tries
from tests.core.world import DAWN, World
from tests.definitions import START, action, document


def last(world: World) -> Effects:
    """What the last command owes."""
    return effects(world.told[-1].facts, world.state)


def test_an_attempt_is_owed_when_it_is_scheduled_and_ended_when_it_is_answered() -> None:
    world = World.start(chain(action("a"), action("b")))
    a = world.execution("a").ref
    assert {attempt_id(a.id, 1): (a, 1)} == last(world).owed
    world.answer("a")
    assert {attempt_id(a.id, 1)} == last(world).ended
    assert [attempt_id(world.execution("b").ref.id, 1)] == list(last(world).owed)


def test_a_retry_sets_a_timer_and_its_attempt_clears_it() -> None:
    world = World.start(single(action("a", policy=tries(2))))
    id = world.execution("a").ref.id
    world.answer("a", Failed("no"))
    assert {id: DAWN + timedelta(seconds=30)} == last(world).timers
    world.wake(seconds=30)
    assert {id: None} == last(world).timers
    assert [attempt_id(id, 2)] == list(last(world).owed)


def test_a_retry_that_is_due_at_once_owes_the_next_attempt_and_no_timer() -> None:
    world = World.start(single(action("a", policy=tries(2, retryDelay="00:00:00"))))
    id = world.execution("a").ref.id
    world.answer("a", Failed("no"))
    assert ({attempt_id(id, 1)}, [attempt_id(id, 2)], {id: None}) == (
        last(world).ended,
        list(last(world).owed),
        last(world).timers,
    )


def test_the_same_attempt_may_end_and_be_owed_again_in_one_append() -> None:
    world = World.start(single(action("a", policy=tries(1, retryDelay="00:00:00"))))
    id = attempt_id(world.execution("a").ref.id, 1)
    world.stop("a")
    assert ({id}, [id]) == (last(world).ended, list(last(world).owed))


def test_a_wait_with_a_deadline_sets_a_timer_and_closing_it_clears_it() -> None:
    world = World.start(chain(timer("t", "00:01:00"), signal_wait("w")))
    ref = world.execution("t").ref
    assert ({ref.id: DAWN + timedelta(minutes=1)}, {ref.id: ref}) == (last(world).timers, last(world).waits)
    world.wake(minutes=1)
    assert None is last(world).timers[ref.id]
    waiting = world.execution("w").ref
    assert {ref.id: ref, waiting.id: waiting} == last(world).waits
    assert None is last(world).timers[waiting.id]


def test_the_wait_of_a_completion_has_the_id_of_its_attempt() -> None:
    world = World.start(single(action("a")))
    ref = world.execution("a").ref
    world.answer("a", Suspended("k", timedelta(hours=1)))
    assert ({attempt_id(ref.id, 1): ref}, {ref.id: DAWN + timedelta(hours=1)}) == (
        last(world).waits,
        last(world).timers,
    )


def test_an_attempt_that_is_owed_and_called_off_in_one_append_was_never_owed() -> None:
    given = gathered(
        action("x", policy=tries(2, retryDelay="00:00:00")), mode="any", gather={"outlets": ["completed", "partial"]}
    )
    world = World.start(given, lines("a", "b"))
    one, other = (world.execution("x", key).ref.id for key in "ab")
    world.tell(AnswerAttempt(one, 1, receipt_of(Failed("no"))), AnswerAttempt(other, 1, receipt_of({})))
    assert {attempt_id(one, 1), attempt_id(other, 1)} == last(world).ended
    assert [attempt_id(world.execution("after").ref.id, 1)] == list(last(world).owed)


def test_the_end_of_a_run_sweeps_everything() -> None:
    given = document(START, action("a"), timer("t"), edges=("start.next>a", "start.next>t"))
    world = World.start(given)
    assert not last(world).swept
    world.cancel()
    assert last(world).swept
    world = World.start(single(action("a")))
    world.answer("a")
    assert last(world).swept


def test_no_facts_owe_nothing() -> None:
    world = World.start(single(action("a")))
    assert Effects() == effects((), world.state)
