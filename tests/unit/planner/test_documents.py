"""Documents that a question names are looked in first, and all where they do not hold enough."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from libs.contracts.api.search import PlanQuery, RetrieveAnswer, RetrievedChunk, SearchRequest
from libs.contracts.faults import Code, WorldFault
from libs.contracts.query.documents import DocumentsAnswer
from services.planner.agentic import mode
from services.planner.answered import Understood
from services.planner.documents import names_in
from services.planner.understanding import Understanding
from services.planner.workflow import Workflow
from tests.unit.planner import test_agentic as agentic

HELD = {
    "manual": "The HP-350 has a warranty of three years.",
    "minutes": "In April the delivery of the HP-350 was moved to June by the supplier.",
}
WARRANTY = "How long is the warranty of the HP-350?"
DELIVERY = "Why did the supplier move the delivery of the HP-350 in April?"


class Bus:
    """The name HP-350 stands for `named`; a search finds all that its filter allows."""

    def __init__(self, named: list[str] | Exception, *, ambiguous: bool = False) -> None:
        self.named, self.ambiguous = named, ambiguous
        self.asked: list[Any] = []
        self.resolved: list[Any] = []
        self.ran: list[Any] = []
        self.unfinished: list[str] = []

    async def request(self, subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
        if reply is DocumentsAnswer:
            self.resolved.append(body)
            if isinstance(self.named, Exception):
                raise self.named
            return DocumentsAnswer(
                corpus_version=7, document_ids=self.named, ambiguous=self.ambiguous, candidates=3
            )
        self.asked.append(body)
        wanted = body.filters.document_ids or list(HELD)
        chunks = [
            RetrievedChunk(
                document_id=name, revision=1, file_name=f"{name}.md", chunk_id=f"t-{name}",
                type="text", content=HELD[name], path=[], order=0, page_numbers=[], boxes=[],
                content_hash="sha256:ab", score=1.0, similarity=0.8,
            )
            for name in wanted if name in HELD
        ]  # fmt: skip
        return RetrieveAnswer(
            corpus_version=7, strategy="fusion", chunks=chunks, unfinished=self.unfinished
        )

    async def publish(self, subject: Any, ran: Any, **kwargs: Any) -> None:
        self.ran.append(ran)


class ModelReads(Understanding):
    """As a model that costs 40 tokens and says nothing."""

    async def of(self, query: PlanQuery, started: float) -> Understood:
        return Understood(tokens=40)


async def run(bus: Bus, query: str, **fields: Any) -> tuple[Any, dict[str, Any]]:
    async def version(namespace: str) -> int:
        return 7

    work = Workflow(cast(Any, bus), cast(Any, SimpleNamespace(corpus_version=version)), None, "f")
    request = SearchRequest.model_validate({"query": query, **fields})
    response = await work.answer(PlanQuery(namespace="acme", key_id="k", request=request))
    await work.finish()
    return response, bus.ran[0].trace["planner"]


async def test_a_named_document_that_answers_is_searched_alone() -> None:
    bus = Bus(["manual"])
    response, planner = await run(bus, WARRANTY)
    assert [body.filters.document_ids for body in bus.asked] == [["manual"]]
    assert [e.document_id for e in response.evidence] == ["manual"]
    assert planner["metadata_first"] is True
    assert planner["metadata_selected_doc_ids"] == ["manual"]
    assert planner["metadata_candidate_count"] == 3
    assert planner["stage_sequence"] == ["metadata", "retrieve", "verify", "render"]
    assert (
        "first in 1 documents that the query names, which hold enough"
        in planner["readable_summary"]
    )
    assert planner["metadata_ambiguous"] is False
    assert planner["attempts"][0]["metadata_doc_ids"] == ["manual"]


@pytest.mark.parametrize(
    ("named", "query", "reasons"),
    [
        (["manual"], DELIVERY, ["too_little_in_named"]),
        (["elsewhere"], WARRANTY, ["no_evidence", "nothing_in_named"]),
    ],
)
async def test_where_it_does_not_hold_enough_all_are_searched(
    named: list[str], query: str, reasons: list[str]
) -> None:
    bus = Bus(named)
    response, planner = await run(bus, query)
    assert [body.filters.document_ids for body in bus.asked] == [named, []]
    assert {e.document_id for e in response.evidence} == set(HELD)
    first, second = planner["attempts"]
    assert (first["stage"], first["verified"], first["verification_reasons"]) == (
        "strict", False, reasons,
    )  # fmt: skip
    assert first["metadata_doc_ids"] == named
    assert first["retrieve_ms"] > 0
    assert [step["kind"] for step in response.budget.steps] == ["retrieve", "retrieve"]
    spent = sum(step["tokens"] for step in response.budget.steps)
    assert response.budget.spent["tokens"] == spent
    assert (second["stage"], planner["selected_stage"]) == ("relaxed", "relaxed")
    assert (planner["metadata_first"], planner["metadata_selected_doc_ids"]) == (True, [])


async def test_a_look_that_ends_the_time_is_the_last_and_gives_what_it_found() -> None:
    bus = Bus(["manual"])
    bus.unfinished = ["dense"]
    response, _ = await run(bus, DELIVERY)
    assert [body.filters.document_ids for body in bus.asked] == [["manual"]]
    assert (response.status, [e.document_id for e in response.evidence]) == ("partial", ["manual"])


async def test_both_looks_share_one_reading_of_the_query_and_one_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mode, "CALLS", 15)
    bus = agentic.Bus()
    work = agentic.workflow(bus, reads=ModelReads())
    named = DocumentsAnswer(corpus_version=7, document_ids=["doc-elsewhere"])
    found = bus.request

    async def request(subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
        if reply is DocumentsAnswer:
            return named
        answer = await found(subject, body, reply, timeout=timeout)
        inside = bool(body.filters.document_ids)
        return answer.model_copy(update={"chunks": [], "named": []}) if inside else answer

    bus.request = request  # type: ignore[method-assign]
    response = await work.answer(agentic.asks())
    await work.finish()
    receipt = response.budget
    assert [step["tokens"] for step in receipt.steps if step["kind"] == "understand"] == [40]
    for name in ("tokens", "calls"):
        assert receipt.spent[name] == sum(step.get(name, 0) for step in receipt.steps)
        assert receipt.spent[name] <= receipt.limit[name]
    assert receipt.spent["calls"] == len(bus.asked)
    names = [step["step_id"] for step in receipt.steps]
    assert {"first_search", "search"} <= set(names)
    assert all(set(step.get("after", [])) <= set(names) for step in receipt.steps)
    assert [e.chunk_id for e in response.evidence] == ["tfilm", "tperson"]
    (ran,) = bus.ran
    assert [step.kind for step in ran.steps].count("search") == 2
    assert sum(step.tokens for step in ran.steps) == receipt.spent["tokens"]


async def test_one_name_of_several_documents_is_flagged() -> None:
    _, planner = await run(Bus(["manual", "minutes"], ambiguous=True), WARRANTY)
    assert planner["metadata_ambiguous"] is True


async def test_a_year_in_the_question_goes_along_and_two_do_not() -> None:
    for query, year in (
        ("Was the HP-350 changed in 2023?", 2023),
        ("Was the HP-350 changed in 2023 or 2024?", None),
    ):
        bus = Bus([])
        await run(bus, query)
        assert bus.resolved[0].year == year
        assert "HP-350" in bus.resolved[0].names


async def test_without_names_or_with_chosen_documents_nothing_is_resolved() -> None:
    for query, fields in (
        ("how much grease is needed", {}),
        (WARRANTY, {"filters": {"document_ids": ["minutes"]}}),
        (WARRANTY, {"budget": {"milliseconds": 500}}),
    ):
        bus = Bus(["manual"])
        _, planner = await run(bus, query, **fields)
        assert bus.resolved == []
        assert planner["metadata_first"] is False


def test_joined_names_are_each_looked_up() -> None:
    assert names_in("Compare the warranty of the HP-200 and the HP-350") == ["HP-200", "HP-350"]
    assert names_in("하늘 프로젝트와 바다 프로젝트의 총사업비") == [
        "하늘 프로젝트",
        "바다 프로젝트",
    ]
    assert names_in("how much grease is needed") == []


@pytest.mark.parametrize("code", [Code.TIMEOUT, Code.BUS_AWAY])
async def test_names_that_nobody_looks_up_narrow_nothing(code: Code) -> None:
    bus = Bus(WorldFault(code, "late"))
    response, _ = await run(bus, WARRANTY)
    assert response.status == "ok"
    assert [body.filters.document_ids for body in bus.asked] == [[]]
