"""The command `celeriac`: one file a noun, each with `register(app)`; what is common to all stands in `terminal`."""

from __future__ import annotations

import sys

import typer

from orchestrator.errors import CeleriacError


def application() -> typer.Typer:
    """All commands."""
    from orchestrator.cli import demo, up

    app = typer.Typer(name="celeriac", no_args_is_help=True, add_completion=False)
    demo.register(app)
    up.register(app)
    return app


def main() -> None:
    """Run the command line; an error of ours is one sentence and exit code 1."""
    try:
        application()()
    except CeleriacError as error:
        print(f"celeriac: {error}", file=sys.stderr)
        sys.exit(1)
