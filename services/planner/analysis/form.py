"""How a query is put: intent, form, hint at news, scope of languages. Pure."""

import re

from libs.contracts.query.analysis import DomainHint, Intent, LanguageScope, QueryForm
from services.planner.analysis.korean import inflected
from services.planner.analysis.references import without_phrases
from services.planner.analysis.words import KOREAN_STOP, STOP, meant, other_script, words_of

_BROWSE = re.compile(
    r"목록|(?<![가-힣])리스트|나열|(?:모든|모두|전부|전체)(?:\s[가-힣]+){0,2}\s?(?:보여|찾아|조회|문서|자료|보고서|파일)"
    r"|(?:문서|자료|보고서|파일|논문|도면|회의록|양식)(?:들|들을)?\s?(?:을|를)?\s?(?:전부|모두|다)\s?(?:보여|찾아|조회)"
    r"|^(?:list|browse|show)\s(?:me\s)?(?:all|every|the)\b"
    r"|\b(?:list|show|browse|find|get|give)\s(?:me\s)?(?:of\s)?(?:all|every)\b"
    r"|^list\s\w+|\ball\s(?:\w+\s){0,3}(?:documents|files|reports|papers|manuals|drawings|minutes)\b",
    re.IGNORECASE,
)
_EXPLAIN = re.compile(
    r"왜|어떻게|설명|차이|비교|방법|이유|원리|장단점|영향|의미|요약|관계"
    r"|\b(?:why|how\s(?!many|much|long|old|far|tall|often|large|big)|explain|describe|compare"
    r"|difference|summar\w+|overview|relationship|versus|vs|pros|advantages)\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"누구|누가|언제|어디|몇|얼마|무엇|무슨|어느|뭐|이름은|날짜|기한|며칠|최대|최소|정의|인가요?\s?\??$"
    r"|\b(?:who|whom|whose|when|where|which|what|how\s(?:many|much|long|old|far|tall|often|large"
    r"|big)|name\sof|date\sof|number\sof|definition)\b",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"뉴스|기사|속보|언론|신문|\b(?:news|headlines?|breaking|press|newspaper)\b", re.IGNORECASE
)
_DOCUMENT = re.compile(
    r"문서|보고서|매뉴얼|논문|자료|규정|법령|\b(?:documents?|reports?|manuals?|papers?|laws?)\b",
    re.IGNORECASE,
)
_GLOBAL = re.compile(
    r"전\s?세계|세계\s?각국|해외|글로벌|국제|\b(?:global|worldwide|international|overseas|abroad)\b",
    re.IGNORECASE,
)


def intent_of(text: str, *, names_exactly: bool) -> Intent:
    """`filter_browse` asks for a list, `fact_lookup` for one thing or a named place."""
    if _BROWSE.search(text):
        return "filter_browse"
    if _EXPLAIN.search(text):
        return "semantic_search"
    return "fact_lookup" if names_exactly or _FACT.search(text) else "semantic_search"


def form_of(text: str) -> QueryForm:
    """`phrase` is quoted whole, `keyword` has no function words, particles or question."""
    rest = without_phrases(text)
    if rest != text and not meant(rest):
        return "phrase"
    words = words_of(rest)
    function = sum(w.casefold() in STOP or w in KOREAN_STOP or inflected(w) for w in words)
    asks = "?" in text or "？" in text
    return "natural_language" if asks or function > len(words) / 6 or len(words) > 8 else "keyword"


def hint_of(text: str) -> DomainHint:
    """News, documents, or both where the text speaks of both."""
    if not _NEWS.search(text):
        return "document"
    return "mixed" if _DOCUMENT.search(text) else "news"


def scope_of(text: str) -> LanguageScope:
    """`global` where the text asks beyond Korean and English, or is in another language."""
    return "global" if _GLOBAL.search(text) or other_script(text) else "limited"
