"""`celeriac demo`: the flagship, embedded. What happens is `flagship`'s to say, how it looks is `demo_screen`'s."""

from __future__ import annotations

import contextlib
import json as json_text
import logging
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Final

import structlog
import typer
from celery.exceptions import SecurityWarning
from rich.console import Console

from orchestrator.cli.demo_screen import (
    Screen,
    decisions_text,
    inbox_table,
    orders_table,
    screen_for,
    summary_text,
    timeline,
)
from orchestrator.client import Orchestrator
from orchestrator.errors import CeleriacError, Refused
from orchestrator.flagship.dataset import OWN_DATA, DataSet, read_data
from orchestrator.flagship.demo import Demo, Progress
from orchestrator.flagship.tally import Story, Summary
from orchestrator.settings import Settings
from orchestrator.telling import tell

#: How often the runs are looked at.
PAUSE: Final = 0.1

#: If nothing has moved for so long, something is broken: the longest wait of the workflow is a few seconds.
PATIENCE: Final = 60.0

DATABASE: Final = "celeriac.db"

PERFORMERS: Final = "orchestrator.flagship.performers"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with orders.csv, order_lines.csv and products.csv in the Northwind layout."),
    ] = None,
    no_dashboard: Annotated[  # noqa: ARG001 - there is none to serve yet
        bool, typer.Option("--no-dashboard", help="Serve no dashboard; there is none yet.")
    ] = False,
    leave_open: Annotated[bool, typer.Option("--leave-open", help="Decide nothing: leave the approvals open.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object; progress goes to the error output.")
    ] = False,
    keep: Annotated[Path | None, typer.Option(help="Keep the database in this folder, to look around in.")] = None,
) -> None:
    """Run the flagship: ship orders line by line, let people decide where stock is missing, and tell what happened."""
    orders = read_data(data or OWN_DATA)
    console = Console(stderr=json, markup=False, highlight=False)
    _quietly()
    began = time.monotonic()
    with _folder(keep) as folder, _embedded(folder) as orchestrator:
        performance = Demo(orchestrator, orders)
        console.print(_opening(orders), soft_wrap=True)
        summary = _perform(performance, console, lambda: time.monotonic() - began, leave_open=leave_open)
        _tell_one(performance, console)
        console.print(summary_text(summary))
    if keep is not None:
        console.print(_kept(folder), soft_wrap=True)
    if json:
        typer.echo(json_text.dumps(summary.document()))
    if summary.failed:
        raise typer.Exit(1)


def _quietly() -> None:
    """Leave the screen to the demo: of what the parts log, only what went wrong is shown, on the error output. Told to
    end, it ends as if interrupted: the children of its worker are ended, the folder is removed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    warnings.filterwarnings("ignore", category=SecurityWarning)
    logging.getLogger("celery").setLevel(logging.ERROR)
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _perform(performance: Demo, console: Console, seconds: Callable[[], float], *, leave_open: bool) -> Summary:
    with screen_for(console) as screen:
        for _ in performance.start():
            pass
        _watch(performance, screen, seconds, until=lambda progress: progress.gathered)
    requests = performance.inbox()
    if requests:
        console.print(inbox_table(requests))
        console.print()
    if requests and not leave_open:
        console.print(decisions_text(performance.decide(requests)))
    with screen_for(console) as screen:
        _watch(performance, screen, seconds, until=lambda now: now.only_people if leave_open else now.over)
    summary = performance.summary(seconds=seconds())
    console.print(orders_table(performance.stories, performance.deciders()))
    console.print()
    return summary


def _watch(
    performance: Demo, screen: Screen, seconds: Callable[[], float], *, until: Callable[[Progress], bool]
) -> None:
    before: Progress | None = None
    moved = seconds()
    while True:
        progress = performance.look()
        screen.show(progress, seconds())
        if until(progress):
            return
        if progress != before:
            before, moved = progress, seconds()
        elif seconds() - moved > PATIENCE:
            where = ", ".join(f"{count} {stage.value}" for stage, count in progress.stages.items())
            raise CeleriacError(
                f"nothing has moved for {PATIENCE:.0f} s; the orders stand at: {where}. "
                "Run it again with --keep DIR and look with `celeriac doctor`"
            )
        time.sleep(PAUSE)


def _tell_one(performance: Demo, console: Console) -> None:
    """The journal of the run that has most to tell in the fewest words."""
    story = min(performance.stories, key=_tellable, default=None)
    if story is not None:
        title = f"Order {story.order.id} as its journal tells it"
        console.print(timeline(title, list(tell(performance.journal(story)))))
        console.print()


def _tellable(story: Story) -> tuple[bool, bool, int]:
    return story.join != "partial", story.shipped == 0, story.lines


def _opening(orders: DataSet) -> str:
    return (
        f"{len(orders.unshipped)} of {len(orders.orders)} orders in {orders.folder} are not shipped; one run each, "
        "on SQLite and Celery's memory:// broker with two worker processes."
    )


def _kept(folder: Path) -> str:
    url = f"sqlite:///{folder / DATABASE}"
    return (
        f"Kept in {folder}. Look around: CELERIAC_DATABASE_URL={url} celeriac runs list\n"
        f"Go on with it: CELERIAC_DATABASE_URL={url} CELERIAC_PERFORMERS={PERFORMERS} celeriac up"
    )


@contextlib.contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="celeriac-demo-", ignore_cleanup_errors=True) as name:
            yield Path(name)
        return
    folder = keep.expanduser().resolve()
    if (folder / DATABASE).exists():
        raise Refused(f"{folder} holds a {DATABASE} already; name a folder without one, or remove it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise Refused(f"the folder {folder} cannot be made ({problem.strerror}); name another for --keep") from None
    yield folder


@contextlib.contextmanager
def _embedded(folder: Path) -> Iterator[Orchestrator]:
    from workers.embedded import run_embedded

    settings = Settings(database_url=f"sqlite:///{folder / DATABASE}", performers=(PERFORMERS,))
    with run_embedded(settings, pool="prefork", concurrency=2) as running:
        yield Orchestrator(engine=running.engine)
