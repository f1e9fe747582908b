import io
import os
import stat
from pathlib import Path

import pytest
from docx import Document

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats import legacy
from tests.support.parsing import parse_bytes

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Stands for LibreOffice: a script of the test's own choice on an otherwise empty PATH."""

    def install(script: str) -> Path:
        path = tmp_path / "soffice"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.defpath}")
        return path

    return install


def _docx(path: Path) -> None:
    document = Document()
    document.add_heading("Old words", 1)
    document.add_paragraph("text")
    out = io.BytesIO()
    document.save(out)
    path.write_bytes(out.getvalue())


CONVERT = """
for last; do :; done
out=""
while [ $# -gt 0 ]; do
  case "$1" in
    --outdir) out="$2"; shift ;;
    -env:UserInstallation=file:///*) touch "$HOME/profile-given" ;;
  esac
  shift
done
[ -f "$HOME/profile-given" ] && [ -f "$last" ] || exit 3
mkdir -p "$out" && cp "%s" "$out/source.docx"
"""


WORD_XML = b'<?xml version="1.0"?><?mso-application progid="Word.Document"?><w:wordDocument/>'


@pytest.mark.parametrize(
    ("name", "data"), [("doc", OLE), ("doc", WORD_XML), ("rtf", b"{\\rtf1 hello}")]
)
def test_a_document_is_converted_and_read(name, data, program, tmp_path):
    _docx(tmp_path / "made.docx")
    program(CONVERT % (tmp_path / "made.docx"))
    parsed = parse_bytes(data, name)
    assert parsed.outline() == [(1, "Old words")]
    assert parsed.engine == "libreoffice+docling"


def test_success_without_output_is_unreadable(program):
    program("exit 0")
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(OLE, "doc")
    assert caught.value.code == Code.UNREADABLE


def test_a_conversion_that_hangs_is_killed(program, monkeypatch):
    monkeypatch.setattr(legacy, "CONVERT_SECONDS", 0.2)
    monkeypatch.setattr(legacy, "POLL_SECONDS", 0.1)
    program("exec tail -f /dev/null")
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(OLE, "ppt")
    assert caught.value.code == Code.TOO_SLOW


def test_without_libreoffice_the_fault_names_the_package(monkeypatch):
    monkeypatch.setattr(legacy.shutil, "which", lambda name: None)
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(OLE, "ppt")
    assert caught.value.code == Code.ENGINE_MISSING
    assert "libreoffice-impress-nogui" in caught.value.detail


@pytest.mark.parametrize(("name", "code"), [("doc", Code.UNREADABLE), ("rtf", Code.UNREADABLE)])
def test_other_bytes_are_refused_before_libreoffice_sees_them(name, code, program):
    program("exit 1")
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b"just words", name)
    assert caught.value.code == code
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b"", name)
    assert caught.value.code == Code.EMPTY
