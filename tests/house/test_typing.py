"""The calls that the documents show pass the type checker, and calls that are wrong are refused before they run."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.sources import PROJECT
from tests.services.presence import leave_out

DOCUMENTED = '''
"""The calls of the documents."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from orchestrator import NotFound, Orchestrator, Refused, Rejected, WaitClosed, graph
from workers import Ambiguous, Failed, Invocation, Skipped, Succeeded, Suspended, performer


def a_producer(orch: Orchestrator, document: Mapping[str, object]) -> str:
    orch.publish("order.yaml")
    orch.publish(Path("order.yaml"))
    orch.publish(dict(document))
    try:
        run = orch.start(
            "orders.fulfil", payload={"id": 1}, subject=("order", "10248"), correlation="c", key="10248", scope="acme"
        )
    except Rejected as rejected:
        return ", ".join(f"{reason.kind} {reason.where} {reason.message}" for reason in rejected.reasons)
    created: bool = run.created
    run_id: str = run.id
    orch.run(run_id)
    orch.facts(run_id)
    resumed: int = orch.signal(run_id, "payment-received@1", {"amount": 1}, actor="anna")
    orch.wait_for(run_id, timeout=30)
    return f"{run_id} {created} {resumed}"


def a_person(orch: Orchestrator, wait_id: str, run_id: str) -> None:
    try:
        orch.approve(wait_id, {"note": "fine"}, actor="anna")
        orch.reject(wait_id, actor="anna")
        orch.cancel_wait(wait_id, actor="anna")
        orch.resume(wait_id, {"by": "hand"})
        orch.complete("key", Succeeded(output={"done": True}), actor="anna")
        orch.reconcile(run_id, "execution", Skipped("done by hand"), actor="anna")
        orch.cancel(run_id, actor="anna", reason="changed our minds")
    except WaitClosed as closed:
        print(closed.outlet, closed.actor, closed.at)
    except (NotFound, Refused) as problem:
        print(problem.message)


def an_application() -> tuple[Orchestrator, Orchestrator]:
    return Orchestrator.from_env(), Orchestrator(database_url="sqlite:///x.db", broker_url="memory://")


@performer("orders.ship-line", version=1, effect="idempotent")
def ship_line(call: Invocation) -> object:
    call.heartbeat()
    call.log.info("shipping", key=call.idempotency_key, attempt=call.attempt, deadline=call.deadline)
    print(call.scope, call.workflow, call.run_id, call.node_id, call.branch, call.visit, call.execution_id)
    if call.configuration:
        return Suspended("key", expires_after=timedelta(days=1))
    match call.attempt:
        case 1:
            return Failed("no stock", code="NO_STOCK")
        case 2:
            return Ambiguous("the line went dead")
        case _:
            return {"tracking": call.input["item"]}


@performer("orders.load-lines", version=1)
async def load_lines(call: Invocation) -> Succeeded:
    return Succeeded("next", {"lines": []})


print(graph)
'''

#: Each line with ``# wrong`` must be refused, and no other.
WRONG = '''
"""Calls that are wrong."""

from orchestrator import Orchestrator
from workers import Invocation, performer


def wrong(orch: Orchestrator) -> None:
    orch.start("orders.fulfil", payload={}, subject="order:10248")  # wrong


@performer("orders.ship-line", version="1")  # wrong
def ship_line(call: Invocation) -> object:
    return None
'''


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, int, str]]:
    """What the type checker says of both files: file, line, message."""
    if not all(hasattr(importlib.import_module(package), "__all__") for package in ("orchestrator", "workers")):
        leave_out("the types of the public calls", "the packages have no face yet")
    folder = tmp_path_factory.mktemp("typing")
    (folder / "documented.py").write_text(DOCUMENTED, encoding="utf-8")
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--no-error-summary", "--hide-error-context"]
    command += ["--cache-dir", str(folder / "cache"), "--config-file", str(PROJECT / "pyproject.toml")]
    command += [str(folder / "documented.py"), str(folder / "wrong.py")]
    answer = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False, timeout=280)
    assert answer.returncode in (0, 1), answer.stdout + answer.stderr
    lines = re.findall(r"^(.+?):(\d+): error: (.*)$", answer.stdout, re.MULTILINE)
    return [(Path(file).name, int(line), message) for file, line, message in lines]


@pytest.mark.timeout(300)
def test_the_documented_calls_pass_the_type_checker(complaints: list[tuple[str, int, str]]) -> None:
    assert [] == [complaint for complaint in complaints if complaint[0] == "documented.py"]


@pytest.mark.timeout(300)
def test_wrong_calls_are_refused_by_the_type_checker(complaints: list[tuple[str, int, str]]) -> None:
    wrong = {number for number, text in enumerate(WRONG.splitlines(), 1) if text.endswith("# wrong")}
    assert wrong == {line for file, line, _ in complaints if file == "wrong.py"}
