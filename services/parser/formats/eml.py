"""Mail: its headers, its text (plain before HTML), and the names of what is attached."""

import re
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.html import add_fragment
from services.parser.formats.images import add_image
from services.parser.formats.rows import Rows, one_line
from services.parser.formats.tables import plain_cells

HEADERS = ("From", "To", "Cc", "Date", "Reply-To")
MAX_PARTS = 1_000
_QUOTE = re.compile(r"^>+ ?", re.MULTILINE)


def parse(given: ParseInput) -> ShardResult:
    """Rows of a message: subject, headers as a table, body, images, attachment names."""
    rows = Rows()
    try:
        message = BytesParser(policy=policy.default).parsebytes(given.path.read_bytes())
        parts = [p for p, _ in zip(message.walk(), range(MAX_PARTS), strict=False)]
    except (RecursionError, ValueError, LookupError, AttributeError) as problem:
        raise DocumentFault(Code.UNREADABLE, "the message is damaged") from problem
    subject = one_line(_header(message, "Subject"))
    rows.heading(subject or "(no subject)", 1, evidence="markup" if subject else "none")
    headers = [[name, one_line(_header(message, name))] for name in HEADERS]
    cells = plain_cells([h for h in headers if h[1]], header_rows=0)
    rows.table([c.model_copy(update={"header": c.column == 0}) for c in cells])
    _body(given, rows, parts)
    names = []
    for part in parts:
        name = one_line(part.get_filename() or "")
        if part.get_content_maintype() == "image" and (data := _bytes(part)):
            add_image(rows, given.assets, data, name)
        elif part.is_attachment() and name:
            names.append(name)
    for name in names:
        rows.add("list_item", name, marker="•", level=1)
    if names:
        rows.note(
            "attachments", "attachments are named, not read; upload them on their own",
            count=len(names),
        )  # fmt: skip
    return rows.result("email")


def _header(message: EmailMessage, name: str) -> str:
    """A header's text; one that cannot be decoded counts as empty."""
    try:
        return str(message.get(name, ""))
    except (ValueError, LookupError, AttributeError, IndexError, TypeError):
        return ""


def _body(given: ParseInput, rows: Rows, parts: list[EmailMessage]) -> None:
    texts = [p for p in parts if p.get_content_maintype() == "text" and not p.is_attachment()]
    plain = [p for p in texts if p.get_content_subtype() == "plain"]
    rich = [p for p in texts if p.get_content_subtype() == "html"]
    before = len(rows.rows)
    for part in plain:
        for paragraph in re.split(r"\n\s*\n", _QUOTE.sub("", _text(part))):
            rows.add("paragraph", paragraph)
    if len(rows.rows) == before:
        for part in rich:
            add_fragment(rows, given.assets, _text(part))


def _text(part: EmailMessage) -> str:
    data = _bytes(part)
    charset = part.get_content_charset() or "utf-8"
    try:
        text = data.decode(charset, "replace")
    except LookupError:
        text = data.decode("utf-8", "replace")
    return text.replace("\r\n", "\n")


def _bytes(part: EmailMessage) -> bytes:
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""
