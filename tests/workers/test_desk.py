"""The desk, turn by turn, over a registry in memory: what is claimed, recorded, kept and given back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from structlog.testing import capture_logs

from tests.workers.ledger import DONE, Ledger, Ring
from workers.bell import (
    Forgotten,
    ForNothing,
    HandedBack,
    Lost,
    NotHeld,
    Recorded,
    SetAside,
    Stopped,
    TimedOut,
    Withdrawn,
)
from workers.books import Limit
from workers.desk import Desk


@pytest.fixture
def ledger() -> Ledger:
    """An empty one."""
    return Ledger()


def desk_of(ledger: Ledger, *, slots: int = 2, limits: Sequence[Limit] = ()) -> Desk:
    """A desk whose turns the test takes, with calls made at once."""
    return Desk(ledger, worker="w1", slots=lambda: slots, post=lambda call: call(), limits=limits)


def rung(desk: Desk, *ids: str, make: Callable[[str], Ring] = Ring) -> list[Ring]:
    """Bells that have rung at this desk."""
    bells = [make(id) for id in ids]
    for bell in bells:
        assert desk.rang(bell)
    return bells


def test_whoever_waits_is_claimed_at_once_up_to_the_free_slots(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    bells = rung(desk, "a.1", "b.1", "c.1")
    desk.turn()
    assert [("claim", ("a.1", "b.1"))] == ledger.calls
    assert [True, True, False] == [bell.submitted for bell in bells]


def test_an_answer_is_recorded_and_frees_its_slot_in_one_turn(ledger: Ledger) -> None:
    desk = desk_of(ledger, slots=1)
    first, second = rung(desk, "a.1", "b.1")
    desk.turn()
    desk.ended(first, DONE)
    desk.turn()
    assert [("claim", ("a.1",)), ("claim", ("b.1",)), ("advance", ("a.1",))] == ledger.calls
    assert ([Recorded(DONE)], True) == (first.fates, second.submitted)


def test_answers_that_lie_there_together_are_recorded_together(ledger: Ledger) -> None:
    desk = desk_of(ledger, slots=3)
    bells = rung(desk, "a.1", "b.1", "c.1")
    desk.turn()
    for bell in bells:
        desk.ended(bell, DONE)
    desk.turn()
    assert ("advance", ("a.1", "b.1", "c.1")) == ledger.calls[-1]


@pytest.mark.behaviour("B48")
def test_a_message_for_an_attempt_that_is_over_does_nothing_and_costs_one_claim(ledger: Ledger) -> None:
    ledger.over.add("a.1")
    (bell,) = rung(desk := desk_of(ledger), "a.1")
    desk.turn()
    assert ([ForNothing()], [("claim", ("a.1",))]) == (bell.fates, ledger.calls)


def test_who_is_refused_frees_the_place_for_the_next_in_the_same_turn(ledger: Ledger) -> None:
    ledger.over |= {"a.1", "b.1"}
    desk = desk_of(ledger, slots=1)
    bells = rung(desk, "a.1", "b.1", "c.1")
    desk.turn()
    assert bells[2].submitted


def test_a_second_message_for_what_is_here_already_means_nothing(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    rung(desk, "a.1")
    assert desk.holds("a.1")
    assert not desk.rang(Ring("a.1"))


def test_a_message_is_welcome_again_before_the_engine_is_told_of_a_loss(ledger: Ledger) -> None:
    """Telling it rings the next doorbell, which may be here before the call returns."""
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1")
    again: list[bool] = []
    ledger.on_call = lambda name: again.append(desk.rang(Ring(name)))
    desk.turn()
    desk.ended(bell, Lost("killed"))
    desk.turn()
    assert [True] == again


@pytest.mark.parametrize(
    ("end", "told"),
    (
        (Lost("x"), "lost"),
        (TimedOut(1.0), "timed_out"),
        (Stopped("x"), "stopped"),
        (HandedBack(), "hand_back"),
    ),
)
def test_every_end_is_told_to_the_engine_by_its_name(ledger: Ledger, end: Lost | TimedOut, told: str) -> None:
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1")
    desk.turn()
    desk.ended(bell, end)
    desk.turn()
    assert ((told, ("a.1",)), [Recorded(end)]) == (ledger.calls[-1], bell.fates)


def test_the_first_end_counts(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1")
    desk.turn()
    desk.ended(bell, TimedOut(1.0))
    desk.ended(bell, DONE)
    desk.turn()
    assert [Recorded(TimedOut(1.0))] == bell.fates


def test_an_answer_that_does_not_count_was_late(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1")
    desk.turn()
    ledger.claimed.clear()
    desk.ended(bell, DONE)
    desk.turn()
    assert [Recorded(DONE, counted=False)] == bell.fates


# --- the store is away ------------------------------------------------------------------------------------------------


def test_answers_are_kept_while_the_store_is_away_and_nothing_new_is_begun(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    (first,) = rung(desk, "a.1")
    desk.turn()
    ledger.away = True
    desk.ended(first, DONE)
    (second,) = rung(desk, "b.1")
    with capture_logs() as lines:
        for _ in range(3):
            desk.turn()
        assert ([], False, [("a.1", 1)]) == (first.fates, second.submitted, desk.claims())
        ledger.away = False
        desk.turn()
    assert ([Recorded(DONE)], True) == (first.fates, second.submitted)
    assert ["desk_waits", "desk_goes_on"] == [line["event"] for line in lines]


def test_a_message_for_what_nobody_performs_here_is_told_even_when_the_store_was_away(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    ledger.away = True
    desk.missing("a.1")
    desk.turn()
    ledger.away = False
    desk.turn()
    assert [("performer_missing", ("a.1",))] == ledger.calls


# --- one that is bad harms no other -----------------------------------------------------------------------------------


def test_an_answer_that_cannot_be_recorded_is_set_aside_and_its_neighbours_are_recorded(ledger: Ledger) -> None:
    desk = desk_of(ledger, slots=3)
    bells = rung(desk, "a.1", "b.1", "c.1")
    desk.turn()
    ledger.poisoned.add("b.1")
    for bell in bells:
        desk.ended(bell, DONE)
    with capture_logs() as lines:
        desk.turn()
    assert [Recorded, SetAside, Recorded] == [type(bell.fates[0]) for bell in bells]
    assert ["attempt_set_aside"] == [line["event"] for line in lines]
    assert [] == desk.claims()


def test_a_message_that_cannot_be_claimed_is_set_aside_and_its_neighbours_are_claimed(ledger: Ledger) -> None:
    ledger.poisoned.add("a.1")
    desk = desk_of(ledger)
    bad, good = rung(desk, "a.1", "b.1")
    with capture_logs():
        desk.turn()
    assert (SetAside, True) == (type(bad.fates[0]), good.submitted)


def test_a_missing_performer_that_cannot_be_told_does_not_stop_the_desk(ledger: Ledger) -> None:
    ledger.poisoned.add("a.1")
    desk = desk_of(ledger)
    desk.missing("a.1")
    desk.missing("b.1")
    with capture_logs():
        desk.turn()
    assert [("performer_missing", ("b.1",))] == ledger.calls


def test_a_bell_that_raises_does_not_stop_the_desk(ledger: Ledger) -> None:
    class Broken(Ring):
        def __hash__(self) -> int:
            raise RuntimeError

    desk = desk_of(ledger)
    desk.rang(Broken("a.1"))
    (good,) = rung(desk, "b.1")
    with capture_logs():
        desk.turn()
    assert good.submitted


# --- limits (B114) ----------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B114")
def test_never_more_calls_of_a_capability_than_its_limit(ledger: Ledger) -> None:
    desk = desk_of(ledger, slots=10, limits=[Limit("a", 2)])
    bells = rung(desk, *(f"{number}.1" for number in range(5)))
    running: list[Ring] = []
    for _ in range(5):
        desk.turn()
        running = [bell for bell in bells if bell.submitted and not bell.fates]
        assert len(running) <= 2
        desk.ended(running[0], DONE)
    desk.turn()
    assert all(bell.fates for bell in bells)


def test_who_waits_for_a_limit_is_not_claimed_and_others_pass(ledger: Ledger) -> None:
    desk = desk_of(ledger, slots=10, limits=[Limit("a", 1)])
    held, kept, other = Ring("1.1"), Ring("2.1"), Ring("3.1", capability="b@1")
    for bell in (held, kept, other):
        desk.rang(bell)
    desk.turn()
    assert [("claim", ("1.1", "3.1"))] == ledger.calls


# --- revokes, leases, lines -------------------------------------------------------------------------------------------


def test_a_bell_that_is_revoked_before_its_turn_loses_it(ledger: Ledger) -> None:
    desk = desk_of(ledger, slots=0)
    (bell,) = rung(desk, "a.1")
    desk.turn()
    desk.withdraw(bell)
    desk.turn()
    assert ([Withdrawn()], False) == (bell.fates, desk.holds("a.1"))


def test_a_bell_that_was_called_off_while_it_waited_is_not_claimed(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1", make=lambda name: Ring(name, called_off=True))
    desk.turn()
    assert ([Withdrawn()], []) == (bell.fates, ledger.calls)


def test_a_claim_that_is_not_held_any_more_is_killed_once_and_not_renewed(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1")
    desk.turn()
    with capture_logs():
        for _ in range(2):
            desk.not_held([("a.1", 1)])
            desk.turn()
    assert ([1], []) == (bell.killed, desk.claims())
    desk.ended(bell, NotHeld())
    desk.turn()
    assert ([Recorded(NotHeld())], [("claim", ("a.1",))]) == (bell.fates, ledger.calls)


def test_a_claim_under_another_fence_is_not_meant(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1")
    desk.turn()
    desk.not_held([("a.1", 7)])
    desk.turn()
    assert [] == bell.killed


def test_a_new_line_forgets_who_waits_and_keeps_who_runs(ledger: Ledger) -> None:
    desk = desk_of(ledger, slots=1)
    running, waiting = rung(desk, "a.1", "b.1")
    desk.turn()
    running.started = True
    desk.reconnected(lambda _: True)
    assert (True, False) == (desk.holds("a.1"), desk.holds("b.1"))
    desk.turn()
    assert ([], [Forgotten()]) == (running.fates, waiting.fates)


@pytest.mark.parametrize(("effect", "told"), (("idempotent", "hand_back"), ("once", "lost")))
def test_what_the_pool_forgot_with_the_old_line_goes_back_or_is_in_doubt(
    ledger: Ledger, effect: str, told: str
) -> None:
    desk = desk_of(ledger)
    rung(desk, "a.1", make=lambda name: Ring(name, effect=effect))
    desk.turn()
    desk.reconnected(lambda _: True)
    desk.turn()
    assert (told, ("a.1",)) == ledger.calls[-1]


def test_a_pool_that_forgets_nothing_gives_nothing_back(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1")
    desk.turn()
    desk.reconnected(lambda _: False)
    desk.turn()
    assert [] == bell.fates


# --- the end ----------------------------------------------------------------------------------------------------------


def test_a_planned_stop_gives_back_what_was_claimed_and_not_submitted(ledger: Ledger) -> None:
    posted: list[Callable[[], None]] = []
    desk = Desk(ledger, worker="w1", slots=lambda: 2, post=posted.append)
    bells = rung(desk, "a.1", "b.1", "c.1", make=lambda name: Ring(name, desk=desk))
    desk.turn()
    desk.close()
    desk.turn()
    for call in posted:
        call()
    assert ("hand_back", ("a.1", "b.1")) == ledger.calls[-1]
    assert [[Recorded(HandedBack())], [Recorded(HandedBack())], [Forgotten()]] == [bell.fates for bell in bells]


def test_a_planned_stop_records_what_still_answers(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1")
    desk.turn()
    bell.started = True
    desk.close()
    desk.turn()
    desk.ended(bell, DONE)
    desk.turn()
    assert [Recorded(DONE)] == bell.fates


def test_what_rings_after_the_stop_began_is_not_begun(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    desk.close()
    (bell,) = rung(desk, "a.1")
    desk.turn()
    assert ([], []) == (bell.fates, ledger.calls)


def test_a_cold_stop_tells_what_had_begun_from_what_had_not(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    begun, not_begun = rung(desk, "a.1", "b.1")
    desk.turn()
    begun.started = True
    desk.start()
    assert desk.finish(10)
    assert [("hand_back", ("b.1",)), ("stopped", ("a.1",))] == sorted(ledger.calls[1:])
    assert [Recorded, Recorded] == [type(bell.fates[0]) for bell in (begun, not_begun)]


def test_a_stop_does_not_wait_for_ever_for_a_store_that_is_away(ledger: Ledger) -> None:
    desk = desk_of(ledger)
    (bell,) = rung(desk, "a.1")
    desk.turn()
    ledger.away = True
    desk.ended(bell, DONE)
    desk.start()
    with capture_logs() as lines:
        assert not desk.finish(0.2)
    assert {"event": "ends_not_recorded", "log_level": "error", "attempts": ["a.1"]} in lines
