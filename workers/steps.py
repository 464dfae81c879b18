"""The two boot steps by which a Celery worker gets a desk: one for its whole life, one for each line to its broker."""

from __future__ import annotations

from typing import Any

from celery import bootsteps

from workers.pools import power_of
from workers.staffing import staff_of
from workers.workplace import Workplace


class DeskStep(bootsteps.StartStopStep):
    """Opens the desk after the pool, and closes it after the pool has stopped, so that every answer is recorded."""

    label = "Desk"
    requires = ("celery.worker.components:Pool",)

    def create(self, worker: Any) -> None:
        """Refuse a pool that attempts are not performed in, before anything is started."""
        power_of(worker.pool)

    def start(self, worker: Any) -> None:
        """See `Workplace.open`."""
        worker.workplace = Workplace(worker, staff_of(worker.app))
        worker.workplace.open()

    def close(self, worker: Any) -> None:
        """Nothing is begun any more."""
        worker.workplace.close()

    def stop(self, worker: Any) -> None:
        """A planned stop: what runs may end, and is recorded while Celery waits for it."""
        worker.pool.stop()
        worker.workplace.finish()

    def terminate(self, worker: Any) -> None:
        """A cold stop: what runs is ended."""
        worker.pool.terminate()
        worker.workplace.finish()


class LineStep(bootsteps.StartStopStep):
    """Tells the desk of each new line to the broker."""

    label = "Line"
    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        """Called before the first message comes over the line."""
        consumer.controller.workplace.connected(again=consumer.restart_count > 0)

    def stop(self, consumer: Any) -> None:
        """Nothing: what waits is forgotten when the next line is there."""
