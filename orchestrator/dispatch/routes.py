"""Which queue a capability's doorbells go to, and the small language of globs of settings: ``orders.*=slow,…``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

DEFAULT_QUEUE: Final = "celeriac"


@dataclass(frozen=True, slots=True)
class Route:
    """Capabilities that match the glob go to this queue."""

    glob: str
    queue: str


@dataclass(frozen=True, slots=True)
class Routes:
    """The table of routes; the first that matches counts."""

    routes: tuple[Route, ...] = ()
    default: str = DEFAULT_QUEUE

    def queue(self, capability: str) -> str:
        """Where the doorbells of this capability go."""
        return next((route.queue for route in self.routes if matches(route.glob, capability)), self.default)

    @property
    def queues(self) -> tuple[str, ...]:
        """Every queue that is ever used, the default one first."""
        return tuple(dict.fromkeys((self.default, *(route.queue for route in self.routes))))


def matches(glob: str, capability: str) -> bool:
    """Whether a glob means this capability: it is held against ``name@version`` and against the name alone."""
    return fnmatchcase(capability, glob) or fnmatchcase(capability.rpartition("@")[0], glob)


def pairs(text: str) -> Sequence[tuple[str, str]]:
    """``a=b,c=d`` as pairs, blanks around each part left away. Raises ValueError for a part without both sides."""
    found = []
    for part in filter(None, map(str.strip, text.split(","))):
        left, equals, right = (side.strip() for side in part.rpartition("="))
        if not (left and equals and right):
            raise ValueError(f"{part!r} is not of the form glob=value")
        found.append((left, right))
    return found
