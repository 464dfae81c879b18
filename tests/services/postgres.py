"""PostgreSQL for tests: an empty database a test process, on the server that answers or on a private one.

The server is named by ``CELERIAC_TEST_POSTGRES`` (a URL of a user who may create databases).
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.services.presence import HOST, NeverReady, free_port, leave_out, stopped_at_the_end, wait_until, worker_name

DEFAULT_SERVER = f"postgresql://postgres@{HOST}:5432/postgres"


@contextlib.contextmanager
def postgres_database() -> Iterator[str]:
    """The URL of an empty database that is dropped at the end."""
    with contextlib.ExitStack() as stack:
        server = os.environ.get("CELERIAC_TEST_POSTGRES") or DEFAULT_SERVER
        if not _accepts(server):
            programs = _programs()
            if programs is None:
                parts = conninfo_to_dict(server)
                where = f"{parts.get('host', 'its socket')}:{parts.get('port', 5432)}"
                leave_out("PostgreSQL", f"no answer at {where}, and its programs are not installed")
            server = stack.enter_context(_private_server(programs))
        yield stack.enter_context(_database_of_our_own(server))


@contextlib.contextmanager
def _database_of_our_own(server: str) -> Iterator[str]:
    name = f"celeriac_test_{worker_name()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(sql.Identifier(name))
        )
    address, _, query = server.partition("?")
    base = address.rsplit("/", 1)[0] if address.count("/") > 2 else address
    try:
        yield f"{base}/{name}" + (f"?{query}" if query else "")
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def _accepts(server: str) -> bool:
    try:
        psycopg.connect(server, connect_timeout=3).close()
    except psycopg.OperationalError:
        return False
    return True


def _programs() -> Path | None:
    """The folder with initdb and postgres, of the newest version that is installed."""
    found = list(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if found:
        return max(found, key=lambda program: int(program.parts[-3])).parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


@contextlib.contextmanager
def _private_server(programs: Path) -> Iterator[str]:
    """A cluster of our own in a temporary folder; as root it runs as the user postgres, for it refuses root."""
    user = _unprivileged_user()
    folder = Path(tempfile.mkdtemp(prefix="celeriac-pg-"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        data, port = folder / "data", free_port()
        initdb = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(initdb, check=True, capture_output=True, user=user, cwd=folder)
        command = [str(programs / "postgres"), "-D", str(data), "-p", str(port), "-h", HOST, "-k", str(folder)]
        command += ["-c", "fsync=off", "-c", "max_connections=200"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, user=user, cwd=folder)
        server = f"postgresql://postgres@{HOST}:{port}/postgres"
        # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients to leave.
        with stopped_at_the_end(process, how=signal.SIGINT):
            wait_until(lambda: _accepts(server), process=process)
            yield server
    except (subprocess.CalledProcessError, NeverReady) as problem:
        leave_out("PostgreSQL", f"a private server did not start: {problem}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged_user() -> str | None:
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        leave_out("PostgreSQL", "no server answers, and root without a user named postgres cannot start one")
