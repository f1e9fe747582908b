"""The dense channel of a revision: every chunk gets its vector, then it is switched on whole."""

import numpy as np

from libs.contracts.artefacts.chunk import digest_ids
from libs.contracts.events import DocumentEmbedded, DocumentPublished
from libs.runtime.catalog.documents import RevisionRecord
from libs.runtime.chunkfile import slices
from libs.runtime.index.port import Digest, Vectors
from libs.runtime.inference.port import Embedder
from libs.runtime.work import Work
from services.indexer.deps import Deps
from services.indexer.parity import held_chunks, prove

KEYS = 2_000


async def embed_published(
    deps: Deps, event: DocumentPublished, work: Work
) -> DocumentEmbedded | None:
    """Embed a published revision and switch its dense channel on; returns what is to be
    announced, None without an embedder or when the revision is not kept any more."""
    documents, embedder = deps.stores.catalog.documents, deps.stores.embedder
    if embedder is None or (revision := await _kept(deps, event)) is None:
        return None
    if revision.dense_model != embedder.model:
        await embed_revision(deps, event.namespace, revision.revn, work)
        if await _kept(deps, event) is None:
            await deps.stores.index.remove(event.namespace, [revision.revn])
            return None
    version = await documents.set_dense(
        event.namespace, event.document_id, event.revision, embedder.model
    )
    return DocumentEmbedded(
        namespace=event.namespace,
        document_id=event.document_id,
        revision=event.revision,
        job_id=event.job_id,
        attempt=event.attempt,
        model=embedder.model,
        corpus_version=version,
    )


async def embed_revision(deps: Deps, namespace: str, revn: int, work: Work) -> str | None:
    """Write the vectors of every chunk of a revision and prove them; returns the model, None
    without an embedder. Vectors of equal texts are taken from the cache."""
    embedder, index = deps.stores.embedder, deps.stores.index
    if embedder is None:
        return None
    texts = await deps.stores.catalog.chunks.texts(revn)
    ids = [chunk_id for chunk_id, _, _ in texts]
    expected = Digest(len(ids), digest_ids(ids))
    if await index.vector_digest(namespace, revn, embedder.model) != expected:
        vectors = await _vectors(deps, embedder, namespace, texts, work)
        work.check()
        await index.write_vectors(namespace, revn, embedder.model, ids, vectors)
    found = await index.vector_digest(namespace, revn, embedder.model)
    prove(revn, held_chunks("dense channel", expected, found))
    return embedder.model


async def _vectors(
    deps: Deps, embedder: Embedder, namespace: str, texts: list[tuple[str, str, str]], work: Work
) -> Vectors:
    """A row for each text, from the cache or the embedder; new ones are cached, a batch at a
    time, so that a run that is killed need not begin again.

    Documents take turns, a batch each: a long one holds up nobody.
    """
    chunks, size = deps.stores.catalog.chunks, deps.settings.indexer_embed_batch
    rows: dict[str, list[int]] = {}
    for row, (_, key, _) in enumerate(texts):
        rows.setdefault(key, []).append(row)
    vectors = np.empty((len(texts), embedder.dimension), np.float32)
    missing: list[str] = []
    for keys in slices(rows, KEYS):
        work.check()
        cached = await chunks.cached_vectors(namespace, embedder.model, keys)
        for key in keys:
            data = cached.get(key, b"")
            if len(data) == 4 * embedder.dimension:
                vectors[rows[key]] = np.frombuffer(data, np.float32)
            else:
                missing.append(key)
    missing.sort(key=lambda key: (len(texts[rows[key][0]][2]), key))
    for keys in slices(missing, size):
        work.check()
        made = await deps.embed([texts[rows[key][0]][2] for key in keys])
        for key, vector in zip(keys, made, strict=True):
            vectors[rows[key]] = vector
        fresh = {key: vectors[rows[key][0]].tobytes() for key in keys}
        await chunks.cache_vectors(namespace, embedder.model, fresh)
    return vectors


async def _kept(deps: Deps, event: DocumentPublished) -> RevisionRecord | None:
    revision = await deps.stores.catalog.documents.revision(
        event.namespace, event.document_id, event.revision
    )
    return revision if revision is not None and revision.state == "published" else None
