"""Redis for tests: a server of one's own wherever the program is installed, so that a test may kill and flush it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import redis

from tests.services.presence import HOST, answers, free_port, leave_out, stopped_at_the_end, wait_until


@dataclass(slots=True)
class RedisServer:
    """A Redis that belongs to one test process. It keeps nothing on disk: what is killed is forgotten."""

    program: str
    folder: Path
    port: int = field(default_factory=free_port)
    _running: contextlib.ExitStack | None = None

    @property
    def url(self) -> str:
        """Stays the same over a stop and a start."""
        return f"redis://{HOST}:{self.port}/0"

    def start(self) -> None:
        """Start it and return once it answers; nothing when it runs."""
        if self._running is not None:
            return
        command = [self.program, "--port", str(self.port), "--bind", HOST, "--dir", str(self.folder)]
        command += ["--save", "", "--appendonly", "no", "--logfile", "log", "--daemonize", "no"]
        with contextlib.ExitStack() as stack:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.enter_context(stopped_at_the_end(process))
            wait_until(lambda: answers(self.port), process=process, seconds=20)
            self._running = stack.pop_all()

    def stop(self) -> None:
        """Stop it, as a crash of the broker would; nothing when it is stopped."""
        if self._running is not None:
            self._running.close()
            self._running = None

    def flush(self) -> None:
        """Forget everything, and go on answering."""
        with redis.Redis.from_url(self.url) as client:
            client.flushall()


@contextlib.contextmanager
def own_redis() -> Iterator[RedisServer]:
    """A running server of our own; left out when the program is not installed."""
    program = shutil.which("redis-server")
    if program is None:
        leave_out("Redis of one's own", "the program redis-server is not installed")
    with tempfile.TemporaryDirectory(prefix="celeriac-redis-") as folder:
        server = RedisServer(program, Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def redis_database() -> Iterator[str]:
    """The URL of an empty database: of our own server, else one by number of the server at the usual port."""
    if shutil.which("redis-server") is not None:
        with own_redis() as server:
            yield server.url
        return
    if not answers(6379):
        leave_out("Redis", f"no answer at {HOST}:6379, and the program redis-server is not installed")
    digits = "".join(filter(str.isdigit, os.environ.get("PYTEST_XDIST_WORKER", "")))
    url = f"redis://{HOST}:6379/{(int(digits or 0) + 1) % 16}"
    with redis.Redis.from_url(url) as client:
        client.flushdb()
        yield url
        client.flushdb()
