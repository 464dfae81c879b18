"""The input of a performer, composed from what was pinned for it (semantics 1.7): the same bytes for every attempt."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orchestrator.core.data import JsonText, compact, size
from orchestrator.core.facts import Branch
from orchestrator.core.state import Execution, Failure, Output, Pin, RunState, fan_out_of


def compose(state: RunState, execution: Execution, values: Mapping[int, JsonText]) -> JsonText:
    """The input of an execution that was scheduled; `values` holds the outputs that the state keeps by reference."""
    assert execution.pin is not None, "the input is pinned when the first attempt is scheduled"
    return JsonText(
        "".join(_parts(state, execution.ref.branch, execution.pin, lambda output: output.text or values[output.number]))
    )


def referred(state: RunState, execution: Execution) -> frozenset[int]:
    """The facts whose values `compose` needs and the state does not hold."""
    outputs = (state.payload, *(output for _, output in execution.pin.outputs)) if execution.pin else ()
    return frozenset(output.number for output in outputs if output.text is None)


def input_size(state: RunState, branch: Branch, pin: Pin) -> int:
    """Bytes of the input that `compose` would make, without loading anything."""
    sizes = 0

    def counted(output: Output) -> str:
        nonlocal sizes
        sizes += output.size
        return ""

    return sum(size(JsonText(part)) for part in _parts(state, branch, pin, counted)) + sizes


def _parts(state: RunState, branch: Branch, pin: Pin, text: Callable[[Output], str]) -> list[str]:
    trigger = state.trigger
    subject = None if trigger.subject_kind is None else {"kind": trigger.subject_kind, "id": trigger.subject_id}
    parts = ['{"trigger":{"payload":', text(state.payload), ',"subject":', compact(subject)]
    parts += [',"correlation":', compact(trigger.correlation), '},"nodes":{']
    for place, (node, output) in enumerate(pin.outputs):
        parts += ["," if place else "", compact(node), ":", text(output)]
    parts.append('},"failures":{')
    for place, (node, failure) in enumerate(pin.failures):
        parts += ["," if place else "", compact(node), ":", compact(_told(failure))]
    parts += ['},"item":', _item(state, branch), "}"]
    return parts


def _item(state: RunState, branch: Branch) -> str:
    if not branch:
        return "null"
    fan_out = state.fan_outs[fan_out_of(branch)]
    return fan_out.items[fan_out.index[branch[-1].key]]


def _told(failure: Failure) -> dict[str, str | None]:
    return {"kind": failure.kind, "code": failure.code, "reason": failure.reason}
