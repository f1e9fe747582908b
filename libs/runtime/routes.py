"""Addresses: the only place that turns an event into a subject, and back."""

from libs.contracts.events import JobEvent, StageFailed
from libs.contracts.subjects import (
    JOB_EVENTS,
    STAGE_FAILED,
    SUBJECTS,
    Consumer,
    Stream,
    Subject,
)


def address(prefix: str, subject: Subject, **tokens: str) -> str:
    """The full subject with its tokens filled in.

    Raises `ValueError` for a missing token and for one that would change the subject's
    shape (empty, or with a dot, wildcard or white space).
    """
    parts = []
    for part in subject.pattern.split("."):
        if not part.startswith("{"):
            parts.append(part)
            continue
        value = tokens.get(part[1:-1], "")
        if not value or any(c in ".*>" or c.isspace() or ord(c) < 32 for c in value):
            raise ValueError(f"subject token {part} may not be {value[:80]!r}")
        parts.append(value)
    return ".".join((prefix, *parts))


def event_subject(event: JobEvent) -> Subject:
    """The catalogue's entry for an event."""
    return STAGE_FAILED if isinstance(event, StageFailed) else JOB_EVENTS[type(event)]


def event_name(event: JobEvent) -> str:
    """`<stage>.<event>`."""
    if isinstance(event, StageFailed):
        return f"{event.stage}.failed"
    return ".".join(JOB_EVENTS[type(event)].pattern.split(".")[:2])


def event_address(prefix: str, event: JobEvent) -> str:
    """Where an event of a job is published."""
    tokens = {"job": event.job_id, "revision": str(event.revision)}
    if isinstance(event, StageFailed):
        tokens["stage"] = event.stage
    return address(prefix, event_subject(event), **tokens)


def message_id(event: JobEvent) -> str:
    """`Nats-Msg-Id`: event, job, revision, shard, attempt."""
    parts = (event_name(event), event.job_id, str(event.revision), event.shard_token)
    return ":".join((*parts, str(event.attempt)))


def full(prefix: str, pattern: str) -> str:
    """A catalogue pattern on the wire; server subjects (`$JS…`) name it elsewhere."""
    if pattern.startswith("$"):
        return pattern.replace("{prefix}", prefix)
    return f"{prefix}.{pattern}"


def stream_name(prefix: str, stream: Stream | str) -> str:
    """A stream's name on the server."""
    return f"{prefix}-{stream if isinstance(stream, str) else stream.name}"


def durable_name(consumer: Consumer) -> str:
    """A durable's name within its stream."""
    return consumer.durable


def subject_of(prefix: str, wire: str) -> tuple[Subject, dict[str, str]] | None:
    """The catalogue's entry and the tokens of a subject on the wire; None when unknown."""
    if not wire.startswith(prefix + "."):
        return None
    parts = wire[len(prefix) + 1 :].split(".")
    for subject in SUBJECTS:
        pattern = subject.pattern.split(".")
        if len(pattern) != len(parts):
            continue
        if all(p.startswith("{") or p == v for p, v in zip(pattern, parts, strict=True)):
            tokens = {p[1:-1]: v for p, v in zip(pattern, parts, strict=True) if p.startswith("{")}
            return subject, tokens
    return None


def decode_event(prefix: str, wire: str, body: bytes) -> JobEvent:
    """The event of a job that a pipeline subject carries.

    Raises `ValueError` for a subject that is not in the catalogue or carries no job event,
    and pydantic's `ValidationError` (a `ValueError`) for a body that breaks its contract.
    """
    found = subject_of(prefix, wire)
    if found is None or not issubclass(found[0].model, JobEvent):
        raise ValueError(f"no job event travels on subject {wire[:120]!r}")
    return found[0].model.model_validate_json(body)
