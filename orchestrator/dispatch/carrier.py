"""The Celery settings that everything of ours runs with, by broker. What is not here is Celery's default.

Why each stands here: docs/pools.md.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from kombu import Exchange, Queue

from orchestrator.dispatch.routes import Routes

#: Schemes of brokers that were tried.
SCHEMES = ("redis", "rediss", "amqp", "amqps", "pyamqp", "memory")


def scheme_of(broker_url: str) -> str:
    """The scheme of a broker's URL; of several, which Celery tries in turn, the first's."""
    return urlsplit(broker_url.split(";", maxsplit=1)[0].strip()).scheme


def carrier_settings(
    broker_url: str, routes: Routes, *, prefetch: int, visibility_timeout: timedelta
) -> dict[str, Any]:
    """Celery's configuration, for an application that is ours alone."""
    return {
        "broker_url": broker_url,
        "broker_transport_options": transport_options(broker_url, visibility_timeout=visibility_timeout),
        "broker_connection_retry_on_startup": True,
        "result_backend": None,
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "event_serializer": "json",
        "task_default_queue": routes.default,
        "task_queues": [declared(routes.default)],
        "task_acks_late": True,
        "task_reject_on_worker_lost": False,
        "task_send_sent_event": True,
        "worker_prefetch_multiplier": prefetch,
        "worker_lost_wait": 1.0,
        "worker_send_task_events": True,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_redirect_stdouts": False,
        "worker_hijack_root_logger": False,
        "beat_max_loop_interval": 1,
        "beat_scheduler": "beat.scheduler:Metronome",
    }


def declared(queue: str) -> Queue:
    """A queue as every process of ours declares it: on the default exchange, which needs no binding."""
    return Queue(queue, Exchange("", type="direct"), routing_key=queue)


def transport_options(broker_url: str, *, visibility_timeout: timedelta) -> dict[str, Any]:
    """What a worker asks of the connection to its broker."""
    match scheme_of(broker_url):
        case "redis" | "rediss":
            return {
                "visibility_timeout": int(visibility_timeout.total_seconds()),
                # A dead worker's messages come back in seconds; the usual sweep takes about 100.
                "unacked_restore_interval": 5,
                "unacked_restore_throttle": 1,
                "socket_timeout": 10,
                "socket_connect_timeout": 3,
                "socket_keepalive": True,
            }
        case "memory":
            return {"polling_interval": 0.02}
        case _:
            return {}


def impatient_options(broker_url: str, patience: float) -> dict[str, Any]:
    """What a producer asks on top: nothing is tried twice, and a silent broker is given up after `patience` seconds."""
    once = {"max_retries": 0, "interval_start": 0, "interval_step": 0, "interval_max": 0}
    match scheme_of(broker_url):
        case "redis" | "rediss":
            return {**once, "socket_timeout": patience, "socket_connect_timeout": patience}
        case "amqp" | "amqps" | "pyamqp":
            return {**once, "read_timeout": patience, "write_timeout": patience}
        case _:
            return {}
