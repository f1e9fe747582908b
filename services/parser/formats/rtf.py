"""RTF read here, where LibreOffice is absent, refuses the file or finds nothing in it.

Text with its paragraphs, tables without spans, headings by outline level or style name, heads,
feet, footnotes and comments; pictures and drawings are left to LibreOffice. Control words as in
the Rich Text Format Specification 1.9.1.
"""

import re
from dataclasses import dataclass, field, replace

from libs.contracts.artefacts.rows import RowKind
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.rows import Rows, clean
from services.parser.formats.tables import plain_cells

MAX_DEPTH = 2_000
MAX_CELLS = 200_000
PROGRESS_TOKENS = 100_000
_TOKEN = re.compile(
    rb"\\(?:(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})? ?|'(?P<hex>[0-9a-fA-F]{2})"
    rb"|(?P<sign>[^a-zA-Z]))|(?P<open>\{)|(?P<close>\})|(?P<line>[\r\n]+)|(?P<text>[^\\{}\r\n]+)",
    re.DOTALL,
)
CODEPAGES = {"0": "cp1252", "77": "mac_roman", "128": "cp932", "129": "cp949", "130": "johab",
             "134": "gbk", "136": "big5", "161": "cp1253", "162": "cp1254", "177": "cp1255",
             "178": "cp1256", "186": "cp1257", "204": "cp1251", "222": "cp874",
             "238": "cp1250"}  # fmt: skip
"""Code page of a font by its `\\fcharset`."""
SIGNS = {"par": "\n", "line": "\n", "tab": "\t", "emdash": "—", "endash": "–", "emspace": " ",
         "enspace": " ", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
         "bullet": "•", "~": " ", "_": "-", "-": "", "zwj": "", "zwnj": ""}  # fmt: skip
SKIPPED = frozenset(
    {"colortbl", "stylesheet", "info", "pict", "object", "fldinst", "listtable", "revtbl",
     "listoverridetable", "generator", "xmlnstbl", "themedata", "datastore", "rsidtbl", "pntext",
     "pntxta", "pntxtb", "datafield", "latentstyles", "bkmkstart", "bkmkend", "filetbl",
     "nonshppict", "atnid", "atnauthor", "atndate", "atrfstart", "atrfend",
     "fonttbl", "template", "passwordhash"}
)  # fmt: skip
ASIDE: dict[str, RowKind] = {
    "header": "page_header", "headerl": "page_header", "headerr": "page_header",
    "headerf": "page_header", "footer": "page_footer", "footerl": "page_footer",
    "footerr": "page_footer", "footerf": "page_footer", "footnote": "footnote",
    "annotation": "note",
}  # fmt: skip
_HEADING = re.compile(r"(?:heading|überschrift|제목|titre)\s*([1-9])", re.IGNORECASE)


@dataclass(frozen=True)
class _State:
    """What a group inherits and gives back at its end."""

    skip: bool = False
    kind: RowKind = "paragraph"
    codec: str = "cp1252"
    unicode_skip: int = 1
    hidden: bool = False
    bold: bool = False


@dataclass
class _Paragraph:
    pieces: list[str] = field(default_factory=list)
    letters: int = 0
    bold: int = 0


