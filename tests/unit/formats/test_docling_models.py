from types import SimpleNamespace

import pytest
from docling_core.types.doc import BoundingBox, CoordOrigin, DocItemLabel, DoclingDocument, Size
from docling_core.types.doc.document import ProvenanceItem, TableCell, TableData

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats import docling_models, strategy
from tests.support.parsing import parse_bytes


def _where(page: int, left: float, top: float) -> ProvenanceItem:
    box = BoundingBox(l=left, t=top, r=left + 100, b=top - 20, coord_origin=CoordOrigin.BOTTOMLEFT)
    return ProvenanceItem(page_no=page, bbox=box, charspan=(0, 1))


def _document() -> DoclingDocument:
    document = DoclingDocument(name="d")
    for page in (1, 2):
        document.add_page(page, Size(width=600, height=800))
    document.add_heading("Scope", level=1, prov=_where(1, 50, 750))
    document.add_text(DocItemLabel.TEXT, "Words.", prov=_where(1, 50, 700))
    cells = [
        TableCell(
            text=text, start_row_offset_idx=r, end_row_offset_idx=r + 1,
            start_col_offset_idx=c, end_col_offset_idx=c + 1, column_header=r == 0,
        )
        for r, row in enumerate((("Year", "Sum"), ("2024", "7")))
        for c, text in enumerate(row)
    ]  # fmt: skip
    data = TableData(table_cells=cells, num_rows=2, num_cols=2)
    document.add_table(data, prov=_where(2, 50, 600))
    return document


@pytest.fixture
def models(monkeypatch, tmp_path):
    """A converter that gives a known document, as if packages and models were there."""
    asked = []

    def convert(source, **kwargs):
        asked.append((source.suffix, kwargs["page_range"]))
        kwargs["progress_callback"](SimpleNamespace())
        return SimpleNamespace(document=_document())

    monkeypatch.setattr(docling_models, "PACKAGES", ("json",))
    monkeypatch.setenv(docling_models.FOLDER, str(tmp_path))
    converter = SimpleNamespace(convert=convert)
    monkeypatch.setattr(docling_models, "_converter", lambda folder, scanned: converter)
    return asked


def test_items_become_rows_with_boxes_from_the_top_left(models):
    parsed = parse_bytes(b"%PDF-1.7", "pdf", pages=(1, 2), page_count=2, engine="docling")
    heading, paragraph, table = parsed.rows
    assert (heading.kind, heading.level, heading.evidence, heading.page) == (
        "heading", 1, "model", 1,
    )  # fmt: skip
    assert heading.boxes[0].bbox == (50.0, 50.0, 150.0, 70.0)
    assert (paragraph.kind, paragraph.text) == ("paragraph", "Words.")
    assert (table.kind, table.page, table.text) == ("table", 2, "Year: 2024; Sum: 7")
    assert models == [(".pdf", (1, 2))]


def test_without_its_models_the_engine_says_what_to_install(monkeypatch):
    monkeypatch.delenv(docling_models.FOLDER, raising=False)
    with pytest.raises(DocumentFault, match="DOCLING_ARTIFACTS_PATH") as problem:
        parse_bytes(b"%PDF-1.7", "pdf", pages=(1, 1), page_count=1, engine="docling")
    assert problem.value.code is Code.ENGINE_MISSING


def test_the_real_converter_takes_these_options(tmp_path):
    from docling.datamodel.base_models import InputFormat

    converter = docling_models._converter(tmp_path, scanned=True)
    options = converter.format_to_options[InputFormat.PDF].pipeline_options
    assert (options.artifacts_path, options.do_ocr, options.enable_remote_services) == (
        tmp_path, True, False,
    )  # fmt: skip


def test_formats_without_pages_keep_their_own_strategy():
    assert strategy("docx", "docling") is strategy("docx")
    assert strategy("pdf", "native") is strategy("pdf")
