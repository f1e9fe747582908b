"""Mutated files: the same for a seed, and none of them harms more than itself."""

from pathlib import Path

import pytest

from eval.fuzz.run import fuzz, inputs, sources
from tests.support import documents


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "a.pdf").write_bytes(documents.manual_pdf())
    (tmp_path / "a.docx").write_bytes(documents.docx())
    (tmp_path / "a.md").write_text(documents.MARKDOWN)
    return tmp_path


def test_equal_seeds_give_equal_files(data: Path) -> None:
    files = sources(data)
    first, again, other = (list(inputs(files, 5, seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert {one.suffix for one in first} == {"pdf", "docx", "md"}


@pytest.mark.slow
async def test_mutated_files_end_as_rows_or_document_faults(data: Path) -> None:
    report = await fuzz(inputs(sources(data), 8, 1), jobs=2, seconds=120.0)
    assert report.ok, (report.broken, report.crashed, report.hung, report.lost)
    assert sum(ends.total() for ends in report.ends.values()) == 24
