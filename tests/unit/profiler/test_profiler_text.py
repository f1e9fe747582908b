"""Encodings and languages, from bytes and words alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.profiler.encoding import guess
from services.profiler.language import language_of

KOREAN = "제1장 총칙. 선박의 입항 절차와 항만 시설의 사용에 관한 사항을 정한다."
JAPANESE = "港の管理者は、船が入る前に、潮の高さを確かめなければならない。"
CHINESE = "港口管理人员必须在船只进入之前确认潮水的高度和风速。"
TRADITIONAL = "港口管理人員必須在船隻進入之前確認潮水的高度和風速。"
GERMAN = "Die Behörde prüft, ob die Schiffe für den Hafen geeignet sind, und das ist nötig."
FRENCH = "Le capitaine doit vérifier la hauteur de la marée avant l'entrée dans le port."
SPANISH = "El capitán debe comprobar la altura de la marea antes de entrar en el puerto."
RUSSIAN = "Капитан должен проверить высоту прилива перед входом в порт."
ENGLISH = "The captain must check the height of the tide before entering the port."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (KOREAN, "cp949"),
        ("계류장", "cp949"),
        ("목차,금액\n선박료,1200\n", "cp949"),
        (JAPANESE, "cp932"),
        ("名前,年齢,住所\n佐藤太郎,30,東京", "cp932"),
        (JAPANESE, "euc_jp"),
        (CHINESE, "gb18030"),
        (TRADITIONAL, "big5"),
        (GERMAN, "cp1252"),
        (FRENCH, "cp1252"),
        (RUSSIAN, "cp1251"),
        (ENGLISH, "utf-8"),
        (KOREAN, "utf-8"),
        (KOREAN, "utf-8-sig"),
        (KOREAN, "utf-16"),
        (ENGLISH, "utf-16-le"),
        (ENGLISH, "utf-16-be"),
        (KOREAN, "utf-16-le"),
        (KOREAN, "utf-16-be"),
        (JAPANESE + "\n", "utf-16-le"),
        (KOREAN, "utf-32"),
    ],
)
def test_the_encoding_is_found(text: str, encoding: str) -> None:
    found = guess(text.encode(encoding))
    assert found is not None
    assert text.encode(encoding).decode(found).lstrip("\ufeff") == text


def test_long_ascii_before_the_first_korean_character() -> None:
    assert guess(b"x = 1\n" * 30_000 + KOREAN.encode("cp949")) == "cp949"


def test_utf8_with_a_few_broken_bytes_stays_utf8() -> None:
    data = (KOREAN * 20).encode()
    assert guess(data[:50] + b"\xff" + data[50:]) == "utf-8"
    assert guess(data[:-1]) == "utf-8"


def test_what_html_declares_counts_only_if_the_bytes_bear_it_out() -> None:
    head = '<html><head><meta charset="euc-kr"></head><body>'
    assert guess((head + KOREAN).encode("cp949")) == "cp949"
    assert guess((head + KOREAN).encode()) == "utf-8"
    assert guess(b'<meta charset="no-such-thing"><p>plain</p>') == "utf-8"


def test_binary_is_no_text_but_a_stray_nul_is_forgiven() -> None:
    assert guess(bytes(range(256)) * 8) is None
    assert guess(bytes(1000)) is None
    assert guess(b"before\x00after the lighthouse\n") == "utf-8"
    assert guess(b"caf\xe9 \xff\xfe in the orchard garden today\n") is not None


@given(st.binary(max_size=3000))
def test_any_bytes_get_an_answer_that_can_be_used(data: bytes) -> None:
    found = guess(data)
    if found is not None:
        data.decode(found, "replace")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=300))
def test_valid_utf8_beyond_ascii_is_never_taken_for_something_else(text: str) -> None:
    if not text.isascii() and not text.startswith("\ufeff") and "<" not in text:
        assert guess(text.encode()) == "utf-8"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (KOREAN, "ko"),
        ("산업안전", "ko"),
        ("Linux 커널 6.1 버전의 scheduler 와 memory 관리를 설명한다", "ko"),
        ("大韓民國 憲法 前文 우리 대한국민은", "ko"),
        (JAPANESE, "ja"),
        (CHINESE, "zh"),
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (FRENCH, "fr"),
        (SPANISH, "es"),
        (RUSSIAN, "ru"),
        ("Капітан повинен перевірити висоту припливу", "uk"),
        ("Ο καπετάνιος πρέπει να ελέγξει", "el"),
        ("12 345 67.8 %%", "und"),
        ("", "und"),
        ("Item Qty A-3 B-7 flange", "und"),
    ],
)
def test_the_language_is_found_or_left_open(text: str, language: str) -> None:
    assert language_of(text) == language
