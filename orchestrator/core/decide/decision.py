"""Deciding: state, commands and now give facts. Pure: the same question has the same answer, and one asked twice adds
nothing (semantics 2.1). Every command is settled before the next is looked at, as if they had come one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from orchestrator.core.decide import attempts, joins, people, waits
from orchestrator.core.decide.commands import (
    Advance,
    AnswerAttempt,
    CancelRun,
    Command,
    CompleteWait,
    LoseAttempt,
    ReconcileExecution,
    ResolveWait,
    SendSignal,
    StopAttempt,
    TimeOutAttempt,
    Wake,
)
from orchestrator.core.decide.conclude import conclude, visit_reason
from orchestrator.core.decide.draft import Draft, Known
from orchestrator.core.decide.finish import finish
from orchestrator.core.decide.schedule import schedule
from orchestrator.core.facts import Recorded
from orchestrator.core.kinds import KINDS
from orchestrator.core.kinds.entering import EnteredKind
from orchestrator.core.outcomes import FailureKind
from orchestrator.core.state import RunState


@dataclass(frozen=True, slots=True)
class Decision:
    """The facts to append, the state they make, and an answer for each command.

    An attempt's command is answered with whether it counted (False: late), a signal with how many waits it resumed.
    """

    facts: tuple[Recorded, ...]
    state: RunState
    replies: tuple[object, ...]


def decide(state: RunState, commands: Sequence[Command], now: datetime, known: Known = Known()) -> Decision:  # noqa: B008
    """What follows. Raises `Missing` for what must be loaded first, and the errors of the single commands."""
    draft = Draft(state, now, known)
    replies = []
    for command in commands:
        replies.append(_command(draft, command))
        settle(draft)
    return Decision(tuple(draft.facts), draft.state, tuple(replies))


def _command(draft: Draft, command: Command) -> object:
    match command:
        case AnswerAttempt():
            return attempts.answered(draft, command)
        case TimeOutAttempt():
            return attempts.timed_out(draft, command)
        case LoseAttempt():
            return attempts.lost(draft, command)
        case StopAttempt():
            return attempts.stopped(draft, command)
        case SendSignal():
            return 0 if draft.state.final else waits.signal(draft, command)
        case ResolveWait():
            waits.resolve(draft, command)
        case CompleteWait():
            waits.complete(draft, command)
        case ReconcileExecution():
            people.reconcile(draft, command)
            settle(draft)
            _wake(draft)
        case CancelRun():
            people.cancel(draft, command)
        case Wake():
            _wake(draft)
        case Advance():
            pass
        case other:
            assert_never(other)
    return None


def _wake(draft: Draft) -> None:
    """Close what is due, each wait settled before the next; retries that are due are found by scheduling."""
    settle(draft)
    while due := waits.due(draft):
        for wait_id in due:
            if waits.expire(draft, wait_id):
                settle(draft)


def settle(draft: Draft) -> None:
    """Do all that follows, one small thing at a time, until only time, a worker or a person can move the run."""
    while not draft.state.final:
        if draft.state.gathering and joins.fire(draft):
            continue
        if draft.state.withdrawing and joins.withdraw(draft):
            continue
        if draft.state.concluding:
            _conclude(draft)
            continue
        if draft.state.entering:
            _enter(draft)
            continue
        draft.tell_stop()
        if not schedule(draft):
            break
    finish(draft)


def _conclude(draft: Draft) -> None:
    """Interpret the answers that are recorded, in the order of their facts."""
    concluding = draft.state.concluding
    for id in sorted(concluding, key=lambda other: concluding[other]):
        conclude(draft, draft.state.executions[id])
        if joins.fire(draft):
            return


def _enter(draft: Draft) -> None:
    """Enter the nodes that were reached, oldest arrival first."""
    entering = draft.state.entering
    for id in sorted(entering, key=lambda other: entering[other]):
        execution = draft.state.executions[id]
        node = draft.node(execution)
        if execution.ref.visit > node.policy.max_visits:
            draft.fail(execution, FailureKind.VISIT_LIMIT_EXCEEDED, visit_reason(draft, execution))
        else:
            kind = KINDS[node.kind]
            assert isinstance(kind, EnteredKind), f"a {node.kind} is never entered"
            kind.enter(draft, execution)
        if draft.state.concluding or joins.fire(draft):
            return
