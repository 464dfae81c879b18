"""`celeriac verify`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.terminal import AsJson, DatabaseUrl, Scope, opened, run_id, tell, tell_json


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(verify)


def verify(
    run: Annotated[str | None, typer.Argument(metavar="[RUN]", help="One run; left out: all.")] = None,
    scope: Scope = "default",
    database_url: DatabaseUrl = None,
    json: AsJson = False,
) -> None:
    """Fold journals again and compare every row that follows from them; exit 1 if anything differs."""
    from orchestrator.engine.auditing import audit

    with opened(database_url) as orchestrator:
        run_ids = None if run is None else [run_id(orchestrator, run, scope)]
        differences = list(audit(orchestrator.engine.store, run_ids))
    if json:
        tell_json([{"runId": d.run_id, "table": d.table, "key": d.key, "message": str(d)} for d in differences])
    else:
        for difference in differences:
            tell(str(difference))
        if not differences:
            tell("every row agrees with the journals")
    if differences:
        raise typer.Exit(1)
