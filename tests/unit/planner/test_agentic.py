"""Agentic queries over a retriever that knows three chunks: film, director, other film."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from libs.contracts.api.search import (
    OtherPlace,
    PlanQuery,
    RetrieveAnswer,
    RetrievedChunk,
    SearchRequest,
)
from libs.contracts.faults import CallerFault, Code, WorldFault
from libs.contracts.query.documents import DocumentsAnswer
from libs.contracts.query.navigate import NavigateAnswer, SectionFound
from libs.contracts.query.probe import CitedRef, HydrateAnswer, ProbeAnswer, ProbeHit
from services.planner.agentic.mode import AgenticMode
from services.planner.agentic.rules import compared, plan
from services.planner.analysis.model import Analyzer
from services.planner.answered import EVIDENCE
from services.planner.local import analyzer
from services.planner.understanding import Understanding
from services.planner.workflow import Workflow

READS = Understanding(Analyzer(analyzer()))
QUESTION = "When was the director of Quiet Harbour born?"
TEXTS = {
    "film": ("Quiet Harbour", "Quiet Harbour is a film; its director is Mira Voss."),
    "person": ("Mira Voss", "Mira Voss, born 1931, was a director."),
    "noise": ("Loud Bay", "When was it made?"),
}


def chunk(name: str, score: float) -> RetrievedChunk:
    title, content = TEXTS[name]
    return RetrievedChunk(
        document_id=f"doc-{name}", revision=1, file_name=f"{name}.md", chunk_id=f"t{name}",
        type="text", content=content, path=[title], order=0, page_numbers=[], boxes=[],
        content_hash="sha256:0", score=score, channels={"dense": score},
    )  # fmt: skip


def hit(name: str, **fields: Any) -> ProbeHit:
    known = {"document_id": f"doc-{name}", "revision": 1, "chunk_id": f"t{name}", "base": 0.1}
    return ProbeHit(**{**known, **fields})


def read_as(ref: CitedRef) -> RetrievedChunk:
    known = chunk(ref.chunk_id[1:], 0.0)
    others = [
        OtherPlace(document_id=o.document_id, revision=1, source_file_name="", section_path=[])
        for o in ref.equal
    ]
    return known.model_copy(update={"document_id": ref.document_id, "also_in": others})


class Bus:
    """Answers as a retriever would; `fails` maps a subject to the fault it raises."""

    def __init__(self, **fails: Exception) -> None:
        self.fails = fails
        self.also: dict[str, str] = {}
        self.relaxed: list[str] = []
        self.sections: list[SectionFound] = []
        self.similar: float | None = None
        self.asked: list[tuple[str, Any]] = []
        self.ran: list[Any] = []

    async def request(self, subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
        if reply is DocumentsAnswer:
            return DocumentsAnswer(corpus_version=7)
        name = subject.pattern.removeprefix("query.")
        self.asked.append((name, body))
        if name in self.fails:
            raise self.fails[name]
        if name == "retrieve":
            noise = chunk("noise", 0.7).model_copy(update={"similarity": self.similar})
            found = [chunk("film", 0.8), noise]
            return RetrieveAnswer(
                corpus_version=7, strategy="fusion", chunks=found, relaxed_filters=self.relaxed
            )
        if name == "navigate":
            return NavigateAnswer(corpus_version=7, sections=self.sections)
        if name == "hydrate":
            read = [read_as(ref) for ref in body.refs]
            return HydrateAnswer(corpus_version=7, chunks=read)
        found_by = [
            [
                hit("person", channels={"dense": 0.9}, covered=0.5, titled=True, **place)
                for place in [{}, *({"document_id": d} for d in self.also.values())]
            ]
            if mention.name == "mira voss"
            else []
            for mention in body.mentions
        ]
        named = [] if body.mentions else [hit("film", base=0.8, titled=True)]
        return ProbeAnswer(corpus_version=7, found=found_by, named=named)

    async def publish(self, subject: Any, ran: Any, **kwargs: Any) -> None:
        self.ran.append(ran)


class Runs:
    """Runs as the bus recorded them."""

    def __init__(self, bus: Bus) -> None:
        self.bus = bus

    async def get(self, namespace: str, run_id: str) -> Any:
        for ran in self.bus.ran:
            if ran.run_id == run_id:
                steps = [step.model_dump() for step in ran.steps]
                return SimpleNamespace(key_id=ran.key_id, steps=steps)
        return None


async def version(namespace: str) -> int:
    return 7


def count(texts: Any) -> list[int]:
    return [len(text.split()) for text in texts]


class Cache:
    """Answers by their keys."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    async def get(self, key: str) -> Any:
        return self.kept.get(key)

    async def put(self, key: str, response: Any) -> None:
        self.kept[key] = response


