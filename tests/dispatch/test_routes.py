"""Globs over capabilities, and the queue that a doorbell goes to."""

from __future__ import annotations

import pytest

from orchestrator.dispatch.routes import Route, Routes, matches, pairs


@pytest.mark.parametrize(
    ("glob", "capability", "expected"),
    (
        ("orders.*", "orders.ship-line@1", True),
        ("orders.ship-line", "orders.ship-line@2", True),
        ("orders.ship-line@1", "orders.ship-line@1", True),
        ("orders.ship-line@1", "orders.ship-line@2", False),
        ("*@2", "orders.ship-line@2", True),
        ("Orders.*", "orders.ship-line@1", False),
        ("*", "x@1", True),
    ),
)
def test_a_glob_means_the_name_or_the_name_with_its_version(glob: str, capability: str, expected: bool) -> None:
    assert expected == matches(glob, capability)


def test_the_first_route_that_matches_counts_and_else_the_default() -> None:
    routes = Routes((Route("orders.slow*", "slow"), Route("orders.*", "orders")), "rest")
    assert ("slow", "orders", "rest") == tuple(map(routes.queue, ("orders.slow-one@1", "orders.x@1", "mail@1")))
    assert ("rest", "slow", "orders") == routes.queues


def test_pairs_are_read_with_blanks_and_a_comma_too_many() -> None:
    assert [("a.*", "x"), ("b", "2")] == pairs(" a.* = x , b=2,")


@pytest.mark.parametrize("text", ("a", "a=", "=b", "a=b,c"))
def test_a_part_without_both_sides_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not of the form glob=value"):
        pairs(text)
