"""`corpus/*.json` of a namespace: written whole, page by page, and read back.

A file begins with the corpus version that it shows, or an earlier one than it shows: the
version is read first. So a writer that was overtaken or killed leaves a version that is not the
catalog's, and whoever looks next writes again. An older version never replaces a newer one.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel

from libs.contracts.artefacts.corpus import (
    CollectionFile,
    CorpusCollections,
    CorpusErasures,
    CorpusGraph,
    CorpusHits,
)
from libs.contracts.events.base import now
from libs.runtime.artefacts import JSON_MEDIA_TYPE, canonical_json, save_json
from libs.runtime.catalog.port import Catalog
from libs.runtime.corpus import follow_document
from libs.runtime.graph.port import GraphStore, NodeEdges
from libs.runtime.keys import corpus_key
from libs.runtime.objects.port import ObjectStore

GRAPH, HITS, ERASURES, STAMP = "graph.json", "hits.json", "erasures.json", "collections.json"
LISTINGS = (GRAPH, HITS, ERASURES)
FILES = (*LISTINGS, STAMP)
PAGE = 500
SKEW = timedelta(minutes=2)
"""How far the clocks of two machines may differ."""
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)

_HEAD_BYTES = 64
_HEAD = re.compile(rb'\{"corpus_version":(\d+),')

M = TypeVar("M", bound=BaseModel)
Pages = AsyncIterator[list[dict[str, Any]]]


@dataclass(frozen=True)
class Corpus:
    """The stores that the files of a corpus are made of."""

    catalog: Catalog
    graph: GraphStore
    objects: ObjectStore
    clock: Callable[[], datetime] = now


async def stored_versions(objects: ObjectStore, namespace: str) -> list[int]:
    """The corpus version of each of `FILES`, 0 where there is none; long ones are not read
    beyond their heads."""
    heads = await asyncio.gather(*(_version(objects, namespace, one) for one in LISTINGS))
    stamp = await load_corpus_file(objects, namespace, STAMP, CorpusCollections)
    return [*heads, stamp.corpus_version if stamp else 0]


async def _version(objects: ObjectStore, namespace: str, name: str) -> int:
    head = b""
    try:
        async for piece in objects.stream(corpus_key(namespace, name), 0, _HEAD_BYTES):
            head += piece
    except KeyError:
        return 0
    found = _HEAD.match(head)
    return int(found[1]) if found else 0


async def load_corpus_file(
    objects: ObjectStore, namespace: str, name: str, model: type[M]
) -> M | None:
    """A file of the corpus, None when there is none."""
    try:
        data = await objects.get(corpus_key(namespace, name))
    except KeyError:
        return None
    return model.model_validate_json(data)


async def follow_corpus(corpus: Corpus, namespace: str) -> int | None:
    """Write the files unless they are of the catalog's corpus version; returns the version
    they are of, None when they are of a newer one than the catalog's: it has lost something,
    and they are left alone."""
    version = await corpus.catalog.documents.corpus_version(namespace)
    stored = await stored_versions(corpus.objects, namespace)
    if max(stored) > version:
        return None
    if min(stored) < version:
        await write_corpus(corpus, namespace, version)
    return version


async def write_erasures(corpus: Corpus, namespace: str) -> None:
    """Write the receipts anew, when one has changed."""
    version = await corpus.catalog.documents.corpus_version(namespace)
    skeleton = CorpusErasures(namespace=namespace, corpus_version=version)
    await _put(corpus.objects, ERASURES, skeleton, _erasures(corpus, namespace))


async def _put(
    objects: ObjectStore,
    name: str,
    skeleton: CorpusGraph | CorpusHits | CorpusErasures,
    pages: Pages,
) -> None:
    key = corpus_key(skeleton.namespace, name)
    await objects.put(key, _filled(skeleton, pages), media_type=JSON_MEDIA_TYPE)


async def write_corpus(corpus: Corpus, namespace: str, version: int) -> None:
    """Write all files, the stamp last; first the files of documents that changed since the
    last stamp and whose writer was killed before it came to that."""
    seen_at = corpus.clock()
    objects = corpus.objects
    before = await load_corpus_file(objects, namespace, STAMP, CorpusCollections)
    await _follow_documents(corpus, namespace, before.seen_at - SKEW if before else LONG_AGO)
    about: dict[str, Any] = {"namespace": namespace, "corpus_version": version}
    await _put(objects, GRAPH, CorpusGraph(**about), _nodes(corpus, namespace))
    await _put(objects, HITS, CorpusHits(**about), _hits(corpus, namespace))
    await _put(objects, ERASURES, CorpusErasures(**about), _erasures(corpus, namespace))
    names = await corpus.catalog.corpus.collections(namespace)
    stamp = CorpusCollections(
        namespace=namespace,
        corpus_version=version,
        seen_at=seen_at,
        collections=[CollectionFile(name=one) for one in names],
    )
    await save_json(objects, corpus_key(namespace, STAMP), stamp)


async def _follow_documents(corpus: Corpus, namespace: str, since: datetime) -> None:
    after = ""
    while ids := await corpus.catalog.corpus.changed(namespace, since, after, PAGE):
        after = ids[-1]
        for document_id in ids:
            await follow_document(corpus.catalog, corpus.objects, namespace, document_id)


async def _filled(skeleton: BaseModel, pages: Pages) -> AsyncIterator[bytes]:
    """The canonical bytes of `skeleton`, its one list filled; only a page is in memory."""
    head, tail = canonical_json(skeleton).split(b"[]", 1)
    yield head + b"["
    between = b""
    async for page in pages:
        if page:
            items = orjson.dumps(page, option=orjson.OPT_SORT_KEYS)
            yield between + items[1:-1]
            between = b","
    yield b"]" + tail


async def _nodes(corpus: Corpus, namespace: str) -> Pages:
    """`CorpusNode`s of revisions that are kept: not what is staged, hidden or collected."""
    after = 0
    while page := await corpus.graph.page(namespace, after, PAGE):
        after = page[-1].node.revn
        revns = {one.node.revn for one in page}
        revns |= {edge.revn_b for one in page for edge in one.edges}
        kept = await corpus.catalog.corpus.kept(namespace, sorted(revns))
        yield [_node(one, kept) for one in page if one.node.revn in kept]


def _node(one: NodeEdges, kept: set[int]) -> dict[str, Any]:
    edges = [
        {"revn": edge.revn_b, "score": edge.score, "shared": edge.shared}
        for edge in one.edges
        if edge.revn_b in kept
    ]
    return {"revn": one.node.revn, "document_id": one.node.document_id, "edges": edges}


async def _hits(corpus: Corpus, namespace: str) -> Pages:
    after = ""
    while page := await corpus.catalog.corpus.hits(namespace, after, PAGE):
        after = page[-1].document_id
        yield [one.model_dump(mode="json") for one in page]


async def _erasures(corpus: Corpus, namespace: str) -> Pages:
    after = ""
    while page := await corpus.catalog.corpus.erasures(namespace, after, PAGE):
        after = page[-1].receipt.erasure_id
        yield [one.model_dump(mode="json") for one in page]
