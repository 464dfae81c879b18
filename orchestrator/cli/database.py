"""`celeriac db`: upgrade, current."""

from __future__ import annotations

import typer

from orchestrator.cli.terminal import AsJson, DatabaseUrl, settings_for, tell, tell_json


def register(app: typer.Typer) -> None:
    """Add the noun."""
    noun = typer.Typer(no_args_is_help=True, help="Make or migrate the schema.")
    noun.command()(upgrade)
    noun.command()(current)
    app.add_typer(noun, name="db")


def upgrade(database_url: DatabaseUrl = None, json: AsJson = False) -> None:
    """Bring the database to this release's schema; several may do it at once."""
    from orchestrator.store import migrate

    before, after = migrate.upgrade(settings_for(database_url).database_url)
    if json:
        tell_json({"before": before, "after": after})
    elif before == after:
        tell(f"the schema is at {after}, nothing to do")
    else:
        tell(f"the schema went from {before or 'nothing'} to {after}")


def current(database_url: DatabaseUrl = None, json: AsJson = False) -> None:
    """The revision of the database, and the one this release needs."""
    from orchestrator.store import migrate

    found, needed = migrate.current(settings_for(database_url).database_url), migrate.head()
    if json:
        tell_json({"current": found, "needed": needed})
    else:
        tell(f"the schema is at {found or 'nothing'}, this release needs {needed}")
    if found != needed:
        raise typer.Exit(1)
