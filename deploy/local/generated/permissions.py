"""`deploy/nats/permissions.json`: what each service may say and hear on a shared server.

The shape of each user is that of `permissions` in a NATS server's configuration. A service
may publish its own events, pull and acknowledge its own durables, and nothing of another's;
`upstream` is a pattern for a tenant's account, with `{namespace}` to be filled in.
"""

import json
from pathlib import Path
from typing import Any

from libs.contracts.subjects import (
    CONSUMERS,
    CONTROL_CANCEL,
    DOCUMENT_OUTCOME,
    INGEST_BUCKET,
    INGEST_REQUESTED,
    JOB_EVENTS,
    QUERY_COST,
    QUERY_DOCUMENTS,
    QUERY_FIND,
    QUERY_HYDRATE,
    QUERY_MATCH,
    QUERY_NAVIGATE,
    QUERY_PICTURE,
    QUERY_PLAN,
    QUERY_PROBE,
    QUERY_RETRIEVE,
    STREAMS,
    SUBJECTS,
    Stage,
    Subject,
)
from libs.runtime.buslogin import inbox_of
from libs.runtime.pausing import PAUSABLE
from libs.runtime.routes import durable_name, full, stream_name
from libs.runtime.streams import BUCKETS, bucket_name

TARGET = Path("deploy/nats/permissions.json")
PREFIX = "groundwire"
UPSTREAM = "upstream_{namespace}"
"""Whose inbox a tenant has."""
ANONYMOUS = "_INBOX.>"
"""The inboxes of clients that name none, as an object store's: no user of ours is among them."""
ANSWERS = {
    QUERY_PLAN: Stage.PLANNER,
    QUERY_RETRIEVE: Stage.RETRIEVER,
    QUERY_PROBE: Stage.RETRIEVER,
    QUERY_HYDRATE: Stage.RETRIEVER,
    QUERY_NAVIGATE: Stage.RETRIEVER,
    QUERY_DOCUMENTS: Stage.RETRIEVER,
    QUERY_PICTURE: Stage.PARSER,
    QUERY_FIND: Stage.PLANNER,
    QUERY_MATCH: Stage.RETRIEVER,
    QUERY_COST: Stage.CHUNKER,
}
BUCKET_USERS = {"searches": (Stage.PLANNER,), "leases": (Stage.GATEWAY,)}


def _inbox(user: str) -> str:
    return f"{inbox_of(user)}.>"


def _wire(subject: Subject, stage: Stage | None = None) -> str:
    """A subject as a permission: tokens are wildcards, but `{stage}` is the service's own."""
    own = subject.pattern if stage is None else subject.pattern.replace("{stage}", stage)
    return full(PREFIX, ".".join("*" if t.startswith("{") else t for t in own.split(".")))


def _said(stage: Stage) -> set[str]:
    return {_wire(subject, stage) for subject in SUBJECTS if stage in subject.senders}


def _pulled(stage: Stage) -> set[str]:
    """Asking for the next messages of the service's durables, and ending them."""
    allowed = set()
    for consumer in CONSUMERS:
        if consumer.stage is stage:
            place = f"{stream_name(PREFIX, consumer.stream)}.{durable_name(consumer)}"
            allowed |= {
                f"$JS.API.CONSUMER.MSG.NEXT.{place}",
                f"$JS.API.CONSUMER.INFO.{place}",
                f"$JS.ACK.{place}.>",
            }
    return allowed


def _buckets(stage: Stage) -> set[str]:
    allowed = set()
    for bucket in BUCKETS:
        if stage in BUCKET_USERS[bucket]:
            name = bucket_name(PREFIX, bucket)
            allowed |= {
                f"$KV.{name}.>",
                f"$JS.API.STREAM.INFO.KV_{name}",
                f"$JS.API.STREAM.MSG.GET.KV_{name}",
                f"$JS.API.DIRECT.GET.KV_{name}.>",
            }
    return allowed


def _operated() -> set[str]:
    """What the gateway does for operators: replay, list and discard, find what is stuck."""
    events = {_wire(subject) for subject in JOB_EVENTS.values()}
    streams = {
        f"$JS.API.{what}.{stream_name(PREFIX, stream)}"
        for stream in STREAMS
        for what in ("STREAM.INFO", "STREAM.MSG.GET", "STREAM.MSG.DELETE")
    }
    direct = {f"$JS.API.DIRECT.GET.{stream_name(PREFIX, stream)}.>" for stream in STREAMS}
    durables = {
        f"$JS.API.CONSUMER.INFO.{stream_name(PREFIX, consumer.stream)}.*" for consumer in CONSUMERS
    }
    pauses = {
        f"$JS.API.CONSUMER.PAUSE.{stream_name(PREFIX, consumer.stream)}.{durable_name(consumer)}"
        for consumer in CONSUMERS
        if consumer.stage in PAUSABLE
    }
    upload = {full(PREFIX, s.wildcard) for s in (INGEST_REQUESTED, INGEST_BUCKET)}
    return events | streams | direct | upload | durables | pauses | {full(PREFIX, "again.*")}


def _user(publish: set[str], subscribe: set[str]) -> dict[str, Any]:
    return {"publish": {"allow": sorted(publish)}, "subscribe": {"allow": sorted(subscribe)}}


def service(stage: Stage) -> dict[str, Any]:
    """The permissions of a service."""
    publish = _said(stage) | _pulled(stage) | _buckets(stage)
    if stage is Stage.GATEWAY:
        publish |= _operated()
    heard = {_inbox(stage), _wire(CONTROL_CANCEL)}
    for subject, answering in ANSWERS.items():
        if answering is stage:
            heard.add(_wire(subject))
            publish |= {_inbox(asking) for asking in subject.senders}
    return _user(publish, heard)


def permissions() -> dict[str, Any]:
    """Every user's permissions, by name."""
    tenant = full(PREFIX, INGEST_REQUESTED.pattern)
    outcome = full(PREFIX, DOCUMENT_OUTCOME.pattern)
    for token in ("{outcome}", "{document}"):
        outcome = outcome.replace(token, "*")
    return {
        **{str(stage): service(stage) for stage in Stage},
        "bootstrap": _user({"$JS.API.>"}, {_inbox("bootstrap")}),
        "bucket": _user({full(PREFIX, INGEST_BUCKET.pattern)}, {ANONYMOUS}),
        "upstream": _user({tenant}, {f"_INBOX_{UPSTREAM}.>", outcome}),
    }


def render(_root: Path) -> dict[Path, str]:
    """The file."""
    return {TARGET: json.dumps(permissions(), indent=2) + "\n"}
