"""`celeriac schema`."""

from __future__ import annotations

import typer

from orchestrator.cli.terminal import AsJson


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("schema")(schema)


def schema(json: AsJson = False) -> None:  # noqa: ARG001 - it is JSON anyhow
    """Print the JSON Schema of a definition document, for editors."""
    from orchestrator.core.document_schema import schema_text

    typer.echo(schema_text(), nl=False)
