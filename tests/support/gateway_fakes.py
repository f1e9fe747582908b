"""In-memory stores and a recording bus for tests of the gateway's HTTP interface."""

import dataclasses
import hashlib
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import httpx
from nats.js.errors import NotFoundError
from pydantic import BaseModel

from libs.contracts.api.audit import Action, AuditEntry
from libs.contracts.api.documents import ErasureReceipt, JobState, Role
from libs.contracts.api.ingest import DocumentMetadata, IngestOptions
from libs.contracts.events import ArtefactRef, JobEvent, StageFailed
from libs.contracts.faults import CallerFault, Code, DocumentFault, Fault
from libs.contracts.subjects import Subject
from libs.contracts.tokens import new_id
from libs.runtime.catalog.documents import (
    ActiveRevision,
    ActiveSet,
    DocumentRecord,
    RevisionRecord,
)
from libs.runtime.catalog.jobs import (
    Admission,
    Admitted,
    JobEventRecord,
    JobRecord,
    LedgerEntry,
)
from libs.runtime.catalog.keys import KeyRecord
from libs.runtime.objects.port import ObjectInfo
from services.gateway.deps import Deps
from services.gateway.http.app import create_app
from services.gateway.settings import Settings

TERMINAL = {"published", "failed", "cancelled", "superseded"}


def now() -> datetime:
    return datetime.now(UTC)


