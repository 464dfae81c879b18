"""What a process of the pool runs: a receipt for everything, and the truth for Celery's eyes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from billiard.exceptions import SoftTimeLimitExceeded
from celery import Celery
from celery.app.trace import trace_task_ret
from celery.exceptions import WorkerTerminate

from orchestrator.core.data import DataLimits
from orchestrator.core.outcomes import Ambiguous, Failed, Skipped, Succeeded, Suspended, receipt_of
from orchestrator.performers.invocation import AttemptOver, Invocation
from orchestrator.performers.performer import Performer
from orchestrator.performers.table import PerformerTable
from tests.workers.ledger import work
from workers.child import Attempted, call_off, forget_call, run_attempt, shown
from workers.tasks import register


@pytest.fixture
def app() -> Iterator[Celery]:
    """An application whose tasks run here; nothing is sent anywhere."""
    made = Celery("test", set_as_current=False, broker="memory://", backend=None)
    yield made
    made.close()


def ran(app: Celery, function: Callable[[Invocation], Any], *, limits: DataLimits | None = None) -> Attempted:
    """What comes back from the pool for a performer."""
    register(app, PerformerTable([Performer("a", 1, "idempotent", function)]), limits or DataLimits())
    attempt = work("e.1")

    trace: Any = partial(trace_task_ret, app=app)

    return run_attempt(trace, "a@1", "e.1", {"id": "e.1"}, ((attempt,), {}, None), None, None)


def test_a_success_comes_back_as_its_receipt(app: Celery) -> None:
    answered = ran(app, lambda call: {"item": call.input["item"]})
    assert receipt_of({"item": None}) == answered.receipt
    assert "" == answered.traceback


def test_what_is_raised_comes_back_with_where_it_was_raised(app: Celery) -> None:
    def function(call: Invocation) -> None:
        raise ValueError("boom")

    answered = ran(app, function)
    assert "ValueError: boom" == answered.receipt.reason
    assert 'raise ValueError("boom")' in answered.traceback


def test_a_failure_that_was_answered_comes_back_without_a_stack(app: Celery) -> None:
    answered = ran(app, lambda _: Failed("no stock", code="NO_STOCK"))
    assert ("no stock", "") == (answered.receipt.reason, answered.traceback)


def test_an_exception_that_cannot_be_pickled_comes_back_all_the_same(app: Celery) -> None:
    class Odd(Exception):
        def __init__(self, _: object) -> None:
            super().__init__()

        def __reduce__(self) -> Any:
            raise TypeError

    def function(call: Invocation) -> None:
        raise Odd(1)

    assert "Odd" == ran(app, function).receipt.reason


def test_the_limits_of_data_are_those_of_the_settings(app: Celery) -> None:
    assert "InvalidOutput" == ran(app, lambda _: "x" * 100, limits=DataLimits(max_bytes=50)).receipt.kind


def test_a_soft_time_limit_that_gets_out_of_the_performer_is_a_timeout(app: Celery) -> None:
    def function(call: Invocation) -> None:
        raise SoftTimeLimitExceeded

    assert "TimedOut" == ran(app, function).receipt.kind


def test_a_worker_that_ends_is_not_an_answer(app: Celery) -> None:
    def function(call: Invocation) -> None:
        raise WorkerTerminate

    with pytest.raises(WorkerTerminate):
        ran(app, function)


def test_a_performer_that_raises_an_interrupt_itself_has_failed(app: Celery) -> None:
    def function(call: Invocation) -> None:
        raise KeyboardInterrupt

    assert "KeyboardInterrupt" == ran(app, function).receipt.reason


def test_a_performer_that_was_called_off_says_so_at_its_heartbeat(app: Celery) -> None:
    call_off("e.1", 1)
    try:
        answered = ran(app, Invocation.heartbeat)
        assert (True, "") != (answered.called_off, answered.receipt.reason)
    finally:
        forget_call("e.1", 1)
    assert not ran(Celery("other", set_as_current=False), Invocation.heartbeat).called_off


def test_a_task_that_is_called_without_a_claimed_attempt_says_what_to_do(app: Celery) -> None:
    register(app, PerformerTable([Performer("a", 1, "idempotent", lambda _: 1)]), DataLimits())
    with pytest.raises(TypeError, match="performs attempts that a worker has claimed; start a workflow instead"):
        app.tasks["a@1"]("e.1")


def test_what_fails_around_the_performer_is_a_failure_of_the_attempt() -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("a signal handler of the application")

    def silent(*_: Any) -> Any:
        return 0, None, 0.0

    assert "RuntimeError: a signal handler of the application" == run_attempt(broken).receipt.reason
    assert "the attempt ended before its performer was called" == run_attempt(silent).receipt.reason


def test_monitors_see_a_few_words_and_never_the_output() -> None:
    answers = (
        Succeeded("approve", {"secret": 1}),
        Skipped("none"),
        Failed("no stock", code="N"),
        Ambiguous("dead"),
        Suspended("k"),
    )
    expected = ("approve", "skipped: none", "Error: no stock (N)", "ambiguous: dead", "suspended")
    assert expected == tuple(shown(receipt_of(answer)) for answer in answers)


def test_being_called_off_is_no_error_of_the_performer() -> None:
    assert issubclass(AttemptOver, Exception)
