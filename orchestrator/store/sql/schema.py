"""The tables. A column bears the name of its field in `ports.records`; what a row means is said there."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, String, Table, Text, text

from orchestrator.store.sql.columns import Instant, Span

metadata = MetaData()


def _id(name: str, *, primary_key: bool = False, nullable: bool = False) -> Column[Any]:
    return Column(name, String(255), primary_key=primary_key, nullable=nullable)


def _hot() -> dict[str, Any]:
    """Rows that change or go soon: room on the page for updates in place, and vacuum before dead rows pile up."""
    return {
        "postgresql_with": {
            "fillfactor": 70,
            "autovacuum_vacuum_scale_factor": 0.02,
            "autovacuum_vacuum_threshold": 500,
        }
    }


definitions = Table(
    "definitions",
    metadata,
    _id("scope", primary_key=True),
    _id("workflow", primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False),
    Column("document", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("published_at", Instant, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("run_id", String(32), primary_key=True),
    _id("scope"),
    _id("workflow"),
    Column("version", Integer, nullable=False),
    _id("key"),
    _id("trigger_kind"),
    _id("subject_kind", nullable=True),
    _id("subject_id", nullable=True),
    _id("correlation", nullable=True),
    Column("status", String(32), nullable=False),
    Column("tail", BigInteger, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("updated_at", Instant, nullable=False),
    Column("ended_at", Instant),
    Index("runs_newest", "scope", "started_at", "run_id"),
    Index("runs_by_status", "scope", "status", "started_at", "run_id"),
    Index("runs_by_workflow", "scope", "workflow", "started_at", "run_id"),
    Index("runs_by_subject", "scope", "subject_kind", "subject_id"),
    **_hot(),
)

facts = Table(
    "facts",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("type", String(64), nullable=False),
    Column("at", Instant, nullable=False),
    Column("data", Text, nullable=False),
    Column("value", Text),
    Column("size", BigInteger, nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    Column("attempt_id", String(64), primary_key=True),
    Column("run_id", String(32), nullable=False),
    _id("scope"),
    Column("execution_id", String(32), nullable=False),
    _id("node"),
    Column("number", Integer, nullable=False),
    Column("capability", Text, nullable=False),
    Column("timeout", Span, nullable=False),
    Column("state", String(16), nullable=False),
    Column("owed_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("rings", Integer, nullable=False),
    Column("losses", Integer, nullable=False),
    _id("worker", nullable=True),
    Column("effect", String(16)),
    Column("claimed_at", Instant),
    Column("deadline", Instant),
    Column("lease_until", Instant),
    Column("receipt", Text),
    Column("output", Text),
    Column("answered_at", Instant),
    Index("attempts_due", "due_at"),
    Index("attempts_by_run", "run_id"),
    **_hot(),
)

timers = Table(
    "timers",
    metadata,
    Column("run_id", String(32), primary_key=True),
    Column("execution_id", String(32), primary_key=True),
    Column("due_at", Instant, nullable=False),
    Column("parked", Boolean, nullable=False),
    Index("timers_due", "due_at", sqlite_where=text("parked = 0"), postgresql_where=text("NOT parked")),
    **_hot(),
)

waits = Table(
    "waits",
    metadata,
    Column("wait_id", String(64), primary_key=True),
    Column("run_id", String(32), nullable=False),
    _id("scope"),
    _id("workflow"),
    Column("execution_id", String(32), nullable=False),
    _id("node"),
    _id("branch_key", nullable=True),
    Column("kind", String(16), nullable=False),
    Column("opened_at", Instant, nullable=False),
    _id("signal_id", nullable=True),
    Column("signal_version", BigInteger),
    _id("key", nullable=True),
    Column("deadline", Instant),
    Column("status", String(16), nullable=False),
    _id("outlet", nullable=True),
    _id("actor", nullable=True),
    Column("closed_at", Instant),
    Index("waits_by_run", "run_id"),
    Index(
        "waits_open",
        "scope",
        "opened_at",
        "wait_id",
        sqlite_where=text("status = 'open'"),
        postgresql_where=text("status = 'open'"),
    ),
    Index(
        "waits_by_key", "scope", "key", sqlite_where=text("key IS NOT NULL"), postgresql_where=text("key IS NOT NULL")
    ),
    Index(
        "waits_open_key",
        "scope",
        "key",
        unique=True,
        sqlite_where=text("status = 'open' AND key IS NOT NULL"),
        postgresql_where=text("status = 'open' AND key IS NOT NULL"),
    ),
)
