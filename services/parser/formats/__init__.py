"""The strategies, one per format, named so that a library is imported only when it is needed."""

from importlib import import_module
from typing import cast

from libs.contracts.artefacts.profile import Format
from services.parser.formats.base import Strategy

STRATEGIES: dict[Format, str] = {
    "pdf": "services.parser.formats.pdf:parse",
    "docx": "services.parser.formats.office:parse",
    "pptx": "services.parser.formats.office:parse",
    "xlsx": "services.parser.formats.sheets:parse",
    "csv": "services.parser.formats.sheets:parse",
    "md": "services.parser.formats.markdown:parse",
    "txt": "services.parser.formats.text:parse",
    "html": "services.parser.formats.html:parse",
    "image": "services.parser.formats.image:parse",
    "jsonl": "services.parser.formats.jsonl:parse",
    "fragments": "services.parser.formats.jsonl:parse_fragments",
    "eml": "services.parser.formats.eml:parse",
    "odt": "services.parser.formats.office:parse",
    "ods": "services.parser.formats.sheets:parse",
    "odp": "services.parser.formats.office:parse",
    "rtf": "services.parser.formats.legacy:parse",
    "doc": "services.parser.formats.legacy:parse",
    "ppt": "services.parser.formats.legacy:parse",
    "xls": "services.parser.formats.sheets:parse",
    "hwp": "services.parser.formats.hwp:parse",
    "hwpx": "services.parser.formats.hwp:parse",
    "epub": "services.parser.formats.epub:parse",
    "xml": "services.parser.formats.xml_data:parse",
    "json": "services.parser.formats.json_data:parse",
    "ipynb": "services.parser.formats.notebook:parse",
    "mbox": "services.parser.formats.eml:parse_mailbox",
    "msg": "services.parser.formats.msg:parse",
    "vtt": "services.parser.formats.subtitles:parse",
    "rst": "services.parser.formats.rst:parse",
    "adoc": "services.parser.formats.adoc:parse",
    "org": "services.parser.formats.org:parse",
    "tex": "services.parser.formats.tex:parse",
}


ENGINES: dict[tuple[str, Format], str] = {
    ("docling", "pdf"): "services.parser.formats.docling_models:parse",
    ("docling", "image"): "services.parser.formats.docling_models:parse",
}
"""What a named engine reads otherwise than the format's own strategy does."""


def strategy(name: Format, engine: str | None = None) -> Strategy:
    """The strategy of a format, or the named engine's where it has one; imported now."""
    target = ENGINES.get((engine or "", name), STRATEGIES[name])
    module, _, function = target.partition(":")
    return cast(Strategy, getattr(import_module(module), function))
