"""The order in which a bound hands out its slots: the earliest item first, within it the oldest (semantics 2.5).

A fan-out of thousands starts with all its executions in order. They are kept as one run of entries with a cursor, and
only those that became ready later are kept sorted, so that taking the next one costs the same for ten and ten thousand.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, replace
from typing import NamedTuple


class Entry(NamedTuple):
    """One execution that is ready: its item's place, its place in the order of arrivals, its id."""

    item: int
    born: int
    id: str


@dataclass(frozen=True, slots=True)
class ReadyQueue:
    """A persistent priority queue of entries."""

    #: The entries a fan-out began with, in order; those before `cursor` are gone.
    first: tuple[Entry, ...] = ()
    cursor: int = 0
    #: Entries that became ready later, sorted.
    later: tuple[Entry, ...] = ()

    def __len__(self) -> int:
        return len(self.first) - self.cursor + len(self.later)

    def head(self) -> Entry | None:
        """The next one, which stays in the queue."""
        heads = self.later[:1] + self.first[self.cursor : self.cursor + 1]
        return min(heads) if heads else None

    def with_first(self, entries: tuple[Entry, ...]) -> ReadyQueue:
        """With the entries a fan-out begins with, which must be in order."""
        return ReadyQueue(entries, 0, self.later)

    def with_entry(self, entry: Entry) -> ReadyQueue:
        """With one more."""
        later = list(self.later)
        insort(later, entry)
        return replace(self, later=tuple(later))

    def without(self, entry: Entry) -> ReadyQueue:
        """Without this one, if it is there."""
        if self.cursor < len(self.first) and self.first[self.cursor] == entry:
            return replace(self, cursor=self.cursor + 1)
        if entry in self.later:
            return replace(self, later=tuple(other for other in self.later if other != entry))
        if entry in self.first[self.cursor :]:
            return ReadyQueue(tuple(e for e in self.first[self.cursor :] if e != entry), 0, self.later)
        return self
