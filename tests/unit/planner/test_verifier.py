"""The verifier: what a question needs, what the evidence lacks, and one second look for it."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.api.search import PlanQuery, RetrieveAnswer, RetrievedChunk, SearchRequest
from libs.contracts.query.analysis import NormalizedQuery, QueryAnalysis
from libs.contracts.query.documents import DocumentsAnswer
from libs.contracts.query.stages import Stage
from services.planner.analysis.model import Analyzer
from services.planner.local import analyse_query, analyzer
from services.planner.understanding import Understanding
from services.planner.verifier import filters_of, joined, missing, needs_of, why_unsupported
from services.planner.workflow import Workflow
from tests.unit.planner import test_agentic as agentic


def chunk(name: str, content: str = "", **more: Any) -> RetrievedChunk:
    fields = {
        "document_id": "d", "revision": 1, "file_name": "a.md", "chunk_id": name, "type": "text",
        "content": content or name, "path": [], "order": 0, "page_numbers": [], "boxes": [],
        "content_hash": "sha256:ab", "score": 1.0, "channels": {},
    }  # fmt: skip
    return RetrievedChunk(**{**fields, **more})


@pytest.mark.parametrize(
    ("query", "needs"),
    [
        ("산업안전보건법 제12조에 따른 의무는?", ("산업안전보건법", "제12조")),
        ('Where does "duty of care" appear?', ("duty of care",)),
        ("Compare Germany and France in pensions", ("germany", "france")),
        ("How do I grease the pump?", ()),
    ],
)
def test_terms_that_are_stated_and_sides_that_are_compared(
    query: str, needs: tuple[str, ...]
) -> None:
    assert needs_of(query, analyse_query(query)).all == needs


def test_case_spaces_and_punctuation_make_no_difference() -> None:
    held = [
        chunk("a", "ISO 9001:2015 of the Duty-of-Care"),
        chunk("b", path=["제 12 조의2 (의무)"]),
    ]
    assert missing(["iso-9001", "duty of care", "제12조의2"], held) == []
    assert missing(["iso 9002"], held) == ["iso 9002"]
    assert missing(["A.MD"], held) == []


def test_what_a_second_look_brings_stands_behind_the_better_half() -> None:
    first = [chunk(f"f{n}") for n in range(6)]
    second = [chunk("f0"), chunk("s1", "nothing"), chunk("s2", "left"), chunk("s3", "left"),
              chunk("s4", "right")]  # fmt: skip
    names = [c.chunk_id for c in joined(first, second, ["left", "right"], 6)]
    assert names == ["f0", "f1", "f2", "s2", "s4", "s3"]
    one = [c.chunk_id for c in joined(first, second, ["right"], 6)]
    assert one == ["f0", "f1", "f2", "f3", "f4", "s4"]
    assert [c.chunk_id for c in joined(first[:2], second, ["right"], 6)] == ["f0", "f1", "s4"]


@given(
    st.integers(0, 8), st.lists(st.sampled_from(["x", "y", "none"]), max_size=8), st.integers(1, 8)
)
def test_the_better_half_always_stays(count: int, texts: list[str], limit: int) -> None:
    first = [chunk(f"f{n}") for n in range(count)]
    second = [chunk(f"s{n}", text) for n, text in enumerate(texts)]
    kept = joined(first, second, ["x", "y"], limit)
    half = first[: (limit + 1) // 2]
    assert kept[: len(half)] == half
    assert len(kept) <= limit
    assert len({c.chunk_id for c in kept}) == len(kept)


class Bus:
    """Answers in turn; remembers what was asked and recorded."""

    def __init__(self, *answers: list[RetrievedChunk]) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []
        self.ran: list[Any] = []

    async def request(self, subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
        if reply is DocumentsAnswer:
            return DocumentsAnswer(corpus_version=7)
        self.asked.append(body)
        chunks = self.answers.pop(0)
        return RetrieveAnswer(corpus_version=7, strategy="fusion", chunks=chunks)

    async def publish(self, subject: Any, ran: Any, **kwargs: Any) -> None:
        self.ran.append(ran)


async def run(bus: Bus, query: str) -> tuple[Any, dict[str, Any]]:
    async def version(namespace: str) -> int:
        return 7

    documents = SimpleNamespace(corpus_version=version)
    work = Workflow(
        cast(Any, bus),
        cast(Any, documents),
        None,
        "f",
        understanding=Understanding(Analyzer(analyzer())),
    )
    request = SearchRequest(query=query, top_k=4)
    response = await work.answer(PlanQuery(namespace="acme", key_id="k", request=request))
    await work.finish()
    return response, bus.ran[0].trace["planner"]


async def test_a_missing_side_is_looked_for_once_more() -> None:
    bus = Bus([chunk("g", "Germany pays"), chunk("x")], [chunk("f", "France pays")])
    response, planner = await run(bus, "Compare Germany and France in pensions")
    assert bus.asked[1].query == "france Compare Germany and France in pensions"
    assert bus.asked[1].analysis == filters_of(bus.asked[0].analysis, relaxed=False)
    assert [e.chunk_id for e in response.evidence] == ["g", "x", "f"]
    assert response.query_type == "comparison"
    assert planner["comparison_coverage"] == {"germany": True, "france": True}
    assert planner["verifier_retry"] is True
    first, second = planner["attempts"]
    assert (first["stage"], first["verified"]) == ("strict", False)
    assert first["verification_reasons"] == ["missing: france"]
    assert (second["stage"], second["verified"]) == ("reduced", True)
    assert planner["selected_stage"] == "reduced"
    assert planner["stage_sequence"] == ["retrieve", "verify", "retrieve", "verify", "render"]


async def test_what_is_nowhere_is_said_after_one_retry() -> None:
    bus = Bus([chunk("a", "other law", similarity=0.8)], [chunk("b", "also other")])
    response, planner = await run(bus, "산업안전보건법 제99조는?")
    assert len(bus.asked) == 2
    assert [e.chunk_id for e in response.evidence] == ["a"]
    assert planner["attempts"][-1]["verified"] is False
    assert "산업안전보건법" in response.status_reason
    assert "제99조" in response.status_reason


async def test_complete_evidence_is_not_looked_for_again() -> None:
    bus = Bus([chunk("a", "산업안전보건법 제12조")])
    response, planner = await run(bus, "산업안전보건법 제12조는?")
    assert len(bus.asked) == 1
    assert response.status_reason == ""
    assert planner["verifier_retry"] is False
    assert planner["attempts"][0]["verified"] is True


@pytest.mark.parametrize("mode", ["classic", "agentic"])
@pytest.mark.parametrize(
    ("relaxed", "stages", "told"),
    [
        (["phrases"], ["strict", "reduced"], "its quoted phrase"),
        (["phrases", "year"], ["strict", "reduced", "relaxed"], "its quoted phrase, the year"),
    ],
)
async def test_every_stage_is_an_attempt_and_what_was_given_up_is_told(
    mode: str, relaxed: list[str], stages: list[Stage], told: str
) -> None:
    *before, last = stages
    bus = agentic.Bus()
    found = bus.request

    async def request(subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
        answer = await found(subject, body, reply, timeout=timeout)
        if reply is not RetrieveAnswer:
            return answer
        tried = dict.fromkeys(before, 0.001)
        changes = {"relaxed_filters": relaxed, "stage": last, "tried_ms": tried}
        return answer.model_copy(update=changes)

    bus.request = request  # type: ignore[method-assign]
    work = agentic.workflow(bus)
    response = await work.answer(agentic.asks(query="Quiet Harbour was a film.", mode=mode))
    await work.finish()
    planner = bus.ran[0].trace["planner"]
    assert [attempt["stage"] for attempt in planner["attempts"]] == stages
    assert [attempt["verified"] for attempt in planner["attempts"]] == [False] * len(before) + [
        True
    ]
    assert planner["attempts"][0]["verification_reasons"] == ["nothing_left"]
    assert all(attempt["retrieve_ms"] > 0 for attempt in planner["attempts"])
    assert (planner["selected_stage"], planner["verifier_retry"]) == (last, False)
    assert told in planner["readable_summary"]
    assert response.relaxed_filters == relaxed


async def test_an_agentic_answer_says_what_it_lacks_and_times_both_looks() -> None:
    bus = agentic.Bus()
    work = agentic.workflow(bus)
    response = await work.answer(agentic.asks(query="Compare Quiet Harbour and Zorbl Hill: why?"))
    await work.finish()
    assert response.status_reason == "no piece of the evidence names zorbl hill"
    planner = bus.ran[0].trace["planner"]
    assert planner["comparison_coverage"] == {"quiet harbour": True, "zorbl hill": False}
    first, second = planner["attempts"]
    assert (first["stage"], second["stage"], planner["verifier_retry"]) == (
        "strict", "reduced", True,
    )  # fmt: skip
    for attempt in (first, second):
        assert attempt["verification_reasons"] == ["missing: zorbl hill"]
        assert attempt["retrieve_ms"] > 0
        assert attempt["verify_ms"] > 0


@pytest.mark.parametrize(
    ("named", "refused"),
    [
        ({}, True),
        ({"keywords": ["pump"]}, False),
        ({"keywords": ["zorblatt"], "optional_terms": ["pump"]}, False),
        ({"keywords": ["zorblatt"]}, True),
        ({"keywords": ["pump"], "text": "another question"}, True),
        ({"keywords": [f"pump{n}" for n in range(8)]}, True),
    ],
)
def test_what_a_question_is_about_is_told_by_the_keywords_of_its_analysis(
    named: dict[str, Any], refused: bool
) -> None:
    query = "zorblatt frinkle wimfle quxly pump"
    found = chunk("a", "The pump needs grease.", similarity=0.3)
    answer = RetrieveAnswer(corpus_version=1, strategy="fusion", chunks=[found])
    original = NormalizedQuery(lang="en", text=named.pop("text", query), weight=1.0)
    analysis = QueryAnalysis(normalized_queries=[original], analyzer_confidence=0.9, **named)
    assert bool(why_unsupported(query, answer, analysis)) is refused


def test_a_list_that_is_asked_for_is_not_judged() -> None:
    query = "list all zorblatts"
    answer = RetrieveAnswer(corpus_version=1, strategy="fusion", chunks=[chunk("a", "x")])
    analysis = analyse_query(query)
    listed = analysis.model_copy(update={"intent": "filter_browse"})
    asked = analysis.model_copy(update={"intent": "fact_lookup"})
    assert not why_unsupported(query, answer, listed)
    assert why_unsupported(query, answer, asked)
