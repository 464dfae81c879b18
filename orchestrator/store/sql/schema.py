"""The tables. A column bears the name of its field in `ports.records`; what a row means is said there.

Text that is compared or sorted stands in the collation "C" on PostgreSQL, which is the order of code points, as in
SQLite and in Python: pages and lock orders are the same everywhere. Instants and durations are microseconds. JSON
is the canonical text it came as. No foreign keys: a row is only written together with the facts it follows from.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Index, MetaData, Table, Text, text

metadata = MetaData()

#: The migration that makes these tables: the revision this release needs.
REVISION = "0001"


def _word(name: str, *, primary_key: bool = False, nullable: bool = False) -> Column[str]:
    """An id, a name or a status."""
    kind = Text().with_variant(Text(collation="C"), "postgresql")
    return Column(name, kind, primary_key=primary_key, nullable=nullable)


def _number(name: str, *, primary_key: bool = False, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, primary_key=primary_key, nullable=nullable, autoincrement=False)


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}


def _changing() -> dict[str, Any]:
    """Rows that are changed in place: no indexed column of them changes with each append, so with room on the page
    PostgreSQL writes the new version beside the old one and leaves every index alone."""
    return {"postgresql_with": {"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.05}}


def _passing() -> dict[str, Any]:
    """Rows that come and go within seconds: the table stays small only if vacuum looks at it often and does not rest.
    Their due time is indexed and changes with every step, so room on the page would win nothing."""
    return {
        "postgresql_with": {
            "autovacuum_vacuum_scale_factor": 0.0,
            "autovacuum_vacuum_threshold": 2000,
            "autovacuum_vacuum_cost_delay": 0,
        }
    }


definitions = Table(
    "definitions",
    metadata,
    _word("scope", primary_key=True),
    _word("workflow", primary_key=True),
    _number("version", primary_key=True),
    _word("digest"),
    Column("document", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    _number("published_at"),
    Index("definitions_active", "scope", "workflow", unique=True, **_where("active")),
)

runs = Table(
    "runs",
    metadata,
    _word("run_id", primary_key=True),
    _word("scope"),
    _word("workflow"),
    _number("version"),
    _word("key"),
    _word("trigger_kind"),
    _word("subject_kind", nullable=True),
    _word("subject_id", nullable=True),
    _word("correlation", nullable=True),
    _word("status"),
    _number("tail"),
    _number("started_at"),
    _number("updated_at"),
    _number("ended_at", nullable=True),
    Index("runs_newest", "started_at", "run_id"),
    Index("runs_of_scope", "scope", "started_at", "run_id"),
    Index("runs_by_status", "scope", "status", "started_at", "run_id"),
    Index("runs_by_workflow", "scope", "workflow", "started_at", "run_id"),
    Index("runs_by_subject", "scope", "subject_kind", "subject_id", "started_at", "run_id"),
    **_changing(),
)

facts = Table(
    "facts",
    metadata,
    _word("run_id", primary_key=True),
    _number("number", primary_key=True),
    _word("type"),
    _number("at"),
    Column("data", Text, nullable=False),
    Column("value", Text),
    _number("size"),
)

attempts = Table(
    "attempts",
    metadata,
    _word("attempt_id", primary_key=True),
    _word("run_id"),
    _word("scope"),
    _word("execution_id"),
    _word("node"),
    _number("number"),
    _word("capability"),
    _number("timeout"),
    _word("state"),
    _number("owed_at"),
    _number("due_at"),
    _number("fence"),
    _number("rings"),
    _number("losses"),
    _word("worker", nullable=True),
    _word("effect", nullable=True),
    _number("claimed_at", nullable=True),
    _number("deadline", nullable=True),
    _number("lease_until", nullable=True),
    Column("receipt", Text),
    Column("output", Text),
    _number("answered_at", nullable=True),
    Index("attempts_due", "due_at"),
    Index("attempts_of_run", "run_id", "state"),
    **_passing(),
)

timers = Table(
    "timers",
    metadata,
    _word("run_id", primary_key=True),
    _word("execution_id", primary_key=True),
    _number("due_at"),
    Column("parked", Boolean, nullable=False),
    Index("timers_due", "due_at", **_where("NOT parked")),
    **_passing(),
)

waits = Table(
    "waits",
    metadata,
    _word("wait_id", primary_key=True),
    _word("run_id"),
    _word("scope"),
    _word("workflow"),
    _word("execution_id"),
    _word("node"),
    _word("branch_key", nullable=True),
    _word("kind"),
    _number("opened_at"),
    _word("signal_id", nullable=True),
    _number("signal_version", nullable=True),
    _word("key", nullable=True),
    _number("deadline", nullable=True),
    _word("status"),
    _word("outlet", nullable=True),
    _word("actor", nullable=True),
    _number("closed_at", nullable=True),
    Index("waits_of_run", "run_id", "opened_at", "wait_id"),
    Index("waits_of_scope", "scope", "opened_at", "wait_id"),
    Index("waits_open", "opened_at", "wait_id", **_where("status = 'open'")),
    Index("waits_open_of_scope", "scope", "opened_at", "wait_id", **_where("status = 'open'")),
    Index("waits_open_of_kind", "scope", "kind", "opened_at", "wait_id", **_where("status = 'open'")),
    Index("waits_by_key", "scope", "key", "closed_at", **_where("key IS NOT NULL")),
    Index("waits_open_key", "scope", "key", unique=True, **_where("status = 'open' AND key IS NOT NULL")),
)
