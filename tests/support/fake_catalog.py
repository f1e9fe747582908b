"""In-memory parts of the catalog: documents, chunks and hits, for well-behaved callers."""

import dataclasses
import hashlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from libs.contracts.api.documents import ErasureReceipt
from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.artefacts.chunk import Chunk, digest_ids
from libs.contracts.artefacts.corpus import DocumentHits, Tombstone
from libs.contracts.artefacts.nav import NavSection
from libs.runtime.catalog.documents import DocumentRecord, Flip, RevisionRecord
from libs.runtime.index.port import EMPTY_DIGEST, Digest

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def digest_of(ids: list[str]) -> Digest:
    """The parity digest of chunk ids."""
    return Digest(len(ids), digest_ids(ids)) if ids else EMPTY_DIGEST


class Chunks:
    """Chunk rows by revn, and cached vectors; `revisions` tell whose a revn is."""

    def __init__(self) -> None:
        self.rows: dict[int, list[Chunk]] = {}
        self.roots: dict[int, NavSection] = {}
        self.cache: dict[tuple[str, str, str], bytes] = {}

    async def stage(
        self,
        revn: int,
        chunks: Iterable[Chunk],
        root: NavSection,
        moved: Callable[[], None] | None = None,
    ) -> None:
        self.rows[revn], self.roots[revn] = list(chunks), root

    async def digest(self, revn: int) -> Digest:
        return digest_of([c.chunk_id for c in self.rows.get(revn, [])])

    async def texts(self, revn: int) -> list[tuple[str, str, str]]:
        texts = [(c.chunk_id, f"{c.path}\n{c.content}") for c in self.rows.get(revn, [])]
        return [(i, hashlib.sha256(text.encode()).hexdigest(), text) for i, text in texts]

    async def cached_vectors(
        self, namespace: str, model: str, hashes: list[str]
    ) -> dict[str, bytes]:
        keys = {h: (namespace, model, h) for h in hashes}
        return {h: self.cache[key] for h, key in keys.items() if key in self.cache}

    async def cache_vectors(self, namespace: str, model: str, vectors: dict[str, bytes]) -> None:
        for key, data in vectors.items():
            self.cache.setdefault((namespace, model, key), data)

    async def remove(self, revns: list[int]) -> int:
        for revn in revns:
            self.roots.pop(revn, None)
        return sum(len(self.rows.pop(revn, [])) for revn in revns)

    async def sweep_vectors(self, namespace: str) -> int:
        used = {h for revn in self.rows for _, h, _ in await self.texts(revn)}
        orphans = [key for key in self.cache if key[0] == namespace and key[2] not in used]
        for key in orphans:
            del self.cache[key]
        return len(orphans)


