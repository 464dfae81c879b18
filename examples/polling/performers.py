"""Wait for a report by asking again and again."""

from __future__ import annotations

from typing import Any, Final

from workers import Invocation, Succeeded, performer

#: `maxVisits` of `check`: one visit more would fail the run.
MOST_VISITS: Final = 5


@performer("reports.check", version=1, effect="safe")
def check(call: Invocation) -> Succeeded:
    """A decision answers with one of its node's own outlets; `give-up` is connected to nothing and ends the path."""
    ready_at = call.input["trigger"]["payload"].get("readyAtVisit", 3)
    if call.visit >= ready_at:
        return Succeeded("ready", {"checks": call.visit})
    return Succeeded("give-up" if call.visit == MOST_VISITS else "not-yet")


@performer("reports.fetch", version=1, effect="safe")
def fetch(call: Invocation) -> dict[str, Any]:
    """A node that was visited several times is seen with its latest output."""
    return {"report": "…", "checks": call.input["nodes"]["check"]["checks"]}
