"""What a worker does with a message of ours: Celery's own strategy up to the pool, where the desk takes over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celery import Celery, signals
from celery.app.trace import LOG_RECEIVED
from celery.utils.log import get_logger
from celery.worker import state
from celery.worker import strategy as celery_strategy

from orchestrator.errors import BadSettings
from workers.bell import ForNothing
from workers.request import AttemptRequest
from workers.tasks import AttemptTask
from workers.workplace import Workplace

# Celery's own, so that the line looks and is filtered as for any other task.
logger = get_logger("celery.worker.strategy")

_stock: Any = celery_strategy


def strategy(task: AttemptTask, app: Celery, consumer: Any, **_: Any) -> Callable[..., None]:
    """The handler of messages for one task, made anew with each line to the broker."""
    workplace: Workplace | None = getattr(consumer.controller, "workplace", None)
    if workplace is None:
        raise BadSettings(f"{task.name} needs a worker of an application that was made by add_to or by workers")
    eventer = consumer.event_dispatcher

    def admit(request: AttemptRequest) -> None:
        """To the desk, or later when the task's rate limit says so."""
        bucket = consumer.task_buckets[task.name]
        if bucket is None or consumer.disable_rate_limits or bucket.can_consume(1):
            if not workplace.desk.rang(request):
                request.over(ForNothing())
        else:
            consumer.timer.call_after(bucket.expected_time(1), admit, (request,))

    def received(message: Any, body: Any, ack: Any, reject: Any, callbacks: Any, **_: Any) -> None:
        if body is None and "args" not in message.payload:
            parts = message.body, message.headers, False, app.uses_utc_timezone()
        elif "args" in message.payload:
            parts = _stock.hybrid_to_proto2(message, message.payload)
        else:
            parts = _stock.proto1_to_proto2(message, body)
        content, headers, decoded, utc = parts
        request = AttemptRequest(
            message,
            workplace=workplace,
            on_ack=ack,
            on_reject=reject,
            app=app,
            hostname=consumer.hostname,
            eventer=eventer,
            task=task,
            connection_errors=consumer.connection_errors,
            body=content,
            headers=headers,
            decoded=decoded,
            utc=utc,
        )
        if workplace.desk.holds(request.attempt_id):
            logger.debug("Attempt %s is here already: the second message is dropped", request.attempt_id)
            request.acknowledge()
            return
        _announce(request, consumer, eventer)
        # A revoke that came before this message was for another one: the same attempt may be tried again under its id.
        state.revoked.discard(request.id)
        state.task_reserved(request)
        for callback in callbacks or ():
            callback(request)
        admit(request)

    return received


def _announce(request: AttemptRequest, consumer: Any, eventer: Any) -> None:
    context = {"id": request.id, "name": request.name, "args": request.argsrepr, "kwargs": request.kwargsrepr}
    logger.info(LOG_RECEIVED, context, extra={"data": context})
    signals.task_received.send(sender=consumer, request=request)
    if eventer and eventer.enabled and request.task.send_events:
        eventer.send(
            "task-received",
            uuid=request.id,
            name=request.name,
            args=request.argsrepr,
            kwargs=request.kwargsrepr,
            root_id=request.root_id,
            parent_id=request.parent_id,
            retries=request.request_dict.get("retries", 0),
            eta=None,
            expires=None,
        )
