"""Folded states: loaded once, kept while they are used, and brought up to date by the facts after the tail we know."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from orchestrator.core.codec import fact_from
from orchestrator.core.data import JsonText
from orchestrator.core.decide.draft import Known, Missing
from orchestrator.core.evolve import fold
from orchestrator.core.facts import Recorded, WorkflowBranchesFannedOut
from orchestrator.core.state import INLINE_BYTES, RunState
from orchestrator.errors import CeleriacError
from orchestrator.ports.records import AttemptState, StoredFact
from orchestrator.ports.store import Transaction


class FoldedStates:
    """An LRU of folded runs, shared by the threads of a process. A state is a value, so nobody can spoil it."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._states: OrderedDict[str, RunState] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, run_id: str) -> RunState | None:
        """The latest state known here."""
        with self._lock:
            state = self._states.get(run_id)
            if state is not None:
                self._states.move_to_end(run_id)
            return state

    def put(self, state: RunState) -> None:
        """Keep a state whose facts are committed; an older one never replaces a newer one."""
        with self._lock:
            known = self._states.get(state.run_id)
            if known is None or known.tail < state.tail:
                self._states[state.run_id] = state
            self._states.move_to_end(state.run_id)
            while len(self._states) > self._size:
                self._states.popitem(last=False)

    def forget(self, run_id: str) -> None:
        """Drop what is known of a run."""
        with self._lock:
            self._states.pop(run_id, None)

    def load(self, tx: Transaction, run_id: str, tail: int) -> RunState:
        """The state of a run after fact `tail`, which the caller knows to be committed (or holds the run for)."""
        known = self.get(run_id)
        if known is not None and known.tail >= tail:
            return known
        after = 0 if known is None else known.tail
        state = fold(recorded(tx, run_id, tx.facts(run_id, after=after, inline=INLINE_BYTES)), known)
        self.put(state)
        return state


def recorded(tx: Transaction, run_id: str, facts: Iterable[StoredFact]) -> Iterable[Recorded]:
    """Stored facts as the fold takes them; a fan-out's items are loaded whatever their size."""
    for kept in facts:
        value = kept.value
        if value is None and kept.size and kept.type == WorkflowBranchesFannedOut.__name__:
            value = tx.values(run_id, (kept.number,))[kept.number]
        yield Recorded(kept.number, kept.at, fact_from(kept.type, kept.data, value), kept.size)


@dataclass(frozen=True, slots=True)
class Lookup:
    """Answers what deciding asks for."""

    tx: Transaction
    state: RunState

    def more(self, known: Known, missing: Missing) -> Known:
        """What was known, and what was missing."""
        if missing.values:
            values = self.tx.values(self.state.run_id, sorted(missing.values))
            if missing.values - values.keys():
                gone = sorted(missing.values - values.keys())
                raise CeleriacError(f"run {self.state.run_id}: the values of facts {gone} are not in the journal")
            known = replace(known, values={**known.values, **values})
        if missing.claims:
            rows = self.tx.attempts_of((self.state.run_id,), lock=True)
            held = frozenset(row.execution_id for row in rows if row.state is not AttemptState.OWED)
            known = replace(known, claimed=held)
        if missing.keys:
            holders = self.tx.open_keys(self.state.scope, sorted(missing.keys))
            found: Mapping[str, str | None] = {key: holders.get(key) for key in missing.keys}
            known = replace(known, holders={**known.holders, **found})
        return known


def values_for(tx: Transaction, run_id: str, numbers: frozenset[int]) -> dict[int, JsonText]:
    """Large outputs by the number of their fact."""
    return tx.values(run_id, sorted(numbers)) if numbers else {}
