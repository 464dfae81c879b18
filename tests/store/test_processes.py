"""Several processes write to one SQLite file: nobody is turned away, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from orchestrator.store.migrate import upgrade
from orchestrator.store.opening import open_store

PROCESSES, WRITES = 4, 200

PROGRAM = """
import sys
from orchestrator.store.opening import open_store
from tests.store.rows import attempt, change

url, name, writes = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = open_store(url)
for n in range(writes):
    with store.transaction() as tx:
        head = tx.head("shared")
        own = f"{name}-{n}"
        tx.append(
            [change("shared", after=head.tail if head else 0), change(own, owed=(attempt(f"{own}.1", own),))]
        )
store.close()
"""


def test_four_processes_write_two_hundred_times_each_and_nothing_is_lost(tmp_path: Path, project: Path) -> None:
    url = f"sqlite:///{tmp_path}/shared.db"
    upgrade(url)
    told = [sys.executable, "-c", PROGRAM, url]
    processes = [
        subprocess.Popen([*told, str(name), str(WRITES)], stderr=subprocess.PIPE, text=True, cwd=project)
        for name in range(PROCESSES)
    ]
    complaints = [process.communicate(timeout=120)[1] for process in processes]
    assert [(0, "")] * PROCESSES == [(p.returncode, said) for p, said in zip(processes, complaints, strict=True)]
    store = open_store(url)
    with store.reading() as reader:
        ids = [f"{name}-{n}" for name in range(PROCESSES) for n in range(WRITES)]
        assert sorted([*ids, "shared"]) == reader.run_ids(limit=10_000)
        assert [*range(1, PROCESSES * WRITES + 1)] == [fact.number for fact in reader.facts("shared")]
        assert len(ids) == len(reader.attempts_of(ids))
    store.close()
