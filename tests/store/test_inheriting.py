"""A forked child lets go of its parent's connections, harms none of them, and opens its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.store.migrate import upgrade
from orchestrator.store.sql.transaction import open_sql_store
from tests.store.rows import change

PROGRAM = """
import gc, os, sys, traceback
from orchestrator.store.opening import open_store

store = open_store(sys.argv[1])
held = [store.engine.connect() for _ in range(3)]
for connection in held[1:]:
    connection.close()

def processes():
    if store.engine.dialect.name == "sqlite":
        return []
    return [held[0].exec_driver_sql("SELECT pg_backend_pid()").scalar()]

def as_child():
    store.forget_inherited_connections()
    gc.collect()
    for _ in range(3):
        with store.transaction() as tx:
            assert ["run-1"] == tx.run_ids()
    store.forget_inherited_connections()
    with store.reading() as tx:
        assert ["run-1"] == tx.run_ids()
    store.close()
    gc.collect()

before = processes()
for _ in range(2):
    child = os.fork()
    if child == 0:
        try:
            as_child()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert before == processes()
store.forget_inherited_connections()
with store.reading() as tx:
    assert ["run-1"] == tx.run_ids()
assert before == processes()
held[0].close()
store.close()
"""


@pytest.mark.parametrize("kind", ("sqlite", "postgresql"))
def test_a_child_lets_go_of_its_parents_connections(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, project: Path
) -> None:
    url = f"sqlite:///{tmp_path}/x.db" if kind == "sqlite" else request.getfixturevalue("empty_postgres")
    upgrade(url)
    store = open_sql_store(url)
    with store.transaction() as tx:
        tx.append([change()])
    store.close()
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, url], capture_output=True, text=True, timeout=60, check=False, cwd=project
    )
    assert (0, "") == (told.returncode, told.stderr)
