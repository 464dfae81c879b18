"""`celeriac repair`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.terminal import AsJson, DatabaseUrl, opened, tell, tell_json
from orchestrator.cli.verify import difference_document


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("repair")(repair)


def repair(
    apply: Annotated[bool, typer.Option("--apply", help="Mend; left out: only list.")] = False,
    database_url: DatabaseUrl = None,
    json: AsJson = False,
) -> None:
    """List what a fault left behind, and mend it with --apply. Never needed in health."""
    from orchestrator.engine.auditing import audit, mend

    with opened(database_url) as orchestrator:
        store = orchestrator.engine.store
        looked = [(difference, apply and mend(store, difference)) for difference in list(audit(store))]
    left = sum(not mended for _, mended in looked)
    if json:
        tell_json([difference_document(difference) | {"mended": mended} for difference, mended in looked])
    else:
        for difference, mended in looked:
            tell(f"{'mended' if mended else 'found'}: {difference}")
        if not looked:
            tell("nothing to mend")
        elif left:
            tell(
                "what is left only a person can judge"
                if apply
                else "run it again with --apply to write what the journals ask for"
            )
    if left:
        raise typer.Exit(1)
