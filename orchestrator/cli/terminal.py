"""What the nouns share: common options, the handle, tables for people, JSON for programs, ids by their beginning."""

from __future__ import annotations

import getpass
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orchestrator.errors import NotFound, Refused

if TYPE_CHECKING:
    from orchestrator.client import Orchestrator
    from orchestrator.settings import Settings

Scope = Annotated[str, typer.Option(envvar="CELERIAC_SCOPE", help="The tenant.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs: one JSON document.")]
Actor = Annotated[str | None, typer.Option(help="Who does it; left out: the user of this machine.")]
Payload = Annotated[str, typer.Option(help="JSON, @FILE, or @- for standard input.")]
DatabaseUrl = Annotated[str | None, typer.Option(help="Instead of CELERIAC_DATABASE_URL.")]


def settings_for(database_url: str | None = None) -> Settings:
    """The settings of the environment, with another database when one is named."""
    from orchestrator.settings import Settings

    return Settings() if database_url is None else Settings(database_url=database_url)


@contextmanager
def opened(database_url: str | None = None) -> Iterator[Orchestrator]:
    """A handle on a database with the right schema; an SQLite file gets its schema by itself."""
    from orchestrator.client import Orchestrator
    from orchestrator.store.migrate import check, upgrade
    from orchestrator.wiring import engine_from

    settings = settings_for(database_url)
    if settings.database_url.startswith("sqlite"):
        upgrade(settings.database_url)
    with Orchestrator(engine=engine_from(settings)) as orchestrator:
        check(orchestrator.engine.store)
        yield orchestrator


def complain(message: str) -> None:
    """One sentence on the error output."""
    typer.echo(f"celeriac: {message}", err=True)


def tell(message: str) -> None:
    """One line for people."""
    typer.echo(message)


def tell_json(document: Any) -> None:
    """One JSON document."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def tell_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """A table for people; user text is shown as it is, and long cells are folded."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = list(rows)
    if not shown:
        typer.echo(empty)
        return
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in shown:
        table.add_row(*(Text("" if cell is None else str(cell), overflow="fold") for cell in row))
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
    return actor or getpass.getuser()


def whole_id(what: str, beginning: str, known: Iterable[str]) -> str:
    """The one id that begins like this. Raises `NotFound`, or `Refused` when several do, naming them."""
    found = sorted({id for id in known if id.startswith(beginning)})
    if beginning in found or len(found) == 1:
        return beginning if beginning in found else found[0]
    if not found:
        raise NotFound(what, beginning)
    raise Refused(f"{beginning!r} begins {len(found)} ids of {what}s: {', '.join(found[:5])}; give more of it")


def run_id(orchestrator: Orchestrator, beginning: str, scope: str) -> str:
    """The id of a run of this scope, by its beginning."""
    from orchestrator.ports.store import RunFilter

    with orchestrator.engine.store.reading() as tx:
        row = tx.run(beginning)
        if row is not None and row.scope == scope:
            return beginning
    return whole_id("run", beginning, (row.run_id for row in orchestrator.runs(RunFilter(scope=scope), limit=10_000)))


def wait_id(orchestrator: Orchestrator, beginning: str, scope: str) -> str:
    """The id of a wait, by its beginning among the open ones; a closed one by its whole id."""
    with orchestrator.engine.store.reading() as tx:
        if tx.wait(beginning) is not None:
            return beginning
    return whole_id("wait", beginning, (row.wait_id for row in orchestrator.waits(scope=scope, limit=10_000)))
