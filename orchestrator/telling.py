"""A run's journal told in sentences, one for each fact, for people who read along. How they are printed is not here."""

from __future__ import annotations

import enum
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, assert_never

from orchestrator.core.codec import fact_from
from orchestrator.core.facts import (
    ExecutionRef,
    Fact,
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
from orchestrator.core.outcomes import Receipt

#: The user's JSON is shown up to so many characters.
MOST_SHOWN: Final = 100

#: Control characters, line ends, and what turns the direction of writing.
_STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


#: What an engine's own success follows from has told the same already.
_SAYS_IT_ALL = (WorkflowRunAdmitted, WorkflowBranchesFannedOut, WorkflowBranchesJoined, WorkflowWaitResolved)


class Tone(enum.StrEnum):
    """What a fact means to somebody who skims."""

    PLAIN = "plain"
    GOOD = "good"
    BAD = "bad"
    #: The run stands until somebody or something comes.
    WAITING = "waiting"
    #: Book-keeping: a short telling leaves it out.
    ASIDE = "aside"


@dataclass(frozen=True, slots=True)
class Told:
    """One fact, told."""

    number: int
    at: datetime
    #: Since the run was admitted.
    after: timedelta
    type: str
    tone: Tone
    sentence: str


def tell(journal: Iterable[JournalEntry]) -> Iterator[Told]:
    """Every entry of a journal, from its first, as a sentence. Raises `UnknownFact` for one of a newer release."""
    begin: datetime | None = None
    before: Fact | None = None
    for entry in journal:
        begin = begin or entry.at
        fact = fact_from(entry.type, json.dumps(entry.data), None)
        tone, text = _told(fact, entry.data, entry.at)
        if isinstance(fact, WorkflowNodeSucceeded) and isinstance(before, _SAYS_IT_ALL):
            tone = Tone.ASIDE
        before = fact
        yield Told(entry.number, entry.at, entry.at - begin, entry.type, tone, plain(text))


def plain(text: str) -> str:
    """The text on one line, without characters that would steer a terminal."""
    return _STEERING.sub(" ", text)


def _told(fact: Fact, data: Mapping[str, Any], at: datetime) -> tuple[Tone, str]:
    match fact:
        case WorkflowRunAdmitted(trigger=trigger):
            return Tone.PLAIN, f"{_workflow(data)} starts{_about(trigger)} ({trigger.kind})"
        case WorkflowNodeScheduled(execution=ref, attempt=number):
            again = f" for attempt {number}" if number > 1 else ""
            return Tone.PLAIN, f"{_name(ref)}: a worker is called{again}"
        case WorkflowNodeInputPinned(execution=ref, nodes=nodes, failures=failures):
            seen = ", ".join([*nodes, *(f"the failure of {node}" for node in failures)])
            return Tone.ASIDE, f"{_name(ref)}: its input is pinned: {seen or 'nothing but the trigger'}"
        case WorkflowNodeOperationCompleted(execution=ref, outcome=outcome, worker=worker, claimed_at=claimed):
            took = f" after {_span(at - claimed)}" if claimed else ""
            return Tone.ASIDE, f"{_name(ref)}: {worker or 'the performer'} answers{took}: {_outcome(outcome)}"
        case WorkflowNodeSucceeded(execution=ref, outlet=outlet):
            return Tone.GOOD, f"{_name(ref)} succeeded{_through(outlet)}{_shown(data.get('output'))}"
        case WorkflowNodeSkipped(execution=ref, reason=reason):
            return Tone.GOOD, f"{_name(ref)} had nothing to do: {reason}"
        case WorkflowNodeAttemptFailed(execution=ref, attempt=number, retry_due=due):
            then = f"tried again in {_span(due - at)}" if due else "not tried again"
            return Tone.BAD if due else Tone.ASIDE, f"{_name(ref)}: attempt {number} failed, {then}: {_why(fact)}"
        case WorkflowNodeFailed(execution=ref, outlet=outlet):
            return Tone.BAD, f"{_name(ref)} failed for good{_through(outlet)}: {_why(fact)}"
        case WorkflowNodeOutcomeAmbiguous(execution=ref, attempt=number, reason=reason):
            return Tone.BAD, f"{_name(ref)}: nobody knows what attempt {number} did: {reason}"
        case WorkflowRunNeedsReconciliation(execution=ref):
            return Tone.WAITING, f"the run stops until a person says what became of {_name(ref)}"
        case WorkflowNodeReconciled(execution=ref, outcome=outcome, actor=actor):
            return Tone.PLAIN, f"{actor or 'somebody'} says what became of {_name(ref)}: {_outcome(outcome)}"
        case WorkflowBranchesFannedOut(execution=ref):
            keys = [str(item.get("key")) for item in data.get("items") or ()]
            return Tone.PLAIN, f"{_name(ref)} opens {_count(len(keys), 'branch', 'branches')}{_list(keys)}"
        case WorkflowBranchesJoined(execution=ref, fan_out=fan_out, outlet=outlet):
            statuses = _statuses(data.get("output"))
            return Tone.PLAIN, f"{_name(ref)} gathers {_name(fan_out)}{_through(outlet)}: {statuses}"
        case WorkflowWaitOpened():
            return Tone.WAITING, _opened(fact, at)
        case WorkflowWaitResolved():
            return Tone.PLAIN, _resolved(fact, data)
        case WorkflowWaitCancelled(execution=ref, reason=reason):
            return Tone.PLAIN, f"{_name(ref)} is waited for no more: {reason}"
        case WorkflowJobStopped(execution=ref, attempt=number, retry_due=due):
            then = f"; it runs again in {_span(due - at)}" if due else ""
            return Tone.BAD, f"{_name(ref)}: the worker of attempt {number} was stopped before it answered{then}"
        case WorkflowNodesUnreachable(nodes=nodes):
            return Tone.PLAIN, f"never reached{_list(nodes)}"
        case WorkflowRunSucceeded():
            return Tone.GOOD, "the run succeeded"
        case WorkflowRunFailed(execution=ref):
            return Tone.BAD, f"the run failed at {_name(ref)}: {_why(fact)}"
        case WorkflowRunCancelled(actor=actor, reason=reason):
            return Tone.BAD, f"the run was cancelled by {actor or 'somebody'}{f': {reason}' if reason else ''}"
        case _:
            assert_never(fact)


def _opened(fact: WorkflowWaitOpened, at: datetime) -> str:
    until = f", at most {_span(fact.deadline - at)}" if fact.deadline else ""
    match fact.wait_kind:
        case "timer":
            return f"{_name(fact.execution)} waits{f' {_span(fact.deadline - at)}' if fact.deadline else ''}"
        case "approval":
            return f"{_name(fact.execution)} waits for a person to approve or reject{until}"
        case "completion":
            return f"{_name(fact.execution)} is suspended until it is completed by the key {fact.key!r}{until}"
        case _:
            return f"{_name(fact.execution)} waits for the signal {fact.signal or 'that comes first'}{until}"


def _resolved(fact: WorkflowWaitResolved, data: Mapping[str, Any]) -> str:
    name = _name(fact.execution)
    by = f" by {fact.actor}" if fact.actor else ""
    if fact.outcome is not None:
        return f"{name} is completed{by}: {_outcome(fact.outcome)}"
    if fact.outlet in {"elapsed", "expired"}:
        return f"{name}: {'the time has come' if fact.outlet == 'elapsed' else 'nobody came in time'}"
    return f"{name} is {fact.outlet}{by}{_shown(data.get('output'))}"


# --- pieces of sentences ----------------------------------------------------------------------------------------------


def _name(ref: ExecutionRef) -> str:
    """``ship-line [11]``, and which visit it is where there is more than one."""
    keys = "/".join(step.key for step in ref.branch)
    visit = f" (visit {ref.visit})" if ref.visit > 1 else ""
    return f"{ref.node} [{keys}]{visit}" if keys else f"{ref.node}{visit}"


def _workflow(data: Mapping[str, Any]) -> str:
    definition = data.get("definition") or {}
    return f"{definition.get('workflow', 'the run')}@{definition.get('version', '?')}"


def _about(trigger: Trigger) -> str:
    return f" for {trigger.subject_kind} {trigger.subject_id}" if trigger.subject_kind else ""


def _through(outlet: str | None) -> str:
    return f" → {outlet}" if outlet else ""


def _why(fact: WorkflowNodeAttemptFailed | WorkflowNodeFailed | WorkflowRunFailed) -> str:
    named = fact.code or (None if fact.kind == "Error" else fact.kind.value)
    return f"{named}, {fact.reason}" if named else fact.reason


def _outcome(outcome: Receipt) -> str:
    match outcome.status:
        case "succeeded":
            return f"succeeded{_through(outcome.outlet)}"
        case "failed":
            named = outcome.code or (outcome.kind.value if outcome.kind else None)
            return f"failed, {named}" if named else "failed"
        case "suspended":
            return f"suspended, the answer comes by the key {outcome.key!r}"
        case "skipped" | "ambiguous":
            return f"{outcome.status}, {outcome.reason}"
        case _:
            assert_never(outcome.status)


def _statuses(output: Any) -> str:
    counts = Counter(str(branch.get("status")) for branch in output.values()) if isinstance(output, dict) else Counter()
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or "no branch"


def _list(names: Iterable[str]) -> str:
    text = ", ".join(names)
    return f": {_cut(text)}" if text else ""


def _shown(value: Any) -> str:
    """The user's JSON, short; nothing for what is empty."""
    return "" if value is None or value == {} else f", {_cut(json.dumps(value, ensure_ascii=False))}"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _span(span: timedelta) -> str:
    """A duration as people say it: 12 ms, 3.5 s, 4 min, 2 days."""
    seconds = span.total_seconds()
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size * 2:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds >= 1 else f"{max(0.0, seconds) * 1000:.0f} ms"
