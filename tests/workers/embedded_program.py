"""A process that is everything: worker and beat on a broker in memory. It starts runs and calls attempts off when told.

One JSON object a line on the standard input, one line of answer each; it stops when the input ends.
"""

from __future__ import annotations

import json
import logging
import sys

from orchestrator.client import Orchestrator
from orchestrator.settings import Settings
from orchestrator.wiring import log_through_logging
from workers.embedded import run_embedded


def say(line: str) -> None:
    """Answer."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(pool: str) -> None:
    """Run until the input ends."""
    logging.basicConfig(level=logging.INFO)
    log_through_logging()
    with run_embedded(Settings(), pool=pool, concurrency=2) as running:
        orchestrator = Orchestrator(engine=running.engine)
        say("ready.")
        for line in sys.stdin:
            match json.loads(line):
                case {"start": str(workflow), "payload": payload}:
                    say(orchestrator.start(workflow, payload).id)
                case {"call_off": str(attempt_id)}:
                    running.engine.dispatcher.call_off([attempt_id])
                    say("called off")
    say("stopped.")


if __name__ == "__main__":
    main(sys.argv[1])
