"""Folded states: loaded once, kept while they are used, and brought up to date by the facts after the tail we know."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from orchestrator.core.codec import fact_from
from orchestrator.core.data import JsonText
from orchestrator.core.decide.draft import Known, Missing
from orchestrator.core.document import definition_from_text
from orchestrator.core.evolve import fold
from orchestrator.core.facts import Recorded, WorkflowBranchesFannedOut
from orchestrator.core.graph import Definition
from orchestrator.core.state import INLINE_BYTES, RunState
from orchestrator.errors import CeleriacError
from orchestrator.ports.records import AttemptState, DefinitionRow, StoredFact
from orchestrator.ports.store import Transaction

#: What reading and folding raises for data that a fault, or another release, has left in a journal.
UNREADABLE = (CeleriacError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError, AssertionError)


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
        """The state of a run after fact `tail`, which the caller knows to be committed (or holds the run for).

        Raises `CeleriacError` for a journal that cannot be folded.
        """
        known = self.get(run_id)
        if known is not None and known.tail >= tail:
            return known
        after = 0 if known is None else known.tail
        with folding(run_id):
            state = fold(recorded(tx, run_id, tx.facts(run_id, after=after, inline=INLINE_BYTES)), known)
        self.put(state)
        return state

    def load_held(self, tx: Transaction, run_id: str, tail: int) -> RunState:
        """The state of a run that the caller holds and that ends at `tail`: the store is right, and what is known here
        may be ahead of it, after a failover that lost the last commits."""
        state = self.load(tx, run_id, tail)
        if state.tail == tail:
            return state
        self.forget(run_id)
        state = self.load(tx, run_id, tail)
        if state.tail != tail:
            raise CeleriacError(
                f"the journal of run {run_id} ends at fact {state.tail} and its row says {tail}; nothing was changed: "
                "run `celeriac repair`"
            )
        return state


@contextmanager
def folding(run_id: str) -> Iterator[None]:
    """Whatever cannot be read or folded is told as one error that names the run."""
    try:
        yield
    except CeleriacError:
        raise
    except UNREADABLE as error:
        raise CeleriacError(
            f"the journal of run {run_id} cannot be folded ({type(error).__name__}: {error}); nothing was changed: "
            f"`celeriac verify {run_id}` looks at it again"
        ) from error


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


def stored_definition(row: DefinitionRow) -> Definition:
    """A published version. Raises `CeleriacError` for one that this release cannot read."""
    try:
        return definition_from_text(row.document)
    except UNREADABLE as error:
        raise CeleriacError(
            f"version {row.version} of {row.workflow!r} as it is stored cannot be read "
            f"({type(error).__name__}: {error}); publish it again under a new version"
        ) from error


def values_for(tx: Transaction, run_id: str, numbers: frozenset[int]) -> dict[int, JsonText]:
    """Large outputs by the number of their fact."""
    return tx.values(run_id, sorted(numbers)) if numbers else {}
