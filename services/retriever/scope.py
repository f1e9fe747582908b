"""Which revisions and chunks a query may see: filters before assembly, pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from libs.contracts.api.search import ExcludedSection, SearchFilters
from libs.contracts.artefacts import Chunk
from libs.contracts.entries import RECORD_FORMAT
from libs.runtime.catalog.documents import ActiveRevision, ActiveSet

_OF_CHUNKS = {"chunk_types", "exclude_sections"}
_UNFILTERED = SearchFilters().model_dump(exclude=_OF_CHUNKS)


@dataclass(frozen=True)
class Corpus:
    """The revisions that queries may see, with what is derived from them once for all of
    these queries; `model` is the embedder's. `records` are those of entries and their sample
    questions, which are searched by collection alone. `most_dense` is the most that the dense
    channel may count in a collection, where that was measured."""

    version: int
    revisions: list[ActiveRevision]
    model: str | None
    records: tuple[ActiveRevision, ...] = ()
    most_dense: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def by_revn(self) -> dict[int, ActiveRevision]:
        """The revisions by their number."""
        return {r.revn: r for r in self.revisions}

    @cached_property
    def revns(self) -> frozenset[int]:
        """Their numbers."""
        return frozenset(self.by_revn)

    @cached_property
    def dense(self) -> frozenset[int]:
        """The numbers of those whose vectors of this model are complete."""
        if self.model is None:
            return frozenset()
        return frozenset(r.revn for r in self.revisions if r.dense_model == self.model)

    def dense_shares(self, most: float, revns: Iterable[int]) -> dict[int, float]:
        """How much the dense channel counts, `most` or less, in those of these revisions whose
        vectors are complete."""
        limits = self.most_dense
        return {
            revn: min(most, limits.get(self.by_revn[revn].collection, 1.0))
            for revn in revns
            if revn in self.dense
        }

    @cached_property
    def chunk_count(self) -> int:
        """How many chunks they hold."""
        return sum(r.chunk_count for r in self.revisions)

    def within(self, filters: SearchFilters) -> "Corpus":
        """What the document-level filters leave; itself when there are none."""
        if filters.model_dump(exclude=_OF_CHUNKS) == _UNFILTERED:
            return self
        return self.of(in_scope(self.revisions, filters))

    def of(self, revisions: list[ActiveRevision]) -> "Corpus":
        """Some of its revisions, as a corpus of their own."""
        return Corpus(self.version, revisions, self.model, most_dense=self.most_dense)


def corpus_of(
    active: ActiveSet, model: str | None, most_dense: Mapping[str, float] | None = None
) -> Corpus:
    """All that is active; records apart."""
    records = tuple(r for r in active.revisions if r.format == RECORD_FORMAT)
    documents = [r for r in active.revisions if r.format != RECORD_FORMAT]
    return Corpus(active.corpus_version, documents, model, records, most_dense or {})


def in_scope(revisions: Iterable[ActiveRevision], filters: SearchFilters) -> list[ActiveRevision]:
    """The active revisions that satisfy every document-level filter."""
    wanted, unwanted = set(filters.document_ids), set(filters.exclude_document_ids)
    collections, formats = set(filters.collections), set(filters.file_formats)
    return [
        r
        for r in revisions
        if (not wanted or r.document_id in wanted)
        and r.document_id not in unwanted
        and (not collections or r.collection in collections)
        and (not formats or r.format in formats)
        and (filters.year is None or r.metadata.year == filters.year)
        and _metadata_holds(r, filters.metadata)
    ]


def _metadata_holds(revision: ActiveRevision, wanted: dict[str, str | int | list[str]]) -> bool:
    for name, value in wanted.items():
        known = name in type(revision.metadata).model_fields
        have = getattr(revision.metadata, name) if known else None
        options = value if isinstance(value, list) else [value]
        if isinstance(have, list):
            if not set(options) <= set(have):
                return False
        elif have not in options:
            return False
    return True


def is_excluded(document_id: str, chunk: Chunk, sections: Iterable[ExcludedSection]) -> bool:
    """Whether the chunk lies in, or below, an excluded section."""
    return any(
        s.document_id == document_id and chunk.path[: len(s.section_path)] == s.section_path
        for s in sections
    )


def is_allowed(document_id: str, chunk: Chunk, filters: SearchFilters) -> bool:
    """Whether the chunk is of a wanted type and in no excluded section."""
    wanted = not filters.chunk_types or chunk.type in filters.chunk_types
    return wanted and not is_excluded(document_id, chunk, filters.exclude_sections)
