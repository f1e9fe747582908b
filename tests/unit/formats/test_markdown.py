import base64
import io

import pytest
from PIL import Image

from libs.contracts.faults import Code, DocumentFault
from tests.support.parsing import parse_bytes


def _png() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(out, "PNG")
    return out.getvalue()


def _parse(text: str):
    return parse_bytes(text.encode(), "md")


def test_headings_lists_code_and_tables():
    parsed = _parse(
        "# Title *here*\n\nA first\nparagraph.\n\n## Part & parcel\n\n"
        "1. one\n2. two\n   - inner\n\n     more of inner\n\n"
        "```python\nx = 1\n```\n\n| a | b |\n|---|---|\n| 1 | `2` |\n"
    )
    assert parsed.outline() == [(1, "Title here"), (2, "Part & parcel")]
    assert all(r.evidence == "markup" for r in parsed.rows if r.kind == "heading")
    assert parsed.texts("paragraph") == ["A first paragraph."]
    items = [(r.marker, r.level, r.text) for r in parsed.rows if r.kind == "list_item"]
    assert items == [("1.", 1, "one"), ("2.", 1, "two"), ("-", 2, "inner\nmore of inner")]
    assert parsed.texts("code") == ["x = 1"]
    table = parsed.only("table")
    assert table.text == "a: 1; b: 2"
    assert table.html is not None and table.html.startswith("<table><thead><tr><th>a</th>")


def test_html_table_with_spans_and_blank_lines_inside():
    parsed = _parse(
        "before\n\n<table>\n<tr><th colspan=2>head</th></tr>\n\n<tr><td>1</td>\n\n<td>2</td></tr>\n"
        "</table>\n\nafter\n"
    )
    assert parsed.kinds() == ["paragraph", "table", "paragraph"]
    cells = parsed.only("table").cells
    assert [(c.row, c.column, c.column_span, c.text) for c in cells] == [
        (0, 0, 2, "head"),
        (1, 0, 1, "1"),
        (1, 1, 1, "2"),
    ]


def test_a_table_shown_in_a_code_block_stays_code():
    parsed = _parse("```html\n<table>\n\n<tr><td>x</td></tr>\n</table>\n```\n")
    assert parsed.kinds() == ["code"]
    assert "\n\n<tr>" in parsed.texts("code")[0]


def test_front_matter_is_hidden_and_reported():
    parsed = _parse("---\ntitle: A thing\ntags: [x]\n---\n\n# Real\n")
    assert [(r.kind, r.hidden) for r in parsed.rows] == [("note", True), ("heading", False)]
    assert "front_matter" in parsed.findings


def test_a_rule_at_the_top_is_no_front_matter():
    assert _parse("---\n\nplain text\n\n---\n\nmore\n").texts("paragraph") == ["plain text", "more"]


def test_embedded_images_become_assets_and_others_are_noted():
    uri = "data:image/png;base64," + base64.b64encode(_png()).decode()
    parsed = _parse(f"see ![a red square]({uri}) and ![far](http://example.org/x.png)\n")
    image = parsed.only("image")
    assert image.text == "a red square"
    assert image.media_type == "image/png"
    assert (parsed.folder / "out" / image.asset).read_bytes() == _png()
    assert parsed.findings["image_elsewhere"].count == 1
    assert parsed.texts("paragraph") == ["see a red square and far"]


def test_footnotes_survive():
    parsed = _parse("text[^1] and[^2]\n\n[^1]: a longer note\n\n[^2]: short\n")
    assert parsed.texts("footnote") == ["a longer note", "short"]


def test_deep_nesting_keeps_its_text():
    parsed = _parse(">" * 5_000 + " deep\n")
    assert "deep" in " ".join(r.text for r in parsed.rows)


def test_scripts_in_html_are_dropped():
    parsed = _parse("<div>shown<script>alert(1)</script></div>\n\n<!-- note -->\n")
    assert parsed.texts("paragraph") == ["shown"]


def test_nothing_is_no_content():
    with pytest.raises(DocumentFault) as caught:
        _parse("\n \n<!-- nothing -->\n")
    assert caught.value.code == Code.NO_CONTENT


def test_brackets_that_nothing_closes_are_looked_for_a_bounded_number_of_times():
    from services.parser.formats import markdown

    helpers = markdown._Helpers()
    looked: list[int] = []
    helpers._label = lambda state, start, nested: looked.append(start) or -1
    for start in range(markdown.MAX_OPEN + 100):
        assert helpers.parseLinkLabel(None, start) == -1
    assert len(looked) == markdown.MAX_OPEN
    text = "[" * 3_000
    assert parse_bytes(text.encode(), "md").texts("paragraph") == [text]
