"""The words of LaTeX source: marks, accents and commands taken away, formulas left as written."""

import re
import unicodedata

_ACCENTS = {"`": "\u0300", "'": "\u0301", "^": "\u0302", '"': "\u0308", "~": "\u0303",
            "=": "\u0304", ".": "\u0307", "c": "\u0327", "v": "\u030c", "u": "\u0306",
            "H": "\u030b", "k": "\u0328", "r": "\u030a"}  # fmt: skip
_ACCENT = re.compile(r"\\(?:([`'^\"~=.])|([cvuHkr])(?=[\s{]))\s*\{?\\?([A-Za-z])\}?")
_MATH = re.compile(r"(?<!\\)\$[^$]{1,2000}\$|\\\([^)]{0,2000}?\\\)")
_LETTERS = {"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł",
            "L": "Ł", "aa": "å", "AA": "Å", "i": "i", "j": "j", "ldots": "…", "dots": "…",
            "LaTeX": "LaTeX", "TeX": "TeX", "copyright": "©", "S": "§", "P": "¶", "pounds": "£",
            "textbackslash": "\\", "textasciitilde": "~", "textbar": "|", "euro": "€",
            "quad": " ", "qquad": " ", "newline": "\n"}  # fmt: skip
_SILENT = re.compile(
    r"\\(?:label|vspace|hspace|includegraphics|bibliographystyle|bibliography|input|include|index"
    r"|pagestyle|thispagestyle|setcounter|addtocounter|usepackage|newcommand|renewcommand"
    r"|setlength|addtolength|pagenumbering|color|definecolor|hypersetup|graphicspath)\*?"
    r"\s*(?:\[[^\[\]]{0,500}\])?(?:\s*\{[^{}]{0,500}\}){0,2}(?:\s*\[[^\[\]]{0,500}\])?"
)
_REFERENCE = re.compile(
    r"~?\\(?:cite[a-z]*|[a-zA-Z]*ref)\*?\s*(?:\[[^\[\]]{0,200}\]){0,2}\s*\{([^{}]{0,300})\}"
)
_HREF = re.compile(r"\\href\s*\{[^{}]{0,1000}\}\s*(?=\{)")
_COMMAND = re.compile(r"\\([A-Za-z]+)\*?(?:\s*\[[^\[\]]{0,200}\])?[ \t]*\n?")
_KEPT = re.compile("\x00([0-9]+)\x00")
_ESCAPED = re.compile(r"\\([&%$#_{} ,;:!/@-])")


def plain(source: str) -> str:
    """The words of a piece of source on one line; formulas stay in their own notation."""
    kept: list[str] = []

    def keep(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x00"

    text = (
        _MATH.sub(keep, source.replace("\x00", "")) if "$" in source or "\\(" in source else source
    )
    if "\\" in text:
        text = _SILENT.sub("", text)
        text = _HREF.sub("", _REFERENCE.sub(r" [\1]", text))
        text = _ACCENT.sub(_accented, text)
        text = re.sub(r"\\\\(?:\[[^\[\]]{0,50}\])?", "\n", text)
        text = _COMMAND.sub(lambda m: _LETTERS.get(m[1], ""), text)
        text = _ESCAPED.sub(lambda m: m[1] if m[1] in "&%$#_{}@" else " ", text)
    text = re.sub(r"(?<!\\)[{}]", "", text.replace("~", " "))
    text = text.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    if kept:
        text = _KEPT.sub(lambda m: kept[int(m[1])], text)
    return " ".join(text.split())


def _accented(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", found[3] + _ACCENTS[found[1] or found[2]])
