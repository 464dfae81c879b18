"""`celeriac verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.cli.terminal import AsJson, DatabaseUrl, Scope, opened, run_id, tell, tell_json

if TYPE_CHECKING:
    from orchestrator.engine.auditing import Difference


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("verify")(verify)


def difference_document(difference: Difference) -> dict[str, Any]:
    """On the wire."""
    return {
        "runId": difference.run_id,
        "table": difference.table,
        "key": difference.key,
        "message": str(difference),
    }


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
        tell_json([difference_document(difference) for difference in differences])
    else:
        for difference in differences:
            tell(str(difference))
        if not differences:
            tell("every row agrees with the journals")
    if differences:
        raise typer.Exit(1)
