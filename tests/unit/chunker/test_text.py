import pytest

from services.chunker.keywords import keyword_of, top, weigh
from services.chunker.summary import best_sentence, lead
from services.chunker.text import clean, language_of, sentences, shorten
from tests.support.fences import cpu_fence


def split(text: str) -> list[str]:
    return [sentence for _, sentence in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("See Fig. 3 and Dr. Kim. It holds.", ["See Fig. 3 and Dr. Kim.", "It holds."]),
        ("About approx. five, e.g. here. Next.", ["About approx. five, e.g. here.", "Next."]),
        ("J. Smith wrote it. He did.", ["J. Smith wrote it.", "He did."]),
        ("1. First point. Second.", ["1. First point.", "Second."]),
        ("Pi is 3.14 today. Yes.", ["Pi is 3.14 today.", "Yes."]),
        (
            "예산을 편성한다. 결산은 제출하여야 한다.",
            ["예산을 편성한다.", "결산은 제출하여야 한다."],
        ),
        ("편성한다.다만 예외가 있다.", ["편성한다.", "다만 예외가 있다."]),
        ("그렇습니까? 네, 그렇습니다!", ["그렇습니까?", "네, 그렇습니다!"]),
        ("これは本です。次です。", ["これは本です。", "次です。"]),
        ("“Quoted.” Then more.", ["“Quoted.”", "Then more."]),
        ("A heading\n\nA paragraph", ["A heading", "A paragraph"]),
        ("Contents ......................... 12", ["Contents ......................... 12"]),
    ],
)
def test_sentence_ends(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_sentence_split_is_linear_on_hostile_text() -> None:
    with cpu_fence():
        for hostile in (
            "." * 200_000, "\n " * 100_000, ".)" * 100_000, " " * 200_000, "다." * 50_000,
        ):  # fmt: skip
            sentences(hostile)


def test_clean_removes_control_characters_and_keeps_lines() -> None:
    assert clean(" a\x00b\r\nc\rd\x0b ") == "ab\nc\nd"


def test_shorten_cuts_at_a_word() -> None:
    assert shorten("alpha beta gamma", 12) == "alpha beta…"
    assert shorten("x" * 50, 10) == "x" * 9 + "…"
    assert shorten("short", 10) == "short"


@pytest.mark.parametrize(
    ("text", "document", "expected"),
    [
        ("이 법은 국가재정에 관한 것이다", "ko", "ko"),
        ("NATS JetStream 서버의 설정을 바꾼다", "ko", "ko"),
        ("plain words", "ko", "en"),
        ("gewöhnliche Wörter", "de", "de"),
        ("これはペンです", "und", "ja"),
        ("中华人民共和国", "und", "zh"),
        ("Привет мир", "und", "ru"),
        ("12 345 …", "en", "und"),
    ],
)
def test_language_by_script(text: str, document: str, expected: str) -> None:
    assert language_of(text, document) == expected


@pytest.mark.parametrize(
    ("word", "keyword"),
    [
        ("예산안을", "예산안"),
        ("국가재정에서는", "국가재정"),
        ("회계연도마다", "회계연도"),
        ("작성하여야", None),
        ("유통기한은", "유통기한"),
        ("제출한", None),
        ("제출한다", None),
        ("그리고", None),
        ("Budgets", "budgets"),
        ("the", None),
        ("Bank’s", "bank"),
        ("e5", None),
        ("JetStream", "jetstream"),
        ("x" * 60, None),
    ],
)
def test_keyword_candidates(word: str, keyword: str | None) -> None:
    found = keyword_of(word)
    assert (found[0] if found else None) == keyword


def test_keywords_weigh_count_by_length_and_ties_follow_the_alphabet() -> None:
    weights = weigh("budget budget settlement zebra apple 예산은 예산을")
    assert weights == {"budget": 12, "settlement": 10, "zebra": 5, "apple": 5, "예산": 8}
    assert top(weights, 4) == ["budget", "settlement", "예산", "apple"]
    assert top(weigh(""), 5) == []


def test_lead_takes_whole_sentences_that_fit() -> None:
    first, second = "A " + "word " * 20 + "ends.", "B " + "word " * 30 + "ends."
    assert lead(f"{first} {second}") == first
    assert lead("word " * 100).endswith("…")
    assert len(lead("word " * 100)) <= 200


def test_best_sentence_holds_most_keyword_length() -> None:
    texts = ["The weather was fine.", "Budget settlement follows the budget plan. It rained."]
    assert (
        best_sentence(texts, ["budget", "settlement"]) == texts[1].split(". ", maxsplit=1)[0] + "."
    )
    assert best_sentence([], ["budget"]) == ""
