import pytest

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats import legacy
from tests.support.parsing import parse_bytes


@pytest.fixture(autouse=True)
def without_libreoffice(monkeypatch):
    monkeypatch.setattr(legacy.shutil, "which", lambda name: None)


def _rtf(body: str) -> bytes:
    return (r"{\rtf1\ansi\ansicpg1252\uc1" + body + "}").encode("latin-1")


def test_paragraphs_headings_and_what_stands_aside():
    parsed = parse_bytes(
        _rtf(
            r"{\fonttbl{\f0\fswiss Arial;}}{\stylesheet{\s1\b heading 1;}}{\info{\author me}}"
            r"{\header Kopf {\b fett} Ende\par}{\footer Fu\'df\par}"
            r"\pard\s1 Titel\par\pard Ein {\b Wort}{\footnote Fu\'dfnote} hier\par"
            r"\pard\outlinelevel1 Unter\par\pard Text{\*\annotation Notiz}{\v geheim}\~mit\_Zeichen"
            r"{\field{\*\fldinst HYPERLINK x}{\fldrslt Link}}\par"
        ),
        "rtf",
    )
    assert parsed.texts("page_header") == ["Kopf fett Ende"]
    assert parsed.texts("page_footer") == ["Fuß"]
    assert parsed.outline() == [(1, "Titel"), (2, "Unter")]
    assert parsed.texts("footnote") == ["Fußnote"]
    assert parsed.texts("note") == ["Notiz"]
    assert parsed.texts("paragraph") == ["Ein Wort hier", "Text mit-ZeichenLink"]


def test_tables():
    row = r"\trowd\cellx1\cellx2\intbl {}\cell {}\cell\row"
    body = r"\pard\intbl" + "".join(row.format(a, b) for a, b in (("Jahr", "Summe"), ("2024", "7")))
    parsed = parse_bytes(_rtf(r"\pard vor\par" + body + r"\pard nach\par"), "rtf")
    assert parsed.kinds() == ["paragraph", "table", "paragraph"]
    assert parsed.only("table").text == "Jahr: 2024; Summe: 7"


def test_characters_of_every_kind():
    korean = "한글".encode("cp949")
    escaped = "".join(f"\\'{byte:02x}" for byte in korean)
    parsed = parse_bytes(
        _rtf(
            r"{\fonttbl{\f0\fswiss Arial;}{\f1\fnil\fcharset129 Batang;}}"
            rf"\pard {{\f1 {escaped}}} \u44032? "
            r"\uc2\u-10179\'3f\'3f\u-8704\'3f\'3f \u-10240?? x\par"
        ),
        "rtf",
    )
    assert parsed.texts("paragraph") == ["한글 가 😀 \ufffd x"]


def test_binary_data_and_broken_groups_do_not_end_the_text():
    parsed = parse_bytes(_rtf(r"{\pict\bin4 }}}}} danach} }} mehr\par" + "{" * 3000), "rtf")
    assert "mehr" in parsed.texts("paragraph")[-1]


def test_nothing_to_read_is_no_content():
    with pytest.raises(DocumentFault) as problem:
        parse_bytes(_rtf(r"{\pict 00}"), "rtf")
    assert problem.value.code is Code.NO_CONTENT
