"""What a performer is given, and how it learns that nobody waits for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from orchestrator.performers.invocation import AttemptOver, Invocation

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_the_idempotency_key_is_that_of_the_execution() -> None:
    assert "e1" == Invocation(input={}, execution_id="e1", attempt=2).idempotency_key


def test_a_heartbeat_before_the_deadline_does_nothing() -> None:
    Invocation(input={}, deadline=NOON, clock=lambda: NOON - timedelta(microseconds=1)).heartbeat()


def test_a_heartbeat_at_the_deadline_ends_the_attempt() -> None:
    call = Invocation(input={}, capability="a@1", attempt=2, deadline=NOON, clock=lambda: NOON)
    with pytest.raises(AttemptOver, match="attempt 2 of a@1 is past its deadline 2026-01-01T12:00:00") as raised:
        call.heartbeat()
    assert not raised.value.called_off


def test_a_heartbeat_after_the_attempt_was_called_off_ends_it() -> None:
    with pytest.raises(AttemptOver, match="called off") as raised:
        Invocation(input={}, called_off=lambda: True).heartbeat()
    assert raised.value.called_off


def test_an_invocation_built_by_hand_has_no_deadline() -> None:
    Invocation(input={}).heartbeat()


def test_what_is_logged_names_run_node_and_attempt() -> None:
    with capture_logs() as lines:
        Invocation(input={}, run_id="r", node_id="n", attempt=2).log.info("charged", amount=12)
    assert [{"event": "charged", "log_level": "info", "run": "r", "node": "n", "attempt": 2, "amount": 12}] == lines