def workflow(bus: Bus, cache: Cache | None = None, reads: Understanding | None = None) -> Workflow:
    mode = AgenticMode(cast(Any, bus), cast(Any, Runs(bus)), count)
    documents = SimpleNamespace(corpus_version=version)
    return Workflow(
        cast(Any, bus), cast(Any, documents), cast(Any, cache), "f", mode, reads or Understanding()
    )


def asks(**fields: Any) -> PlanQuery:
    body = {"query": QUESTION, "mode": "agentic", "top_k": 2, **fields}
    return PlanQuery(namespace="acme", key_id="key-1", request=SearchRequest.model_validate(body))


async def test_a_name_in_the_first_evidence_leads_to_the_second() -> None:
    bus = Bus()
    response = await workflow(bus).answer(asks(explain=True))
    assert [e.chunk_id for e in response.evidence] == ["tfilm", "tperson"]
    assert response.evidence[1].explain == {"channels": {"dense": 0.0}, "via": "mira voss"}
    assert [o.title for o in response.outline] == ["Loud Bay"]
    assert (response.status, response.budget.stop_reason) == ("ok", "complete")
    scores = [(e.agent_score, e.discovery_score) for e in response.evidence]
    assert scores == sorted(scores, reverse=True)
    mentions = next(b.mentions for n, b in bus.asked if n == "probe" and b.mentions)
    assert [m.name for m in mentions if "mira" in m.name] == ["mira voss"]


async def test_every_step_is_guided_as_the_classic_search_is() -> None:
    bus, query = Bus(), "Which reports of 2022 in PDF name the director of Quiet Harbour?"
    await workflow(bus, reads=READS).answer(asks(query=query))
    await workflow(bus, reads=READS).answer(asks(query=query, mode="classic"))
    guided = [body.analysis for name, body in bus.asked if name in ("retrieve", "probe")]
    assert len(guided) > 3
    assert guided[0].hard_filters.year == 2022
    assert all(one == guided[0] for one in guided)


def section(path: list[str], **fields: Any) -> SectionFound:
    return SectionFound(document_id="doc-film", revision=1, path=path, title=path[-1], **fields)


async def test_sections_around_the_first_evidence_are_opened_and_others_named() -> None:
    bus = Bus(probe=WorldFault(Code.TIMEOUT, "late"))
    person = hit("person", covered=1.0)
    bus.sections = [
        section(["Cast"], hits=[person]),
        section(["Music"], summary="Who wrote it.", opened=False),
        section(["Quiet Harbour"], opened=False),
    ]
    response = await workflow(bus).answer(asks(explain=True, query="Where was Quiet Harbour shot?"))
    asked = next(body for name, body in bus.asked if name == "navigate")
    assert asked.starts[0].chunk_id == "tfilm"
    assert "shot" in asked.words
    assert "harbour" not in asked.words
    assert ("Music", "Who wrote it.") in [(o.title, o.summary) for o in response.outline]
    assert [o.title for o in response.outline].count("Quiet Harbour") == 0
    found = {e.chunk_id: e for e in response.evidence}["tperson"]
    assert found.explain is not None
    assert found.explain["via"] == "section: Cast"
    assert found.agent_score is not None
    assert 0 < found.agent_score < (response.evidence[0].agent_score or 0)


@pytest.mark.parametrize(("similarity", "order"), [(None, 0), (0.2, 0), (0.6, 1)])
async def test_a_piece_without_the_words_serves_where_it_is_near(
    similarity: float | None, order: int
) -> None:
    """As in another language: only what is neither is of the fallback set."""
    bus = Bus()
    bus.similar = similarity
    response = await workflow(bus).answer(asks(query="Quiet Harbour was shot in 1931.", top_k=3))
    served = [e.chunk_id for e in response.evidence if e.agent_score]
    assert served == ["tfilm", "tnoise"][: 1 + order]


