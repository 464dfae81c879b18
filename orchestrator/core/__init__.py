"""The core. Law: pure values and functions; no database, no Celery, no clock, no randomness, no I/O."""
