"""SmartArt inside a PPT file, which lies in packages inside its stream."""

import io
import zipfile
from pathlib import Path

import pytest

from services.parser.formats.ole_write import write_ole
from services.parser.formats.ppt_diagrams import ppt_diagrams

DATA = (
    '<d:dataModel xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><d:t>'
    "<a:p><a:r><a:t>red </a:t></a:r><a:r><a:t>foxes</a:t></a:r></a:p>"
    "<a:p><a:r><a:t>boats</a:t></a:r></a:p><a:p/></d:t></d:dataModel>"
)


def _package(name: str, content: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr(name, content)
        package.writestr("drs/downrev.xml", "<x/>")
    return out.getvalue()


def _texts(folder: Path, *packages: bytes) -> list[str]:
    path = folder / "slides.ppt"
    stream = b"records" + b"between".join(packages) + b"and more"
    path.write_bytes(write_ole({("PowerPoint Document",): stream}))
    return ppt_diagrams(path)


def test_the_paragraphs_of_every_diagram_come_out(tmp_path: Path) -> None:
    first, second = (_package(f"drs/diagrams/data{n}.xml", DATA) for n in (1, 2))
    other = _package("drs/shapexml.xml", DATA)
    assert _texts(tmp_path, other, first, second) == ["red foxes", "boats"] * 2


@pytest.mark.parametrize(
    "damaged",
    [
        _package("drs/diagrams/data1.xml", DATA)[:120],
        _package("drs/diagrams/data1.xml", "<no><xml>"),
        _package("drs/diagrams/data1.xml", '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'),
    ],
    ids=["cut off", "no XML", "entities"],
)
def test_damaged_diagrams_have_no_text(tmp_path: Path, damaged: bytes) -> None:
    assert _texts(tmp_path, damaged) == []


def test_a_file_that_is_no_presentation_has_none(tmp_path: Path) -> None:
    path = tmp_path / "slides.ppt"
    path.write_bytes(b"words")
    assert ppt_diagrams(path) == []
