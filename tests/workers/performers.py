"""Performers of the tests with real workers. What they did is told by files in a folder that the payload names."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path
from typing import Any

from workers import Failed, Invocation, performer


def folder_of(call: Invocation) -> Path:
    """Where this run leaves its marks."""
    return Path(call.input["trigger"]["payload"]["folder"])


def note(call: Invocation, name: str, text: str = "") -> None:
    """Add a line to a file; several processes may."""
    with (folder_of(call) / name).open("a", encoding="utf-8") as file:
        file.write(f"{text or call.attempt}\n")


def wait_for(path: Path, seconds: float = 60) -> None:
    """Until a file is there; long enough means for ever."""
    for _ in range(int(seconds * 100)):
        if path.exists():
            return
        threading.Event().wait(0.01)


@performer("t.echo", version=1)
def echo(call: Invocation) -> Any:
    """Answers with what it was given."""
    return {"payload": call.input["trigger"]["payload"], "key": call.idempotency_key, "pid": os.getpid()}


@performer("t.coroutine", version=1)
async def coroutine(call: Invocation) -> Any:
    """Answers from a loop."""
    await asyncio.sleep(0)
    return {"attempt": call.attempt}


@performer("t.count", version=1)
def count(call: Invocation) -> Any:
    """Leaves a line for each call."""
    note(call, "calls", call.idempotency_key)
    return {}


@performer("t.raise", version=1)
def raises(call: Invocation) -> Any:
    """Raises."""
    raise ValueError("boom")


@performer("t.exit", version=1)
def exits(call: Invocation) -> Any:
    """Raises what would end a program."""
    raise SystemExit(3)


@performer("t.fail", version=1)
def fails(call: Invocation) -> Any:
    """Answers that it did not work."""
    return Failed("no stock", code="NO_STOCK")


@performer("t.die", version=1)
def dies(call: Invocation) -> Any:
    """Its process is killed, whatever the attempt."""
    note(call, "begun")
    os.kill(os.getpid(), signal.SIGKILL)


@performer("t.die-once", version=1, effect="once")
def dies_once(call: Invocation) -> Any:
    """As `dies`, of what must not be done twice."""
    dies(call)


@performer("t.die-first", version=1)
def dies_first(call: Invocation) -> Any:
    """Its process is killed the first time."""
    if not (folder_of(call) / "begun").exists():
        dies(call)
    return {"survived": True}


@performer("t.block", version=1)
def blocks(call: Invocation) -> Any:
    """Goes on until a file `go` is there, and asks nobody."""
    note(call, "begun")
    wait_for(folder_of(call) / "go")
    note(call, "ended")
    return {}


@performer("t.block-once", version=1, effect="once")
def blocks_once(call: Invocation) -> Any:
    """As `blocks`, of what must not be done twice."""
    return blocks(call)


@performer("t.obey", version=1)
def obeys(call: Invocation) -> Any:
    """Goes on until a file `go` is there or its heartbeat says that it is over."""
    note(call, "begun")
    while not (folder_of(call) / "go").exists():
        call.heartbeat()
        threading.Event().wait(0.01)
    return {}


@performer("t.crowd", version=1)
def crowd(call: Invocation) -> Any:
    """Answers with how many were inside at once."""
    inside = folder_of(call) / "inside"
    inside.mkdir(exist_ok=True)
    mine = inside / call.idempotency_key
    mine.touch()
    threading.Event().wait(0.05)
    found = len(list(inside.iterdir()))
    mine.unlink()
    return {"inside": found}
