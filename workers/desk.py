"""The desk: one thread in the worker's parent process that stands between messages, pool and engine.

Whatever lies on it is taken at once, be it one thing or a hundred: what waits is claimed in one transaction, what was
answered is recorded in one. So children run nothing but performers, and a batch of one never waits for a second.
Answers are kept until they are recorded; while the store is away nothing is claimed and nothing is lost.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final, Protocol, TypeVar

import structlog

from orchestrator.engine.work import Answer, Work
from orchestrator.errors import Conflict, StoreUnavailable
from orchestrator.ports.store import ClaimRequest
from workers.bell import (
    Answered,
    Bell,
    End,
    Fate,
    Forgotten,
    ForNothing,
    HandedBack,
    Lost,
    NotHeld,
    Recorded,
    SetAside,
    Stopped,
    TimedOut,
    Withdrawn,
)
from workers.books import Books, Limit, Ticket

log = structlog.stdlib.get_logger(__name__)

T = TypeVar("T")
R = TypeVar("R")
Call = Callable[[], None]
Claims = Sequence[tuple[str, int]]

#: After a failure of the store the desk waits, for so long at first and at most, in seconds.
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 3.0


class Registry(Protocol):
    """What the desk asks of the engine, whose words these are."""

    def claim(self, requests: Sequence[ClaimRequest], worker: str) -> list[Work]: ...
    def advance(self, answers: Sequence[Answer]) -> frozenset[str]: ...
    def hand_back(self, claims: Claims) -> None: ...
    def lost(self, claims: Claims) -> None: ...
    def stopped(self, claims: Claims) -> None: ...
    def timed_out(self, claims: Claims) -> None: ...
    def performer_missing(self, attempt_ids: Sequence[str], worker: str) -> None: ...


class Desk:
    """Thread-safe, and every method returns at once, but for `finish`."""

    def __init__(
        self,
        registry: Registry,
        *,
        worker: str,
        slots: Callable[[], int],
        post: Callable[[Call], None],
        limits: Sequence[Limit] = (),
    ) -> None:
        """`slots`: how many attempts may be in the pool; `post`: calls something where the carriers want it called."""
        self._registry = registry
        self._worker = worker
        self._slots = slots
        self._post = post
        self._books = Books(limits)
        self._missing: list[str] = []
        self._telling: Mapping[type[End], Callable[[Claims], None]] = {
            Lost: registry.lost,
            TimedOut: registry.timed_out,
            Stopped: registry.stopped,
            HandedBack: registry.hand_back,
        }
        self._inbox: SimpleQueue[Call] = SimpleQueue()
        #: Guards the books against who only looks, and the ids.
        self._lock = threading.Lock()
        self._ids: dict[str, Bell] = {}
        self._pause = 0.0
        self._finishing = self._given_up = False
        #: Nothing is begun any more.
        self.closing = False
        self._thread = threading.Thread(target=self._run, name="celeriac-desk", daemon=True)

    # --- who brings something to the desk -----------------------------------------------------------------------------

    def start(self) -> None:
        """Open the desk."""
        self._thread.start()

    def rang(self, bell: Bell) -> bool:
        """A message rang; False when a bell for this attempt is here already, so that this one means nothing."""
        with self._lock:
            if self._ids.setdefault(bell.attempt_id, bell) is not bell:
                return False
        self._inbox.put(partial(self._books_rang, bell))
        return True

    def holds(self, attempt_id: str) -> bool:
        """Whether a bell for this attempt is here."""
        return attempt_id in self._ids

    def ended(self, bell: Bell, end: End) -> None:
        """A submitted bell ended; of several ends of one the first counts."""
        self._inbox.put(partial(self._books_end, bell, end))

    def withdraw(self, bell: Bell) -> None:
        """A bell was revoked; nothing happens when it has begun."""
        self._inbox.put(partial(self._withdraw, bell))

    def missing(self, attempt_id: str) -> None:
        """A message rang for what nobody performs here."""
        self._inbox.put(partial(self._missing.append, attempt_id))

    def not_held(self, claims: Claims) -> None:
        """These claims are not ours any more."""
        self._inbox.put(partial(self._kill, frozenset(claims)))

    def claims(self) -> list[tuple[str, int]]:
        """Everything that is claimed here and whose end is not recorded, but for what is not ours any more."""
        with self._lock:
            return [ticket.claim for ticket in self._books.tickets if not ticket.let_go]

    def reconnected(self, begun_before: Callable[[Bell], bool]) -> None:
        """The line to the broker is a new one: what waited comes again by itself. `begun_before` says of a bell that it
        was submitted over the old line, to a pool that forgot then what it had not begun."""
        with self._lock:
            kept = {ticket.bell for ticket in self._books.tickets}
            self._ids = {id: bell for id, bell in self._ids.items() if bell in kept}
        self._inbox.put(partial(self._reconnected, begun_before))

    # --- the end ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """A planned stop: nothing is begun any more, and what is claimed and not submitted goes back."""
        self.closing = True
        self._inbox.put(self._hand_back_unsubmitted)

    def finish(self, patience: float) -> bool:
        """The pool has stopped: settle everything. False when that took longer than `patience` (seconds), because the
        store is away; what is not settled then comes back when its lease runs out."""
        self.closing = True
        self._inbox.put(self._end_rest)
        self._thread.join(patience)
        if not self._thread.is_alive():
            return True
        self.give_up()
        log.error("ends_not_recorded", attempts=[attempt for attempt, _ in self.claims()])
        return False

    def give_up(self) -> None:
        """Leave everything as it is; leases will run out."""
        self._given_up = True
        self._inbox.put(lambda: None)

    # --- the desk's own thread: what was brought -------------------------------------------------------------------

    def _books_rang(self, bell: Bell) -> None:
        if not self.closing:
            self._books.rang(bell)

    def _books_end(self, bell: Bell, end: End) -> None:
        with self._lock:
            self._books.end(bell, end)
            # From now on a new message for the same attempt is welcome: telling the engine may bring one.
            self._disown(bell)

    def _withdraw(self, bell: Bell) -> None:
        if self._books.forget(bell):
            self._over(bell, Withdrawn())

    def _kill(self, claims: frozenset[tuple[str, int]]) -> None:
        for bell, ticket in list(self._books.in_flight.items()):
            if ticket.claim in claims and not ticket.let_go:
                ticket.let_go = True
                log.warning("claim_not_held", attempt=bell.attempt_id, capability=bell.capability)
                self._post(partial(bell.kill, ticket.work.fence))

    def _reconnected(self, begun_before: Callable[[Bell], bool]) -> None:
        self._forget_waiting()
        for bell in list(self._books.in_flight):
            if bell.submitted and not bell.started and begun_before(bell):
                # Whether it had reached a process nobody knows; only for `once` that matters.
                lost = Lost("the line to the broker broke while it was handed over")
                self._books_end(bell, lost if bell.effect == "once" else HandedBack())

    def _hand_back_unsubmitted(self) -> None:
        self._forget_waiting()
        for bell in list(self._books.in_flight):
            if not bell.submitted:
                self._books_end(bell, HandedBack())

    def _end_rest(self) -> None:
        self._finishing = True
        self._forget_waiting()
        for bell in list(self._books.in_flight):
            self._books_end(bell, Stopped("the worker was stopped") if bell.started else HandedBack())

    def _forget_waiting(self) -> None:
        for bell in list(self._books.waiting):
            self._books.forget(bell)
            self._over(bell, Forgotten())

    # --- the desk's own thread: what is done with it ------------------------------------------------------------------

    def _run(self) -> None:
        while not self._given_up and not (self._finishing and self._inbox.empty() and not self._books.ended):
            self.turn()

    def turn(self) -> None:
        """Take everything that lies there, waiting for something if nothing does, and do what can be done with it."""
        for call in self._take():
            try:
                call()
            except Exception:
                log.exception("desk_stumbled", over=repr(call))
        try:
            self._work()
        except (StoreUnavailable, Conflict) as error:
            self._rest(error)
        except Exception as error:
            log.exception("desk_stumbled")
            self._rest(error)
        else:
            if self._pause:
                log.info("desk_goes_on", worker=self._worker)
            self._pause = 0.0

    def _take(self) -> list[Call]:
        """Everything that lies there; waits for something, or for the end of a pause."""
        taken: list[Call] = []
        until = time.monotonic() + self._pause
        try:
            taken.append(self._inbox.get(timeout=self._pause or None))
            while self._pause and (left := until - time.monotonic()) > 0:
                taken.append(self._inbox.get(timeout=left))
            while True:
                taken.append(self._inbox.get_nowait())
        except Empty:
            return taken

    def _rest(self, error: Exception) -> None:
        if not self._pause:
            log.warning("desk_waits", worker=self._worker, problem=str(error), answers=len(self._books.ended))
        self._pause = min(self._pause * 2, LONGEST_PAUSE) or FIRST_PAUSE

    def _work(self) -> None:
        while not self.closing and self._claim():
            pass
        self._record()

    def _claim(self) -> bool:
        """Claim for whose turn it is; True when more may have their turn now."""
        turns = self._books.next_turns(self._slots() - len(self._books.in_flight))
        for bell in turns:
            if bell.called_off:
                self._withdraw(bell)
        turns = [bell for bell in turns if bell in self._books.waiting]
        refused = False
        for bell, work in self._together_else_singly(self._claimed, turns):
            if isinstance(work, Work):
                with self._lock:
                    self._books.claimed(bell, work)
                self._post(partial(bell.submit, work))
            else:
                refused = True
                self._books.forget(bell)
                self._over(bell, SetAside(str(work)) if isinstance(work, Exception) else ForNothing())
        return refused

    def _claimed(self, bells: Sequence[Bell]) -> list[Work | None]:
        requests = [ClaimRequest(bell.attempt_id, bell.effect) for bell in bells]
        granted = {work.attempt_id: work for work in self._registry.claim(requests, self._worker)}
        return [granted.get(bell.attempt_id) for bell in bells]

    def _record(self) -> None:
        """Tell the engine of everything that ended."""
        ended = list(self._books.ended.values())
        for kind in (Answered, *self._telling, NotHeld):
            tickets = [ticket for ticket in ended if isinstance(ticket.end, kind)]
            for ticket, counted in self._together_else_singly(partial(self._told, kind), tickets):
                with self._lock:
                    self._books.settled(ticket.bell)
                assert ticket.end is not None
                failed = isinstance(counted, Exception)
                self._over(ticket.bell, SetAside(str(counted)) if failed else Recorded(ticket.end, bool(counted)))
        for attempt_id, _ in self._together_else_singly(self._told_missing, list(self._missing)):
            self._missing.remove(attempt_id)

    def _told(self, kind: type[End], tickets: Sequence[Ticket]) -> list[bool]:
        claims = [ticket.claim for ticket in tickets]
        if kind in self._telling:
            self._telling[kind](claims)
        if kind is not Answered:
            return [True] * len(tickets)
        counted = self._registry.advance(
            [Answer(*t.claim, t.end.receipt) for t in tickets if isinstance(t.end, Answered)]
        )
        return [attempt_id in counted for attempt_id, _ in claims]

    def _told_missing(self, attempt_ids: Sequence[str]) -> Sequence[str]:
        self._registry.performer_missing(attempt_ids, self._worker)
        return attempt_ids

    def _together_else_singly(
        self, act: Callable[[Sequence[T]], Sequence[R]], items: Sequence[T]
    ) -> Iterator[tuple[T, R | Exception]]:
        """Act on all at once; when that fails for a reason that is not the store's, on each alone, so that the one that
        is bad harms no other. Raises what a repetition may cure."""
        if not items:
            return
        try:
            results = act(items)
        except (StoreUnavailable, Conflict):
            raise
        except Exception as error:
            if len(items) == 1:
                log.exception("attempt_set_aside", item=repr(items[0]))
                yield items[0], error
                return
        else:
            yield from zip(items, results, strict=True)
            return
        for item in items:
            yield from self._together_else_singly(act, [item])

    def _over(self, bell: Bell, fate: Fate) -> None:
        with self._lock:
            self._disown(bell)
        self._post(partial(bell.over, fate))

    def _disown(self, bell: Bell) -> None:
        if self._ids.get(bell.attempt_id) is bell:
            del self._ids[bell.attempt_id]
