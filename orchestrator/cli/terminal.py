"""What the nouns share: common options, the handle, tables for people, JSON for programs, ids by their beginning."""

from __future__ import annotations

import getpass
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from orchestrator.errors import NotFound, Refused, SchemaOutdated

if TYPE_CHECKING:
    from orchestrator.client import Orchestrator
    from orchestrator.ports.store import Transaction
    from orchestrator.settings import Settings

Scope = Annotated[str, typer.Option(envvar="CELERIAC_SCOPE", help="The tenant.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs: one JSON document.")]
Actor = Annotated[str | None, typer.Option(help="Who does it; left out: the user of this machine.")]
Payload = Annotated[str, typer.Option(help="JSON, @FILE, or @- for standard input.")]
DatabaseUrl = Annotated[str | None, typer.Option(help="Instead of CELERIAC_DATABASE_URL.")]
BrokerUrl = Annotated[str | None, typer.Option(help="Instead of CELERIAC_BROKER_URL.")]

#: So much of an id is shown in tables: enough to be the only one that begins like this, and six columns fit into 80.
SHORT: Final = 12

#: So many ids are looked at in one go, and so many are named when several begin alike.
PAGE: Final = 1_000
NAMED: Final = 5


def settings_for(database_url: str | None = None, broker_url: str | None = None) -> Settings:
    """The settings of the environment, with another database or broker where one is named."""
    from orchestrator.settings import Settings

    named = {"database_url": database_url, "broker_url": broker_url}
    return Settings(**{name: url for name, url in named.items() if url is not None})


@contextmanager
def opened(database_url: str | None = None, broker_url: str | None = None) -> Iterator[Orchestrator]:
    """A handle on a database with the right schema; an SQLite file gets its schema by itself."""
    from orchestrator.client import Orchestrator
    from orchestrator.store.migrate import check, upgrade
    from orchestrator.wiring import engine_from

    settings = settings_for(database_url, broker_url)
    with Orchestrator(engine=engine_from(settings)) as orchestrator:
        try:
            check(orchestrator.engine.store)
        except SchemaOutdated:
            if not settings.database_url.startswith("sqlite"):
                raise
            upgrade(settings.database_url)
        yield orchestrator


def import_from_here() -> None:
    """Modules beside the user are found, as `celery` and `python -m` find them."""
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)


def complain(message: str) -> None:
    """One sentence on the error output."""
    from orchestrator.telling import plain

    typer.echo(f"celeriac: {plain(message)}", err=True)


def instant_of(option: str, text: str | None) -> datetime | None:
    """The instant that an option says; wrong usage if it says none."""
    from orchestrator.core.instants import parse_instant

    try:
        return None if text is None else parse_instant(text)
    except ValueError as error:
        raise misused(f"{option}: {error}") from None


def misused(message: str) -> typer.BadParameter:
    """Wrong usage: exit code 2."""
    from orchestrator.telling import plain

    return typer.BadParameter(plain(message))


def tell(message: str) -> None:
    """One line for people; what would steer their terminal is taken out of it."""
    from orchestrator.telling import plain

    typer.echo(plain(message))


def tell_json(document: Any) -> None:
    """One JSON document; letters that the output cannot show are escaped."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(document, ensure_ascii=not unicode, indent=2 if sys.stdout.isatty() else None))


def tell_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str, ids: int = 0) -> None:
    """A table for people; user text is no markup and steers nothing. The first `ids` columns are never folded."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from orchestrator.telling import plain

    shown = list(rows)
    if not shown:
        typer.echo(empty)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, no_wrap=number < ids, overflow="fold")
    for row in shown:
        table.add_row(*(Text("" if cell is None else plain(str(cell))) for cell in row))
    Console(markup=False, highlight=False).print(table)


def value_of(text: str) -> Any:
    """The JSON of an option: itself, a file's (@FILE) or standard input's (@-). Raises `BadData` or `Refused`."""
    from orchestrator.core.data import load, parse

    if text == "@-":
        return load(parse(sys.stdin.buffer.read()))
    if text.startswith("@"):
        try:
            return load(parse(Path(text[1:]).read_bytes()))
        except OSError as error:
            raise Refused(f"the file {text[1:]!r} cannot be read: {error.strerror}") from error
    return load(parse(text))


def actor_of(actor: str | None) -> str:
    """Who acts."""
    if actor is not None:
        return actor
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user often has no name
        return f"uid {os.getuid()}"


def whole_id(what: str, beginning: str, known: Iterable[str]) -> str:
    """The one id that begins like this. Raises `NotFound`, or `Refused` when several do, naming some of them.

    `known` gives the id itself, if it is one, before longer ones: so do sorted ids.
    """
    if not beginning:
        raise misused(f"the id of the {what} is empty; give it, or its beginning")
    found: list[str] = []
    for id in known:
        if id == beginning:
            return id
        if id.startswith(beginning):
            found.append(id)
        if len(found) > NAMED:
            break
    if not found:
        raise NotFound(what, beginning)
    if len(found) > 1:
        more = ", …" if len(found) > NAMED else ""
        raise Refused(
            f"{beginning!r} begins several {what}s: {', '.join(sorted(found)[:NAMED])}{more}; give more of it"
        )
    return found[0]


def run_id(orchestrator: Orchestrator, beginning: str, scope: str) -> str:
    """The id of a run of this scope, by its beginning."""
    with orchestrator.engine.store.reading() as tx:
        return whole_id("run", beginning, _runs_that_begin(tx, beginning, scope))


def _runs_that_begin(tx: Transaction, beginning: str, scope: str) -> Iterator[str]:
    row = tx.run(beginning)
    if row is not None and row.scope == scope:
        yield row.run_id
    last = beginning
    while ids := [id for id in tx.run_ids(after=last, limit=PAGE) if id.startswith(beginning)]:
        for id in ids:
            row = tx.run(id)
            if row is not None and row.scope == scope:
                yield id
        last = ids[-1]


def wait_id(orchestrator: Orchestrator, beginning: str, scope: str) -> str:
    """The id of a wait of this scope, by its beginning: among the open ones, else among all."""
    with orchestrator.engine.store.reading() as tx:
        row = tx.wait(beginning)
        if row is not None and row.scope == scope:
            return row.wait_id
        try:
            return whole_id("wait", beginning, _waits(tx, scope, open_only=True))
        except NotFound:
            return whole_id("wait", beginning, _waits(tx, scope, open_only=False))


def _waits(tx: Transaction, scope: str, *, open_only: bool) -> Iterator[str]:
    after = None
    while rows := tx.waits(scope=scope, open_only=open_only, limit=PAGE, after=after):
        yield from (row.wait_id for row in rows)
        after = (rows[-1].opened_at, rows[-1].wait_id)