@dataclass
class _Reader:
    given: ParseInput
    rows: Rows
    state: _State = field(default_factory=_State)
    stack: list[_State] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)
    open: dict[RowKind, _Paragraph] = field(default_factory=dict)
    table: list[list[str]] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    in_table: bool = False
    level: int | None = None
    fonts: dict[str, str] = field(default_factory=dict)
    styles: dict[str, int] = field(default_factory=dict)
    pending: int = 0
    starred: bool = False

    def read(self, data: bytes) -> None:
        self._names(data)
        at = 0
        count = 0
        while (found := _TOKEN.match(data, at)) is not None:
            at = found.end()
            count += 1
            if count % PROGRESS_TOKENS == 0:
                self.given.progress(0)
            kind = found.lastgroup
            if kind == "number":
                kind = "word"
            if kind == "word" and found["word"] == b"bin":
                at += max(0, int(found["number"] or 0))
            elif kind != "line":
                self._token(kind or "", found)
        self._paragraph()
        self._end_table()

    def _names(self, data: bytes) -> None:
        """Fonts with their code pages, and the styles that are headings."""
        page = re.search(rb"\\ansicpg([0-9]{1,5})", data[:4096])
        if page is not None and page[1] != b"0":
            self.state = replace(self.state, codec=f"cp{page[1].decode()}")
        for font, charset in re.findall(
            rb"\\f([0-9]{1,5})[^{};]{0,200}?\\fcharset([0-9]{1,3})", data
        ):
            self.fonts[font.decode()] = CODEPAGES.get(charset.decode(), "")
        for number, name in re.findall(
            rb"\{\\s([0-9]{1,5})[^{}]{0,400}? ([^{};\\]{1,100});\}", data
        ):
            level = _HEADING.match(name.decode("cp1252", "replace").strip())
            if level is not None:
                self.styles[number.decode()] = int(level[1])

    def _token(self, kind: str, found: re.Match[bytes]) -> None:
        if kind == "hex":
            if self.pending:
                self.pending -= 1
            elif not self.state.skip:
                self.raw.append(int(found["hex"], 16))
            return
        if kind == "text":
            self._text(found["text"])
            return
        self._flush()
        if kind == "open":
            self.pending = 0
            if len(self.stack) < MAX_DEPTH:
                self.stack.append(self.state)
        elif kind == "close":
            self.pending = 0
            outer = self.stack.pop() if self.stack else self.state
            if outer.kind != self.state.kind:
                self._leave()
            self.state = outer
        elif kind == "sign":
            self._sign(found["sign"].decode("latin-1"))
        else:
            number = int(found["number"]) if found["number"] else None
            self._word(found["word"].decode(), number)
            self.starred = False

    def _text(self, data: bytes) -> None:
        if self.pending:
            cut = min(self.pending, len(data))
            data, self.pending = data[cut:], self.pending - cut
        if not self.state.skip:
            self.raw += data

    def _flush(self) -> None:
        if not self.raw:
            return
        try:
            text = self.raw.decode(self.state.codec, "replace")
        except LookupError:
            text = self.raw.decode("cp1252", "replace")
        self.raw.clear()
        self._put(text)

    def _put(self, text: str) -> None:
        if self.state.skip or self.state.hidden or not text:
            return
        paragraph = self.open.setdefault(self.state.kind, _Paragraph())
        paragraph.pieces.append(text)
        size = len(text.strip())
        paragraph.letters += size
        paragraph.bold += size if self.state.bold else 0

    def _sign(self, sign: str) -> None:
        if sign == "*":
            self.starred = True
        elif sign in "\r\n":
            self._word("par", None)
        elif sign in SIGNS or sign in "\\{}":
            self._put(SIGNS.get(sign, sign))

    def _word(self, word: str, number: int | None) -> None:
        on = number != 0
        if word in ASIDE:
            self.state = replace(self.state, kind=ASIDE[word])
        elif word in SKIPPED or (self.starred and word not in {"shptxt", "shpinst", "fldrslt"}):
            self.state = replace(self.state, skip=True)
        elif word in {"par", "sect", "page"} and self.state.kind == "paragraph":
            self._paragraph()
        elif word in {"cell", "nestcell"}:
            self._cell()
        elif word in {"row", "nestrow"}:
            self._row()
        elif word in SIGNS:
            self._put(SIGNS[word])
        elif word == "u" and number is not None:
            self._unicode(number)
        elif word == "uc":
            self.state = replace(self.state, unicode_skip=max(0, min(number or 0, 16)))
        elif word == "f" and number is not None and self.fonts.get(str(number)):
            self.state = replace(self.state, codec=self.fonts[str(number)])
        elif word == "pard":
            self.in_table, self.level = False, None
        elif word == "intbl":
            self.in_table = True
        elif word == "outlinelevel" and number is not None and 0 <= number <= 8:
            self.level = number + 1
        elif word == "s" and str(number) in self.styles:
            self.level = self.styles[str(number)]
        elif word == "plain":
            self.state = replace(self.state, hidden=False, bold=False)
        elif word in {"v", "deleted"}:
            self.state = replace(self.state, hidden=on)
        elif word == "b":
            self.state = replace(self.state, bold=on)

    def _unicode(self, number: int) -> None:
        """A UTF-16 unit; halves of a pair find each other when the text is joined."""
        self._put(chr(number & 0xFFFF))
        self.pending = self.state.unicode_skip

    def _joined(self, kind: RowKind) -> tuple[str, bool]:
        paragraph = self.open.pop(kind, _Paragraph())
        raw = "".join(paragraph.pieces).encode("utf-16-le", "surrogatepass")
        text = clean(raw.decode("utf-16-le", "replace"))
        return text, 2 * paragraph.bold > paragraph.letters

    def _leave(self) -> None:
        """The end of a head, foot, footnote or comment."""
        text, _ = self._joined(self.state.kind)
        self.rows.add(self.state.kind, text)

    def _paragraph(self) -> None:
        if self.in_table:
            self._put("\n")
            return
        text, bold = self._joined("paragraph")
        if not text:
            return
        self._end_table()
        if self.level is not None:
            self.rows.heading(text, self.level, evidence="style")
        else:
            self.rows.add("paragraph", text, bold=bold)

    def _cell(self) -> None:
        if len(self.cells) < MAX_CELLS:
            self.cells.append(self._joined("paragraph")[0])

    def _row(self) -> None:
        if any(self.cells) and sum(map(len, self.table)) < MAX_CELLS:
            self.table.append(self.cells)
        self.cells = []

    def _end_table(self) -> None:
        if self.table:
            table, self.table = self.table, []
            self.rows.table(plain_cells(table, header_rows=1 if len(table) > 1 else 0))


def read_rtf(given: ParseInput) -> ShardResult:
    """Rows of an RTF document; `DocumentFault(NO_CONTENT)` where it holds no text."""
    from services.parser.formats.office_text import unstyled_headings

    rows = Rows()
    _Reader(given, rows).read(given.path.read_bytes())
    if not any(row.kind == "heading" for row in rows.rows):
        unstyled_headings(rows)
    rows.note("rtf_text", "the text was read without LibreOffice: pictures were left out")
    return rows.result("rtf")
