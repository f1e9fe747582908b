"""One revision after another of a document, published over four servers that may fail."""

import inspect
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.events import ArtefactRef, DocumentChunked, DocumentPublished
from libs.contracts.events.base import now
from libs.runtime.artefacts import save_json
from libs.runtime.index.port import Digest
from libs.runtime.keys import attempt_key, source_key
from libs.runtime.stores import Stores
from libs.runtime.work import Work
from services.chunker.cut import Sizes
from services.chunker.local import chunk_rows
from services.indexer.deps import Deps
from services.indexer.handlers import on_chunked, on_published
from services.indexer.settings import Settings
from tests.support.catalogs import running
from tests.support.fakes import Bus
from tests.support.proxy import Proxy
from tests.support.rows import count_words, profile, rows

NS = "acme"
KEPT = 2
Moment = Literal["before", "during", "after"]


@dataclass
class Interruption:
    """Ends a store at the `at`-th call of it: `before` the call, `during` it, so that it is
    done and its caller does not know, or `after` it."""

    relay: Proxy
    moment: Moment
    at: int
    calls: int = 0

    @property
    def reached(self) -> bool:
        """Whether there were so many calls."""
        return self.calls >= self.at


class Interrupted:
    """A store whose calls count towards an interruption."""

    def __init__(self, store: Any, interruption: Interruption) -> None:
        self._store, self._interruption = store, interruption

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not inspect.iscoroutinefunction(method):
            return method
        one = self._interruption

        async def call(*args: Any, **kwargs: Any) -> Any:
            one.calls += 1
            now_ = one.calls == one.at
            if now_ and one.moment == "before":
                one.relay.cut()
            elif now_ and one.moment == "during":
                one.relay.cut_at_answer()
            answer = await method(*args, **kwargs)
            if now_ and one.moment == "after":
                one.relay.cut()
            return answer

        return call


def interrupted(stores: Stores, store: str, interruption: Interruption) -> Any:
    """The stores, one of them with the interruption."""

    def part(name: str, one: Any) -> Any:
        return Interrupted(one, interruption) if name == store else one

    catalog = stores.catalog
    parts = {
        name: part("catalog", getattr(catalog, name))
        for name in ("keys", "documents", "jobs", "chunks", "runs", "corpus")
    }
    return SimpleNamespace(
        objects=part("objects", stores.objects),
        index=part("index", stores.index),
        graph=part("graph", stores.graph),
        catalog=SimpleNamespace(**parts),
        embedder=stores.embedder,
    )


def deps(stores: Any) -> Deps:
    """What the indexer's handlers need."""
    settings = Settings(_env_file=None, indexer_keep_revisions=KEPT)
    return Deps(Bus(), stores, str.split, settings)  # type: ignore[arg-type]


async def chunked(stores: Stores, document_id: str, edition: int) -> DocumentChunked:
    """The next revision of a document as the chunker leaves it."""
    job = await running(stores.catalog, document_id, source=f"{document_id} {edition}")
    given = rows(
        *(r for i in range(3) for r in (
            ("heading", f"Part {i}", {"level": 1}),
            ("paragraph", f"The settlement of {document_id}: part {i}, edition {edition}."),
        ))
    )  # fmt: skip
    made = chunk_rows(profile("a.md"), given, sizes=Sizes(), count_many=count_words)
    event = DocumentChunked(
        namespace=NS, document_id=document_id, revision=job.revision, job_id=job.job_id,
        file_name="a.md", artefacts={}, chunk_count=len(made.chunks.chunks),
        chunk_digest=made.manifest.chunk_digest, options=IngestOptions(), occurred_at=now(),
    )  # fmt: skip
    await stores.objects.put(source_key(NS, document_id, job.revision, "a.md"), b"source")
    artefacts: dict[str, ArtefactRef] = {}
    files = {**made.files(), "chunks.json": made.chunks, "profile.json": profile("a.md")}
    for name, model in files.items():
        artefacts[name] = await save_json(stores.objects, attempt_key(event, name), model)
    return event.model_copy(update={"artefacts": artefacts})


def published(event: DocumentChunked) -> DocumentPublished:
    """What is said when it is done."""
    return DocumentPublished(
        namespace=NS, document_id=event.document_id, revision=event.revision, job_id=event.job_id,
        chunk_count=event.chunk_count, chunk_digest=event.chunk_digest, corpus_version=1,
        occurred_at=now(),
    )  # fmt: skip


async def publish(deps: Deps, event: DocumentChunked) -> None:
    """Publish a chunked revision, then all that follows its being published."""
    await on_chunked(deps, event, Work(event.job_id))
    await on_published(deps, published(event), Work(event.job_id))


async def assert_whole(stores: Stores, event: DocumentChunked, *, dense: bool = True) -> None:
    """The active revision is the event's, and every store holds it whole; without `dense` it may
    lack the dense channel, which comes after it, but has no part of it switched on."""
    record = await stores.catalog.documents.revision(NS, event.document_id)
    assert record is not None
    assert record.revision == event.revision
    expected = Digest(event.chunk_count, event.chunk_digest)
    assert await stores.catalog.chunks.digest(record.revn) == expected
    assert await stores.index.digest(NS, record.revn) == expected
    assert (await stores.graph.digest(NS, record.revn))[1]
    assert record.dense_model is not None or not dense
    if record.dense_model is not None:
        assert await stores.index.vector_digest(NS, record.revn, record.dense_model) == expected
    for ref in record.artefacts.values():
        found = await stores.objects.stat(ref.key)
        assert found is not None
        assert found.sha256 == ref.sha256
    assert set(record.artefacts) == set(event.artefacts)


async def leftovers(stores: Stores, document_id: str) -> list[str]:
    """What the stores hold of revisions that are not kept, or that attempts left behind."""
    found = []
    for record in await stores.catalog.documents.revisions(NS, document_id):
        prefix = f"{NS}/{document_id}/{record.revision}/"
        keys = [info.key async for info in stores.objects.walk(prefix)]
        found += [key for key in keys if "/.jobs/" in key]
        if record.state != "published":
            found += keys
            found += ["search"] * (await stores.index.digest(NS, record.revn)).count
            model = stores.embedder.model if stores.embedder else ""
            vectors = await stores.index.vector_digest(NS, record.revn, model)
            found += ["vectors"] * vectors.count
            found += ["graph"] * bool((await stores.graph.digest(NS, record.revn))[1])
            found += ["catalog"] * (await stores.catalog.chunks.digest(record.revn)).count
    return found
