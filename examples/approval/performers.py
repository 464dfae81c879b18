"""What happens to an expense once somebody, or nobody, has looked at it."""

from __future__ import annotations

from typing import Any

from workers import Invocation, performer


@performer("expenses.refund", version=1, effect="once")
def refund(call: Invocation) -> dict[str, Any]:
    """Pay. `effect="once"`: when a worker dies in the middle of it, a person is asked instead of paying twice."""
    return {"paid": call.input["trigger"]["payload"]["amount"], "reference": call.idempotency_key}


@performer("expenses.decline", version=1)
def decline(call: Invocation) -> dict[str, Any]:
    """Say why; what the person gave along is the output of the approval."""
    return {"told": call.input["nodes"]["review"].get("note", "no reason was given")}


@performer("expenses.escalate", version=1)
def escalate(call: Invocation) -> dict[str, Any]:
    """Nobody decided in time."""
    return {"told": "the boss", "amount": call.input["trigger"]["payload"]["amount"]}
