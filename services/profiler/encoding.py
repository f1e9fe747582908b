"""Which encoding a text is in, or that it is no text: from its bytes alone.

Order: a byte order mark, valid UTF-8, UTF-16 without a mark, UTF-8 with a few broken bytes,
then the legacy encodings of East Asia by the share of characters that are common there,
then what charset-normalizer makes of it.
"""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

WINDOW = 4 << 20
SAMPLE = 64 << 10
MAX_CONTROL_SHARE = 0.05

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = bytes({*range(9), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F})
_DECLARED = re.compile(
    rb"""(?:<meta[^>]{0,200}?charset|<\?xml[^>]{0,100}?encoding)\s*=\s*["']?\s*([\w.:-]{2,40})""",
    re.IGNORECASE,
)
_WESTERN = frozenset("äöüÄÖÜßéèêëàâçñáíóúîïôûùåæøœÉÀÇÑÅÆØ¿¡«»°§©®€£–—‘’“”…•·²³½º¢ ")
_EAST_ASIAN_TEXT = re.compile(r"[\t\n\r -~　-〿ぁ-ヿㄱ-ㆎ一-鿿가-힣！-ￜ※○●□■·…“”‘’]")
_FAMILY = ["cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "cp874"]


def encoding_of(path: Path) -> str | None:
    """The encoding of the file at `path`, a Python codec name; None when it holds no text.

    The first 4 MB decide; a file that is valid UTF-8 there may still hold a broken byte later,
    so whoever decodes must replace, not raise.
    """
    with path.open("rb") as file:
        return guess(file.read(WINDOW))


def guess(data: bytes) -> str | None:
    """The encoding of `data`, the beginning of a file; see `encoding_of`."""
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name
    if (wide := _utf16_without_mark(data)) is not None:
        return wide
    if len(data) - len(data.translate(None, _CONTROL)) > len(data) * MAX_CONTROL_SHARE:
        return None
    if (declared := _declared(data)) is not None:
        return declared
    if data.isascii() or _decodes(data, "utf-8"):
        return "utf-8"
    if _nearly_utf8(data):
        return "utf-8"
    return _legacy(_around_first_high_byte(data))


def _utf16_without_mark(data: bytes) -> str | None:
    head = data[: 4096 & ~1]
    if len(head) < 4:
        return None
    for name, high in (("utf-16-le", head[1::2]), ("utf-16-be", head[0::2])):
        low = head[0::2] if name == "utf-16-le" else head[1::2]
        if high.count(0) > len(high) * 0.4 and low.count(0) < len(low) * 0.05:
            return name if _decodes(head[: len(head) & ~1], name) else None
    if 0 not in head:
        return None
    return next((name for name in ("utf-16-le", "utf-16-be") if _reads(head, name)), None)


def _reads(head: bytes, name: str) -> bool:
    """Whether UTF-16 text of East Asia comes out: letters of its scripts, and blanks between."""
    try:
        text = codecs.getincrementaldecoder(name)("strict").decode(head[: len(head) & ~1])
    except UnicodeDecodeError:
        return False
    known = len(_EAST_ASIAN_TEXT.findall(text))
    return bool(text) and known >= 0.97 * len(text) and bool(re.search(r"[ \n]", text))


def _declared(data: bytes) -> str | None:
    """The encoding that HTML or XML names in its head, if the bytes bear it out."""
    found = _DECLARED.search(data[:4096])
    if found is None:
        return None
    try:
        name = codecs.lookup(found[1].decode()).name
    except LookupError:
        return None
    name = {"euc_kr": "cp949", "gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252",
            "shift_jis": "cp932"}.get(name, name)  # fmt: skip
    if name.startswith(("utf-16", "utf-32")) or (not data.isascii() and _decodes(data, "utf-8")):
        return None
    return name if _decodes(_around_first_high_byte(data), name, broken=0.01) else None


def _decodes(data: bytes, name: str, broken: float = 0.0) -> bool:
    """Whether `data` is text in encoding `name`, but for a character cut off at the end."""
    try:
        codecs.getincrementaldecoder(name)("strict").decode(data)
    except (UnicodeDecodeError, LookupError):
        if not broken:
            return False
    else:
        return True
    text = data.decode(name, "replace")
    return text.count("\ufffd") <= len(text) * broken


def _nearly_utf8(data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    whole = sum(1 for c in text[: 1 << 20] if c > "\x7f") - broken
    return whole > 0 and broken <= max(1, whole * 0.1)


def _around_first_high_byte(data: bytes) -> bytes:
    """A sample that starts at a line's or word's beginning before the first non-ASCII byte."""
    high = re.search(rb"[\x80-\xff]", data)
    if high is None:
        return data[:SAMPLE]
    start = max(data.rfind(b"\n", 0, high.start()), data.rfind(b" ", 0, high.start())) + 1
    return data[start : start + SAMPLE]


@dataclass(frozen=True)
class _Script:
    """An encoding, and the share of letters that must be common in its script; `never` are
    letters that only a wrong guess brings forth."""

    encoding: str
    common: Callable[[str], bool]
    share: float
    never: Callable[[str], bool] = lambda _: False


def _lead(encoding: str, low: int, high: int) -> Callable[[str], bool]:
    def common(character: str) -> bool:
        try:
            return low <= character.encode(encoding)[0] <= high
        except UnicodeEncodeError:
            return False

    return common


def _kana(character: str) -> bool:
    return "\u3041" <= character <= "\u30ff"


_KANJI = _lead("cp932", 0x88, 0x97)
_EAST_ASIA = (
    _Script("cp949", lambda c: "가" <= c <= "힣" and _lead("euc_kr", 0xB0, 0xC8)(c), 0.75),
    _Script("cp932", lambda c: _kana(c) or _KANJI(c), 0.85, lambda c: "\uff61" <= c <= "\uff9f"),
    _Script("euc_jp", _kana, 0.25),
    _Script("gb18030", _lead("gb2312", 0xB0, 0xD7), 0.7),
    _Script("big5", _lead("big5", 0xA4, 0xC6), 0.7),
)
"""In order; levels 1 of KS X 1001, JIS X 0208, GB 2312 and Big5 hold the common characters."""


def _legacy(sample: bytes) -> str:
    for script in _EAST_ASIA:
        if not _decodes(sample, script.encoding, broken=0.005):
            continue
        foreign = [c for c in sample.decode(script.encoding, "ignore") if c > "\x7f"]
        letters = [c for c in foreign if c.isalpha()]
        fitting = sum(map(script.common, letters)) >= len(letters) * script.share
        if letters and fitting and not any(map(script.never, letters)):
            return script.encoding
    return _western(sample)


def _western(sample: bytes) -> str:
    foreign = [c for c in sample.decode("cp1252", "replace") if c > "\x7f"]
    if sum(c in _WESTERN for c in foreign) >= len(foreign) * 0.8:
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_FAMILY).best()
    return best.encoding if best is not None else "cp1252"
