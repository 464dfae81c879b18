"""From an attempt to a receipt: whatever a performer does, there is one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestrator.core.data import DataLimits, JsonText
from orchestrator.core.outcomes import Ambiguous, Failed, Receipt, Skipped, Succeeded, Suspended
from orchestrator.engine.work import Work
from orchestrator.performers.invocation import AttemptOver, Invocation
from orchestrator.performers.performer import Effect, Performer
from orchestrator.performers.performing import Surroundings, perform, performed
from orchestrator.performers.table import PerformerTable

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
WORK = Work(
    attempt_id="e.1",
    fence=1,
    scope="default",
    run_id="r",
    workflow="w",
    node_id="n",
    branch=(),
    visit=1,
    execution_id="e",
    attempt=1,
    capability="a@1",
    configuration=JsonText('{"rate":2}'),
    input=JsonText('{"item":null,"nodes":{}}'),
    claimed_at=NOON,
    deadline=NOON + timedelta(minutes=1),
)


def by(function: Callable[[Invocation], Any], effect: Effect = "idempotent") -> Performer:
    """A performer without a mark."""
    return Performer("a", 1, effect, function)


def raising(error: BaseException) -> Callable[[Invocation], Any]:
    """A performer that raises."""

    def function(call: Invocation) -> Any:
        raise error

    return function


def answering(answer: object) -> Callable[[Invocation], Any]:
    """A performer that answers this."""
    return lambda _: answer


@pytest.mark.parametrize(
    ("answer", "receipt"),
    (
        ({"a": 1}, Receipt("succeeded", outlet="next", output=JsonText('{"a":1}'))),
        (None, Receipt("succeeded", outlet="next", output=JsonText("null"))),
        (Succeeded("approve", [1]), Receipt("succeeded", outlet="approve", output=JsonText("[1]"))),
        (Skipped("nothing to do"), Receipt("skipped", reason="nothing to do")),
        (Ambiguous("line dead"), Receipt("ambiguous", reason="line dead")),
        (Suspended("key"), Receipt("suspended", key="key")),
    ),
)
def test_an_answer_becomes_its_receipt(answer: object, receipt: Receipt) -> None:
    assert receipt == perform(by(answering(answer)), WORK)


def test_a_failure_keeps_reason_code_and_whether_to_retry() -> None:
    receipt = perform(by(answering(Failed("no stock", code="NO_STOCK", retryable=False))), WORK)
    assert ("failed", "Error", "no stock", "NO_STOCK", False) == (
        receipt.status,
        receipt.kind,
        receipt.reason,
        receipt.code,
        receipt.retryable,
    )


@pytest.mark.behaviour("B39")
@pytest.mark.parametrize("error", (ValueError("boom"), SystemExit(3), GeneratorExit(), MemoryError(), Exception()))
def test_whatever_is_raised_is_a_failure_of_kind_error(error: BaseException) -> None:
    receipt = perform(by(raising(error)), WORK)
    assert ("failed", "Error", True) == (receipt.status, receipt.kind, receipt.retryable)
    assert type(error).__name__ in (receipt.reason or "")


def test_an_exception_whose_text_cannot_be_made_is_a_failure_like_any() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert "Mute, whose text cannot be made, was raised" == perform(by(raising(Mute())), WORK).reason


def test_an_answer_that_cannot_be_read_is_invalid_output() -> None:
    class Mute:
        def __str__(self) -> str:
            raise RuntimeError

    receipt = perform(by(answering(Failed(Mute()))), WORK)  # type: ignore[arg-type]
    assert ("InvalidOutput", "the answer of type Failed cannot be read: RuntimeError") == (receipt.kind, receipt.reason)


@pytest.mark.behaviour("B44")
def test_output_over_the_limit_is_invalid_output() -> None:
    receipt = perform(by(answering("x" * 100)), WORK, DataLimits(max_bytes=50))
    assert "InvalidOutput" == receipt.kind


def test_a_coroutine_function_runs_on_a_fresh_loop_each_time() -> None:
    loops = []

    async def function(call: Invocation) -> int:
        await asyncio.sleep(0)
        loops.append(asyncio.get_running_loop())
        return 1

    for _ in range(2):
        assert "succeeded" == perform(by(function), WORK).status
    assert loops[0] is not loops[1]


def test_a_coroutine_function_runs_where_a_loop_runs_already() -> None:
    async def function(call: Invocation) -> int:
        return 1

    async def outer() -> Receipt:
        return perform(by(function), WORK)

    assert "succeeded" == asyncio.run(outer()).status


def test_the_interrupt_of_a_person_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        perform(by(raising(KeyboardInterrupt())), WORK)


def test_what_the_carrier_names_as_its_own_goes_through() -> None:
    with pytest.raises(SystemExit):
        performed(by(raising(SystemExit())), WORK, surroundings=Surroundings(goes_through=bool))


def test_a_performer_sees_its_own_copy_of_input_and_configuration() -> None:
    def function(call: Invocation) -> Any:
        call.input["nodes"]["x"] = 1
        return {**call.configuration, "input": call.input, "key": call.idempotency_key}

    for _ in range(2):
        expected = '{"rate":2,"input":{"item":null,"nodes":{"x":1}},"key":"e"}'
        assert expected == perform(by(function), WORK).output


@pytest.mark.behaviour("B21")
def test_a_table_without_the_exact_version_answers_that_the_performer_is_missing() -> None:
    table = PerformerTable([by(answering(1))])
    assert "succeeded" == perform(table, WORK).status
    missing = perform(table, replace(WORK, capability="a@2"))
    assert ("PerformerMissing", False) == (missing.kind, missing.retryable)


def late(call: Invocation) -> None:
    """Works until its time is over."""
    call.heartbeat()
    raise AssertionError("the deadline was not noticed")


AFTER_THE_DEADLINE = Surroundings(clock=lambda: NOON + timedelta(hours=1))


def test_a_performer_that_gives_up_at_its_deadline_timed_out() -> None:
    receipt = performed(by(late), WORK, surroundings=AFTER_THE_DEADLINE).receipt
    assert ("failed", "TimedOut", True) == (receipt.status, receipt.kind, receipt.retryable)


def test_a_performer_of_effect_once_that_gives_up_at_its_deadline_is_ambiguous() -> None:
    assert "ambiguous" == performed(by(late, "once"), WORK, surroundings=AFTER_THE_DEADLINE).receipt.status


def test_no_clock_no_deadline() -> None:
    assert "Error" == perform(by(late), WORK).kind


def test_time_is_up_by_whatever_exception_the_carrier_says_so() -> None:
    surroundings = Surroundings(time_is_up=(ZeroDivisionError,))
    assert "TimedOut" == performed(by(raising(ZeroDivisionError())), WORK, surroundings=surroundings).receipt.kind


def test_a_performer_that_gives_up_when_called_off_has_no_receipt_worth_recording() -> None:
    result = performed(by(late), WORK, surroundings=Surroundings(called_off=lambda: True))
    assert result.called_off
    assert isinstance(result.error, AttemptOver)


def test_a_deep_recursion_in_a_performer_is_a_failure() -> None:
    def deep(call: Invocation) -> Any:
        return deep(call)

    assert sys.getrecursionlimit() < 10_000
    assert "RecursionError" in (perform(by(deep), WORK).reason or "")
