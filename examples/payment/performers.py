"""Hold goods, then ship or free them."""

from __future__ import annotations

from typing import Any

from workers import Invocation, Skipped, performer


@performer("shop.hold", version=1)
def hold(call: Invocation) -> dict[str, Any] | Skipped:
    """Put the goods of the basket aside; an empty basket ends here, which is no failure."""
    goods = call.input["trigger"]["payload"].get("goods", [])
    return {"held": goods} if goods else Skipped("the basket is empty")


@performer("shop.ship", version=1)
def ship(call: Invocation) -> dict[str, Any]:
    """What the signal brought is the output of the wait."""
    return {"shipped": call.input["nodes"]["hold"]["held"], "receipt": call.input["nodes"]["payment"]["receipt"]}


@performer("shop.free", version=1)
def free(call: Invocation) -> dict[str, Any]:
    """The payment did not come."""
    return {"freed": call.input["nodes"]["hold"]["held"]}
