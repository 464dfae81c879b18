"""The faces `workers` and `beat`: cheap for who writes performers, a Celery application for who asks for one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys
from workers import performer, Invocation, Succeeded, Failed, Skipped, Ambiguous, Suspended
dear = ("celery", "sqlalchemy", "kombu", "redis", "orchestrator.settings")
cheap = sorted(name for name in dear if name in sys.modules)
import workers, beat
print(json.dumps({
    "loaded": cheap,
    "same": workers.app is workers.celery,
    "names": [workers.app.main, beat.app.main],
    "queues": [workers.app.conf.task_default_queue, beat.app.conf.task_default_queue],
}))
"""


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A program in a process of its own."""
    project = Path(__file__).resolve().parents[2]
    given = {"PATH": "/usr/bin", "PYTHONPATH": str(project), **environment}
    return subprocess.run([sys.executable, "-c", program], env=given, capture_output=True, text=True, check=False)


def test_importing_a_mark_loads_no_celery_and_reads_no_settings() -> None:
    answer = json.loads(run(PROGRAM, CELERIAC_QUEUE="mine").stdout)
    assert {"loaded": [], "same": True, "names": ["celeriac"] * 2, "queues": ["mine"] * 2} == answer


@pytest.mark.parametrize("package", ("workers", "beat"))
def test_a_bad_setting_is_said_when_the_application_is_asked_for(package: str) -> None:
    answer = run(f"import {package}; {package}.app", CELERIAC_BROKER_URL="http://x")
    assert "orchestrator.errors.BadSettings: CELERIAC_BROKER_URL is given and cannot be used" in answer.stderr


@pytest.mark.parametrize("package", ("workers", "beat"))
def test_a_face_has_no_other_names(package: str) -> None:
    assert f"module '{package}' has no attribute 'nonsense'" in run(f"import {package}; {package}.nonsense").stderr
