"""Every structural fault is found and placed, what is sound is admitted, and the policies of a start are all asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from orchestrator.core.admission import AdmissionPolicy, TriggerRequest, start_reasons, structural_violations
from orchestrator.core.data import JsonText
from orchestrator.core.document import definition_from
from orchestrator.core.graph import Definition, Edge, Graph, Node, NodeKind, Policy
from orchestrator.core.kinds.kind import ViolationKind
from orchestrator.errors import Reason, Rejected
from tests.definitions import BAD_DEFINITIONS, START, Bad, action, bad, document, fan_out, for_each, join, node, visits

ALL_BAD = pytest.mark.parametrize("which", [pytest.param(each, id=each.name) for each in BAD_DEFINITIONS])


def reasons_of(given: Any) -> list[Reason]:
    with pytest.raises(Rejected) as caught:
        definition_from(given)
    return caught.value.reasons


# --- what is refused --------------------------------------------------------------------------------------------------


@ALL_BAD
def test_a_malformed_definition_is_refused_with_every_fault_and_its_place(which: Bad) -> None:
    assert set(which.reasons) == {(reason.kind, reason.where) for reason in reasons_of(which.document)}


@ALL_BAD
def test_each_reason_is_a_sentence_and_none_is_told_twice(which: Bad) -> None:
    reasons = reasons_of(which.document)
    assert all(reason.message.strip() for reason in reasons)
    assert len(reasons) == len(set(reasons))


@ALL_BAD
def test_the_reasons_come_in_the_same_order_each_time(which: Bad) -> None:
    assert reasons_of(which.document) == reasons_of(which.document)


def kinds_of(name: str) -> set[str]:
    """The kinds of reason that a definition of the table is refused for."""
    return {reason.kind for reason in reasons_of(bad(name).document)}


@pytest.mark.behaviour("B8")
def test_a_graph_begins_with_exactly_one_trigger() -> None:
    assert {"NoTrigger"} == kinds_of("no-trigger")
    assert {"MoreThanOneTrigger"} == kinds_of("two-triggers")


@pytest.mark.behaviour("B9")
def test_an_edge_to_a_missing_node_is_refused() -> None:
    assert {"UnknownNode"} == kinds_of("edge-to-a-missing-node")


@pytest.mark.behaviour("B10")
def test_an_edge_from_an_undeclared_outlet_is_refused() -> None:
    assert {"UndeclaredOutlet"} == kinds_of("edge-from-an-undeclared-outlet")


@pytest.mark.behaviour("B11")
def test_a_for_each_has_exactly_one_join() -> None:
    assert {"ForEachWithoutSingleJoin"} == kinds_of("forEach-without-join") == kinds_of("forEach-with-two-joins")


@pytest.mark.behaviour("B12")
def test_a_for_each_in_a_branch_is_refused() -> None:
    assert "NestedForEachNotSupported" in kinds_of("forEach-in-a-branch")


@pytest.mark.behaviour("B13")
def test_one_node_of_one_visit_makes_a_cycle_unbounded() -> None:
    assert {"UnboundedCycle"} == kinds_of("cycle-with-one-node-of-one-visit")


@pytest.mark.behaviour("B14")
def test_a_self_loop_of_one_visit_is_an_unbounded_cycle() -> None:
    assert {"UnboundedCycle"} == kinds_of("self-loop")


@pytest.mark.behaviour("B15")
def test_a_join_of_most_is_refused() -> None:
    assert {"InvalidConfiguration"} == kinds_of("join-of-most")


@pytest.mark.behaviour("B16")
def test_two_nodes_with_one_id_are_refused() -> None:
    assert {"DuplicateNode"} == kinds_of("two-nodes-with-one-id")


@pytest.mark.behaviour("B17")
def test_three_different_faults_are_all_reported() -> None:
    assert {"InvalidConfiguration", "UnknownNode", "ForEachWithoutSingleJoin"} == kinds_of("three-faults")
    assert {"InvalidDocument", "InvalidConfiguration", "UnboundedCycle"} == kinds_of("unreadable-and-faulty")


def test_the_table_shows_every_kind_of_violation() -> None:
    assert set(ViolationKind) <= {kind for each in BAD_DEFINITIONS for kind, _ in each.reasons}


def test_a_definition_made_by_hand_is_judged_as_well() -> None:
    broken = Node("start", NodeKind.TRIGGER, ("next",), configuration="[", policy=Policy(max_visits=0))
    definition = Definition("w", 1, "a", None, Graph((broken,), (Edge("start", "next", "gone"),)))
    assert [
        ("InvalidConfiguration", "graph.nodes[0].policy.maxVisits"),
        ("InvalidConfiguration", "graph.nodes[0].configuration"),
        ("UnknownNode", "graph.edges[0].to"),
    ] == [(violation.kind, violation.where) for violation in structural_violations(definition)]


def test_of_an_unreadable_node_nothing_is_said_that_its_absence_would_make_up() -> None:
    """The trigger, the join and an edge's end cannot be read: that they are missing is not reported on top."""
    nodes = [
        {"id": "start", "kind": "trigger"},
        for_each(),
        {"id": "gather", "kind": "join", "outlets": 1},
        action("a"),
    ]
    given = document(*nodes, edges=("start.next>fan", "fan.each>a", "a.next>gather"))
    assert {
        ("InvalidDocument", "graph.nodes[0].outlets"),
        ("InvalidDocument", "graph.nodes[2].outlets"),
    } == {(reason.kind, reason.where) for reason in reasons_of(given)}


