"""How much the dense channel may count in a collection, by a sample of the collection itself.

An embedder that does not know the language or the matter of a collection does not find a piece
by one of its own sentences, which BM25 does. So pieces spread over the collection are looked
for by a sentence of each in both channels. Where the dense one finds nearly all that the
lexical one finds, the embedder's own share stands; where it finds less, it counts less, down to
nothing: a weak channel does not pull down a strong one. No question and no judgement is needed.

The sample, and so the result, depends on the published pieces and the model alone. It is taken
anew when the model is another or the collection has doubled or halved.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from libs.contracts.artefacts.chunk import Chunk, base_id
from libs.contracts.artefacts.corpus import CollectionCalibration
from libs.contracts.entries import RECORD_FORMAT
from libs.runtime.artefacts import save_json
from libs.runtime.catalog.documents import ActiveRevision
from libs.runtime.catalog.port import Catalog
from libs.runtime.collections import load_settings
from libs.runtime.index.port import Hit, LexicalQuery, Scope, SearchIndex
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.inference.port import Embedder
from libs.runtime.keys import corpus_key
from libs.runtime.objects.port import ObjectStore
from libs.runtime.service import Service
from libs.runtime.telemetry import logger
from services.retriever.retrieve import Retriever

log = logger("retriever")

LOOK_SECONDS = 30.0
SAMPLE = 48
TRIED = 3 * SAMPLE
"""Pieces that are read for a sample: some hold no sentence."""
ENOUGH = 16
"""Fewer sentences say nothing."""
DEPTH = 10
POOR, GOOD = 0.4, 0.9
"""Shares of what the lexical channel finds: one that finds less than the first counts nothing,
one that finds the second and more is not limited. On Korean and English paragraphs e5 finds .93
and .96."""
GROWN = 2

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s*(?=\S)")
_SHORT, _LONG = 20, 200

Key = tuple[int, int]


def spread(revisions: Sequence[ActiveRevision], wanted: int) -> list[Key]:
    """At most `wanted` pieces at equal distances over all of the revisions, by (revn, order)."""
    total = sum(r.chunk_count for r in revisions)
    count = min(wanted, total)
    places = (total * (2 * n + 1) // (2 * count) for n in range(count))
    keys: list[Key] = []
    before, rest = 0, iter(revisions)
    current = next(rest, None)
    for place in places:
        while current is not None and place >= before + current.chunk_count:
            before += current.chunk_count
            current = next(rest, None)
        assert current is not None
        keys.append((current.revn, place - before))
    return keys


def sentence_of(text: str) -> str | None:
    """The middle one of a text's sentences that are neither short nor long."""
    found = [s for s in _SENTENCE.split(" ".join(text.split())) if _SHORT <= len(s) <= _LONG]
    return found[len(found) // 2] if found else None


def reciprocal(hits: Iterable[Hit], chunk_id: str) -> float:
    """One by the rank of the chunk, equal ones counting as it; 0 where it is not there."""
    wanted = base_id(chunk_id)
    ranks = (rank for rank, hit in enumerate(hits, 1) if base_id(hit.chunk_id) == wanted)
    return 1.0 / next(ranks, float("inf"))


def most_dense(lexical: float, dense: float) -> float:
    """How much the dense channel may count, by the mean reciprocal ranks of both."""
    share = dense / lexical if lexical > 0 else 1.0
    return round(min(1.0, max(0.0, (share - POOR) / (GOOD - POOR))), 2)


def is_due(known: CollectionCalibration | None, model: str, chunks: int) -> bool:
    """Whether a calibration says nothing, or no more what is so."""
    if known is None or known.model != model:
        return True
    return not known.chunks / GROWN < chunks < known.chunks * GROWN


@dataclass
class Calibrator:
    """Keeps the calibrations of collections up to date, and reads them."""

    catalog: Catalog
    objects: ObjectStore
    index: SearchIndex

    def __post_init__(self) -> None:
        self._looked: dict[str, tuple[int, str]] = {}

    async def limits(
        self, namespace: str, collections: Iterable[str], model: str
    ) -> dict[str, float]:
        """The most that the dense channel of a model may count, by collection, as its settings
        say or else its calibration; those without a limit are left out."""
        found = {name: await self._limit(namespace, name, model) for name in set(collections)}
        return {name: limit for name, limit in found.items() if limit < 1}

    async def _limit(self, namespace: str, collection: str, model: str) -> float:
        settings = await load_settings(self.objects, namespace, collection)
        if settings.most_dense is not None:
            return settings.most_dense
        known = await self.known(namespace, collection)
        return known.most_dense if known is not None and known.model == model else 1.0

    async def known(self, namespace: str, collection: str) -> CollectionCalibration | None:
        """The calibration that is stored."""
        try:
            data = await self.objects.get(_key(namespace, collection))
        except KeyError:
            return None
        return CollectionCalibration.model_validate_json(data)

    async def look(self, embedder: Embedder | None) -> None:
        """Calibrate what is due, and raise the corpus version where a limit has changed."""
        if embedder is None:
            return
        for namespace in await self.catalog.keys.list_namespaces():
            version = await self.catalog.documents.corpus_version(namespace)
            if self._looked.get(namespace) == (version, embedder.model):
                continue
            active = await self.catalog.documents.active_set(namespace)
            collections: dict[str, list[ActiveRevision]] = {}
            for one in active.revisions:
                if one.dense_model == embedder.model and one.format != RECORD_FORMAT:
                    collections.setdefault(one.collection, []).append(one)
            for name, revisions in sorted(collections.items()):
                if await self._calibrated(namespace, name, revisions, embedder):
                    await self.catalog.corpus.raise_version(namespace, 0)
            self._looked[namespace] = (active.corpus_version, embedder.model)

    async def _calibrated(
        self, namespace: str, name: str, revisions: list[ActiveRevision], embedder: Embedder
    ) -> bool:
        """Whether what searches go by is another than before."""
        known = await self.known(namespace, name)
        chunks = sum(r.chunk_count for r in revisions)
        if not is_due(known, embedder.model, chunks):
            return False
        made = await self.measure(namespace, name, revisions, embedder)
        if made is None:
            return False
        await save_json(self.objects, _key(namespace, name), made)
        log.info("collection calibrated", namespace=namespace, most_dense=made.most_dense)
        before = known.most_dense if known is not None and known.model == made.model else 1.0
        return made.most_dense != before

    async def measure(
        self, namespace: str, name: str, revisions: list[ActiveRevision], embedder: Embedder
    ) -> CollectionCalibration | None:
        """What a sample says; None where it holds too few sentences."""
        keys = spread(revisions, TRIED)
        read = await self.catalog.chunks.fetch(keys)
        chunks = [read[key] for key in keys if key in read]
        asked = [(one, text) for one in chunks if (text := _asked(one)) is not None]
        asked = asked[:: max(1, len(asked) // SAMPLE)][:SAMPLE]
        if len(asked) < ENOUGH:
            return None
        scope = Scope(namespace, frozenset(r.revn for r in revisions))
        lexical = dense = 0.0
        for chunk, text in asked:
            words = LexicalQuery(tokenize(text))
            found = await self.index.search("content", words, scope, DEPTH)
            vector = await embedder.embed_query(text)
            near = await self.index.search_vectors(embedder.model, vector, scope, DEPTH)
            lexical += reciprocal(found, chunk.chunk_id)
            dense += reciprocal(near, chunk.chunk_id)
        lexical, dense = lexical / len(asked), dense / len(asked)
        return CollectionCalibration(
            namespace=namespace,
            collection=name,
            model=embedder.model,
            chunks=sum(r.chunk_count for r in revisions),
            sentences=len(asked),
            lexical=round(lexical, 4),
            dense=round(dense, 4),
            most_dense=most_dense(lexical, dense),
        )


def look(service: Service, retriever: Retriever) -> None:
    """Look every so often whether a collection is to be calibrated for the embedder in use."""
    stores = service.stores
    calibrator = Calibrator(stores.catalog, stores.objects, stores.index)

    async def due() -> None:
        await calibrator.look(retriever.embedder)

    service.every(LOOK_SECONDS, due, "calibration of collections")


def _asked(chunk: Chunk) -> str | None:
    return sentence_of(chunk.content) if chunk.type == "text" else None


def _key(namespace: str, collection: str) -> str:
    return corpus_key(namespace, f"calibrations/{collection}.json")
