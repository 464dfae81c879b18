"""The desk's books: which bells wait, which attempts are claimed here, how many may be at once. No thread, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from orchestrator.dispatch.routes import matches
from orchestrator.engine.work import Work
from workers.bell import Bell, End


@dataclass(slots=True, eq=False)
class Ticket:
    """A claimed attempt: in flight until it ends, then until its end is recorded."""

    bell: Bell
    work: Work
    end: End | None = None
    #: Its claim was lost, and its performer told.
    let_go: bool = False

    @property
    def claim(self) -> tuple[str, int]:
        """What the engine knows it by."""
        return self.work.attempt_id, self.work.fence


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` attempts at once of all capabilities that match the glob, together."""

    glob: str
    most: int


@dataclass(slots=True)
class Books:
    """Bells in the order they rang; tickets in the order they were claimed."""

    limits: Sequence[Limit] = ()
    waiting: dict[Bell, None] = field(default_factory=dict)
    in_flight: dict[Bell, Ticket] = field(default_factory=dict)
    ended: dict[Bell, Ticket] = field(default_factory=dict)

    def rang(self, bell: Bell) -> None:
        """A bell waits for its turn."""
        self.waiting[bell] = None

    def next_turns(self, free: int) -> list[Bell]:
        """Whose turn it is: at most `free`, oldest first, leaving out whom a limit keeps back."""
        chosen: list[Bell] = []
        room = {limit: limit.most - self._busy(limit) for limit in self.limits}
        for bell in self.waiting:
            if len(chosen) >= free:
                break
            meant = [limit for limit in self.limits if matches(limit.glob, bell.capability)]
            if all(room[limit] > 0 for limit in meant):
                for limit in meant:
                    room[limit] -= 1
                chosen.append(bell)
        return chosen

    def _busy(self, limit: Limit) -> int:
        return sum(matches(limit.glob, ticket.work.capability) for ticket in self.in_flight.values())

    def claimed(self, bell: Bell, work: Work) -> None:
        """A bell's attempt is ours."""
        del self.waiting[bell]
        self.in_flight[bell] = Ticket(bell, work)

    def forget(self, bell: Bell) -> bool:
        """A bell does not wait any more; False when it did not."""
        return bell in self.waiting and not self.waiting.pop(bell)

    def end(self, bell: Bell, end: End) -> bool:
        """How a ticket ended; the first word counts, False for every later one."""
        ticket = self.in_flight.pop(bell, None)
        if ticket is None:
            return False
        ticket.end = end
        self.ended[bell] = ticket
        return True

    def settled(self, bell: Bell) -> None:
        """A ticket's end is recorded, or given up."""
        del self.ended[bell]

    @property
    def tickets(self) -> list[Ticket]:
        """Everything that is claimed here."""
        return [*self.in_flight.values(), *self.ended.values()]
