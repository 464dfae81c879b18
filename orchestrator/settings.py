"""The settings of a process: from the environment (prefix CELERIAC_), or given by hand. Nothing is opened here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from orchestrator.core.data import DEFAULT_LIMITS, DataLimits
from orchestrator.core.durations import parse_duration
from orchestrator.dispatch.carrier import SCHEMES, scheme_of
from orchestrator.dispatch.routes import DEFAULT_QUEUE, Route, Routes, pairs
from orchestrator.errors import BadSettings

PREFIX: Final = "CELERIAC_"


def _names(value: object) -> object:
    """``a,b`` as a tuple."""
    return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value


def _pairs(value: object) -> object:
    """``glob=value,…`` as pairs."""
    if isinstance(value, str):
        return tuple(pairs(value))
    return tuple(value.items()) if isinstance(value, Mapping) else value


def _span(value: object) -> object:
    """A number of seconds, or a duration as definitions write it."""
    if isinstance(value, str):
        try:
            return timedelta(seconds=float(value))
        except (ValueError, OverflowError):
            return parse_duration(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return timedelta(seconds=value)
    return value


def _broker(url: str) -> str:
    if scheme_of(url) not in SCHEMES:
        raise ValueError(f"use one of {', '.join(f'{scheme}://' for scheme in SCHEMES)}")
    return url


def _longer_than(least: timedelta) -> Callable[[timedelta], timedelta]:
    def check(span: timedelta) -> timedelta:
        if span <= least:
            raise ValueError(f"it must be longer than {least.total_seconds():g} s")
        return span

    return check


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_names)]
Queues = Annotated[tuple[tuple[str, str], ...], NoDecode, BeforeValidator(_pairs)]
Limits = Annotated[tuple[tuple[str, Annotated[int, Field(ge=1)]], ...], NoDecode, BeforeValidator(_pairs)]
Span = Annotated[timedelta, BeforeValidator(_span), AfterValidator(_longer_than(timedelta(0)))]
Bytes = Annotated[int, Field(ge=2, le=2**30)]
Name = Annotated[str, Field(min_length=1, max_length=255)]


class Settings(BaseSettings):
    """What a process may be told. Every default is that of the embedded mode: SQLite here, no broker, one process.

    Raises `BadSettings`, naming every setting that cannot be used.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", env_ignore_empty=True)

    #: ``sqlite:///FILE`` or ``postgresql://USER@HOST/DATABASE``.
    database_url: str = Field(default="sqlite:///celeriac.db", repr=False)
    #: ``redis://…``, ``amqp://…``, or ``memory://`` for one process that is everything.
    broker_url: Annotated[str, AfterValidator(_broker)] = Field(default="memory://", repr=False)
    #: Connections that a process keeps to the database.
    database_pool: Annotated[int, Field(ge=1, le=1000)] = 5

    #: Modules whose marked functions a worker performs: ``orders.performers,billing.performers``.
    performers: Names = ()
    #: Where doorbells go that no route names, and what a worker listens to unless it is told otherwise.
    queue: Name = DEFAULT_QUEUE
    #: ``orders.*=slow,reports.monthly@2=reports``: by capability; the first that matches counts.
    routes: Queues = ()
    #: ``billing.*=2``: at most so many calls at once in one worker process, for all that the glob matches together.
    limits: Limits = ()

    #: How long a worker's claim lives without being renewed.
    lease: Span = timedelta(seconds=30)
    #: How often a worker renews its claims.
    heartbeat: Span = timedelta(seconds=10)
    #: How often beat looks at what is due.
    tick: Span = timedelta(seconds=1)
    #: How long after an attempt's deadline a pool that can kill does so.
    grace: Span = timedelta(seconds=5)
    #: Doorbells that a worker takes from the broker for each process of its pool.
    prefetch: Annotated[int, Field(ge=1, le=1000)] = 4
    #: Attempts that a worker claims beyond the free processes of its pool, so that short ones never wait for the next.
    look_ahead: Annotated[int, Field(ge=0, le=1000)] = 0
    #: Redis: an unacknowledged doorbell comes again after so long; harmless, for a claim decides.
    visibility_timeout: Span = timedelta(hours=1)

    #: Of one payload, output or signal payload, as compact UTF-8.
    max_bytes: Bytes = DEFAULT_LIMITS.max_bytes
    #: Of the composed input of one execution.
    max_input_bytes: Bytes = DEFAULT_LIMITS.max_input_bytes
    #: Runs whose folded state a process keeps.
    cached_runs: Annotated[int, Field(ge=1)] = 1_000

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise BadSettings("; ".join(_sentence(problem) for problem in error.errors())) from error

    @model_validator(mode="after")
    def _renewed_in_time(self) -> Settings:
        if self.heartbeat * 3 > self.lease:
            raise ValueError("CELERIAC_HEARTBEAT must be at most a third of CELERIAC_LEASE, or claims run out")
        return self

    @property
    def routing(self) -> Routes:
        """The routes as a table."""
        return Routes(tuple(Route(glob, queue) for glob, queue in self.routes), self.queue)

    @property
    def data_limits(self) -> DataLimits:
        """The limits of data."""
        return DataLimits(max_bytes=self.max_bytes, max_input_bytes=self.max_input_bytes)


def _sentence(problem: Mapping[str, Any]) -> str:
    """What pydantic found, as an operator reads it."""
    message = str(problem["msg"]).removeprefix("Value error, ")
    place: Sequence[object] = problem["loc"]
    if not place:
        return message
    name = f"{PREFIX}{str(place[0]).upper()}"
    if problem["type"] == "extra_forbidden":
        return f"there is no setting {name}; check its name"
    given = "" if "url" in str(place[0]) else f" is {problem['input']!r}, which"
    return f"{name}{given or ' is given and'} cannot be used: {message[:1].lower()}{message[1:]}"
