"""DOCX, PPTX, ODT and ODP: read by docling's backends, walked here in document order."""

import logging
import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.archives import opened
from services.parser.formats.attached import add_attachments
from services.parser.formats.attached_find import office_attachments
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.flat_office import packaged
from services.parser.formats.office_package import mended
from services.parser.formats.office_rows import Marks, OfficeWalker
from services.parser.formats.pictures import bounded_pictures
from services.parser.formats.rows import Rows

if TYPE_CHECKING:
    from docling_core.types.doc.document import DoclingDocument

_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


def parse(given: ParseInput) -> ShardResult:
    """Rows of an office document: for slides one section a slide, its number the page."""
    given = mended(opened(packaged(given)))
    rows = Rows()
    with warnings.catch_warnings(), bounded_pictures(rows):
        warnings.simplefilter("ignore")
        logging.getLogger("docling").setLevel(logging.CRITICAL)
        document, marks = _convert(given)
    slides = given.profile.format in {"pptx", "odp"}
    OfficeWalker(
        rows, given.assets, document, slides=slides, marks=marks, progress=given.progress
    ).walk()
    add_attachments(given, rows, office_attachments(given.path))
    versions = {"docling-slim": version("docling-slim"), "docling-core": version("docling-core")}
    return rows.result("docling", versions)


def _convert(given: ParseInput) -> tuple["DoclingDocument", Marks]:
    """The document as docling reads it, and what the backend marked in it."""
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument
    from docling.exceptions import SecurityError

    try:
        # the suffix of the path is not the document's: the format is given
        source = InputDocument(given.path, InputFormat(given.profile.format), _backend(given))
        reader: Any = getattr(source, "_backend", None)
        if reader is None or not source.valid or not reader.is_valid():
            raise DocumentFault(
                Code.UNREADABLE, "the office file is damaged; open and save it again"
            )
        # docling would draw EMF pictures by LibreOffice, in a profile that all processes share
        reader.pptx_to_pdf_converter_init = True
        if given.profile.format == "odt":
            _anchor(reader.odf_obj.body._xml_element)
        document: DoclingDocument = reader.convert()
    except SecurityError as problem:
        raise DocumentFault(
            Code.HOSTILE, "the office file was refused: it is built to exhaust a reader"
        ) from problem
    match given.profile.format:
        case "docx":
            return document, Marks(reader.toc, reader.captions, reader.vanished)
        case "pptx":
            from services.parser.formats.office_pptx import slide_extras

            return document, Marks(slides=slide_extras(reader.pptx_obj))
    return document, Marks()


def _anchor(body: Any) -> None:
    """Give frames that hang on a page a paragraph of their own, where docling looks for them."""
    for frame in [e for e in body if str(e.tag).startswith(_DRAW)]:
        paragraph = body.makeelement(f"{_TEXT}p")
        frame.addprevious(paragraph)
        paragraph.append(frame)


def _backend(given: ParseInput) -> Any:
    match given.profile.format:
        case "docx":
            from services.parser.formats.office_docx import docx_backend

            return docx_backend(given.progress)
        case "pptx":
            from docling.backend.mspowerpoint_backend import MsPowerpointDocumentBackend

            return MsPowerpointDocumentBackend
        case "odp":
            from docling.backend.opendocument_backend import OdpDocumentBackend

            return OdpDocumentBackend
        case _:
            from docling.backend.opendocument_backend import OdtDocumentBackend

            return OdtDocumentBackend
