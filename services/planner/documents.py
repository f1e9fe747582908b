"""Metadata first: the documents that a question names, before anything is searched in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from libs.contracts.api.search import Evidence, PlanQuery
from libs.contracts.faults import WorldFault
from libs.contracts.query.documents import MAX_NAMES, DocumentsAnswer, DocumentsQuery
from libs.contracts.subjects import QUERY_DOCUMENTS
from libs.runtime.bus import Bus
from services.planner.analysis.references import codes, phrases
from services.planner.conversation.mentions import mentions
from services.planner.support import share_of, told_by

SECONDS = 0.25
LEAST_MILLISECONDS = 1000
"""What looking names up may take, which reads metadata alone; and the least time that a query
has for it to be done."""

HALF = 0.5
"""The share of a question's words that one piece of a named document has to hold: a document
that is named for another reason than that it answers holds fewer."""

_JOINT = re.compile(r"\s(?:and|or|vs\.?|versus)\s(?:the\s)?")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True)
class NamedDocuments:
    """The documents to look in first, none where names tell nothing; what a trace says of it."""

    document_ids: list[str] = field(default_factory=list)
    ambiguous: bool = False
    candidates: int = 0


def names_in(query: str) -> list[str]:
    """The names of a question, each once: codes and quoted titles, then projects, institutions
    and others; of two that are joined ("Ford and the Bank of Korea") each by itself."""
    parts = (part for mention in mentions(query) for part in _JOINT.split(mention.text))
    names = dict.fromkeys([*codes(query), *phrases(query), *parts])
    return [name for name in names if name][:MAX_NAMES]


async def named_documents(bus: Bus, query: PlanQuery) -> NamedDocuments:
    """What the names in a question stand for; nothing where it has none, where the request
    chose its documents itself or has no time, and where nobody answers: the search itself then
    says what is wrong."""
    request = query.request
    names = names_in(request.query)
    short = request.budget.milliseconds < LEAST_MILLISECONDS
    if not names or request.filters.document_ids or short:
        return NamedDocuments()
    years = set(_YEAR.findall(request.query))
    body = DocumentsQuery(
        namespace=query.namespace,
        names=names,
        year=int(years.pop()) if len(years) == 1 else None,
        filters=request.filters,
    )
    try:
        found = await bus.request(QUERY_DOCUMENTS, body, DocumentsAnswer, timeout=SECONDS)
    except WorldFault:
        return NamedDocuments()
    return NamedDocuments(found.document_ids, found.ambiguous, found.candidates)


def answers(query: str, evidence: Sequence[Evidence]) -> bool:
    """Whether what named documents hold is enough to look no further: one piece holds half of
    the question's words."""
    words = told_by(query)
    texts = (
        " ".join((piece.source_file_name, *piece.section_path, piece.content)) for piece in evidence
    )
    return any(share_of(words, text) >= HALF for text in texts)
