"""Ask suppliers for a quote and order from the first that gives one."""

from __future__ import annotations

from typing import Any

from workers import Failed, Invocation, performer


@performer("purchase.ask", version=1, effect="safe")
def ask(call: Invocation) -> dict[str, Any] | Failed:
    """In a branch, `item` is the branch's own item. A failure here ends this branch and not the run."""
    supplier = call.input["item"]
    if supplier.get("price") is None:
        return Failed(f"{supplier['key']} does not deliver this", code="NO_OFFER", retryable=False)
    return {"price": supplier["price"]}


@performer("purchase.order", version=1)
def order(call: Invocation) -> dict[str, Any]:
    """The join's output says by key what became of each branch."""
    branches = call.input["nodes"]["first-quote"]
    supplier, branch = next((key, branch) for key, branch in branches.items() if branch["status"] == "succeeded")
    return {"supplier": supplier, "price": branch["output"]["price"]}


@performer("purchase.give-up", version=1)
def give_up(call: Invocation) -> dict[str, Any]:
    """Nobody quoted."""
    return {"asked": len(call.input["nodes"]["first-quote"])}
