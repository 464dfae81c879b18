"""Every fact is told in a sentence that a person understands, on one line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestrator.core.codec import fact_document
from orchestrator.core.data import JsonText
from orchestrator.core.facts import (
    FACT_TYPES,
    ExecutionRef,
    Fact,
    Step,
    Trigger,
    WorkflowBranchesFannedOut,
    WorkflowBranchesJoined,
    WorkflowJobStopped,
    WorkflowNodeAttemptFailed,
    WorkflowNodeFailed,
    WorkflowNodeInputPinned,
    WorkflowNodeOperationCompleted,
    WorkflowNodeOutcomeAmbiguous,
    WorkflowNodeReconciled,
    WorkflowNodeScheduled,
    WorkflowNodeSkipped,
    WorkflowNodeSucceeded,
    WorkflowNodesUnreachable,
    WorkflowRunAdmitted,
    WorkflowRunCancelled,
    WorkflowRunFailed,
    WorkflowRunNeedsReconciliation,
    WorkflowRunSucceeded,
    WorkflowWaitCancelled,
    WorkflowWaitOpened,
    WorkflowWaitResolved,
)
from orchestrator.core.journal import JournalEntry
from orchestrator.core.outcomes import FailureKind, Receipt
from orchestrator.errors import UnknownFact
from orchestrator.telling import MOST_SHOWN, Tone, tell

BEGIN = datetime(2026, 1, 15, 10, 0, tzinfo=UTC)
NOW = BEGIN + timedelta(seconds=12)

ROOT = ExecutionRef("e1", "charge", (), 1)
AGAIN = ExecutionRef("e2", "charge", (), 2)
LINE = ExecutionRef("e3", "ship-line", (Step("per-line", 1, "11"),), 1)
FAN_OUT = ExecutionRef("e4", "per-line", (), 1)
JOIN = ExecutionRef("e5", "all-shipped", (), 1)
REVIEW = ExecutionRef("e6", "review", (), 1)

DEFINITION = JsonText('{"workflow":"orders.fulfil","version":3}')

#: A fact, what the journal shows beside its own fields, and how it is told.
SENTENCES: tuple[tuple[Fact, dict[str, Any], Tone, str], ...] = (
    (
        WorkflowRunAdmitted("r", "default", "k", DEFINITION, Trigger("manual", "order", "11008"), None),
        {},
        Tone.PLAIN,
        "orders.fulfil@3 starts for order 11008 (manual)",
    ),
    (
        WorkflowRunAdmitted("r", "default", "k", DEFINITION, Trigger("schedule"), None),
        {},
        Tone.PLAIN,
        "orders.fulfil@3 starts (schedule)",
    ),
    (WorkflowNodeScheduled(ROOT, 1), {}, Tone.PLAIN, "charge: a worker is called"),
    (WorkflowNodeScheduled(AGAIN, 2), {}, Tone.PLAIN, "charge (visit 2): a worker is called for attempt 2"),
    (
        WorkflowNodeInputPinned(LINE, {"start": 1, "load": 5}, {"quote": 7}),
        {},
        Tone.ASIDE,
        "ship-line [11]: its input is pinned: start, load, the failure of quote",
    ),
    (
        WorkflowNodeOperationCompleted(
            LINE,
            1,
            Receipt("failed", kind=FailureKind.ERROR, reason="none left", code="NO_STOCK"),
            worker="w1",
            claimed_at=NOW - timedelta(milliseconds=12),
        ),
        {},
        Tone.ASIDE,
        "ship-line [11]: w1 answers after 12 ms: failed, NO_STOCK",
    ),
    (
        WorkflowNodeOperationCompleted(ROOT, 1, Receipt("suspended", key="k-1")),
        {},
        Tone.ASIDE,
        "charge: the performer answers: suspended, the answer comes by the key 'k-1'",
    ),
    (WorkflowNodeSucceeded(ROOT, "next", None), {"output": {}}, Tone.GOOD, "charge succeeded → next"),
    (
        WorkflowNodeSucceeded(LINE, "next", 9),
        {"output": {"parcel": "P-1"}},
        Tone.GOOD,
        'ship-line [11] succeeded → next, {"parcel": "P-1"}',
    ),
    (WorkflowNodeSucceeded(ROOT, None, None), {}, Tone.GOOD, "charge succeeded"),
    (WorkflowNodeSkipped(ROOT, "nothing to pay"), {}, Tone.GOOD, "charge had nothing to do: nothing to pay"),
    (
        WorkflowNodeAttemptFailed(ROOT, 1, FailureKind.TIMED_OUT, "too slow", retry_due=NOW + timedelta(seconds=10)),
        {},
        Tone.BAD,
        "charge: attempt 1 failed, tried again in 10 s: TimedOut, too slow",
    ),
    (
        WorkflowNodeAttemptFailed(LINE, 1, FailureKind.ERROR, "none left", "NO_STOCK"),
        {},
        Tone.ASIDE,
        "ship-line [11]: attempt 1 failed, not tried again: NO_STOCK, none left",
    ),
    (
        WorkflowNodeFailed(LINE, FailureKind.ERROR, "none left", "NO_STOCK"),
        {},
        Tone.BAD,
        "ship-line [11] failed for good: NO_STOCK, none left",
    ),
    (
        WorkflowNodeFailed(ROOT, FailureKind.ERROR, "refused", outlet="failed"),
        {},
        Tone.BAD,
        "charge failed for good → failed: refused",
    ),
    (
        WorkflowNodeOutcomeAmbiguous(ROOT, 1, "the line went dead"),
        {},
        Tone.BAD,
        "charge: nobody knows what attempt 1 did: the line went dead",
    ),
    (
        WorkflowRunNeedsReconciliation(ROOT),
        {},
        Tone.WAITING,
        "the run stops until a person says what became of charge",
    ),
    (
        WorkflowNodeReconciled(ROOT, Receipt("succeeded", outlet="next"), "anna"),
        {},
        Tone.PLAIN,
        "anna says what became of charge: succeeded → next",
    ),
    (
        WorkflowBranchesFannedOut(FAN_OUT, None),
        {"items": [{"key": "11"}, {"key": "42"}]},
        Tone.PLAIN,
        "per-line opens 2 branches: 11, 42",
    ),
    (WorkflowBranchesFannedOut(FAN_OUT, None), {"items": []}, Tone.PLAIN, "per-line opens 0 branches"),
    (
        WorkflowBranchesJoined(JOIN, FAN_OUT, "partial"),
        {"output": {"11": {"status": "failed"}, "42": {"status": "succeeded"}, "72": {"status": "succeeded"}}},
        Tone.PLAIN,
        "all-shipped gathers per-line → partial: 1 failed, 2 succeeded",
    ),
    (
        WorkflowBranchesJoined(JOIN, FAN_OUT, "completed"),
        {"output": {}},
        Tone.PLAIN,
        "all-shipped gathers per-line → completed: no branch",
    ),
    (
        WorkflowWaitOpened(REVIEW, "w", "approval", NOW + timedelta(days=2)),
        {},
        Tone.WAITING,
        "review waits for a person to approve or reject, at most 2 days",
    ),
    (WorkflowWaitOpened(REVIEW, "w", "timer", NOW + timedelta(seconds=3)), {}, Tone.WAITING, "review waits 3 s"),
    (
        WorkflowWaitOpened(REVIEW, "w", "signal", signal="paid@1"),
        {},
        Tone.WAITING,
        "review waits for the signal paid@1",
    ),
    (WorkflowWaitOpened(REVIEW, "w", "signal"), {}, Tone.WAITING, "review waits for the signal that comes first"),
    (
        WorkflowWaitOpened(REVIEW, "w", "completion", NOW + timedelta(minutes=90), key="job/1"),
        {},
        Tone.WAITING,
        "review is suspended until it is completed by the key 'job/1', at most 90 min",
    ),
    (
        WorkflowWaitResolved(REVIEW, "w", "approved", actor="anna"),
        {"output": {"note": "fine"}},
        Tone.PLAIN,
        'review is approved by anna, {"note": "fine"}',
    ),
    (WorkflowWaitResolved(REVIEW, "w", "elapsed"), {"output": {}}, Tone.PLAIN, "review: the time has come"),
    (WorkflowWaitResolved(REVIEW, "w", "expired"), {"output": {}}, Tone.PLAIN, "review: nobody came in time"),
    (
        WorkflowWaitResolved(REVIEW, "w", None, Receipt("failed", kind=FailureKind.ERROR, reason="x"), "anna"),
        {},
        Tone.PLAIN,
        "review is completed by anna: failed, Error",
    ),
    (
        WorkflowWaitCancelled(REVIEW, "w", "the join has fired"),
        {},
        Tone.PLAIN,
        "review is waited for no more: the join has fired",
    ),
    (
        WorkflowJobStopped(ROOT, 1, NOW + timedelta(seconds=30)),
        {},
        Tone.BAD,
        "charge: the worker of attempt 1 was stopped before it answered; it runs again in 30 s",
    ),
    (WorkflowNodesUnreachable(("confirm", "pick-up")), {}, Tone.PLAIN, "never reached: confirm, pick-up"),
    (WorkflowRunSucceeded(), {}, Tone.GOOD, "the run succeeded"),
    (
        WorkflowRunFailed(ROOT, FailureKind.PERFORMER_MISSING, "no performer is registered"),
        {},
        Tone.BAD,
        "the run failed at charge: PerformerMissing, no performer is registered",
    ),
    (
        WorkflowRunCancelled("anna", "changed our minds"),
        {},
        Tone.BAD,
        "the run was cancelled by anna: changed our minds",
    ),
    (WorkflowRunCancelled(), {}, Tone.BAD, "the run was cancelled by somebody"),
)


def entry(fact: Fact, beside: dict[str, Any], *, number: int = 1, at: datetime = NOW) -> JournalEntry:
    """The fact as a journal shows it."""
    return JournalEntry(number, type(fact).__name__, at, {**fact_document(fact), **beside})


@pytest.mark.parametrize(("fact", "beside", "tone", "sentence"), SENTENCES)
def test_a_fact_is_told_in_a_sentence(fact: Fact, beside: dict[str, Any], tone: Tone, sentence: str) -> None:
    (told,) = tell([entry(fact, beside)])
    assert (tone, sentence) == (told.tone, told.sentence)


def test_every_type_of_fact_is_told() -> None:
    assert set(FACT_TYPES) == {type(fact).__name__ for fact, _, _, _ in SENTENCES}


def test_the_success_that_follows_from_a_fact_of_the_engine_is_an_aside() -> None:
    resolved, performed = WorkflowWaitResolved(REVIEW, "w", "elapsed"), WorkflowNodeScheduled(ROOT, 1)
    succeeded = WorkflowNodeSucceeded(REVIEW, "elapsed", None)
    told = tell([entry(fact, {}) for fact in (resolved, succeeded, performed, succeeded)])
    assert [Tone.PLAIN, Tone.ASIDE, Tone.PLAIN, Tone.GOOD] == [one.tone for one in told]


def test_times_count_from_the_first_fact() -> None:
    (_, second) = tell([entry(WorkflowRunSucceeded(), {}, at=BEGIN), entry(WorkflowRunSucceeded(), {}, number=2)])
    assert (2, NOW, timedelta(seconds=12)) == (second.number, second.at, second.after)


def test_a_long_output_is_cut() -> None:
    (told,) = tell([entry(WorkflowNodeSucceeded(ROOT, "next", 1), {"output": "x" * 10_000})])
    assert len("charge succeeded → next, ") + MOST_SHOWN == len(told.sentence)
    assert told.sentence.endswith("…")


def test_nothing_that_a_performer_says_breaks_the_line_or_steers_the_terminal() -> None:
    (told,) = tell([entry(WorkflowNodeFailed(ROOT, FailureKind.ERROR, "a\x1b[31m\nb\u2028c\u202ed"), {})])
    assert "charge failed for good: a [31m b c d" == told.sentence


def test_a_fact_of_a_newer_release_is_a_loud_error() -> None:
    with pytest.raises(UnknownFact):
        list(tell([JournalEntry(1, "WorkflowRunPaused", NOW, {})]))
