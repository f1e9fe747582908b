from tests.support.fences import cpu_fence
from tests.support.parsing import parse_bytes

LAW = """관광진흥법

제1장 총칙

제1조(목적) 이 법은 관광 여건을 조성하고
관광자원을 개발함을 목적으로 한다.
제2조(정의) ① 이 법에서 사용하는 용어의 뜻은 다음과 같다.
1. "관광사업"이란 관광객을 위한 업을 말한다.
2. "관광사업자"란 등록을 한 자를 말한다.
제12조의2(특례) 본문이다.

제2장 관광사업

제1절 통칙

제3조(종류) 법 제3조제2항에 따라
제3조에 따라 정한다.

부칙
"""


def test_a_korean_law():
    parsed = parse_bytes(LAW.encode("cp949"), "txt", encoding="cp949")
    assert parsed.outline() == [
        (1, "제1장 총칙"),
        (2, "제1조(목적)"),
        (2, "제2조(정의)"),
        (2, "제12조의2(특례)"),
        (1, "제2장 관광사업"),
        (2, "제1절 통칙"),
        (3, "제3조(종류)"),
        (1, "부칙"),
    ]
    heading = next(r for r in parsed.rows if r.text.startswith("제12조의2"))
    assert (heading.marker, heading.evidence) == ("제12조의2", "numbering")
    assert "이 법은 관광 여건을 조성하고 관광자원을 개발함을 목적으로 한다." in parsed.texts(
        "paragraph"
    )
    assert [r.marker for r in parsed.rows if r.kind == "list_item"] == ["1.", "2."]


def test_english_chapters_numbers_and_lists():
    parsed = parse_bytes(
        b"Chapter 1 Loomings\n\n1.1 The Street\nCall me\nIshmael.\n\n"
        b"1. Buy the milk\n2. Go home\n\n"
        b"- one\n- two\n  going on\n\nUnderlined\n==========\n\ntext\n",
        "txt",
    )
    assert parsed.outline() == [
        (1, "Chapter 1 Loomings"),
        (2, "1.1 The Street"),
        (1, "Underlined"),
    ]
    assert parsed.texts("paragraph") == ["Call me Ishmael.", "text"]
    assert parsed.texts("list_item") == ["Buy the milk", "Go home", "one", "two going on"]


def test_no_heading_is_said_aloud():
    parsed = parse_bytes(b"just one line\nand another\n", "txt")
    assert parsed.texts("paragraph") == ["just one line and another"]
    assert "flat_structure" in parsed.findings


def test_bytes_that_do_not_fit_are_replaced_and_controls_dropped():
    parsed = parse_bytes(b"\xef\xbb\xbfone \xff two\x00\x07\r\n\r\nthree\x0cfour", "txt")
    assert parsed.texts("paragraph") == ["one \ufffd two", "three", "four"]


def test_unknown_encoding_name_counts_as_utf8():
    assert parse_bytes("값".encode(), "txt", encoding="no-such").texts("paragraph") == ["값"]


def test_time_grows_with_the_text_only():
    page = "Some words on a line that goes on for a while and then ends here.\n" * 40 + "\n"
    with cpu_fence():
        parsed = parse_bytes((page * 1000).encode(), "txt")
    assert parsed.ticks >= 1


def test_a_file_without_blank_lines_is_cut_into_paragraphs():
    parsed = parse_bytes(b"words and words\n" * 20_000, "txt")
    assert len(parsed.rows) > 10
    assert max(len(r.text) for r in parsed.rows) < 25_000
