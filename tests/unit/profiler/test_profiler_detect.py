"""Formats by content, and every bad input with its code."""

import io
import struct
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from libs.contracts.faults import Code, DocumentFault
from libs.contracts.tokens import safe_file_name
from libs.runtime.sandbox.archives import ArchiveLimits
from services.profiler.profile import Bounds, profile_file
from tests.support import documents
from tests.support.fences import cpu_fence

ODT_TYPE = "application/vnd.oasis.opendocument.text"
MAIL = b"From: a@example.org\r\nTo: b@example.org\r\nSubject: Tides\r\n\r\nHigh tide at noon.\r\n"
FRAGMENT = b'{"type": "text", "content": "A", "path": ["B"], "page": 1}\n'


def profile(tmp_path: Path, data: bytes, name: str, declared: str | None = None, **bounds: int):
    path = tmp_path / "source"
    path.write_bytes(data)
    return profile_file(
        path, file_name=name, size=len(data), sha256="0" * 64, declared=declared,
        bounds=Bounds(**bounds),
    )  # fmt: skip


def fault(tmp_path: Path, data: bytes, name: str, **bounds: int) -> DocumentFault:
    with pytest.raises(DocumentFault) as caught:
        profile(tmp_path, data, name, **bounds)
    assert len(caught.value.detail) > 15
    return caught.value


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def with_member(container: bytes, name: str, data: bytes) -> bytes:
    out = io.BytesIO(container)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (documents.manual_pdf(), "a.pdf", "pdf"),
        (documents.manual_pdf(), "wrong.docx", "pdf"),
        (b"\n\n junk before " + documents.manual_pdf(), "late.pdf", "pdf"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + documents.manual_pdf() + b"\xff", "a.bin", "pdf"),
        (b'PAGE = b"""%PDF-1.4\n1 0 obj\n<< >>\nendobj\n"""\nprint(PAGE)\n', "a.py", "txt"),
        ("첫째 줄\n%PDF-1.7 로 시작하는 파일은\n문서이다.\n".encode(), "a.txt", "txt"),
        (documents.docx(), "a.docx", "docx"),
        (documents.docx(), "a.txt", "docx"),
        (documents.pptx(), "a.pptx", "pptx"),
        (documents.xlsx(), "a.bin", "xlsx"),
        (documents.png(), "a.jpg", "image"),
        (zipped({"mimetype": ODT_TYPE.encode(), "content.xml": b"<a/>"}), "a.odt", "odt"),
        (zipped({"mimetype": b"application/hwp+zip", "a.xml": b"<a/>"}), "a", "hwpx"),
        (zipped({"mimetype": b"application/epub+zip", "a.opf": b"<p/>"}), "a", "epub"),
        (rb"{\rtf1\ansi Hello}", "a.doc", "rtf"),
        (b"<!DOCTYPE html><html><body><p>Hi there</p></body></html>", "a.txt", "html"),
        (b"<p>One</p><p>Two</p>", "a.htm", "html"),
        (b"<html><table><tr><td>1</td></tr></table></html>", "export.xls", "html"),
        (MAIL, "a.eml", "eml"),
        (MAIL, "a", "eml"),
        (documents.jsonl(), "a.jsonl", "jsonl"),
        (documents.jsonl(), "a", "jsonl"),
        (FRAGMENT * 2, "a.jsonl", "fragments"),
        (b"part,price\nflange,12\nvalve,7\n", "a.csv", "csv"),
        (b"part;price\nflange;12\nvalve;7\n", "a", "csv"),
        (b"a sentence, with a comma\nand another one\n", "a", "txt"),
        (documents.MARKDOWN.encode(), "a.md", "md"),
        (documents.MARKDOWN.encode(), "a", "md"),
        (documents.MARKDOWN.encode(), "a.txt", "txt"),
        (documents.KOREAN.encode("cp949"), "a.txt", "txt"),
        (documents.KOREAN.encode("utf-16"), "a.txt", "txt"),
        (b"{ not json at all", "a.txt", "txt"),
        (b'<?xml version="1.0"?>\n<?mso-application progid="Word.Document"?><w/>', "a.doc", "doc"),
        (b'<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
         b'office:mimetype="application/vnd.oasis.opendocument.spreadsheet"/>', "a.xml", "ods"),
        (b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>',
         "a.xls", "xls"),
        (b'<?xml version="1.0" encoding="UTF-8"?><!-- a > b --><HWPML Version="2.8"/>', "a", "hwp"),
        (b'<?xml version="1.0"?><!DOCTYPE a [<!ELEMENT a ANY>]><a><b>c</b></a>', "a.txt", "xml"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "a.svg", "xml"),
        (b'{"a": 1,\n "b": [2]}', "a", "json"),
        (b'{"cells": [], "nbformat": 4}', "a.txt.ipynb", "ipynb"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n", "a", "vtt"),
        (b"1\r\n00:00:01,000 --> 00:00:02,000\r\nHi\r\n", "a.srt", "vtt"),
        (b"From a@b.example Mon Jan  1 00:00:00 2024\nFrom: a\n\nHi\n", "inbox", "mbox"),
        (b"\\documentclass{article}\n\\begin{document}Hi\\end{document}", "a", "tex"),
        (b"Title\n=====\n\nText.\n", "a.rst", "rst"),
        (b"= Title\n\nText.\n", "a.adoc", "adoc"),
        (b"* Title\nText.\n", "a.org", "org"),
    ],
)  # fmt: skip
def test_the_content_decides(tmp_path: Path, data: bytes, name: str, expected: str) -> None:
    assert profile(tmp_path, data, name).format == expected


