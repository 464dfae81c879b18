"""Alembic's environment: runs on the connection that `store.migrate` gives it, inside that transaction."""

from alembic import context

from orchestrator.store.sql.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
