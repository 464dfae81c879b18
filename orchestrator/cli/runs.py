"""`celeriac runs`: start, list, show, facts, cancel, reconcile."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.terminal import (
    SHORT,
    Actor,
    AsJson,
    BrokerUrl,
    DatabaseUrl,
    Payload,
    Scope,
    actor_of,
    instant_of,
    misused,
    opened,
    run_id,
    tell,
    tell_json,
    tell_table,
    value_of,
    whole_id,
)
from orchestrator.errors import NotFound, Refused

if TYPE_CHECKING:
    from orchestrator.client import Orchestrator
    from orchestrator.core.outcomes import Outcome

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its beginning.")]
Succeeded_ = Annotated[str | None, typer.Option("--succeeded", metavar="OUTLET", help="It happened.")]
Failed_ = Annotated[str | None, typer.Option("--failed", metavar="REASON", help="It did not happen.")]
Skipped_ = Annotated[str | None, typer.Option("--skipped", metavar="REASON", help="It is not needed.")]
Output = Annotated[str | None, typer.Option(help="With --succeeded: the output, JSON, @FILE or @-; left out: {}.")]


def register(app: typer.Typer) -> None:
    """Add the noun."""
    noun = typer.Typer(no_args_is_help=True, help="Start, list, show, cancel and reconcile runs.")
    for command in (start, show, facts, cancel, reconcile):
        noun.command()(command)
    noun.command("list")(list_)
    app.add_typer(noun, name="runs")


def outcome_of(succeeded: str | None, failed: str | None, skipped: str | None, output: str | None) -> Outcome:
    """The outcome that exactly one of the options names."""
    from orchestrator.core.outcomes import Failed, Skipped, Succeeded

    told = [option for option in (succeeded, failed, skipped) if option is not None]
    if len(told) != 1:
        raise misused("say exactly one of --succeeded OUTLET, --failed REASON, --skipped REASON")
    if succeeded is not None:
        return Succeeded(succeeded, {} if output is None else value_of(output))
    if output is not None:
        raise misused("--output goes with --succeeded only")
    return Failed(failed) if failed is not None else Skipped(skipped or "")


def subject_of(text: str | None) -> tuple[str, str] | None:
    """``KIND:ID``."""
    if text is None:
        return None
    kind, _, id = text.partition(":")
    if not (kind and id):
        raise misused(f"--subject is {text!r}; write it KIND:ID, for example order:10248")
    return kind, id


def start(
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="A published workflow.")],
    payload: Payload = "{}",
    subject: Annotated[str | None, typer.Option(metavar="KIND:ID", help="What the run is about.")] = None,
    correlation: Annotated[str | None, typer.Option(help="An id of yours to find it by.")] = None,
    key: Annotated[str | None, typer.Option(help="The same key finds the same run again.")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end; exit 0 only if it succeeded.")] = False,
    timeout: Annotated[float, typer.Option(min=0, help="With --wait: seconds to wait.")] = 3600.0,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: AsJson = False,
) -> None:
    """Start a run of the active version."""
    about, value, status = subject_of(subject), value_of(payload), None
    with opened(database_url, broker_url) as orchestrator:
        started = orchestrator.start(workflow, value, subject=about, correlation=correlation, key=key, scope=scope)
        if not json:
            tell(f"{started.id} {'started' if started.created else 'was started before with this key'}")
        if wait:
            try:
                status = orchestrator.wait_for(started.id, timeout, scope=scope).status.value
            except TimeoutError as error:
                raise Refused(str(error)) from None
    if json:
        tell_json({"runId": started.id, "created": started.created} | ({"status": status} if wait else {}))
    elif wait:
        tell(f"{started.id} {status}")
    if wait and status != "Succeeded":
        raise typer.Exit(1)


def list_(
    workflow: Annotated[str | None, typer.Option(help="Of this workflow only.")] = None,
    status: Annotated[str | None, typer.Option(help="In this status only: Running, Waiting, Failed, …")] = None,
    subject: Annotated[str | None, typer.Option(metavar="KIND:ID", help="About this subject only.")] = None,
    since: Annotated[str | None, typer.Option(metavar="INSTANT", help="Started then or later.")] = None,
    before: Annotated[str | None, typer.Option(metavar="RUN", help="The next page: older than this run.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many, the newest.")] = 50,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    json: AsJson = False,
) -> None:
    """Runs, newest first."""
    from orchestrator.core.instants import format_instant
    from orchestrator.core.state import RunStatus
    from orchestrator.ports.store import RunFilter

    if status is not None and status not in set(RunStatus):
        raise misused(f"--status is {status!r}; it may be {', '.join(RunStatus)}")
    kind, id = subject_of(subject) or (None, None)
    which = RunFilter(scope, workflow, status, subject_kind=kind, subject_id=id, since=instant_of("--since", since))
    with opened(database_url) as orchestrator:
        last = None if before is None else _place(orchestrator, run_id(orchestrator, before, scope))
        rows = orchestrator.runs(which, limit=limit, before=last)
    if json:
        tell_json(
            [
                {
                    "runId": r.run_id,
                    "workflow": r.workflow,
                    "version": r.version,
                    "status": r.status,
                    "subject": None if r.subject_kind is None else {"kind": r.subject_kind, "id": r.subject_id},
                    "key": r.key,
                    "startedAt": format_instant(r.started_at),
                    "endedAt": None if r.ended_at is None else format_instant(r.ended_at),
                }
                for r in rows
            ]
        )
        return
    tell_table(
        ("run", "workflow", "status", "subject", "started (UTC)"),
        (
            (
                r.run_id[:SHORT],
                f"{r.workflow}@{r.version}",
                r.status,
                "" if r.subject_kind is None else f"{r.subject_kind}:{r.subject_id}",
                f"{r.started_at:%m-%d %H:%M:%S}",
            )
            for r in rows
        ),
        empty="no runs",
        ids=1,
    )
    if len(rows) == limit:
        tell(f"there may be older ones: --before {rows[-1].run_id[:SHORT]}")


def _place(orchestrator: Orchestrator, id: str) -> tuple[datetime, str]:
    """Where a run stands in the list."""
    with orchestrator.engine.store.reading() as tx:
        row = tx.run(id)
    if row is None:
        raise NotFound("run", id)
    return row.started_at, row.run_id


def show(run: Run, scope: Scope = "default", database_url: DatabaseUrl = None, json: AsJson = False) -> None:
    """Where a run stands, and why it does not move."""
    from orchestrator.cli.run_screen import tell_run
    from orchestrator.standing import reasons

    with opened(database_url) as orchestrator:
        id = run_id(orchestrator, run, scope)
        snapshot = orchestrator.run(id, scope=scope)
        state = orchestrator.state(id, scope=scope)
        with orchestrator.engine.store.reading() as tx:
            attempts = tx.attempts_of((id,))
        why = list(reasons(state, attempts, orchestrator.engine.clock.now()))
    if json:
        tell_json(snapshot.document() | {"standsOn": why})
        return
    tell_run(snapshot, why)


def facts(run: Run, scope: Scope = "default", database_url: DatabaseUrl = None, json: AsJson = False) -> None:
    """The journal of a run, told as sentences."""
    from orchestrator.telling import tell as telling

    with opened(database_url) as orchestrator:
        journal = orchestrator.facts(run_id(orchestrator, run, scope), scope=scope)
    if json:
        tell_json([entry.document() for entry in journal])
        return
    tell_table(
        ("", "after", "what happened"),
        ((told.number, f"+{told.after.total_seconds():.2f} s", told.sentence) for told in telling(journal)),
        empty="no facts",
    )


def cancel(
    run: Run,
    reason: Annotated[str | None, typer.Option(help="Why.")] = None,
    actor: Actor = None,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: AsJson = False,
) -> None:
    """End a run now; nothing happens to one that has ended."""
    with opened(database_url, broker_url) as orchestrator:
        id = run_id(orchestrator, run, scope)
        orchestrator.cancel(id, actor=actor_of(actor), reason=reason, scope=scope)
        _tell_status(orchestrator, id, scope, json=json)


def reconcile(
    run: Run,
    execution: Annotated[str, typer.Argument(metavar="EXECUTION", help="An execution's id, or its beginning.")],
    succeeded: Succeeded_ = None,
    failed: Failed_ = None,
    skipped: Skipped_ = None,
    output: Output = None,
    actor: Actor = None,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: AsJson = False,
) -> None:
    """Say what happened where nobody knows it."""
    outcome = outcome_of(succeeded, failed, skipped, output)
    with opened(database_url, broker_url) as orchestrator:
        id = run_id(orchestrator, run, scope)
        known = sorted(orchestrator.state(id, scope=scope).executions)
        whole = whole_id("execution", execution, known)
        orchestrator.reconcile(id, whole, outcome, actor=actor_of(actor), scope=scope)
        _tell_status(orchestrator, id, scope, json=json)


def _tell_status(orchestrator: Orchestrator, id: str, scope: str, *, json: bool) -> None:
    status = orchestrator.state(id, scope=scope).status.value
    if json:
        tell_json({"runId": id, "status": status})
    else:
        tell(f"{id} {status}")
