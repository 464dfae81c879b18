"""`celeriac waits`: list, approve, reject, resume, cancel."""

from __future__ import annotations

from typing import Annotated

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
    misused,
    opened,
    run_id,
    tell,
    tell_json,
    tell_table,
    value_of,
    wait_id,
)

Wait = Annotated[str, typer.Argument(metavar="WAIT", help="A wait's id, or its beginning.")]

KINDS = ("signal", "timer", "approval", "completion")


def register(app: typer.Typer) -> None:
    """Add the noun."""
    noun = typer.Typer(no_args_is_help=True, help="List and close open waits.")
    noun.command("list")(list_)
    for command in (approve, reject, resume, cancel):
        noun.command()(command)
    app.add_typer(noun, name="waits")


def list_(
    kind: Annotated[str | None, typer.Option(help="Only signal, timer, approval or completion.")] = None,
    run: Annotated[str | None, typer.Option(help="Only of this run.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many, the oldest.")] = 100,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    json: AsJson = False,
) -> None:
    """Open waits, oldest first."""
    from orchestrator.core.instants import format_instant

    if kind is not None and kind not in KINDS:
        raise misused(f"--kind is {kind!r}; it may be {', '.join(KINDS)}")
    with opened(database_url) as orchestrator:
        of_run = None if run is None else run_id(orchestrator, run, scope)
        rows = orchestrator.waits(kind=kind, run_id=of_run, limit=limit, scope=scope)
    if json:
        tell_json(
            [
                {
                    "waitId": r.wait_id,
                    "runId": r.run_id,
                    "workflow": r.workflow,
                    "executionId": r.execution_id,
                    "node": r.node,
                    "branch": r.branch_key,
                    "kind": r.kind,
                    "signal": None if r.signal_id is None else f"{r.signal_id}@{r.signal_version}",
                    "key": r.key,
                    "deadline": None if r.deadline is None else format_instant(r.deadline),
                    "openedAt": format_instant(r.opened_at),
                }
                for r in rows
            ]
        )
        return
    tell_table(
        ("wait", "run", "kind", "workflow", "node", "branch", "until (UTC)"),
        (
            (
                r.wait_id[:SHORT],
                r.run_id[:SHORT],
                r.kind,
                r.workflow,
                r.node,
                r.branch_key,
                "" if r.deadline is None else f"{r.deadline:%m-%d %H:%M}",
            )
            for r in rows
        ),
        empty="nothing waits",
        ids=2,
    )


#: What becomes of a wait by each verb.
DONE = {"approve": "approved", "reject": "rejected", "resume": "resumed", "cancel": "cancelled"}


def _close(
    verb: str,
    wait: str,
    payload: str,
    actor: str | None,
    *,
    scope: str,
    urls: tuple[str | None, str | None],
    json: bool,
) -> None:
    value = value_of(payload)
    with opened(*urls) as orchestrator:
        id = wait_id(orchestrator, wait, scope)
        close = {
            "approve": orchestrator.approve,
            "reject": orchestrator.reject,
            "resume": orchestrator.resume,
            "cancel": orchestrator.cancel_wait,
        }[verb]
        close(id, value, actor=actor_of(actor), scope=scope)
    if json:
        tell_json({"waitId": id, "outlet": DONE[verb]})
    else:
        tell(f"{id} is {DONE[verb]}")


def approve(
    wait: Wait,
    payload: Payload = "{}",
    actor: Actor = None,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: AsJson = False,
) -> None:
    """Say yes to an approval."""
    _close("approve", wait, payload, actor, scope=scope, urls=(database_url, broker_url), json=json)


def reject(
    wait: Wait,
    payload: Payload = "{}",
    actor: Actor = None,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: AsJson = False,
) -> None:
    """Say no to an approval."""
    _close("reject", wait, payload, actor, scope=scope, urls=(database_url, broker_url), json=json)


def resume(
    wait: Wait,
    payload: Payload = "{}",
    actor: Actor = None,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: AsJson = False,
) -> None:
    """Resume one signal wait, whatever contract it names."""
    _close("resume", wait, payload, actor, scope=scope, urls=(database_url, broker_url), json=json)


def cancel(
    wait: Wait,
    payload: Payload = "{}",
    actor: Actor = None,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: AsJson = False,
) -> None:
    """Call a signal wait off."""
    _close("cancel", wait, payload, actor, scope=scope, urls=(database_url, broker_url), json=json)
