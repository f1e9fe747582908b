"""The client of language models against a server that misbehaves in every known way."""

import asyncio

import pytest
from pydantic import BaseModel, Field

from libs.contracts.faults import Code, WorldFault
from libs.runtime.models.budget import Budget
from libs.runtime.models.caches import MemoryAnswers
from libs.runtime.models.failure import ModelFailed, Reason
from libs.runtime.models.keys import REFUSED_SECONDS, WINDOW_SECONDS
from libs.runtime.models.tries import TRIES, TRIPPED_SECONDS, TRIPS_AFTER
from tests.support.models import Break, FakeModels, Hang, Raw, Reply, Say, Status, spoken
from tests.unit.models.conftest import FastClock, Open


class Level(BaseModel):
    level: int = Field(ge=1, le=6)
    title: str


GOOD = {"level": 2, "title": "Zweck"}
PNG = b"\x89PNG\r\n\x1a\n"


async def failure(work: object) -> ModelFailed:
    with pytest.raises(ModelFailed) as caught:
        await work  # type: ignore[misc]
    return caught.value


async def test_an_answer_carries_text_counts_and_how_it_ended(
    opened: Open, server: FakeModels
) -> None:
    server.will(Say("four words of text"))
    answer = await opened().text("be brief", "say something", max_tokens=50)
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("four words of text", 11, 18)
    assert (answer.finish, answer.cached) == ("stop", False)
    (asked,) = server.asked
    assert (asked.system, asked.user, asked.key) == ("be brief", "say something", "key-a")
    assert (asked.body["model"], asked.body["max_tokens"]) == ("fake", 50)
    assert asked.body["temperature"] == 0.0
    assert "response_format" not in asked.body


async def test_tokens_are_estimated_where_the_server_does_not_count(
    opened: Open, server: FakeModels
) -> None:
    server.will(Say("one two three four five", usage=False))
    answer = await opened().text("", "a question of a few words", max_tokens=50)
    assert 4 <= answer.tokens_out <= 10
    assert 6 <= answer.tokens_in <= 30


async def test_pictures_are_sent_as_data(opened: Open, server: FakeModels) -> None:
    await opened().text("", "what is shown", max_tokens=50, images=[PNG])
    text, picture = server.asked[0].body["messages"][0]["content"]
    assert text["text"] == "what is shown"
    assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    with pytest.raises(ValueError, match="PNG"):
        await opened().text("", "what is shown", max_tokens=50, images=[b"BM"])


@pytest.mark.parametrize(
    "bad",
    [
        Status(500),
        Status(503, retry_after="2"),
        Break(),
        Break("half an answer"),
        Say("", finish="stop"),
        Raw(b"data: {not json\n\n"),
        Raw(b'data: {"error": {"message": "boom"}}\n\n'),
        Say("no end", finish=None),
        Raw(b"data: [DONE]\n\n"),
    ],
    ids=lambda reply: f"{type(reply).__name__}-{getattr(reply, 'status', '')}",
)
async def test_what_passes_is_tried_again(opened: Open, server: FakeModels, bad: Reply) -> None:
    server.will(bad, bad, Say("at last"))
    answer = await opened().text("", "question", max_tokens=50)
    assert answer.text == "at last"
    assert len(server.asked) == 3


async def test_what_does_not_pass_ends_after_a_few_tries(
    opened: Open, server: FakeModels, time: FastClock
) -> None:
    server.otherwise = Status(502)
    failed = await failure(opened().text("", "question", max_tokens=50))
    assert (failed.reason, failed.transient) == (Reason.BROKEN, True)
    assert isinstance(failed, WorldFault)
    assert failed.code is Code.MODEL_FAILED
    assert len(server.asked) == TRIES
    assert len(time.slept) == TRIES - 1


async def test_pieces_without_choices_or_content_are_passed_over(
    opened: Open, server: FakeModels
) -> None:
    server.will(Say("whole in the end", odd=True))
    assert (await opened().text("", "question", max_tokens=50)).text == "whole in the end"


