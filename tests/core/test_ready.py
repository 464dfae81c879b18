"""The ready queue: the same order as a sorted list, whatever comes and goes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.ready import Entry, ReadyQueue
from tests.core.invariants import drained

entries = st.builds(Entry, st.integers(0, 5), st.integers(1, 99), st.sampled_from("abcdef"))


@given(
    st.lists(entries, unique_by=lambda entry: entry.born, max_size=8),
    st.lists(entries, unique_by=lambda entry: entry.born, max_size=12),
    st.lists(st.integers(0, 30), max_size=30),
)
def test_it_hands_out_the_earliest_item_and_within_it_the_oldest(
    first: list[Entry], later: list[Entry], moves: list[int]
) -> None:
    queue = ReadyQueue().with_first(tuple(sorted(first)))
    expected = sorted(first)
    for move in moves:
        if move % 3 == 0 and later:
            entry = later.pop()
            if entry not in expected:
                queue, expected = queue.with_entry(entry), sorted([*expected, entry])
        elif move % 3 == 1 and expected:
            gone = expected.pop(move % len(expected))
            queue = queue.without(gone)
        elif expected:
            queue, expected = queue.without(expected[0]), expected[1:]
        assert (expected[0] if expected else None) == queue.head()
        assert len(expected) == len(queue)
    assert expected == drained(queue)


def test_taking_away_what_is_not_there_changes_nothing() -> None:
    queue = ReadyQueue().with_first((Entry(0, 1, "a"), Entry(1, 2, "b"))).with_entry(Entry(0, 3, "c"))
    assert queue == queue.without(Entry(0, 9, "z"))


def test_a_queue_is_a_value() -> None:
    queue = ReadyQueue().with_first((Entry(0, 1, "a"),))
    queue.with_entry(Entry(0, 2, "b"))
    queue.without(Entry(0, 1, "a"))
    assert [Entry(0, 1, "a")] == drained(queue)