class Documents:
    """Documents and revisions as the port describes them, for well-behaved callers."""

    def __init__(self, chunks: Chunks) -> None:
        self.documents: dict[tuple[str, str], DocumentRecord] = {}
        self.all: dict[tuple[str, str, int], RevisionRecord] = {}
        self.receipts: dict[str, ErasureReceipt] = {}
        self.cancelled: set[str] = set()
        self.version = 0
        self.last_revn = 99
        self._chunks = chunks

    def add(self, namespace: str, document_id: str, revision: int, job_id: str) -> RevisionRecord:
        """An accepted revision, and its document if it is new (or begins anew)."""
        known = self.documents.get((namespace, document_id))
        if known is None or known.state == "erased":
            self.documents[namespace, document_id] = DocumentRecord(
                namespace, document_id, "a.md", "default", "pending", None, 0, DocumentMetadata(),
                {}, NOW, NOW,
            )  # fmt: skip
        self.last_revn += 1
        record = RevisionRecord(
            namespace, document_id, revision, self.last_revn, "accepted", job_id, "a.md",
            None, {}, {}, None, NOW, None,
        )  # fmt: skip
        self.all[namespace, document_id, revision] = record
        return record

    def change(self, record: RevisionRecord, **changes: Any) -> None:
        key = (record.namespace, record.document_id, record.revision)
        self.all[key] = dataclasses.replace(self.all[key], **changes)

    async def get(self, namespace: str, document_id: str) -> DocumentRecord | None:
        return self.documents.get((namespace, document_id))

    async def revisions(self, namespace: str, document_id: str) -> list[RevisionRecord]:
        own = [r for (ns, doc, _), r in self.all.items() if (ns, doc) == (namespace, document_id)]
        return sorted(own, key=lambda r: -r.revision)

    async def revision(
        self, namespace: str, document_id: str, revision: int | None = None
    ) -> RevisionRecord | None:
        known = self.documents.get((namespace, document_id))
        if known is None or known.state in ("erasing", "erased"):
            return None
        wanted = known.active_revision if revision is None else revision
        return self.all.get((namespace, document_id, wanted or 0))

    async def flip(self, flip: Flip) -> tuple[str, int]:
        known = self.documents[flip.namespace, flip.document_id]
        record = self.all.get((flip.namespace, flip.document_id, flip.revision))
        refusal = None
        if record is None or known.state in ("erasing", "erased"):
            refusal = "erased"
        elif flip.job_id in self.cancelled:
            refusal = "cancelled"
        elif known.highest_published > flip.revision:
            refusal = "superseded"
        elif record.state == "published":
            refusal = "already"
        if refusal or record is None:
            return str(refusal), self.version
        assert (await self._chunks.digest(record.revn)).digest == flip.expected_digest
        self.version += 1
        self.change(
            record, state="published", artefacts=flip.artefacts, counts=flip.counts,
            dense_model=flip.dense_model, published_at=NOW,
        )  # fmt: skip
        self.documents[flip.namespace, flip.document_id] = dataclasses.replace(
            known, state="active", active_revision=flip.revision, highest_published=flip.revision
        )
        return "flipped", self.version

    async def set_dense(self, namespace: str, document_id: str, revision: int, model: str) -> int:
        record = self.all[namespace, document_id, revision]
        self.version += record.dense_model != model
        self.change(record, dense_model=model)
        return self.version

    async def switch_dense(self, namespace: str, revns: list[int], model: str) -> int:
        changed = [r for r in self.all.values() if r.revn in revns and r.dense_model != model]
        for record in changed:
            self.change(record, dense_model=model)
        self.version += bool(changed)
        return self.version

    async def corpus_version(self, namespace: str) -> int:
        return self.version

    async def collectable(
        self, namespace: str, document_id: str, keep: int
    ) -> list[RevisionRecord]:
        known = self.documents[namespace, document_id]
        records = await self.revisions(namespace, document_id)
        published = [r for r in records if r.state == "published"]
        spent = [r for r in records if r.state in ("failed", "superseded")]
        spent = [r for r in spent if r.revision < known.highest_published]
        return [r for r in published[keep:] + spent if r.revision != known.active_revision]

    async def mark_collected(
        self, namespace: str, document_id: str, revisions: list[int]
    ) -> list[int]:
        for number in revisions:
            self.change(self.all[namespace, document_id, number], state="collected", artefacts={})
        return sorted(revisions)

    async def hide(self, namespace: str, document_id: str, erasure_id: str) -> ErasureReceipt:
        self._set_state(namespace, document_id, "erasing")
        self.version += 1
        self.receipts[erasure_id] = ErasureReceipt(
            erasure_id=erasure_id, document_id=document_id, state="requested", requested_at=NOW
        )
        return self.receipts[erasure_id]

    async def erased(
        self, namespace: str, erasure_id: str, removed: dict[str, int], requery_hits: int
    ) -> ErasureReceipt | None:
        document_id = self.receipts[erasure_id].document_id
        for record in await self.revisions(namespace, document_id):
            del self.all[namespace, document_id, record.revision]
        self._set_state(namespace, document_id, "erased")
        self.receipts[erasure_id] = self.receipts[erasure_id].model_copy(
            update={"state": "erased", "removed": removed, "requery_hits": requery_hits}
        )
        return self.receipts[erasure_id]

    async def erasure(self, namespace: str, erasure_id: str) -> ErasureReceipt | None:
        return self.receipts.get(erasure_id)

    def _set_state(self, namespace: str, document_id: str, state: Any) -> None:
        known = self.documents[namespace, document_id]
        self.documents[namespace, document_id] = dataclasses.replace(
            known, state=state, active_revision=None
        )


class Runs:
    """Hits by document."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], dict[str, int]] = {}

    async def hits(self, namespace: str, document_id: str) -> dict[str, int]:
        return self.counts.get((namespace, document_id), {})

    async def remove_document(self, namespace: str, document_id: str) -> int:
        return len(self.counts.pop((namespace, document_id), {}))


class Corpus:
    """A namespace as a whole, over the other parts."""

    def __init__(self, documents: Documents, runs: Runs) -> None:
        self._documents, self._runs = documents, runs

    async def versions(self) -> dict[str, int]:
        return {name: self._documents.version for name, _ in self._documents.documents}

    async def collections(self, namespace: str) -> list[str]:
        known = self._documents.documents.values()
        return sorted(
            {d.collection for d in known if d.namespace == namespace and d.state == "active"}
        )

    async def hits(self, namespace: str, after: str, limit: int) -> list[DocumentHits]:
        found = [
            DocumentHits(document_id=document_id, chunks=counts)
            for (name, document_id), counts in sorted(self._runs.counts.items())
            if name == namespace and document_id > after and not self._hidden(name, document_id)
        ]
        return found[:limit]

    async def erasures(self, namespace: str, after: str, limit: int) -> list[Tombstone]:
        found = [
            Tombstone(receipt=receipt, highest_revision=1)
            for erasure_id, receipt in sorted(self._documents.receipts.items())
            if erasure_id > after
        ]
        return found[:limit]

    async def changed(self, namespace: str, since: datetime, after: str, limit: int) -> list[str]:
        found = [
            document_id
            for (name, document_id), record in sorted(self._documents.documents.items())
            if name == namespace and document_id > after and record.highest_published
        ]
        return [one for one in found if not self._hidden(namespace, one)][:limit]

    async def kept(self, namespace: str, revns: list[int]) -> set[int]:
        return {
            record.revn
            for (name, document_id, _), record in self._documents.all.items()
            if name == namespace
            and record.revn in revns
            and record.state == "published"
            and not self._hidden(name, document_id)
        }

    def _hidden(self, namespace: str, document_id: str) -> bool:
        known = self._documents.documents.get((namespace, document_id))
        return known is not None and known.state in ("erasing", "erased")
