import math

import pytest

from libs.contracts.entries import Entry, EntryWeights
from libs.contracts.query.entries import EntryHit
from libs.runtime.inference.errors import ModelUnavailable
from libs.runtime.models.failure import ModelFailed, Reason
from services.retriever.entry_ranking import (
    Channels,
    Table,
    coverage,
    held,
    popularity,
    ranked,
    summed,
)
from services.retriever.entry_reranking import reranked
from services.retriever.similarity import PLAIN, calibration_of

TABLE = Table(
    [
        Entry(id="a", name="송금", category="이체", keywords=["돈 보내기"], search_count=100),
        Entry(id="b", name="환율", category="외환"),
        Entry(id="c", name="환전", category="외환", search_count=9),
    ]
)
E5 = "e5-1571fc98-v1"


def test_channels_are_fused_by_rank_from_one_and_popularity_is_added():
    channels = Channels(
        {"dense": [(1, 0.9), (0, 0.8)], "lexical": [(0, 3.0)], "questions": [(0, 0.95)]},
        {0: 0.6, 1: 0.7},
    )
    first, second = ranked(channels, TABLE, EntryWeights(fusion="rank"), limit=5)
    assert (first.id, second.id) == ("a", "b")
    assert first.channels == {
        "dense": 1.5 / 62,
        "lexical": 0.5 / 61,
        "questions": 0.4 / 61,
        "popularity": 0.005,
    }
    assert first.score == pytest.approx(sum(first.channels.values()))
    assert second.score == pytest.approx(1.5 / 61)


def test_by_default_scores_are_mixed_and_questions_come_on_top():
    channels = Channels(
        {"dense": [(1, 0.9), (0, 0.8), (2, 0.7)], "lexical": [(0, 3.0), (2, 1.0)],
         "questions": [(0, 0.95)]},
        dict.fromkeys(range(3), 0.9),
    )  # fmt: skip
    hits = ranked(channels, TABLE, EntryWeights(popularity=0), limit=5)
    assert [hit.id for hit in hits] == ["a", "b", "c"]
    assert [hit.score for hit in hits] == pytest.approx([0.25 * 0.5 + 0.75 + 0.4, 0.25, 0.0])


def test_lists_are_summed_and_ties_stay_in_order():
    lists = [[(2, 3.0), (0, 1.0)], [(0, 2.0), (1, 0.5)]]
    assert summed(lists) == [(0, 3.0), (2, 3.0), (1, 0.5)]
    assert summed([]) == []


def test_an_entry_that_holds_little_of_the_query_gains_little_by_its_words():
    channels = Channels(
        {"dense": [(1, 0.9), (0, 0.8), (2, 0.7)], "lexical": [(0, 3.0), (2, 1.0)]},
        dict.fromkeys(range(3), 0.9),
    )
    weights = EntryWeights(popularity=0)
    tokens = ["송금", "어디", "누구", "언제"]
    whole = ranked(channels, TABLE, weights, limit=5, tokens=["송금"])
    little = ranked(channels, TABLE, weights, limit=5, tokens=tokens)
    assert [hit.id for hit in whole][:2] == ["a", "b"]
    assert [hit.id for hit in little][:2] == ["b", "a"]
    share = held({0: TABLE.words(0), 2: TABLE.words(2)}, tokens)[0]
    assert little[1].channels["lexical"] == pytest.approx(0.75 * share)


def test_rare_words_weigh_more_in_what_an_entry_holds():
    found = held({n: TABLE.words(n) for n in range(3)}, ["외환", "환율"])
    assert found[0] == 0.0
    assert found[1] == 1.0
    assert 0 < found[2] < 0.5
    assert held({0: TABLE.words(0)}, []) == {0: 1.0}
    assert held({}, ["x"]) == {}


@pytest.mark.parametrize("off", ["dense", "lexical"])
def test_what_is_left_of_the_mix_counts_whole(off):
    channels = Channels({"dense": [(0, 0.9), (1, 0.1)], "lexical": [(0, 5.0), (2, 1.0)]})
    weights = EntryWeights(popularity=0, threshold=0, **{off: 0})
    assert [hit.score for hit in ranked(channels, TABLE, weights, limit=5)] == [1.0, 0.0]


