"""A question resolved against its conversation: rewritten, left alone, or declared unclear.

Confidence: 1.0 for a question that stands alone; .9 for one thing that the last user turn named;
.1 less for every turn in between and for a name that only an answer brought; .2 less where
nothing points back but something is left out. One thing meant among n that are equally near is
.8 / n. Below the threshold nothing is guessed.

A question that names another thing or time and asks nothing of it ("and in 2023?") asks what was
asked before: those words stand before it too. Without any name they do where both times are
named (.85) or where they are several (.7).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from libs.contracts.api.search import SearchRequest
from libs.contracts.query.text import MAX_QUERY_CHARS
from libs.contracts.trace import QueryRewrite
from services.planner.conversation.asking import Asked, asked_in, leaves_out
from services.planner.conversation.mentions import Mention, mentions
from services.planner.conversation.reference import Reference, reference_in
from services.planner.conversation.state import Spoken, State, state_of

MAX_NAMED = 4
"""Names that are put before one question, or offered for a choice."""


@dataclass(frozen=True)
class Resolution:
    """The query to search with, the documents it is about (empty: any), how it came about, and
    what to ask back where it is unclear."""

    query: str
    rewrite: QueryRewrite
    document_ids: list[str] = field(default_factory=list)
    clarification: str | None = None

    @property
    def follow_up(self) -> bool:
        """Whether the conversation was needed to understand the question."""
        return self.rewrite.context_status != "not_needed"


def resolve(request: SearchRequest, threshold: float) -> Resolution:
    """The question in its conversation; `threshold` (0…1) is the least confidence to act on."""
    query = " ".join(request.query.split())
    own = mentions(query)
    reference = reference_in(query, names_something=bool(own))
    state = state_of(request.conversation)
    named_in_part = any(_known_longer(mention, state) for mention in own)
    asked = asked_in(query, own)
    carried = () if asked.words else _carried(asked, state)
    if own and carried and leaves_out(query):
        return _asked_of_another(request.query, own, carried, state)
    if not request.conversation or (reference is None and not named_in_part):
        return _alone(request.query)
    if own or reference is None:
        return _explicit(request.query, own, state)
    if carried and not state.newest() and reference.number == "any":
        certain = _carried_certainty(asked, state)
        if certain >= threshold:
            return _prefixed(request.query, carried, certain, [], [], state)
    return _from_state(request.query, reference, carried, asked, state, threshold)


def _carried(asked: Asked, state: State) -> tuple[str, ...]:
    """What was asked before, with its time where the question names none."""
    topic = state.topic
    return (*(() if asked.times else topic.times), *topic.words) if topic.words else ()


def _carried_certainty(asked: Asked, state: State) -> float:
    """How sure it is that a question without any name asks what was asked before."""
    topic = state.topic
    several = 0.7 if len(topic.words) > 1 else 0.4
    certain = 0.85 if asked.times and topic.times else several
    return round(certain - 0.1 * state.topic_age, 3)


def _asked_of_another(
    query: str, own: list[Mention], carried: tuple[str, ...], state: State
) -> Resolution:
    """The question names another thing, of which what was asked before is asked."""
    certain = round(0.9 - 0.1 * state.topic_age, 3)
    return _prefixed(query, carried, certain, own, [], state)


def _prefixed(
    query: str,
    prefix: Iterable[str],
    confidence: float,
    named: list[Mention],
    documents: list[str],
    state: State,
) -> Resolution:
    """The question behind what it leaves out, to be looked for in `documents` first."""
    resolved = " ".join((*prefix, query)).strip()[:MAX_QUERY_CHARS]
    rewrite = _rewrite(
        query,
        resolved,
        kind="conversation_state_prefix",
        source="conversation_state",
        confidence=confidence,
        reason="the question leaves out what the conversation is about",
        named=named,
        documents=list(state.documents),
    )
    return Resolution(resolved, rewrite, document_ids=documents)


def _alone(query: str) -> Resolution:
    return Resolution(
        query,
        QueryRewrite(
            original_query=query,
            resolved_query=query,
            context_source="query",
            reason="the question stands alone",
            readable_summary="The query was used as it stands.",
        ),
    )


def _explicit(query: str, own: list[Mention], state: State) -> Resolution:
    """The question names part of what was said: "그 도로 사업", "that Acme project"."""
    full = [_fuller(mention, state) for mention in own]
    resolved = query
    for mention, known in zip(own, full, strict=True):
        if known is not None and known.mention.key != mention.key:
            resolved = resolved.replace(mention.text, known.mention.text, 1)
    met = [known.mention for known in full if known is not None]
    return Resolution(
        resolved[:MAX_QUERY_CHARS],
        _rewrite(
            query,
            resolved,
            kind="explicit_context",
            source="context_entities" if met else "query",
            confidence=0.95 if met else 0.8,
            reason="the question names what it is about",
            named=met or own,
            documents=[],
        ),
    )


def _fuller(mention: Mention, state: State) -> Spoken | None:
    """What was said before and holds this name, where it is one thing."""
    words = set(mention.key.split())
    holding = [s for s in state.spoken if words <= set(s.mention.key.split())]
    return holding[0] if len(holding) == 1 else None


def _known_longer(mention: Mention, state: State) -> bool:
    known = _fuller(mention, state)
    return known is not None and known.mention.key != mention.key


def _from_state(
    query: str,
    reference: Reference,
    carried: tuple[str, ...],
    asked: Asked,
    state: State,
    threshold: float,
) -> Resolution:
    korean = _korean(query)
    near = state.newest("project" if _means_project(query) else None) or state.newest()
    if not near and not state.documents:
        return _unclear(query, [], [], 0.3, korean)
    meant, confidence = _meant(reference, near)
    if not near:
        # the last answer's documents alone: enough to search in, not to name anything
        confidence = 0.75 if len(state.documents) == 1 or reference.number != "one" else 0.55
    if not reference.explicit:
        confidence -= 0.1 if near and near[0].age == 0 else 0.2
    confidence = round(max(confidence, 0.0), 3)
    if confidence < threshold:
        return _unclear(query, near, list(state.documents), confidence, korean)
    if not meant and not state.documents:
        return _unclear(query, near, [], confidence, korean)
    names = [spoken.mention for spoken in meant]
    prefix = (*(mention.text for mention in names), *carried)
    # documents that were found for another time need not speak of this one
    elsewhere = carried and asked.times
    documents = [] if elsewhere else list(state.documents)
    return _prefixed(query, prefix, confidence, names, documents, state)


def _meant(reference: Reference, near: list[Spoken]) -> tuple[list[Spoken], float]:
    """Which of the nearest names are meant, and how sure that is."""
    if not near:
        return [], 0.0
    base = 0.9 - 0.1 * near[0].age - (0.0 if near[0].asked else 0.1)
    if reference.number == "many":
        return near[:MAX_NAMED], base if len(near) > 1 else base - 0.3
    if len(near) == 1 or reference.number == "any":
        return near[:MAX_NAMED], base if len(near) <= 2 else base - 0.1
    return near[:1], 0.8 / len(near)


def _unclear(
    query: str, near: list[Spoken], documents: list[str], confidence: float, korean: bool
) -> Resolution:
    names = [spoken.mention for spoken in near[:MAX_NAMED]]
    listed = ", ".join(mention.text for mention in names)
    if korean:
        asked = f"어느 것에 대한 질문인가요: {listed}?" if listed else "무엇에 대한 질문인가요?"
    else:
        asked = f"Which one do you mean: {listed}?" if listed else "What is the question about?"
    rewrite = _rewrite(
        query,
        query,
        kind="clarification_required",
        source="conversation_state" if near or documents else "none",
        confidence=confidence,
        reason="more than one thing may be meant" if names else "nothing says what is meant",
        named=names,
        documents=documents,
    )
    return Resolution(query, rewrite, document_ids=documents, clarification=asked)


def _rewrite(
    query: str,
    resolved: str,
    *,
    kind: str,
    source: str,
    confidence: float,
    reason: str,
    named: list[Mention],
    documents: list[str],
) -> QueryRewrite:
    unclear = kind == "clarification_required"
    said = "Asked back instead of guessing" if unclear else f"Searched for: {resolved}"
    return QueryRewrite.model_validate(
        {
            "original_query": query,
            "resolved_query": resolved,
            "rewritten": resolved != query,
            "rewrite_type": kind,
            "context_source": source,
            "context_status": "needs_clarification" if unclear else "resolved",
            "context_resolution_confidence": confidence,
            "reason": reason,
            "context_entities": [m.text for m in named if m.kind == "entity"],
            "context_projects": [m.text for m in named if m.kind == "project"],
            "active_doc_ids": documents,
            "readable_summary": f"{said}; {reason} (confidence {confidence:g}).",
        }
    )


def _means_project(query: str) -> bool:
    return any(word in query for word in ("사업", "프로젝트", "용역", "과제", "project", "Project"))


def _korean(text: str) -> bool:
    return any("가" <= c <= "힣" for c in text)
