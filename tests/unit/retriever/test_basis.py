"""Which channels count for a query."""

from typing import Any

import pytest

from libs.runtime.index.port import Hit
from services.retriever.basis import weighed
from services.retriever.settings import Settings
from services.retriever.words import words_of
from tests.unit.retriever.test_load import Stores, asks, retriever

SETTINGS = Settings(_env_file=None)
ALL = words_of("what ISO-9001 asks for").terms


@pytest.mark.parametrize(
    ("query", "searched"),
    [
        ("who wrote the plays of the theatre in 1904", False),
        ("torque of the M8x1.25 screws", True),
        ("what does ISO-9001 ask for", True),
        ('the "art of war" in schools', True),
        ("연차휴가는 며칠인가", True),
    ],
)
def test_substrings_are_looked_for_beside_vectors_where_they_say_more_than_words(
    query: str, searched: bool
) -> None:
    mixed = weighed(SETTINGS, words_of(query))
    assert ("term" in mixed.with_dense) is searched
    assert "term" in mixed.without


def test_channels_without_weight_are_not_searched() -> None:
    none = Settings(retriever_mix_term=0, retriever_weight_path=0, _env_file=None)
    mixed = weighed(none, words_of("ISO-9001"))
    assert mixed.with_dense == {"content"}
    assert mixed.without == {"content", "term"}


def test_beside_vectors_only_terms_of_several_tokens_are_looked_for() -> None:
    assert weighed(SETTINGS, words_of("FoxO3a activation in neuronal death")).terms == ("foxo3a",)
    assert weighed(SETTINGS, words_of("neuronal death")).terms == ()
    assert weighed(SETTINGS, words_of("학교 안전교육 art")).terms == ("학교", "안전교육")
    assert weighed(SETTINGS, words_of("학교 교육")).terms == ()


@pytest.mark.parametrize(("away", "terms"), [(False, [["iso-9001"]]), (True, [["iso-9001"], ALL])])
async def test_without_vectors_all_terms_are_looked_for(away: bool, terms: list[list[str]]) -> None:
    class Asked(Stores):
        model_away = away

        def __init__(self) -> None:
            super().__init__()
            self.terms: list[list[str]] = []

        async def search(self, channel: str, query: Any, scope: Any, limit: int) -> list[Hit]:
            if channel == "term":
                self.terms.append(query.terms)
            return await super().search(channel, query, scope, limit)

    stores = Asked()
    searching = retriever(stores, retriever_boost_named=0.0)
    searching.analyse = words_of
    await searching.retrieve(asks("what ISO-9001 asks for", milliseconds=60_000))
    assert stores.terms == terms
