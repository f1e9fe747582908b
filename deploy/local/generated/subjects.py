"""`docs/subjects.md`: the catalogue of the bus, for people."""

from collections.abc import Iterable
from pathlib import Path

from libs.contracts.subjects import CONSUMERS, STREAMS, SUBJECTS, Consumer, Stream, Subject

TARGET = Path("docs/subjects.md")

_HEAD = """# The bus: subjects, streams, durables

Written from `libs/contracts/subjects.py` by `make fix`; change it there. Every subject stands
behind the prefix `GROUNDWIRE_PREFIX` (default `groundwire`), every stream is named
`<prefix>-<name>`. Message schemas are in `asyncapi.json`, permissions in
`deploy/nats/permissions.json`.
"""


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(columns)
    lines = [heads, ["---"] * len(heads), *(list(row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _code(text: str) -> str:
    return f"`{text}`"


def _subject(subject: Subject) -> list[str]:
    senders = ", ".join(subject.senders) or "upstream systems"
    if subject.kind == "redelivery":
        senders = "the server"
    return [
        _code(subject.pattern),
        subject.kind,
        senders,
        _code(subject.model.__name__),
        subject.doc,
    ]


def _stream(stream: Stream) -> list[str]:
    age = f"{stream.max_age / 86_400:g} days" if stream.max_age else "–"
    size = f"{stream.max_bytes / (1 << 20):g} MiB"
    subjects = ", ".join(map(_code, stream.subjects))
    return [stream.name, subjects, stream.retention, stream.discard, age, size, stream.purpose]


def _consumer(consumer: Consumer) -> list[str]:
    subjects = ", ".join(map(_code, consumer.subjects))
    pending = str(consumer.max_ack_pending)
    return [consumer.durable, consumer.stage, consumer.stream, subjects, pending, consumer.purpose]


def render(_root: Path) -> dict[Path, str]:
    """The page."""
    parts = (
        _HEAD,
        "## Subjects\n",
        _table(("subject", "kind", "sent by", "message", "meaning"), map(_subject, SUBJECTS)),
        "## Streams\n",
        "`discard` says what happens when a stream is full: `new` refuses, `old` forgets.\n",
        _table(
            ("stream", "subjects", "retention", "discard", "age", "size", "purpose"),
            map(_stream, STREAMS),
        ),
        "## Durable pull consumers\n",
        "At most so many messages of a durable are unacknowledged at a time.\n",
        _table(
            ("durable", "service", "stream", "subjects", "at most", "purpose"),
            map(_consumer, CONSUMERS),
        ),
    )
    return {TARGET: "\n".join(parts)}
