"""The search index on OpenSearch: BM25 and substrings on its inverted index, vectors on its
lucene k-NN engine."""

from typing import Any

import numpy as np

from libs.contracts.artefacts.chunk import digest_ids
from libs.runtime.index import opensearch_mappings as mappings
from libs.runtime.index import opensearch_queries as queries
from libs.runtime.index.opensearch_client import address_of, ask, connect, faults, search
from libs.runtime.index.opensearch_writer import OpenSearchWriter, Wanted
from libs.runtime.index.places import encodable, index_tokens, to_number
from libs.runtime.index.port import (
    MAX_QUERY_TERMS,
    MAX_QUERY_TOKENS,
    Digest,
    Hit,
    IndexDocument,
    LexicalChannel,
    LexicalQuery,
    Scope,
    SearchIndex,
    Vectors,
)
from libs.runtime.index.tokenizer import fold


class OpenSearchIndex(SearchIndex):
    """`SearchIndex` on a cluster; any number of processes may read and write.

    A refresh shows a write as a whole, and nothing else refreshes our indices; so a revision
    that is replaced is seen old or new. Only a refresh of another process, at the moment in
    which a revision in scope is written over by one of other content, could show part of it:
    the pipeline never does that, a revision's chunks being fixed before anything has it in
    scope. What a writer that died left behind is in no scope, is seen by `digest`, and goes
    with the next write.

    `search_vectors` is exact where the scope has few vectors (`queries.FEWEST_NEIGHBOURS`),
    else as near as the engine's graph comes.
    """

    def __init__(self, url: str, password: str | None = None) -> None:
        self._address = address_of(url)
        self._client = connect(self._address, password)
        self._writer = OpenSearchWriter(self._client, self._address)
        self._chunks = mappings.chunks_alias(self._address)
        self._dimensions: dict[str, int] = {}

    async def write(
        self,
        namespace: str,
        revn: int,
        documents: list[IndexDocument],
        *,
        unseen: bool = False,
    ) -> Digest:
        """See the port; `ValueError` for a document that does not fit the index."""
        sources = _sources(namespace, revn, documents)
        await self._ensure_chunks()
        wanted = Wanted(namespace, revn, sources, unseen)
        return _digest(await self._writer.replace(self._chunks, wanted))

    async def append(self, namespace: str, revn: int, documents: list[IndexDocument]) -> None:
        """See the port; `ValueError` for a document that does not fit the index."""
        sources = _sources(namespace, revn, documents)
        await self._ensure_chunks()
        await self._writer.add(self._chunks, namespace, sources)

    async def digest(self, namespace: str, revn: int) -> Digest:
        """See the port."""
        return _digest(await self._writer.held(self._chunks, namespace, revn))

    async def revisions(self, namespace: str) -> set[int]:
        """See the port."""
        everywhere = f"{self._chunks},{mappings.every_vectors_alias(self._address)}"
        found: set[int] = set()
        after: dict[str, Any] | None = None
        while True:
            body = queries.held(namespace, after)
            answer = await ask(self._client, self._address, everywhere, namespace, body)
            page = answer.get("aggregations", {}).get("held", {"buckets": []})
            found |= {bucket["key"]["revn"] for bucket in page["buckets"]}
            if (after := page.get("after_key")) is None:
                return found

    async def search(
        self, channel: LexicalChannel, query: LexicalQuery, scope: Scope, limit: int
    ) -> list[Hit]:
        """See the port; more than `queries.MAX_HITS` never come."""
        if limit <= 0 or not scope.revns:
            return []
        if channel == "term":
            terms = await self._rarest_terms(queries.terms_of(query), scope.namespace)
            matching = queries.substrings(terms) if terms else None
        else:
            tokens = await self._rarest(channel, query.tokens, scope.namespace)
            matching = queries.words(channel, tokens) if tokens else None
        if matching is None:
            return []
        body = queries.search_body(matching, scope, limit)
        return [_hit(hit) for hit in await self._search(self._chunks, scope.namespace, body)]

    async def write_vectors(
        self, namespace: str, revn: int, model: str, chunk_ids: list[str], vectors: Vectors
    ) -> None:
        """See the port; `ValueError` for vectors that do not fit the chunks or the model."""
        if vectors.ndim != 2 or len(vectors) != len(chunk_ids) or not np.isfinite(vectors).all():
            raise ValueError(f"{len(chunk_ids)} chunks need as many finite vectors")
        dimension = vectors.shape[1]
        alias = mappings.vectors_alias(self._address, model)
        body = mappings.vectors_body(self._address, model, dimension)
        await self._writer.ensure(alias, body, mappings.VERSION)
        _check_dimension(model, dimension, await self._dimension(model))
        held = await self._writer.held(self._chunks, namespace, revn)
        types = {mappings.identity_of(one).order: kind for one, kind in held.items()}
        sources = {}
        for order, (chunk_id, row) in enumerate(zip(chunk_ids, vectors, strict=True)):
            fields = _placed(namespace, revn, order, types.get(order))
            fields["vector"] = row.astype(np.float32).tolist()
            sources[_id(namespace, revn, order, chunk_id)] = fields
        await self._writer.replace(alias, Wanted(namespace, revn, sources))

    async def vector_digest(self, namespace: str, revn: int, model: str) -> Digest:
        """See the port."""
        alias = mappings.vectors_alias(self._address, model)
        return _digest(await self._writer.held(alias, namespace, revn))

    async def search_vectors(
        self, model: str, vector: Vectors, scope: Scope, limit: int
    ) -> list[Hit]:
        """See the port; `ValueError` for a vector that does not fit the model."""
        if limit <= 0 or not scope.revns:
            return []
        dimension = await self._dimension(model)
        if dimension is None:
            return []
        _check_dimension(model, len(vector), dimension)
        alias = mappings.vectors_alias(self._address, model)
        body = queries.vectors_body(vector, scope, limit)
        found = [_hit(hit) for hit in await self._search(alias, scope.namespace, body)]
        # the engine's score is (1 + cosine) / 2
        return [Hit(h.revn, h.order, h.chunk_id, 2 * h.score - 1) for h in found]

    async def remove(self, namespace: str, revns: list[int]) -> int:
        """See the port."""
        pattern = mappings.every_vectors_alias(self._address)
        await self._writer.remove(pattern, namespace, revns)
        return await self._writer.remove(self._chunks, namespace, revns)

    async def purge(self) -> None:
        """See the port; rewrites every segment that holds something deleted."""
        for alias in (self._chunks, mappings.every_vectors_alias(self._address)):
            await self._writer.purge(alias)

    async def prepare(self) -> None:
        """Make the index of lexical documents where it is not there; idempotent."""
        await self._ensure_chunks()

    async def close(self) -> None:
        """See the port. Closing twice does no harm."""
        await self._client.close()

    async def _ensure_chunks(self) -> None:
        body = mappings.chunks_body(self._address)
        await self._writer.ensure(self._chunks, body, mappings.VERSION)

    async def _search(
        self, alias: str, namespace: str, body: dict[str, Any]
    ) -> list[dict[str, Any]]:
        return await search(self._client, self._address, alias, namespace, body)

    async def _rarest(self, channel: str, tokens: list[str], namespace: str) -> list[str]:
        """The query's tokens, each once; of too many the rarest that are indexed."""
        distinct = list(dict.fromkeys(index_tokens(tokens)))
        if len(distinct) <= MAX_QUERY_TOKENS:
            return distinct
        answer = await self._counts(queries.rarest(channel, distinct), namespace)
        return list(answer.get("term_vectors", {}).get(channel, {}).get("terms", {}))

    async def _rarest_terms(self, terms: list[str], namespace: str) -> list[str]:
        """The query's terms; of too many the rarest that may be in the index."""
        if len(terms) <= MAX_QUERY_TERMS:
            return terms
        answer = await self._counts(queries.frequencies(terms), namespace)
        return queries.rarest_terms(terms, answer)

    async def _counts(self, body: dict[str, Any], namespace: str) -> dict[str, Any]:
        """In how many documents of the namespace's shard terms are; empty without an index."""
        with faults(self._address):
            answer: dict[str, Any] = await self._client.termvectors(
                index=self._chunks, body=body, routing=namespace, ignore=404
            )
        return answer

    async def _dimension(self, model: str) -> int | None:
        """How long the model's vectors are; None before any was written."""
        if model not in self._dimensions:
            alias = mappings.vectors_alias(self._address, model)
            with faults(self._address):
                answer = await self._client.indices.get_mapping(
                    index=alias, ignore_unavailable=True
                )
            for made in answer.values():
                self._dimensions[model] = made["mappings"]["_meta"]["dimension"]
        return self._dimensions.get(model)


