"""`celeriac repair`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.terminal import DatabaseUrl, opened, tell


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("repair")(repair)


def repair(
    apply: Annotated[bool, typer.Option("--apply", help="Mend; left out: only list.")] = False,
    database_url: DatabaseUrl = None,
) -> None:
    """List what a fault left behind, and mend it with --apply. Never needed in health."""
    from orchestrator.engine.auditing import audit, mend

    left = 0
    with opened(database_url) as orchestrator:
        store = orchestrator.engine.store
        differences = list(audit(store))
        for difference in differences:
            mended = apply and mend(store, difference)
            left += not mended
            tell(f"{'mended' if mended else 'found'}: {difference}")
    if not differences:
        tell("nothing to mend")
    elif left and not apply:
        tell("run it again with --apply to write what the journals ask for")
    if left:
        raise typer.Exit(1)
