"""Tables as persistent maps: a copy costs nothing, so a transaction works on its own and a reader keeps what it saw."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from rpds import HashTrieMap

from orchestrator.core.state import RunStatus
from orchestrator.errors import CeleriacError, Conflict
from orchestrator.ports.records import AttemptRow, DefinitionRow, RunRow, StoredFact, TimerRow, WaitRow

FINAL = frozenset(str(status) for status in RunStatus if status.final)

R = TypeVar("R")
T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


@dataclass(slots=True)
class Table(Generic[Key, R]):
    """Rows by key, and by the group that most questions are about."""

    group: Callable[[R], Hashable]
    rows: HashTrieMap[Key, R] = field(default_factory=HashTrieMap)
    groups: HashTrieMap[Hashable, HashTrieMap[Key, R]] = field(default_factory=HashTrieMap)

    def get(self, key: Key) -> R | None:
        """The row with this key."""
        return self.rows.get(key)

    def put(self, key: Key, row: R) -> None:
        """Write a row, in place of the one with its key. A row never changes its group."""
        self.rows = self.rows.insert(key, row)
        group = self.group(row)
        self.groups = self.groups.insert(group, self.groups.get(group, HashTrieMap()).insert(key, row))

    def drop(self, key: Key) -> None:
        """Remove a row, if it is there."""
        row = self.rows.get(key)
        if row is None:
            return
        self.rows = self.rows.remove(key)
        group = self.group(row)
        rest = self.groups[group].remove(key)
        self.groups = self.groups.insert(group, rest) if len(rest) else self.groups.remove(group)

    def of(self, group: Hashable) -> list[R]:
        """The rows of one group, in no order."""
        found = self.groups.get(group)
        return [] if found is None else [*found.values()]

    def values(self) -> list[R]:
        """All rows, in no order."""
        return [*self.rows.values()]

    def copy(self) -> Table[Key, R]:
        """The same rows; what is written to either is not in the other."""
        return Table(self.group, self.rows, self.groups)


@dataclass(frozen=True, slots=True)
class Facts:
    """A journal: the first `length` facts of a list that transactions share. Only the one writer there is adds to it,
    and what a writer that failed had added is cut off by the next."""

    shared: list[StoredFact]
    length: int

    def after(self, number: int, limit: int | None) -> list[StoredFact]:
        """Facts with a greater number, in order."""
        end = self.length if limit is None else min(self.length, number + limit)
        return self.shared[number:end]

    def followed_by(self, facts: Iterable[StoredFact]) -> Facts:
        """This journal with more facts."""
        del self.shared[self.length :]
        self.shared.extend(facts)
        return Facts(self.shared, len(self.shared))


def _workflow(row: DefinitionRow) -> Hashable:
    return row.scope, row.workflow


def _run(row: AttemptRow | TimerRow) -> Hashable:
    return row.run_id


def _itself(row: RunRow) -> Hashable:
    return row.run_id


def _run_of_wait(row: WaitRow) -> Hashable:
    return row.run_id


@dataclass(slots=True)
class Tables:
    """Everything that is kept."""

    definitions: Table[tuple[str, str, int], DefinitionRow] = field(default_factory=lambda: Table(_workflow))
    runs: HashTrieMap[str, RunRow] = field(default_factory=HashTrieMap)
    facts: HashTrieMap[str, Facts] = field(default_factory=HashTrieMap)
    attempts: Table[str, AttemptRow] = field(default_factory=lambda: Table(_run))
    timers: Table[tuple[str, str], TimerRow] = field(default_factory=lambda: Table(_run))
    waits: Table[str, WaitRow] = field(default_factory=lambda: Table(_run_of_wait))
    #: The waits that have or had a completion key, by scope and key.
    keyed: HashTrieMap[tuple[str, str], tuple[str, ...]] = field(default_factory=HashTrieMap)

    def copy(self) -> Tables:
        """The same rows, to be changed without being seen."""
        return replace(
            self,
            definitions=self.definitions.copy(),
            attempts=self.attempts.copy(),
            timers=self.timers.copy(),
            waits=self.waits.copy(),
        )


class Opened:
    """What the parts of a transaction share. After a failure nothing of it is stored, whoever swallowed the error."""

    def __init__(self, tables: Tables, *, writable: bool) -> None:
        self._tables = tables
        self._writable = writable
        self.failed = False

    @property
    def read(self) -> Tables:
        """The tables, to look at."""
        if self.failed:
            raise Conflict("this transaction has failed already and nothing of it is stored: begin a new one")
        return self._tables

    @property
    def write(self) -> Tables:
        """The tables, to change or to hold rows of."""
        if not self._writable:
            raise RuntimeError("reading() is read only: use transaction() to write and to hold rows")
        return self.read

    def conflict(self, message: str) -> CeleriacError:
        """What to raise when another writer was first; the transaction is of no further use."""
        self.failed = True
        return Conflict(message)


def first(rows: Iterable[T], limit: int, key: Callable[[T], Any]) -> list[T]:
    """The first rows in this order."""
    return sorted(rows, key=key)[:limit]
