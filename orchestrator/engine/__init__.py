"""The engine: load, decide, append. Law: the only writer of facts; it knows ports, no database and no Celery."""
