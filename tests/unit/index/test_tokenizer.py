"""Tokens of documents and queries."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.runtime.index.tokenizer import (
    MAX_TERMS,
    MAX_TOKEN,
    STOP_WORDS,
    TOKENIZERS,
    fold,
    holds_any,
    query_terms,
    tokenize,
    whitespace,
)
from tests.support.fences import cpu_fence

MIXED = st.text(
    alphabet=st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("가나다제조의한글漢字カナひらがなabcABCéÅﬁ①²½ㄱ각0123456789-._/:' \n\"“”’"),
    ),
    max_size=80,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The companies' studies", ["compani", "studi"]),
        ("It's the company's, they don't", ["compani", "don"]),
        ("Straße CAFÉ", ["strass", "café"]),
        ("state-of-the-art", ["state", "art"]),
        ("한국어 검색", ["한국", "국어", "검색"]),
        ("한", ["한"]),
        ("大韓民國은", ["大韓", "韓民", "民國", "國은"]),
        ("食べるカナ", ["食べ", "べる", "るカ", "カナ"]),
        ("KBS는", ["kbs", "는"]),
        ("ISO-9001", ["iso-9001", "iso", "9001"]),
        ("v1.2.3", ["v1.2.3", "v1", "1", "2", "3"]),
        ("p53", ["p53", "53"]),
        ("제12조의2", ["제12조의2", "제12", "12", "12조", "조의", "의2", "2"]),
        ("1,234,567원", ["1234567", "1234567원"]),
        ("2023", ["2023"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ｆｕｌｌ ﬁne", ["full", "fine"]),
        ("infor\u00admation", ["inform"]),
        ("... !!! \x00", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("9001", "ISO-9001"),
        ("iso 9001", "ISO9001"),
        ("ISO9001", "ISO-9001"),
        ("제12조", "제12조의2(목적)"),
        ("12조", "제12조의2"),
        ("1.2.3", "release v1.2.3"),
        ("1234567", "1,234,567 won"),
        ("2023년", "2023년에는"),
        ("searching", "it was searched"),
    ],
)
def test_a_query_shares_tokens_with_what_it_should_find(query: str, document: str) -> None:
    assert set(tokenize(query)) & set(tokenize(document))


def test_stop_words_are_lucenes() -> None:
    assert len(STOP_WORDS) == 33
    assert tokenize(" ".join(STOP_WORDS)) == []


def test_the_registry_names_the_tokenizers() -> None:
    assert set(TOKENIZERS) == {"bigram", "whitespace"}
    assert whitespace("김치 찌개, (Large)") == ["김치", "찌개", "large"]


@given(MIXED)
def test_normal_forms_make_no_difference(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    for name, tokenizer in TOKENIZERS.items():
        assert tokenizer(composed) == tokenizer(decomposed), name
    assert query_terms(composed) == query_terms(decomposed)
    assert fold(composed) == fold(decomposed)


@given(MIXED)
def test_tokens_are_bounded_and_hold_no_white_space(text: str) -> None:
    for tokenizer in TOKENIZERS.values():
        for token in tokenizer(text):
            assert 1 <= len(token) <= MAX_TOKEN
            assert token.split() == [token]
            token.encode()


@given(MIXED, MIXED)
def test_a_sentence_keeps_its_tokens_wherever_it_stands(before: str, text: str) -> None:
    assert tokenize(f"{before}\n\n{text}") == tokenize(before) + tokenize(text)


@given(st.lists(MIXED, max_size=40), MIXED)
def test_whether_a_text_holds_a_token_is_told_without_all_of_them(
    texts: list[str], sought: str
) -> None:
    text, tokens = " ".join(texts), tokenize(sought)
    assert holds_any(text, tokens) == bool(set(tokens) & set(tokenize(text)))


@given(MIXED)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert tokenize(fold(text)) == tokenize(text)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('find "Annual  Report" of “한국 은행”', ["annual report", "한국 은행", "find"]),
        ("제12조의2(목적)를 설명해?", ["제12조의2", "목적", "설명해"]),
        ("C# or C++", ["c#", "c++"]),
        ('an "unclosed quote', ["unclosed", "quote"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("a b 가", []),
        ("kim@example.com, kim@example.com!", ["kim@example.com"]),
        ("", []),
    ],
)
def test_query_terms(query: str, expected: list[str]) -> None:
    assert query_terms(query) == expected


@given(MIXED)
def test_query_terms_are_substrings_of_the_folded_query(text: str) -> None:
    terms = query_terms(text)
    assert len(terms) == len(set(terms)) <= MAX_TERMS
    for term in terms:
        assert len(term) >= 2
        assert term in fold(text)


def test_of_many_terms_the_longest_stay_in_order() -> None:
    words = ["x" * (i % 50 + 2) + f"{i:03}" for i in range(200)]
    kept = query_terms(" ".join(words))
    assert len(kept) == MAX_TERMS
    assert min(map(len, kept)) >= max(len(w) for w in words if w not in kept)
    assert kept == sorted(kept, key=words.index)


@pytest.mark.parametrize(
    "unit",
    [
        "a", "a-", "1a", "1,111", ",", "!", "!a", '"', '“a', "가", "가1", "\x00", "\ud800", " ",
        "a's", "\u0301\u0323", "\U0001d165\u0323", "a" + "\u0323" * 29, "\u093f", "\ufdfa",
    ],
)  # fmt: skip
def test_time_grows_linearly(unit: str) -> None:
    text = "a" + unit * (100_000 // len(unit))
    with cpu_fence():
        tokenize(text)
        query_terms(text)
