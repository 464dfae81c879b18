"""The command `celeriac`: the table of its nouns, and what becomes of errors.

Only the noun that is asked for is imported, so that `celeriac --help` pays for no database and no Celery.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Final

import typer

from orchestrator.cli.terminal import complain
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
        help="Durable workflow graphs for people who already run Celery.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    module = NOUNS[asked][0] if asked is not None and asked in NOUNS else None
    if module is not None:
        import_module(f"orchestrator.cli.{module}").register(app)
    for noun, (home, sentence) in NOUNS.items():
        if home != module:
            app.command(noun, help=sentence)(_elsewhere)
    return app


def _elsewhere() -> None:
    """Stands for a noun whose module was not needed."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Exit codes: 0 done, 1 refused or failed (one sentence on the error output), 2 usage."""
    told = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(run(told, application(told)))


def run(arguments: Sequence[str], app: Callable[..., object]) -> int:
    """Run an application and answer with the exit code."""
    try:
        answer = app(args=list(arguments), standalone_mode=False)
    except Rejected as error:
        for reason in error.reasons:
            complain(str(reason))
    except CeleriacError as error:
        if os.environ.get("CELERIAC_DEBUG"):
            raise
        complain(error.message)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        show, code = getattr(error, "show", None), getattr(error, "exit_code", 1)
        if show is None or os.environ.get("CELERIAC_DEBUG"):
            raise
        show()
        return int(code)
    else:
        return answer if isinstance(answer, int) else 0
    return 1
