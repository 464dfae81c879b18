"""What a caller may say: ids and texts, looked at before any database is asked for them, so that all databases answer
alike.
"""

from __future__ import annotations

from orchestrator.core.data import printable
from orchestrator.core.ids import id_problem
from orchestrator.core.outcomes import MAX_REASON_CHARACTERS
from orchestrator.core.shapes import MAX_INTEGER, named_version, named_version_problem
from orchestrator.errors import NotFound, Refused


def nowhere(*ids: str | None) -> bool:
    """Whether one of these cannot be an id, so that nothing is found under it; no database is asked for such text."""
    return any(id is not None and id_problem(id) is not None for id in ids)


def require_findable(what: str, id: str, scope: str) -> None:
    """Raises `NotFound` for what cannot be an id."""
    if nowhere(id, scope):
        raise NotFound(what, id)


def require_version(workflow: str, version: int | None) -> None:
    """Raises `NotFound` for what cannot be a version."""
    if version is not None and not 1 <= version <= MAX_INTEGER:
        raise NotFound("definition", f"{workflow}@{version}")


def actor_of(actor: str | None) -> str | None:
    """Who acts. Raises `Refused` for text that cannot be stored as that."""
    if actor is not None and (problem := id_problem(actor)):
        raise Refused(f"the actor {problem}; say who acts, or leave it out")
    return actor


def reason_of(reason: str | None) -> str | None:
    """Why. Raises `Refused` for text that cannot be stored as that."""
    if reason is not None and not _storable(reason):
        raise Refused(
            f"the reason must be text of at most {MAX_REASON_CHARACTERS:,} characters without NUL or half of a "
            "surrogate pair"
        )
    return reason


def _storable(text: object) -> bool:
    return isinstance(text, str) and printable(text, MAX_REASON_CHARACTERS) == text


def contract_of(contract: str) -> str:
    """A signal's ``name@version``. Raises `Refused` for anything else."""
    problem = id_problem(contract)
    if problem is None:
        try:
            named = named_version(contract)
            problem = named_version_problem(named.name, named.version)
        except ValueError as error:
            problem = str(error)
    if problem is not None:
        raise Refused(f"the signal {problem}")
    return contract
