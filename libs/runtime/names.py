"""Names in questions and evidence: what a retrieval step can look for. Pure.

Without a model a name is what typography shows: capitalised runs in Latin script, text in
quotation marks of any kind, and Korean words that end in what institutions, laws and
places end in. A name's key is its words, case-folded, by which names are compared.
"""

import re

MAX_NAME_WORDS = 8
MIN_KEY_CHARS = 3

_WORD = re.compile(r"\w+")
_LINKS = r"(?:of|the|de|del|von|van|der|la|le|and|for)"
_SPAN = re.compile(
    rf"(?:[A-Z][\w'’-]*|\d{{1,2}}(?:st|nd|rd|th))(?:\.?(?:\s+{_LINKS}){{0,2}}\s+[A-Z0-9][\w'’-]*)*"
)
_QUOTED = re.compile(
    r"\"([^\"\n]{2,80})\"|“([^“”\n]{2,80})”|‘([^‘’\n]{2,80})’"
    r"|「([^「」\n]{2,80})」|『([^『』\n]{2,80})』|《([^《》\n]{2,80})》|〈([^〈〉\n]{2,80})〉"
)
_HANGUL_NAME = re.compile(
    r"[가-힣A-Za-z0-9·]{1,20}"
    r"(?:위원회|대학교|연구원|연구소|진흥원|공사|공단|협회|재단|센터|기관|그룹|은행|병원|시행령"
    r"|시행규칙|법률|조례|규정|지침|법|청|부|처|원|시|군|구|도|산|강|역)"
    r"(?=(?:은|는|이|가|을|를|의|에|에서|에게|와|과|로|으로|도|만|부터|까지|및|,|\.|\s|$))"
)
_TITLE_SUFFIX = re.compile(r"\s*\([^()]*\)\s*$")
# fmt: off
NO_NAME = frozenset((
    "a", "an", "and", "are", "as", "at", "after", "although", "among", "because", "before",
    "between", "both", "but", "by", "can", "could", "despite", "did", "do", "does", "during",
    "following", "for", "from", "had", "has", "have", "he", "her", "his", "how", "however", "i",
    "if", "in", "is", "it", "its", "many", "may", "most", "no", "not", "of", "on", "one", "or",
    "other", "our", "out", "since", "she", "should", "so", "some", "such", "that", "the",
    "their", "then", "there", "these", "they", "this", "those", "through", "to", "under",
    "until", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whom",
    "whose", "why", "will", "with", "would", "you",
))
# fmt: on


def name_key(text: str) -> str:
    """The words of a name, case-folded, joined by single spaces."""
    return " ".join(_WORD.findall(text.casefold()))


def title_key(title: str) -> str:
    """A title's key without the parenthesis that tells it from others of the same name."""
    return name_key(_TITLE_SUFFIX.sub("", title)) or name_key(title)


def names(text: str, limit: int) -> list[str]:
    """The keys of at most `limit` names in `text`, in order of appearance, each once."""
    found: list[tuple[int, str]] = []
    for match in _QUOTED.finditer(text):
        found.append((match.start(), next(g for g in match.groups() if g)))
    found.extend((m.start(), m.group()) for m in _SPAN.finditer(text))
    found.extend((m.start(), m.group()) for m in _HANGUL_NAME.finditer(text))
    keys: dict[str, None] = {}
    for _, span in sorted(found, key=lambda item: item[0]):
        key = _name(span)
        if key:
            keys.setdefault(key)
        if len(keys) == limit:
            break
    return list(keys)


def _name(span: str) -> str:
    words = _WORD.findall(span.casefold())
    while words and words[0] in NO_NAME:
        words = words[1:]
    key = " ".join(words[:MAX_NAME_WORDS])
    hangul = any("가" <= c <= "힣" for c in key)
    return key if len(key) >= (2 if hangul else MIN_KEY_CHARS) else ""


def contains(text_key: str, key: str) -> bool:
    """Whether the name stands in the text as whole words (Korean: at a word's beginning,
    since particles follow without a space). Both are keys."""
    if any("가" <= c <= "힣" for c in key):
        return f" {key}" in f" {text_key}"
    return f" {key} " in f" {text_key} "


def unknown_names(text: str, question_key: str, limit: int) -> list[str]:
    """Names in `text` that do not stand in the question: what evidence adds to it."""
    return [k for k in names(text, limit * 2) if not contains(question_key, k)][:limit]