def test_places_are_those_of_the_whole_document_also_when_parts_could_not_be_read() -> None:
    given = document(START, action("a", policy=visits(0)), edges=("start.next>a",))
    given["graph"]["nodes"].insert(0, 1)
    given["graph"]["edges"].insert(0, None)
    assert {
        ("InvalidDocument", "graph.nodes[0]"),
        ("InvalidDocument", "graph.edges[0]"),
        ("InvalidConfiguration", "graph.nodes[2].policy.maxVisits"),
    } == {(reason.kind, reason.where) for reason in reasons_of(given)}


# --- what is admitted -------------------------------------------------------------------------------------------------


@pytest.mark.behaviour("B12")
def test_a_second_for_each_after_the_join_of_the_first_is_admitted() -> None:
    definition_from(
        document(
            START,
            for_each(),
            join(),
            for_each("again"),
            join("gather-again", "again"),
            edges=("start.next>fan", "fan.each>gather", "gather.completed>again", "again.each>gather-again"),
        )
    )


@pytest.mark.behaviour("B13")
def test_a_cycle_in_which_all_nodes_may_be_visited_twice_is_admitted() -> None:
    definition_from(
        document(
            START,
            action("a", policy=visits(2)),
            action("b", policy=visits(2)),
            edges=("start.next>a", "a.next>b", "b.next>a"),
        )
    )


def test_a_fan_out_on_a_cycle_asks_nothing_of_its_body() -> None:
    """Each round of a forEach opens new branches, so what runs in them is visited once."""
    definition_from(
        document(
            START,
            for_each(policy=visits(2)),
            action("once"),
            join(policy=visits(2)),
            edges=("start.next>fan", "fan.each>once", "once.next>gather", "gather.partial>fan"),
        )
    )


@pytest.mark.behaviour("B19")
def test_an_approval_of_kind_timer_is_admitted() -> None:
    definition_from(document(START, node("ok", "approval", "approved", configuration={"kind": "timer"})))


@pytest.mark.behaviour("B20")
def test_the_capability_of_a_join_is_decoration() -> None:
    given = fan_out()
    given["graph"]["nodes"][3]["capability"] = "x@99"
    definition_from(given)


@pytest.mark.parametrize(
    "given",
    (
        pytest.param(document(START), id="a trigger alone"),
        pytest.param(document(node("start", "trigger")), id="a trigger without next"),
        pytest.param(document(START, action("a")), id="a node that nothing reaches"),
        pytest.param(document(START, action("a"), action("b"), edges=("start.next>a", "start.next>b")), id="two paths"),
        pytest.param(fan_out(), id="a fan-out"),
        pytest.param(
            document(
                START,
                for_each(),
                action("a", "failed"),
                action("end"),
                join(),
                edges=("start.next>fan", "start.next>end", "fan.each>a", "a.failed>end", "a.next>gather"),
            ),
            id="a node of root that branches end in too",
        ),
        pytest.param(
            document(START, for_each(configuration={"maxParallelism": -1}), join()), id="a parallelism below one"
        ),
        pytest.param(
            document(START, node("w", "wait", "elapsed", configuration={"kind": "timer", "after": "00:00:00"})),
            id="a timer that elapses at once",
        ),
        pytest.param(document(START, action("a", capability="x@1"), capabilities={"x": 1}), id="a pin that fits"),
        pytest.param(document(START, action("größe/ä", capability="x@1")), id="slashes and letters of any script"),
        pytest.param(document(START, graph={"nodes": [START]}), id="no list of edges"),
    ),
)
def test_what_is_sound_is_admitted(given: Any) -> None:
    assert () == structural_violations(definition_from(given))


