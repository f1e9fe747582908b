import base64
import io

import pytest
from PIL import Image

from libs.contracts.faults import DocumentFault
from tests.support.parsing import parse_bytes


def _parse(body: str):
    return parse_bytes(f"<html><head><title>T</title></head><body>{body}</body>".encode(), "html")


def test_headings_paragraphs_and_lists():
    parsed = _parse(
        "<h1>One <em>two</em></h1><p>a\n  b <b>c</b><br>d</p>"
        "<ol start=3><li>x<ul><li>y</li></ul></li><li><p>z</p><p>more</p></li></ol>"
        "<h3>Deep</h3><pre>  code\n  here</pre>"
    )
    assert parsed.outline() == [(1, "One two"), (3, "Deep")]
    assert parsed.texts("paragraph") == ["a b c\nd"]
    items = [(r.marker, r.level, r.text) for r in parsed.rows if r.kind == "list_item"]
    assert items == [("3.", 1, "x"), ("•", 2, "y"), ("4.", 1, "z\nmore")]
    assert parsed.texts("code") == ["code\n  here"]


def test_tables_keep_spans_headers_and_caption():
    parsed = _parse(
        "<table><caption>Sales</caption><thead><tr><th rowspan=2>Y</th><th colspan=2>S</th></tr>"
        "<tr><th>a</th><th>b</th></tr></thead><tfoot><tr><td>sum</td><td>9</td><td>9</td></tr>"
        "</tfoot><tbody><tr><td rowspan=99>23</td><td>1</td><td>2<br>3</td></tr></tbody></table>"
    )
    table = parsed.only("table")
    assert table.caption == "Sales"
    assert parsed.texts("caption") == ["Sales"]
    assert table.html == (
        '<table><thead><tr><th rowspan="2">Y</th><th colspan="2">S</th></tr>'
        "<tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>23</td><td>1</td><td>2<br>3</td></tr>"
        "<tr><td>sum</td><td>9</td><td>9</td></tr></tbody></table>"
    )


def test_layout_tables_give_their_content():
    parsed = _parse("<table role=presentation><tr><td><h2>In</h2><p>text</p></td></tr></table>")
    assert parsed.kinds() == ["heading", "paragraph"]


def test_main_content_without_navigation_scripts_and_styles():
    parsed = _parse(
        "<header>Site name</header><nav><a href=/>Home</a></nav><style>p{}</style>"
        "<main><h2>Topic</h2><p>" + "words " * 50 + "</p></main><footer>imprint</footer>"
    )
    assert parsed.kinds() == ["heading", "paragraph"]


def test_heads_and_feet_are_kept_apart():
    parsed = _parse("<header><h1>Site</h1></header><p>text</p><footer>imprint</footer>")
    assert parsed.texts("page_header") == ["Site"]
    assert parsed.texts("page_footer") == ["imprint"]
    assert parsed.outline() == [(1, "T")]


def test_hidden_text_is_marked():
    parsed = _parse(
        "<p>seen</p><div style='display: none'>secret</div><p hidden>also</p><p>end</p>"
    )
    assert [(r.text, r.hidden) for r in parsed.rows if r.kind == "paragraph"] == [
        ("seen", False),
        ("secret", True),
        ("also", True),
        ("end", False),
    ]
    assert parsed.findings["hidden_text"].count == 2


def test_controls_of_the_page_are_left_out():
    parsed = parse_bytes(
        b"<label for=c aria-hidden=true>154 languages</label><p>Kept<a role=button href=#>edit</a>"
        b"</p><div role=button>Open</div><label>Name: Ann</label>",
        "html",
    )
    assert parsed.texts("paragraph") == ["Kept", "Name: Ann"]


def test_menus_of_many_links_are_left_out():
    menu = "".join(f"<li><a href=/{i}>lang {i}</a></li>" for i in range(30))
    parsed = _parse(f"<ul>{menu}</ul><p>text</p>")
    assert parsed.texts("list_item") == []
    assert "navigation_left_out" in parsed.findings


def test_images_are_never_fetched():
    out = io.BytesIO()
    Image.new("RGB", (3, 3)).save(out, "PNG")
    uri = "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
    parsed = _parse(
        f"<p>text</p><figure><img src='{uri}' alt=A><figcaption>Figure 1. It</figcaption></figure>"
        "<img src='file:///etc/passwd'><img src='http://example.org/a.png'>"
    )
    image = parsed.only("image")
    assert (image.text, image.caption) == ("A", "Figure 1. It")
    assert parsed.findings["image_elsewhere"].count == 2


def test_a_damaged_data_uri_is_noted():
    parsed = _parse("<p>x</p><img src='data:image/png;base64,@@@'><img src='data:text/html,hi'>")
    assert parsed.findings["image_unreadable"].count == 2


def test_deep_nesting_and_wild_markup():
    parsed = _parse("<div>" * 2_000 + "deep</div><p>a<table><tr><td>b<p>c</table></p>")
    assert "deep" in " ".join(r.text for r in parsed.rows)


def test_an_empty_page_is_no_content():
    with pytest.raises(DocumentFault):
        _parse("<script>1</script>")


def test_a_table_in_a_cell_is_a_table_too():
    inner = "<table><tr><th>Teil</th><th>Preis</th></tr><tr><td>Rohr</td><td>2</td></tr></table>"
    page = f"<table><tr><th>Kap</th><th>Inhalt</th></tr><tr><td>1</td><td>vor{inner}nach</td></tr>"
    parsed = parse_bytes(f"{page}<tr><td>2</td><td>x</td></tr></table>".encode(), "html")
    outer, nested = [row for row in parsed.rows if row.kind == "table"]
    assert next(c.text for c in outer.cells if (c.row, c.column) == (1, 1)) == (
        "vor\nTeil | Preis\nRohr | 2\nnach"
    )
    assert nested.text == "Teil: Rohr; Preis: 2"
