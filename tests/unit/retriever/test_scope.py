"""Filters before assembly."""

import pytest

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.api.search import SearchFilters
from libs.contracts.artefacts import Chunk, ChunkMetadata
from libs.contracts.artefacts.chunk import base_id
from libs.runtime.catalog.documents import ActiveRevision, ActiveSet
from services.retriever.scope import corpus_of, in_scope, is_excluded


def revision(document_id: str, **changes) -> ActiveRevision:
    fields = {
        "revn": 1, "document_id": document_id, "revision": 1, "file_name": f"{document_id}.pdf",
        "collection": "default", "format": "pdf", "metadata": DocumentMetadata(),
        "chunk_count": 3, "dense_model": None,
    }  # fmt: skip
    return ActiveRevision(**{**fields, **changes})


CORPUS = [
    revision("law", collection="laws", metadata=DocumentMetadata(year=2024, country="KR")),
    revision("memo", format="docx", metadata=DocumentMetadata(tags=["plan", "draft"])),
    revision("note"),
]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["law", "memo", "note"]),
        ({"document_ids": ["law", "absent"]}, ["law"]),
        ({"exclude_document_ids": ["law"]}, ["memo", "note"]),
        ({"collections": ["laws"]}, ["law"]),
        ({"file_formats": ["docx"]}, ["memo"]),
        ({"year": 2024}, ["law"]),
        ({"year": 2023}, []),
        ({"metadata": {"country": "KR"}}, ["law"]),
        ({"metadata": {"country": ["US", "KR"]}}, ["law"]),
        ({"metadata": {"tags": ["plan"]}}, ["memo"]),
        ({"metadata": {"tags": ["plan", "final"]}}, []),
        ({"metadata": {"no_such_field": "x"}}, []),
    ],
)
def test_document_filters(filters: dict, expected: list[str]) -> None:
    kept = in_scope(CORPUS, SearchFilters.model_validate(filters))
    assert [r.document_id for r in kept] == expected


def test_an_excluded_section_takes_its_subsections_with_it() -> None:
    chunk = Chunk(
        chunk_id="t1", type="text", content="x", path=["A", "B", "C"], order=0,
        metadata=ChunkMetadata(length=1, tokens=1, content_hash="sha256:0"),
    )  # fmt: skip
    filters = SearchFilters.model_validate(
        {"exclude_sections": [{"document_id": "law", "section_path": ["A", "B"]}]}
    )
    assert is_excluded("law", chunk, filters.exclude_sections)
    assert not is_excluded("memo", chunk, filters.exclude_sections)
    assert not is_excluded(
        "law", chunk.model_copy(update={"path": ["A"]}), filters.exclude_sections
    )


def test_a_repeat_has_the_base_id_of_its_first() -> None:
    assert base_id("tabc") == base_id("tabc-2") == "tabc"


def test_records_stand_apart_from_the_documents_that_are_evidence() -> None:
    menu = revision("entries-bank", format="entries", collection="bank", revn=4)
    corpus = corpus_of(ActiveSet(7, (CORPUS[2], menu)), "model")
    assert [r.document_id for r in corpus.revisions] == ["note"]
    assert corpus.records == (menu,)
    assert corpus.chunk_count == 3
    assert corpus.within(SearchFilters(collections=["bank"])).revisions == []
