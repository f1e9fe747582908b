"""Real files of the measuring sets, where they lie beside the repository: none may break."""

import time
from pathlib import Path

import pytest

from libs.contracts.artefacts.profile import Format
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats import ocr
from tests.support.parsing import parse_path

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "parsing"
FORMATS: dict[str, Format] = {
    "md": "md", "html": "html", "docx": "docx", "pptx": "pptx", "xlsx": "xlsx", "csv": "csv",
    "xls": "xls", "doc": "doc", "ppt": "ppt", "rtf": "rtf", "odt": "odt", "ods": "ods",
    "pdf": "pdf", "png": "image", "jpg": "image", "hwp": "hwp",
}  # fmt: skip
CONVERTED = frozenset({".doc", ".ppt", ".rtf"})
"""Each takes LibreOffice seconds; two of them are enough here."""
SECONDS_A_SET = 25.0
"""CPU seconds after which the rest of a set is left for the evaluation."""

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the measuring sets are not at {DATA.name} beside the repository"
)


def _files(name: str, every: int) -> list[Path]:
    found = [p for p in sorted((DATA / name).rglob("*")) if p.suffix.lstrip(".") in FORMATS]
    if name != "docling-tests":
        found = [p for p in found if p.suffix not in CONVERTED]
    return found[::every]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "every"),
    [
        ("docling-tests", 1),
        ("icdar2013-tables", 2),
        ("markitdown", 1),
        ("opendataloader-rerendered", 5),
        ("tika-asserted", 1),
    ],
)
def test_no_file_breaks_and_none_is_empty(name, every, monkeypatch):
    # what OCR reads takes seconds a page and is measured elsewhere
    monkeypatch.setattr(ocr.Reader, "read", lambda self, image, page: [])
    start = time.process_time()
    faults: dict[str, str] = {}
    for path in _files(name, every):
        if time.process_time() - start > SECONDS_A_SET:
            break
        encoding = "cp932" if "mskanji" in path.name else None
        try:
            parsed = parse_path(path, FORMATS[path.suffix.lstrip(".")], encoding=encoding)
        except DocumentFault as fault:
            faults[path.name] = fault.code
            continue
        assert parsed.rows, path.name
        assert any(r.text or r.asset for r in parsed.rows), path.name
    unexpected = {
        file: code
        for file, code in faults.items()
        if code not in {Code.ENGINE_MISSING, Code.ENCRYPTED} and file not in WITHOUT_CONTENT
    }
    assert unexpected == {}


WITHOUT_CONTENT = frozenset({"testEXCEL_textbox.xls"})
"""Files whose only text lies where their reader cannot look."""
