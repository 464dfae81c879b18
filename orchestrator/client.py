"""The face a producer holds: publish, start, look, and act on runs. Everything here may be called from any process.

Every call takes `scope`, the tenant. Errors: `Rejected` (definition or start refused, with every reason), `NotFound`,
`WaitClosed`, `Refused` (and `BadData`) for calls that do not fit, `StoreUnavailable` when the database is away.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, Self

from orchestrator.core.admission import AdmissionPolicy
from orchestrator.core.data import canonical
from orchestrator.core.decide.commands import (
    CancelRun,
    Command,
    CompleteWait,
    ReconcileExecution,
    ResolveWait,
    SendSignal,
)
from orchestrator.core.document import definition_from
from orchestrator.core.facts import Trigger
from orchestrator.core.graph import Definition, Outlet
from orchestrator.core.journal import JournalEntry, entries
from orchestrator.core.outcomes import FailureKind, Outcome, Receipt, receipt_of
from orchestrator.core.snapshot import RunSnapshot, large_outputs, snapshot
from orchestrator.core.state import RunState, RunStatus
from orchestrator.definition_files import load_document
from orchestrator.engine.arguments import actor_of, contract_of, nowhere, reason_of, require_findable, require_version
from orchestrator.engine.engine import Engine
from orchestrator.engine.loading import recorded, stored_definition
from orchestrator.engine.starting import Started, StartRequest
from orchestrator.errors import NotFound, Refused, WaitClosed
from orchestrator.ports.records import DefinitionRow, RunRow, WaitRow
from orchestrator.ports.store import RunFilter, Transaction
from orchestrator.settings import Settings
from orchestrator.wiring import engine_from

if TYPE_CHECKING:
    from orchestrator.graph import Workflow

DEFAULT_SCOPE: Final = "default"

#: A payload that was left out is an empty object; None is null (semantics 2.8).
LEFT_OUT: Final[Mapping[str, Any]] = {}


class Orchestrator:
    """One handle for a process; thread-safe; close it, or use it in a `with` statement."""

    def __init__(
        self,
        database_url: str | None = None,
        broker_url: str | None = None,
        *,
        policies: Sequence[AdmissionPolicy] = (),
        engine: Engine | None = None,
    ) -> None:
        """With URLs, or with the settings of the environment for what is left out. `policies` are asked at each start.

        Raises `BadSettings` for a URL that cannot be one; a database that does not answer shows at the first call.
        """
        given = {"database_url": database_url, "broker_url": broker_url}
        self._engine = engine or engine_from(
            Settings(**{name: url for name, url in given.items() if url is not None}), policies=policies
        )

    @classmethod
    def from_env(cls, *, policies: Sequence[AdmissionPolicy] = ()) -> Orchestrator:
        """From CELERIAC_DATABASE_URL, CELERIAC_BROKER_URL and the other settings of the environment."""
        return cls(policies=policies)

    @property
    def engine(self) -> Engine:
        """The engine behind this handle."""
        return self._engine

    def close(self) -> None:
        """Give up the connections."""
        self._engine.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- definitions ------------------------------------------------------------------------------------------------

    def publish(
        self,
        source: Definition | Workflow | Mapping[str, Any] | str | PathLike[str],
        *,
        scope: str = DEFAULT_SCOPE,
    ) -> DefinitionRow:
        """Publish a version and make it active: a document, a path to one (JSON or YAML), or a built definition.

        Idempotent. Raises `Rejected` with every violation, also when the version exists with other content.
        """
        return self._engine.publish(scope, definition_of(source))

    def activate(self, workflow: str, version: int | None, *, scope: str = DEFAULT_SCOPE) -> None:
        """Make this version the active one; None deactivates the workflow. Runs that exist are not touched."""
        require_findable("workflow", workflow, scope)
        require_version(workflow, version)
        self._engine.activate(scope, workflow, version)

    def definition(self, workflow: str, version: int | None = None, *, scope: str = DEFAULT_SCOPE) -> Definition:
        """That version, or the active one. Raises `NotFound`."""
        require_findable("definition", workflow, scope)
        require_version(workflow, version)
        with self._engine.store.reading() as tx:
            row = tx.definition(scope, workflow, version)
        if row is None:
            raise NotFound("definition", workflow if version is None else f"{workflow}@{version}")
        return stored_definition(row)

    def definitions(self, workflow: str | None = None, *, scope: str = DEFAULT_SCOPE) -> list[DefinitionRow]:
        """All published versions."""
        if nowhere(scope, workflow):
            return []
        with self._engine.store.reading() as tx:
            return tx.definitions(scope, workflow)

    # --- runs -------------------------------------------------------------------------------------------------------

    def start(
        self,
        workflow: str,
        payload: object = LEFT_OUT,
        *,
        subject: tuple[str, str] | None = None,
        correlation: str | None = None,
        key: str | None = None,
        trigger_kind: str = "manual",
        scope: str = DEFAULT_SCOPE,
    ) -> Started:
        """Start a run of the active version. The same `key` finds the same run again, with `created` false.

        Raises `Rejected` with every reason; then nothing is stored and the same call may be repeated.
        """
        kind, id = subject if subject is not None else (None, None)
        trigger = Trigger(trigger_kind, kind, id, correlation)
        fresh = uuid.uuid4().hex if key is None else key
        return self._engine.start(StartRequest(scope, workflow, fresh, payload, trigger))

    def run(self, run_id: str, *, scope: str = DEFAULT_SCOPE) -> RunSnapshot:
        """The run as it stands. Raises `NotFound`."""
        state = self.state(run_id, scope=scope)
        numbers = large_outputs(state)
        values = {}
        if numbers:
            with self._engine.store.reading() as tx:
                values = tx.values(run_id, sorted(numbers))
        return snapshot(state, lambda output: output.text or values[output.number])

    def state(self, run_id: str, *, scope: str = DEFAULT_SCOPE) -> RunState:
        """The folded state of a run. Raises `NotFound`."""
        require_findable("run", run_id, scope)
        state = self._engine.state(run_id)
        if state.scope != scope:
            raise NotFound("run", run_id)
        return state

    def facts(self, run_id: str, *, scope: str = DEFAULT_SCOPE) -> list[JournalEntry]:
        """The journal of a run, complete. Raises `NotFound`."""
        with self._engine.store.reading() as tx:
            self._require_run(tx, run_id, scope)
            return list(entries(recorded(tx, run_id, tx.facts(run_id))))

    def runs(
        self, which: RunFilter | None = None, *, limit: int = 100, before: tuple[datetime, str] | None = None
    ) -> list[RunRow]:
        """Runs, newest first; the next page is `before` the last row's (started_at, run_id)."""
        asked = which or RunFilter(scope=DEFAULT_SCOPE)
        if nowhere(asked.scope, asked.workflow, asked.status, asked.subject_kind, asked.subject_id):
            return []
        with self._engine.store.reading() as tx:
            return tx.runs(asked, limit=limit, before=before)

    def wait_for(self, run_id: str, timeout: float | timedelta = 30.0, *, scope: str = DEFAULT_SCOPE) -> RunSnapshot:
        """Block until the run is final. Raises `TimeoutError` after `timeout` seconds, saying where the run stands."""
        seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else timeout
        until = time.monotonic() + seconds
        pause = 0.01
        while True:
            with self._engine.store.reading() as tx:
                row = self._require_run(tx, run_id, scope)
            if RunStatus(row.status).final:
                return self.run(run_id, scope=scope)
            if time.monotonic() >= until:
                raise TimeoutError(f"run {run_id!r} is still {row.status} after {seconds:g} s")
            time.sleep(min(pause, max(0.0, until - time.monotonic())))
            pause = min(pause * 1.5, 0.5)

    def signal(
        self,
        run_id: str,
        contract: str,
        payload: object = LEFT_OUT,
        *,
        actor: str | None = None,
        scope: str = DEFAULT_SCOPE,
    ) -> int:
        """Resume every open signal wait of the run that accepts ``name@version``; answers with how many.

        With none waiting the answer is 0 and nothing is kept. Raises `Refused` for a payload, a contract or an actor
        that cannot be one.
        """
        value = canonical(payload, self._engine.limits)
        return int(str(self._tell(run_id, SendSignal(contract_of(contract), value, actor_of(actor)), scope)))

    def cancel(
        self, run_id: str, *, actor: str | None = None, reason: str | None = None, scope: str = DEFAULT_SCOPE
    ) -> None:
        """End the run now: open waits are withdrawn, running attempts called off. Nothing after a final status."""
        self._tell(run_id, CancelRun(actor_of(actor), reason_of(reason)), scope)

    def reconcile(
        self,
        run_id: str,
        execution_id: str,
        outcome: Outcome,
        *,
        actor: str | None = None,
        scope: str = DEFAULT_SCOPE,
    ) -> None:
        """Choose the outcome of an execution whose effect nobody knows: `Succeeded`, `Failed` or `Skipped`."""
        self._tell(run_id, ReconcileExecution(execution_id, self._receipt(outcome), actor_of(actor)), scope)

    # --- waits ------------------------------------------------------------------------------------------------------

    def waits(
        self, *, kind: str | None = None, run_id: str | None = None, limit: int = 1000, scope: str = DEFAULT_SCOPE
    ) -> list[WaitRow]:
        """Open waits, oldest first."""
        if nowhere(scope, run_id, kind):
            return []
        with self._engine.store.reading() as tx:
            return tx.waits(scope=scope, run_id=run_id, kind=kind, limit=limit)

    def approve(
        self, wait_id: str, payload: object = LEFT_OUT, *, actor: str | None = None, scope: str = DEFAULT_SCOPE
    ) -> None:
        """Approve. Raises `NotFound`, `WaitClosed` (who was first, when, how) or `Refused`."""
        self._resolve(wait_id, Outlet.APPROVED, payload, actor=actor, scope=scope)

    def reject(
        self, wait_id: str, payload: object = LEFT_OUT, *, actor: str | None = None, scope: str = DEFAULT_SCOPE
    ) -> None:
        """Reject; raises as `approve`."""
        self._resolve(wait_id, Outlet.REJECTED, payload, actor=actor, scope=scope)

    def resume(
        self, wait_id: str, payload: object = LEFT_OUT, *, actor: str | None = None, scope: str = DEFAULT_SCOPE
    ) -> None:
        """Resume one signal wait by its id, whatever contract it names; raises as `approve`."""
        self._resolve(wait_id, Outlet.RESUMED, payload, actor=actor, scope=scope)

    def cancel_wait(
        self, wait_id: str, payload: object = LEFT_OUT, *, actor: str | None = None, scope: str = DEFAULT_SCOPE
    ) -> None:
        """Call a signal wait off, through `cancelled`; raises as `approve`."""
        self._resolve(wait_id, Outlet.CANCELLED, payload, actor=actor, scope=scope)

    def complete(self, key: str, outcome: object, *, actor: str | None = None, scope: str = DEFAULT_SCOPE) -> None:
        """Give a suspended node its answer: `Succeeded`, `Failed`, `Skipped`, or a plain output.

        Raises `NotFound` when no such key was ever opened, `WaitClosed`, or `Refused`; the wait then stays open.
        """
        receipt, named = self._receipt(outcome), actor_of(actor)
        require_findable("completion key", key, scope)
        with self._engine.store.reading() as tx:
            row = tx.wait_by_key(scope, key)
        if row is None:
            raise NotFound("completion key", key)
        if row.status != "open":
            raise WaitClosed(row.wait_id, outlet=row.outlet, actor=row.actor, at=row.closed_at)
        self._engine.tell(row.run_id, CompleteWait(row.wait_id, receipt, named))

    # ----------------------------------------------------------------------------------------------------------------

    def _resolve(self, wait_id: str, outlet: str, payload: object, *, actor: str | None, scope: str) -> None:
        value, named = canonical(payload, self._engine.limits), actor_of(actor)
        require_findable("wait", wait_id, scope)
        with self._engine.store.reading() as tx:
            row = tx.wait(wait_id)
        if row is None or row.scope != scope:
            raise NotFound("wait", wait_id)
        if row.status != "open":
            raise WaitClosed(wait_id, outlet=row.outlet, actor=row.actor, at=row.closed_at)
        self._engine.tell(row.run_id, ResolveWait(wait_id, outlet, value, named))

    def _receipt(self, outcome: object) -> Receipt:
        receipt = receipt_of(outcome, self._engine.limits)
        if receipt.kind in (FailureKind.INVALID_OUTPUT, FailureKind.INVALID_OUTLET):
            raise Refused(receipt.reason or "the outcome cannot be stored")
        return receipt

    def _tell(self, run_id: str, command: Command, scope: str) -> object:
        with self._engine.store.reading() as tx:
            self._require_run(tx, run_id, scope)
        return self._engine.tell(run_id, command)

    @staticmethod
    def _require_run(tx: Transaction, run_id: str, scope: str) -> RunRow:
        require_findable("run", run_id, scope)
        row = tx.run(run_id)
        if row is None or row.scope != scope:
            raise NotFound("run", run_id)
        return row


def definition_of(source: Definition | Workflow | Mapping[str, Any] | str | PathLike[str]) -> Definition:
    """A definition from any of its spellings. Raises `Rejected` for a document that is none."""
    if isinstance(source, Definition):
        return source
    if isinstance(source, str | PathLike):
        return definition_from(load_document(source))
    if isinstance(source, Mapping):
        return definition_from(source)
    return source.definition()
