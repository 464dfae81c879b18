"""`celeriac up`: a worker, beat and the schema in one process, until somebody stops it."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.text import Text

from orchestrator.client import Orchestrator
from orchestrator.dispatch.carrier import scheme_of
from orchestrator.errors import BadSettings
from orchestrator.ports.records import DefinitionRow
from orchestrator.settings import Settings
from orchestrator.telling import plain

#: What the documents of a folder are called.
SUFFIXES: Final = (".yaml", ".yml", ".json")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("up")(up)


def up(
    pool: Annotated[
        str, typer.Option(help="prefork (processes) or threads (nothing can stop an attempt).")
    ] = "prefork",
    concurrency: Annotated[int, typer.Option(min=1, max=1000, help="How many attempts at once.")] = 2,
    definitions: Annotated[
        list[Path] | None, typer.Option(help="Publish this document, or every one in this folder; may be repeated.")
    ] = None,
) -> None:
    """Run everything in one process, on ./celeriac.db or CELERIAC_DATABASE_URL, until Ctrl-C."""
    from orchestrator.performers.table import collect
    from workers.embedded import run_embedded

    _import_from_here()
    settings = Settings()
    files = documents(definitions or ())
    performers = collect(settings.performers)
    console = Console(markup=False, highlight=False)
    with (
        _until_stopped() as stopped,
        run_embedded(settings, pool=pool, concurrency=concurrency, performers=performers) as running,
    ):
        orchestrator = Orchestrator(engine=running.engine)
        for file in files:
            row = orchestrator.publish(file)
            console.print(plain(f"Published {row.workflow}@{row.version} from {file}."), soft_wrap=True)
        for line in report(settings, sorted(performers.capabilities), orchestrator.definitions()):
            console.print(line, soft_wrap=True)
        stopped.wait()
        console.print("Stopping: what runs may end, the rest is handed back.")


def documents(places: Sequence[Path]) -> list[Path]:
    """The documents that were named, and those of a folder. Raises `BadSettings` for a folder without any."""
    found: list[Path] = []
    for place in places:
        if place.is_dir():
            inside = sorted(file for file in place.iterdir() if file.suffix.lower() in SUFFIXES)
            if not inside:
                raise BadSettings(f"the folder {place} holds no {', no '.join(SUFFIXES)}; name a definition document")
            found += inside
        else:
            found.append(place)
    return found


def report(settings: Settings, capabilities: Sequence[str], known: Sequence[DefinitionRow]) -> Iterator[Text]:
    """What runs here, what it can do, and how to start something from elsewhere."""
    active = [f"{row.workflow}@{row.version}" for row in known if row.active]
    elsewhere = settings.database_url != Settings.model_fields["database_url"].default
    command = f"{'CELERIAC_DATABASE_URL=… ' if elsewhere else ''}celeriac"
    yield Text.assemble(
        ("Celeriac is up", "bold"), f": a worker and beat in one process, on {_shown(settings.database_url)}."
    )
    yield Text(f"Performs: {plain(', '.join(capabilities))}." if capabilities else NOTHING_PERFORMED)
    if active:
        name = plain(active[0].rpartition("@")[0])
        yield Text(f"Workflows: {plain(', '.join(active))}.")
        yield Text(f"Start one from another terminal: {command} runs start {name} --payload '{{}}'")
    else:
        yield Text(f"No workflow is published yet. From another terminal: {command} definitions publish FILE")
    if scheme_of(settings.broker_url) != "memory":
        yield Text(OWN_CARRIER)
    yield Text("Ctrl-C stops it.")


OWN_CARRIER: Final = (
    "CELERIAC_BROKER_URL is not used here: `up` carries its work in its own memory. What other processes start in this "
    "database is found by beat and done here."
)
NOTHING_PERFORMED: Final = "Performs nothing: name modules of performers in CELERIAC_PERFORMERS=package.module,…"


def _shown(url: str) -> str:
    """A database's URL without anything secret in it."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return plain(f"{parts.scheme}://{host}{parts.path}")


def _import_from_here() -> None:
    """Modules beside the user are found, as `celery` and `python -m` find them."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


@contextlib.contextmanager
def _until_stopped() -> Iterator[threading.Event]:
    """An event that the first SIGINT or SIGTERM sets; the second one is an interrupt again."""
    stopped = threading.Event()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def stop(number: int, _frame: FrameType | None) -> None:
        stopped.set()
        signal.signal(number, before[signal.Signals(number)] or signal.SIG_DFL)

    for number in before:
        signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
