"""Chosen chunks are read as they can be cited: with the other places of equal content."""

from types import SimpleNamespace
from typing import Any, cast

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.artefacts import Chunk, ChunkMetadata
from libs.contracts.query.probe import HydrateQuery
from libs.runtime.catalog.documents import ActiveRevision, ActiveSet
from libs.runtime.index.port import LexicalQuery
from services.retriever.fusion import Fused
from services.retriever.probe import Prober, Reading, named_by
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings


class Catalog:
    """Three documents that hold the same text, each under a heading of its own."""

    async def corpus_version(self, namespace: str) -> int:
        return 7

    async def active_set(self, namespace: str) -> ActiveSet:
        revisions = [
            ActiveRevision(
                revn, f"d{revn}", 2, f"d{revn}.md", "default", "md", DocumentMetadata(), 1, None
            )
            for revn in (1, 2, 3)
        ]
        return ActiveSet(7, tuple(revisions))

    async def named(self, keys: list[tuple[int, str]]) -> dict[tuple[int, str], Chunk]:
        return {
            (revn, name): Chunk(
                chunk_id=name, type="text", content="text", path=[f"Part {revn}"], order=0,
                metadata=ChunkMetadata(length=4, tokens=1, content_hash="sha256:0"),
            )
            for revn, name in keys
        }  # fmt: skip


def prober() -> Prober:
    catalog = Catalog()
    stores = SimpleNamespace(documents=catalog, chunks=catalog)
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    index: Any = None
    retriever = Retriever(cast(Any, stores), index, None, settings, lambda text: LexicalQuery([]))
    return Prober(retriever)


def asks(equal: list[str], **filters: Any) -> HydrateQuery:
    first, *others = [{"document_id": d, "chunk_id": "t0"} for d in equal]
    refs = [{**first, "equal": others}]
    return HydrateQuery.model_validate({"namespace": "acme", "refs": refs, "filters": filters})


async def test_equal_content_is_cited_once_with_its_other_places() -> None:
    [cited] = (await prober().hydrate(asks(["d2", "d1", "d3"]))).chunks
    assert (cited.document_id, cited.path) == ("d2", ["Part 2"])
    others = [
        (o.document_id, o.revision, o.source_file_name, o.section_path) for o in cited.also_in
    ]
    assert others == [("d1", 2, "d1.md", ["Part 1"]), ("d3", 2, "d3.md", ["Part 3"])]


async def test_a_place_that_the_filters_leave_out_is_not_named() -> None:
    filters = {"exclude_sections": [{"document_id": "d1", "section_path": ["Part 1"]}]}
    [cited] = (
        await prober().hydrate(asks(["d2", "d1", "d3"], exclude_document_ids=["d3"], **filters))
    ).chunks
    assert cited.also_in == []


def reading(path: list[str], name: str) -> Reading:
    metadata = ChunkMetadata(length=4, tokens=1, content_hash="sha256:0")
    chunk = Chunk(chunk_id=name, type="text", content=name, path=path, order=0, metadata=metadata)
    return Reading(chunk, "report.pdf")


def named(question: str, paths: list[list[str]]) -> list[int]:
    """Which of the candidates, best first, the question names."""
    candidates = {(1, n): Fused(1.0 - n / 100, {}) for n in range(len(paths))}
    readings = {(1, n): reading(path, f"t{n}") for n, path in enumerate(paths)}
    return [order for _, order in named_by(question, candidates, readings)]


def test_what_stands_below_a_named_section_is_named_as_its_first_words_are() -> None:
    paths = [["Report", "Cold Storage", "Key figures"], ["Report", "Shipyard"]]
    question = "What was the backlog of Cold Storage?"
    assert named(question, [*paths, ["Report", "Cold Storage"]]) == [0, 2]


def test_a_section_so_large_that_most_stands_in_it_is_not_named() -> None:
    below = [["Report", "Cold Storage", f"Year {n}"] for n in range(4)]
    assert (
        named("What was the backlog of Cold Storage?", [*below, ["Report", "Cold Storage"]]) == []
    )
