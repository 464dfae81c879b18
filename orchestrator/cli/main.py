"""The command `celeriac`: the table of its nouns, and what becomes of errors.

Only the noun that is asked for is imported, so that `celeriac --help` pays for no database and no Celery.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module, metadata
from io import TextIOWrapper
from itertools import takewhile
from typing import Annotated, Final

import typer

from orchestrator.cli.terminal import complain, misused
from orchestrator.errors import CeleriacError, Rejected

#: By noun: the module that registers it, and what it is for.
NOUNS: Final[Mapping[str, tuple[str, str]]] = {
    "demo": ("demo", "Run the flagship end to end and tell what happened."),
    "up": ("up", "Run everything in one process, until Ctrl-C."),
    "worker": ("roles", "Run a worker (Celery's own options are handed on)."),
    "beat": ("roles", "Run beat (Celery's own options are handed on)."),
    "definitions": ("definitions", "Publish, check, list and draw definitions."),
    "runs": ("runs", "Start, list, show, cancel and reconcile runs."),
    "waits": ("waits", "List and close open waits: approve, reject, resume, cancel."),
    "signal": ("signals", "Send a signal to a run."),
    "complete": ("completions", "Give a suspended node its answer, by its key."),
    "schedules": ("schedules", "Show when a cron expression fires."),
    "verify": ("verify", "Fold journals again and compare all that follows."),
    "repair": ("repair", "List what verify finds, and mend it with --apply."),
    "db": ("database", "Make or migrate the schema."),
    "schema": ("schema", "Print the JSON Schema of a definition document."),
    "doctor": ("doctor", "Say what is wrong, and what to do about it."),
}


def application(arguments: Sequence[str]) -> typer.Typer:
    """The commands, as far as these arguments need them."""
    asked = next((argument for argument in arguments if not argument.startswith("-")), None)
    app = typer.Typer(
        name="celeriac",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_celeriac)
    module = NOUNS[asked][0] if asked is not None and asked in NOUNS else None
    if module is not None:
        import_module(f"orchestrator.cli.{module}").register(app)
    for noun, (home, sentence) in NOUNS.items():
        if home != module:
            app.command(noun, help=sentence)(_elsewhere)
    return app


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"celeriac {metadata.version('celeriac')}")
        raise typer.Exit


def _celeriac(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from, as CELERIAC_DEBUG=1 does.")
    ] = False,
) -> None:
    """Durable workflow graphs for people who already run Celery."""


def _elsewhere() -> None:
    """Stands for a noun whose module was not needed."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Exit codes: 0 done, 1 refused or failed (one sentence on the error output), 2 usage."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    told = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(told, application(told)))


def run(arguments: Sequence[str], app: Callable[..., object]) -> int:
    """Run an application and answer with the exit code."""
    try:
        _readable(arguments)
        answer = app(args=list(arguments), prog_name="celeriac", standalone_mode=False)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if _debugged(arguments):
            raise
        return _complained(error)
    return answer if isinstance(answer, int) else 0


def _debugged(arguments: Sequence[str]) -> bool:
    """Whether --debug stands before the noun, or the environment asks for it."""
    own = takewhile(lambda argument: argument.startswith("-"), arguments)
    return "--debug" in own or os.environ.get("CELERIAC_DEBUG", "0") not in {"", "0"}


def _readable(arguments: Sequence[str]) -> None:
    for argument in arguments:
        if any("\ud800" <= letter <= "\udfff" for letter in argument):
            raise misused(f"the argument {argument!a} is not UTF-8; write it in UTF-8")


def _complained(error: Exception) -> int:
    """Say what is wrong, and answer with the exit code."""
    if isinstance(error, Rejected):
        for reason in error.reasons:
            complain(str(reason))
    elif isinstance(error, CeleriacError):
        complain(error.message)
    elif (show := getattr(error, "show", None)) is not None:
        show()
        return int(getattr(error, "exit_code", 1))
    else:
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        complain(f"this should not have happened: {said}; CELERIAC_DEBUG=1 shows where, please report it")
    return 1
