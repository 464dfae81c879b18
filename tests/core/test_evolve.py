"""The fold: what cannot follow is refused, and a state is a value that nobody changes."""

from __future__ import annotations

import pytest

from orchestrator.core.data import EMPTY
from orchestrator.core.evolve import evolve, fold, visible
from orchestrator.core.facts import (
    Recorded,
    WorkflowBranchesFannedOut,
    WorkflowRunAdmitted,
    WorkflowRunSucceeded,
    WorkflowWaitResolved,
)
from orchestrator.core.state import RunStatus
from orchestrator.errors import CeleriacError
from tests.core.graphs import gathered, lines, signal_wait, single
from tests.core.world import DAWN, World, as_stored
from tests.definitions import action


def test_a_journal_begins_with_the_admission_as_number_one() -> None:
    world = World.start(single(action("a")))
    with pytest.raises(CeleriacError, match="begins with WorkflowRunAdmitted as number 1, not WorkflowRunSucceeded"):
        evolve(None, Recorded(1, DAWN, WorkflowRunSucceeded()))
    with pytest.raises(CeleriacError, match="begins with"):
        evolve(None, Recorded(2, DAWN, world.journal[0].fact))


def test_a_second_admission_is_refused() -> None:
    world = World.start(single(action("a")))
    with pytest.raises(CeleriacError, match="a second WorkflowRunAdmitted"):
        evolve(world.state, Recorded(world.state.tail + 1, DAWN, world.journal[0].fact))


@pytest.mark.parametrize("number", (0, 1, 4, 6, 99))
def test_a_fact_that_is_not_the_next_one_is_refused(number: int) -> None:
    world = World.start(single(action("a")))
    assert 4 == world.state.tail
    with pytest.raises(CeleriacError, match=f"fact {number} follows 4: the journal has a gap"):
        evolve(world.state, Recorded(number, DAWN, WorkflowRunSucceeded()))


def test_a_run_without_facts_has_no_state() -> None:
    with pytest.raises(CeleriacError, match="without facts"):
        fold([])


def test_a_state_can_be_brought_up_to_date_by_the_facts_after_it() -> None:
    world = World.start(single(action("a")))
    half = fold(world.journal[:2])
    assert world.state == fold(world.journal[2:], half)
    assert world.state == fold([], world.state)


def test_a_wait_that_is_not_open_cannot_be_closed() -> None:
    world = World.start(single(signal_wait("w"), action("a"), edges=("w.resumed>a",)))
    ref = world.execution("w").ref
    world.signal("paid@1")
    with pytest.raises(CeleriacError, match="has no open wait to close"):
        evolve(world.state, Recorded(world.state.tail + 1, DAWN, WorkflowWaitResolved(ref, ref.id, "resumed")))


def test_the_items_of_a_fan_out_are_always_loaded() -> None:
    world = World.start(gathered(action("x")), lines("k"))
    [number] = [r.number for r in world.journal if isinstance(r.fact, WorkflowBranchesFannedOut)]
    fact = WorkflowBranchesFannedOut(world.execution("fan").ref, None)
    with pytest.raises(CeleriacError, match="the items of fact 3 were not loaded"):
        evolve(world.states[number - 2], Recorded(number, DAWN, fact, 999))


def test_a_payload_that_was_left_out_of_the_fact_is_empty() -> None:
    world = World.start(single(action("a")))
    fact = world.journal[0].fact
    assert isinstance(fact, WorkflowRunAdmitted)
    bare = WorkflowRunAdmitted(fact.run_id, fact.scope, fact.key, fact.definition, fact.trigger, None)
    state = fold([Recorded(1, DAWN, bare)])
    assert (EMPTY, 2) == (state.payload.text, state.payload.size)


def test_large_values_are_not_kept_whether_they_were_loaded_or_not() -> None:
    world = World.start(single(action("a")), {"large": "x" * 600})
    assert None is world.state.payload.text
    assert world.states[0] == fold([as_stored(world.journal[0])]) == fold([world.journal[0]])


def test_what_a_branch_sees_is_its_own_and_then_what_is_above_it() -> None:
    world = World.start(gathered(action("x")), lines("k"))
    branch = world.execution("x", "k").ref.branch
    world.answer("x", {"n": 1}, key="k")
    assert {"start", "fan", "gather"} == set(visible(world.state, ())[0])
    assert {"start", "fan", "gather", "x"} == set(visible(world.state, branch)[0])


def test_a_final_status_stands_whatever_is_counted() -> None:
    world = World.start(single(action("a")))
    world.cancel()
    assert RunStatus.CANCELLED is world.state.status
    assert not world.state.in_flight
