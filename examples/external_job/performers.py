"""Hand a video to a transcoder that answers later, and publish what comes back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from workers import Invocation, Suspended, performer


@performer("videos.transcode", version=1)
def transcode(call: Invocation) -> Suspended:
    """Submit the job under a key of its own; whoever finishes it completes that key."""
    video = call.input["trigger"]["payload"]["video"]
    return Suspended(f"transcode/{video}/{call.attempt}", expires_after=timedelta(hours=1))


@performer("videos.publish", version=1)
def publish(call: Invocation) -> dict[str, Any]:
    """What the completion brought is the output of the node."""
    return {"published": call.input["nodes"]["transcode"]["url"]}


@performer("videos.apologise", version=1)
def apologise(call: Invocation) -> dict[str, Any]:
    """After `failed`, `failures` says why; after `expired` nothing failed."""
    failure = call.input["failures"].get("transcode")
    return {"because": failure["reason"] if failure else "nobody answered within an hour"}
