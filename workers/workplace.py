"""One worker's desk with all that belongs to it: engine, keeper of leases, the way to the worker's loop and pool."""

from __future__ import annotations

import os
from datetime import datetime
from functools import partial
from typing import Any, Final

import structlog
from celery import bootsteps, signals

from orchestrator.dispatch.carrier import scheme_of
from orchestrator.dispatch.celery import HEADER
from orchestrator.wiring import close, engine_from
from workers.bell import Bell
from workers.books import Limit
from workers.desk import Desk
from workers.lease_keeper import LeaseKeeper
from workers.loop_calls import LoopCalls
from workers.pools import power_of
from workers.staffing import Staff

log = structlog.stdlib.get_logger(__name__)

_bootsteps: Any = bootsteps

#: How long a worker that stops waits for a store that is away, in seconds.
PATIENCE: Final = 20.0

#: How often a worker with an event loop looks for processes that have died, in seconds.
LOOK: Final = 1.0


class Workplace:
    """Belongs to one running worker, which is `controller`."""

    def __init__(self, controller: Any, staff: Staff) -> None:
        settings = staff.settings
        self._controller = controller
        self._engine = engine = staff.shared or engine_from(settings, app=controller.app)
        self._shared = staff.shared is not None
        self._process = os.getpid()
        self._name = f"celeriac-{id(self)}"
        self.power = power_of(controller.pool)
        self.grace = settings.grace.total_seconds()
        #: Grows when a line to the broker breaks, and when there is a new one.
        self.line = 0
        self._forgets = controller.hub is not None and self.power.stops
        # Without an event loop the pool blocks whoever hands it more than it has processes.
        self._look_ahead = settings.look_ahead if controller.hub is not None else 0
        self._calls = LoopCalls(controller.hub)
        self.desk = Desk(
            engine,
            worker=controller.hostname,
            slots=self._slots,
            post=self._calls,
            limits=[Limit(glob, most) for glob, most in settings.limits],
        )
        self._keeper = LeaseKeeper(
            engine.renew, claims=self.desk.claims, not_held=self.desk.not_held, heartbeat=settings.heartbeat
        )

    @property
    def pool(self) -> Any:
        """The worker's pool."""
        return self._controller.pool

    def now(self) -> datetime:
        """The engine's time."""
        return self._engine.clock.now()

    def _slots(self) -> int:
        return int(self.pool.num_processes) + self._look_ahead

    def hand_over(self, request: Any) -> None:
        """Give a request the way that Celery gives its own: a slot, then a process."""
        self._controller.consumer.on_task_request(request)

    # --- from start to stop -------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Begin."""
        signals.task_unknown.connect(self._task_unknown, weak=False, dispatch_uid=self._name)
        signals.worker_process_init.connect(self._process_begins, weak=False, dispatch_uid=self._name)
        if self._controller.hub is not None:
            self._controller.hub.on_close.add(self._loop_closes)
        self.desk.start()
        self._keeper.start()
        log.info("pool", name=self.power.name, means=self.power.sentence)
        if not self._shared and scheme_of(self._controller.app.conf.broker_url or "") == "memory":
            log.warning("broker_in_memory", means="no other process can ring here; set CELERIAC_BROKER_URL")

    def connected(self, *, again: bool) -> None:
        """The worker has a line to its broker, and its loop is about to run."""
        if self._forgets:
            # Celery looks for dead processes when one has closed its pipe, which may be too early, and then in 5 s.
            self._controller.timer.call_repeatedly(LOOK, self.pool.maintain_pool)
        if again:
            self.line += 1
            self.desk.reconnected(partial(self._over_a_line_before, self.line))

    def _over_a_line_before(self, line: int, bell: Bell) -> bool:
        return self._forgets and getattr(bell, "submitted_over", line) < line

    def _loop_closes(self, _: object) -> None:
        """The line to the broker is broken, unless the worker stops."""
        if self._controller.blueprint.state == _bootsteps.RUN:
            # What was received over it can be acknowledged no more, nor put back into its queue: to try is what Celery
            # does, and fails at in a way that ends the worker.
            self.line += 1
            consumer = self._controller.consumer.task_consumer
            if consumer is not None:
                consumer.channel.do_restore = False

    def close(self) -> None:
        """The worker begins to stop."""
        self.desk.close()

    def finish(self) -> None:
        """The pool has stopped."""
        self.desk.finish(PATIENCE)
        self._calls.make()
        self._keeper.stop()
        signals.task_unknown.disconnect(dispatch_uid=self._name)
        signals.worker_process_init.disconnect(dispatch_uid=self._name)
        if self._controller.hub is not None:
            self._controller.hub.on_close.discard(self._loop_closes)
        if not self._shared:
            close(self._engine)

    def abandon(self) -> None:
        """The pool does not stop: leave what runs to its leases."""
        self._keeper.stop()
        self.desk.give_up()

    def _task_unknown(self, sender: Any, message: Any, name: str, id: str, **_: Any) -> None:
        if sender.controller is self._controller and (message.headers or {}).get(HEADER):
            log.error("performer_missing", capability=name, attempt=id)
            self.desk.missing(id)

    def _process_begins(self, **_: Any) -> None:
        """In a new process of the pool: the parent's connections are not ours."""
        forget = getattr(self._engine.store, "forget_inherited_connections", None)
        if forget is not None and os.getpid() != self._process:
            forget()
