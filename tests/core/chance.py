"""Chance: random admissible definitions, and a driver that lets happen to their runs whatever can happen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from random import Random
from typing import Any, TypeVar

from orchestrator.core.data import DEFAULT_LIMITS, EMPTY, DataLimits, compact
from orchestrator.core.decide.commands import (
    AnswerAttempt,
    Command,
    CompleteWait,
    LoseAttempt,
    ReconcileExecution,
    ResolveWait,
    StopAttempt,
    TimeOutAttempt,
)
from orchestrator.core.document import definition_from
from orchestrator.core.ids import attempt_id
from orchestrator.core.outcomes import Ambiguous, Failed, Skipped, Succeeded, Suspended, receipt_of
from orchestrator.core.state import Execution, ExecutionStatus, Wait
from orchestrator.errors import Refused, Rejected
from tests.core.world import World
from tests.definitions import document, for_each, join, node

T = TypeVar("T")

#: More steps than any of these runs needs once only good things happen.
PATIENCE = 2_000

LARGE = "x" * 600

#: The usual ones, and some under which composed inputs soon become too large.
LIMITS = (DEFAULT_LIMITS, DataLimits(max_input_bytes=1_500))

_SPARE = ("failed", "fallback")
_OUTLETS: dict[str, tuple[tuple[str, ...], ...]] = {
    "action": (("next",), ("next",), ("next", "other"), ("other",)),
    "decision": (("yes", "no"),),
    "signal": (("resumed", "cancelled", "expired"), ("resumed",), ("expired",)),
    "timer": (*(("elapsed",),) * 5, ()),
    "approval": (("approved", "rejected", "expired"), ("approved",), ("rejected", "expired")),
    "forEach": (*(("each",),) * 9, ()),
    "join": (*(("completed", "partial"),) * 3, ("completed",), ("partial",)),
}
_BODY_KINDS = (*("action",) * 5, "decision", "signal", "timer", "approval")
_ROOT_KINDS = (*("action",) * 2, "decision", "signal", "timer", "approval", *("forEach",) * 5)
_CONFIGURATIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "action": ({},),
    "decision": ({},),
    "signal": ({}, {"signal": "paid@1"}, {"expiresAfter": "00:01:00"}),
    "timer": ({"kind": "timer", "after": "00:00:30"}, {"kind": "timer", "after": "00:00:00"}),
    "approval": ({}, {"expiresAfter": "00:10:00", "kind": "timer"}),
}
_MODES: tuple[dict[str, Any], ...] = (
    {},
    {"mode": "any"},
    {"mode": "atLeast", "threshold": 2},
    {"mode": "atLeast", "threshold": 9},
)


# --- definitions ------------------------------------------------------------------------------------------------------


def definition_by(chance: Random) -> dict[str, Any]:
    """An admissible definition of some of the seven kinds, with loops, fan-outs and outlets that are not declared."""
    nodes: list[dict[str, Any]] = [node("start", "trigger", *(() if chance.random() < 0.05 else ("next",)))]
    edges: list[str] = []
    kinds = [chance.choice(_ROOT_KINDS) for _ in range(chance.randint(1, 4))]
    entries = [f"{'fan' if kind == 'forEach' else 'n'}{place}" for place, kind in enumerate(kinds)]
    regions: list[tuple[str, list[str]]] = []
    for place, (kind, id) in enumerate(zip(kinds, entries, strict=True)):
        if kind != "forEach":
            nodes.append(_node(chance, id, kind))
            regions.append((id, entries))
            continue
        body = [f"b{place}{number}" for number in range(chance.choice((0, 1, 1, 2, 2, 3)))]
        gather = f"join{place}"
        fan = _fan(chance, id)
        nodes += [fan, *(_node(chance, each, chance.choice(_BODY_KINDS)) for each in body), _join(chance, gather, id)]
        regions += [(id, entries), (gather, entries), *((each, [*body, gather]) for each in body)]
        if "each" in fan["outlets"]:
            edges += _ways(chance, id, "each", [*body, gather])
    outlets = {each["id"]: each["outlets"] for each in nodes}
    if "next" in outlets["start"]:
        edges += [f"start.next>{target}" for target in {entries[0], chance.choice(entries)}]
    for id, targets in regions:
        for outlet in outlets[id]:
            if outlet != "each":
                edges += _ways(chance, id, outlet, targets)
    return _bounded(document(*nodes, edges=sorted(edges)))


def _ways(chance: Random, id: str, outlet: str, targets: Sequence[str]) -> list[str]:
    """None, one or two edges, most of them forward."""
    forward = targets[targets.index(id) + 1 :] if id in targets else targets
    way = chance.random()
    options = list(targets) if way < 0.2 else list(forward)
    count = 0 if way > 0.9 else 2 if way > 0.75 else 1
    return [f"{id}.{outlet}>{target}" for target in chance.sample(options, min(count, len(options)))]


def _node(chance: Random, id: str, kind: str) -> dict[str, Any]:
    outlets = (*chance.choice(_OUTLETS[kind]), *_spare(chance))
    policy = {
        "maxAttempts": chance.randint(1, 3),
        "retryDelay": chance.choice(("00:00:00", "00:00:30")),
        "maxVisits": chance.randint(1, 2),
    }
    written = "wait" if kind in ("signal", "timer") else kind
    return node(id, written, *outlets, configuration=chance.choice(_CONFIGURATIONS[kind]), policy=policy)


def _spare(chance: Random) -> tuple[str, ...]:
    return tuple(outlet for outlet in _SPARE if chance.random() < 0.5)


def _fan(chance: Random, id: str) -> dict[str, Any]:
    bound = chance.choice(({}, {"maxParallelism": -1}, {"maxParallelism": 2}, {"maxParallelism": 3}))
    outlets = (*chance.choice(_OUTLETS["forEach"]), *_spare(chance))
    return for_each(id, outlets=outlets, configuration=bound, policy={"maxVisits": chance.randint(1, 2)})


def _join(chance: Random, id: str, of: str) -> dict[str, Any]:
    made = join(id, of, configuration=chance.choice(_MODES), policy={"maxVisits": chance.randint(1, 2)})
    return made | {"outlets": [*chance.choice(_OUTLETS["join"]), *_spare(chance)]}


def _bounded(made: dict[str, Any]) -> dict[str, Any]:
    """The same with two visits for whatever lies on a cycle."""
    try:
        definition_from(made)
    except Rejected as refusal:
        for reason in refusal.reasons:
            assert "UnboundedCycle" == reason.kind, reason
            place = int(reason.where.split("[")[1].split("]")[0])
            made["graph"]["nodes"][place].setdefault("policy", {})["maxVisits"] = 2
        definition_from(made)
    return made


def payload_by(chance: Random) -> object:
    """A list of items, which now and then cannot be fanned out."""
    if chance.random() < 0.1:
        return chance.choice(({"lines": [{"key": "a"}, {"key": "a"}]}, {"lines": {"key": "a"}}, {"lines": []}, {}))
    more = [LARGE if chance.random() < 0.1 else number for number in range(chance.randint(1, 6))]
    return {"lines": [{"key": f"k{number}", "more": each} for number, each in enumerate(more)]}


# --- the driver -------------------------------------------------------------------------------------------------------


class Driver:
    """Lets random things happen to a run for some steps, and only good ones after that."""

    def __init__(self, world: World, chance: Random, *, steps: int = 60) -> None:
        self.world = world
        self._chance = chance
        self._steps_left = steps

    def play(self) -> None:
        """To the end of the run."""
        while self._steps_left and self.world.state.final is None:
            self._steps_left -= 1
            self._pick(self._steps())()
        for _ in range(PATIENCE):
            if self.world.state.final is not None:
                break
            self._mend()
        else:
            raise AssertionError("the run does not come to its end")
        self._after_the_end()

    # --- choosing ---------------------------------------------------------------------------------------------------

    def _number(self) -> int:
        return self._chance.randrange(300) if self._steps_left else 0

    def _pick(self, options: Sequence[T]) -> T:
        return options[self._number() % len(options)]

    def _of(self, *statuses: ExecutionStatus) -> list[Execution]:
        found = [e for e in self.world.state.executions.values() if e.status in statuses]
        return sorted(found, key=lambda e: e.born)

    def _waits(self) -> list[tuple[Execution, Wait]]:
        return [(e, e.wait) for e in self._of(ExecutionStatus.WAITING) if e.wait is not None]

    def _steps(self) -> list[Callable[[], None]]:
        steps: list[Callable[[], None]] = [self._wake, self._signal, self._late]
        if self._of(ExecutionStatus.SCHEDULED):
            steps += [
                self._answer,
                self._answer,
                self._several,
                self._several,
                self._several,
                self._claim,
                self._trouble,
            ]
        if self._waits():
            steps += [self._resolve, self._resolve, self._wrong]
        if self._of(ExecutionStatus.RECONCILIATION_REQUIRED):
            steps += [self._reconcile, self._reconcile]
        if self._number() == 299:
            steps = [lambda: self.world.cancel("somebody")]
        return steps

    # --- what may happen --------------------------------------------------------------------------------------------

    def _outcome(self, execution: Execution) -> object:
        outlets = self.world.state.definition.graph.node[execution.ref.node].outlets or ("next",)
        return self._pick(
            (
                Succeeded(self._pick(outlets), {"n": execution.born}),
                Succeeded(self._pick(outlets), {"n": execution.born}),
                Succeeded(outlets[0], {"large": LARGE}),
                Succeeded("nowhere"),
                Succeeded(outlets[0], object()),
                Failed("no"),
                Failed("no", "E1"),
                Failed("never", retryable=False),
                Skipped("nothing to do"),
                Ambiguous("who knows"),
                Suspended(f"key-{self._number() % 3}"),
                Suspended(f"key-{execution.ref.id}", timedelta(minutes=self._number() % 3)),
            )
        )

    def _command(self, execution: Execution) -> Command:
        return AnswerAttempt(execution.ref.id, execution.attempt, receipt_of(self._outcome(execution)))

    def _mishap(self, execution: Execution) -> Command:
        id, attempt = execution.ref.id, execution.attempt
        effect = self._pick(("idempotent", "safe", "once"))
        mishaps: tuple[Command, ...] = (
            TimeOutAttempt(id, attempt, effect),
            LoseAttempt(id, attempt, 1 + self._number() % 3, effect),
            StopAttempt(id, attempt, effect, claimed=bool(self._number() % 2)),
        )
        return self._pick(mishaps)

    def _answer(self) -> None:
        execution = self._pick(self._of(ExecutionStatus.SCHEDULED))
        assert True is self.world.tell(self._command(execution))

    def _trouble(self) -> None:
        self.world.tell(self._mishap(self._pick(self._of(ExecutionStatus.SCHEDULED))))

    def _several(self) -> None:
        """What became of up to four attempts, told in one go."""
        executions = self._of(ExecutionStatus.SCHEDULED)
        chosen = executions[: 2 + self._number() % 3]
        for execution in chosen:
            self.world.owed[attempt_id(execution.ref.id, execution.attempt)] = True
        makers = (self._command, self._command, self._mishap)
        self.world.tell(*(self._pick(makers)(execution) for execution in chosen))

    def _claim(self) -> None:
        for id in list(self.world.owed)[: 1 + self._number() % 3]:
            self.world.owed[id] = True

    def _late(self) -> None:
        """An answer of an attempt that is over, or never was."""
        performed = [e for e in self._of(*ExecutionStatus) if e.attempt]
        if performed:
            execution = self._pick(performed)
            attempt = execution.attempt + self._pick((-1, 1, 0 if execution.status.final else 1))
            answered = self.world.tell(AnswerAttempt(execution.ref.id, attempt, receipt_of({"late": True})))
            assert False is answered

    def _wake(self) -> None:
        self.world.wake(self._pick((timedelta(0), timedelta(seconds=30), timedelta(minutes=1), timedelta(days=1))))

    def _signal(self) -> None:
        self.world.signal(self._pick(("paid@1", "paid@2")), {"by": "signal"})

    def _resolve(self) -> None:
        execution, wait = self._pick(self._waits())
        value = compact({"by": "hand"})
        match wait.kind:
            case "signal":
                self.world.tell(ResolveWait(wait.id, self._pick(("resumed", "cancelled")), value))
            case "approval":
                self.world.tell(ResolveWait(wait.id, self._pick(("approved", "rejected")), value, "anna"))
            case "completion":
                receipt = receipt_of(self._settling(execution))
                self.world.tell(CompleteWait(wait.id, receipt, "bob"))
            case _:
                self._wake()

    def _settling(self, execution: Execution) -> object:
        """An outcome that may be chosen from outside."""
        outlets = self.world.state.definition.graph.node[execution.ref.node].outlets
        good: list[object] = [Succeeded(outlets[0], {"large": LARGE})] if outlets else []
        return self._pick((*good, Failed("no"), Failed("never", retryable=False), Skipped("nothing")))

    def _wrong(self) -> None:
        """What does not fit is refused and changes nothing."""
        execution, wait = self._pick(self._waits())
        refused: list[Command] = [
            ResolveWait(wait.id, "sideways", EMPTY),
            CompleteWait(wait.id, receipt_of(Ambiguous("no"))),
            CompleteWait(wait.id, receipt_of(Succeeded("nowhere"))),
            CompleteWait(wait.id, receipt_of(object())),
            ReconcileExecution(execution.ref.id, receipt_of(Skipped("no"))),
        ]
        if wait.kind != "completion":
            refused.append(CompleteWait(wait.id, receipt_of(Skipped("no"))))
        try:
            self.world.tell(self._pick(refused))
        except Refused:
            return
        raise AssertionError("what does not fit was accepted")

    def _reconcile(self) -> None:
        execution = self._pick(self._of(ExecutionStatus.RECONCILIATION_REQUIRED))
        receipt = receipt_of(self._settling(execution))
        self.world.tell(ReconcileExecution(execution.ref.id, receipt, "anna"))

    # --- the good end -----------------------------------------------------------------------------------------------

    def _mend(self) -> None:
        """One step toward the end."""
        ambiguous = self._of(ExecutionStatus.RECONCILIATION_REQUIRED)
        scheduled = self._of(ExecutionStatus.SCHEDULED)
        if ambiguous:
            self.world.tell(ReconcileExecution(ambiguous[0].ref.id, receipt_of(Skipped("settled"))))
        elif scheduled:
            outlets = self.world.state.definition.graph.node[scheduled[0].ref.node].outlets or ("next",)
            receipt = receipt_of(Succeeded(outlets[0]))
            self.world.tell(AnswerAttempt(scheduled[0].ref.id, scheduled[0].attempt, receipt))
        elif self.world.timers:
            self.world.now = max(self.world.now, min(self.world.timers.values()))
            self.world.wake()
        else:
            self._resolve()

    def _after_the_end(self) -> None:
        """Nothing follows a final fact."""
        tail = self.world.state.tail
        self.world.wake(days=365)
        self.world.cancel()
        assert 0 == self.world.signal("paid@1")
        self._late()
        assert tail == self.world.state.tail
