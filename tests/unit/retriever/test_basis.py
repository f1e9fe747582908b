"""Which channels count for a query."""

import pytest

from services.retriever.basis import weighed
from services.retriever.settings import Settings
from services.retriever.words import words_of

SETTINGS = Settings(_env_file=None)


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
