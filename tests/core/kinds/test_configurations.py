"""What each kind of engine node reads from its configuration; what it refuses is in tests/definitions.py."""

from __future__ import annotations

from datetime import timedelta

import pytest

from orchestrator.core.kinds import approval, for_each, join, wait
from orchestrator.core.shapes import NamedVersion


def test_a_wait_is_for_any_signal_and_for_ever_when_it_says_nothing() -> None:
    assert ("signal", None, None, None) == (
        wait.read("{}").kind,
        wait.read("{}").after,
        wait.read("{}").expires_after,
        wait.read("{}").signal,
    )


@pytest.mark.behaviour("B64")
@pytest.mark.parametrize(
    "text", ('{"expiresAfter":"00:00:00"}', '{"expiresAfter":"PT0S"}', '{"expiresAfter":null}', "{}")
)
def test_no_expiry_and_an_expiry_of_zero_are_for_ever(text: str) -> None:
    assert wait.read(text).expires_after is None
    assert approval.read(text).expires_after is None


def test_a_timer_of_zero_keeps_its_zero() -> None:
    assert timedelta(0) == wait.read('{"kind":"timer","after":"00:00:00"}').after


def test_a_contract_is_an_object_or_text() -> None:
    expected = NamedVersion(id="paid", version=2)
    assert expected == wait.read('{"signal":{"id":"paid","version":2}}').signal
    assert expected == wait.read('{"signal":"paid@2"}').signal
    assert "paid@2" == str(expected)


@pytest.mark.behaviour("B19")
def test_an_approval_does_not_care_for_a_kind() -> None:
    assert timedelta(days=2) == approval.read('{"kind":"timer","expiresAfter":"2.00:00:00"}').expires_after


@pytest.mark.behaviour("B72")
@pytest.mark.parametrize(("written", "meant"), (("0", 1), ("-1", 1), ("1", 1), ("4", 4), ("null", 1)))
def test_a_parallelism_below_one_is_one(written: str, meant: int) -> None:
    text = f'{{"itemsFrom":"a","itemsProperty":"b","maxParallelism":{written}}}'
    assert meant == for_each.read(text).max_parallelism


def test_a_for_each_is_read_in_both_spellings() -> None:
    camel = '{"itemsFrom":"a","itemsProperty":"b","maxParallelism":4}'
    snake = '{"items_from":"a","items_property":"b","max_parallelism":4}'
    assert for_each.read(camel) == for_each.read(snake)
    assert ("a", "b", 4) == (
        for_each.read(camel).items_from,
        for_each.read(camel).items_property,
        for_each.read(camel).max_parallelism,
    )


def test_a_join_waits_for_all_when_it_says_nothing_else() -> None:
    read = join.read('{"forEach":"fan"}')
    assert ("fan", "all", None) == (read.for_each, read.mode, read.threshold)


def test_a_join_of_at_least_some_has_a_threshold() -> None:
    read = join.read('{"forEach":"fan","mode":"atLeast","threshold":3}')
    assert ("atLeast", 3) == (read.mode, read.threshold)


@pytest.mark.parametrize(
    "text",
    ('{"mode":"most"}', '{"mode":"at_least"}', '{"threshold":"3"}', '{"threshold":3.0}', '{"forEach":1}', "[]", "{"),
)
def test_reading_what_does_not_fit_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        join.read(text)


def test_a_configuration_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        join.read('{"forEach":"fan"}').mode = "any"  # type: ignore[misc]
