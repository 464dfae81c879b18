"""Random workflows that are admitted: blocks of every kind one behind the other, fan-outs with their bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.definitions import START

POLICIES: tuple[dict[str, Any], ...] = (
    {},
    {"maxAttempts": 2, "retryDelay": "00:00:05"},
    {"maxAttempts": 3, "retryDelay": "00:00:00", "attemptTimeout": "00:00:20"},
)
OUTLETS = ("next", "failed", "fallback", "expired", "other")


@dataclass
class Plan:
    """A document in the making; `open` are the outlets that the next block is connected to."""

    draw: st.DrawFn
    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, str]] = field(default_factory=list)

    def node(self, kind: str, outlets: tuple[str, ...], **more: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append({"id": name, "kind": kind, "outlets": list(outlets), **more})
        return name

    def edge(self, source: tuple[str, str], target: str) -> None:
        self.edges.append({"from": source[0], "outlet": source[1], "to": target})

    def connect(self, opened: list[tuple[str, str]], target: str) -> None:
        for source in opened:
            self.edge(source, target)

    def performed(self, opened: list[tuple[str, str]], **policy: Any) -> str:
        outlets = tuple(o for o in OUTLETS if o == "next" or self.draw(st.booleans()))
        policy = {**self.draw(st.sampled_from(POLICIES)), **policy}
        made = self.node("action", outlets, capability=self.draw(CAPABILITIES), policy=policy)
        self.connect(opened, made)
        return made

    def block(self, opened: list[tuple[str, str]], *, inside: bool) -> list[tuple[str, str]]:
        """One more block; answers with the outlets that the next one is connected to."""
        kinds = ["action", "caught", "decision", "timer", "signal", "approval", "fork", "loop"]
        kind = self.draw(st.sampled_from(kinds if inside else [*kinds, "fan", "fan"]))
        if kind == "action":
            return [(self.performed(opened), "next")]
        if kind == "caught":
            made = self.performed(opened)
            self.nodes[-1]["outlets"] = sorted({*self.nodes[-1]["outlets"], "failed"})
            return [(made, "next"), (made, "failed")] if self.draw(st.booleans()) else [(made, "failed")]
        if kind == "decision":
            made = self.node("decision", ("a", "b", "next"), capability="any@1")
            self.connect(opened, made)
            left = self.performed([(made, "a")])
            return [(left, "next"), (made, "b")]
        if kind in ("timer", "signal", "approval"):
            return self.waiting(kind, opened)
        if kind == "fork":
            first, second = self.performed(opened), self.performed(opened)
            gathered = self.performed([(first, "next"), (second, "next")], maxVisits=self.draw(st.integers(1, 2)))
            return [(gathered, "next")]
        if kind == "loop":
            again = self.draw(st.integers(2, 3))
            body = self.performed(opened, maxVisits=again)
            more = self.node("decision", ("a", "b", "next"), capability="any@1", policy={"maxVisits": again})
            self.edge((body, "next"), more)
            self.edge((more, "a"), body)
            return [(more, "b")]
        return self.fan(opened)

    def waiting(self, kind: str, opened: list[tuple[str, str]]) -> list[tuple[str, str]]:
        declared = [outlet for outlet in ("expired", "cancelled", "rejected") if self.draw(st.booleans())]
        if kind == "approval":
            made = self.node("approval", ("approved", *declared), configuration=self.draw(EXPIRIES))
            self.connect(opened, made)
            return [(made, "approved")]
        if kind == "signal":
            contract = self.draw(st.sampled_from([{}, {"signal": {"id": "go", "version": 1}}]))
            made = self.node("wait", ("resumed", *declared), configuration={**self.draw(EXPIRIES), **contract})
            self.connect(opened, made)
            return [(made, "resumed")]
        after = self.draw(st.sampled_from(["00:00:00", "00:00:30", "1.00:00:00"]))
        made = self.node("wait", ("elapsed",), configuration={"kind": "timer", "after": after})
        self.connect(opened, made)
        return [(made, "elapsed")]

    def fan(self, opened: list[tuple[str, str]]) -> list[tuple[str, str]]:
        outlets = ("each", "failed") if self.draw(st.booleans()) else ("each",)
        bound = self.draw(st.integers(0, 3))
        made = self.node(
            "forEach", outlets,
            configuration={"itemsFrom": "start", "itemsProperty": "lines", "maxParallelism": bound},
        )  # fmt: skip
        self.connect(opened, made)
        mode = self.draw(st.sampled_from(["all", "any", "atLeast"]))
        declared = ("completed", "partial") if self.draw(st.booleans()) else ("completed",)
        body = [(made, "each")]
        for _ in range(self.draw(st.integers(0, 2))):
            body = self.block(body, inside=True)
        joined = self.node(
            "join", declared, configuration={"forEach": made, "mode": mode, "threshold": self.draw(st.integers(1, 4))}
        )
        self.connect(body, joined)
        return [(joined, outlet) for outlet in declared]


#: What may be repeated, and now and then what may happen once.
CAPABILITIES = st.sampled_from(["any@1", "any@1", "any@1", "once@1"])
EXPIRIES = st.sampled_from([{}, {"expiresAfter": "00:01:00"}, {"expiresAfter": "2.00:00:00"}])


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Definition documents of a few blocks; all of them are admitted."""
    plan = Plan(draw, [START])
    opened = [("start", "next")]
    for _ in range(draw(st.integers(1, 4))):
        opened = plan.block(opened, inside=False)
    if draw(st.booleans()):
        plan.performed(opened)
    graph = {"nodes": plan.nodes, "edges": plan.edges}
    return {"workflow": "random", "version": 1, "area": "tests", "subjectKind": None, "graph": graph}