def test_a_chain_of_five_thousand_nodes_is_admitted() -> None:
    names = [f"n{number}" for number in range(5_000)]
    edges = [f"{a}.next>{b}" for a, b in pairwise(names)]
    definition_from(document(START, *(action(name) for name in names), edges=("start.next>n0", *edges)))


def test_a_ring_of_five_thousand_nodes_is_refused_at_each_of_them() -> None:
    names = [f"n{number}" for number in range(5_000)]
    edges = [f"{a}.next>{b}" for a, b in zip(names, [*names[1:], "n0"], strict=True)]
    reasons = reasons_of(document(START, *(action(name) for name in names), edges=("start.next>n0", *edges)))
    assert {"UnboundedCycle"} == {reason.kind for reason in reasons}
    assert 5_000 == len(reasons)


def test_branches_that_share_too_much_are_refused_and_not_gone_through() -> None:
    fans = [f"fan-{number}" for number in range(1_100)]
    tail = [f"tail-{number}" for number in range(1_000)]
    edges = [f"start.next>{fan}" for fan in fans] + [f"{fan}.each>tail-0" for fan in fans]
    edges += [f"{a}.next>{b}" for a, b in pairwise(tail)]
    nodes = [*map(for_each, fans), *(join(f"join-{fan}", fan) for fan in fans), *map(action, tail)]
    assert [("InvalidConfiguration", "graph.nodes")] == [
        (reason.kind, reason.where) for reason in reasons_of(document(START, *nodes, edges=edges))
    ]


# --- the start of a run -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AtMost:
    """A user's policy: the order may not be dearer than this."""

    amount: int
    name: str = "at-most"

    def check(self, definition: Definition, trigger: TriggerRequest) -> Iterable[Reason]:
        if trigger.value["amount"] > self.amount:
            yield Reason("TooDear", "payload.amount", f"{definition.workflow} starts up to {self.amount}; ask for more")


DEAR = TriggerRequest(payload=JsonText('{"amount":100}'))


@pytest.mark.behaviour("B6")
def test_the_reason_of_a_policy_that_refuses_is_in_the_answer() -> None:
    policies: list[AdmissionPolicy] = [AtMost(10)]
    assert (Reason("TooDear", "payload.amount", "test starts up to 10; ask for more"),) == start_reasons(
        definition_from(document(START)), DEAR, policies
    )


@pytest.mark.behaviour("B7")
def test_the_reasons_of_all_policies_are_listed() -> None:
    reasons = start_reasons(definition_from(document(START)), DEAR, [AtMost(10), AtMost(1_000), AtMost(50)])
    assert ["test starts up to 10; ask for more", "test starts up to 50; ask for more"] == [
        reason.message for reason in reasons
    ]


@pytest.mark.behaviour("B3")
@pytest.mark.parametrize("kind", ("invoice", None))
def test_a_start_about_another_kind_of_subject_is_refused(kind: str | None) -> None:
    definition = definition_from(document(START, subjectKind="order"))
    assert ["SubjectKindMismatch"] == [
        reason.kind for reason in start_reasons(definition, TriggerRequest(subject_kind=kind))
    ]


def test_a_workflow_about_anything_takes_any_subject() -> None:
    definition = definition_from(document(START))
    assert () == start_reasons(definition, TriggerRequest(subject_kind="invoice", subject_id="7"))


def test_a_faulty_definition_and_a_wrong_subject_are_refused_together() -> None:
    definition = Definition("w", 1, "a", "order", Graph((), ()))
    assert ["NoTrigger", "SubjectKindMismatch"] == [
        reason.kind for reason in start_reasons(definition, TriggerRequest(subject_kind="invoice"))
    ]
