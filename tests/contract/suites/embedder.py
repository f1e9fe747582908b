"""What every embedder must do, whichever model it runs.

Subclass in a test module, name the class `Test…`, and give the fixture `embedder`.
"""

import asyncio
import re
import unicodedata

import numpy as np
import pytest

from libs.runtime.inference.port import Embedder

TOLERANCE = 1e-4

ODD = {
    "empty": "",
    "white space": " \n\t ",
    "one letter of 5000": "x" * 5000,
    "one sentence many times": "A sentence that goes on and on. " * 400,
    "emoji": "😀👩‍👩‍👧‍👦🇰🇷",
    "nul": "a\x00b\x00",
    "control signs": "\x01\x02\x1b[31m",
    "bidirectional": "\u202eevil\u202c",
    "unpaired surrogate": "a\ud800b",
    "jamo": "ㅋㅋㅋㅋ",
    "unassigned": "\U000e0fff",
}

# a question, and the passage that answers it
QUESTIONS = [
    (
        "수도는 어디인가?",
        "대한민국의 수도는 서울이며, 한강이 도시를 가로질러 흐른다.",
    ),
    (
        "How long does the battery last?",
        "On a full charge the device runs for about eleven hours of video playback.",
    ),
    (
        "연차 휴가는 며칠인가?",
        "1년간 80퍼센트 이상 출근한 근로자에게 15일의 유급휴가를 주어야 한다.",
    ),
    (
        "What is the boiling point of water?",
        "At sea level water turns to steam at 100 degrees Celsius.",
    ),
    (
        "환불을 받으려면 어떻게 해야 하나요?",
        "구매 후 14일 이내에 고객센터로 반품을 신청하시면 결제 금액을 돌려드립니다.",
    ),
    (
        "Who wrote the play about the prince of Denmark?",
        "Hamlet is a tragedy by William Shakespeare, written around 1600.",
    ),
]


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other)


class EmbedderSuite:
    """The contract of `libs/runtime/inference/port.py`."""

    @pytest.fixture
    async def embedder(self) -> Embedder:
        """One that stays open for the whole run."""
        raise NotImplementedError

    def test_the_model_is_named_and_sized_without_loading(self, embedder: Embedder) -> None:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,126}[A-Za-z0-9]", embedder.model)
        assert embedder.dimension > 0

    async def test_shapes_and_types(self, embedder: Embedder) -> None:
        passages = await embedder.embed_passages(["one", "two", "three"])
        query = await embedder.embed_query("one")
        assert passages.shape == (3, embedder.dimension)
        assert query.shape == (embedder.dimension,)
        assert passages.dtype == query.dtype == np.float32
        assert (await embedder.embed_passages([])).shape == (0, embedder.dimension)

    async def test_rows_come_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        texts = ["a long passage about rivers and bridges " * 9, "short", "a middling passage " * 3]
        rows = await embedder.embed_passages(texts)
        backwards = await embedder.embed_passages(texts[::-1])
        assert np.abs(rows - backwards[::-1]).max() < TOLERANCE
        assert cosine(rows[0], rows[1]) < 0.999

    @pytest.mark.parametrize("name", ODD)
    async def test_odd_text_gives_finite_unit_vectors(self, embedder: Embedder, name: str) -> None:
        for vector in (
            (await embedder.embed_passages([ODD[name]]))[0],
            await embedder.embed_query(ODD[name]),
        ):
            assert np.isfinite(vector).all()
            assert np.linalg.norm(vector) == pytest.approx(1, abs=TOLERANCE)

    @pytest.mark.slow
    async def test_a_vector_does_not_depend_on_its_batch(self, embedder: Embedder) -> None:
        texts = [*ODD.values(), *(text for pair in QUESTIONS for text in pair)]
        together = await embedder.embed_passages(texts)
        twice = await embedder.embed_passages(texts + texts)
        assert np.abs(np.linalg.norm(together, axis=1) - 1).max() < TOLERANCE
        assert np.abs(twice - np.concatenate([together, together])).max() < TOLERANCE
        for text, vector in list(zip(texts, together, strict=True))[::4]:
            alone = (await embedder.embed_passages([text]))[0]
            assert np.abs(alone - vector).max() < TOLERANCE

    async def test_decomposed_hangul_is_the_same_text(self, embedder: Embedder) -> None:
        text = "대한민국의 수도는 서울이다"
        decomposed = unicodedata.normalize("NFD", text)
        assert decomposed != text
        rows = await embedder.embed_passages([text, decomposed])
        assert np.abs(rows[0] - rows[1]).max() < TOLERANCE
        queries = [await embedder.embed_query(form) for form in (text, decomposed)]
        assert np.abs(queries[0] - queries[1]).max() < TOLERANCE

    async def test_a_question_is_nearest_to_its_answer(self, embedder: Embedder) -> None:
        passages = await embedder.embed_passages([answer for _, answer in QUESTIONS])
        for n, (question, _) in enumerate(QUESTIONS):
            scores = passages @ await embedder.embed_query(question)
            assert int(scores.argmax()) == n, question

    async def test_a_query_never_waits_behind_passages(self, embedder: Embedder) -> None:
        await embedder.embed_query("loaded")
        text = "A passage of some length that keeps the workers busy for a good while. " * 6
        bulk = asyncio.create_task(embedder.embed_passages([f"{n} {text}" for n in range(60)]))
        try:
            for n in range(3):
                await embedder.embed_query(f"question {n}")
            assert not bulk.done()
        finally:
            bulk.cancel()
            await asyncio.gather(bulk, return_exceptions=True)

    async def test_the_event_loop_stays_free(self, embedder: Embedder) -> None:
        bulk = asyncio.create_task(embedder.embed_passages(["some passage " * 20] * 8))
        ticks = 0
        while not bulk.done():
            await asyncio.sleep(0)
            ticks += 1
        await bulk
        assert ticks > 10

    async def test_many_callers_at_once(self, embedder: Embedder) -> None:
        texts = [f"passage number {n} of several" for n in range(12)]
        expected = await embedder.embed_passages(texts)
        answers = await asyncio.gather(
            *(embedder.embed_passages([text]) for text in texts),
            *(embedder.embed_query(text) for text in texts[:4]),
        )
        for n, row in enumerate(expected):
            assert np.abs(answers[n][0] - row).max() < TOLERANCE
