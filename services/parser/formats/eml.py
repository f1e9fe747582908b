"""Mail: its headers, its text, and what is attached to it."""

import re
from collections.abc import Iterable, Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from html.parser import HTMLParser
from itertools import islice, pairwise

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.attached import Attachment, add_attachments
from services.parser.formats.attached_kind import encoding_of
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.html import add_fragment
from services.parser.formats.images import add_image
from services.parser.formats.rows import Rows, one_line
from services.parser.formats.tables import plain_cells

HEADERS = ("From", "To", "Cc", "Date", "Reply-To")
MAX_PARTS = 1_000
MAX_NESTING = 50
MAX_MESSAGES = 5_000
MAX_HEADER = 50_000
"""Bytes of one header."""
WIDER = {"euc-kr": "cp949", "ks_c_5601-1987": "cp949", "ksc5601": "cp949", "gb2312": "gb18030",
         "us-ascii": "", "ascii": ""}  # fmt: skip
"""Charsets that mails name when they hold more than that; empty: the bytes decide."""
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_QUOTE = re.compile(r"^>+ ?", re.MULTILINE)
_MESSAGE = re.compile(rb"(?:(?<=\n\n)|\A)From [^\n]*\n(?=>?[\w-]+:)")
_STUFFED = re.compile(rb"^>(>*From )", re.MULTILINE)
"""A line of a message that a mailbox would take for the beginning of the next."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_BROKEN = (RecursionError, ValueError, LookupError, AttributeError, IndexError, TypeError)


def parse(given: ParseInput) -> ShardResult:
    """Rows of a message: subject, headers as a table, body, images, attachments with content."""
    rows = Rows()
    _add_message(given, rows, given.path.read_bytes())
    return rows.result("email")


def parse_mailbox(given: ParseInput) -> ShardResult:
    """Rows of the messages of a mailbox (RFC 4155), each as `parse` reads one."""
    rows = Rows()
    whole = given.path.read_bytes().replace(b"\r\n", b"\n")
    starts = [m.start() for m in islice(_MESSAGE.finditer(whole), MAX_MESSAGES + 1)]
    if len(starts) > MAX_MESSAGES:
        rows.note("messages_left_out", "messages past the limit were left out", severity="warning")
        starts, whole = starts[:-1], whole[: starts[-1]]
    for start, end in pairwise([*starts, len(whole)]):
        message = whole[start:end].partition(b"\n")[2]
        try:
            _add_message(given, rows, _STUFFED.sub(rb"\1", message))
        except DocumentFault:
            rows.note("message_damaged", "damaged messages were left out", severity="warning")
        given.progress(0)
    return rows.result("email")


def _add_message(given: ParseInput, rows: Rows, data: bytes) -> None:
    try:
        message = BytesParser(policy=policy.default).parsebytes(_bounded(data, rows))
        parts = [p for p, _ in zip(_parts(message, 0), range(MAX_PARTS), strict=False)]
    except _BROKEN as problem:
        raise DocumentFault(Code.UNREADABLE, "the message is damaged") from problem
    add_head(rows, _header(message, "Subject"), [(n, _header(message, n)) for n in HEADERS])
    attached = []
    for part in parts:
        name = one_line(_name(part))
        kind = part.get_content_maintype()
        if part.get_content_type() == "multipart/alternative":
            _alternatives(given, rows, part)
        elif part.get_content_type() == "message/rfc822":
            attached.append(Attachment(name or "message.eml", _inner(part)))
        elif kind == "image" and not part.is_attachment() and (data := _bytes(part)):
            add_image(rows, given.assets, data, name)
        elif kind == "text" and not name and not part.is_attachment():
            _text_part(given, rows, part)
        elif kind != "multipart" and (name or part.is_attachment()):
            attached.append(Attachment(name, _bytes(part)))
    add_attachments(given, rows, attached, level=2)


def add_head(rows: Rows, subject: str, headers: Iterable[tuple[str, str]]) -> None:
    """A message's subject as a heading, its other headers as a table."""
    subject = one_line(subject)
    rows.heading(subject or "(no subject)", 1, evidence="markup" if subject else "none")
    told = [[name, value] for name, text in headers if (value := one_line(text))]
    cells = plain_cells(told, header_rows=0)
    rows.table([c.model_copy(update={"header": c.column == 0}) for c in cells])