@pytest.mark.parametrize("header", ["7", "Wed, 21 Oct 2015 07:28:00 GMT", None])
async def test_a_rate_limited_key_rests_as_long_as_it_is_told(
    opened: Open, server: FakeModels, time: FastClock, header: str | None
) -> None:
    server.will(Status(429, retry_after=header), Say("now"))
    answer = await opened().text("", "question", max_tokens=50)
    assert answer.text == "now"
    expected = {"7": 7.0, None: 1.0}.get(header, 0.0)
    assert sum(time.slept) == pytest.approx(expected, abs=0.5)


async def test_another_key_takes_over_at_once(
    opened: Open, server: FakeModels, time: FastClock
) -> None:
    server.will(Status(429, retry_after="40"), Say("b"), Say("b again"))
    model = opened(keys="key-a, key-b")
    assert (await model.text("", "one", max_tokens=50)).text == "b"
    assert (await model.text("", "two", max_tokens=50)).text == "b again"
    assert server.keys == ["key-a", "key-b", "key-b"]
    assert time.slept == []


async def test_a_wait_that_ends_too_late_is_not_begun(
    opened: Open, server: FakeModels, time: FastClock
) -> None:
    server.will(Status(429, retry_after="40"))
    failed = await failure(opened().text("", "question", max_tokens=50, seconds=30))
    assert failed.reason is Reason.RATE_LIMITED
    assert failed.code is Code.RATE_LIMITED
    assert failed.retry_after == pytest.approx(40, abs=5)
    assert time.slept == []


async def test_each_key_keeps_its_own_rate(
    opened: Open, server: FakeModels, time: FastClock
) -> None:
    model = opened(keys="key-a,key-b", rpm="2,1")
    for number in range(3):
        await model.text("", f"question {number}", max_tokens=50)
    assert sorted(server.keys) == ["key-a", "key-a", "key-b"]
    assert time.slept == []
    await model.text("", "one more", max_tokens=50)
    assert sum(time.slept) == pytest.approx(WINDOW_SECONDS, abs=5)


async def test_refused_keys_are_left_alone_and_the_last_one_is_an_error(
    opened: Open, server: FakeModels, time: FastClock
) -> None:
    model = opened(keys="key-a,key-b")
    server.will(Status(401), Say("b"))
    assert (await model.text("", "one", max_tokens=50)).text == "b"
    server.will(Status(429, code="insufficient_quota"))
    failed = await failure(model.text("", "two", max_tokens=50))
    assert (failed.reason, failed.transient) == (Reason.REFUSED, False)
    failed = await failure(model.text("", "three", max_tokens=50))
    assert failed.reason is Reason.REFUSED
    assert len(server.asked) == 3
    await time.sleep(REFUSED_SECONDS)
    assert (await model.text("", "four", max_tokens=50)).text == "ok"


async def test_a_server_that_falls_silent_costs_no_more_than_the_time_given(
    opened: Open, server: FakeModels
) -> None:
    server.will(Hang("half"))
    failed = await failure(opened().text("", "question", max_tokens=50, seconds=0.3))
    assert (failed.reason, failed.transient) == (Reason.TIMEOUT, True)


