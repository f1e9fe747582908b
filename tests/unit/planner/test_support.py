"""When nothing that was found is about the query, by the words that it holds and how near it is."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from libs.contracts.api.search import PlanQuery, RetrieveAnswer, RetrievedChunk, SearchRequest
from services.planner.agentic.mode import AgenticMode
from services.planner.support import unsupported
from services.planner.understanding import Understanding
from services.planner.workflow import Workflow

PUMP = "The pump needs 40 g of grease every 2,000 hours."
SADARI = "사다리 안전 교육은 반기마다 실시한다."


def chunk(content: str, similarity: float | None, **more: Any) -> RetrievedChunk:
    fields = {
        "document_id": "d", "revision": 1, "file_name": "a.md", "chunk_id": "t1", "type": "text",
        "content": content, "path": [], "order": 0, "page_numbers": [], "boxes": [],
        "content_hash": "sha256:ab", "score": 1.0, "similarity": similarity,
    }  # fmt: skip
    return RetrievedChunk(**{**fields, **more})


@pytest.mark.parametrize(
    ("query", "content", "similarity", "refused"),
    [
        # gibberish is near to much, and stands nowhere
        ("xqzv blorptak wimfle", PUMP, 0.6, True),
        ("뷁쀍 꿻뛟 쮧쉙", SADARI, 0.6, True),
        ("ㅁㄴㅇㄹ ㅋㅋㅋ", SADARI, 0.6, True),
        ("How does the zorblatt frinkle?", PUMP, 0.5, True),
        # another subject
        ("Who painted the ceiling of the Sistine Chapel?", PUMP, 0.3, True),
        ("Which pump did the Sistine Chapel choir record in 1991?", PUMP, 0.5, True),
        # words enough, or near enough
        ("How much grease does the pump need?", PUMP, 0.45, False),
        ("lubrication interval of the pump in running time", PUMP, 0.6, False),
        ("아내가 아이를 낳으면 며칠 쉴 수 있어?", "배우자 출산휴가는 10일이다.", 0.66, False),
        ("아내가 애를 낳으면 며칠 쉬나?", "아내 휴가", 0.56, False),
        ("장롱 버리려고 하는데", "배우자 출산휴가는 10일이다.", 0.62, False),
        ("아내들은 어디로 가나요?", "배우자 출산휴가는 10일이다.", 0.56, True),
        # another script: words cannot be compared
        ("How often is ladder safety taught?", SADARI, 0.42, False),
        ("Who won the cup in 2002?", SADARI, 0.3, True),
        ("펌프 그리스 양", PUMP, 0.42, False),
        # nothing but words that do not tell
        ("what is it?", PUMP, 0.3, False),
        # the dense channel is off: one word is enough
        ("grease on a plate", PUMP, None, False),
        ("How does the zorblatt frinkle?", PUMP, None, True),
    ],
)
def test_words_and_nearness_decide_together(
    query: str, content: str, similarity: float | None, refused: bool
) -> None:
    assert bool(unsupported(query, [chunk(content, similarity)])) is refused


@pytest.mark.parametrize(
    ("query", "similarity", "few", "many"),
    [
        ("아내가 아이를 낳으면 며칠 쉴 수 있어?", 0.63, False, True),
        ("아내가 아이를 낳으면 며칠 쉴 수 있어?", 0.67, False, False),
        # the best of many pieces holds a third of the words by chance
        ("grease for Greek salads", 0.45, False, True),
        ("grease for Greek salads", 0.5, False, False),
        # all of the words are never chance
        ("pump grease", 0.1, False, False),
    ],
)
def test_the_best_of_many_pieces_has_to_be_better_than_that_of_a_few(
    query: str, similarity: float, few: bool, many: bool
) -> None:
    content = "배우자 출산휴가는 10일이다." if similarity > 0.6 else PUMP
    found = [chunk(content, similarity)]
    assert bool(unsupported(query, found, searched=79)) is few
    for searched in (800, 1_000_000):
        assert bool(unsupported(query, found, searched=searched)) is many


def test_between_few_and_many_pieces_more_is_asked_step_by_step() -> None:
    found = [chunk("배우자 출산휴가는 10일이다.", 0.63)]
    sizes = [100, 200, 280, 300, 400, 800]
    refused = [bool(unsupported("장롱 버리려고 하는데", found, searched=size)) for size in sizes]
    assert refused == [False, False, False, True, True, True]


def test_one_piece_that_speaks_for_itself_is_enough() -> None:
    far = chunk("unrelated", 0.2)
    assert unsupported("grease for the pump", [far])
    assert not unsupported("grease for the pump", [far, chunk(PUMP, None)])
    assert not unsupported("anything at all", [])


def test_a_name_in_heading_or_file_counts_as_a_word_of_the_piece() -> None:
    query = "warranty of the HP-350"
    assert unsupported(query, [chunk("Three years.", 0.3)])
    assert not unsupported(query, [chunk("Three years.", 0.3, path=["HP-350", "Warranty"])])
    assert not unsupported(query, [chunk("Three years.", 0.3, file_name="warranty-hp-350.md")])


def test_the_cells_of_a_table_and_a_summary_are_words_of_the_piece() -> None:
    query = "Tonnage Busan"
    assert unsupported(query, [chunk("Table 3", 0.3)])
    html = '<table><tr><td colspan="2">Busan</td><td>Tonnage</td></tr></table>'
    assert not unsupported(query, [chunk("Table 3", 0.3, html=html)])
    assert not unsupported(query, [chunk("Table 3", 0.3, summary="Tonnage of Busan")])
    assert unsupported("colspan table", [chunk("other", 0.3, html=html)])


class Bus:
    """Finds one piece, whatever is asked."""

    def __init__(self, **answer: Any) -> None:
        self.answer = {"strategy": "fusion", "chunks": [chunk(PUMP, 0.3)], **answer}
        self.asked: list[str] = []
        self.ran: list[Any] = []

    async def request(self, subject: Any, body: Any, reply: Any, *, timeout: float) -> Any:
        self.asked.append(subject.pattern)
        if reply is RetrieveAnswer:
            return RetrieveAnswer(corpus_version=7, **self.answer)
        return reply(corpus_version=7)

    async def publish(self, subject: Any, ran: Any, **kwargs: Any) -> None:
        self.ran.append(ran)


async def run(bus: Bus, mode: str, query: str) -> tuple[Any, dict[str, Any]]:
    async def version(namespace: str) -> int:
        return 7

    def count(texts: Any) -> list[int]:
        return [len(text.split()) for text in texts]

    documents = SimpleNamespace(corpus_version=version)
    agentic = AgenticMode(cast(Any, bus), cast(Any, None), count)
    work = Workflow(
        cast(Any, bus), cast(Any, documents), None, "f", agentic, understanding=Understanding()
    )
    request = SearchRequest.model_validate({"query": query, "mode": mode})
    response = await work.answer(PlanQuery(namespace="acme", key_id="k", request=request))
    await work.finish()
    return response, bus.ran[0].trace["planner"]


@pytest.mark.parametrize("mode", ["classic", "agentic"])
async def test_both_modes_abstain_and_say_why(mode: str) -> None:
    response, planner = await run(Bus(), mode, "Who painted the Sistine Chapel?")
    assert (response.status, response.query_type) == ("abstained", "abstention")
    assert (response.evidence, response.evidence_text, response.outline) == ([], "", [])
    assert "nothing that was found is about the query" in response.status_reason
    assert planner["attempts"][-1]["verified"] is False
    assert planner["attempts"][-1]["verification_reasons"] == ["unsupported"]


@pytest.mark.parametrize("mode", ["classic", "agentic"])
async def test_how_much_was_searched_counts_in_both_modes(mode: str) -> None:
    query, found = "grease for Greek salads", [chunk(PUMP, 0.45)]
    assert (await run(Bus(chunks=found, searched=79), mode, query))[0].status != "abstained"
    assert (await run(Bus(chunks=found, searched=5_000), mode, query))[0].status == "abstained"


@pytest.mark.parametrize("mode", ["classic", "agentic"])
@pytest.mark.parametrize("answer", [{"strategy": "small_corpus"}, {"unfinished": ["dense"]}])
async def test_what_is_returned_whole_or_cut_by_time_is_not_judged(
    mode: str, answer: dict[str, Any]
) -> None:
    response, _ = await run(Bus(**answer), mode, "Who painted the Sistine Chapel?")
    assert response.status != "abstained"
