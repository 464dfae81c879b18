"""What the desk and the carriers of messages say to each other: a bell that rang, how it ended, what became of it.

The desk knows nothing of Celery, and a carrier nothing of the engine; both know what stands here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from orchestrator.core.outcomes import Receipt
from orchestrator.engine.work import Work


class Bell(Protocol):
    """A message that rang for an attempt. `submit`, `kill` and `over` are called where its carrier wants it."""

    @property
    def attempt_id(self) -> str:
        """Which attempt is meant."""

    @property
    def capability(self) -> str:
        """What is asked for, ``name@version``."""

    @property
    def effect(self) -> str:
        """What its performer declared."""

    @property
    def called_off(self) -> bool:
        """Whether it was called off while it waited here."""

    @property
    def submitted(self) -> bool:
        """Whether it was handed to the pool."""

    @property
    def started(self) -> bool:
        """Whether the pool has begun with it."""

    def submit(self, work: Work) -> None:
        """Hand it to the pool; how it ends is reported to the desk."""

    def kill(self, fence: int) -> None:
        """Its claim is not held any more: stop it if the pool can, else let the performer know."""

    def over(self, fate: Fate) -> None:
        """The last word: acknowledge the message, tell who watches."""


# --- how a claimed attempt ended here ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answered:
    """Its performer has answered or raised."""

    receipt: Receipt
    runtime: float = 0.0
    #: Where it raised, for who watches.
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """The process that performed it died."""

    reason: str


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The pool's own limit fired, which is later than the deadline."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Stopped:
    """It was stopped from outside after it began."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotHeld:
    """Its claim ran out or its run is over: nobody waits for it."""


@dataclass(frozen=True, slots=True)
class HandedBack:
    """It was claimed and never began."""


End: TypeAlias = Answered | Lost | TimedOut | Stopped | NotHeld | HandedBack


# --- what became of a bell --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ForNothing:
    """There was nothing to do: the attempt is over, or somebody else has it."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """It never got its turn here and is not acknowledged: the broker will deliver it again."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """It was revoked before its turn came."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Its end is in the store; an answer that did not count was late."""

    end: End
    counted: bool = True


@dataclass(frozen=True, slots=True)
class SetAside:
    """Its end could not be recorded, for a reason that is not the store's; its lease runs out."""

    reason: str


Fate: TypeAlias = ForNothing | Forgotten | Withdrawn | Recorded | SetAside
