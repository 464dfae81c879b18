"""The store on SQLAlchemy Core: SQLite and PostgreSQL. Law: Core only, no ORM, no JSON types."""
