"""What stands inside a chunk comes along: one read for all, and it counts as part of it."""

from typing import Any, cast

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.api.search import RetrievedChunk, RetrieveQuery
from libs.contracts.artefacts import Chunk, ChunkMetadata
from libs.contracts.artefacts.chunk import Connection
from libs.runtime.catalog.documents import ActiveRevision
from services.retriever.assemble import assemble, grouped
from services.retriever.fusion import Fused
from services.retriever.scope import Corpus

REVISIONS = [
    ActiveRevision(revn, f"d{revn}", 3, f"d{revn}.md", "default", "md", DocumentMetadata(), 9, None)
    for revn in (1, 2)
]


def piece(chunk_id: str, kind: Any, order: int, **metadata: Any) -> Chunk:
    meta = ChunkMetadata(length=4, tokens=1, content_hash="sha256:0", **metadata)
    return Chunk(
        chunk_id=chunk_id, type=kind, content="text", path=[], order=order, metadata=meta
    )  # fmt: skip


class Store:
    """Texts of orders 0…4 in two revisions, each with an image before a table."""

    def __init__(self, html: str) -> None:
        self.html = html
        self.reads: list[list[tuple[int, str]]] = []

    async def fetch(self, keys: list[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
        links = [
            Connection(target="table", relation="embeds", ref="t", position=9),
            Connection(target="image", relation="embeds", ref="i", position=2),
            Connection(target="gone", relation="embeds", ref="g", position=4),
            Connection(target="next", relation="related", ref="n", position=0),
        ]
        return {
            (revn, order): piece(f"r{revn}t{order}", "text", order, connect_to=links)
            for revn, order in keys
        }

    async def named(self, keys: list[tuple[int, str]]) -> dict[tuple[int, str], Chunk]:
        self.reads.append(keys)
        return {
            (revn, name): piece(name, name, 8, html=self.html if name == "table" else None)
            for revn, name in keys
            if name != "gone"
        }


async def cite(store: Store, top_k: int) -> tuple[bool, list[RetrievedChunk]]:
    keys = [(revn, order) for order in range(5) for revn in (1, 2)]
    fused = {key: Fused(1.0 - rank / 100, {}) for rank, key in enumerate(keys)}
    groups = grouped(fused, {(revn, order): f"r{revn}t{order}" for revn, order in keys})
    result: list[RetrievedChunk] = []
    query = RetrieveQuery(namespace="acme", query="q", top_k=top_k)
    corpus = Corpus(1, REVISIONS, None)
    near = {keys[0]: 0.9}
    whole = await assemble(cast(Any, store), query, corpus, groups, fused, near.get, result)
    return whole, result


async def test_what_stands_inside_all_chunks_of_an_answer_is_one_read() -> None:
    store = Store("<table></table>")
    whole, result = await cite(store, 6)
    assert whole
    assert [c.chunk_id for c in result] == ["r1t0", "r2t0", "r1t1", "r2t1", "r1t2", "r2t2"]
    assert store.reads == [[(r, name) for r in (1, 2) for name in ("gone", "image", "table")]]
    for cited in result:
        assert [(a.chunk_id, a.position) for a in cited.embeds] == [("image", 2), ("table", 9)]
        assert cited.embeds[1].html == "<table></table>"


async def test_tables_inside_chunks_count_for_what_an_answer_can_carry() -> None:
    whole, result = await cite(Store("x" * 100_000), 6)
    assert not whole
    assert len(result) == 2
