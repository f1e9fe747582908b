"""Makes what was deleted leave the disk.

A deleted document stays in its segment's files until the segment is merged, which for a
large one may be never. Tantivy drops a segment at the commit that leaves nothing alive in
it, and collects its files. So a segment with deletions is emptied: its living revisions
are deleted and written again, some at a time, each commit leaving readers what they had.

That costs in proportion to the living, so it waits for that long, unless the dead are many.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import orjson
import tantivy

from libs.runtime.index import queries
from libs.runtime.index.schema import origin_revision, revision_key, written_again

PURGE_SECONDS = 60.0
PURGE_SECONDS_PER_DOCUMENT = 0.02
DEAD_SHARE = 0.25
STEP_DOCUMENTS = 500


@dataclass(frozen=True)
class Segment:
    """A segment with deletions; `offset` counts the living in the segments before it."""

    id: str
    offset: int
    alive: int
    dead: int

    def patience(self) -> float:
        """How many seconds its deletions may stay."""
        if self.dead >= DEAD_SHARE * (self.alive + self.dead):
            return 0.0
        return max(PURGE_SECONDS, PURGE_SECONDS_PER_DOCUMENT * self.alive)


def dirty_segments(path: Path) -> list[Segment]:
    """Segments with deletions, as the last commit or merge in `path` left them."""
    try:
        meta = orjson.loads((path / "meta.json").read_bytes())
    except FileNotFoundError:
        return []
    found: list[Segment] = []
    offset = 0
    for entry in meta["segments"]:
        dead = (entry["deletes"] or {}).get("num_deleted_docs", 0)
        alive = entry["max_doc"] - dead
        if dead:
            found.append(Segment(entry["segment_id"], offset, alive, dead))
        offset += alive
    return found


class Purger:
    """Knows which segment is to be emptied when; used by the writer's thread alone."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._due: dict[str, float] = {}
        self._segments: list[Segment] = []

    def look(self) -> set[str]:
        """Take notice of the index as it is; returns the ids of segments with deletions."""
        self._segments = dirty_segments(self._path)
        now = self._clock()
        self._due = {
            s.id: min(now + s.patience(), self._due.get(s.id, float("inf"))) for s in self._segments
        }
        return set(self._due)

    def hurry(self) -> None:
        """What is deleted now is due now."""
        self._due = dict.fromkeys(self._due, self._clock())

    def put_off(self) -> None:
        """A step failed: begin to wait anew."""
        self._due = {s.id: self._clock() + PURGE_SECONDS for s in self._segments}

    def seconds(self) -> float | None:
        """How long until a segment is due; None when nothing is deleted."""
        if not self._due:
            return None
        return max(0.0, min(self._due.values()) - self._clock())

    def step(self, index: tantivy.Index, writer: tantivy.IndexWriter) -> None:
        """Write some revisions of the segment that is due first again, and commit."""
        segment = min(self._segments, key=lambda s: self._due[s.id])
        index.reload()
        searcher = index.searcher()
        living = searcher.search(
            tantivy.Query.all_query(),
            max(1, min(STEP_DOCUMENTS, segment.alive)),
            count=False,
            offset=segment.offset,
        )
        for namespace, revn in {origin_revision(searcher.doc(a)) for _, a in living.hits}:
            query = queries.revision(index.schema, namespace, revn)
            writer.delete_documents_by_term("revision", revision_key(namespace, revn))
            for address in queries.addresses(searcher, query):
                writer.add_document(written_again(index.schema, searcher.doc(address)))
        writer.commit()
        writer.garbage_collect_files()
