"""A seeded corpus of any size, put straight into the embedded stores, and queries for it.

Words follow Zipf's law (Zipf 1949, exponent 1) over English-like and Hangul stems, as words
of real collections do: some are in most chunks, most are in a few. Filling past the bus and
the parser is what makes 100,000 chunks a matter of minutes; the rows, index documents and
vectors are those that the indexer writes.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.artefacts.chunk import Chunk, ChunkMetadata, chunk_id
from libs.contracts.artefacts.nav import NavSection
from libs.contracts.events import ArtefactRef
from libs.runtime.catalog.documents import Flip
from libs.runtime.catalog.jobs import Admission
from libs.runtime.index.port import IndexDocument
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.inference.seeded import SeededEmbedder
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from services.indexer.documents import index_documents

NAMESPACE = "default"
PER_DOCUMENT = 2_500
WORDS = 24_000
CHUNK_WORDS = 60
TOPICAL = 400
"""Queries ask for words beyond the so many most frequent ones, as people do."""

_ONSETS = [
    "b",
    "br",
    "c",
    "ch",
    "d",
    "dr",
    "f",
    "g",
    "gr",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "pr",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
    "w",
]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
_CODAS = ["b", "ck", "d", "g", "l", "m", "n", "p", "r", "rd", "s", "st", "t", "x"]
_LATIN_SHARE = 0.75


@lru_cache(maxsize=1)
def vocabulary() -> tuple[list[str], np.ndarray]:
    """Distinct words, most frequent first, and the probability of each."""
    random = np.random.default_rng(7)
    words: dict[str, None] = {}
    while len(words) < WORDS:
        if random.random() < _LATIN_SHARE:
            parts = [
                _ONSETS[random.integers(len(_ONSETS))] + _VOWELS[random.integers(len(_VOWELS))]
                for _ in range(random.integers(1, 4))
            ]
            word = "".join(parts) + _CODAS[random.integers(len(_CODAS))]
        else:
            size = random.integers(2, 5)
            word = "".join(chr(0xAC00 + 28 * c) for c in random.integers(0, 399, size))
        words[word] = None
    weights = 1 / np.arange(1, WORDS + 1)
    return list(words), weights / weights.sum()


def texts(first: int, count: int) -> Iterator[str]:
    """The texts of chunks `first` … `first + count - 1`; the same in every run."""
    words, weights = vocabulary()
    chosen = np.random.default_rng([11, first]).choice(WORDS, (count, CHUNK_WORDS), p=weights)
    for number, row in enumerate(chosen.tolist(), first):
        yield f"Item {number}: {' '.join(words[i] for i in row)}."


def queries(count: int, *, seed: int = 13) -> list[str]:
    """Distinct queries of three to seven words, so that no answer comes from a cache."""
    words, weights = vocabulary()
    random = np.random.default_rng(seed)
    tail = weights[TOPICAL:] / weights[TOPICAL:].sum()
    asked = []
    for number in range(count):
        size = int(random.integers(2, 6))
        wanted = random.choice(WORDS - TOPICAL, size, replace=False, p=tail) + TOPICAL
        common = words[int(random.integers(TOPICAL))]
        asked.append(" ".join([common, *(words[i] for i in wanted), str(number)]))
    return asked


async def fill(data: Path, have: int, want: int, places: Mapping[str, str] | None = None) -> None:
    """Publish documents until the corpus in the data folder, or in the stores that `places`
    name as services' settings do, grows from `have` to `want` chunks; no service may be running
    over them."""
    given = {k.removeprefix("GROUNDWIRE_").lower(): v for k, v in (places or {}).items()}
    settings = Settings.model_validate({"data_dir": data, "embedder": "seeded", **given})
    stores = Stores(settings, index_writer=True)
    sizes = [(first, min(PER_DOCUMENT, want - first)) for first in range(have, want, PER_DOCUMENT)]
    try:
        upcoming = asyncio.create_task(asyncio.to_thread(_prepared, *sizes[0]))
        for after in [*sizes[1:], None]:
            document = await upcoming
            if after is not None:
                upcoming = asyncio.create_task(asyncio.to_thread(_prepared, *after))
            await _publish(stores, document)
    finally:
        await stores.close()


@dataclass(frozen=True)
class _Document:
    name: str
    chunks: list[Chunk]
    indexed: list[IndexDocument]


def _prepared(first: int, count: int) -> _Document:
    name = f"register-{first}"
    chunks = [_chunk(text, order) for order, text in enumerate(texts(first, count))]
    indexed = index_documents(chunks, title=name, file_name=f"{name}.md", tokenize=tokenize)
    return _Document(name, chunks, indexed)


async def _publish(stores: Stores, document: _Document) -> None:
    catalog, chunks = stores.catalog, document.chunks
    admission = Admission(
        NAMESPACE, f"{document.name}.md", IngestOptions(), document_id=document.name
    )
    job = (await catalog.jobs.admit(admission)).job
    empty = hashlib.sha256(b"").hexdigest()
    source = ArtefactRef(key=f"bench/{document.name}", sha256=empty, size=0)
    await catalog.jobs.source_stored(job.job_id, source)
    await catalog.jobs.release(1000, 1000)
    embedder = SeededEmbedder()
    root = NavSection(section_id="root", title="", path=[], level=0, order=0)
    _, _, vectors = await asyncio.gather(
        catalog.chunks.stage(job.revn, chunks, root),
        stores.index.write(NAMESPACE, job.revn, document.indexed),
        embedder.embed_passages([chunk.content for chunk in chunks]),
    )
    ids = [chunk.chunk_id for chunk in chunks]
    await stores.index.write_vectors(NAMESPACE, job.revn, embedder.model, ids, vectors)
    outcome, _ = await catalog.documents.flip(
        Flip(
            namespace=NAMESPACE,
            document_id=job.document_id,
            revision=job.revision,
            job_id=job.job_id,
            artefacts={},
            counts={"chunks": len(chunks)},
            format="md",
            dense_model=embedder.model,
        )
    )
    if outcome != "flipped":
        raise SystemExit(f"{document.name} was not published: {outcome}. Does a service run?")


def _chunk(text: str, order: int) -> Chunk:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Chunk(
        chunk_id=chunk_id("text", text),
        type="text",
        content=text,
        path=[f"Part {order // 50}"],
        order=order,
        metadata=ChunkMetadata(
            length=len(text),
            summary=text[:80],
            tokens=CHUNK_WORDS,
            content_hash=f"sha256:{digest}",
            language="en",
        ),
    )
