"""Durable workflows on Celery: the face a producer holds."""
