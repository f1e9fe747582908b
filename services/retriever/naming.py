"""Documents by what their file names and tags say.

A name stands for a document when its words, joined, are words in a row of the file name or of
a tag, joined: `HP-350` is in `pump-hp350.md`, `하늘 프로젝트` in `하늘프로젝트_보고서.pdf`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from libs.contracts.query.documents import MAX_DOCUMENTS, DocumentsAnswer, DocumentsQuery
from libs.runtime.catalog.documents import ActiveRevision
from libs.runtime.index.port import LexicalQuery, Scope
from libs.runtime.index.tokenizer import tokenize
from services.retriever.retrieve import Retriever

MIN_CHARS = 3
LONGEST = 6
MOST_WORDS = 40
"""Words of a file name that are taken together, and that are looked at."""
MOST_SHARE = 0.5
"""A name of more documents than this share of all tells nothing."""

FEW = 500
LOOKED_AT = 400
"""Documents that are read one by one, and hits of the path channel where they are more."""

_WORD = re.compile(r"[^\W_]+")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True)
class Named:
    """The revisions that names stand for."""

    revisions: list[ActiveRevision] = field(default_factory=list)
    ambiguous: bool = False
    candidates: int = 0


def joined(text: str) -> str:
    """The words of a name, case-folded and joined."""
    return "".join(_WORD.findall(text.casefold()))


@lru_cache(maxsize=4096)
def runs(text: str) -> frozenset[str]:
    """All runs of words of a text, joined."""
    words = _WORD.findall(text.casefold())[:MOST_WORDS]
    return frozenset(
        "".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(len(words), start + LONGEST) + 1)
    )


def named(
    revisions: Iterable[ActiveRevision], names: Iterable[str], year: int | None, total: int
) -> Named:
    """Those of the revisions that carry one of the names; of those of one name the ones of the
    year, where there are any. `total` is how many there are in all."""
    keys = [key for key in dict.fromkeys(map(joined, names)) if _tells(key)]
    carrying: dict[str, list[ActiveRevision]] = {key: [] for key in keys}
    for revision in revisions:
        stem = revision.file_name.rsplit(".", 1)[0]
        held = [runs(text) for text in (stem, *revision.metadata.tags)]
        for key in keys:
            if any(key in some for some in held):
                carrying[key].append(revision)
    found: dict[int, ActiveRevision] = {}
    ambiguous = False
    for some in carrying.values():
        kept = [r for r in some if year is not None and year in _years(r)] or some
        if len(kept) > min(MAX_DOCUMENTS, MOST_SHARE * total):
            continue
        ambiguous |= len(kept) > 1
        found.update((r.revn, r) for r in kept)
    candidates = len({r.revn for some in carrying.values() for r in some})
    chosen = list(found.values()) if len(found) <= MAX_DOCUMENTS else []
    return Named(chosen, ambiguous and bool(chosen), candidates)


def _tells(key: str) -> bool:
    return len(key) >= (MIN_CHARS if key.isascii() else 2)


def _years(revision: ActiveRevision) -> set[int]:
    said = {int(year) for year in _YEAR.findall(revision.file_name)}
    return said | ({revision.metadata.year} if revision.metadata.year else set())


class Resolver:
    """Answers `query.documents`: reads the metadata of all documents where they are few, else of
    those that the path channel finds by the names."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def documents(self, query: DocumentsQuery) -> DocumentsAnswer:
        """The documents that the names stand for."""
        whole = await self._retriever.corpus(query.namespace)
        corpus = whole.within(query.filters)
        candidates: Iterable[ActiveRevision] = corpus.revisions
        if len(corpus.revisions) > FEW:
            words = LexicalQuery([token for name in query.names for token in tokenize(name)])
            scope = Scope(query.namespace, corpus.revns)
            hits = await self._retriever.index.search("path", words, scope, LOOKED_AT)
            candidates = [corpus.by_revn[revn] for revn in dict.fromkeys(h.revn for h in hits)]
        found = named(candidates, query.names, query.year, len(corpus.revisions))
        return DocumentsAnswer(
            corpus_version=whole.version,
            document_ids=[r.document_id for r in found.revisions],
            ambiguous=found.ambiguous,
            candidates=found.candidates,
        )
