"""A shell with `celeriac` in it, and the workflow that the tests of the command line run."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from orchestrator.testing.simulation import Simulation
from tests.definitions import START, action, document, node

ORDER = document(
    START,
    action("work", "failed"),
    node("review", "approval", "approved", "rejected", configuration={"expiresAfter": "2.00:00:00"}),
    node("paid", "wait", "resumed", configuration={"signal": {"id": "paid", "version": 1}}),
    action("job"),
    edges=("start.next>work", "work.next>review", "review.approved>paid", "paid.resumed>job"),
)

#: Runs a command in this process: exit code, output, error output.
Celeriac = Callable[..., tuple[int, str, str]]


def answer(celeriac: Celeriac, *arguments: str) -> Any:
    """The document that a command prints for programs."""
    code, out, err = celeriac(*arguments, "--json")
    assert (0, "") == (code, err)
    return json.loads(out)


def started(celeriac: Celeriac, **options: str) -> str:
    """The id of a run that was started with these options."""
    more = [text for name, value in options.items() for text in (f"--{name}", value)]
    run_id: str = answer(celeriac, "runs", "start", "test", *more)["runId"]
    return run_id


def ring(simulation: Simulation) -> None:
    """What other processes scheduled is rung by beat."""
    simulation.clock.move(timedelta(seconds=6))
    simulation.tick()
    simulation.settle()
