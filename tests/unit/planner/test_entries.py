from pathlib import Path
from typing import Any, cast

import pytest

from libs.contracts.entries import CollectionSettings, EntryWeights
from libs.contracts.faults import CallerFault
from libs.contracts.query.entries import (
    EntryHit,
    EntrySearch,
    FindQuery,
    MatchAnswer,
    MatchQuery,
)
from libs.runtime.collections import save_settings
from libs.runtime.models.caches import MemoryAnswers
from libs.runtime.models.client import EndpointModel
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.tokens import TokenEstimate
from libs.runtime.models.use import ModelUse
from services.planner.analysis.terms import Terms
from services.planner.entries import Finder, Form, category_of, forms, quality
from services.planner.entry_models import EntryModels
from tests.support.fakes import Objects
from tests.support.models import FakeModels, Say, Status

NO_TERMS = Terms(synonyms=[], translations={})


def hit(key: str, similarity: float) -> EntryHit:
    return EntryHit(id=key, name=key, score=0.1, similarity=similarity)


def test_quality_weighs_the_first_and_the_mean_of_three():
    assert quality([hit("a", 0.9), hit("b", 0.6), hit("c", 0.3), hit("d", 1.0)]) == pytest.approx(
        0.7 * 0.9 + 0.3 * 0.6
    )
    assert quality([hit("a", 0.5)]) == pytest.approx(0.5)
    assert quality([]) == 0.0


RULES = {"카드": ["카드", "결제", "한도"], "이체": ["송금", "이체", "한도"]}


@pytest.mark.parametrize(
    ("query", "category"),
    [
        ("카드 결제가 안 돼요", "카드"),
        ("이체 한도를 올려줘", "이체"),
        ("한도를 올려줘", None),
        ("카드 한도와 이체", None),
    ],
)
def test_two_words_of_a_rule_name_the_category(query, category):
    assert category_of(query, RULES) == category


def test_a_query_is_rewritten_to_its_words_and_then_to_their_synonyms():
    made = forms("통장에서 돈을 보내고 싶어요", [["돈", "금액"]], NO_TERMS, 2)
    assert made[0].text == "통장에서 돈을 보내고 싶어요"
    assert {form.words for form in made} == {made[0].words}
    assert "금액" in made[0].words.split()
    assert made[1].text.startswith("통장 ")
    assert "금액" in made[2].text.split()
    assert "돈" not in made[2].text.split()


def test_no_form_is_searched_twice():
    assert forms("환율", [], NO_TERMS, 2) == [Form("환율", "환율")]
    assert len(forms("달러의 환율을 조회", [["환율", "시세"]], NO_TERMS, 0)) == 1


class Retriever:
    """Answers each attempt with the next of these lists."""

    def __init__(self, *answers: list[EntryHit] | None) -> None:
        self.answers = list(answers)
        self.asked: list[MatchQuery] = []

    async def request(self, subject: Any, body: MatchQuery, reply: Any, timeout: float) -> Any:
        self.asked.append(body)
        found = self.answers.pop(0)
        return MatchAnswer(known=found is not None, corpus_version=3, entries=found or [])


async def find(
    retriever: Retriever,
    query: str,
    settings: CollectionSettings | None = None,
    models: EntryModels | None = None,
):
    objects = cast(Any, Objects())
    if settings is not None:
        await save_settings(objects, "acme", "app", settings)
    asked = FindQuery(
        namespace="acme", collection="app", request=EntrySearch(query=query, milliseconds=60_000)
    )
    return await Finder(cast(Any, retriever), objects, models).find(asked)


async def test_a_good_answer_ends_the_loop():
    retriever = Retriever([hit("a", 0.6)])
    found = await find(retriever, "환율을 조회하고 싶어요")
    assert [e.id for e in found.entries] == ["a"]
    assert [(a.query, a.quality) for a in found.attempts] == [("환율을 조회하고 싶어요", 0.6)]


async def test_weak_answers_are_asked_again_and_the_best_is_returned():
    settings = CollectionSettings(synonyms=[["환율", "시세"]])
    retriever = Retriever([hit("a", 0.35)], [hit("b", 0.5)], [hit("c", 0.3)])
    found = await find(retriever, "환율을 조회하고 싶어요", settings)
    assert [e.id for e in found.entries] == ["b"]
    assert [a.quality for a in found.attempts] == [0.35, 0.5, 0.3]
    assert {body.original for body in retriever.asked} == {"환율을 조회하고 싶어요"}
    assert len({body.text for body in retriever.asked}) == 3


async def test_what_rules_worded_must_be_clearly_better():
    settings = CollectionSettings(synonyms=[["환율", "시세"]])
    retriever = Retriever([hit("a", 0.4)], [hit("b", 0.44)], [hit("c", 0.0)])
    found = await find(retriever, "환율을 조회하고 싶어요", settings)
    assert [e.id for e in found.entries] == ["a"]
    assert len(found.attempts) == 3


async def test_the_lexical_channel_is_given_all_that_was_said():
    retriever = Retriever([hit("a", 0.4)], [hit("b", 0.5)], [])
    await find(retriever, "환율을 조회하고 싶어요", CollectionSettings(synonyms=[["환율", "시세"]]))
    assert [body.said for body in retriever.asked] == [body.text for body in retriever.asked]
    assert all("시세" in body.words.split() for body in retriever.asked)
    assert "시세" not in retriever.asked[0].said