def _sources(
    namespace: str, revn: int, documents: list[IndexDocument]
) -> dict[str, dict[str, Any]]:
    return {
        _id(namespace, revn, document.order, document.chunk_id): {
            **_placed(namespace, revn, document.order, document.type),
            "content": " ".join(index_tokens(document.content_tokens)),
            "path": " ".join(index_tokens(document.path_tokens)),
            "term": fold(document.term_text),
        }
        for document in documents
    }


def _placed(namespace: str, revn: int, order: int, kind: str | None) -> dict[str, Any]:
    if revn > mappings.MAX_REVN:
        raise ValueError(f"revision {revn} is out of the index's range")
    place = {"namespace": namespace, "revn": revn, "place": to_number(revn, order)}
    return place if kind is None else {**place, "type": kind}


def _id(namespace: str, revn: int, order: int, chunk_id: str) -> str:
    made = encodable(str(mappings.Identity(namespace, revn, order, chunk_id)))
    if len(made.encode()) > mappings.MAX_ID_BYTES:
        raise ValueError(f"the chunk id of order {order} is too long for the index")
    return made


def _check_dimension(model: str, given: int, known: int | None) -> None:
    if known is not None and given != known:
        raise ValueError(f"vectors of {model} have {known} dimensions here")


def _digest(held: dict[str, Any]) -> Digest:
    ids = [mappings.identity_of(document_id).chunk_id for document_id in held]
    return Digest(len(ids), digest_ids(ids))


def _hit(hit: dict[str, Any]) -> Hit:
    found = mappings.identity_of(hit["_id"])
    return Hit(found.revn, found.order, found.chunk_id, hit["sort"][0])