def test_a_declared_type_makes_fragments(tmp_path: Path) -> None:
    data = b'{"type": "figure", "content": "A"}\n'
    declared = "application/vnd.groundwire.fragments+jsonl"
    assert profile(tmp_path, data, "a.jsonl").format == "jsonl"
    assert profile(tmp_path, data, "a.jsonl", declared).format == "fragments"


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (b"", "a.pdf", Code.EMPTY),
        (zipped({}), "a.docx", Code.EMPTY),
        (b"  \n\n\t ", "a.txt", Code.NO_CONTENT),
        (b"\xef\xbb\xbf", "a.txt", Code.NO_CONTENT),
        (documents.pdf([]), "zero.pdf", Code.NO_CONTENT),
        (documents.manual_pdf()[:300], "cut.pdf", Code.UNREADABLE),
        (documents.docx()[:2000], "cut.docx", Code.UNREADABLE),
        (documents.png()[:500], "cut.png", Code.UNREADABLE),
        (b"this is no PDF, whatever its name says", "a.pdf", Code.UNREADABLE),
        (b"name,age\nA,1\nB,2\n", "a.xlsx", Code.UNREADABLE),
        (bytes(range(256)) * 20, "noise.pdf", Code.UNREADABLE),
        (bytes(range(256)) * 20, "noise.dat", Code.UNSUPPORTED),
        (bytes(5000), "zeros.txt", Code.UNSUPPORTED),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "cut.doc", Code.UNREADABLE),
        (zipped({"a.txt": b"one", "b.txt": b"two"}), "files.zip", Code.UNSUPPORTED),
        (b"\x1f\x8b\x08\x00" + bytes(50), "a.gz", Code.UNSUPPORTED),
    ],
)
def test_bad_input_has_a_code_and_a_sentence(
    tmp_path: Path, data: bytes, name: str, code: Code
) -> None:
    assert fault(tmp_path, data, name).code is code


def encrypted_zip() -> bytes:
    """The general-purpose flags of the member say that it is encrypted."""
    data = bytearray(zipped({"word/document.xml": b"<w/>"}))
    data[6] |= 1
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    return bytes(data)


def encrypted_odt() -> bytes:
    manifest = b"<manifest:encryption-data manifest:checksum-type='x'/>"
    return zipped({"mimetype": ODT_TYPE.encode(), "META-INF/manifest.xml": manifest})


def encrypted_pdf() -> bytes:
    data = documents.manual_pdf()
    encrypt = (
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /O <" + b"11" * 32 + b"> /U <" + b"22" * 32
        + b"> /P -4 >> /ID [<00> <00>] /Root 1 0 R"
    )  # fmt: skip
    return data.replace(b"/Root 1 0 R", encrypt)


@pytest.mark.parametrize("data", [encrypted_zip(), encrypted_odt(), encrypted_pdf()])
def test_what_is_locked_is_encrypted(tmp_path: Path, data: bytes) -> None:
    assert fault(tmp_path, data, "a").code is Code.ENCRYPTED


def lying_zip() -> bytes:
    """The directory says that a megabyte is ten bytes."""
    data = bytearray(zipped({"word/document.xml": bytes(1 << 20)}))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    data[22:26] = struct.pack("<I", 10)
    return bytes(data)


def overlapping_zip() -> bytes:
    """Two directory entries for the same bytes."""
    data = zipped({"a.xml": b"<a/>" * 100})
    at, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry, tail = data[at:end], bytearray(data[end:])
    tail[8:12] = struct.pack("<HH", 2, 2)
    tail[12:16] = struct.pack("<I", 2 * len(entry))
    return data[:at] + entry + entry.replace(b"a.xml", b"b.xml") + bytes(tail)


