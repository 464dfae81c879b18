"""The dispatcher over Celery: one message an attempt, named by its capability, that holds the attempt's id and its run's.

It keeps one connection of its own, whose timeouts are short: a broker that is away or silent costs a caller at most about
two seconds once, and nothing while the outage lasts; beat rings again for whatever was not sent.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import structlog
from celery import Celery
from kombu import Connection, Producer
from kombu.exceptions import OperationalError

from orchestrator.dispatch.carrier import declared, impatient_options
from orchestrator.dispatch.routes import Routes
from orchestrator.ports.dispatch import Doorbell

log = structlog.stdlib.get_logger(__name__)

#: The header by which a worker tells a doorbell of ours from any other message.
HEADER: Final = "celeriac"

#: How long one step of a conversation with the broker may take, in seconds.
PATIENCE: Final = 0.9

#: After a failure the broker is left alone, for this long at first and at most, in seconds.
FIRST_REST: Final = 0.5
LONGEST_REST: Final = 5.0


class CeleryDispatcher:
    """The dispatcher port over a Celery application; thread-safe, and safe to be inherited by a fork."""

    def __init__(self, app: Celery, routes: Routes, *, patience: float = PATIENCE) -> None:
        self._app = app
        self._routes = routes
        self._patience = patience
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._line: Producer | None = None
        self._rest = 0.0
        self._resting_until = 0.0

    def ring(self, doorbells: Sequence[Doorbell]) -> int:
        """See the port. A doorbell that cannot be a message is named in the log and harms no other."""
        sent = 0
        with self._lock:
            for doorbell in doorbells:
                if not self._attempted(lambda line, bell=doorbell: self._send(line, bell)):  # type: ignore[misc]
                    break
                sent += 1
        return sent

    def call_off(self, attempt_ids: Sequence[str]) -> None:
        """See the port: a broadcast to all workers."""
        with self._lock:
            self._attempted(lambda line: self._revoke(line, attempt_ids))

    def close(self) -> None:
        """Give up the connection."""
        with self._lock:
            self._hang_up()

    # ----------------------------------------------------------------------------------------------------------------

    def _send(self, line: Producer, doorbell: Doorbell) -> None:
        try:
            self._app.send_task(
                doorbell.capability,
                args=(doorbell.attempt_id,),
                kwargs={"run": doorbell.run_id},
                task_id=doorbell.attempt_id,
                queue=declared(self._routes.queue(doorbell.capability)),
                headers={HEADER: "attempt"},
                time_limit=doorbell.timeout.total_seconds(),
                producer=line,
                retry=False,
                ignore_result=True,
                add_to_parent=False,
            )
        except (TypeError, ValueError):
            log.exception("doorbell_unsendable", attempt=doorbell.attempt_id, capability=doorbell.capability)

    def _revoke(self, line: Producer, attempt_ids: Sequence[str]) -> None:
        connection: Connection = line.connection
        self._app.control.revoke(list(attempt_ids), terminate=True, connection=connection)

    def _attempted(self, speak: Callable[[Producer], None]) -> bool:
        """Speak over the line that is open, else over a new one; False when the broker is away."""
        if self._process != os.getpid():
            self._process, self._line = os.getpid(), None
        if time.monotonic() < self._resting_until:
            return False
        lines: list[Callable[[], Producer]] = [self._open]
        if (kept := self._line) is not None:
            lines.insert(0, lambda: kept)
        problem: Exception | None = None
        for line in lines:
            try:
                self._line = line()
                speak(self._line)
            except (OperationalError, OSError, *self._broker_errors()) as error:
                problem = error
                self._hang_up()
            else:
                self._back()
                return True
        assert problem is not None
        self._gone(problem)
        return False

    def _open(self) -> Producer:
        url = self._app.conf.broker_write_url
        connection = self._app.connection_for_write(
            connect_timeout=self._patience, transport_options=impatient_options(url, self._patience)
        )
        connection.connect()
        return self._app.amqp.Producer(connection, auto_declare=False)

    def _broker_errors(self) -> tuple[type[Exception], ...]:
        transport: Any = self._app.connection_for_write()
        return (*transport.connection_errors, *transport.channel_errors)

    def _hang_up(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            try:
                line.connection.release()
            except Exception:  # noqa: BLE001 - the connection is broken as it is
                log.debug("line_not_closed", exc_info=True)

    def _gone(self, problem: Exception) -> None:
        if not self._rest:
            log.warning("broker_away", broker=self._app.connection_for_write().as_uri(), problem=str(problem))
        self._rest = min(self._rest * 2, LONGEST_REST) or FIRST_REST
        self._resting_until = time.monotonic() + self._rest

    def _back(self) -> None:
        if self._rest:
            log.info("broker_back", broker=self._app.connection_for_write().as_uri())
        self._rest = 0.0
