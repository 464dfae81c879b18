"""`celeriac doctor`: one line for each thing that must be right, with a remedy where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import typer

from orchestrator.cli.terminal import AsJson, BrokerUrl, DatabaseUrl, import_from_here, settings_for, tell, tell_json
from orchestrator.errors import BadSettings, CeleriacError

if TYPE_CHECKING:
    from orchestrator.settings import Settings

#: An attempt that nobody has claimed for so long is worth a word.
LONG = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at: ``ok``, ``warn`` or ``fail``, and a sentence."""

    what: str
    state: str
    sentence: str


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(database_url: DatabaseUrl = None, broker_url: BrokerUrl = None, json: AsJson = False) -> None:
    """Look at settings, database, schema, broker, performers and what waits for a worker; exit 1 if anything fails."""
    try:
        findings = list(findings_of(settings_for(database_url, broker_url)))
    except BadSettings as error:
        findings = [Finding("settings", "fail", error.message)]
    if json:
        tell_json([{"what": f.what, "state": f.state, "message": f.sentence} for f in findings])
    else:
        for finding in findings:
            tell(f"{finding.state:<4}  {finding.what}: {finding.sentence}")
    if any(finding.state == "fail" for finding in findings):
        raise typer.Exit(1)


def findings_of(settings: Settings) -> Iterator[Finding]:
    """Everything that was looked at."""
    yield Finding("settings", "ok", "every CELERIAC_ variable can be used")
    healthy = True
    for finding in _database(settings):
        healthy = healthy and finding.state == "ok"
        yield finding
    yield _broker(settings)
    yield _performers(settings)
    if healthy:
        yield _unclaimed(settings)


def _database(settings: Settings) -> Iterator[Finding]:
    from orchestrator.store import migrate

    try:
        found = migrate.current(settings.database_url)
    except CeleriacError as error:
        yield Finding("database", "fail", error.message)
        return
    yield Finding("database", "ok", "it answers")
    if found == migrate.head():
        yield Finding("schema", "ok", f"it is at {found}")
    else:
        yield Finding("schema", "fail", f"it is at {found or 'nothing'}: run `celeriac db upgrade`")


def _broker(settings: Settings) -> Finding:
    from orchestrator.wiring import celery_app

    if settings.broker_url.startswith("memory"):
        return Finding("broker", "ok", "memory://, which is for one process that is everything (celeriac up)")
    app = celery_app(settings)
    with app.connection_for_write(connect_timeout=3) as connection:
        where = connection.as_uri()
        try:
            connection.ensure_connection(max_retries=0, timeout=3)
        except Exception as error:  # noqa: BLE001 - each transport has errors of its own, and all mean the same here
            return Finding("broker", "fail", f"{where} does not answer ({error}): check CELERIAC_BROKER_URL")
    return Finding("broker", "ok", f"{where} answers")


def _performers(settings: Settings) -> Finding:
    from orchestrator.performers.table import collect

    import_from_here()
    try:
        table = collect(settings.performers)
    except CeleriacError as error:
        return Finding("performers", "fail", error.message)
    if not len(table):
        return Finding("performers", "warn", "none: name their modules in CELERIAC_PERFORMERS")
    return Finding("performers", "ok", ", ".join(sorted(table.capabilities)))


def _unclaimed(settings: Settings) -> Finding:
    from orchestrator.ports.records import AttemptState
    from orchestrator.store.opening import open_store

    now = datetime.now(UTC)
    with closing(open_store(settings.database_url, pool_size=1)) as store, store.transaction() as tx:
        rows = [r for r in tx.due_attempts(now + timedelta(days=1), 1_000) if r.state is AttemptState.OWED]
    oldest = min(rows, key=lambda row: row.owed_at, default=None)
    if oldest is None or now - oldest.owed_at < LONG:
        return Finding("queue", "ok", "no attempt has waited long for a worker")
    minutes = (now - oldest.owed_at) / timedelta(minutes=1)
    sentence = (
        f"an attempt of {oldest.capability} has waited {minutes:.0f} minutes: "
        "run a worker that performs it and listens to its queue, and beat"
    )
    return Finding("queue", "warn", sentence)