async def test_looking_further_makes_no_corpus_a_small_one() -> None:
    bus = Bus()
    await workflow(bus).answer(asks(query="Compare Quiet Harbour and Loud Bay", top_k=4))
    searches = [body for name, body in bus.asked if name == "retrieve"]
    assert len(searches) == 3
    assert all((body.whole, body.top_k > 4) == (4, True) for body in searches)


async def test_a_claim_is_searched_once_and_nothing_else_is_asked() -> None:
    bus = Bus()
    response = await workflow(bus).answer(asks(query="Quiet Harbour was made by Mira Voss."))
    assert [name for name, _ in bus.asked] == ["retrieve"]
    assert [e.chunk_id for e in response.evidence] == ["tfilm", "tnoise"]


async def test_a_filter_that_the_search_gave_up_binds_no_further_step() -> None:
    bus = Bus()
    bus.relaxed = ["year"]
    query = "Which reports of 2022 name the director of Quiet Harbour?"
    response = await workflow(bus, reads=READS).answer(asks(query=query))
    assert response.relaxed_filters == ["year"]
    hop = next(b for n, b in bus.asked if n == "probe" and b.mentions)
    assert hop.analysis.hard_filters.empty


async def test_equal_content_behind_a_name_is_read_once_with_its_other_places() -> None:
    bus = Bus()
    bus.also["person"] = "other"
    response = await workflow(bus).answer(asks())
    assert [e.chunk_id for e in response.evidence] == ["tfilm", "tperson"]
    assert [o.document_id for o in response.evidence[1].also_in] == ["other"]


async def test_the_receipt_adds_up_and_stays_within_the_budget() -> None:
    response = await workflow(Bus()).answer(asks())
    receipt = response.budget
    assert receipt.spent["tokens"] == sum(step.get("tokens", 0) for step in receipt.steps)
    assert receipt.spent["calls"] == sum(step.get("calls", 0) for step in receipt.steps)
    assert all(receipt.spent[name] <= receipt.limit[name] for name in receipt.limit)
    waited = {step["step_id"]: step.get("after") for step in receipt.steps}
    assert waited["search"] == []
    assert waited["hop_1"] == ["search"]


@pytest.mark.parametrize("tokens", [1, 25, 40, 60])
async def test_pieces_that_the_tokens_do_not_reach_stay_in_the_outline(tokens: int) -> None:
    response = await workflow(Bus()).answer(asks(budget={"tokens": tokens}))
    whole = await workflow(Bus()).answer(asks())
    assert count([response.evidence_text])[0] <= response.budget.spent["tokens"] <= tokens
    assert len(response.evidence) + len(response.outline) == 3
    fewer = len(response.evidence) < len(whole.evidence)
    assert (response.status, response.budget.stop_reason) == (
        ("partial", "tokens") if fewer else ("ok", "complete")
    )


async def test_equal_queries_have_equal_evidence() -> None:
    first, second = [await workflow(Bus()).answer(asks()) for _ in range(2)]
    assert first.evidence == second.evidence
    assert first.outline == second.outline


async def test_a_run_is_continued_without_its_evidence() -> None:
    bus = Bus()
    work = workflow(bus)
    first = await work.answer(asks())
    await work.finish()
    more = await work.answer(asks(**{"continue": first.run_id}))
    await work.finish()
    assert [e.chunk_id for e in more.evidence] == ["tnoise"]
    assert sorted(c for _, c in bus.ran[1].steps[-1].outputs[EVIDENCE]) == [
        "tfilm", "tnoise", "tperson",
    ]  # fmt: skip


async def test_a_run_that_the_cache_answered_is_continued_as_well() -> None:
    bus = Bus()
    work = workflow(bus, Cache())
    first = await work.answer(asks())
    await work.finish()
    again = await work.answer(asks())
    await work.finish()
    more = await work.answer(asks(**{"continue": again.run_id}))
    await work.finish()
    repeated = await work.answer(asks(**{"continue": again.run_id}))
    await work.finish()
    last = await work.answer(asks(**{"continue": repeated.run_id}))
    assert (again.cached, repeated.cached) == (True, True)
    assert [e.chunk_id for e in first.evidence] == ["tfilm", "tperson"]
    assert [e.chunk_id for e in more.evidence] == ["tnoise"]
    assert last.evidence == []


