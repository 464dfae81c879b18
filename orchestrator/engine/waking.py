"""Runs whose time has come: waits close, retries are handed out; what cannot be is left to whatever makes it possible
(semantics 2.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from orchestrator.core.decide.commands import Wake
from orchestrator.core.state import RunState
from orchestrator.engine.advancing import Batch, complain
from orchestrator.engine.answers import act
from orchestrator.engine.deps import Deps
from orchestrator.engine.rows import due_now
from orchestrator.ports.store import Transaction

#: The clock of whoever makes room may be so much behind ours; a timer is parked only when it is due for them too.
SKEW = timedelta(seconds=5)


def wake(deps: Deps, run_ids: Sequence[str], now: datetime) -> None:
    """Look at these runs for what is due. What is due and cannot be (the run is stopped, no slot is free) is parked:
    whatever frees the run looks at it, with no timer of its own."""

    def park(tx: Transaction, batch: Batch) -> None:
        for run_id, decision in batch.decisions.items():
            blocked = _blocked(decision.state, now - SKEW)
            if blocked and not decision.state.final:
                tx.park_timers(run_id, blocked)

    complain(act(deps, run_ids, lambda _, held: dict.fromkeys(held, (Wake(),)), park))


def _blocked(state: RunState, now: datetime) -> list[str]:
    waiting = [*state.waits.values(), *_retries(state)]
    return [id for id in waiting if due_now(state.executions[id], now)]


def _retries(state: RunState) -> list[str]:
    lanes = [state.lane, *(state.fan_outs[id].lane for id in state.gathering)]
    return [id for lane in lanes for id in lane.retries]
