"""From what was gathered to the evidence envelope, within the tokens that are left. Pure."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from libs.contracts.api.search import (
    Evidence,
    OutlineItem,
    PlanQuery,
    Receipt,
    RetrieveAnswer,
    RetrievedChunk,
    SearchResponse,
)
from libs.contracts.query.navigate import SectionFound
from libs.contracts.tokens import new_id
from libs.runtime.index.tokenizer import holds_any
from libs.runtime.names import contains, name_key
from services.planner.agentic.bridge import Bridge, key_of
from services.planner.agentic.budget import Cost, Ledger
from services.planner.agentic.gathered import Gathered
from services.planner.outcome import outcome
from services.planner.rendering import evidence_of, evidence_text
from services.planner.support import may_serve
from services.planner.verifier import why_lacking

SUMMARY_CHARS = 240
JOINT = 2
"""Tokens that may stand between two pieces of the rendered text."""

Count = Callable[[Sequence[str]], list[int]]


def envelope(
    query: PlanQuery, gathered: Gathered, ledger: Ledger, count: Count, trace_id: str | None
) -> SearchResponse:
    """Pieces in rank order as long as they fit, each whole; what stays unopened as title and
    summary. Ordered by `agent_score`, then `discovery_score`; the fallback set (nothing of
    the question in it) comes last."""
    request = query.request
    pieces = [_piece(c, gathered.bridge, explain=request.explain) for c in gathered.chunks]
    order = sorted(range(len(pieces)), key=lambda i: (-(pieces[i].agent_score or 0.0), i))
    costs = count([evidence_text([piece]) for piece in pieces])
    evidence: list[Evidence] = []
    outline: list[OutlineItem] = []
    refused = spent = 0
    held = ledger.reserve("render", Cost(tokens=ledger.left.tokens), evidence=True)
    room = held.cost.tokens if held else 0
    for i in order:
        wanted = len(evidence) + refused < request.top_k
        if wanted and spent + costs[i] + JOINT <= room:
            evidence.append(pieces[i])
            spent += costs[i] + JOINT
            continue
        refused += wanted
        outline.append(_unopened(gathered.chunks[i]))
    outline += _closed(gathered.sections, evidence, outline)
    if held:
        ledger.settle(held, Cost(tokens=spent), evidence=True)
    status, reason, stop = _status(gathered, evidence, refused=refused, timely=held is not None)
    planned = {step.step_id: step.after for step in gathered.plan.steps}
    render: dict[str, Any] = {"step_id": "render", "kind": "render", "tokens": spent}
    return SearchResponse(
        status=status,
        status_reason=reason,
        query_type=_query_type(gathered, status),
        claim_count=len(evidence),
        relaxed_filters=gathered.relaxed_filters,
        evidence_text=evidence_text(evidence),
        run_id=new_id("run"),
        trace_id=trace_id,
        corpus_version=gathered.corpus_version,
        evidence=evidence,
        outline=outline,
        budget=Receipt(
            limit={**request.budget.model_dump(), "calls": ledger.limit.calls},
            spent={
                "tokens": ledger.spent.tokens,
                "milliseconds": round(ledger.clock()),
                "calls": ledger.spent.calls,
            },
            steps=[
                *(
                    {**step, "after": planned.get(step["step_id"], []), "tokens": 0}
                    for step in gathered.steps
                ),
                *(
                    {"step_id": s, "after": planned.get(s, []), "skipped": True}
                    for s in gathered.skipped
                ),
                {**render, "unopened": len(outline), "state": ledger.state},
            ],
            stop_reason=stop,
        ),
    )


def coverage(gathered: Gathered, evidence: Sequence[Evidence]) -> dict[str, bool]:
    """For each side of a comparison, whether the evidence holds its name."""
    texts = [name_key(" ".join([*e.section_path, e.content])) for e in evidence]
    sides = [step.side for step in gathered.plan.steps if step.side]
    return {side: any(contains(text, side) for text in texts) for side in sides}


def _piece(chunk: RetrievedChunk, bridge: Bridge, *, explain: bool) -> Evidence:
    """A citation whose `agent_score` is how well it serves the plan, 0 when it holds none of
    the question's words, nothing led to it and it is not near the question either, as a piece
    in another language is; `discovery_score` is classic search's."""
    key = key_of(chunk)
    piece = evidence_of(chunk, explain=explain)
    text = " ".join([*chunk.path, chunk.content])
    serves = (
        may_serve(piece.content, chunk.similarity, bridge.question)
        or key in bridge.via
        or holds_any(text, bridge.words)
    )
    best = max(1.0, *bridge.scores.values())
    return piece.model_copy(
        update={
            "agent_score": round(chunk.score / best, 9) if serves else 0.0,
            "discovery_score": round(bridge.base.get(key, 0.0), 9),
            "explain": {**(piece.explain or {}), "via": bridge.via.get(key)} if explain else None,
        }
    )


def _unopened(chunk: RetrievedChunk) -> OutlineItem:
    title = chunk.path[-1] if chunk.path else chunk.file_name
    summary = chunk.summary or " ".join(chunk.content.split())
    return OutlineItem(
        document_id=chunk.document_id,
        section_path=chunk.path,
        title=title,
        summary=summary[:SUMMARY_CHARS],
    )


def _closed(
    sections: Sequence[SectionFound], evidence: Sequence[Evidence], outline: Sequence[OutlineItem]
) -> list[OutlineItem]:
    """Sections that were reached and not opened, as far as neither evidence nor outline has a
    piece of them."""
    known = {(piece.document_id, *piece.section_path) for piece in evidence}
    known.update((item.document_id, *item.section_path) for item in outline)
    return [
        OutlineItem(
            document_id=section.document_id,
            section_path=section.path,
            title=section.title,
            summary=section.summary[:SUMMARY_CHARS],
        )
        for section in sections
        if (section.document_id, *section.path) not in known
    ]


def _status(
    gathered: Gathered, evidence: list[Evidence], *, refused: int, timely: bool
) -> tuple[Literal["ok", "partial", "abstained"], str, str]:
    """Status, its reason, and why the receipt says that the plan stopped."""
    late = gathered.unfinished
    if not late and not timely:
        late = ["assembly"]
    if not late and gathered.skipped:
        return "partial", "the calls of this plan ended before all its steps ran", "calls"
    answer = RetrieveAnswer(
        corpus_version=gathered.corpus_version,
        strategy=gathered.strategy,
        chunks=gathered.chunks,
        unfinished=late,
    )
    if not answer.unfinished and refused:
        reason = (
            f"the tokens of this query ended before {refused} of the best pieces were opened: "
            "give it more (budget.tokens) or continue this run"
        )
        return "partial", reason, "tokens"
    result = outcome(answer, gathered.unsupported)
    reason = result.reason or (why_lacking(gathered.lacking) if evidence else "")
    return result.status, reason, result.stop_reason


def _query_type(
    gathered: Gathered, status: str
) -> Literal["single_doc", "comparison", "abstention"]:
    if status == "abstained":
        return "abstention"
    return "comparison" if gathered.plan.shape == "comparison" else "single_doc"
