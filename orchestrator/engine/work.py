"""What the engine and the workers hand each other."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from orchestrator.core.data import JsonText
from orchestrator.core.facts import Branch
from orchestrator.core.outcomes import Receipt


@dataclass(frozen=True, slots=True)
class Work:
    """One claimed attempt with all that its performer needs; plain values, so that it can cross to a child process."""

    attempt_id: str
    #: An answer counts only under the fence of the present claim (semantics 2.2).
    fence: int
    scope: str
    run_id: str
    workflow: str
    node_id: str
    branch: Branch
    visit: int
    #: Also the idempotency key: the same for every attempt of one execution.
    execution_id: str
    attempt: int
    #: ``name@version``.
    capability: str
    configuration: JsonText
    input: JsonText
    claimed_at: datetime
    deadline: datetime

    def answer(self, receipt: Receipt) -> Answer:
        """The answer to this work."""
        return Answer(self.attempt_id, self.fence, receipt, self.run_id)


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a claimed attempt."""

    attempt_id: str
    fence: int
    receipt: Receipt
    #: Saves a look-up where the caller knows it.
    run_id: str | None = None
