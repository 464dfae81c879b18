"""The table of all pumps, which beat runs."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from orchestrator.pumps.attempts import due_attempts
from orchestrator.pumps.pump import Pump
from orchestrator.pumps.timers import due_timers

TICK = timedelta(seconds=1)

#: What beat does, in this order, once a tick each.
PUMPS: Final[tuple[Pump, ...]] = (
    Pump("timers", TICK, due_timers),
    Pump("attempts", TICK, due_attempts),
)
