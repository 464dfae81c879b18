"""What each pool of Celery can do for attempts, and the sentence that says so when a worker starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from orchestrator.errors import BadSettings


@dataclass(frozen=True, slots=True)
class Power:
    """What a pool can enforce."""

    name: str
    #: Whether an attempt that runs can be stopped, by a time limit or from outside.
    stops: bool
    #: What it means that attempts cannot be stopped.
    without_stopping: str
    sentence: str


COOPERATIVE: Final = "it ends when the performer returns or calls heartbeat()"

POWERS: Final = {
    "celery.concurrency.prefork": Power(
        "prefork",
        stops=True,
        without_stopping="",
        sentence="processes: time limits, revokes and crashes are enforced by ending the process that performs",
    ),
    "celery.concurrency.thread": Power(
        "threads",
        stops=False,
        without_stopping=COOPERATIVE,
        sentence="threads: time limits and revokes are recorded, but free a thread only when the performer returns or "
        "calls heartbeat(); a crash of one performer ends the worker",
    ),
    "celery.concurrency.solo": Power(
        "solo",
        stops=False,
        without_stopping=COOPERATIVE,
        sentence="one attempt at a time in the worker's own process: time limits and revokes are recorded, but free it "
        "only when the performer returns or calls heartbeat(); a crash ends the worker",
    ),
}


def power_of(pool: Any) -> Power:
    """What this pool can do. Raises `BadSettings` for one that attempts are not performed in."""
    module = type(pool).__module__
    if module not in POWERS:
        name = module.rpartition(".")[2]
        known = ", ".join(power.name for power in POWERS.values())
        raise BadSettings(f"the pool {name} is not tried with Celeriac; start the worker with --pool one of {known}")
    return POWERS[module]
