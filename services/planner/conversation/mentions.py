"""What a turn of a conversation names: institutions, laws, people, places, projects. Pure.

Typography and word endings decide, as in `libs.runtime.names`; here the names keep the form in
which they were written, since they are put before a question that leaves them out.
"""

import re
from dataclasses import dataclass
from typing import Literal

from libs.runtime.names import NO_NAME, name_key
from services.planner.analysis.korean import bare
from services.planner.analysis.references import codes, laws, phrases

MAX_MENTIONS = 16
MAX_CHARS = 128
MAX_FOUND = 4 * MAX_MENTIONS
"""Names of a text that are compared with each other: comparing takes the square of them."""

Kind = Literal["project", "entity"]

_WORD = r"[가-힣A-Za-z0-9·&()-]{1,40}"
_PROJECT = re.compile(
    rf"(?:{_WORD}[ ]){{0,6}}(?:{_WORD})?"
    r"(?:(?:시스템|체계|서비스)\s?(?:구축|개발|고도화|개선)(?:\s?(?:사업|용역|과제))?"
    r"|사업|프로젝트|용역|과제|플랫폼)"
    r"(?=은|는|이|가|을|를|의|에|과|와|도|만|으로|로|인|[\s,.?!]|$)"
)
_ENGLISH_PROJECT = re.compile(
    r"\b(?:[A-Z][\w&-]{0,40}\s){1,6}(?:[Pp]roject|[Pp]rogram(?:me)?|[Ii]nitiative|[Cc]ontract)\b"
)
_INSTITUTION = re.compile(
    r"[가-힣A-Za-z0-9·()]{2,20}"
    r"(?:위원회|대학교|연구원|연구소|진흥원|관리원|정보원|공사|공단|협회|재단|센터|그룹|은행|병원|전자|자동차"
    r"|화학|건설|중공업|증권|생명|법원|주식회사|특별시|광역시|교육청|시청|도청|구청|[가-힣](?:청|부|처|시|군))"
    r"(?=은|는|이|가|을|를|의|에|과|와|도|만|으로|로|[\s,.?!]|$)"
)
_COMPANY = re.compile(r"(?:\(주\)|㈜|주식회사\s)[가-힣A-Za-z0-9]{2,20}")
_LATIN = re.compile(
    r"\b[A-Z][\w'’.-]*(?:\s(?:of|the|and|for|de|van|von|&)(?:\sthe)?(?=\s[A-Z]))?(?:\s[A-Z0-9][\w'’.-]*)*"
)
_OPENERS = frozenset(
    (*NO_NAME, "tell", "show", "find", "list", "compare", "give", "please", "explain", "describe",
     "also", "now", "ok", "okay", "yes", "thanks", "hi", "hello", "let", "which", "are", "pdf",
     "docx")
)  # fmt: skip
_NO_PROJECT = re.compile(
    r"^(?:그럼|그러면|그렇다면|그래서|그리고|그런데|그러니까|또|또한|그|이|저|해당|위|두|세|각|모든|어떤|무슨|어느|같은|다른|첫|이런|그런)\s"
)
_BETWEEN = re.compile(
    r"(?:(?<=사업)|(?<=용역)|(?<=과제)|(?<=플랫폼)|(?<=구축)|(?<=개발))[과와]\s|(?<=프로젝트)와\s"
    r"|\s(?:및|그리고|와|과|또는)\s|[,;:]\s"
)
"""Between two projects of a list."""
_ITS = re.compile(r"\b(?:its|their|his|her)\s[A-Z]{2,5}\b", re.IGNORECASE)
_ASKING = re.compile(r"^(?:[가-힣]+(?:은|는|이|가|을|를|의|에서|에)\s)+")


@dataclass(frozen=True)
class Mention:
    """A name as it was written."""

    text: str
    kind: Kind

    @property
    def key(self) -> str:
        """By which names are compared."""
        return name_key(self.text)


def mentions(text: str) -> list[Mention]:
    """What a text names, in order of appearance, each once, at most 16."""
    found: list[tuple[int, Mention]] = []

    def add(start: int, name: str, kind: Kind) -> None:
        name = " ".join(name.split()).strip(" .,·-")[:MAX_CHARS]
        if len(name_key(name)) >= 2:
            found.append((start, Mention(name, kind)))

    parted = _BETWEEN.sub(lambda found: "\n" * len(found[0]), text)
    for match in _PROJECT.finditer(parted):
        name = _project(match[0])
        if name:
            add(match.start(), name, "project")
    for match in _ENGLISH_PROJECT.finditer(text):
        add(match.start(), _without_opener(match[0]), "project")
    for name in (*phrases(text), *laws(text), *codes(text)):
        add(text.find(name), name, "entity")
    for pattern in (_INSTITUTION, _COMPANY):
        for match in pattern.finditer(text):
            add(match.start(), bare(match[0]), "entity")
    for match in _LATIN.finditer(_ITS.sub(lambda found: found[0].lower(), text)):
        name = _without_opener(match[0])
        if name:
            add(match.start(), name, "entity")
    found.sort(key=lambda item: (item[0], -len(item[1].text)))
    return _distinct([mention for _, mention in found[:MAX_FOUND]])[:MAX_MENTIONS]


def _distinct(found: list[Mention]) -> list[Mention]:
    """Without repeats, and without names that stand inside a longer one."""
    kept: list[Mention] = []
    for mention in found:
        inside = any(f" {mention.key} " in f" {other.key} " for other in kept)
        if not inside:
            kept = [o for o in kept if f" {o.key} " not in f" {mention.key} "]
            kept.append(mention)
    return kept


def _project(text: str) -> str:
    """The project's name: what a sentence says before it, and a bare "그 사업", left out."""
    name = _ASKING.sub("", text)
    words = name.split()
    while words and (_NO_PROJECT.match(words[0] + " ") or bare(words[0]) != words[0]):
        words = words[1:]
    return " ".join(words) if len(words) > 1 or len("".join(words)) > 4 else ""


def _without_opener(text: str) -> str:
    words = text.split()
    while words and words[0].casefold().rstrip(".") in _OPENERS:
        words = words[1:]
    if len(words) == 1 and len(words[0]) < 3 and not words[0].isupper():
        return ""
    name = " ".join(words)
    return re.sub(r"['’]s$", "", name).rstrip(".")
