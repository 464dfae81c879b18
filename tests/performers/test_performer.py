"""The mark: what may be marked, and what is said when it may not."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.performers.invocation import Invocation
from orchestrator.performers.performer import Performer, marks_of, performer


@performer("orders.ship-line", version=1)
def ship_line(call: Invocation) -> str:
    return f"shipped {call.input}"


@performer("orders.load", version=3, effect="once")
async def load(call: Invocation) -> str:
    return f"loaded {call.input}"


def test_a_marked_function_stays_usable_as_it_was() -> None:
    assert "shipped 1" == ship_line(Invocation(input=1))
    assert "ship_line" == ship_line.__name__


def test_a_mark_says_capability_effect_and_place() -> None:
    (mark,) = marks_of(load)
    assert ("orders.load@3", "once") == (mark.capability, mark.effect)
    assert "test_performer.load (" in mark.place
    assert __file__ in mark.place


def test_idempotent_is_what_is_declared_when_nothing_is() -> None:
    assert ["idempotent"] == [mark.effect for mark in marks_of(ship_line)]


def test_one_function_may_perform_several_versions() -> None:
    @performer("a", version=1)
    @performer("a", version=2)
    def both(call: Invocation) -> None: ...

    assert {"a@1", "a@2"} == {mark.capability for mark in marks_of(both)}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    (
        ({"name": ""}, "must not be empty"),
        ({"name": 7}, "must be text"),
        ({"name": "x" * 255}, "shorten the name"),
        ({"version": 0}, "whole number from 1, not 0"),
        ({"version": True}, "whole number from 1, not True"),
        ({"version": "1"}, "whole number from 1, not '1'"),
        ({"version": 1.5}, "whole number from 1, not 1.5"),
        ({"effect": "sometimes"}, "'idempotent', 'safe', 'once', not 'sometimes'"),
    ),
)
def test_a_mark_that_cannot_be_is_refused_where_it_is_written(arguments: dict[str, Any], sentence: str) -> None:
    given: dict[str, Any] = {"name": "a", "version": 1} | arguments
    with pytest.raises(ValueError, match=sentence):
        performer(given.pop("name"), **given)


def test_what_is_no_function_is_not_marked() -> None:
    mark: Any = performer("a", version=1)
    for thing in (object(), int, "text"):
        with pytest.raises(TypeError, match="marks a function"):
            mark(thing)
    with pytest.raises(TypeError, match="cannot mark"):
        mark(len)


def test_a_generator_is_not_marked() -> None:
    def lazily(call: Invocation) -> Any:
        yield 1

    with pytest.raises(TypeError, match="yields"):
        performer("a", version=1)(lazily)


def test_an_attribute_that_is_no_mark_of_ours_means_nothing() -> None:
    def odd() -> None: ...

    odd.__celeriac_performers__ = "nonsense"  # type: ignore[attr-defined]
    assert () == marks_of(odd) == marks_of(Performer) == marks_of(None)
