"""A stage for one workflow: start it, claim and answer its attempts one by one or let them run, and look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from orchestrator.client import Orchestrator
from orchestrator.core.admission import AdmissionPolicy
from orchestrator.core.data import DEFAULT_LIMITS, DataLimits
from orchestrator.core.document import definition_from
from orchestrator.core.journal import JournalEntry
from orchestrator.core.outcomes import receipt_of
from orchestrator.core.snapshot import ExecutionView, RunSnapshot, WaitView
from orchestrator.engine.work import Work
from orchestrator.ports.store import ClaimRequest, Store
from orchestrator.testing.simulation import Simulation


class Stage:
    """One simulation and the run it is about."""

    def __init__(
        self, store: Store, *, limits: DataLimits = DEFAULT_LIMITS, policies: Sequence[AdmissionPolicy] = ()
    ) -> None:
        self.simulation = Simulation(store=store, limits=limits, policies=policies)
        self.run_id = ""

    @property
    def orchestrator(self) -> Orchestrator:
        return self.simulation.orchestrator

    # --- moving -----------------------------------------------------------------------------------------------------

    def publish(self, document: Mapping[str, Any], **scripts: Any) -> None:
        """Publish, with a script for each performed node: what it answers, call by call; `{}` where none is given."""
        definition = definition_from(document)
        for node in definition.graph.nodes:
            if node.kind.performed and node.capability is not None:
                answers = scripts.get(node.id.replace("-", "_"), {})
                self.simulation.script(str(node.capability), *(answers if isinstance(answers, list) else [answers]))
        self.orchestrator.publish(document)

    def begin(self, document: Mapping[str, Any], payload: object = None, **scripts: Any) -> str:
        """Publish and start; nothing is performed yet."""
        self.publish(document, **scripts)
        started = self.orchestrator.start(
            document["workflow"], {} if payload is None else payload, key="the-run", subject=None
        )
        self.run_id = started.id
        return started.id

    def play(self, document: Mapping[str, Any], payload: object = None, **scripts: Any) -> RunSnapshot:
        """Begin, and perform all that can be without time passing."""
        self.begin(document, payload, **scripts)
        self.simulation.settle()
        return self.run

    def pass_time(self, **span: float) -> None:
        """Let time pass, with all the work that brings."""
        self.simulation.pass_time(timedelta(**span))

    def claim(self, node: str, key: str | None = None, *, effect: str = "idempotent") -> Work:
        """Claim the attempt that is owed for this node, as a worker does, and perform nothing."""
        wanted = self.execution(node, key)
        attempt = f"{wanted.id}.{wanted.attempts}"
        claimed = self.simulation.engine.claim([ClaimRequest(attempt, effect)], "worker-1")
        bells = [bell for bell in self.simulation.doorbells.rung if bell.attempt_id != attempt]
        self.simulation.doorbells.rung.clear()
        self.simulation.doorbells.rung.extend(bells)
        [work] = claimed
        return work

    def answer(self, work: Work, outcome: object) -> bool:
        """Answer a claimed attempt; False when the answer is late."""
        receipt = receipt_of(outcome, self.simulation.engine.limits)
        return bool(self.simulation.engine.advance([work.answer(receipt)]))

    # --- looking ----------------------------------------------------------------------------------------------------

    @property
    def run(self) -> RunSnapshot:
        return self.orchestrator.run(self.run_id)

    @property
    def status(self) -> str:
        return self.run.status.value

    def facts(self, *types: str) -> list[JournalEntry]:
        """The journal, or its facts of these types (without the prefix `Workflow`)."""
        wanted = {f"Workflow{name}" for name in types}
        return [fact for fact in self.orchestrator.facts(self.run_id) if not types or fact.type in wanted]

    def types(self) -> list[str]:
        """The fact types in order, without the prefix."""
        return [fact.type.removeprefix("Workflow") for fact in self.facts()]

    def execution(self, node: str, key: str | None = None, *, visit: int | None = None) -> ExecutionView:
        """The latest execution of a node in a branch, or that of one visit."""
        found = [e for e in self.run.executions_of(node) if e.key == key and visit in (None, e.execution.visit)]
        return found[-1]

    def statuses(self, node: str) -> dict[str | None, str]:
        """The status of a node by branch key."""
        return {execution.key: execution.status.value for execution in self.run.executions_of(node)}

    def wait(self, node: str, key: str | None = None) -> WaitView:
        """The open wait of a node."""
        [found] = [w for w in self.run.waits if w.node == node and self._key(w) == key]
        return found

    @staticmethod
    def _key(wait: WaitView) -> str | None:
        return wait.execution.branch[-1].key if wait.execution.branch else None

    def calls(self, node: str) -> list[Work]:
        """The attempts of a node that were performed, in order."""
        return [work for work in self.simulation.performed if work.node_id == node]
