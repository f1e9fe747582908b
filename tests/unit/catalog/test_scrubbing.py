import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.runtime.catalog.sql.scrubbing import ERASED, mention_of, scrubbed

TOKEN = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,6}[A-Za-z0-9])?", fullmatch=True)
DATA = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), TOKEN),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TOKEN, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("doc-1", ERASED),
        ("see doc-1.", f"see {ERASED}."),
        ("doc-10 and my-doc-1 and doc-1-a", "doc-10 and my-doc-1 and doc-1-a"),
        ("doc-1/2 doc-1", f"{ERASED}/2 {ERASED}"),
    ],
)
def test_only_whole_tokens_are_mentions(text: str, clean: str) -> None:
    assert scrubbed(text, mention_of(["doc-1"])) == clean


def test_keys_and_depths_are_reached_and_lists_keep_their_length() -> None:
    value = {"doc-1": [{"ids": ["doc-1", "doc-2", 3, None]}], "n": True}
    clean = {ERASED: [{"ids": [ERASED, "doc-2", 3, None]}], "n": True}
    assert scrubbed(value, mention_of(["doc-1"])) == clean


def test_the_longest_id_is_taken_first() -> None:
    assert scrubbed("t1-2", mention_of(["t1", "t1-2"])) == ERASED


def strings_of(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings_of(part)]
    if isinstance(value, list):
        return [text for item in value for text in strings_of(item)]
    return [value] if isinstance(value, str) else []


@given(value=DATA, ids=st.lists(TOKEN.filter(lambda one: one != ERASED), min_size=1, max_size=3))
def test_nothing_is_left_to_scrub(value: object, ids: list[str]) -> None:
    mention = mention_of(ids)
    assert not [text for text in strings_of(scrubbed(value, mention)) if mention.search(text)]
