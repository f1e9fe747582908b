"""Writes the lexical channels: one thread, which gathers what waits into one commit."""

import queue
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

import tantivy

from libs.contracts.faults import Code, WorldFault
from libs.runtime.index import queries
from libs.runtime.index.port import IndexDocument
from libs.runtime.index.purge import Purger
from libs.runtime.index.schema import open_folder, revision_key, to_document
from libs.runtime.telemetry import logger

LOCK_SECONDS = 10.0
HEAP_BYTES = 64_000_000
MAX_GROUP = 64
_LOCK_POLL_SECONDS = 0.05

_Made = dict[int, list[tantivy.Document]]
log = logger("index")


@dataclass
class Change:
    """Revisions of a namespace and the documents that each shall have, none to remove it;
    with `append`, those that it shall have beside what it has.

    The result is how many documents the revisions had before.
    """

    namespace: str
    revisions: dict[int, list[IndexDocument]]
    append: bool = False
    future: "Future[int]" = field(default_factory=Future)


@dataclass
class _Purge:
    """Until `segments` are gone; None before they are known."""

    segments: set[str] | None = None
    future: "Future[int]" = field(default_factory=Future)


class LexicalWriter:
    """The one writer of the index in `path`, opened with the first change.

    Futures fail with `WorldFault(STORE_AWAY)` when the index cannot be written, with
    `ValueError` for documents that do not fit the schema.
    """

    def __init__(self, path: Path, *, lock_seconds: float = LOCK_SECONDS) -> None:
        self._path = path
        self._lock_seconds = lock_seconds
        self._requests: queue.SimpleQueue[Change | _Purge | None] = queue.SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._index: tantivy.Index | None = None
        self._writer: tantivy.IndexWriter | None = None
        self._purger = Purger(path)
        self._purges: list[_Purge] = []

    def write(self, namespace: str, revn: int, documents: list[IndexDocument]) -> "Future[int]":
        """Make the revision's documents exactly these."""
        return self._submit(Change(namespace, {revn: documents}))

    def append(self, namespace: str, revn: int, documents: list[IndexDocument]) -> "Future[int]":
        """Add documents to the revision's."""
        return self._submit(Change(namespace, {revn: documents}, append=True))

    def remove(self, namespace: str, revns: list[int]) -> "Future[int]":
        """Remove revisions; the result counts their documents."""
        return self._submit(Change(namespace, {revn: [] for revn in revns}))

    def purge(self) -> "Future[int]":
        """Make all that was deleted before leave the disk now."""
        return self._submit(_Purge())

    def close(self) -> None:
        """Finish what was submitted, end the thread, free the lock; blocks meanwhile."""
        with self._starting:
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._requests.put(None)
            thread.join()

    def _submit(self, request: Change | _Purge) -> "Future[int]":
        with self._starting:
            if self._closed:
                raise RuntimeError("the index is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="index-writer", daemon=True)
                self._thread.start()
            self._requests.put(request)
        return request.future

    def _run(self) -> None:
        while (group := self._next_group()) is not None:
            wanted = [r for r in group if r.future.set_running_or_notify_cancel()]
            self._purges += [r for r in wanted if isinstance(r, _Purge)]
            if changes := [r for r in wanted if isinstance(r, Change)]:
                self._commit(changes)
            self._purge(step=not group)
        self._end_purges(WorldFault(Code.STORE_AWAY, "the index was closed before it was purged"))
        self._writer = None
        self._index = None

    def _next_group(self) -> list[Change | _Purge] | None:
        """All that waits, at most `MAX_GROUP`; nothing when it is time to purge; None at the
        end."""
        try:
            first = self._requests.get(timeout=self._purger.seconds())
        except queue.Empty:
            return []
        group: list[Change | _Purge] = []
        while first is not None:
            group.append(first)
            if len(group) == MAX_GROUP or self._requests.empty():
                return group
            first = self._requests.get()
        if group:
            self._requests.put(None)
            return group
        return None

    def _commit(self, changes: list[Change]) -> None:
        """Apply `changes` in one commit; when that fails, each in its own, so that a change
        fails alone."""
        try:
            index, _ = self._open()
        except WorldFault as fault:
            for change in changes:
                change.future.set_exception(fault)
            return
        prepared = [(c, made) for c in changes if (made := _prepare(index.schema, c)) is not None]
        if not prepared:
            return
        try:
            results = self._apply(prepared)
        except BaseException as error:  # a panic of the engine is no Exception
            self._roll_back()
            if len(prepared) > 1:
                for change, _ in prepared:
                    self._commit([change])
            else:
                prepared[0][0].future.set_exception(self._fault(error))
        else:
            for (change, _), result in zip(prepared, results, strict=True):
                change.future.set_result(result)

    def _apply(self, prepared: list[tuple[Change, _Made]]) -> list[int]:
        """Commit, unless nothing changes; returns the result of each change."""
        index, writer = self._open()
        index.reload()
        searcher = index.searcher()
        held: dict[tuple[str, int], int] = {}
        results = []
        changed = False
        for change, revisions in prepared:
            before = 0
            for revn, documents in revisions.items():
                key = (change.namespace, revn)
                if key not in held:
                    held[key] = queries.count(searcher, queries.revision(index.schema, *key))
                before += held[key]
                gone = 0 if change.append else held[key]
                changed = changed or bool(gone or documents)
                held[key] += len(documents) - gone
                if not change.append:
                    writer.delete_documents_by_term("revision", revision_key(*key))
                for document in documents:
                    writer.add_document(document)
            results.append(before)
        if changed:
            writer.commit()
        return results

    def _purge(self, *, step: bool) -> None:
        """Notice what is deleted, empty a segment a little when `step`, and answer those who
        wait for it."""
        try:
            if step:
                self._purger.step(*self._open())
            dirty = self._purger.look()
        except BaseException as error:  # a panic of the engine is no Exception
            log.warning("purge failed", error=type(error).__name__)
            self._roll_back()
            self._purger.put_off()
            self._end_purges(self._fault(error))
            return
        for purge in self._purges:
            if purge.segments is None:
                purge.segments = dirty
                self._purger.hurry()
            if not purge.segments & dirty:
                purge.future.set_result(0)
        self._purges = [p for p in self._purges if not p.future.done()]

    def _end_purges(self, fault: WorldFault) -> None:
        waiting, self._purges = self._purges, []
        for purge in waiting:
            purge.future.set_exception(fault)

    def _open(self) -> tuple[tantivy.Index, tantivy.IndexWriter]:
        """The index and its writer; waits a while for the lock of a writer that ends."""
        deadline = time.monotonic() + self._lock_seconds
        while self._index is None or self._writer is None:
            try:
                self._index = open_folder(self._path, create=True)
                self._writer = self._index.writer(HEAP_BYTES, 1)
            except (OSError, ValueError) as error:
                busy = "LockBusy" in str(error)
                if busy and time.monotonic() < deadline:
                    time.sleep(_LOCK_POLL_SECONDS)
                    continue
                why = "another process is writing it" if busy else "it cannot be opened"
                raise WorldFault(
                    Code.STORE_AWAY, f"the search index in {self._path} cannot be written: {why}"
                ) from error
        return self._index, self._writer

    def _roll_back(self) -> None:
        """Forget what is not committed; a failed commit otherwise swallows later ones."""
        try:
            if self._writer is not None:
                self._writer.rollback()
        except BaseException:  # a panic of the engine is no Exception
            self._writer = None

    def _fault(self, error: BaseException) -> WorldFault:
        if isinstance(error, WorldFault):
            return error
        fault = WorldFault(
            Code.STORE_AWAY,
            f"the search index in {self._path} could not be written: {type(error).__name__}",
        )
        fault.__cause__ = error
        return fault


def _prepare(schema: tantivy.Schema, change: Change) -> _Made | None:
    """The change's documents as the schema wants them; None when the change has failed."""
    try:
        return {
            revn: [to_document(schema, change.namespace, revn, d) for d in documents]
            for revn, documents in change.revisions.items()
        }
    except Exception as error:
        change.future.set_exception(error)
        return None
