"""Whether a service is there, and what is said when it is not: left out on a developer's machine, an error in CI."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

#: How a reason begins when something was left out; the summary of the test run repeats those reasons in its last lines.
LEFT_OUT = "left out: "

HOST = "127.0.0.1"


def in_ci() -> bool:
    """Whether nothing may be left out."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def leave_out(what: str, why: str) -> NoReturn:
    """Skip the test and say so at the end of the run; with CI=true fail it instead."""
    if in_ci():
        pytest.fail(f"not there: {what} ({why}); with CI=true nothing may be left out", pytrace=False)
    pytest.skip(f"{LEFT_OUT}{what} ({why})")


def answers(port: int, host: str = HOST) -> bool:
    """Whether somebody accepts connections there."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
        return True
    return False


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def worker_name() -> str:
    """A name that no other test process of this machine has: the pytest-xdist worker and the process id."""
    return f"{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}_{os.getpid()}"


class NeverReady(Exception):
    """The server was started and did not answer in time."""


def wait_until(ready: Callable[[], bool], *, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    """Return once `ready` says so; NeverReady when the time is over or the process has ended."""
    deadline = time.monotonic() + seconds
    while not ready():
        with contextlib.suppress(subprocess.TimeoutExpired):
            raise NeverReady(f"{process.args!r} ended with {process.wait(timeout=0.05)}")
        if time.monotonic() > deadline:
            raise NeverReady(f"{process.args!r} did not answer within {seconds} s")


@contextlib.contextmanager
def stopped_at_the_end(process: subprocess.Popen[bytes], *, how: signal.Signals = signal.SIGTERM) -> Iterator[None]:
    """Stop the server when the block is left: kindly first, by force after ten seconds."""
    try:
        yield
    finally:
        process.send_signal(how)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