class FakeObjects:
    """Objects in a dict; counts the largest piece that a stream ever handed over."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}
        self.media: dict[str, str | None] = {}
        self.largest_piece = 0

    async def put(
        self,
        key: str,
        data: bytes | AsyncIterator[bytes],
        *,
        media_type: str | None = None,
        max_bytes: int | None = None,
        durable: bool = False,
    ) -> ObjectInfo:
        if isinstance(data, bytes):
            body = data
        else:
            pieces = bytearray()
            async for piece in data:
                self.largest_piece = max(self.largest_piece, len(piece))
                pieces += piece
                if max_bytes is not None and len(pieces) > max_bytes:
                    raise DocumentFault(Code.TOO_LARGE, f"larger than {max_bytes} bytes")
            body = bytes(pieces)
        self.data[key] = body
        self.media[key] = media_type
        return self._info(key)

    def _info(self, key: str) -> ObjectInfo:
        body = self.data[key]
        return ObjectInfo(key, len(body), hashlib.sha256(body).hexdigest(), self.media.get(key))

    async def get(self, key: str) -> bytes:
        return self.data[key]

    async def stream(
        self, key: str, start: int = 0, end: int | None = None
    ) -> AsyncIterator[bytes]:
        if ".." in key.split("/"):
            raise ValueError("not an object key")
        yield self.data[key][start:end]

    async def stat(self, key: str) -> ObjectInfo | None:
        return self._info(key) if key in self.data else None

    async def walk(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        for key in sorted(k for k in self.data if k.startswith(prefix)):
            yield self._info(key)

    async def copy(self, source: str, target: str) -> ObjectInfo:
        self.data[target] = self.data[source]
        return self._info(target)

    async def delete(self, keys: Iterable[str]) -> None:
        for key in list(keys):
            self.data.pop(key, None)

    def ref(self, key: str, data: bytes) -> ArtefactRef:
        """Store `data` and name it as events do."""
        self.data[key] = data
        return ArtefactRef(key=key, sha256=hashlib.sha256(data).hexdigest(), size=len(data))


class FakeAudit:
    """Entries in the order of their making."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    async def add(self, entry: AuditEntry) -> None:
        self.entries.append(entry)

    async def select(
        self,
        namespace: str | None,
        *,
        action: Action | None = None,
        target: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[AuditEntry]:
        return [
            entry
            for entry in reversed(self.entries)
            if namespace in (None, entry.namespace)
            and action in (None, entry.action)
            and target in (None, entry.target)
            and (before is None or entry.audit_id < before)
        ][:limit]


class FakeKeys:
    def __init__(self) -> None:
        self.records: dict[str, KeyRecord] = {}
        self.namespaces: set[str] = set()
        self.held: dict[str, datetime] = {}

    async def pause(self, namespace: str, paused: bool) -> bool:
        if paused and namespace in self.namespaces:
            self.held.setdefault(namespace, now())
        elif not paused:
            self.held.pop(namespace, None)
        return namespace in self.namespaces

    async def paused(self) -> dict[str, datetime]:
        return self.held

    def issue(self, namespace: str, role: Role) -> str:
        """A new key's secret."""
        secret = f"secret-{new_id('s')}"
        digest = hashlib.sha256(secret.encode()).hexdigest()
        self.namespaces.add(namespace)
        record = KeyRecord(new_id("key"), namespace, role, "", digest, now())
        self.records[record.key_id] = record
        return secret

    async def create_namespace(self, namespace: str) -> bool:
        fresh = namespace not in self.namespaces
        self.namespaces.add(namespace)
        return fresh

    async def list_namespaces(self) -> list[str]:
        return sorted(self.namespaces)

    async def add(self, record: KeyRecord) -> None:
        self.namespaces.add(record.namespace)
        self.records[record.key_id] = record

    async def find(self, secret_hash: str) -> KeyRecord | None:
        return next(
            (r for r in self.records.values() if r.secret_hash == secret_hash and r.live(now())),
            None,
        )

    async def select(self, namespace: str | None) -> list[KeyRecord]:
        return [r for r in self.records.values() if namespace in (None, r.namespace)]

    async def revoke(self, key_id: str, at: datetime | None = None) -> bool:
        record, moment = self.records.get(key_id), at or now()
        if record is None or not record.live(moment):
            return False
        self.records[key_id] = dataclasses.replace(record, revoked_at=moment)
        return True


class FakeDocuments:
    def __init__(self) -> None:
        self.documents: dict[tuple[str, str], DocumentRecord] = {}
        self.revs: dict[tuple[str, str, int], RevisionRecord] = {}
        self.receipts: dict[tuple[str, str], ErasureReceipt] = {}

    def publish(
        self, job: JobRecord, artefacts: dict[str, ArtefactRef], counts: dict[str, int]
    ) -> None:
        """Do what the indexer's flip does."""
        key = (job.namespace, job.document_id)
        self.documents[key] = dataclasses.replace(
            self.documents[key],
            state="active",
            active_revision=job.revision,
            highest_published=job.revision,
        )
        rev = (*key, job.revision)
        self.revs[rev] = dataclasses.replace(
            self.revs[rev],
            state="published",
            artefacts=artefacts,
            counts=counts,
            source=job.source,
            published_at=now(),
        )

    def ensure(self, job: JobRecord, options: IngestOptions) -> None:
        key = (job.namespace, job.document_id)
        self.documents.setdefault(
            key,
            DocumentRecord(
                *key,
                job.file_name,
                options.collection,
                "pending",
                None,
                0,
                options.metadata,
                {},
                now(),
                now(),
            ),
        )
        self.revs[(*key, job.revision)] = RevisionRecord(
            *key,
            job.revision,
            job.revn,
            "accepted",
            job.job_id,
            job.file_name,
            None,
            {},
            {},
            None,
            now(),
            None,
        )

    async def get(self, namespace: str, document_id: str) -> DocumentRecord | None:
        return self.documents.get((namespace, document_id))

    async def select(
        self,
        namespace: str,
        *,
        after: str | None = None,
        limit: int = 100,
        collection: str | None = None,
        state: str | None = None,
    ) -> list[DocumentRecord]:
        found = [d for (ns, _), d in sorted(self.documents.items()) if ns == namespace]
        found = [d for d in found if after is None or d.document_id > after]
        found = [d for d in found if collection in (None, d.collection)]
        return [d for d in found if state in (None, d.state)][:limit]

    async def set_metadata(
        self, namespace: str, document_id: str, metadata: DocumentMetadata
    ) -> DocumentRecord | None:
        key = (namespace, document_id)
        if key not in self.documents:
            return None
        self.documents[key] = dataclasses.replace(self.documents[key], metadata=metadata)
        return self.documents[key]

    async def revisions(self, namespace: str, document_id: str) -> list[RevisionRecord]:
        found = [r for k, r in self.revs.items() if k[:2] == (namespace, document_id)]
        return sorted(found, key=lambda r: -r.revision)

    async def revision(
        self, namespace: str, document_id: str, revision: int | None = None
    ) -> RevisionRecord | None:
        document = self.documents.get((namespace, document_id))
        if document is None or document.state in ("erasing", "erased"):
            return None
        number = document.active_revision if revision is None else revision
        return None if number is None else self.revs.get((namespace, document_id, number))

    async def active_set(self, namespace: str) -> ActiveSet:
        active = [
            (d, self.revs[(namespace, d.document_id, d.active_revision)])
            for (ns, _), d in sorted(self.documents.items())
            if ns == namespace and d.state == "active" and d.active_revision is not None
        ]
        return ActiveSet(
            1,
            tuple(
                ActiveRevision(
                    r.revn, d.document_id, r.revision, d.file_name, d.collection,
                    str(d.inferred.get("format", "txt")), d.metadata, 0, None,
                )
                for d, r in active
            ),
        )  # fmt: skip

    async def activate(self, namespace: str, document_id: str, revision: int) -> int | None:
        found = self.revs.get((namespace, document_id, revision))
        if found is None or found.state != "published":
            return None
        key = (namespace, document_id)
        self.documents[key] = dataclasses.replace(self.documents[key], active_revision=revision)
        return 1

    async def hide(
        self, namespace: str, document_id: str, erasure_id: str
    ) -> ErasureReceipt | None:
        key = (namespace, document_id)
        if key not in self.documents:
            return None
        for (ns, _), receipt in self.receipts.items():
            if ns == namespace and receipt.document_id == document_id:
                return receipt
        self.documents[key] = dataclasses.replace(self.documents[key], state="erasing")
        receipt = ErasureReceipt(
            erasure_id=erasure_id,
            document_id=document_id,
            state="requested",
            requested_at=now(),
        )
        self.receipts[(namespace, erasure_id)] = receipt
        return receipt

    async def unfinished_erasures(self, older_than: float) -> list[tuple[str, ErasureReceipt, int]]:
        return [
            (ns, receipt, 1)
            for (ns, _), receipt in self.receipts.items()
            if receipt.state == "requested"
            and (now() - receipt.requested_at).total_seconds() > older_than
        ]

    async def erasure(self, namespace: str, erasure_id: str) -> ErasureReceipt | None:
        return self.receipts.get((namespace, erasure_id))


class FakeJobs:
    def __init__(self, documents: FakeDocuments) -> None:
        self.jobs: dict[str, JobRecord] = {}
        self.identities: dict[tuple[str, str], str] = {}
        self.lines: dict[str, list[JobEventRecord]] = {}
        self.seen: set[str] = set()
        self.documents = documents

    def change(self, job_id: str, **fields: Any) -> JobRecord:
        self.jobs[job_id] = dataclasses.replace(
            self.jobs[job_id], **{"updated_at": now(), **fields}
        )
        return self.jobs[job_id]

    async def admit(self, admission: Admission) -> Admitted:
        identity = (admission.namespace, admission.identity or "")
        if admission.identity and identity in self.identities:
            return Admitted(self.jobs[self.identities[identity]], "replayed")
        document_id = admission.document_id or new_id("doc")
        known = self.documents.documents.get((admission.namespace, document_id))
        if known is not None and known.state == "erasing":
            raise CallerFault(Code.CONFLICT, "the document is being erased", 409)
        earlier = await self.documents.revisions(admission.namespace, document_id)
        job = JobRecord(
            job_id=new_id("job"),
            namespace=admission.namespace,
            document_id=document_id,
            revision=len(earlier) + 1,
            revn=len(self.jobs) + 1,
            file_name=admission.file_name,
            media_type=admission.media_type,
            options=admission.options,
            state="waiting",
            stage="gateway",
            source=None,
            done=0,
            total=0,
            unit="stage",
            attempt=1,
            cancel_requested=False,
            error=None,
            timings={},
            announced=None,
            traceparent=admission.traceparent,
            created_at=now(),
            updated_at=now(),
        )
        self.jobs[job.job_id] = job
        if admission.identity:
            self.identities[identity] = job.job_id
        self.documents.ensure(job, admission.options)
        return Admitted(job, "new")

    async def source_stored(self, job_id: str, source: ArtefactRef) -> JobRecord:
        return self.change(job_id, source=source)

    async def unchanged(
        self, namespace: str, document_id: str, sha256: str, options: IngestOptions
    ) -> JobRecord | None:
        mine = [j for j in self.jobs.values() if j.namespace == namespace]
        newest = max(
            (j for j in mine if j.document_id == document_id),
            key=lambda j: j.revision,
            default=None,
        )
        if newest is None or newest.source is None or newest.source.sha256 != sha256:
            return None
        alive = newest.state in ("published", "waiting", "running")
        return newest if alive and newest.options == options else None

    async def discard(self, job_id: str) -> None:
        self.jobs.pop(job_id)

    async def release(
        self, per_namespace: int, limit: int, *, shards: int | None = None, shard_window: int = 1
    ) -> list[JobRecord]:
        released: list[JobRecord] = []
        for job in sorted(self.jobs.values(), key=lambda j: j.job_id):
            running = await self.count(job.namespace, "running")
            if job.state == "waiting" and job.source and running < per_namespace:
                released.append(self.change(job.job_id, state="running"))
        return released[:limit]

    async def count(self, namespace: str | None, state: JobState) -> int:
        return sum(
            j.state == state and namespace in (None, j.namespace) for j in self.jobs.values()
        )

    async def get(self, namespace: str | None, job_id: str) -> JobRecord | None:
        job = self.jobs.get(job_id)
        return job if job and namespace in (None, job.namespace) else None

    async def find(self, namespace: str, identity: str) -> JobRecord | None:
        return self.jobs.get(self.identities.get((namespace, identity), ""))

    async def select(
        self,
        namespace: str,
        *,
        state: JobState | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[JobRecord]:
        found = sorted(self.jobs.values(), key=lambda j: j.job_id, reverse=True)
        found = [j for j in found if j.namespace == namespace and state in (None, j.state)]
        return [j for j in found if before is None or j.job_id < before][:limit]

    async def record(self, entry: LedgerEntry) -> JobRecord | None:
        job = self.jobs.get(entry.job_id)
        if job is None or entry.event_id in self.seen:
            return None
        self.seen.add(entry.event_id)
        lines = self.lines.setdefault(entry.job_id, [])
        lines.append(JobEventRecord(len(lines) + 1, entry.event, entry.occurred_at))
        if job.state in TERMINAL:
            return None
        return self.change(
            entry.job_id,
            state=entry.state or job.state,
            stage=entry.stage,
            error=entry.error,
            attempt=entry.attempt,
            announced=entry.announced,
            **(
                {"done": entry.done, "total": entry.total, "unit": entry.unit}
                if entry.total
                else {}
            ),
        )

    async def history(self, job_id: str, after: int = 0) -> list[JobEventRecord]:
        return [line for line in self.lines.get(job_id, []) if line.sequence > after]

    async def followed(
        self, namespace: str, job_id: str, after: int
    ) -> tuple[JobRecord, list[JobEventRecord]] | None:
        job = await self.get(namespace, job_id)
        return None if job is None else (job, await self.history(job_id, after))

    async def request_cancel(self, namespace: str, job_id: str) -> JobRecord | None:
        job = await self.get(namespace, job_id)
        if job is None:
            return None
        if job.state == "waiting":
            return self.change(job_id, state="cancelled", cancel_requested=True)
        if job.state == "running":
            return self.change(job_id, cancel_requested=True)
        return job

    async def reopen(self, job_id: str) -> JobRecord | None:
        job = self.jobs.get(job_id)
        if job is None or job.state != "failed":
            return None
        return self.change(job_id, state="running", error=None, attempt=job.attempt + 1)

    async def unsourced(self, seconds: float, limit: int) -> list[JobRecord]:
        return [
            j
            for j in self.jobs.values()
            if j.state == "waiting"
            and j.source is None
            and (now() - j.created_at).total_seconds() > seconds
        ][:limit]

    async def alive(self, job_id: str) -> None:
        self.jobs[job_id] = dataclasses.replace(self.jobs[job_id], updated_at=now())

    async def quiet(self, seconds: float, limit: int) -> list[JobRecord]:
        return [
            j
            for j in self.jobs.values()
            if j.state == "running" and (now() - j.updated_at).total_seconds() > seconds
        ][:limit]

    async def failure(self, task: str, kind: str) -> int:
        self.seen.add(f"{task}:{kind}:{len(self.seen)}")
        return sum(s.startswith(f"{task}:{kind}:") for s in self.seen)


class EmptyStreams:
    """JetStream without a message."""

    async def get_msg(self, *_args: object, **_kwargs: object) -> None:
        raise NotFoundError

    get_last_msg = get_msg


class FakeBus:
    """Records what is said; answers requests by `answers`; `away` makes it fail."""

    prefix = "test"
    js = EmptyStreams()

    def __init__(self) -> None:
        self.events: list[JobEvent] = []
        self.published: list[tuple[Subject, Any, str | None, dict[str, str]]] = []
        self.answers: dict[str, Callable[[Any], BaseModel]] = {}
        self.away: Fault | None = None

    def _check(self) -> None:
        if self.away is not None:
            raise self.away

    async def announce(self, event: JobEvent) -> bool:
        self._check()
        self.events.append(event)
        return True

    async def fail(
        self, event: JobEvent, fault: Fault, *, dead_letter_id: str | None = None
    ) -> None:
        self._check()
        self.events.append(
            StageFailed(
                namespace=event.namespace,
                document_id=event.document_id,
                revision=event.revision,
                job_id=event.job_id,
                attempt=event.attempt,
                stage="gateway",
                code=fault.code,
                who=fault.who,
                detail=fault.detail,
                dead_letter_id=dead_letter_id,
            )
        )

    async def publish(
        self,
        subject: Subject,
        body: Any,
        *,
        message_id: str | None = None,
        headers: dict[str, str] | None = None,
        **tokens: str,
    ) -> None:
        self._check()
        self.published.append((subject, body, message_id, tokens))

    async def request(
        self, subject: Subject, body: Any, reply: type[BaseModel], *, timeout: float
    ) -> Any:
        self._check()
        return self.answers[subject.pattern](body)


class World:
    """Everything a test of the interface needs, in memory."""

    def __init__(self, bus: Any = None, **settings: Any) -> None:
        self.objects = FakeObjects()
        self.keys = FakeKeys()
        self.audit = FakeAudit()
        self.documents = FakeDocuments()
        self.jobs = FakeJobs(self.documents)
        self.bus = FakeBus()
        self.runs = SimpleNamespace()
        self.chunks = SimpleNamespace()
        catalog = SimpleNamespace(
            keys=self.keys,
            audit=self.audit,
            documents=self.documents,
            jobs=self.jobs,
            runs=self.runs,
            chunks=self.chunks,
        )
        self.settings = Settings(_env_file=None, upload_secret="s3cret", **settings)
        self.inbox = FakeObjects()
        stores = SimpleNamespace(objects=self.objects, catalog=catalog)
        self.deps = Deps(
            cast(Any, bus or self.bus), cast(Any, stores), self.settings, cast(Any, self.inbox)
        )
        self.app = create_app(self.deps)

    def client(self, namespace: str = "acme", role: Role | None = "writer") -> httpx.AsyncClient:
        """A client with a key of this namespace and role, or without a key."""
        headers = {}
        if role is not None:
            headers["Authorization"] = f"Bearer {self.keys.issue(namespace, role)}"
        return httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app, raise_app_exceptions=False),
            base_url="http://gateway",
            headers=headers,
        )


@cache
def schema() -> dict[str, Any]:
    """The OpenAPI document of any world, which takes most of a second to make."""
    return World().app.openapi()
