"""What readers see: the flip of the active revision, rollback, the dense channel, the set."""

from typing import Any

import orjson
from sqlalchemy import Connection, Row, bindparam, select, update

from libs.contracts.api.ingest import DocumentMetadata
from libs.contracts.events.base import now
from libs.contracts.faults import Code, WorldFault
from libs.runtime.catalog.documents import ActiveRevision, ActiveSet, Flip, FlipOutcome
from libs.runtime.catalog.sql.database import upsert
from libs.runtime.catalog.sql.metadata import effective, overlaid
from libs.runtime.catalog.sql.records import (
    dump,
    dump_model,
    dump_refs,
    load_metadata,
    load_options,
)
from libs.runtime.catalog.sql.schema import (
    active,
    document,
    document_key,
    job,
    namespace,
    of_document,
    revision,
    same_document,
    this_document,
)

_AT_ONCE = 500
"""Revisions named in one statement."""
_VERSION = select(namespace.c.corpus_version).where(namespace.c.name == bindparam("namespace"))
_ACTIVE_SET = (
    select(
        namespace.c.corpus_version,
        active.c.revn,
        active.c.document_id,
        active.c.revision,
        active.c.file_name,
        active.c.collection,
        active.c.format,
        active.c.metadata,
        active.c.chunk_count,
        active.c.dense_model,
    )
    .outerjoin(active, active.c.namespace == namespace.c.name)
    .where(namespace.c.name == bindparam("namespace"))
    .order_by(active.c.document_id)
)
_RAISE = (
    update(namespace)
    .where(namespace.c.name == bindparam("this"))
    .values(corpus_version=namespace.c.corpus_version + 1)
    .returning(namespace.c.corpus_version)
)
_TO_FLIP = (
    select(
        document.c.state.label("document_state"),
        document.c.highest_published,
        document.c.metadata,
        document.c.metadata_at,
        revision,
        job.c.state.label("job_state"),
        job.c.cancel_requested,
        job.c.options,
        job.c.created_at.label("admitted_at"),
    )
    .join(document, same_document(document, revision))
    .outerjoin(job, job.c.job_id == revision.c.job_id)
    .where(this_document(revision), revision.c.revision == bindparam("this"))
)
_CHANGE_REVISION = update(revision).where(revision.c.revn == bindparam("this")).returning(revision)
_CHANGE_DOCUMENT = update(document).where(this_document(document))
_INSERT_ACTIVE = upsert(active)
_SHOW = _INSERT_ACTIVE.on_conflict_do_update(
    index_elements=list(active.primary_key),
    set_={
        column.name: _INSERT_ACTIVE.excluded[column.name]
        for column in active.c
        if not column.primary_key
    },
)


def corpus_version(connection: Connection, name: str) -> int:
    """See `DocumentStore.corpus_version`."""
    return connection.execute(_VERSION, {"namespace": name}).scalar_one_or_none() or 0


def raise_version(connection: Connection, name: str) -> int:
    """Say that what search may return has changed; the new corpus version."""
    return int(connection.execute(_RAISE, {"this": name}).scalar_one())


def active_set(connection: Connection, name: str) -> ActiveSet:
    """See `DocumentStore.active_set`: one statement, so that it is one view."""
    rows = connection.execute(_ACTIVE_SET, {"namespace": name}).all()
    known: dict[str, DocumentMetadata] = {}
    revisions = []
    for _, revn, document_id, number, file_name, collection, kind, text, count, model in rows:
        if revn is None:
            continue
        metadata = known.get(text)
        if metadata is None:
            metadata = known[text] = load_metadata(text)
        revisions.append(
            ActiveRevision(
                revn, document_id, number, file_name, collection, kind, metadata, count, model
            )
        )
    return ActiveSet(rows[0].corpus_version if rows else 0, tuple(revisions))


def flip(connection: Connection, wanted: Flip) -> tuple[FlipOutcome, int]:
    """See `DocumentStore.flip`."""
    key = document_key(wanted.namespace, wanted.document_id)
    row = connection.execute(_TO_FLIP, {**key, "this": wanted.revision}).first()
    refusal = _refusal(row, wanted)
    if row is None or refusal is not None:
        return refusal or "erased", corpus_version(connection, wanted.namespace)
    if row.stage_token is not None or wanted.expected_digest not in (None, row.chunk_digest):
        raise WorldFault(
            Code.STORE_AWAY, f"another attempt has staged revision {row.revn} anew: prove it again"
        )
    return "flipped", _publish(connection, row, wanted)


def _refusal(row: Row[Any] | None, wanted: Flip) -> FlipOutcome | None:
    """Why the flip may not happen; the order is the port's, what is erased foremost."""
    if row is None or row.document_state in ("erasing", "erased"):
        return "erased"
    ours = row.job_id == wanted.job_id and row.job_state is not None
    if not ours or row.cancel_requested or row.job_state == "cancelled":
        return "cancelled"
    if row.job_state == "failed" and row.state != "published":
        return "cancelled"
    if row.highest_published > wanted.revision or row.state in ("superseded", "collected"):
        return "superseded"
    return "already" if row.state == "published" else None


