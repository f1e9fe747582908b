"""Which revisions and chunks a query may see: filters before assembly, pure."""

from collections.abc import Iterable

from libs.contracts.api.search import ExcludedSection, SearchFilters
from libs.contracts.artefacts import Chunk
from libs.runtime.catalog.documents import ActiveRevision


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
    stated = revision.metadata.model_dump()
    for name, value in wanted.items():
        have = stated.get(name)
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


def base_id(chunk_id: str) -> str:
    """A chunk id without the ordinal of a repeat: equal content has equal base ids."""
    return chunk_id.split("-", 1)[0]
