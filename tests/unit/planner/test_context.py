"""A conversation on its way through the planner: what is searched, asked back and recorded."""

from types import SimpleNamespace
from typing import Any, cast

from libs.contracts.api.search import PlanQuery, RetrieveAnswer, RetrievedChunk, SearchRequest
from libs.contracts.query.documents import DocumentsAnswer
from services.planner.workflow import Workflow
from tests.unit.planner.test_agentic import Cache

FOUND = RetrievedChunk(
    document_id="d2", revision=1, file_name="a.md", chunk_id="t1", type="text",
    content="도로 정비 사업의 기간; 제12조",
    path=[], order=0, page_numbers=[], boxes=[], content_hash="sha256:ab", score=1.0, channels={},
)  # fmt: skip


class Bus:
    """Holds one chunk, in document d2."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.ran: list[Any] = []

    async def request(self, subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
        if reply is DocumentsAnswer:
            return DocumentsAnswer(corpus_version=7)
        self.asked.append(body)
        inside = body.filters.document_ids in ([], ["d2"])
        return RetrieveAnswer(corpus_version=7, strategy="fusion", chunks=[FOUND] if inside else [])

    async def publish(self, subject: Any, ran: Any, **kwargs: Any) -> None:
        self.ran.append(ran)


async def run(
    documents: list[str], query: str, said: str, *, cache: Cache | None = None, **fields: Any
) -> tuple[Bus, Any, Any]:
    """What was asked, the answer and its trace; with a cache of the second of two equal ones."""

    async def version(namespace: str) -> int:
        return 7

    bus = Bus()
    documents_ = cast(Any, SimpleNamespace(corpus_version=version))
    work = Workflow(cast(Any, bus), documents_, cast(Any, cache), "f")
    turns = [
        {"role": "user", "text": said},
        {"role": "assistant", "text": "…", "document_ids": documents},
    ]
    request = SearchRequest.model_validate({"query": query, "conversation": turns, **fields})
    for _ in range(1 if cache is None else 2):
        response = await work.answer(PlanQuery(namespace="acme", key_id="k", request=request))
        await work.finish()
    return bus, response, bus.ran[-1].trace


async def test_a_follow_up_is_searched_in_the_documents_that_are_spoken_of() -> None:
    bus, response, trace = await run(["d2"], "그 사업의 기간은?", "도로 정비 사업의 예산은?")
    (asked,) = bus.asked
    assert asked.query == "도로 정비 사업 그 사업의 기간은?"
    assert asked.filters.document_ids == ["d2"]
    assert (response.status, response.query_type) == ("ok", "follow_up")
    rewrite, planner = trace["query_rewrite"], trace["planner"]
    assert rewrite["original_query"] == "그 사업의 기간은?"
    assert rewrite["resolved_query"] == "도로 정비 사업 그 사업의 기간은?"
    assert rewrite["context_projects"] == ["도로 정비 사업"]
    assert rewrite["active_doc_ids"] == ["d2"]
    assert planner["metadata_first"] is True
    assert planner["metadata_selected_doc_ids"] == ["d2"]
    assert planner["query_type"] == trace["answer_schema"]["query_type"] == "follow_up"
    assert planner["stage_latencies_ms"]["context_resolution_ms"] > 0


async def test_where_those_hold_nothing_all_are_searched() -> None:
    bus, response, trace = await run(["d1"], "그 사업의 기간은?", "도로 정비 사업의 예산은?")
    assert [b.filters.document_ids for b in bus.asked] == [["d1"], []]
    assert response.status == "ok"
    first, second = trace["planner"]["attempts"]
    assert (first["stage"], first["verified"]) == ("strict", False)
    assert first["metadata_doc_ids"] == ["d1"]
    assert (second["stage"], second["verified"]) == ("relaxed", True)
    assert trace["planner"]["selected_stage"] == "relaxed"


async def test_an_answer_from_the_cache_claims_no_search_of_its_own() -> None:
    bus, first, trace = await run(
        ["d1"], "그 사업의 기간은?", "도로 정비 사업의 예산은?", cache=Cache()
    )
    assert (first.cached, len(bus.asked)) == (True, 2)
    planner = trace["planner"]
    assert (planner["strategy"], planner["stage_sequence"]) == ("cache", ["cache"])
    assert (planner["metadata_first"], planner["metadata_selected_doc_ids"]) == (False, [])
    assert "Looked first" not in planner["readable_summary"]
    assert trace["query_rewrite"]["active_doc_ids"] == ["d1"]


async def test_documents_that_the_request_names_stay() -> None:
    filters = {"document_ids": ["d2"]}
    bus, _, trace = await run(["d1"], "그 사업의 기간은?", "도로 정비 사업은?", filters=filters)
    assert [b.filters.document_ids for b in bus.asked] == [["d2"]]
    assert trace["planner"]["metadata_first"] is False


async def test_what_is_unclear_is_asked_back_and_not_searched() -> None:
    bus, response, trace = await run(
        [], "그 기관의 주소는?", "한국가스공사와 국민연금공단의 예산은?"
    )
    assert bus.asked == []
    assert response.status == "clarification_required"
    assert response.clarification == "어느 것에 대한 질문인가요: 한국가스공사, 국민연금공단?"
    assert (response.evidence, response.claim_count) == ([], 0)
    assert trace["query_rewrite"]["rewrite_type"] == "clarification_required"
    assert trace["planner"]["attempts"] == []
    assert trace["answer_schema"]["status"] == "clarification_required"


async def test_a_question_of_its_own_is_searched_everywhere() -> None:
    bus, response, trace = await run(["d1"], "산업안전보건법 제12조는?", "근로기준법 제5조는?")
    assert bus.asked[0].filters.document_ids == []
    assert response.query_type == "single_doc"
    assert trace["query_rewrite"]["context_status"] == "not_needed"