@pytest.mark.parametrize(
    ("query", "near"),
    [("ㅁㄴㅇㄹ ㅂㅈ", 0.0), ("?!", 0.0), ("ㅋㅋ 환불", 1.5), ("돈", 1.5), ("7", 1.5)],
)
async def test_what_holds_no_word_is_near_to_nothing(query, near):
    retriever = Retriever(*[[] for _ in range(3)])
    found = await find(retriever, query)
    assert found.entries == []
    assert {body.weights.dense for body in retriever.asked} == {near}
    assert all(body.weights.lexical == 0.5 for body in retriever.asked)


async def test_rewriting_can_be_switched_off():
    settings = CollectionSettings(weights=EntryWeights(rewrites=0))
    retriever = Retriever([hit("a", 0.1)])
    assert len((await find(retriever, "환율을 조회", settings)).attempts) == 1


async def test_a_category_that_leaves_nothing_is_given_up():
    settings = CollectionSettings(categories={"카드": ["카드", "결제"]})
    retriever = Retriever([], [hit("a", 0.9)])
    found = await find(retriever, "카드 결제", settings)
    assert [body.category for body in retriever.asked] == ["카드", None]
    assert (found.category, [e.id for e in found.entries]) == (None, ["a"])


@pytest.mark.parametrize(
    ("inside", "outside", "kept"), [(0.35, 0.5, None), (0.4, 0.45, "카드"), (0.6, 0.9, "카드")]
)
async def test_a_category_is_given_up_only_for_what_is_clearly_better(inside, outside, kept):
    settings = CollectionSettings(
        categories={"카드": ["카드", "결제"]}, weights=EntryWeights(rewrites=0)
    )
    retriever = Retriever([hit("a", inside)], [hit("b", outside)])
    found = await find(retriever, "카드 결제", settings)
    assert found.category == kept
    assert [e.id for e in found.entries] == ["a" if kept else "b"]
    assert len(retriever.answers) == (1 if inside == 0.6 else 0)


async def test_a_collection_without_entries_is_not_found():
    with pytest.raises(CallerFault) as caught:
        await find(Retriever(None), "x")
    assert caught.value.status == 404


@pytest.fixture
def server():
    with FakeModels() as running:
        yield running


@pytest.fixture
async def opened(server: FakeModels, model_cache: Path):
    """Makes models that are loaded already, so that no test waits for an import."""
    made: list[EndpointModel] = []

    async def open_one(use: ModelUse) -> EndpointModel:
        endpoint = Endpoint(url=server.url, name="fake")
        made.append(EndpointModel(use, endpoint, TokenEstimate(model_cache)))
        await made[-1].warm_up()
        return made[-1]

    yield open_one
    for one in made:
        await one.close()


async def test_an_imagined_entry_changes_the_vector_and_nothing_else(server: FakeModels, opened):
    server.otherwise = Say("환율 조회. 오늘의 환율을 봅니다.")
    models = EntryModels(await opened(ModelUse.HYDE), None, MemoryAnswers())
    settings = CollectionSettings(weights=EntryWeights(hyde=True))
    retriever = Retriever([hit("a", 0.9)], [hit("a", 0.9)], [hit("a", 0.9)])
    found = await find(retriever, "달러 얼마야", settings, models)
    body = retriever.asked[0]
    assert body.text == "환율 조회. 오늘의 환율을 봅니다."
    assert (body.original, body.telling) == ("달러 얼마야", ["달러", "얼마야"])
    assert body.said == "달러 얼마야"
    assert "환율" not in body.words.split()
    assert [(a.query, a.hyde) for a in found.attempts] == [("달러 얼마야", True)]
    assert server.asked[0].body["temperature"] == 0.1
    await find(retriever, "달러 얼마야", settings, models)
    assert len(server.asked) == 1
    await find(retriever, "달러 얼마야", None, models)
    assert retriever.asked[2].text == "달러 얼마야"


async def test_a_model_that_fails_is_done_without(server: FakeModels, opened):
    server.otherwise = Status(400)
    models = EntryModels(await opened(ModelUse.HYDE), await opened(ModelUse.REWRITE))
    settings = CollectionSettings(weights=EntryWeights(hyde=True))
    retriever = Retriever([hit("a", 0.4)], [hit("b", 0.5)], [hit("c", 0.3)])
    found = await find(retriever, "환율을 조회하고 싶어요", settings, models)
    assert retriever.asked[0].text == "환율을 조회하고 싶어요"
    assert [(a.by, a.hyde) for a in found.attempts] == [("query", False), ("rules", False)]


async def test_a_model_rewords_what_found_nothing_good_and_knows_what_was_tried(
    server: FakeModels, opened
):
    server.will(Say('{"query": "환율 조회"}'), Say('{"query": "환율 조회"}'))
    models = EntryModels(None, await opened(ModelUse.REWRITE))
    retriever = Retriever([hit("a", 0.1)], [hit("b", 0.3)], [hit("c", 0.2)])
    found = await find(retriever, "달러를 사려면 얼마야", None, models)
    assert [(a.by, a.query) for a in found.attempts][:2] == [
        ("query", "달러를 사려면 얼마야"),
        ("model", "환율 조회"),
    ]
    assert found.attempts[2].by == "rules"
    assert [e.id for e in found.entries] == ["b"]
    assert "<tried>환율 조회</tried>" in server.asked[1].user
    assert retriever.asked[1].original == "달러를 사려면 얼마야"