async def test_a_classic_run_is_continued_as_well() -> None:
    bus = Bus()
    work = workflow(bus)
    first = await work.answer(asks(mode="classic", top_k=1))
    await work.finish()
    more = await work.answer(asks(**{"continue": first.run_id}))
    given = {e.chunk_id for e in first.evidence}
    assert given
    assert more.evidence
    assert not given & {e.chunk_id for e in more.evidence}


async def test_another_keys_run_cannot_be_continued() -> None:
    bus = Bus()
    work = workflow(bus)
    first = await work.answer(asks())
    await work.finish()
    other = asks(**{"continue": first.run_id}).model_copy(update={"key_id": "key-2"})
    with pytest.raises(CallerFault) as refused:
        await work.answer(other)
    assert refused.value.code is Code.NOT_FOUND


async def test_a_hop_without_an_answer_leaves_what_the_search_found() -> None:
    response = await workflow(Bus(probe=WorldFault(Code.TIMEOUT, "late"))).answer(asks())
    assert (response.status, response.budget.stop_reason) == ("partial", "time")
    assert [e.chunk_id for e in response.evidence] == ["tfilm", "tnoise"]


async def test_the_trace_tells_the_plan() -> None:
    bus = Bus()
    work = workflow(bus)
    await work.answer(asks())
    await work.finish()
    planner = bus.ran[0].trace["planner"]
    assert (planner["pipeline"], planner["strategy"]) == ("agentic", "bridge")
    assert planner["stage_sequence"] == [
        "search", "around", "hop_1", "hop_2", "open", "render",
    ]  # fmt: skip


async def test_planning_takes_its_part_of_the_time() -> None:
    bus = Bus()
    work = workflow(bus)
    await work.answer(asks())
    await work.finish()
    planner = bus.ran[0].trace["planner"]
    assert planner["stage_latencies_ms"]["query_analysis_ms"] > 0


async def test_an_answer_from_the_cache_is_recorded_as_agentic() -> None:
    bus = Bus()
    work = workflow(bus, Cache())
    first = await work.answer(asks())
    await work.finish()
    again = await work.answer(asks())
    await work.finish()
    assert (again.cached, again.evidence) == (True, first.evidence)
    planner = bus.ran[1].trace["planner"]
    assert (bus.ran[1].mode, planner["pipeline"]) == ("agentic", "agentic")
    assert (planner["strategy"], planner["stage_sequence"]) == ("cache", ["cache"])


async def test_what_time_ended_before_is_told_in_words_and_the_rest_is_given() -> None:
    late = WorldFault(Code.TIMEOUT, "late")
    response = await workflow(Bus(probe=late, navigate=late)).answer(asks())
    assert response.status_reason.startswith(
        "the time of this query ended before a hop answered, the sections around were read: "
    )
    assert response.evidence


def test_a_claim_is_one_search_and_a_comparison_asks_for_its_sides() -> None:
    claim = plan("Vitamin D lowers the risk of fractures.")
    assert [step.step_id for step in claim.steps] == ["search"]
    both = plan("Who is older, Mira Voss or Jon Arle?")
    assert both.shape == "comparison"
    assert [step.side for step in both.steps if step.side] == ["mira voss", "jon arle"]


@pytest.mark.parametrize(
    ("query", "sides"),
    [
        ("Are Nantong and Jingdezhen in the same province?", ["nantong", "jingdezhen"]),
        ("Compare Germany and France with Japan", ["germany", "france", "japan"]),
        ("Which came first, Fire and Ice or Loud Bay?", ["fire and ice", "loud bay"]),
        ("Who directed Fire and Ice?", []),
    ],
)
def test_the_sides_that_are_planned_are_those_that_are_verified(
    query: str, sides: list[str]
) -> None:
    assert [step.side for step in plan(query).steps if step.side] == compared(query) == sides
    assert (plan(query).shape == "comparison") is bool(sides)
