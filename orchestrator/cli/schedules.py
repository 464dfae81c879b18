"""`celeriac schedules`: preview."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from orchestrator.cli.terminal import AsJson, instant_of, misused, tell, tell_json


def register(app: typer.Typer) -> None:
    """Add the noun."""
    noun = typer.Typer(no_args_is_help=True, help="Show when a cron expression fires.")
    noun.command()(preview)
    noun.callback()(_noun)
    app.add_typer(noun, name="schedules")


def _noun() -> None:
    """Show when a cron expression fires."""


def preview(
    expression: Annotated[str, typer.Argument(metavar="EXPR", help="Five fields, for example '0 6 * * 1-5'.")],
    count: Annotated[int, typer.Option(min=1, max=1_000, help="How many instants.")] = 5,
    from_: Annotated[str | None, typer.Option("--from", help="After this instant; left out: now.")] = None,
    timezone: Annotated[str, typer.Option(help="UTC.")] = "UTC",
    json: AsJson = False,
) -> None:
    """The next instants at which a cron expression fires."""
    from orchestrator.core.cron import CronExpression
    from orchestrator.core.instants import format_instant

    if timezone != "UTC":
        raise misused(f"--timezone is {timezone!r}; expressions are evaluated in UTC")
    after = instant_of("--from", from_) or datetime.now(UTC)
    instants = [format_instant(instant) for instant in CronExpression.parse(expression).upcoming(after, count)]
    if json:
        tell_json(instants)
        return
    for instant in instants:
        tell(instant)
    if not instants:
        tell("never")
