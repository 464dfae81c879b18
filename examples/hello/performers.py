"""Greet somebody, and deliver the greeting over a line that fails the first time."""

from __future__ import annotations

from workers import Invocation, performer


@performer("hello.greet", version=1)
def greet(call: Invocation) -> dict[str, str]:
    """A plain return value is a success through `next` with that output."""
    name = call.input["trigger"]["payload"].get("name", "world")
    return {"text": f"Hello, {name}!"}


@performer("hello.deliver", version=1)
def deliver(call: Invocation) -> dict[str, str | int]:
    """Raising is a failure; it is tried again with the very same input and the same idempotency key."""
    if call.attempt == 1:
        raise ConnectionError("the line is busy")
    return {"delivered": call.input["nodes"]["greet"]["text"], "attempt": call.attempt}
