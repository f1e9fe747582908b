"""The engine `docling` in full: its layout and table models read PDFs and images.

The models are no part of this project: they are used where torch, docling's own packages and
the folder named by `DOCLING_ARTIFACTS_PATH` are there; nothing is downloaded. Formats without
pages are read by docling's backends in any case, so this engine changes nothing for them.
"""

import os
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from libs.contracts.artefacts.rows import Box, HeadingEvidence
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.office_rows import Marks, OfficeWalker
from services.parser.formats.rows import Rows

PACKAGES = ("torch", "docling_ibm_models")
FOLDER = "DOCLING_ARTIFACTS_PATH"


def parse(given: ParseInput) -> ShardResult:
    """Rows of the shard's pages. `DocumentFault(ENGINE_MISSING)` says what is to be installed."""
    folder = _models()
    converter = _converter(folder, scanned=given.profile.kind == "scanned")
    source = given.scratch / f"source.{_suffix(given)}"
    source.symlink_to(given.path.absolute())
    pages = (given.pages.first or 1, given.pages.last or max(1, given.profile.page_count))
    result = converter.convert(
        source, page_range=pages, raises_on_error=False, progress_callback=_told(given)
    )
    if result.document is None or not result.document.pages:
        raise DocumentFault(
            Code.UNREADABLE, "docling could not read the file; send it without its engine option"
        )
    rows = Rows()
    PagedWalker(
        rows,
        given.assets,
        result.document,
        slides=False,
        marks=Marks(),
        progress=given.progress,
    ).walk()
    whole = len(given.profile.shards) == 1
    return rows.result("docling", {"docling-slim": version("docling-slim")}, whole=whole)


def _models() -> Path:
    absent = [name for name in PACKAGES if find_spec(name) is None]
    folder = os.environ.get(FOLDER, "")
    if absent or not folder or not Path(folder).is_dir():
        raise DocumentFault(
            Code.ENGINE_MISSING,
            "the engine docling needs its models: pip install docling torch, fetch them by "
            f"docling-tools models download, and name their folder in {FOLDER}; "
            "or send the file without the engine option",
        )
    return Path(folder)


def _converter(folder: Path, *, scanned: bool) -> Any:
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.pipeline_options import PdfPipelineOptions, TesseractCliOcrOptions
    from docling.document_converter import DocumentConverter, ImageFormatOption, PdfFormatOption

    options = PdfPipelineOptions(
        artifacts_path=folder,
        do_ocr=scanned,
        ocr_options=TesseractCliOcrOptions(lang=["kor", "eng"]),
        do_table_structure=True,
        generate_picture_images=True,
        enable_remote_services=False,
        allow_external_plugins=False,
    )
    return DocumentConverter(
        allowed_formats=[InputFormat.PDF, InputFormat.IMAGE],
        format_options={
            InputFormat.PDF: PdfFormatOption(pipeline_options=options),
            InputFormat.IMAGE: ImageFormatOption(pipeline_options=options),
        },
    )


def _suffix(given: ParseInput) -> str:
    """What docling knows the format by."""
    if given.profile.format == "pdf":
        return "pdf"
    return given.profile.media_type.partition("/")[2].partition("+")[0] or "png"


def _told(given: ParseInput) -> Any:
    def tell(event: Any) -> None:
        given.progress(1 if type(event).__name__ == "PageCompletedProgress" else 0)

    return tell


class PagedWalker(OfficeWalker):
    """Items with a place on a page; the levels of headings are the models' guess."""

    evidence: HeadingEvidence = "model"

    def _where(self, item: Any) -> dict[str, Any]:
        boxes = []
        for place in getattr(item, "prov", None) or ():
            page = self.document.pages.get(place.page_no)
            if page is None or page.size is None:
                continue
            box = place.bbox.to_top_left_origin(page_height=page.size.height)
            corners = (round(box.l, 2), round(box.t, 2), round(box.r, 2), round(box.b, 2))
            if corners[0] <= corners[2] and corners[1] <= corners[3]:
                boxes.append(Box(page=place.page_no, bbox=corners))
        return {"page": boxes[0].page, "boxes": boxes} if boxes else {}
