"""`celeriac signal`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.terminal import (
    Actor,
    AsJson,
    BrokerUrl,
    DatabaseUrl,
    Payload,
    Scope,
    actor_of,
    opened,
    run_id,
    tell,
    tell_json,
    value_of,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("signal")(signal)


def signal(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its beginning.")],
    contract: Annotated[str, typer.Argument(metavar="NAME@V", help="What happened.")],
    payload: Payload = "{}",
    actor: Actor = None,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    broker_url: BrokerUrl = None,
    json: AsJson = False,
) -> None:
    """Resume every open signal wait of a run that accepts NAME@V; with none waiting nothing is kept."""
    value = value_of(payload)
    with opened(database_url, broker_url) as orchestrator:
        id = run_id(orchestrator, run, scope)
        resumed = orchestrator.signal(id, contract, value, actor=actor_of(actor), scope=scope)
    if json:
        tell_json({"runId": id, "resumed": resumed})
    else:
        tell(f"{resumed} {'wait' if resumed == 1 else 'waits'} resumed")
