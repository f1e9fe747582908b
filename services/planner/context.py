"""A query as its conversation resolves it, and how envelope and trace tell of it. Pure."""

import time
from dataclasses import dataclass, field, replace

from libs.contracts.api.search import PlanQuery, Receipt, SearchRequest, SearchResponse
from libs.contracts.tokens import new_id
from libs.contracts.trace import Attempt, Planner, Trace
from libs.contracts.trace.v1 import StageLatencies
from libs.runtime.telemetry import trace_id
from services.planner.answered import Answered
from services.planner.conversation.resolve import Resolution, resolve
from services.planner.documents import NamedDocuments, answers
from services.planner.traces import trace_of


@dataclass(frozen=True)
class Context:
    """`query` asks the resolved question; `narrowed` says that it is kept to `documents`, those
    the conversation is about or those that it names, `before` holds the attempts that did not
    find enough in them. `named` is what its names stand for."""

    query: PlanQuery
    resolution: Resolution
    resolve_ms: float
    narrowed: bool = False
    before: tuple[Attempt, ...] = ()
    documents: tuple[str, ...] = ()
    named: NamedDocuments = field(default_factory=NamedDocuments)

    @property
    def clarification(self) -> str | None:
        """What to ask back, None where the question is clear."""
        return self.resolution.clarification

    def about(self, named: NamedDocuments) -> "Context":
        """The same question, asked of the documents that it names where it names some."""
        if not named.document_ids:
            return replace(self, named=named)
        query = self._within(named.document_ids)
        documents = tuple(named.document_ids)
        return replace(self, query=query, narrowed=True, documents=documents, named=named)

    def wanting(self, done: Answered) -> str:
        """Why the documents that it was kept to are not enough; empty where they are, and where
        no time is left to look in others."""
        response = done.response
        if not self.narrowed or response.budget.stop_reason == "time":
            return ""
        if response.status == "abstained":
            return "nothing_in_named" if self.named.document_ids else "nothing_in_active_documents"
        verified = done.trace.planner.attempts[-1].verified
        if self.named.document_ids and not (
            verified and answers(self.query.request.query, response.evidence)
        ):
            return "too_little_in_named"
        return ""

    def _within(self, documents: list[str]) -> PlanQuery:
        filters = self.query.request.filters.model_copy(update={"document_ids": documents})
        return _asking(self.query, self.query.request.query, filters=filters)

    def widened(self, reason: str, done: Answered) -> "Context":
        """The same question asked of all documents, for a `reason` as traces give it, after
        what was `done` in some."""
        documents = list(self.documents)
        *others, last = (
            one.model_copy(update={"metadata_doc_ids": documents})
            for one in done.trace.planner.attempts
        )
        reasons = [*last.verification_reasons, reason]
        last = last.model_copy(update={"verified": False, "verification_reasons": reasons})
        return replace(self, query=self._within([]), narrowed=False, before=(*others, last))

    def served(self) -> "Context":
        """The same question where an equal one was answered before: nothing was looked in."""
        return replace(self, narrowed=False, documents=())

    def marked(self, response: SearchResponse) -> SearchResponse:
        """The envelope, which says when the conversation was needed."""
        if not self.resolution.follow_up or response.query_type != "single_doc":
            return response
        return response.model_copy(update={"query_type": "follow_up"})

    def told(self, trace: Trace) -> Trace:
        """The trace with what was made of the question, and every attempt."""
        planner = trace.planner
        latencies = planner.stage_latencies_ms.model_copy(
            update={"context_resolution_ms": self.resolve_ms}
        )
        changes: dict[str, object] = {
            "stage_latencies_ms": latencies,
            "metadata_ambiguous": self.named.ambiguous,
            "metadata_candidate_count": self.named.candidates,
        }
        if self.resolution.follow_up and planner.query_type == "single_doc":
            changes["query_type"] = "follow_up"
        if self.narrowed:
            changes |= self._selected(planner.attempts)
        if self.before:
            again = [a.model_copy(update={"stage": "relaxed"}) for a in planner.attempts]
            changes |= {
                "attempts": [*self.before, *again],
                "verifier_retry": planner.verifier_retry or len(self.before) > 1,
                "selected_stage": "relaxed",
                "metadata_first": True,
                "metadata_candidate_count": max(self.named.candidates, len(self.documents)),
            }
        if looked := self._looked_in():
            changes["stage_sequence"] = ["metadata", *planner.stage_sequence]
            changes["readable_summary"] = f"{looked} {planner.readable_summary}"
        schema = trace.answer_schema
        if "query_type" in changes:
            schema = schema.model_copy(update={"query_type": changes["query_type"]})
        return trace.model_copy(
            update={
                "query_rewrite": self.resolution.rewrite,
                "planner": planner.model_copy(update=changes),
                "answer_schema": schema,
            }
        )

    def _looked_in(self) -> str:
        """Where the search was kept to some documents, and what came of it."""
        if not self.documents:
            return ""
        whose = "that the query names" if self.named.document_ids else "of the conversation"
        first = f"Looked first in {len(self.documents)} documents {whose}"
        if not self.before:
            return f"{first}, which hold enough."
        return f"{first}; they do not hold enough, so all were searched."

    def _selected(self, attempts: list[Attempt]) -> dict[str, object]:
        documents = list(self.documents)
        return {
            "metadata_first": True,
            "metadata_candidate_count": max(self.named.candidates, len(documents)),
            "metadata_selected_doc_ids": documents,
            "attempts": [a.model_copy(update={"metadata_doc_ids": documents}) for a in attempts],
        }


