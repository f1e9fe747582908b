"""The strategies, one per format, named so that a library is imported only when it is needed."""

from importlib import import_module
from typing import cast

from libs.contracts.artefacts.profile import Format
from services.parser.formats.base import Strategy

STRATEGIES: dict[Format, str] = {
    "pdf": "services.parser.formats.pdf:parse",
    "docx": "services.parser.formats.docx:parse",
    "pptx": "services.parser.formats.pptx:parse",
    "xlsx": "services.parser.formats.xlsx:parse",
    "csv": "services.parser.formats.csv:parse",
    "md": "services.parser.formats.markdown:parse",
    "txt": "services.parser.formats.text:parse",
    "html": "services.parser.formats.html:parse",
    "image": "services.parser.formats.image:parse",
    "jsonl": "services.parser.formats.jsonl:parse",
    "fragments": "services.parser.formats.fragments:parse",
    "eml": "services.parser.formats.eml:parse",
    "odt": "services.parser.formats.odf:parse",
    "ods": "services.parser.formats.xls:parse",
    "odp": "services.parser.formats.odf:parse",
    "rtf": "services.parser.formats.legacy:parse",
    "doc": "services.parser.formats.legacy:parse",
    "ppt": "services.parser.formats.legacy:parse",
    "xls": "services.parser.formats.xls:parse",
    "hwp": "services.parser.formats.hwp:parse",
    "hwpx": "services.parser.formats.hwp:parse",
}


def strategy(name: Format) -> Strategy:
    """The strategy of a format, imported now."""
    module, _, function = STRATEGIES[name].partition(":")
    return cast(Strategy, getattr(import_module(module), function))