def test_popularity_is_the_square_of_the_share_on_a_log_scale():
    assert popularity(9, 100, 0.005) == pytest.approx(0.005 * (math.log(10) / math.log(101)) ** 2)
    assert popularity(0, 0, 0.005) == 0.0


def test_what_users_see_must_reach_the_threshold():
    channels = Channels({"dense": [(0, 0.9), (1, 0.8)], "lexical": [(2, 5.0)]}, {0: 0.3, 1: 0.29})
    assert [hit.id for hit in ranked(channels, TABLE, EntryWeights(), limit=5)] == ["a"]
    every = ranked(channels, TABLE, EntryWeights(fusion="rank", threshold=0), limit=5)
    assert [hit.id for hit in every] == ["a", "b", "c"]


def test_a_channel_of_weight_zero_brings_nothing():
    channels = Channels({"dense": [(0, 0.9)], "lexical": [(1, 5.0)]}, {0: 0.9, 1: 0.9})
    hits = ranked(channels, TABLE, EntryWeights(lexical=0), limit=5)
    assert [hit.id for hit in hits] == ["a"]


def test_ranks_count_within_the_category():
    channels = Channels({"dense": [(0, 0.9), (1, 0.8), (2, 0.7)]}, {0: 0.9, 1: 0.8, 2: 0.7})
    hits = ranked(
        channels, TABLE, EntryWeights(fusion="rank", popularity=0), limit=1, allowed={1, 2}
    )
    assert [(hit.id, hit.score) for hit in hits] == [("b", 1.5 / 61)]


def test_without_meanings_an_entry_is_as_near_as_the_words_it_holds():
    assert coverage(TABLE.words(0), ["돈", "보내기", "예약"]) == pytest.approx(2 / 3)
    assert coverage(TABLE.words(0), []) == 0.0


def test_the_packaged_embedder_is_brought_to_the_scale_of_the_thresholds():
    entries, questions = calibration_of(E5).entries, calibration_of(E5).questions
    nonsense = [0.731, 0.771, 0.794, 0.811]
    assert all(entries.similarity(cosine) < 0.3 for cosine in nonsense)
    assert entries.similarity(0.8494) == pytest.approx(0.55)
    nearest_wrong, usual_right = 0.9251, 0.944
    assert questions.similarity(nearest_wrong) < 0.85 < questions.similarity(usual_right)
    assert (entries.similarity(-1), entries.similarity(1)) == (0.0, 1.0)


def test_an_embedder_nobody_measured_keeps_its_cosines():
    assert calibration_of("other") is PLAIN
    assert PLAIN.entries.similarity(0.4) == pytest.approx(0.4)


class Scores:
    """A reranker that has these scores, or fails."""

    name = "fake"

    def __init__(self, scores: dict[int, float] | Exception) -> None:
        self.found = scores
        self.read: list[str] = []

    async def scores(self, query, texts, seconds):
        self.read = list(texts)
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    async def close(self) -> None: ...


def hits(count: int) -> list[EntryHit]:
    return [
        EntryHit(id=str(n), name=f"n{n}", score=1 - n / 100, similarity=0.5) for n in range(count)
    ]


async def test_the_first_ten_are_ranked_once_more_and_the_others_stay():
    reranker = Scores({2: 0.9, 0: 0.5, 1: 0.1})
    found = await reranked(reranker, "q", hits(12), {"2": "text"}, 5.0)
    assert [hit.id for hit in found[:4]] == ["2", "0", "1", "3"]
    assert [hit.id for hit in found[10:]] == ["10", "11"]
    assert found[0].channels == {"rerank": 0.9}
    assert (len(reranker.read), reranker.read[2]) == (10, "n2\ntext")


@pytest.mark.parametrize("failure", [ModelUnavailable("gone"), ModelFailed(Reason.TIMEOUT, "late")])
async def test_a_reranker_that_fails_changes_nothing(failure):
    assert await reranked(Scores(failure), "q", hits(3), {}, 5.0) == hits(3)
    assert await reranked(Scores({0: 1.0}), "q", hits(3), {}, 0.0) == hits(3)
