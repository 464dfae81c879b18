"""`celeriac complete`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.runs import Failed_, Output, Skipped_, Succeeded_, outcome_of
from orchestrator.cli.terminal import Actor, AsJson, BrokerUrl, DatabaseUrl, Scope, actor_of, opened, tell, tell_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("complete")(complete)


def complete(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key that the performer suspended with.")],
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
    """Give a suspended node its answer; left to itself, success through `next`."""
    if succeeded is failed is skipped is None:
        succeeded = "next"
    outcome = outcome_of(succeeded, failed, skipped, output)
    with opened(database_url, broker_url) as orchestrator:
        orchestrator.complete(key, outcome, actor=actor_of(actor), scope=scope)
    if json:
        tell_json({"key": key, "outcome": type(outcome).__name__})
    else:
        tell(f"{key} is completed")
