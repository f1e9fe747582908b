"""A collection's own sample says how much the dense channel may count in it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.api.search import RetrieveQuery
from libs.contracts.artefacts import Chunk, ChunkMetadata
from libs.contracts.artefacts.chunk import chunk_id as id_of
from libs.contracts.artefacts.corpus import CollectionCalibration
from libs.contracts.entries import RECORD_FORMAT, CollectionSettings
from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.documents import ActiveRevision, ActiveSet
from libs.runtime.collections import save_settings
from libs.runtime.index.port import Hit, IndexDocument, Vectors
from libs.runtime.index.tantivy_index import TantivyIndex
from libs.runtime.index.tokenizer import tokenize
from services.retriever import retrieve
from services.retriever.calibrating import (
    ENOUGH,
    SAMPLE,
    Calibrator,
    is_due,
    most_dense,
    reciprocal,
    sentence_of,
    spread,
)
from services.retriever.retrieve import Retriever
from services.retriever.settings import Settings
from services.retriever.words import words_of
from tests.support.fakes import Objects

SIZE = 60
SUBJECTS = (
    "밸브",
    "펌프",
    "배관",
    "계기",
    "탱크",
    "보일러",
    "압축기",
    "냉각탑",
    "변압기",
    "차단기",
)
TEXTS = [
    f"{SUBJECTS[n % 10]} 점검 기록 {n}호이다. {SUBJECTS[n % 10]} {n}번의 허용 압력은 {n * 7}바로 "
    f"정해져 있다. 담당자는 매월 {n % 28 + 1}일에 확인한다."
    for n in range(SIZE)
]


def revision(revn: int, chunks: int, **changes: Any) -> ActiveRevision:
    fields = {
        "revn": revn, "document_id": f"d{revn}", "revision": 1, "file_name": f"d{revn}.md",
        "collection": "default", "format": "md", "metadata": DocumentMetadata(),
        "chunk_count": chunks, "dense_model": "m",
    }  # fmt: skip
    return ActiveRevision(**{**fields, **changes})


class Embedder:
    """Bags of tokens, or noise that has nothing to do with the text."""

    def __init__(self, *, noise: bool, model: str = "m") -> None:
        self.noise = noise
        self.model = model
        self.queries = 0

    def vector(self, text: str, kind: str) -> Vectors:
        sums = np.zeros(64, np.float32)
        for token in [f"{kind}{text}"] if self.noise else tokenize(text):
            seed = int.from_bytes(hashlib.sha256(token.encode()).digest()[:8], "big")
            sums += np.random.default_rng(seed).standard_normal(64).astype(np.float32)
        return cast(Vectors, sums / np.linalg.norm(sums))

    async def embed_query(self, text: str) -> Vectors:
        self.queries += 1
        return self.vector(text, "query")


class Catalog:
    """One namespace with one revision, whose pieces are the texts."""

    def __init__(self) -> None:
        self.version = 5
        self.read = 0
        self.revisions: tuple[ActiveRevision, ...] = (revision(1, SIZE),)
        self.keys = self.documents = self.chunks = self.corpus = self

    async def list_namespaces(self) -> list[str]:
        return ["ns"]

    async def corpus_version(self, namespace: str) -> int:
        return self.version

    async def active_set(self, namespace: str) -> ActiveSet:
        self.read += 1
        return ActiveSet(self.version, self.revisions)

    async def raise_version(self, namespace: str, above: int) -> int:
        self.version = max(self.version, above) + 1
        return self.version

    async def fetch(self, keys: list[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
        return {key: piece(key[1]) for key in keys}


def piece(order: int) -> Chunk:
    text = TEXTS[order]
    return Chunk(
        chunk_id=id_of("text", text), type="text", content=text, path=["기록"], order=order,
        metadata=ChunkMetadata(length=len(text), tokens=1, content_hash="sha256:0"),
    )  # fmt: skip


async def published(index: TantivyIndex, embedder: Embedder) -> None:
    ids = [piece(n).chunk_id for n in range(SIZE)]
    documents = [
        IndexDocument(ids[n], n, "text", tokenize(text), [], text) for n, text in enumerate(TEXTS)
    ]
    await index.write("ns", 1, documents)
    vectors = np.array([embedder.vector(text, "passage") for text in TEXTS], np.float32)
    await index.write_vectors("ns", 1, embedder.model, ids, vectors)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[TantivyIndex]:
    index = TantivyIndex(tmp_path, writer=True)
    yield index
    await index.close()


def calibrator(catalog: Catalog, index: TantivyIndex, objects: Any) -> Calibrator:
    return Calibrator(cast(Any, catalog), objects, index)


async def ranked(catalog: Catalog, index: TantivyIndex, embedder: Embedder, own: Calibrator) -> Any:
    retriever = Retriever(
        cast(Any, catalog), index, cast(Any, embedder), Settings(_env_file=None), words_of,
        own.limits,
    )  # fmt: skip
    asked = RetrieveQuery(namespace="ns", query="펌프 31번 허용 압력", top_k=5, milliseconds=60_000)
    return (await retriever.retrieve(asked)).chunks


async def test_an_embedder_that_finds_nothing_of_a_collection_counts_nothing_in_it(
    index: TantivyIndex,
) -> None:
    catalog, noise = Catalog(), Embedder(noise=True)
    await published(index, noise)
    own = calibrator(catalog, index, Objects())
    before = await ranked(catalog, index, noise, own)
    assert any(chunk.channels.get("dense", 0) > 0 for chunk in before)
    await own.look(cast(Any, noise))
    assert await own.limits("ns", ["default"], "m") == {"default": 0.0}
    assert catalog.version == 6, "what searches answer has changed"
    after = await ranked(catalog, index, noise, own)
    assert "펌프 31번" in after[0].content
    assert not any(chunk.channels.get("dense", 0) > 0 for chunk in after)


@pytest.mark.parametrize("how", ["away", "hangs"])
async def test_searches_go_on_by_what_was_known_when_calibrations_cannot_be_read(
    index: TantivyIndex, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog, noise, objects = Catalog(), Embedder(noise=True), Objects()
    await published(index, noise)
    own = calibrator(catalog, index, objects)
    await own.look(cast(Any, noise))
    readable = True

    async def limits(*asked: Any) -> Any:
        if readable:
            return await own.limits(*asked)
        if how == "away":
            raise WorldFault(Code.STORE_AWAY, "no objects")
        return await asyncio.Event().wait()

    retriever = Retriever(
        cast(Any, catalog), index, cast(Any, noise), Settings(_env_file=None), words_of, limits
    )
    assert (await retriever.corpus("ns")).most_dense == {"default": 0.0}
    readable = False
    monkeypatch.setattr(retrieve, "LIMITS_SECONDS", 0.05)
    version = await catalog.raise_version("ns", 0)
    corpus = await retriever.corpus("ns")
    assert (corpus.version, corpus.most_dense) == (version, {"default": 0.0})


async def test_one_that_finds_what_words_find_is_not_limited(index: TantivyIndex) -> None:
    catalog, good = Catalog(), Embedder(noise=False)
    await published(index, good)
    own = calibrator(catalog, index, Objects())
    await own.look(cast(Any, good))
    known = await own.known("ns", "default")
    assert known is not None and known.sentences == SAMPLE and known.dense > 0.9
    assert await own.limits("ns", ["default"], "m") == {}
    assert catalog.version == 5, "searches answer as before"


async def test_what_is_set_for_a_collection_goes_before_its_calibration(
    index: TantivyIndex,
) -> None:
    catalog, noise, objects = Catalog(), Embedder(noise=True), Objects()
    await published(index, noise)
    own = calibrator(catalog, index, objects)
    await own.look(cast(Any, noise))
    for most, limits in ((0.25, {"default": 0.25}), (1.0, {}), (None, {"default": 0.0})):
        settings = CollectionSettings(most_dense=most)
        await save_settings(cast(Any, objects), "ns", "default", settings)
        assert await own.limits("ns", ["default"], "m") == limits


async def test_a_collection_is_sampled_again_when_it_has_doubled_or_the_model_is_another(
    index: TantivyIndex,
) -> None:
    catalog, noise, objects = Catalog(), Embedder(noise=True), Objects()
    await published(index, noise)
    own = calibrator(catalog, index, objects)
    await own.look(cast(Any, noise))
    assert noise.queries == SAMPLE
    await own.look(cast(Any, noise))
    assert noise.queries == SAMPLE, "nothing is due"
    read = catalog.read
    await own.look(cast(Any, noise))
    assert catalog.read == read, "of a corpus that has not changed only the version is asked"
    await catalog.raise_version("ns", 0)
    await own.look(cast(Any, noise))
    assert (catalog.read, noise.queries) == (read + 1, SAMPLE)
    other = Embedder(noise=False, model="n")
    await published(index, other)
    catalog.revisions = (revision(1, SIZE, dense_model="n"),)
    await catalog.raise_version("ns", 0)
    await own.look(cast(Any, other))
    assert other.queries == SAMPLE
    assert await own.limits("ns", ["default"], "n") == {}
    assert await own.limits("ns", ["default"], "m") == {}, "it is of one model"


async def test_few_pieces_and_records_are_not_calibrated(index: TantivyIndex) -> None:
    catalog, noise = Catalog(), Embedder(noise=True)
    await published(index, noise)
    own = calibrator(catalog, index, Objects())
    catalog.revisions = (revision(1, ENOUGH - 1), revision(1, SIZE, format=RECORD_FORMAT))
    await own.look(cast(Any, noise))
    assert await own.known("ns", "default") is None
    await own.look(None)
    assert catalog.version == 5


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12), st.integers(1, 60))
def test_a_sample_is_spread_over_all_pieces_and_has_each_once(
    sizes: list[int], wanted: int
) -> None:
    revisions = [revision(revn, size) for revn, size in enumerate(sizes)]
    keys = spread(revisions, wanted)
    assert len(set(keys)) == len(keys) == min(wanted, sum(sizes))
    assert all(0 <= order < sizes[revn] for revn, order in keys)
    assert keys == sorted(keys)


def test_what_is_asked_is_a_whole_sentence_of_the_middle() -> None:
    text = (
        "짧다. 첫째 문장은 이 정도의 길이를 가지고 있다. 둘째 문장도 이 정도의 길이는 된다. 끝이다."
    )
    assert sentence_of(text) == "둘째 문장도 이 정도의 길이는 된다."
    assert sentence_of("too short.") is None
    assert sentence_of("x" * 5000) is None


def test_ranks_count_by_their_reciprocal_and_equal_pieces_as_one() -> None:
    hits = [Hit(1, 0, "ta", 2.0), Hit(1, 1, "tb-2", 1.0)]
    assert [reciprocal(hits, one) for one in ("ta", "tb", "tc")] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("lexical", "dense", "most"),
    [(1.0, 0.95, 1.0), (1.0, 0.9, 1.0), (0.8, 0.52, 0.5), (1.0, 0.4, 0.0), (1.0, 0.0, 0.0),
     (0.0, 0.3, 1.0)],
)  # fmt: skip
def test_a_channel_counts_less_the_less_it_finds(lexical: float, dense: float, most: float) -> None:
    assert most_dense(lexical, dense) == pytest.approx(most)


def test_what_is_known_holds_until_the_collection_is_half_or_twice_as_large() -> None:
    known = CollectionCalibration(
        namespace="ns", collection="default", model="m", chunks=100, sentences=48, lexical=1.0,
        dense=1.0, most_dense=1.0,
    )  # fmt: skip
    assert [is_due(known, "m", size) for size in (50, 51, 199, 200)] == [True, False, False, True]
    assert is_due(known, "n", 100) and is_due(None, "m", 1)


def test_the_service_looks_for_collections_that_are_due() -> None:
    from services.retriever.calibrating import look

    periodic: list[str] = []
    stores = SimpleNamespace(catalog=None, objects=None, index=None)
    service = SimpleNamespace(
        stores=stores, every=lambda seconds, task, name: periodic.append(name)
    )
    look(cast(Any, service), cast(Any, SimpleNamespace(embedder=None)))
    assert periodic == ["calibration of collections"]
