"""What becomes of a citation."""

from typing import Any

import pytest

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.api.search import VerifyRequest
from libs.contracts.artefacts import Chunk, ChunkMetadata
from libs.runtime.catalog.documents import DocumentRecord
from services.gateway.verify import verdict
from tests.support.gateway_fakes import now

HASH = "a" * 64


def document(**fields: Any) -> DocumentRecord:
    base: dict[str, Any] = {
        "namespace": "acme", "document_id": "d", "file_name": "d.md", "collection": "default",
        "state": "active", "active_revision": 2, "highest_published": 2,
        "metadata": DocumentMetadata(), "inferred": {}, "created_at": now(), "updated_at": now(),
    }  # fmt: skip
    return DocumentRecord(**{**base, **fields})


CHUNK = Chunk(
    chunk_id="t1",
    type="text",
    content="The  fee is\n[[image:i1]] 한국 5 %.",
    path=[],
    order=0,
    metadata=ChunkMetadata(length=1, tokens=1, content_hash=HASH),
)


def request(**fields: Any) -> VerifyRequest:
    base = {"document_id": "d", "revision": 2, "chunk_id": "t1", "content_hash": f"sha256:{HASH}"}
    return VerifyRequest.model_validate({**base, **fields})


@pytest.mark.parametrize("quote", [None, "fee is 한국", " The fee   is ", "한국 5 %."])
def test_a_true_citation_is_verified(quote: str | None) -> None:
    answer = verdict(request(quote=quote), document(), kept=True, cited=CHUNK)
    assert (answer.status, answer.active_revision) == ("verified", 2)


@pytest.mark.parametrize(
    ("fields", "cited", "words"),
    [
        ({"quote": "The fee is 6"}, CHUNK, "quote"),
        ({"quote": "  "}, CHUNK, "quote"),
        ({"content_hash": "b" * 64}, CHUNK, "hash"),
        ({}, None, "no chunk"),
        ({"revision": 1, "quote": "never said"}, CHUNK, "quote"),
    ],
)
def test_text_that_differs_is_a_mismatch(
    fields: dict[str, Any], cited: Chunk | None, words: str
) -> None:
    answer = verdict(request(**fields), document(), kept=True, cited=cited)
    assert answer.status == "mismatch"
    assert words in answer.detail


def test_an_older_revision_is_superseded_by_the_active_one() -> None:
    kept = verdict(request(revision=1), document(), kept=True, cited=CHUNK)
    gone = verdict(request(revision=1), document(), kept=False, cited=None)
    assert (kept.status, kept.active_revision) == ("superseded", 2)
    assert (gone.status, gone.active_revision) == ("superseded", 2)
    assert "not compared" in gone.detail


def test_a_revision_that_never_was_is_a_mismatch() -> None:
    assert verdict(request(revision=9), document(), kept=False, cited=None).status == "mismatch"


def test_an_erased_document_says_so() -> None:
    gone = document(state="erased", active_revision=None)
    assert verdict(request(), gone, kept=False, cited=None).status == "erased"
