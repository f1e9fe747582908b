"""Names as typography shows them."""

import pytest

from libs.runtime.names import contains, name_key, names, title_key, unknown_names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The film was made by Mira Voss in Paris.", ["mira voss", "paris"]),
        ("He read “quiet harbour” twice", ["quiet harbour"]),
        ("행정안전부는 「도로교통법」을 개정했다", ["행정안전부", "도로교통법"]),
        ("The", []),
    ],
)
def test_names_in_order(text: str, found: list[str]) -> None:
    assert names(text, 8) == found


def test_a_title_loses_its_parenthesis_and_nothing_else() -> None:
    assert title_key("Ben-Hur (1959 film)") == "ben hur"
    assert title_key("(1959)") == "1959"


def test_names_stand_as_whole_words_and_korean_ones_before_particles() -> None:
    assert contains(name_key("the Paris treaty"), "paris")
    assert not contains(name_key("the Parisian treaty"), "paris")
    assert contains(name_key("도로교통법을 개정"), "도로교통법")


def test_what_the_question_says_is_not_new() -> None:
    assert unknown_names("Mira Voss met Jon Arle", name_key("Who is Mira Voss?"), 8) == ["jon arle"]
