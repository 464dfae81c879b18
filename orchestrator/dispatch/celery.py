"""The dispatcher over Celery: one message an attempt, named by its capability; it holds the attempt's id and its run's.

It keeps one connection of its own, whose timeouts are short: a broker that is away or silent costs a caller about two
seconds once, and nothing while the outage lasts; beat rings again for whatever was not sent.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
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


@dataclass(frozen=True, slots=True)
class _Line:
    """An open line to the broker."""

    connection: Connection
    producer: Producer
    #: What says that the line is broken.
    errors: tuple[type[BaseException], ...]


class CeleryDispatcher:
    """The dispatcher port over a Celery application; thread-safe, and safe to be inherited by a fork."""

    def __init__(self, app: Celery, routes: Routes, *, patience: float = PATIENCE) -> None:
        self._app = app
        self._routes = routes
        self._patience = patience
        self._lock = threading.Lock()
        self._process = os.getpid()
        # Any: a queue is declared along with the message, which the type stubs do not know.
        self._send_task: Any = app.send_task
        self._line: _Line | None = None
        self._rest = 0.0
        self._resting_until = 0.0

    def ring(self, doorbells: Sequence[Doorbell]) -> int:
        """See the port. A doorbell that cannot be a message is named in the log and harms no other."""
        sent = 0
        with self._lock:
            for doorbell in doorbells:
                if not self._attempted(partial(self._send, doorbell=doorbell)):
                    break
                sent += 1
        return sent

    def call_off(self, attempt_ids: Sequence[str]) -> None:
        """See the port: a broadcast to all workers."""
        with self._lock:
            self._attempted(partial(self._revoke, attempt_ids=attempt_ids))

    def close(self) -> None:
        """Give up the connection."""
        with self._lock:
            if self._line is not None:
                self._hang_up(self._line)

    # ----------------------------------------------------------------------------------------------------------------

    def _send(self, line: _Line, doorbell: Doorbell) -> None:
        try:
            self._send_task(
                doorbell.capability,
                args=(doorbell.attempt_id,),
                kwargs={"run": doorbell.run_id},
                task_id=doorbell.attempt_id,
                queue=declared(self._routes.queue(doorbell.capability)),
                headers={HEADER: "attempt"},
                time_limit=doorbell.timeout.total_seconds(),
                producer=line.producer,
                retry=False,
                ignore_result=True,
                add_to_parent=False,
            )
        except (TypeError, ValueError):
            log.exception("doorbell_unsendable", attempt=doorbell.attempt_id, capability=doorbell.capability)

    def _revoke(self, line: _Line, attempt_ids: Sequence[str]) -> None:
        self._app.control.revoke(list(attempt_ids), terminate=True, connection=line.connection)

    def _attempted(self, speak: Callable[[_Line], None]) -> bool:
        """Speak over the line that is open, else over a new one; False when the broker is away."""
        if self._process != os.getpid():
            self._process, self._line = os.getpid(), None
        if time.monotonic() < self._resting_until:
            return False
        problem: BaseException | None = None
        for _ in range(1 if self._line is None else 2):
            line = self._line or self._new_line()
            try:
                line.connection.ensure_connection(max_retries=0)
                speak(line)
            except line.errors as error:
                problem = error
                self._hang_up(line)
            else:
                self._line = line
                self._back(line)
                return True
        self._gone(problem)
        return False

    def _new_line(self) -> _Line:
        options = impatient_options(self._app.conf.broker_write_url, self._patience)
        connection = self._app.connection_for_write(connect_timeout=self._patience, transport_options=options)
        return _Line(
            connection,
            self._app.amqp.Producer(connection, auto_declare=False),
            (
                OperationalError,
                OSError,
                *connection.recoverable_connection_errors,
                *connection.recoverable_channel_errors,
            ),
        )

    def _hang_up(self, line: _Line) -> None:
        self._line = None
        try:
            line.connection.release()
        except Exception:
            log.debug("line_not_closed", exc_info=True)

    def _gone(self, problem: BaseException | None) -> None:
        if not self._rest:
            log.warning("broker_away", broker=self._app.connection_for_write().as_uri(), problem=str(problem))
        self._rest = min(self._rest * 2, LONGEST_REST) or FIRST_REST
        self._resting_until = time.monotonic() + self._rest

    def _back(self, line: _Line) -> None:
        if self._rest:
            log.info("broker_back", broker=line.connection.as_uri())
        self._rest = 0.0
