"""How `celeriac runs show` tells a run to people. What there is to tell is the snapshot's and `standing`'s to say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from orchestrator.cli.terminal import SHORT, tell, tell_table
from orchestrator.core.facts import ExecutionRef
from orchestrator.core.snapshot import RunSnapshot, WaitView


def tell_run(run: RunSnapshot, why: Sequence[str]) -> None:
    """Status, trigger, executions, open waits, failures, what was never reached, and why it does not move."""
    tell(f"{run.id}  {run.workflow}@{run.version}  {run.status}")
    for name, text in _facts(run):
        tell(f"{name:<11}  {text}")
    tell("")
    _executions(run)
    _waits(run.waits)
    _listed("failures:", (f"{_place(f.execution)}: {f.code or f.kind}: {f.reason}" for f in run.failures))
    _listed("never reached:", run.unreachable)
    _listed("why it does not move:", why)


def _facts(run: RunSnapshot) -> Iterator[tuple[str, str]]:
    trigger = run.trigger
    subject = trigger["subject"]
    about = f" about {subject['kind']}:{subject['id']}" if subject else ""
    yield "trigger", f"{trigger['kind']}{about}"
    yield "key", run.key
    if trigger["correlation"] is not None:
        yield "correlation", trigger["correlation"]
    yield "started", _shown(run.started_at)
    if run.ended_at is not None:
        yield "ended", _shown(run.ended_at)


def _executions(run: RunSnapshot) -> None:
    tell_table(
        ("execution", "node", "branch", "visit", "status", "tries", "outlet", "failure"),
        (
            (
                e.id[:SHORT],
                e.node,
                _branch(e.execution),
                e.execution.visit,
                e.status,
                e.attempts or "",
                e.outlet,
                "" if e.failure is None else e.failure.code or e.failure.kind,
            )
            for e in run.executions
        ),
        empty="nothing has arrived anywhere",
        ids=1,
    )


def _waits(waits: Sequence[WaitView]) -> None:
    if not waits:
        return
    tell("")
    tell("open waits:")
    tell_table(
        ("wait", "kind", "node", "branch", "signal or key", "until (UTC)"),
        (
            (
                w.id[:SHORT],
                w.kind,
                w.node,
                _branch(w.execution),
                w.signal if w.kind == "signal" else w.key,
                "" if w.deadline is None else f"{w.deadline:%m-%d %H:%M}",
            )
            for w in waits
        ),
        empty="",
        ids=1,
    )


def _listed(title: str, sentences: Iterable[str]) -> None:
    for number, sentence in enumerate(sentences):
        if not number:
            tell("")
            tell(title)
        tell(f"  {sentence}")


def _branch(ref: ExecutionRef) -> str:
    return "/".join(step.key for step in ref.branch)


def _place(ref: ExecutionRef) -> str:
    return f"{ref.node} [{_branch(ref)}]" if ref.branch else ref.node


def _shown(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S}Z"
