"""Alembic's folder: its environment and the steps. Law: a step that was released is never changed."""
