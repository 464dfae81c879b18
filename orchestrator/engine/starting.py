"""Publishing definitions and starting runs (semantics 1.15): everything is checked first, all reasons are answered
together, and a refusal stores nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.core.admission import AdmissionPolicy, TriggerRequest, start_reasons, structural_violations
from orchestrator.core.data import EMPTY, JsonText, canonical, size
from orchestrator.core.decide.commands import Advance
from orchestrator.core.document import text_of
from orchestrator.core.evolve import evolve
from orchestrator.core.facts import Recorded, Trigger, WorkflowRunAdmitted
from orchestrator.core.graph import Definition
from orchestrator.core.ids import id_problem, run_id
from orchestrator.engine.advancing import TRIES, Batch, committed, decide_run
from orchestrator.engine.deps import Deps
from orchestrator.engine.loading import stored_definition
from orchestrator.engine.rows import change_of
from orchestrator.errors import BadData, CeleriacError, CommitUnknown, Conflict, NotFound, Reason, Rejected
from orchestrator.ports.records import DefinitionRow
from orchestrator.ports.store import Transaction


@dataclass(frozen=True, slots=True)
class Started:
    """A run that a start found or made."""

    id: str
    #: False: the same key had started it before, and nothing was changed.
    created: bool


@dataclass(frozen=True, slots=True)
class StartRequest:
    """What a producer asks for; `payload` is any Python value that is JSON."""

    scope: str
    workflow: str
    key: str
    payload: object
    trigger: Trigger


def publish(deps: Deps, scope: str, definition: Definition) -> DefinitionRow:
    """Store a version and make it the active one, unless a later one is active. The same again changes nothing.

    Raises `Rejected` with every structural violation, or when this version exists with other content.
    """
    reasons = [Reason("InvalidId", "scope", f"the scope {problem}")] if (problem := id_problem(scope)) else []
    reasons += [violation.reason for violation in structural_violations(definition)]
    if reasons:
        raise Rejected(reasons)
    row = DefinitionRow(
        scope,
        definition.workflow,
        definition.version,
        definition.digest,
        text_of(definition),
        active=False,
        published_at=deps.clock.now(),
    )
    for _ in range(TRIES):
        try:
            with deps.store.transaction() as tx:
                return _publish(tx, row)
        except Conflict:
            continue
    raise Conflict


def _publish(tx: Transaction, row: DefinitionRow) -> DefinitionRow:
    known = tx.definition(row.scope, row.workflow, row.version)
    if known is None and not tx.add_definition(row):
        known = tx.definition(row.scope, row.workflow, row.version)
    if known is not None:
        if known.digest != row.digest:
            raise Rejected([_changed(row)])
        return known
    later = _later(tx, row)
    active = tx.definition(row.scope, row.workflow)
    if active is None or active.version < row.version:
        tx.activate(row.scope, row.workflow, row.version)
        if _later(tx, row) != later:
            raise Conflict("a later version was published meanwhile, and may be active: look again")
    return tx.definition(row.scope, row.workflow, row.version) or row


def _later(tx: Transaction, row: DefinitionRow) -> list[int]:
    return [other.version for other in tx.definitions(row.scope, row.workflow) if other.version > row.version]


def activate(deps: Deps, scope: str, workflow: str, version: int | None) -> None:
    """Make this version the active one; None deactivates the workflow. Raises `NotFound`."""
    for _ in range(TRIES):
        try:
            with deps.store.transaction() as tx:
                if version is not None and tx.definition(scope, workflow, version) is None:
                    raise NotFound("definition", f"{workflow}@{version}")
                if version is None and not tx.definitions(scope, workflow):
                    raise NotFound("workflow", workflow)
                return tx.activate(scope, workflow, version)
        except Conflict:
            continue
    raise Conflict


def _changed(row: DefinitionRow) -> Reason:
    return Reason(
        "VersionIsImmutable",
        "version",
        f"version {row.version} of {row.workflow!r} was published with other content; "
        "versions never change: publish the change under a new version",
    )


def start(deps: Deps, request: StartRequest, policies: Sequence[AdmissionPolicy] = ()) -> Started:
    """Admit a run, or find the one that this key has started. Raises `Rejected` with every reason.

    When the connection breaks at the commit, whether it took place is settled by looking for the run.
    """
    refusals = _ids(request)
    if refusals:
        raise Rejected(refusals)
    id = run_id(request.scope, request.workflow, request.key)
    ours = False
    for _ in range(TRIES):
        batch = Batch()
        try:
            with deps.store.transaction() as tx:
                if tx.head(id) is not None:
                    return Started(id, created=ours)
                _admit(deps, tx, batch, id, request, policies)
                tx.append(batch.changes)
        except Conflict:
            continue
        except CommitUnknown:
            ours = True
            continue
        committed(deps, batch)
        return Started(id, created=True)
    raise Conflict


def _admit(
    deps: Deps, tx: Transaction, batch: Batch, id: str, request: StartRequest, policies: Sequence[AdmissionPolicy]
) -> None:
    definition, payload = _checked(deps, tx, request, policies)
    now = deps.clock.now()
    admitted = WorkflowRunAdmitted(id, request.scope, request.key, text_of(definition), request.trigger, payload)
    first = Recorded(1, now, admitted, size(payload))
    decision = decide_run(deps, tx, evolve(None, first), (Advance(),), values={1: payload})
    batch.decisions[id] = decision
    batch.changes.append(change_of(0, (first, *decision.facts), decision.state))


def _ids(request: StartRequest) -> list[Reason]:
    trigger = request.trigger
    named = {"scope": request.scope, "workflow": request.workflow, "key": request.key, "triggerKind": trigger.kind}
    if trigger.subject_kind is not None:
        named |= {"subject.kind": trigger.subject_kind, "subject.id": trigger.subject_id or ""}
    if trigger.correlation is not None:
        named["correlation"] = trigger.correlation
    return [Reason("InvalidId", name, f"the {name} {p}") for name, value in named.items() if (p := id_problem(value))]


def _checked(
    deps: Deps, tx: Transaction, request: StartRequest, policies: Sequence[AdmissionPolicy]
) -> tuple[Definition, JsonText]:
    reasons: list[Reason] = []
    payload: JsonText | None = None
    try:
        payload = canonical(request.payload, deps.limits)
    except BadData as problem:
        reasons.append(Reason("InvalidPayload", "payload", problem.message))
    row = tx.definition(request.scope, request.workflow)
    definition = None
    if row is None:
        reasons.append(_absent(tx, request))
    else:
        try:
            definition = stored_definition(row)
        except CeleriacError as error:
            reasons.append(Reason("UnreadableDefinition", "workflow", error.message))
    if definition is not None:
        trigger = request.trigger
        asked = TriggerRequest(
            trigger.kind,
            payload or EMPTY,
            trigger.subject_kind,
            trigger.subject_id,
            trigger.correlation,
            request.key,
            request.scope,
        )
        reasons += start_reasons(definition, asked, policies)
    if reasons or definition is None or payload is None:
        raise Rejected(reasons)
    return definition, payload


def _absent(tx: Transaction, request: StartRequest) -> Reason:
    published = tx.definitions(request.scope, request.workflow)
    if not published:
        message = f"no definition of {request.workflow!r} is published in scope {request.scope!r}; publish one first"
        return Reason("WorkflowNotFound", "workflow", message)
    message = f"no version of {request.workflow!r} is active in scope {request.scope!r}; activate or publish one"
    return Reason("NoActiveDefinition", "workflow", message)
