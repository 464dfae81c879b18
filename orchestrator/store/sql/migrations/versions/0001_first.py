"""The first schema."""

import sqlalchemy as sa
from alembic import op

from orchestrator.store.sql.columns import Instant, Span

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "attempts",
        sa.Column("attempt_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("scope", sa.String(length=255), nullable=False),
        sa.Column("execution_id", sa.String(length=32), nullable=False),
        sa.Column("node", sa.String(length=255), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("capability", sa.Text(), nullable=False),
        sa.Column("timeout", Span(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("owed_at", Instant(), nullable=False),
        sa.Column("due_at", Instant(), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("rings", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=255), nullable=True),
        sa.Column("effect", sa.String(length=16), nullable=True),
        sa.Column("claimed_at", Instant(), nullable=True),
        sa.Column("deadline", Instant(), nullable=True),
        sa.Column("lease_until", Instant(), nullable=True),
        sa.Column("receipt", sa.Text(), nullable=True),
        sa.Column("output", sa.Text(), nullable=True),
        sa.Column("answered_at", Instant(), nullable=True),
        sa.PrimaryKeyConstraint("attempt_id"),
        postgresql_with={"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.02, "autovacuum_vacuum_threshold": 500},
    )
    op.create_index("attempts_by_run", "attempts", ["run_id"], unique=False)
    op.create_index("attempts_due", "attempts", ["due_at"], unique=False)
    op.create_table(
        "definitions",
        sa.Column("scope", sa.String(length=255), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("published_at", Instant(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "workflow", "version"),
    )
    op.create_table(
        "facts",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.Column("at", Instant(), nullable=False),
        sa.Column("data", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "number"),
    )
    op.create_table(
        "runs",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("scope", sa.String(length=255), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("trigger_kind", sa.String(length=255), nullable=False),
        sa.Column("subject_kind", sa.String(length=255), nullable=True),
        sa.Column("subject_id", sa.String(length=255), nullable=True),
        sa.Column("correlation", sa.String(length=255), nullable=True),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("tail", sa.BigInteger(), nullable=False),
        sa.Column("started_at", Instant(), nullable=False),
        sa.Column("updated_at", Instant(), nullable=False),
        sa.Column("ended_at", Instant(), nullable=True),
        sa.PrimaryKeyConstraint("run_id"),
        postgresql_with={"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.02, "autovacuum_vacuum_threshold": 500},
    )
    op.create_index("runs_by_status", "runs", ["scope", "status", "started_at", "run_id"], unique=False)
    op.create_index("runs_by_subject", "runs", ["scope", "subject_kind", "subject_id"], unique=False)
    op.create_index("runs_by_workflow", "runs", ["scope", "workflow", "started_at", "run_id"], unique=False)
    op.create_index("runs_newest", "runs", ["scope", "started_at", "run_id"], unique=False)
    op.create_table(
        "timers",
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("execution_id", sa.String(length=32), nullable=False),
        sa.Column("due_at", Instant(), nullable=False),
        sa.Column("parked", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "execution_id"),
        postgresql_with={"fillfactor": 70, "autovacuum_vacuum_scale_factor": 0.02, "autovacuum_vacuum_threshold": 500},
    )
    op.create_index(
        "timers_due",
        "timers",
        ["due_at"],
        unique=False,
        sqlite_where=sa.text("parked = 0"),
        postgresql_where=sa.text("NOT parked"),
    )
    op.create_table(
        "waits",
        sa.Column("wait_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=32), nullable=False),
        sa.Column("scope", sa.String(length=255), nullable=False),
        sa.Column("workflow", sa.String(length=255), nullable=False),
        sa.Column("execution_id", sa.String(length=32), nullable=False),
        sa.Column("node", sa.String(length=255), nullable=False),
        sa.Column("branch_key", sa.String(length=255), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("opened_at", Instant(), nullable=False),
        sa.Column("signal_id", sa.String(length=255), nullable=True),
        sa.Column("signal_version", sa.BigInteger(), nullable=True),
        sa.Column("key", sa.String(length=255), nullable=True),
        sa.Column("deadline", Instant(), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("outlet", sa.String(length=255), nullable=True),
        sa.Column("actor", sa.String(length=255), nullable=True),
        sa.Column("closed_at", Instant(), nullable=True),
        sa.PrimaryKeyConstraint("wait_id"),
    )
    op.create_index(
        "waits_by_key",
        "waits",
        ["scope", "key"],
        unique=False,
        sqlite_where=sa.text("key IS NOT NULL"),
        postgresql_where=sa.text("key IS NOT NULL"),
    )
    op.create_index("waits_by_run", "waits", ["run_id"], unique=False)
    op.create_index(
        "waits_open",
        "waits",
        ["scope", "opened_at", "wait_id"],
        unique=False,
        sqlite_where=sa.text("status = 'open'"),
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_index(
        "waits_open_key",
        "waits",
        ["scope", "key"],
        unique=True,
        sqlite_where=sa.text("status = 'open' AND key IS NOT NULL"),
        postgresql_where=sa.text("status = 'open' AND key IS NOT NULL"),
    )
