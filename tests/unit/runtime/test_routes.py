"""Addresses: tokens cannot change a subject's shape, and every event finds its way back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.events import DocumentPublished, ShardsDone, StageFailed
from libs.contracts.faults import Code, Who
from libs.contracts.subjects import CONSUMERS, INGEST_REQUESTED, JOB_EVENTS, STREAMS, SUBJECTS
from libs.runtime.routes import address, decode_event, event_address, message_id, subject_of

JOB = {"namespace": "default", "document_id": "doc-1", "revision": 2, "job_id": "job-1"}


def published(**changes) -> DocumentPublished:
    fields = {**JOB, "chunk_count": 1, "chunk_digest": "0", "corpus_version": 3, **changes}
    return DocumentPublished(**fields)


@given(st.text(max_size=40))
def test_a_token_fills_one_place_or_is_refused(token: str) -> None:
    try:
        wire = address("gw", INGEST_REQUESTED, namespace=token)
    except ValueError:
        return
    assert wire.count(".") == 3
    assert not set(wire) & set("*> \t\r\n")


def test_an_event_comes_back_from_its_address() -> None:
    event = published()
    wire = event_address("gw", event)
    assert wire == "gw.indexer.published.job-1.2"
    assert decode_event("gw", wire, event.model_dump_json().encode()) == event


def test_every_stage_can_say_that_it_failed() -> None:
    event = StageFailed(**JOB, stage="parser", code=Code.ENCRYPTED, who=Who.DOCUMENT, detail="x")
    assert event_address("gw", event) == "gw.parser.failed.job-1.2"
    assert decode_event("gw", "gw.parser.failed.job-1.2", event.model_dump_json().encode()) == event


def test_message_ids_differ_by_attempt_and_not_by_time() -> None:
    assert message_id(published()) == message_id(published()) == "indexer.published:job-1:2::1"
    assert message_id(published(attempt=2)) != message_id(published())
    assert "shards_done" in message_id(
        ShardsDone(**JOB, source=_ref(), profile=_ref(), file_name="a", rows=[_ref()])
    )


def _ref() -> dict:
    return {"key": "k", "sha256": "0" * 64, "size": 1}


@pytest.mark.parametrize(
    "wire", ["gw.indexer.published.a.b.c", "other.indexer.published.j.1", "gw"]
)
def test_a_foreign_subject_is_refused(wire: str) -> None:
    with pytest.raises(ValueError, match="no job event"):
        decode_event("gw", wire, b"{}")


def test_the_catalogue_is_whole() -> None:
    streams = {s.name for s in STREAMS}
    assert all(c.stream in streams for c in CONSUMERS)
    assert len({(c.stream, c.durable) for c in CONSUMERS}) == len(CONSUMERS)
    assert len({s.pattern for s in SUBJECTS}) == len(SUBJECTS)
    for subject in JOB_EVENTS.values():
        tokens = subject.pattern.format(job="j", revision="1")
        found = subject_of("gw", f"gw.{tokens}")
        assert found is not None
        assert found[0] is subject
