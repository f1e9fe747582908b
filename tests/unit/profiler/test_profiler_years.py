"""The year of an office file: when it was made, never when its generator's blank file was."""

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from docx import Document

from services.profiler.office import TEMPLATE_DATES
from services.profiler.profile import Bounds, profile_file
from tests.support import documents


def made(created: datetime) -> bytes:
    document = Document()
    document.add_paragraph("Revenue grew in the harbour division.")
    document.core_properties.created = created
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def inferred(tmp_path: Path, data: bytes, name: str) -> dict[str, str | int]:
    path = tmp_path / "source"
    path.write_bytes(data)
    found = profile_file(
        path, file_name=name, size=len(data), sha256="0" * 64, declared=None, bounds=Bounds()
    )
    return found.inferred


@pytest.mark.parametrize(
    ("name", "data"), [("a.docx", documents.docx()), ("a.pptx", documents.pptx())]
)
def test_a_generators_own_template_says_no_year(tmp_path: Path, name: str, data: bytes) -> None:
    assert "year" not in inferred(tmp_path, data, name)


@pytest.mark.parametrize("moment", sorted(TEMPLATE_DATES))
def test_a_known_template_date_says_no_year(tmp_path: Path, moment: str) -> None:
    data = made(datetime.fromisoformat(moment))
    assert "year" not in inferred(tmp_path, data, "a.docx")
    assert inferred(tmp_path, data, "report-2021.docx")["year"] == 2021


def test_a_date_of_its_own_says_the_year(tmp_path: Path) -> None:
    data = made(datetime(2013, 12, 24, 8, tzinfo=UTC))
    assert inferred(tmp_path, data, "a.docx")["year"] == 2013
