"""Jupyter notebooks: text cells as Markdown, code and what it printed, tables and pictures.

After Project Jupyter, "The Notebook file format", versions 3 and 4.
"""

import json
from typing import Any

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.base64_text import from_base64
from services.parser.formats.html import add_fragment
from services.parser.formats.images import add_image
from services.parser.formats.markdown import add_markdown
from services.parser.formats.rows import Rows, read_text

MAX_OUTPUT = 20_000
"""Characters of one output that are kept."""
_PICTURES = ("image/png", "image/jpeg", "image/svg+xml", "png", "jpeg", "svg")


def parse(given: ParseInput) -> ShardResult:
    """Rows of a notebook in the order of its cells."""
    rows = Rows()
    try:
        book = json.loads(read_text(given))
    except (ValueError, RecursionError) as problem:
        raise DocumentFault(Code.UNREADABLE, "the notebook is damaged: it is no JSON") from problem
    for cell in _cells(book):
        given.progress(0)
        text = _text(cell.get("source", cell.get("input")))
        match cell.get("cell_type"):
            case "markdown":
                add_markdown(rows, given.assets, text)
            case "heading":
                level = cell.get("level")
                rows.heading(text, level if isinstance(level, int) else 1, evidence="markup")
            case "code":
                rows.add("code", text)
                for output in _dicts(cell.get("outputs")):
                    _output(given, rows, output)
            case _:
                rows.add("paragraph", text)
    return rows.result("notebook")


def _cells(book: Any) -> list[dict[str, Any]]:
    """The cells; older notebooks keep them in worksheets."""
    if not isinstance(book, dict):
        return []
    sheets = [c for sheet in _dicts(book.get("worksheets")) for c in _dicts(sheet.get("cells"))]
    return _dicts(book.get("cells")) or sheets


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(v for v in value if isinstance(v, str))
    return value if isinstance(value, str) else ""


def _output(given: ParseInput, rows: Rows, output: dict[str, Any]) -> None:
    """The best form of one output: a picture, a table, or what was printed."""
    data = output.get("data")
    forms = data if isinstance(data, dict) else output
    for kind in _PICTURES:
        if content := _text(forms.get(kind)):
            image = content.encode() if "svg" in kind else from_base64(content) or b""
            if add_image(rows, given.assets, image, _text(forms.get("text/plain"))):
                return
    rich = _text(forms.get("text/html", forms.get("html")))
    if "<t" in rich and "</t" in rich:
        add_fragment(rows, given.assets, rich)
        return
    plain = _text(forms.get("text/plain", output.get("text", ())))
    if output.get("output_type") in ("error", "pyerr"):
        plain = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    rows.add("code", plain[:MAX_OUTPUT])