def _publish(connection: Connection, row: Row[Any], wanted: Flip) -> int:
    stated = load_metadata(row.metadata)
    if row.metadata_at is None or row.metadata_at <= row.admitted_at:
        stated = overlaid(stated, load_options(row.options).metadata)
    published = connection.execute(
        _CHANGE_REVISION,
        {
            "this": row.revn,
            "state": "published",
            "format": wanted.format,
            "counts": dump(wanted.counts),
            "inferred": dump(wanted.inferred),
            "artefacts": dump_refs(wanted.artefacts),
            "dense_model": wanted.dense_model or row.dense_model,
            "published_at": now(),
        },
    ).one()
    return _show(connection, published, stated, highest_published=wanted.revision)


def _show(connection: Connection, shown: Row[Any], stated: DocumentMetadata, **changes: Any) -> int:
    """Make a published revision the one that readers see; the corpus version."""
    connection.execute(
        _CHANGE_DOCUMENT,
        {
            **document_key(shown.namespace, shown.document_id),
            "state": "active",
            "active_revision": shown.revision,
            "file_name": shown.file_name,
            "collection": shown.collection,
            "metadata": dump_model(stated),
            "inferred": shown.inferred,
            "updated_at": now(),
            **changes,
        },
    )
    put_active(connection, shown, stated)
    return raise_version(connection, shown.namespace)


def put_active(connection: Connection, shown: Row[Any], stated: DocumentMetadata) -> None:
    """Make a revision the one of its document in the active set."""
    connection.execute(
        _SHOW,
        {
            "namespace": shown.namespace,
            "document_id": shown.document_id,
            "revn": shown.revn,
            "revision": shown.revision,
            "file_name": shown.file_name,
            "collection": shown.collection,
            "format": shown.format,
            "metadata": dump_model(effective(stated, orjson.loads(shown.inferred))),
            "chunk_count": shown.chunk_count,
            "dense_model": shown.dense_model,
        },
    )


def activate(connection: Connection, name: str, document_id: str, number: int) -> int | None:
    """See `DocumentStore.activate`."""
    row = connection.execute(
        select(document.c.active_revision, document.c.metadata, revision)
        .join(document, same_document(document, revision))
        .where(
            of_document(document, name, document_id),
            document.c.state == "active",
            revision.c.revision == number,
            revision.c.state == "published",
        )
    ).first()
    if row is None:
        return None
    if row.active_revision == number:
        return corpus_version(connection, name)
    return _show(connection, row, load_metadata(row.metadata))


def set_dense(connection: Connection, name: str, document_id: str, number: int, model: str) -> int:
    """See `DocumentStore.set_dense`; the version rises only when readers see the change."""
    revn = connection.execute(
        update(revision)
        .where(
            of_document(revision, name, document_id),
            revision.c.revision == number,
            revision.c.state.in_(("accepted", "staged", "published")),
        )
        .values(dense_model=model)
        .returning(revision.c.revn)
    ).scalar_one_or_none()
    seen = connection.execute(
        update(active)
        .where(
            of_document(active, name, document_id),
            active.c.revn == revn,
            active.c.dense_model.is_distinct_from(model),
        )
        .values(dense_model=model)
    )
    return raise_version(connection, name) if seen.rowcount else corpus_version(connection, name)


def switch_dense(connection: Connection, name: str, revns: list[int], model: str) -> int:
    """See `DocumentStore.switch_dense`."""
    seen = 0
    for start in range(0, len(revns), _AT_ONCE):
        some = revns[start : start + _AT_ONCE]
        for table in (revision, active):
            changed = connection.execute(
                update(table)
                .where(
                    table.c.namespace == name,
                    table.c.revn.in_(some),
                    table.c.dense_model.is_distinct_from(model),
                )
                .values(dense_model=model)
            )
            seen += changed.rowcount if table is active else 0
    return raise_version(connection, name) if seen else corpus_version(connection, name)


def set_metadata(
    connection: Connection, name: str, document_id: str, metadata: DocumentMetadata
) -> Row[Any] | None:
    """See `DocumentStore.set_metadata`; the row afterwards."""
    moment = now()
    changed = connection.execute(
        update(document)
        .where(
            of_document(document, name, document_id),
            document.c.state.not_in(("erasing", "erased")),
        )
        .values(metadata=dump_model(metadata), metadata_at=moment, updated_at=moment)
        .returning(document)
    ).first()
    if changed is None:
        return None
    seen = connection.execute(
        update(active)
        .where(of_document(active, name, document_id))
        .values(metadata=dump_model(effective(metadata, orjson.loads(changed.inferred))))
    )
    if seen.rowcount:
        raise_version(connection, name)
    return changed
