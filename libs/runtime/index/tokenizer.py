"""Tokens of the lexical channels: made here, so that every engine sees the same ones.

`tokenize` is applied to documents and queries alike:

* text is folded first: NFKC, case-folded, invisible characters removed (`fold`);
* a word in letters is one token; an English one loses its clitic (`'s`, `'t`, `'ll`), is dropped
  when it is one of Lucene's 33 stop words, and else reduced to its Porter2 stem;
* a run of Hangul, Han and Kana becomes its character bigrams, a lone character itself;
* inside such a run a number counts as one character, and is a token too:
  `제12조의2` → `제12`, `12조`, `조의`, `의2`, `12`, `2`;
* what holds a digit and is joined without space (`ISO-9001`, `v1.2.3`, `제12조의2`) is a
  token as a whole too, beside its parts; `1,234` is `1234`.

Tokens are never empty and have at most `MAX_TOKEN` characters. Time and memory grow
linearly with the text, whatever it holds.
"""

import operator
import re
import threading
import unicodedata
from collections.abc import Callable, Container
from functools import lru_cache
from typing import Any, NamedTuple

MAX_TOKEN = 64
MAX_TERMS = 32
_AT_A_TIME = 16

# fmt: off
STOP_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
    "it", "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there",
    "these", "they", "this", "to", "was", "will", "with",
))
# fmt: on

_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# Default-ignorable code points, and lone surrogates, which no store can encode.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
_CLITIC = re.compile(r"(?<=[a-z])['’](?:s|t|ll|re|ve|d|m)\b")
_GROUPED_NUMBER = re.compile(r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)")
_QUOTED = re.compile(r'"([^"]+)"|“([^“”]+)”|‘([^‘’]+)’|「([^「」]+)」|『([^『』]+)』')
_BETWEEN = re.compile(r"[\s()\[\]{}<>]+")
_NUMBER = re.compile(r"\d")
_CONNECTORS = "-_./:@+#"


class _Patterns(NamedTuple):
    compound: re.Pattern[str]
    cjk: re.Pattern[str]
    piece: re.Pattern[str]
    atom: re.Pattern[str]
    core: re.Pattern[str]


@lru_cache(maxsize=1)
def _patterns() -> _Patterns:
    """The expressions that need the combining marks of this Unicode version."""
    marks = _characters(range(0x300, 0x10000), lambda c: unicodedata.category(c) in {"Mn", "Mc"})
    letter = rf"[^\W\d_{_CJK}]"
    letters = rf"{letter}++(?:[{marks}]++{letter}*+)*+"
    word = rf"(?:{letters}|\d++|[{_CJK}]++)++"
    return _Patterns(
        compound=re.compile(rf"{word}(?:[{re.escape(_CONNECTORS)}]{word})*+"),
        cjk=re.compile(rf"[{_CJK}]+"),
        piece=re.compile(rf"({letters})|([{_CJK}]+)"),
        atom=re.compile(rf"(?P<letters>{letters})|(?P<number>\d+)|(?P<cjk>[{_CJK}])|."),
        core=re.compile(rf"[\w{marks}](?:.*[\w{marks}])?"),
    )


@lru_cache(maxsize=2)
def _mark_flood(last: int) -> re.Pattern[str]:
    """More than 30 reordered marks in a row, among the code points up to `last`."""
    marks = _characters(
        range(0x300, min(last, 0x1FFFF) + 1), lambda c: unicodedata.combining(c) > 0
    )
    return re.compile(rf"([{marks}]{{30}})[{marks}]+")


def _characters(codes: range, wanted: Callable[[str], bool]) -> str:
    return "".join(filter(wanted, map(chr, codes)))


def fold(text: str) -> str:
    """`text` as it is compared: NFKC, case-folded, invisible characters gone, white space
    single. More than 30 combining marks in a row are cut, as in Unicode's stream-safe
    text (UAX #15): ordering them takes quadratic time."""
    if not text.isascii():
        text = _INVISIBLE.sub("", text)
        flood = _mark_flood(0xFFFF if max(text, default="") <= "\uffff" else 0x1FFFF)
        text = flood.sub(r"\1", text)
        text = unicodedata.normalize("NFKC", text)
        text = unicodedata.normalize("NFKC", text.casefold())
    return " ".join(text.casefold().split())


