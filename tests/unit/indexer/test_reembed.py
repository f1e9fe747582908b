"""Vectors of another model are made in the background, and readers see them all at once."""

from typing import Any, cast

import numpy as np

from libs.contracts.faults import Code, WorldFault
from libs.runtime.index.port import Scope, Vectors
from services.indexer.deps import Deps
from services.indexer.reembed import PATIENCE_SECONDS, Reembedding
from tests.support.fakes import Embedder
from tests.unit.indexer.embedded import accepted, ingested
from tests.unit.indexer.making import NS, work


class Other(Embedder):
    """Another model, of other vectors, that can be away."""

    model = "other-v1"
    dimension = 3
    away_after: int | None = None

    async def embed_passages(self, texts: list[str]) -> Vectors:
        if self.away_after is not None and len(self.embedded) >= self.away_after:
            raise WorldFault(Code.MODEL_FAILED, "away")
        self.embedded += texts
        return np.tile(np.array([1.0, 0.0, 0.0], np.float32), (len(texts), 1))


async def models(deps: Deps) -> list[str | None]:
    active = await deps.stores.catalog.documents.active_set(NS)
    return [one.dense_model for one in active.revisions]


def other_model(deps: Deps) -> Other:
    other = Other()
    cast(Any, deps.stores).embedder = other
    return other


async def test_a_namespace_is_switched_whole(deps: Deps) -> None:
    await ingested(deps, "doc-1")
    await ingested(deps, "doc-2", text="words of its own")
    version = await deps.stores.catalog.documents.corpus_version(NS)
    other = other_model(deps)
    other.away_after = 1
    reembedding = Reembedding(deps)
    await reembedding.look()
    assert other.embedded, "it had begun"
    assert await models(deps) == ["fake-v1", "fake-v1"], "nothing changes before all are there"
    assert await deps.stores.catalog.documents.corpus_version(NS) == version

    other.away_after = None
    await reembedding.look()
    assert await models(deps) == ["other-v1", "other-v1"]
    assert await deps.stores.catalog.documents.corpus_version(NS) == version + 1
    active = await deps.stores.catalog.documents.active_set(NS)
    scope = Scope(NS, frozenset(one.revn for one in active.revisions))
    query = np.array([1.0, 0.0, 0.0], np.float32)
    hits = await deps.stores.index.search_vectors("other-v1", query, scope, 10)
    assert {hit.revn for hit in hits} == scope.revns

    done = len(other.embedded)
    await reembedding.look()
    assert len(other.embedded) == done
    assert await deps.stores.catalog.documents.corpus_version(NS) == version + 1


async def test_a_revision_that_never_got_vectors_gets_them_in_the_end(deps: Deps) -> None:
    from services.indexer.handlers import on_chunked

    now = [0.0]
    event = await accepted(deps, "doc-1")
    await on_chunked(deps, event, work(event))
    reembedding = Reembedding(deps, lambda: now[0])
    await reembedding.look()
    assert await models(deps) == [None], "its own event is to embed it"
    now[0] = PATIENCE_SECONDS
    await reembedding.look()
    assert await models(deps) == ["fake-v1"]


async def test_without_an_embedder_nothing_is_done(deps: Deps) -> None:
    await ingested(deps, "doc-1")
    cast(Any, deps.stores).embedder = None
    await Reembedding(deps).look()
    assert await models(deps) == ["fake-v1"]
