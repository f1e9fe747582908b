"""The four artefacts of a revision that the chunker writes: all from rows, nothing else."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from libs.contracts.artefacts.chunk import Chunks, digest_ids
from libs.contracts.artefacts.manifest import (
    Hierarchy,
    HierarchyNode,
    Manifest,
    SourceInfo,
    Statistics,
)
from libs.contracts.artefacts.nav import DocNav, NavResource, NavSection
from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.rows import Row
from libs.contracts.base import Contract
from libs.contracts.entries import Entry, RecordRules
from libs.contracts.faults import Code, DocumentFault
from libs.runtime.chunkfile import ChunkWriter
from services.chunker.build import Note, SectionChunks, build_chunks
from services.chunker.cut import Sizes
from services.chunker.entries import build_entries
from services.chunker.keywords import CHUNK_KEYWORDS, DOCUMENT_KEYWORDS, top, weigh
from services.chunker.summary import SUMMARY_CHARACTERS, best_sentence
from services.chunker.text import CountMany, shorten
from services.chunker.tree import Section, build_tree, document_title, visible

TITLE_WEIGHT = 3
"""A word of a heading counts like so many in the text when keywords of a document are chosen."""


@dataclass(frozen=True)
class Made:
    """How the rows were made and are to be cut, as the manifest records it."""

    document_id: str
    revision: int
    engine: str
    versions: Mapping[str, str]
    sizes: Sizes


@dataclass(frozen=True)
class Artefacts:
    """What a revision is found and read by; `chunk_pieces` are the bytes of `chunks.json`."""

    chunk_pieces: list[bytes]
    nav: DocNav
    manifest: Manifest
    hierarchy: Hierarchy

    @cached_property
    def chunks(self) -> Chunks:
        """The chunks, all in memory."""
        return Chunks.model_validate_json(b"".join(self.chunk_pieces))

    def files(self) -> dict[str, Contract]:
        """The artefacts beside `chunks.json` by their name inside the revision."""
        return {
            "doc_nav.json": self.nav,
            "manifest.json": self.manifest,
            "hierarchy.json": self.hierarchy,
        }


def build_artefacts(
    profile: Profile,
    rows: Sequence[Row],
    made: Made,
    count_many: CountMany,
    asset_hashes: Mapping[str, str],
) -> Artefacts:
    """Chunks, navigation, manifest and hierarchy of a document: equal input, equal output.

    Raises `DocumentFault(NO_CONTENT)` when nothing in the rows can be retrieved.
    """
    seen = visible(rows)
    writer = ChunkWriter()
    root = build_tree(seen, document_title(seen, profile.title, profile.file_name))
    sections = build_chunks(
        root, count_many, made.sizes, asset_hashes, profile.language, writer.add
    )
    return _artefacts(profile, len(rows), made, writer, sections)


def build_records(
    profile: Profile, entries: Sequence[Entry], made: Made, count_many: CountMany
) -> Artefacts:
    """The same of a document of records: a chunk an entry, a section a category.

    Raises `DocumentFault(NO_CONTENT)` when no entry is left.
    """
    rules = profile.records or RecordRules()
    writer = ChunkWriter()
    title = profile.title or profile.file_name
    sections = build_entries(title, entries, rules.kind, count_many, writer.add)
    if not entries:
        raise DocumentFault(
            Code.NO_CONTENT,
            "the upload leaves nothing in the collection: delete its document instead",
        )
    return _artefacts(profile, len(entries), made, writer, sections)


def _artefacts(
    profile: Profile,
    rows: int,
    made: Made,
    writer: ChunkWriter,
    sections: Sequence[SectionChunks],
) -> Artefacts:
    root = sections[0].section
    notes = [note for section in sections for note in section.notes]
    if not notes:
        raise DocumentFault(
            Code.NO_CONTENT,
            "the file holds no visible text, table or image: send one that does, or a scan "
            "with an OCR engine configured",
        )
    keywords = _document_keywords(sections)
    nav = _nav(profile, made, sections, keywords)
    hierarchy = Hierarchy(title=root.title, children=_hierarchy(root))
    manifest = Manifest(
        document_id=made.document_id,
        revision=made.revision,
        source=_source(profile),
        statistics=_statistics(rows, notes, sections),
        engine=made.engine,
        versions=dict(sorted(made.versions.items())),
        options={
            "chunk_target_tokens": str(made.sizes.target),
            "chunk_max_tokens": str(made.sizes.limit),
        },
        keywords=keywords,
        chunk_digest=digest_ids(note.chunk_id for note in notes),
        HIERARCHY=hierarchy,
    )
    return Artefacts(writer.pieces(), nav, manifest, hierarchy)


def _document_keywords(sections: Sequence[SectionChunks]) -> list[str]:
    total: Counter[str] = Counter()
    for section in sections:
        total.update(section.weights)
        for word, weight in weigh(section.section.title).items():
            total[word] += TITLE_WEIGHT * weight
    return top(total, DOCUMENT_KEYWORDS)


def _nav(
    profile: Profile, made: Made, sections: Sequence[SectionChunks], keywords: Sequence[str]
) -> DocNav:
    by_section = {id(s.section): (order, s) for order, s in enumerate(sections)}
    repeats: Counter[str] = Counter()
    root = _nav_section(sections[0].section, by_section, repeats)
    texts = (text for section in sections for text in section.texts)
    return DocNav(
        document_id=made.document_id,
        file_name=profile.file_name,
        title=root.title,
        summary=best_sentence(texts, keywords) or root.summary,
        root=root,
    )


def _nav_section(
    section: Section, by_section: Mapping[int, tuple[int, SectionChunks]], repeats: Counter[str]
) -> NavSection:
    order, own = by_section[id(section)]
    section_id = _section_id(section, repeats)
    children = [_nav_section(child, by_section, repeats) for child in section.children]
    heading_page = [section.heading.page] if section.heading and section.heading.page else []
    pages = {*heading_page, *(page for note in own.notes for page in note.page_numbers)}
    return NavSection(
        section_id=section_id,
        title=section.title,
        path=list(section.path),
        level=section.level,
        order=order,
        summary=_summary(own, children),
        evidence=section.heading.evidence if section.heading else None,
        page_numbers=sorted(pages),
        chunk_ids=[note.chunk_id for note in own.notes],
        chunk_count=len(own.notes),
        total_chunk_count=len(own.notes) + sum(c.total_chunk_count for c in children),
        resources=[_resource(note) for note in own.notes if note.type != "text"],
        children=children,
    )


def _section_id(section: Section, repeats: Counter[str]) -> str:
    """A hash of the heading path, so that it holds across revisions; repeats count up."""
    if not section.path:
        return "root"
    base = "s" + hashlib.sha256("\x1f".join(section.path).encode()).hexdigest()[:16]
    repeats[base] += 1
    return base + (f"-{repeats[base]}" if repeats[base] > 1 else "")


def _summary(own: SectionChunks, children: Sequence[NavSection]) -> str:
    """The section's best sentence, else its first asset's, else what its children are called."""
    keywords = top(own.weights, CHUNK_KEYWORDS)
    best = best_sentence(own.texts, keywords)
    assets = (note.summary for note in own.notes)
    titles = shorten("; ".join(child.title for child in children), SUMMARY_CHARACTERS)
    return best or next(filter(None, assets), "") or titles


def _resource(note: Note) -> NavResource:
    return NavResource(
        chunk_id=note.chunk_id,
        type="image" if note.type == "image" else "table",
        title=note.title,
        file_path=note.file_path,
    )


def _hierarchy(section: Section) -> list[HierarchyNode]:
    return [
        HierarchyNode(title=child.title, level=child.level, children=_hierarchy(child))
        for child in section.children
    ]


def _source(profile: Profile) -> SourceInfo:
    return SourceInfo(
        file_name=profile.file_name,
        media_type=profile.media_type,
        format=profile.format,
        size=profile.size,
        sha256=profile.sha256,
        language=profile.language,
        page_count=profile.page_count,
        kind=profile.kind,
    )


def _statistics(rows: int, notes: Sequence[Note], sections: Sequence[SectionChunks]) -> Statistics:
    types = Counter(note.type for note in notes)
    return Statistics(
        rows=rows,
        chunks=len(notes),
        text_chunks=types["text"],
        image_chunks=types["image"],
        table_chunks=types["table"],
        sections=len(sections) - 1,
        tokens=sum(note.tokens for note in notes),
        characters=sum(note.length for note in notes),
    )
