"""The first schema."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_WORD = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}


def upgrade() -> None:
    """Make every table and index."""
    op.create_table(
        "definitions",
        sa.Column("scope", _WORD, nullable=False),
        sa.Column("workflow", _WORD, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("digest", _WORD, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "workflow", "version"),
    )
    op.create_index("definitions_active", "definitions", ["scope", "workflow"], unique=True, **_where("active"))
    op.create_table(
        "runs",
        sa.Column("run_id", _WORD, nullable=False),
        sa.Column("scope", _WORD, nullable=False),
        sa.Column("workflow", _WORD, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("key", _WORD, nullable=False),
        sa.Column("trigger_kind", _WORD, nullable=False),
        sa.Column("subject_kind", _WORD, nullable=True),
        sa.Column("subject_id", _WORD, nullable=True),
        sa.Column("correlation", _WORD, nullable=True),
        sa.Column("status", _WORD, nullable=False),
        sa.Column("tail", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("run_id"),
        postgresql_with={"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.05},
    )
    op.create_index("runs_by_status", "runs", ["scope", "status", "started_at", "run_id"])
    op.create_index("runs_by_subject", "runs", ["scope", "subject_kind", "subject_id", "started_at", "run_id"])
    op.create_index("runs_by_workflow", "runs", ["scope", "workflow", "started_at", "run_id"])
    op.create_index("runs_newest", "runs", ["started_at", "run_id"])
    op.create_index("runs_of_scope", "runs", ["scope", "started_at", "run_id"])
    op.create_table(
        "facts",
        sa.Column("run_id", _WORD, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("type", _WORD, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "number"),
    )
    op.create_table(
        "attempts",
        sa.Column("attempt_id", _WORD, nullable=False),
        sa.Column("run_id", _WORD, nullable=False),
        sa.Column("scope", _WORD, nullable=False),
        sa.Column("execution_id", _WORD, nullable=False),
        sa.Column("node", _WORD, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("capability", _WORD, nullable=False),
        sa.Column("timeout", sa.BigInteger(), nullable=False),
        sa.Column("state", _WORD, nullable=False),
        sa.Column("owed_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("losses", sa.BigInteger(), nullable=False),
        sa.Column("worker", _WORD, nullable=True),
        sa.Column("effect", _WORD, nullable=True),
        sa.Column("claimed_at", sa.BigInteger(), nullable=True),
        sa.Column("deadline", sa.BigInteger(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("receipt", sa.Text(), nullable=True),
        sa.Column("output", sa.Text(), nullable=True),
        sa.Column("answered_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("attempt_id"),
        postgresql_with={
            "autovacuum_vacuum_scale_factor": 0.0,
            "autovacuum_vacuum_threshold": 2000,
            "autovacuum_vacuum_cost_delay": 0,
        },
    )
    op.create_index("attempts_due", "attempts", ["due_at"])
    op.create_index("attempts_of_run", "attempts", ["run_id", "state"])
    op.create_table(
        "timers",
        sa.Column("run_id", _WORD, nullable=False),
        sa.Column("execution_id", _WORD, nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("parked", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "execution_id"),
        postgresql_with={
            "autovacuum_vacuum_scale_factor": 0.0,
            "autovacuum_vacuum_threshold": 2000,
            "autovacuum_vacuum_cost_delay": 0,
        },
    )
    op.create_index("timers_due", "timers", ["due_at"], **_where("NOT parked"))
    op.create_table(
        "waits",
        sa.Column("wait_id", _WORD, nullable=False),
        sa.Column("run_id", _WORD, nullable=False),
        sa.Column("scope", _WORD, nullable=False),
        sa.Column("workflow", _WORD, nullable=False),
        sa.Column("execution_id", _WORD, nullable=False),
        sa.Column("node", _WORD, nullable=False),
        sa.Column("branch_key", _WORD, nullable=True),
        sa.Column("kind", _WORD, nullable=False),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("signal_id", _WORD, nullable=True),
        sa.Column("signal_version", sa.BigInteger(), nullable=True),
        sa.Column("key", _WORD, nullable=True),
        sa.Column("deadline", sa.BigInteger(), nullable=True),
        sa.Column("status", _WORD, nullable=False),
        sa.Column("outlet", _WORD, nullable=True),
        sa.Column("actor", _WORD, nullable=True),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("wait_id"),
    )
    op.create_index("waits_by_key", "waits", ["scope", "key", "closed_at"], **_where("key IS NOT NULL"))
    op.create_index("waits_of_run", "waits", ["run_id", "opened_at", "wait_id"])
    op.create_index("waits_of_scope", "waits", ["scope", "opened_at", "wait_id"])
    op.create_index("waits_open", "waits", ["opened_at", "wait_id"], **_where("status = 'open'"))
    op.create_index(
        "waits_open_key", "waits", ["scope", "key"], unique=True, **_where("status = 'open' AND key IS NOT NULL")
    )
    op.create_index(
        "waits_open_of_kind", "waits", ["scope", "kind", "opened_at", "wait_id"], **_where("status = 'open'")
    )
    op.create_index("waits_open_of_scope", "waits", ["scope", "opened_at", "wait_id"], **_where("status = 'open'"))
