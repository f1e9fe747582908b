"""What is published of a collection of entries, as a page shows it. The choices are pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, islice, zip_longest

from libs.contracts.entries import (
    QUICK_QUERIES,
    CategoryView,
    CollectionView,
    Entry,
    records_document,
)
from libs.runtime.artefacts import load_chunks
from libs.runtime.catalog.documents import RevisionRecord
from libs.runtime.collections import load_settings
from services.gateway.deps import Deps


async def overview(deps: Deps, namespace: str, collection: str) -> CollectionView | None:
    """The collection; None when no entries of it are published."""
    documents = deps.stores.catalog.documents
    active = await documents.revision(namespace, records_document("entries", collection))
    if active is None:
        return None
    asked = await documents.revision(namespace, records_document("questions", collection))
    entries = await _records(deps, active)
    questions = await _records(deps, asked)
    settings = await load_settings(deps.stores.objects, namespace, collection)
    return CollectionView(
        collection=collection,
        revision=active.revision,
        entries=len(entries),
        questions=len(questions),
        categories=categories_of(entries),
        quick_queries=settings.quick_queries or quick_queries(entries, questions),
    )


def categories_of(entries: Iterable[Entry]) -> list[CategoryView]:
    """The categories by name, each with its number of entries; none for entries without one."""
    counts = Counter(entry.category for entry in entries if entry.category)
    return [CategoryView(name=name, entries=count) for name, count in sorted(counts.items())]


def quick_queries(entries: Sequence[Entry], questions: Iterable[Entry]) -> list[str]:
    """Queries worth a click: one sample question an entry, then names; both of each category in
    turn, what is looked for most first."""
    asked: dict[str, str] = {}
    for question in questions:
        asked.setdefault(question.id, question.name)
    groups: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda one: -one.search_count):
        groups[entry.category].append(entry)
    turns = chain.from_iterable(zip_longest(*groups.values()))
    ordered = [entry for entry in turns if entry is not None]
    texts = [asked[e.id] for e in ordered if e.id in asked]
    named = (entry.name for entry in ordered if entry.id not in asked)
    return list(islice(dict.fromkeys(chain(texts, named)), QUICK_QUERIES))


async def _records(deps: Deps, revision: RevisionRecord | None) -> list[Entry]:
    if revision is None or "chunks.json" not in revision.artefacts:
        return []
    chunks = await load_chunks(deps.stores.objects, revision.artefacts["chunks.json"])
    return [c.metadata.entry for c in chunks if c.metadata.entry is not None]
