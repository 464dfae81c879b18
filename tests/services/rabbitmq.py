"""RabbitMQ for tests: a virtual host a test process where one may be made, on the broker that answers or on our own."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from tests.services.presence import (
    HOST,
    NeverReady,
    answers,
    free_port,
    leave_out,
    stopped_at_the_end,
    wait_until,
    worker_name,
)

USUAL_PORT = 5672


@contextlib.contextmanager
def rabbitmq_virtual_host() -> Iterator[str]:
    """The URL of a virtual host of our own, or of the default one where we may not make any."""
    with contextlib.ExitStack() as stack:
        port, environment = USUAL_PORT, dict(os.environ)
        if not answers(port):
            program = _server_program()
            if program is None:
                leave_out("RabbitMQ", f"no answer at {HOST}:{USUAL_PORT}, and its programs are not installed")
            port, environment = stack.enter_context(_private_broker(program))
        name = f"celeriac_test_{worker_name()}"
        if _control(environment, "add_vhost", name) and _control(
            environment, "set_permissions", "-p", name, "guest", ".*", ".*", ".*"
        ):
            stack.callback(_control, environment, "delete_vhost", name)
        else:
            name = "/"
        yield f"amqp://guest:guest@{HOST}:{port}/{quote(name, safe='')}"


def _control(environment: Mapping[str, str], *words: str) -> bool:
    program = shutil.which("rabbitmqctl") or shutil.which("rabbitmqctl", path="/usr/sbin")
    if program is None:
        return False
    command = [program, "--quiet", *words]
    return subprocess.run(command, check=False, capture_output=True, env=environment, timeout=60).returncode == 0


def _server_program() -> str | None:
    # Debian's own command changes the user first; the program behind it runs as whoever starts it.
    behind = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
    return str(behind) if behind.exists() else shutil.which("rabbitmq-server")


@contextlib.contextmanager
def _private_broker(program: str) -> Iterator[tuple[int, dict[str, str]]]:
    """A broker of our own in a temporary folder: its port, and the environment in which it is spoken to."""
    with tempfile.TemporaryDirectory(prefix="celeriac-rabbit-", ignore_cleanup_errors=True) as folder:
        port = free_port()
        environment = dict(os.environ) | {
            "HOME": folder,
            "RABBITMQ_NODENAME": f"{worker_name()}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": HOST,
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": f"{folder}/data",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/env",
            "RABBITMQ_CONFIG_FILE": f"{folder}/config",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{folder}/advanced",
        }
        process = subprocess.Popen([program], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with stopped_at_the_end(process):
                wait_until(lambda: answers(port), process=process)
                yield port, environment
        except NeverReady as problem:
            leave_out("RabbitMQ", f"a private broker did not start: {problem}")