def linking_zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        link = zipfile.ZipInfo("word/link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return out.getvalue()


def nested_zip(depth: int) -> bytes:
    data = zipped({"a.txt": b"core"})
    for _ in range(depth):
        data = zipped({"inner.zip": data}, zipfile.ZIP_STORED)
    return data


ENTITIES = b'<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;">]><x>&b;</x>'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (zipped({"word/document.xml": bytes(64 << 20)}), "compressed"),
        (with_member(documents.docx(), "../../evil", b"x"), "outside"),
        (with_member(documents.docx(), "/etc/evil", b"x"), "outside"),
        (with_member(documents.docx(), "a\\..\\..\\evil", b"x"), "outside"),
        (with_member(documents.docx(), "C:/evil", b"x"), "outside"),
        (linking_zip(), "link"),
        (lying_zip(), "larger"),
        (overlapping_zip(), "overlap"),
        (nested_zip(4), "nested"),
        (zipped({f"{n}.xml": b"" for n in range(20_001)}, zipfile.ZIP_STORED), "members"),
        (with_member(documents.docx(), "word/evil.xml", ENTITIES), "entities"),
        (
            with_member(documents.docx(), "word/evil.xml", ENTITIES.decode().encode("utf-16")),
            "entities",
        ),
        (with_member(documents.docx(), "word/late.xml", b" " * 600_000 + ENTITIES), "entities"),
    ],
)
def test_hostile_archives_are_refused_with_the_reason(
    tmp_path: Path, data: bytes, why: str
) -> None:
    found = fault(tmp_path, data, "a.docx")
    assert found.code is Code.HOSTILE
    assert why in found.detail


def test_an_honest_archive_with_a_nested_one_passes(tmp_path: Path) -> None:
    data = with_member(documents.docx(), "word/embeddings/sheet.xlsx", documents.xlsx())
    assert profile(tmp_path, data, "a.docx").format == "docx"


def test_a_nested_bomb_is_found(tmp_path: Path) -> None:
    bomb = zipped({"x": bytes(64 << 20)})
    data = with_member(documents.docx(), "word/embeddings/x.zip", bomb)
    assert fault(tmp_path, data, "a.docx").code is Code.HOSTILE


def test_too_large_is_told_from_hostile(tmp_path: Path) -> None:
    data = zipped({f"{n}.bin": bytes(300_000) for n in range(8)}, zipfile.ZIP_STORED)
    assert fault(tmp_path, data, "a.docx", max_archive_mb=1).code is Code.TOO_LARGE
    assert ArchiveLimits().total > 1 << 29


def test_too_many_pages_or_pixels(tmp_path: Path) -> None:
    many = documents.pdf([[(11, "page")]] * 5)
    assert fault(tmp_path, many, "a.pdf", max_pages=4).code is Code.TOO_LARGE
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(
        ">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0
    )
    huge = header + b"\x00\x00\x00\x00" + documents.png()[33:]
    assert fault(tmp_path, huge, "a.png").code in (Code.TOO_LARGE, Code.UNREADABLE)


@pytest.mark.parametrize(
    ("kind", "more", "most"),
    [("PNG", {}, 6), ("JPEG", {}, 6), ("JPEG", {"progressive": True}, 3), ("WEBP", {}, 2)],
)
def test_an_image_may_be_as_large_as_its_decoder_can_hold(
    tmp_path: Path, kind: str, more: dict[str, bool], most: int
) -> None:
    for height, fits in ((1000 * most, True), (1000 * most + 1, False)):
        out = io.BytesIO()
        Image.new("RGB", (1000, height)).save(out, kind, **more)
        if fits:
            profile(tmp_path, out.getvalue(), "a", max_megapixels=6)
        else:
            found = fault(tmp_path, out.getvalue(), "a", max_megapixels=6)
            assert found.code is Code.TOO_LARGE
            assert f"at most {most} million" in found.detail


def test_scans_are_cut_into_short_shards(tmp_path: Path) -> None:
    out = io.BytesIO()
    pages = [Image.new("L", (60, 80), shade) for shade in range(50, 95)]
    pages[0].save(out, "PDF", save_all=True, append_images=pages[1:])
    found = profile(tmp_path, out.getvalue(), "scan.pdf")
    assert found.kind == "scanned"
    assert [(s.first, s.last) for s in found.shards] == [(1, 20), (21, 40), (41, 45)]


def test_a_huge_name_is_no_obstacle(tmp_path: Path) -> None:
    name = safe_file_name("../" + "긴이름" * 2000 + ".md")
    assert profile(tmp_path, b"# Title\n\nText.\n", name).format == "md"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"[" * 300_000, "a.json"),
        (b"[" * 300_000, "a"),
        (b"<!-- a " * 30_000, "a.xml"),
        (b"<?a " * 30_000, "a.xml"),
        (b"<!DOCTYPE a [" * 30_000, "a.xml"),
        (b"<!--a--> " * 20_000 + b"text", "a.txt"),
        (b"<script>" * 40_000, "a.html"),
        (b"<p " * 100_000, "a.html"),
        (b"<html><title" * 30_000, "a.html"),
    ],
)
def test_a_look_at_text_is_linear(tmp_path: Path, data: bytes, name: str) -> None:
    with cpu_fence():
        assert profile(tmp_path, data, name).format in ("txt", "html", "json", "xml")


def test_a_page_is_sampled_without_its_scripts(tmp_path: Path) -> None:
    page = "<html><title>제목</title><script>let x = 'script';</script><p>본문이 여기에 있다.</p>"
    found = profile(tmp_path, f"{page}<style>p {{ color: red }}".encode(), "a.html")
    assert found.language == "ko"
    assert found.title == "제목"
