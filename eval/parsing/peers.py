"""Other parsers, run by the same script over the same files.

Each is imported only when it is asked for; one that is not installed says how to get it.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from eval.parsing.model import FoundHeading, FoundTable, Parsed
from eval.parsing.nid import tables_as_html
from eval.parsing.outlines import open_pdf
from eval.parsing.tables import cells_html, grid_cells, html_cells, html_tables
from libs.contracts.artefacts.rows import TableCell

_HEADING = re.compile(r"^(#{1,6})\s+(.*)$", re.MULTILINE)
PDF_SETS = frozenset({"opendataloader-rerendered", "icdar2013-tables"})
STRING_SETS = frozenset({"tika-asserted", "markitdown"})


@dataclass(frozen=True)
class Peer:
    """A parser of others: its module and package, the sets that it is made for, its call.

    `preload` names modules that the call imports besides, so that no file pays for them.
    """

    name: str
    module: str
    package: str
    sets: frozenset[str]
    call: Callable[[Path], Parsed]
    preload: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """How to get it, when it cannot be imported here."""
        return None if find_spec(self.module) else f"not installed: pip install {self.package}"

    def version(self) -> str:
        """The installed version."""
        try:
            return version(self.package.partition("[")[0])
        except PackageNotFoundError:
            return "unknown"


def _liteparse(path: Path) -> Parsed:
    module = import_module("liteparse")
    reader = module.LiteParse(
        ocr_enabled=False, quiet=True, num_workers=1, max_pages=100_000,
        output_format="markdown", extract_blocks=True, keep_headers_footers=True,
    )  # fmt: skip
    pages = reader.parse(str(path)).pages
    tables, headings = [], []
    for page in pages:
        for block in page.blocks or ():
            if block.kind == "heading":
                headings.append(FoundHeading(block.text or "", block.level or 1, page.page_num))
            elif block.kind == "table":
                head = [[cell.text for cell in block.header]] if block.header else []
                grid = head + [[cell.text for cell in row] for row in block.rows or ()]
                tables.append(_grid(page.page_num, grid))
    text = "\n\n".join(page.markdown or page.text for page in pages)
    return Parsed(markdown=text, tables=tuple(tables), headings=tuple(headings), pages=len(pages))


def _pypdfium2(path: Path) -> Parsed:
    document = open_pdf(path)
    try:
        texts = []
        for page in document:
            text = page.get_textpage()
            texts.append(text.get_text_range())
            text.close()
            page.close()
        return Parsed(markdown="\n\n".join(texts), pages=len(texts))
    finally:
        document.close()


def _docling_native(path: Path) -> Parsed:
    converters = import_module("docling.document_converter")
    models = import_module("docling.datamodel.base_models")
    options = import_module("docling.document_converter").NativePdfFormatOption()
    converter = converters.DocumentConverter(format_options={models.InputFormat.PDF: options})
    document = converter.convert(path).document
    return _from_markdown(document.export_to_markdown(), len(document.pages))


def _pdfplumber(path: Path) -> Parsed:
    texts, tables = [], []
    with import_module("pdfplumber").open(path) as document:
        for number, page in enumerate(document.pages, 1):
            texts.append(page.extract_text() or "")
            tables += [_grid(number, table.extract()) for table in page.find_tables()]
    markdown = "\n\n".join([*texts, *(table.html for table in tables)])
    return Parsed(markdown=markdown, tables=tuple(tables), pages=len(texts))


def _camelot(flavor: str) -> Callable[[Path], Parsed]:
    def call(path: Path) -> Parsed:
        found = import_module("camelot").read_pdf(str(path), flavor=flavor, pages="all")
        tables = tuple(
            _grid(int(table.page), [[str(v) for v in row] for row in table.df.values.tolist()])
            for table in found
        )
        text = "\n\n".join(table.html for table in tables)
        return Parsed(markdown=text, tables=tables, pages=_page_count(path))

    return call


def _markitdown(path: Path) -> Parsed:
    converter = import_module("markitdown").MarkItDown(enable_plugins=False)
    return _from_markdown(converter.convert(str(path)).text_content, _page_count(path))


def _opendataloader(path: Path) -> Parsed:
    module = import_module("opendataloader_pdf")
    with tempfile.TemporaryDirectory() as folder:
        module.convert(
            input_path=[str(path)], output_dir=folder, format="markdown,json", quiet=True,
            image_output="off", include_header_footer=True,
        )  # fmt: skip
        text = next(Path(folder).rglob("*.md")).read_text("utf-8")
        tables = tuple(_json_tables(next(Path(folder).rglob("*.json"))))
    return Parsed(markdown=text, tables=tables, headings=_headings(text), pages=_page_count(path))


def _json_tables(path: Path) -> Iterable[FoundTable]:
    def walk(node: Any) -> Iterable[dict[str, Any]]:
        if isinstance(node, dict):
            if node.get("type") == "table":
                yield node
            for value in node.values():
                yield from walk(value)
        elif isinstance(node, list):
            for value in node:
                yield from walk(value)

    def texts(node: Any) -> Iterable[str]:
        if isinstance(node, dict):
            if isinstance(node.get("content"), str):
                yield node["content"]
            for value in node.values():
                yield from texts(value)
        elif isinstance(node, list):
            for value in node:
                yield from texts(value)

    for table in walk(json.loads(path.read_text("utf-8"))):
        cells = tuple(
            TableCell(
                row=cell["row number"] - 1, column=cell["column number"] - 1,
                row_span=cell.get("row span", 1), column_span=cell.get("column span", 1),
                text=" ".join(texts(cell.get("kids", []))),
            )
            for row in table.get("rows", ())
            for cell in row.get("cells", ())
        )  # fmt: skip
        yield FoundTable(frozenset({table["page number"]}), cells, cells_html(cells))


def _grid(page: int, rows: list[list[str]]) -> FoundTable:
    cells = grid_cells(rows)
    return FoundTable(frozenset({page}), cells, cells_html(cells))


def _page_count(path: Path) -> int:
    if path.suffix.lower() != ".pdf":
        return 0
    document = open_pdf(path)
    try:
        return len(document)
    finally:
        document.close()


def _from_markdown(text: str, pages: int) -> Parsed:
    """Markdown alone: its tables stand on no known page, so every page may claim them."""
    tables = tuple(
        FoundTable(frozenset(range(1, pages + 1)), html_cells(table), table)
        for table in html_tables(tables_as_html(text))
    )
    return Parsed(markdown=text, tables=tables, headings=_headings(text), pages=pages)


def _headings(text: str) -> tuple[FoundHeading, ...]:
    return tuple(FoundHeading(m[2], len(m[1])) for m in _HEADING.finditer(text))


_MANUALS = PDF_SETS | {"manuals"}
PEERS = {
    peer.name: peer
    for peer in (
        Peer("liteparse", "liteparse", "liteparse", _MANUALS, _liteparse),
        Peer(
            "docling-native", "docling_parse", "docling-slim[format-pdf-docling]", PDF_SETS,
            _docling_native, ("docling.document_converter",),
        ),
        Peer("pypdfium2", "pypdfium2", "pypdfium2", PDF_SETS, _pypdfium2),
        Peer("pdfplumber", "pdfplumber", "pdfplumber", PDF_SETS, _pdfplumber),
        *(
            Peer(f"camelot-{f}", "camelot", "camelot-py", PDF_SETS - {"opendataloader-rerendered"},
                 _camelot(f))
            for f in ("lattice", "stream", "hybrid")
        ),
        Peer("markitdown", "markitdown", "markitdown[all]", PDF_SETS | STRING_SETS, _markitdown),
        Peer("opendataloader-pdf", "opendataloader_pdf", "opendataloader-pdf", PDF_SETS,
             _opendataloader),
    )
}  # fmt: skip
