import base64
import io
import zipfile

import pytest

from libs.contracts.faults import Code, DocumentFault
from tests.support.parsing import parse_bytes

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
)
NAV = """<html xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><ol>
<li><a href="one.xhtml">첫째 마당</a><ol><li><a href="two.xhtml#a">둘째 이야기</a></li></ol></li>
</ol></nav></body></html>"""
NCX = """<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>
<navPoint><navLabel><text>첫째 마당</text></navLabel><content src="one.xhtml"/>
<navPoint><navLabel><text>둘째 이야기</text></navLabel><content src="two.xhtml"/></navPoint>
</navPoint></navMap></ncx>"""
ONE = """<html><body><h1>첫째 마당: 시작</h1><p>글이다.</p><h2>작은 제목</h2>
<p>그림 <img src="../pic/a.png" alt="점"/> <img src="http://evil.example/b.png"/></p></body>
</html>"""
TABLE = "<table><tr><th>가</th></tr><tr><td>1</td></tr></table>"
TWO = f"<html><body><p>이야기이다.</p>{TABLE}</body></html>"


def book(contents: str = "nav", **more: str) -> bytes:
    item = '<item id="{0}" href="{1}" media-type="{2}"{3}/>'
    xhtml = "application/xhtml+xml"
    items = item.format("one", "one.xhtml", xhtml, "") + item.format("two", "two.xhtml", xhtml, "")
    if contents == "nav":
        items += item.format("nav", "nav.xhtml", xhtml, ' properties="nav"')
    else:
        items += item.format("ncx", "toc.ncx", "application/x-dtbncx+xml", "")
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>책</dc:title>'
        f"<dc:creator>지은이</dc:creator></metadata><manifest>{items}</manifest><spine>"
        '<itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/>'
        '<itemref idref="lost"/></spine></package>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        parts = {
            "META-INF/container.xml": CONTAINER, "OPS/book.opf": package, "OPS/nav.xhtml": NAV,
            "OPS/toc.ncx": NCX, "OPS/one.xhtml": ONE, "OPS/two.xhtml": TWO, **more,
        }  # fmt: skip
        for name, text in parts.items():
            archive.writestr(name, text)
        archive.writestr("pic/a.png", PIXEL)
    return out.getvalue()


@pytest.mark.parametrize("contents", ["nav", "ncx"])
def test_chapters_come_in_order_below_the_table_of_contents(contents):
    parsed = parse_bytes(book(contents), "epub")
    assert parsed.outline() == [(1, "첫째 마당: 시작"), (2, "작은 제목"), (2, "둘째 이야기")]
    evidence = [row.evidence for row in parsed.rows if row.kind == "heading"]
    assert evidence == ["outline", "markup", "outline"]
    assert parsed.texts("note") == ["author: 지은이"]
    assert parsed.only("table").text == "가: 1"


def test_pictures_come_out_of_the_package_and_from_nowhere_else():
    parsed = parse_bytes(book(), "epub")
    assert parsed.only("image").text == "점"
    assert "image_elsewhere" in parsed.findings


def test_a_locked_book_is_encrypted_and_a_locked_font_is_not():
    lock = '<encryption><CipherReference URI="OPS/{}"/></encryption>'
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(book(**{"META-INF/encryption.xml": lock.format("one.xhtml")}), "epub")
    assert caught.value.code == Code.ENCRYPTED
    parsed = parse_bytes(book(**{"META-INF/encryption.xml": lock.format("a.otf")}), "epub")
    assert len(parsed.outline()) == 3


def test_a_book_without_its_package_is_unreadable():
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(book(**{"OPS/book.opf": "<broken"}), "epub")
    assert caught.value.code == Code.UNREADABLE


def test_paths_out_of_the_package_lead_nowhere():
    page = '<html><body><p>x <img src="../../../etc/passwd"/></p></body></html>'
    parsed = parse_bytes(book(**{"OPS/one.xhtml": page}), "epub")
    assert "image" not in parsed.kinds()
