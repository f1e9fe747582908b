"""Words, sentences and scripts of running text, in Korean, English and their neighbours."""

import re
from collections.abc import Callable

from services.chunker.words import ABBREVIATIONS

CountMany = Callable[[list[str]], list[int]]
"""Model tokens of each text; counts are additive over white space, as SentencePiece's are."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ENDS = re.compile(
    r"[.!?…。！？\n](?:"
    r"(?<=[.!?…])(?<![.!?…]{2})[.!?…]{0,7}[\"'”’」』)\]]{0,4}(?P<gap>\s+)"
    r"|(?<=[。！？])[」』”’)\]]{0,4}(?P<cjk>\s*)"
    r"|(?<=[다요죠까]\.)(?=[가-힣])"
    r"|(?<=\n)(?P<empty>[^\S\n]*\n\s*)"
    r")"
)
_SCRIPTS = {
    "ko": re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]+"),
    "ja": re.compile(r"[\u3040-\u30ff]+"),
    "zh": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]+"),
    "ru": re.compile(r"[\u0400-\u04ff]+"),
    "latin": re.compile(r"[A-Za-z\u00c0-\u024f]+"),
}
_LATIN_LANGUAGES = frozenset(
    ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "pl", "cs", "tr", "id", "vi")
)
SAMPLE_CHARACTERS = 1000
KOREAN_SHARE = 0.2
"""Share of Hangul among letters from which a text counts as Korean: it mixes English freely."""


def clean(text: str) -> str:
    """`text` with one kind of line break, without control characters, stripped."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text).strip()


def one_line(text: str) -> str:
    """Every run of white space one space."""
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters of `text`, cut at a word where possible, then `…`."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    cut = head.rfind(" ", limit // 2)
    return (head[:cut] if cut > 0 else head).rstrip() + "…"


def sentences(text: str) -> list[tuple[str, str]]:
    """The sentences of a paragraph as (what stood before it, sentence).

    What stands between two sentences is reduced to nothing, one space, one line break or an
    empty line; everything else of `text` is in exactly one sentence.
    """
    found: list[tuple[str, str]] = []
    start, gap = 0, ""
    for match in _ENDS.finditer(text):
        name = match.lastgroup
        stop = match.start(name) if name else match.end()
        if name == "empty":
            stop -= 1
        if stop <= start or (name == "gap" and not _ends_sentence(text, match)):
            continue
        found.append((gap, text[start:stop]))
        start, gap = match.end(), _gap(match[name] if name else "")
    if start < len(text):
        found.append((gap, text[start:]))
    return found


def language_of(text: str, document_language: str = "und") -> str:
    """ISO 639-1 by script. Latin text is the document's language where that is written in
    Latin letters, else English; no letters at all is `und`."""
    latin = document_language if document_language in _LATIN_LANGUAGES else "en"
    if text.isascii():
        return latin if any(map(str.isalpha, text)) else "und"
    head = text[:SAMPLE_CHARACTERS]
    counts = {name: sum(map(len, pattern.findall(head))) for name, pattern in _SCRIPTS.items()}
    letters = sum(counts.values())
    if not letters:
        return "und"
    if counts["ko"] >= KOREAN_SHARE * letters:
        return "ko"
    if counts["ja"] and counts["ja"] + counts["zh"] >= counts["latin"]:
        return "ja"
    best = max(counts, key=lambda name: counts[name])
    return latin if best == "latin" else best


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    """A full stop ends no sentence after an abbreviation, an initial or a list number, nor
    before a small letter."""
    following = text[match.end() : match.end() + 1]
    if not match[0].startswith("."):
        return True
    if "a" <= following <= "z":
        return False
    head = text[max(0, match.start() - 16) : match.start()]
    word = (head.split() or [""])[-1].lstrip("([\"'“‘")
    if word.lower() in ABBREVIATIONS or (len(word) == 1 and word.isascii()):
        return False
    return not (word.isdigit() and len(word) <= 3 and match.start() <= 4)


def _gap(space: str) -> str:
    breaks = space.count("\n")
    return "\n\n" if breaks > 1 else "\n" if breaks else " " if space else ""
