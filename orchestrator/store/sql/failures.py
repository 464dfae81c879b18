"""What a failure of the database means to a caller: decide anew, wait for the operator, or a bug of ours."""

from __future__ import annotations

from sqlalchemy import URL
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError, ProgrammingError

from orchestrator.errors import BadSettings, CeleriacError, Conflict, SchemaOutdated, StoreUnavailable

#: Serialization failure, deadlock, lock not available in time.
_AGAIN = frozenset({"40001", "40P01", "55P03"})
#: A statement that was cancelled because it took too long, and a server that takes no writes.
_AWAY = frozenset({"57014", "25006"})
_NO_SUCH_THING = frozenset({"42P01", "42703"})
#: A file that is not, or no longer, an SQLite database.
_SPOILED = frozenset({"SQLITE_NOTADB", "SQLITE_CORRUPT"})


def shown(url: URL) -> str:
    """A URL without its passwords."""
    secret = {name: "hidden" for name in url.query if "password" in name.lower()}
    return url.update_query_dict(secret).render_as_string(hide_password=True)


def translated(context: ExceptionContext, url: URL) -> CeleriacError | None:
    """Our error for one of the database; None leaves it as it is, since nobody outside can do anything about it."""
    error, original = context.sqlalchemy_exception, context.original_exception
    if context.is_pre_ping:
        return None
    state, text = getattr(original, "sqlstate", None), str(original)
    if isinstance(error, IntegrityError):
        return Conflict(f"another writer was first ({first_line(original)}): load it and decide anew")
    if state in _AGAIN or "database is locked" in text or "table is locked" in text:
        return Conflict(f"the database asks to try again: {first_line(original)}")
    if state in _NO_SUCH_THING or "no such table" in text or "no such column" in text:
        return SchemaOutdated(
            f"the schema of the database {shown(url)} is not the one this release needs ({first_line(original)}): "
            "run `celeriac db upgrade`"
        )
    if context.connection is None and isinstance(error, ProgrammingError):
        return BadSettings(f"CELERIAC_DATABASE_URL {shown(url)}: {first_line(original)}; correct what follows the ?")
    away = context.is_disconnect or state in _AWAY or getattr(original, "sqlite_errorname", None) in _SPOILED
    if away or isinstance(error, OperationalError | InterfaceError):
        return unavailable(url, original)
    return None


def unavailable(url: URL, why: BaseException) -> StoreUnavailable:
    """The database does not answer, or not in time."""
    return StoreUnavailable(
        f"the database {shown(url)} does not answer: {first_line(why)}; "
        "check CELERIAC_DATABASE_URL and that the server is up"
    )


def first_line(error: BaseException) -> str:
    """What an error says, without the details of its later lines."""
    text = str(error).strip()
    return text.splitlines()[0].rstrip() if text else type(error).__name__