async def test_a_server_that_is_away_is_not_asked_every_time(opened: Open, time: FastClock) -> None:
    model = opened(url="http://127.0.0.1:9/v1")
    for _ in range(TRIPS_AFTER):
        failed = await failure(model.text("", "question", max_tokens=50))
        assert failed.reason is Reason.UNREACHABLE
    paused = len(time.slept)
    failed = await failure(model.text("", "question", max_tokens=50))
    assert failed.reason is Reason.UNREACHABLE
    assert len(time.slept) == paused, "it fails at once"
    await time.sleep(TRIPPED_SECONDS + 1)
    await failure(model.text("", "question", max_tokens=50))
    assert len(time.slept) > paused + 1, "it is tried again"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Say("partly", finish="content_filter"), Reason.FILTERED),
        (Status(400, code="content_filter"), Reason.FILTERED),
        (Status(400, code="context_length_exceeded"), Reason.TOO_LONG),
        (Status(404), Reason.INVALID),
        (Status(400, message="it is wrong"), Reason.INVALID),
        (Status(302), Reason.INVALID),
        (Status(500, message="image input is not supported - hint: mmproj"), Reason.INVALID),
    ],
)
async def test_what_cannot_pass_is_not_tried_again(
    opened: Open, server: FakeModels, reply: Reply, reason: Reason
) -> None:
    server.will(reply)
    failed = await failure(opened().text("", "question", max_tokens=50))
    assert (failed.reason, failed.transient) == (reason, False)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("refusal", "gone", "instead"),
    [
        ("Use 'max_completion_tokens' instead of 'max_tokens'", "max_tokens", True),
        ("Unsupported value: 'temperature'", "temperature", False),
        ("stream_options is not permitted", "stream_options", False),
    ],
)
async def test_parameters_that_a_server_does_not_know_are_left_out_from_then_on(
    opened: Open, server: FakeModels, refusal: str, gone: str, instead: bool
) -> None:
    server.will(Status(400, message=refusal), Say("one"), Say("two"))
    model = opened()
    assert (await model.text("", "one", max_tokens=50)).text == "one"
    assert (await model.text("", "two", max_tokens=50)).text == "two"
    assert [gone in asked.body for asked in server.asked] == [True, False, False]
    assert ("max_completion_tokens" in server.asked[2].body) is instead


async def test_a_server_that_does_not_stream_is_asked_for_the_whole(
    opened: Open, server: FakeModels
) -> None:
    server.will(Say("whole", whole=True), Say("whole"))
    assert (await opened().text("", "question", max_tokens=50)).text == "whole"
    assert "stream" not in server.asked[1].body


async def test_an_answer_that_runs_on_for_ever_is_cut(opened: Open, server: FakeModels) -> None:
    server.will(Say("x" * 100_000))
    answer = await opened().text("", "question", max_tokens=50)
    assert answer.finish == "length"
    assert len(answer.text) < 60_000


async def test_an_object_is_read_out_of_prose(opened: Open, server: FakeModels) -> None:
    server.will(
        Say(
            '<think>{"level": 1, "title": "no"}</think>Sure! Here {it} is:\n'
            '```json\n{"level": 2, "title": "Zweck"}\n```\nAnything else?'
        )
    )
    found = await opened().json("level the heading", "1. Zweck", Level, max_tokens=50)
    assert found == Level(**GOOD)
    (asked,) = server.asked
    assert "JSON" in asked.system
    assert '"maximum":6' in asked.system
    assert asked.body["response_format"] == {"type": "json_object"}


async def test_an_object_that_was_cut_is_asked_for_with_more_room(
    opened: Open, server: FakeModels
) -> None:
    server.will(Say('{"level": 2, "ti', finish="length"), spoken(GOOD))
    assert await opened().json("", "1. Zweck", Level, max_tokens=50) == Level(**GOOD)
    assert [asked.body["max_tokens"] for asked in server.asked] == [50, 100]


async def test_a_text_that_was_cut_in_its_reasoning_is_none(
    opened: Open, server: FakeModels
) -> None:
    server.will(Say("<think>so far", finish="length"))
    failed = await failure(opened().text("", "1. Zweck", max_tokens=50))
    assert failed.reason is Reason.TRUNCATED


async def test_an_object_that_stays_cut_is_never_applied(opened: Open, server: FakeModels) -> None:
    server.otherwise = Say('{"level": 2, "ti', finish="length")
    failed = await failure(opened().json("", "1. Zweck", Level, max_tokens=50))
    assert (failed.reason, len(server.asked)) == (Reason.TRUNCATED, 2)


