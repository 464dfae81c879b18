"""Ids: what text may be one, and the ids that are derived from others (semantics 1.6, 1.15, 2.2).

Ids are free text of at most 255 bytes; derived ids are hashes, so that two tenants, branches or visits never share one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

MAX_ID_BYTES = 255


def id_problem(value: object) -> str | None:
    """What keeps `value` from being an id, as the end of a sentence, or None when it is one."""
    if not isinstance(value, str):
        return f"must be text, not {type(value).__name__}"
    if not value:
        return "must not be empty"
    if "\x00" in value:
        return "must not hold the character NUL"
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "must not hold half of a surrogate pair"
    if size > MAX_ID_BYTES:
        return f"is {size} bytes long, at most {MAX_ID_BYTES} are allowed"
    return None


def _hash(*parts: object) -> str:
    text = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def run_id(scope: str, workflow: str, key: str) -> str:
    """The id of the run that a trigger with this dedup key starts or has started."""
    return _hash("run", scope, workflow, key)


def execution_id(run: str, branch: Sequence[Sequence[object]], node: str, visit: int) -> str:
    """The id of an execution, also the idempotency key of all its attempts; the run id stands for the scope."""
    return _hash("execution", run, [list(step) for step in branch], node, visit)


def attempt_id(execution: str, number: int) -> str:
    """The id of one attempt, which is also the id of its Celery task."""
    return f"{execution}.{number}"
