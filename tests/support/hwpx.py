"""A minimal HWPX writer: paragraphs, a table with spans, a picture."""

import io
import zipfile
from xml.sax.saxutils import escape

_SPACES = (
    'xmlns:hp="http://www.hancom.co.kr/hwpml/2011/paragraph" '
    'xmlns:hs="http://www.hancom.co.kr/hwpml/2011/section" '
    'xmlns:hc="http://www.hancom.co.kr/hwpml/2011/core" '
    'xmlns:hh="http://www.hancom.co.kr/hwpml/2011/head"'
)


def paragraph(content: str) -> str:
    """A paragraph around runs of any content."""
    return (
        f'<hp:p id="0" paraPrIDRef="0" styleIDRef="0"><hp:run charPrIDRef="0">{content}</hp:run>'
        "</hp:p>"
    )


def text(words: str) -> str:
    """A paragraph of text."""
    return paragraph(f"<hp:t>{escape(words)}</hp:t>")


def table(rows: list[list[tuple[str, int, int, int]]]) -> str:
    """A table of rows of (text, column, row span, column span)."""
    height = len(rows)
    width = max(column + span for row in rows for _, column, _, span in row)
    body = ""
    for r, row in enumerate(rows):
        cells = "".join(
            f'<hp:tc><hp:subList>{text(words)}</hp:subList><hp:cellAddr colAddr="{column}" '
            f'rowAddr="{r}"/><hp:cellSpan colSpan="{across}" rowSpan="{down}"/></hp:tc>'
            for words, column, down, across in row
        )
        body += f"<hp:tr>{cells}</hp:tr>"
    return paragraph(f'<hp:tbl rowCnt="{height}" colCnt="{width}">{body}</hp:tbl>')


def picture(name: str) -> str:
    """A paragraph with the picture stored under `name`."""
    return paragraph(f'<hp:pic><hc:img binaryItemIDRef="{name}"/></hp:pic>')


def write_hwpx(
    *blocks: str, pictures: dict[str, bytes] | None = None, head: str = "<hh:head {spaces}/>"
) -> bytes:
    """The blocks as one HWPX file; `pictures` are PNG bytes by name, `head` its properties."""
    out = io.BytesIO()
    items = "".join(
        f'<opf:item id="{name}" href="BinData/{name}.png" media-type="image/png" isEmbeded="1"/>'
        for name in pictures or {}
    )
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/hwp+zip")
        archive.writestr(
            "version.xml",
            '<hv:HCFVersion xmlns:hv="http://www.hancom.co.kr/hwpml/2011/version" major="5" '
            'minor="1"/>',
        )
        archive.writestr(
            "META-INF/container.xml",
            '<ocf:container xmlns:ocf="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<ocf:rootfiles><ocf:rootfile full-path="Contents/content.hpf" '
            'media-type="application/hwpml-package+xml"/></ocf:rootfiles></ocf:container>',
        )
        archive.writestr(
            "Contents/content.hpf",
            '<opf:package xmlns:opf="http://www.idpf.org/2007/opf/"><opf:metadata/><opf:manifest>'
            '<opf:item id="header" href="Contents/header.xml" media-type="application/xml"/>'
            '<opf:item id="section0" href="Contents/section0.xml" media-type="application/xml"/>'
            f"{items}</opf:manifest><opf:spine>"
            '<opf:itemref idref="section0"/></opf:spine></opf:package>',
        )
        archive.writestr("Contents/header.xml", head.format(spaces=_SPACES))
        archive.writestr("Contents/section0.xml", f"<hs:sec {_SPACES}>{''.join(blocks)}</hs:sec>")
        for name, data in (pictures or {}).items():
            archive.writestr(f"BinData/{name}.png", data)
    return out.getvalue()
