"""The thread that keeps a worker's claims alive, and notices which it has lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import timedelta

import structlog

from orchestrator.errors import CeleriacError

log = structlog.stdlib.get_logger(__name__)

Claims = Sequence[tuple[str, int]]


class LeaseKeeper:
    """Renews all claims once a heartbeat; an attempt that is shorter than that costs nothing here."""

    def __init__(
        self,
        renew: Callable[[Claims], set[str]],
        *,
        claims: Callable[[], Claims],
        not_held: Callable[[Claims], None],
        heartbeat: timedelta,
    ) -> None:
        self._renew = renew
        self._claims = claims
        self._not_held = not_held
        self._heartbeat = heartbeat.total_seconds()
        self._seen: frozenset[tuple[str, int]] = frozenset()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="celeriac-leases", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; a renewal that is under way is waited for."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        away = False
        while not self._stop.wait(self._heartbeat):
            try:
                self.beat()
            except CeleriacError as error:
                if not away:
                    log.warning("leases_not_renewed", problem=str(error))
                away = True
            except Exception:
                log.exception("leases_not_renewed")
            else:
                away = False

    def beat(self) -> None:
        """Renew every claim that was there at the beat before as well, and say which are not held any more."""
        claims = self._claims()
        old = [claim for claim in claims if claim in self._seen]
        self._seen = frozenset(claims)
        if old:
            held = self._renew(old)
            if gone := [claim for claim in old if claim[0] not in held]:
                self._not_held(gone)
