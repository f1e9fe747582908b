"""Whether a question leans on what was said before, and on how many things. Pure."""

import re
from dataclasses import dataclass
from typing import Literal

from services.planner.analysis.words import content_words

Number = Literal["one", "many", "any"]

_PLURAL = re.compile(
    r"(?:두|세|네|이|그|저|위)\s?(?:사업|프로젝트|기관|회사|문서|제품|법|나라|보고서)들|(?:두|세|네)\s(?:사업|프로젝트"
    r"|기관|회사|문서|제품|보고서|곳|가지|개)|그들|이들|그것들|이것들|둘(?:\s?다|\s?중|의|은|을|이)|서로|(?:그|이|위)\s(?:사업|기관|회사|문서)(?:들)?\s중|각각(?:의|은)?"
    r"|\b(?:they|them|their|these|those|both|each\sof\s(?:them|these|those)|the\s(?:two|three)|either)\b",
    re.IGNORECASE,
)
_SINGULAR = re.compile(
    r"그것|그거|그게|그건|이것|이거|이게|이건|저것|그\s(?:사업|프로젝트|기관|회사|문서|제품|법|나라|보고서|사람|곳|시스템"
    r"|규정|계약|기업|학교|도시|센터|용역|과제|플랫폼|조항|책|영화)|(?:이|위|해당|동|본|같은)\s(?:사업|프로젝트|기관|회사"
    r"|문서|제품|법|보고서|시스템|규정|계약|용역|과제|조항)|해당\s|거기(?:서|에|는)?|그곳|그분|그녀|그는|그의|그때"
    r"|\b(?:it|its|he|him|his|she|her|this\s(?:one|project|company|document|report|law|agency|product)"
    r"|that\s(?:one|project|company|document|report|law|agency|product)|the\s(?:same|former|latter)"
    r"|there)\b",
    re.IGNORECASE,
)
_CONTINUES = re.compile(
    r"^(?:그럼|그러면|그렇다면|그리고|또|또한|추가로|반면|그런데|그중|이어서|더\s?자세히|다른\s?건|나머지는?)(?:\s|,|$)"
    r"|^(?:and|what\sabout|how\sabout|then|also|so|but|why|why\snot|tell\sme\smore|more|else)\b",
    re.IGNORECASE,
)
_OPENING_IT = re.compile(
    r"\b(?:it\sis|is\sit|it\swas|was\sit)\s(?:true|possible|necessary|legal)\b|\bthere\s(?:is|are|was|were|any)\b|\b(?:is|are|was|were)\sthere\b",
    re.IGNORECASE,
)
MAX_BARE_WORDS = 2


@dataclass(frozen=True)
class Reference:
    """`number` of the things meant; `explicit` when a word points back, not only something is
    left out."""

    number: Number
    explicit: bool


def reference_in(query: str, *, names_something: bool) -> Reference | None:
    """How the question leans on its conversation, or None when it stands alone.

    `names_something` says that it names things itself: then words that may or may not point
    back ("its" within a full question) do not.
    """
    text = " ".join(query.split())
    plain = _OPENING_IT.sub(" ", text)
    if _PLURAL.search(plain) and not names_something:
        return Reference("many", explicit=True)
    pointing = _SINGULAR.search(plain)
    if pointing and (not names_something or _determined(pointing[0])):
        return Reference("one", explicit=True)
    if names_something:
        return None
    if _CONTINUES.search(text):
        return Reference("any", explicit=True)
    if len(content_words(text)) <= MAX_BARE_WORDS:
        return Reference("any", explicit=False)
    return None


def _determined(word: str) -> bool:
    """Whether the words point back even beside a name: "그 사업", "that project"."""
    return bool(re.search(r"[\s]|해당", word.strip())) and not re.match(r"(?i)the\s", word)