@pytest.mark.parametrize(
    "text", ['{"level": 9, "title": "t"}', "no", '{"level": "<b>"}', '{"a":' * 5000, "[1, 2]"]
)
async def test_an_invalid_object_is_asked_for_once_more_with_what_was_wrong(
    opened: Open, server: FakeModels, text: str
) -> None:
    server.will(Say(text), spoken(GOOD))
    assert await opened().json("", "1. Zweck", Level, max_tokens=20_000) == Level(**GOOD)
    assert server.asked[1].user.startswith("That was not it")
    server.otherwise = Say(text)
    failed = await failure(opened().json("", "2. Zweck", Level, max_tokens=20_000))
    assert (failed.reason, failed.transient) == (Reason.INVALID, False)


async def test_deterministic_answers_are_paid_once(opened: Open, server: FakeModels) -> None:
    cache, model = MemoryAnswers(), opened()
    first = await model.text("s", "u", max_tokens=50, cache=cache)
    again = await model.text("s", "u", max_tokens=50, cache=cache)
    assert (first.cached, again.cached, again.text) == (False, True, first.text)
    await model.text("s", "u", max_tokens=51, cache=cache)
    await model.text("s", "other", max_tokens=50, cache=cache)
    await model.text("s", "u", max_tokens=50, cache=cache, temperature=0.3)
    await model.text("s", "u", max_tokens=50, cache=cache, temperature=0.3)
    assert len(server.asked) == 5


async def test_a_key_of_its_own_makes_any_call_paid_once(opened: Open, server: FakeModels) -> None:
    cache, model = MemoryAnswers(), opened()
    for user in ("u", "worded otherwise"):
        await model.text("", user, max_tokens=50, temperature=0.3, cache=cache, cache_key="k")
    assert len(server.asked) == 1


async def test_only_valid_objects_are_kept(opened: Open, server: FakeModels) -> None:
    cache, model = MemoryAnswers(), opened()
    server.will(Say("no"), Say("no"), spoken(GOOD))
    await failure(model.json("", "u", Level, max_tokens=50, cache=cache))
    for _ in range(2):
        assert await model.json("", "u", Level, max_tokens=50, cache=cache) == Level(**GOOD)
    assert len(server.asked) == 3


async def test_a_budget_is_reserved_before_and_settled_after(
    opened: Open, server: FakeModels
) -> None:
    budget, model = Budget(tokens=1000, calls=2), opened()
    await model.text("", "question", max_tokens=50, budget=budget)
    assert (budget.tokens_spent, budget.calls_spent) == (13, 1)
    failed = await failure(model.text("", "question", max_tokens=1000, budget=budget))
    assert (failed.reason, len(server.asked)) == (Reason.BUDGET, 1)
    assert (budget.tokens_left, budget.calls_left) == (987, 1)


async def test_calls_at_the_same_time_never_pass_the_budget(
    opened: Open, server: FakeModels
) -> None:
    budget, model = Budget(calls=3), opened()
    work = [model.text("", f"q{n}", max_tokens=50, budget=budget) for n in range(8)]
    done = await asyncio.gather(*work, return_exceptions=True)
    assert len(server.asked) == budget.calls_spent == 3
    assert sum(isinstance(d, ModelFailed) for d in done) == 5


async def test_failures_hold_no_key_prompt_or_answer(opened: Open, server: FakeModels) -> None:
    canary = "canary-4711"
    server.otherwise = Status(400, message=f"you sent {canary}")
    failed = await failure(opened(keys=canary).text(canary, canary, max_tokens=50))
    server.otherwise = Say(f'{{"level": "{canary}", "title": 1}}')
    wrong = await failure(opened(keys=canary).json(canary, canary, Level, max_tokens=50))
    for text in (str(failed), repr(failed), str(wrong), str(wrong.__cause__)):
        assert canary not in text
