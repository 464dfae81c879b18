"""Ids: what may be one, and that the derived ones never meet."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.ids import MAX_ID_BYTES, attempt_id, execution_id, id_problem, run_id

ids = st.text(min_size=1, max_size=8)
EXPECTED_RUN = "c78774c49b7f2edb362de43ca598468b"
EXPECTED_EXECUTION = "80a8a812cdec6faa50b5242371b6e7c2"

branches = st.lists(st.tuples(ids, st.integers(1, 3), ids), max_size=2).map(tuple)


@pytest.mark.parametrize(
    "value", ("a", "orders/2026/A-17", "Grüße 日本", " ", "a\nb", "x" * 255, "é" * 127, "\U0001f600" * 63)
)
def test_any_text_of_at_most_255_bytes_is_an_id(value: str) -> None:
    assert None is id_problem(value)


@pytest.mark.parametrize(
    ("value", "problem"),
    (
        ("", "must not be empty"),
        ("x" * 256, "is 256 bytes long, at most 255 are allowed"),
        ("é" * 128, "is 256 bytes long, at most 255 are allowed"),
        ("a\x00", "must not hold the character NUL"),
        ("\ud800", "must not hold half of a surrogate pair"),
        (None, "must be text, not NoneType"),
        (7, "must be text, not int"),
        (b"a", "must be text, not bytes"),
    ),
)
def test_what_is_no_id_is_told_why(value: object, problem: str) -> None:
    assert problem == id_problem(value)


@given(st.text())
def test_what_is_an_id_can_be_stored(value: str) -> None:
    if id_problem(value) is None:
        assert 1 <= len(value.encode()) <= MAX_ID_BYTES


def test_derived_ids_stay_the_same_for_ever() -> None:
    """They are in every journal: another text here loses the runs and the idempotency of the past."""
    run = run_id("acme", "orders.ship", "A-17")
    execution = execution_id(run, (("each-line", 1, "line-1"),), "ship", 2)
    assert EXPECTED_RUN == run
    assert EXPECTED_EXECUTION == execution
    assert f"{EXPECTED_EXECUTION}.3" == attempt_id(execution, 3)


@pytest.mark.behaviour("B24")
def test_the_same_key_in_two_scopes_is_two_runs() -> None:
    assert run_id("acme", "w", "k") != run_id("globex", "w", "k")


@given(st.tuples(ids, ids, ids), st.tuples(ids, ids, ids))
def test_two_starts_share_a_run_only_when_all_their_parts_are_equal(one: Any, other: Any) -> None:
    assert (one == other) == (run_id(*one) == run_id(*other))


@pytest.mark.parametrize(
    ("one", "other"),
    ((("a", "b/c", "d"), ("a/b", "c", "d")), (("a", '","', "b"), ('a","', "", "b")), (("", "a", "a"), ("a", "", "a"))),
)
def test_no_separator_in_a_part_moves_the_border_between_parts(one: tuple[str, str, str], other: Any) -> None:
    assert run_id(*one) != run_id(*other)


calls = st.tuples(ids, branches, ids, st.integers(1, 20))


@given(calls, calls)
def test_two_executions_share_an_id_only_when_run_branch_node_and_visit_are_equal(one: Any, other: Any) -> None:
    assert (one == other) == (execution_id(*one) == execution_id(*other))


def test_visits_and_branches_of_one_node_have_different_keys() -> None:
    keys = {
        execution_id("r", branch, "n", visit)
        for branch in ((), (("f", 1, "a"),), (("f", 1, "b"),), (("f", 2, "a"),), (("f", 1, "a"), ("g", 1, "a")))
        for visit in (1, 2, 11)
    }
    assert 15 == len(keys)


def test_a_run_and_an_execution_never_share_an_id() -> None:
    assert run_id("s", "w", "k") != execution_id("s", (), "w", 1)


@given(calls, st.integers(1, 1000))
def test_derived_ids_are_ids(call: Any, number: int) -> None:
    assert None is id_problem(run_id(call[0], "w", call[2]))
    assert None is id_problem(attempt_id(execution_id(*call), number))


@given(calls, st.integers(1, 99), st.integers(1, 99))
def test_attempts_of_one_execution_are_told_apart(call: Any, one: int, other: int) -> None:
    execution = execution_id(*call)
    assert (one == other) == (attempt_id(execution, one) == attempt_id(execution, other))
