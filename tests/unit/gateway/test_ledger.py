"""What each event means for its job."""

from typing import Any

import pytest

from libs.contracts.events import (
    ArtefactRef,
    DocumentAccepted,
    DocumentChunked,
    DocumentEmbedded,
    DocumentErased,
    DocumentParsed,
    DocumentProfiled,
    DocumentPublished,
    DocumentSharded,
    EntriesDescribed,
    EntriesMerged,
    ErasureRequested,
    JobEvent,
    RevisionSuperseded,
    ShardParsed,
    ShardsDone,
    StageFailed,
)
from libs.contracts.faults import Code, Who
from libs.contracts.subjects import JOB_EVENTS
from services.gateway.ledger import ledger_entry

REF = ArtefactRef(key="k", sha256="a" * 64, size=1)
PARSED = {
    "source": REF, "profile": REF, "file_name": "a", "rows": REF, "diagnostics": REF,
    "row_count": 1, "engine": "e",
}  # fmt: skip
SAMPLES: dict[type[JobEvent], dict[str, Any]] = {
    DocumentAccepted: {"source": REF, "file_name": "a"},
    DocumentProfiled: {"profile": REF, "format": "pdf", "page_count": 9, "shards": 3},
    DocumentSharded: {
        "source": REF, "profile": REF, "file_name": "a", "shard": 1, "shards": 3,
        "pages": {"first": 1, "last": 3},
    },
    ShardParsed: {
        "source": REF, "profile": REF, "file_name": "a", "shard": 1, "shards": 3, "done": 2,
    },
    ShardsDone: {"source": REF, "profile": REF, "file_name": "a", "rows": [REF]},
    DocumentParsed: PARSED,
    EntriesMerged: {**PARSED, "entries": REF},
    EntriesDescribed: {**PARSED, "entries": REF},
    DocumentChunked: {"file_name": "a", "artefacts": {}, "chunk_count": 1, "chunk_digest": "d"},
    DocumentPublished: {"chunk_count": 1, "chunk_digest": "d", "corpus_version": 1},
    RevisionSuperseded: {},
    DocumentEmbedded: {"model": "m", "corpus_version": 2},
    DocumentErased: {},
    ErasureRequested: {},
}  # fmt: skip
EXPECTED = {
    DocumentAccepted: (None, "profiler", (1, 5, "stage")),
    DocumentProfiled: (None, "parser", (0, 3, "shard")),
    DocumentSharded: (None, "parser", (0, 0, "shard")),
    ShardParsed: (None, "parser", (2, 3, "shard")),
    ShardsDone: (None, "parser", (2, 5, "stage")),
    DocumentParsed: (None, "chunker", (3, 5, "stage")),
    EntriesMerged: (None, "chunker", (3, 5, "stage")),
    EntriesDescribed: (None, "chunker", (3, 5, "stage")),
    DocumentChunked: (None, "indexer", (4, 5, "stage")),
    DocumentPublished: ("published", "indexer", (5, 5, "stage")),
    RevisionSuperseded: ("superseded", "indexer", (5, 5, "stage")),
    DocumentEmbedded: (None, "indexer", (5, 5, "stage")),
}


def sample(kind: type[JobEvent], **fields: Any) -> JobEvent:
    base = {"namespace": "acme", "document_id": "d", "revision": 2, "job_id": "j"}
    return kind.model_validate({**base, **SAMPLES.get(kind, {}), **fields})


def test_every_event_of_a_job_is_known() -> None:
    assert set(SAMPLES) == set(JOB_EVENTS)
    assert set(EXPECTED) == set(JOB_EVENTS) - {ErasureRequested, DocumentErased}


@pytest.mark.parametrize("kind", EXPECTED)
def test_state_stage_and_progress(kind: type[JobEvent]) -> None:
    event = sample(kind, attempt=4)
    entry = ledger_entry("p.some.subject", event)
    assert entry is not None
    state, stage, progress = EXPECTED[kind]
    assert (entry.state, entry.stage) == (state, stage)
    assert (entry.done, entry.total, entry.unit) == progress
    assert (entry.job_id, entry.attempt) == ("j", 4)
    assert entry.announced == ("p.some.subject", event.model_dump_json())
    assert entry.event_id.endswith(":4")


def test_shards_and_attempts_are_told_apart() -> None:
    ids = {
        ledger_entry("s", sample(ShardParsed, shard=s, attempt=a)).event_id  # type: ignore[union-attr]
        for s in (0, 1)
        for a in (1, 2)
    }
    assert len(ids) == 4


@pytest.mark.parametrize("kind", [ErasureRequested, DocumentErased])
def test_an_erasure_has_no_job(kind: type[JobEvent]) -> None:
    assert ledger_entry("s", sample(kind)) is None


@pytest.mark.parametrize(
    ("code", "who", "state", "status"),
    [
        (Code.ENCRYPTED, Who.DOCUMENT, "failed", 422),
        (Code.STORE_AWAY, Who.WORLD, "failed", 503),
        (Code.INTERNAL, Who.US, "failed", 500),
        (Code.CANCELLED, Who.US, "cancelled", 409),
        (Code.SUPERSEDED, Who.US, "superseded", 500),
    ],
)
def test_a_failure_keeps_who_and_why(code: Code, who: Who, state: str, status: int) -> None:
    event = sample(StageFailed, stage="parser", code=code, who=who, detail="why")
    entry = ledger_entry("s", event)
    assert entry is not None
    assert (entry.state, entry.stage, entry.event) == (state, "parser", "parser.failed")
    assert entry.error is not None
    assert (entry.error.code, entry.error.who, entry.error.status) == (code, who, status)
    assert entry.error.detail == "why"
    assert entry.total == 0
