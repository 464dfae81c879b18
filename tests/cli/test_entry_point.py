"""`celeriac` as a process of its own: what it loads, and what it says when the world is not as it should be."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.main import NOUNS
from tests.cli.shell import Celeriac, started


def test_help_shows_every_noun_and_loads_neither_celery_nor_the_database() -> None:
    program = (
        "import sys; sys.argv = ['celeriac', '--help']\n"
        "from orchestrator.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert not {'celery', 'sqlalchemy', 'pydantic'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    assert set(NOUNS) <= set(re.findall(r"^  (\w+)", done.stdout, re.MULTILINE))


def test_a_database_that_does_not_answer_is_a_sentence_and_no_traceback() -> None:
    done = shell("runs", "list", CELERIAC_DATABASE_URL="postgresql://postgres:secret@127.0.0.1:1/x")
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("celeriac: the database postgresql://postgres:***@127.0.0.1:1/x does not answer")
    assert 1 == done.stderr.count("\n")


def test_a_setting_that_cannot_be_used_is_a_sentence() -> None:
    done = shell("runs", "list", CELERIAC_LEASE="banana")
    assert (1, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("celeriac: CELERIAC_LEASE is 'banana'")
    assert 1 == done.stderr.count("\n")


def test_letters_that_the_output_cannot_show_are_escaped(celeriac: Celeriac, order: str, tmp_path: Path) -> None:
    started(celeriac, subject="order:é", key="é")
    url = f"sqlite:///{tmp_path}/celeriac.db"
    for arguments, shown in ((("runs", "list"), r"order:\xe9"), (("runs", "list", "--json"), r'"key": "\u00e9"')):
        done = shell(*arguments, PYTHONIOENCODING="ascii", CELERIAC_DATABASE_URL=url)
        assert (0, "") == (done.returncode, done.stderr)
        assert shown in done.stdout


def test_an_interrupt_ends_the_wait_for_a_run_without_a_word(celeriac: Celeriac, order: str, tmp_path: Path) -> None:
    program = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {PROGRAM[-1]}"
    command = [*PROGRAM[:-1], program, "runs", "start", "test", "--wait", "--timeout", "60"]
    url = f"sqlite:///{tmp_path}/celeriac.db"
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(CELERIAC_DATABASE_URL=url)
    ) as waiting:
        assert waiting.stdout is not None
        assert waiting.stdout.readline().endswith(" started\n")
        waiting.send_signal(signal.SIGINT)
        _, err = waiting.communicate(timeout=30)
    assert (130, "") == (waiting.returncode, err.strip())


def test_the_version_is_told() -> None:
    done = shell("--version")
    assert 0 == done.returncode
    assert re.fullmatch(r"celeriac [0-9.]+\S*\n", done.stdout)


@pytest.mark.parametrize("role", ("worker", "beat"))
def test_a_role_is_celerys_own_with_its_options(role: str, tmp_path: Path) -> None:
    done = shell(role, "--help", CELERIAC_DATABASE_URL=f"sqlite:///{tmp_path}/celeriac.db")
    assert 0 == done.returncode, done.stderr
    assert "--loglevel" in done.stdout


PROGRAM = [sys.executable, "-c", "from orchestrator.cli.main import main; main()"]


def environment(**settings: str) -> dict[str, str]:
    """Ours without what concerns Celeriac, and these."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CELERIAC_")} | settings


def shell(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run `celeriac` as a process of its own."""
    return subprocess.run(
        [*PROGRAM, *arguments], capture_output=True, text=True, check=False, timeout=60, env=environment(**settings)
    )