def add_body(rows: Rows, text: str) -> None:
    """Rows of a plain text of a message: its paragraphs without the marks of quoting."""
    for paragraph in re.split(r"\n\s*\n", _QUOTE.sub("", text)):
        rows.add("paragraph", paragraph)


def _bounded(data: bytes, rows: Rows) -> bytes:
    """The message with overlong headers cut: reading one takes many times its size."""
    end = _HEAD_END.search(data)
    head = data[: end.start()] if end else data
    if len(head) <= MAX_HEADER:
        return data
    kept: list[bytes] = []
    size = 0
    for line in head.splitlines(keepends=True):
        size = size + len(line) if line[:1] in (b" ", b"\t") else len(line)
        if size <= MAX_HEADER:
            kept.append(line)
        elif size == len(line):
            kept.append(line[:MAX_HEADER] + b"\n")
    if len(cut := b"".join(kept)) < len(head):
        rows.note("header_cut", "a header of the message was too long and was cut",
                  severity="warning")  # fmt: skip
    return cut + data[len(head) :]


def _parts(part: EmailMessage, depth: int) -> Iterator[EmailMessage]:
    """The leaves of a message in order; texts that are alternatives come as one part."""
    if depth > MAX_NESTING:
        return
    kind = part.get_content_type()
    if not part.is_multipart() or kind == "message/rfc822":
        yield part
        return
    whole = kind == "multipart/alternative"
    if whole:
        yield part
    for inner in _inside(part):
        yield from (p for p in _parts(inner, depth + 1) if not (whole and _is_text(p)))


def _inside(part: EmailMessage) -> list[EmailMessage]:
    payload = part.get_payload()
    return [p for p in payload if isinstance(p, EmailMessage)] if isinstance(payload, list) else []


def _is_text(part: EmailMessage) -> bool:
    return part.get_content_maintype() == "text" and not part.is_attachment()


def _alternatives(given: ParseInput, rows: Rows, part: EmailMessage) -> None:
    """The plain one of two texts, unless the other holds a table or there is no plain one."""
    texts = [p for p in part.walk() if _is_text(p)]
    plain = [p for p in texts if p.get_content_subtype() == "plain" and _text(p).strip()]
    rich = [p for p in texts if p.get_content_subtype() == "html"]
    if rich and (not plain or any(_has_table(p) for p in rich)):
        plain = []
    for one in plain or rich:
        _text_part(given, rows, one)


def _has_table(part: EmailMessage) -> bool:
    finder = _HeaderCells()
    try:
        finder.feed(_text(part))
    except (ValueError, AssertionError):
        return False
    return finder.found


class _HeaderCells(HTMLParser):
    """Whether a page has a header cell: most tables of mails only place things."""

    found = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found = self.found or tag == "th"


def _text_part(given: ParseInput, rows: Rows, part: EmailMessage) -> None:
    if part.get_content_subtype() == "html":
        add_fragment(rows, given.assets, _text(part))
        return
    add_body(rows, _text(part))


def _header(message: EmailMessage, name: str) -> str:
    """A header's text; raw bytes in it are decoded by their looks, a broken one is empty."""
    try:
        raw = next((str(v) for n, v in message.raw_items() if n.lower() == name.lower()), "")
        if _SURROGATE.search(raw):
            data = raw.encode("utf-8", "surrogateescape")
            return data.decode(encoding_of(data) or "utf-8", "replace")
        return str(message.get(name, ""))
    except _BROKEN:
        return ""


def _name(part: EmailMessage) -> str:
    try:
        return part.get_filename() or ""
    except _BROKEN:
        return ""


def _inner(part: EmailMessage) -> bytes:
    try:
        return b"".join(m.as_bytes() for m in _inside(part))
    except (*_BROKEN, UnicodeError):
        return b""


def _text(part: EmailMessage) -> str:
    data = _bytes(part)
    charset = (part.get_content_charset() or "").lower()
    charset = WIDER.get(charset, charset) or encoding_of(data) or "utf-8"
    try:
        text = data.decode(charset, "replace")
    except LookupError:
        text = data.decode(encoding_of(data) or "utf-8", "replace")
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _bytes(part: EmailMessage) -> bytes:
    try:
        data = part.get_payload(decode=True)
    except _BROKEN:
        return b""
    return data if isinstance(data, bytes) else b""
