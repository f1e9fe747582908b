import pytest

from libs.contracts.faults import Code, DocumentFault
from tests.support.parsing import parse_bytes


def test_each_record_is_a_heading_with_its_fields():
    parsed = parse_bytes(
        '{"name": "Fox", "legs": 4, "tags": ["red", "quick"], "home": {"kind": "den"}, "x": null}\n'
        '\n{"id": 7, "note": "두 번째"}\n{"color": "grey"}\n'.encode(),
        "jsonl",
    )
    assert parsed.outline() == [(1, "Fox"), (1, "7"), (1, "Record 3")]
    assert [r.evidence for r in parsed.rows if r.kind == "heading"] == ["markup", "markup", "none"]
    assert parsed.texts("table")[0] == "name | Fox\nlegs | 4\ntags | red, quick\nhome.kind | den"
    assert "<th>legs</th><td>4</td>" in next(r.html for r in parsed.rows if r.kind == "table")


def test_a_json_array_counts_as_lines():
    assert parse_bytes(b'[{"title": "a"}, {"title": "b"}]', "jsonl").outline() == [
        (1, "a"),
        (1, "b"),
    ]


def test_lines_that_are_no_json_are_reported():
    parsed = parse_bytes(b'{"name": "a", "b": 1}\nbroken {\n', "jsonl")
    assert parsed.findings["lines_left_out"].count == 1
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b"broken {\nagain", "jsonl")
    assert caught.value.code == Code.UNREADABLE


def test_fragments_become_the_rows_they_name():
    parsed = parse_bytes(
        b'{"type": "text", "content": "one", "path": ["A", "B"], "page": 3}\n'
        b'{"type": "table", "content": "<table><tr><th>h</th></tr><tr><td>1</td></tr></table>",'
        b' "path": ["A", "B"], "page": 4}\n'
        b'{"type": "list_item", "content": "two", "path": "A/C"}\n'
        b'{"type": "riddle", "content": "three", "path": ["D"], "page": -1}\n'
        b'"not a fragment"\n',
        "fragments",
    )
    assert parsed.outline() == [(1, "A"), (2, "B"), (2, "C"), (1, "D")]
    assert parsed.kinds() == [
        "heading", "heading", "paragraph", "table", "heading", "list_item", "heading", "paragraph",
    ]  # fmt: skip
    assert [r.page for r in parsed.rows] == [3, 3, 3, 4, None, None, None, None]
    assert parsed.only("table").text == "h: 1"
    assert {"fragment_type", "fragment_refused"} <= set(parsed.findings)


def test_a_mail():
    parsed = parse_bytes(
        b"From: Ann <ann@example.org>\r\nTo: Bob <bob@example.org>\r\n"
        b"Subject: =?utf-8?b?7ZqM7J2YIOyekOujjA==?=\r\nDate: Fri, 1 Mar 2024 10:00:00 +0900\r\n"
        b"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n"
        b"--x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n"
        b"--y\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nHello there,\r\nBob.\r\n\r\n"
        b"> quoted\r\n\r\n"
        b"--y\r\nContent-Type: text/html\r\n\r\n<p>Hello <b>again</b></p>\r\n--y--\r\n"
        b"--x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; "
        b'filename="plan.pdf"\r\n\r\n%PDF\r\n--x--\r\n',
        "eml",
    )
    assert parsed.outline() == [(1, "회의 자료"), (2, "plan.pdf")]
    assert "From | Ann <ann@example.org>" in parsed.only("table").text
    assert parsed.texts("paragraph") == ["Hello there,\nBob.", "quoted"]
    assert "attachments" in parsed.findings


def test_a_mail_of_html_alone_and_one_of_nonsense():
    parsed = parse_bytes(
        b"Subject: x\nContent-Type: text/html; charset=no-such\n\n<h2>Head</h2><p>text</p>", "eml"
    )
    assert parsed.outline() == [(1, "x"), (2, "Head")]
    assert parse_bytes(b"\xff\xfe no headers at all", "eml").outline() == [(1, "(no subject)")]