def tokenize(text: str) -> list[str]:
    """The tokens of `text` in order, repeats kept, as this module describes them."""
    folded = fold(text)
    if "'" in folded or "’" in folded:
        folded = _CLITIC.sub("", folded)
    if "," in folded:
        folded = _GROUPED_NUMBER.sub(lambda m: m[0].replace(",", ""), folded)
    patterns = _patterns()
    tokens: list[str] = []
    for compound in patterns.compound.findall(folded):
        if compound.isascii() and compound.isalpha():
            if compound not in STOP_WORDS:
                tokens.append(_stem(compound[:MAX_TOKEN]))
        elif patterns.cjk.fullmatch(compound):
            tokens += _bigrams(compound)
        elif _NUMBER.search(compound):
            tokens += _numbered(compound)
        else:
            for letters, run in patterns.piece.findall(compound):
                tokens += _word(letters) if letters else _bigrams(run)
    return tokens


def holds_any(text: str, tokens: Container[str]) -> bool:
    """Whether one of `tokens` is among those of `text`, which is read no further than the
    first: no token reaches over white space."""
    words = text.split()
    parts = (" ".join(words[at : at + _AT_A_TIME]) for at in range(0, len(words), _AT_A_TIME))
    return any(token in tokens for part in parts for token in tokenize(part))


def whitespace(text: str) -> list[str]:
    """White-space tokens, folded, without outer punctuation: for collections of short names."""
    core = _patterns().core
    return [m[0][:MAX_TOKEN] for word in fold(text).split() if (m := core.search(word))]


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {"bigram": tokenize, "whitespace": whitespace}


def query_terms(text: str) -> list[str]:
    """The folded strings that the term channel looks for in a query, each once, in order.

    A quoted phrase is one term; other terms are words between white space or brackets,
    without outer punctuation (kept where one character would remain: `C#`). All have two
    characters or more. Stop words are left out unless nothing else remains. Of more than
    `MAX_TERMS` the longest stay.
    """
    folded = fold(text)
    phrases = [next(filter(None, groups)).strip() for groups in _QUOTED.findall(folded)]
    words = [_term(word) for word in _BETWEEN.split(_QUOTED.sub(" ", folded))]
    terms = [t for t in dict.fromkeys(phrases + words) if len(t) >= 2]
    terms = [t for t in terms if t not in STOP_WORDS] or terms
    if len(terms) > MAX_TERMS:
        kept = set(sorted(terms, key=len, reverse=True)[:MAX_TERMS])
        terms = [t for t in terms if t in kept]
    return terms


def _term(word: str) -> str:
    core = _patterns().core.search(word)
    if core is None:
        return ""
    return core[0] if len(core[0]) >= 2 else word


def _word(letters: str) -> list[str]:
    """The token of a word in letters, or none for a stop word."""
    return [] if letters in STOP_WORDS else [_stem(letters[:MAX_TOKEN])]


def _bigrams(run: str) -> list[str]:
    return list(map(operator.add, run, run[1:])) or [run]


def _numbered(compound: str) -> list[str]:
    """Tokens of a compound with a digit: itself, then those of each run between connectors."""
    runs: list[list[tuple[str, str]]] = [[]]
    for match in _patterns().atom.finditer(compound):
        if match.lastgroup is None:
            runs.append([])
        else:
            runs[-1].append((match.lastgroup, match[0][:MAX_TOKEN]))
    parts = [token for run in runs for token in _run_tokens(run)]
    whole = len(compound) <= MAX_TOKEN and compound not in parts
    return [compound, *parts] if whole else parts


def _run_tokens(run: list[tuple[str, str]]) -> list[str]:
    """Tokens of atoms that touch: a number is one character to its CJK neighbours, and
    makes one token (`p53`) with the letters that it touches; a single letter or character
    does not stand alone beside a number."""
    tokens: list[str] = []
    before = None
    for (kind, atom), (after, following) in zip(run, [*run[1:], (None, "")], strict=True):
        if kind == "number":
            tokens.append(atom)
        elif kind == "letters" and (len(atom) > 1 or "number" not in (before, after)):
            tokens += _word(atom)
        elif kind == "cjk" and not {before, after} & {"cjk", "number"}:
            tokens.append(atom)
        if {kind, after} in ({"cjk"}, {"cjk", "number"}, {"letters", "number"}):
            tokens.append((atom + following)[:MAX_TOKEN])
        before = kind
    return tokens


_stemmer_lock = threading.Lock()


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    with _stemmer_lock:  # a stemmer holds the word that it works on
        stem: str = _stemmer().stemWord(word)
    return stem
