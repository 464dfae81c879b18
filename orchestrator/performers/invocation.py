"""What a performer is given: one attempt with its input, and two things it may do while it works, report and log.

How the attempt came here and what becomes of the answer does not stand here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import structlog

from orchestrator.core.facts import Branch
from orchestrator.errors import CeleriacError


class AttemptOver(CeleriacError):
    """The attempt is over: its deadline has passed or it was called off; stop, nothing you answer will count."""

    def __init__(self, message: str | None = None, *, called_off: bool = False) -> None:
        self.called_off = called_off
        super().__init__(message)


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call of a performer. Build one by hand to test a performer without an engine."""

    #: What the node sees: ``{"trigger": …, "nodes": …, "failures": …, "item": …}`` (semantics 1.7); yours to change.
    input: Any
    #: The node's configuration; an empty dict when its author gave none.
    configuration: Any = field(default_factory=dict)
    scope: str = "default"
    workflow: str = ""
    run_id: str = ""
    node_id: str = ""
    #: The path of fan-outs that leads to the branch, ``()`` in root.
    branch: Branch = ()
    visit: int = 1
    execution_id: str = ""
    #: Which try this is, from 1.
    attempt: int = 1
    #: ``name@version``.
    capability: str = ""
    #: When the attempt is timed out, aware UTC; None only in an invocation built by hand.
    deadline: datetime | None = None
    #: The time of day as the carrier sees it; None: no clock runs and no deadline passes.
    clock: Callable[[], datetime] | None = field(default=None, repr=False, compare=False)
    #: Whether the attempt was called off, as far as the carrier can know.
    called_off: Callable[[], bool] = field(default=_never, repr=False, compare=False)

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of one execution, another for every other visit, branch and run."""
        return self.execution_id

    def heartbeat(self) -> None:
        """Call it now and then in long work. Raises `AttemptOver` once nothing you answer can count any more."""
        if self.called_off():
            raise AttemptOver(f"attempt {self.attempt} of {self.capability} was called off", called_off=True)
        if self.clock is not None and self.deadline is not None and self.clock() >= self.deadline:
            raise AttemptOver(
                f"attempt {self.attempt} of {self.capability} is past its deadline {self.deadline.isoformat()}"
            )

    @property
    def log(self) -> structlog.stdlib.BoundLogger:
        """A logger with run, node and attempt bound: ``call.log.info("charged", amount=12)``."""
        logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(self.capability or "celeriac").bind(
            run=self.run_id, node=self.node_id, attempt=self.attempt
        )
        return logger
