"""Outlook messages: a compound file whose streams are properties (Microsoft, [MS-OXMSG])."""

from dataclasses import replace
from typing import Any

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.attached import Attachment, add_attachments
from services.parser.formats.attached_kind import encoding_of
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.eml import add_body, add_head
from services.parser.formats.html import add_fragment
from services.parser.formats.images import add_image, image_type
from services.parser.formats.msg_rtf import rtf_of
from services.parser.formats.rows import Rows, clean, one_line

MAX_STREAM = 64 << 20
MAX_DEPTH = 3
SUBJECT, BODY, HTML, RTF = 0x0037, 0x1000, 0x1013, 0x1009
SENDER, ADDRESSES, TO, CC, TIME = 0x0C1A, (0x5D01, 0x0C1F), 0x0E04, 0x0E03, 0x007D
DATA, NAMES, CONTENT_ID = 0x3701, (0x3707, 0x3704, 0x3001), 0x3712
"""Tags of properties ([MS-OXPROPS])."""
TEXT, ANSI, BINARY, OBJECT = "001F", "001E", "0102", "000D"
"""Their types."""


def parse(given: ParseInput) -> ShardResult:
    """Rows of a message: its head, its text, and what is attached to it."""
    import olefile  # type: ignore[import-untyped]

    rows = Rows()
    try:
        with olefile.OleFileIO(str(given.path)) as ole:
            message = _Message(ole)
            _add(given, rows, message, 1)
    except (OSError, ValueError, IndexError, TypeError, AttributeError, KeyError) as problem:
        raise DocumentFault(
            Code.UNREADABLE, "the message is damaged; save it again as .eml"
        ) from problem
    return rows.result("msg")


class _Message:
    """The properties of a message, or of an attachment, below a storage of the file."""

    def __init__(self, ole: Any, storage: tuple[str, ...] = ()) -> None:
        self._ole = ole
        self.storage = storage

    def data(self, tag: int, kind: str) -> bytes:
        """The bytes of a property of this type, empty where there is none."""
        name = [*self.storage, f"__substg1.0_{tag:04X}{kind}"]
        if not self._ole.exists(name) or self._ole.get_size(name) > MAX_STREAM:
            return b""
        with self._ole.openstream(name) as stream:
            return bytes(stream.read())

    def text(self, *tags: int) -> str:
        """The first of these properties that holds text."""
        for tag in tags:
            if data := self.data(tag, TEXT):
                return clean(data.decode("utf-16-le", "replace").rstrip("\0"))
            if data := self.data(tag, ANSI):
                return clean(_decoded(data.rstrip(b"\0")))
        return ""

    def parts(self) -> list["_Message"]:
        """The attachments in order."""
        depth = len(self.storage)
        names = {
            entry[depth]
            for entry in self._ole.listdir(streams=True, storages=False)
            if tuple(entry[:depth]) == self.storage and len(entry) > depth + 1
            and entry[depth].startswith("__attach_version1.0_#")
        }  # fmt: skip
        return [_Message(self._ole, (*self.storage, name)) for name in sorted(names)]

    def inner(self) -> "_Message | None":
        """The message that an attachment is, None where it is a file."""
        name = f"__substg1.0_{DATA:04X}{OBJECT}"
        if not self._ole.exists([*self.storage, name, "__properties_version1.0"]):
            return None
        return _Message(self._ole, (*self.storage, name))


def _decoded(data: bytes) -> str:
    return data.decode(encoding_of(data) or "cp1252", "replace")


def _add(given: ParseInput, rows: Rows, message: _Message, level: int) -> None:
    sender, address = message.text(SENDER), message.text(*ADDRESSES)
    shown = f"{sender} <{address}>" if address and address != sender else sender
    head = Rows()
    add_head(
        head, message.text(SUBJECT),
        [("From", shown), ("To", message.text(TO)), ("Cc", message.text(CC)),
         ("Date", _date(message.text(TIME)))],
    )  # fmt: skip
    for row in head.rows:
        below = {"level": level} if row.kind == "heading" else {}
        rows.rows.append(row.model_copy(update={"order": len(rows.rows), **below}))
    _body(given, rows, message)
    files = []
    for part in message.parts():
        given.progress(0)
        if (inner := part.inner()) is not None:
            if level < MAX_DEPTH:
                _add(given, rows, inner, level + 1)
            continue
        data, name = part.data(DATA, BINARY), one_line(part.text(*NAMES))
        if part.text(CONTENT_ID) and image_type(data):
            add_image(rows, given.assets, data, name)
        elif data or name:
            files.append(Attachment(name, data))
    add_attachments(given, rows, files, level=level + 1)


def _date(headers: str) -> str:
    """The date by the headers with which the message came."""
    lines = (line for line in headers.split("\n") if line.lower().startswith("date:"))
    return next(lines, "").partition(":")[2]


def _body(given: ParseInput, rows: Rows, message: _Message) -> None:
    """The text of a message: plain, unless only its HTML or its RTF says anything or has tables."""
    html = message.data(HTML, BINARY)
    html = html or message.text(HTML).encode()
    plain = message.text(BODY)
    if html and (not plain or b"<th" in html.lower()):
        add_fragment(rows, given.assets, _decoded(html))
    elif plain:
        add_body(rows, plain)
    elif packed := message.data(RTF, BINARY):
        _rtf(given, rows, rtf_of(packed))


def _rtf(given: ParseInput, rows: Rows, text: bytes) -> None:
    from services.parser.formats.rtf import read_rtf

    source = given.scratch / "body.rtf"
    source.write_bytes(text)
    try:
        found = read_rtf(replace(given, path=source)).rows
    except DocumentFault:
        return
    rows.rows += [r.model_copy(update={"order": len(rows.rows) + i}) for i, r in enumerate(found)]