def understood_in_context(query: PlanQuery, threshold: float) -> Context:
    """The query resolved against its conversation; below `threshold` it is to be asked back.

    The documents of the conversation narrow the search only where the request names none.
    """
    started = time.perf_counter()
    resolution = resolve(query.request, threshold)
    taken = round(1000 * (time.perf_counter() - started), 3)
    filters = query.request.filters
    narrowed = bool(resolution.document_ids and not filters.document_ids)
    if resolution.clarification is not None or not resolution.follow_up:
        return Context(query, resolution, taken)
    if narrowed:
        filters = filters.model_copy(update={"document_ids": resolution.document_ids})
    asked = _asking(query, resolution.query, filters=filters)
    documents = tuple(resolution.document_ids) if narrowed else ()
    return Context(asked, resolution, taken, narrowed, documents=documents)


def asked_back(request: SearchRequest, context: Context, version: int) -> SearchResponse:
    """The envelope that asks instead of guessing: no evidence, nothing spent."""
    return SearchResponse(
        status="clarification_required",
        status_reason=context.resolution.rewrite.reason,
        query_type="follow_up",
        clarification=context.clarification,
        evidence_text="",
        run_id=new_id("run"),
        trace_id=trace_id(),
        corpus_version=version,
        evidence=[],
        budget=Receipt(
            limit=request.budget.model_dump(),
            spent={"milliseconds": 0, "tokens": 0},
            stop_reason="clarification",
        ),
    )


def unclear_trace(request: SearchRequest, context: Context, response: SearchResponse) -> Trace:
    """The record of a question that was asked back."""
    planner = Planner(
        query_type="follow_up",
        pipeline=request.mode,
        strategy="clarification",
        stage_sequence=["context_resolution"],
        selected_stage="none",
        selected_top_k=request.top_k,
        retrieval_budget=request.budget.model_dump(),
        stage_latencies_ms=StageLatencies(),
        attempts=[],
        readable_summary="Nothing was searched: it is not clear what the question is about.",
    )
    return context.told(trace_of(request, response, planner))


def _asking(query: PlanQuery, text: str, **changes: object) -> PlanQuery:
    request = query.request.model_copy(update={"query": text, **changes})
    return query.model_copy(update={"request": request})
