"""The tree of a file that is one XML text; nothing outside it is read, no entity is expanded."""

from typing import Any

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput
from services.parser.formats.rows import read_text


def xml_root(given: ParseInput) -> Any:
    """The root element, the text decoded as the profile says.

    `DocumentFault`: `HOSTILE` for XML that declares entities, `UNREADABLE` for broken XML.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        return fromstring(read_text(given))
    except DefusedXmlException as problem:
        raise DocumentFault(
            Code.HOSTILE, "the XML declares entities, which are never expanded; send it without"
        ) from problem
    except (ParseError, ValueError, LookupError) as problem:
        raise DocumentFault(
            Code.UNREADABLE, "the XML is damaged: open the document and save it again"
        ) from problem
