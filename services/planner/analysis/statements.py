"""The hard filters that a query states in its words: formats, one year, countries. Pure.

A filter excludes, so it is read only where the words scope documents: `2023년 보고서` and
`the 2023 report` do, `since 2020`, `2020~2023년`, `1990s` and `not 2023` do not, nor does a
year or country inside a question about an event (`who won in 1998`).
"""

import re

from libs.contracts.query.analysis import HardFilters
from libs.contracts.query.countries import COUNTRY_NAMES

_FORMATS = {
    "pdf": ["pdf"], "docx": ["docx"], "doc": ["doc"], "워드": ["docx", "doc"],
    "word": ["docx", "doc"], "pptx": ["pptx"], "ppt": ["pptx", "ppt"],
    "파워포인트": ["pptx", "ppt"], "피피티": ["pptx", "ppt"], "powerpoint": ["pptx", "ppt"],
    "xlsx": ["xlsx"], "xls": ["xls"], "엑셀": ["xlsx", "xls"], "excel": ["xlsx", "xls"],
    "csv": ["csv"], "hwp": ["hwp", "hwpx"], "hwpx": ["hwpx"], "한글": ["hwp", "hwpx"],
    "아래아한글": ["hwp", "hwpx"], "html": ["html"], "markdown": ["md"], "마크다운": ["md"],
    "epub": ["epub"], "ods": ["ods"], "odp": ["odp"], "ipynb": ["ipynb"], "mbox": ["mbox"],
    "eml": ["eml"], "odt": ["odt"], "rtf": ["rtf"], "txt": ["txt"], "이미지": ["image"],
    "image": ["image"],
}  # fmt: skip
FORMAT_NAMES = {k: v for k, v in _FORMATS.items() if k not in ("한글", "word", "image", "이미지")}
"""Names of formats that mean nothing else wherever they stand, and what they stand for."""
_NAMES = "|".join(sorted(_FORMATS, key=len, reverse=True))
_NOUN = (
    r"(?:파일|문서|자료|보고서|매뉴얼|양식|서식|형식|포맷|files?|documents?|docs?|reports?|manuals?"
    r"|slides?|sheets?|spreadsheets?|versions?|formats?|forms?|presentations?)"
)
_FORMAT = re.compile(
    rf"(?:(?<![\w.])(?P<before>{_NAMES})\s?(?:로 된 |으로 된 |로 작성된 |형식의 )?{_NOUN}"
    rf"|\b(?:in|as|only)\s(?P<after>{_NAMES})\b|(?<!\w)\.(?P<suffix>{_NAMES})\b"
    rf"|(?<![\w.])(?P<only>{_NAMES})(?:만|로만|\sonly\b)"
    rf"|{_NOUN}\s(?:in\s)?(?P<last>{_NAMES})$)",
    re.IGNORECASE,
)
_ABOUT_FORMATS = re.compile(
    r"변환|파싱|추출|편집|병합|여는|열기|만드는|만들기|\b(?:convert|pars|extract|merg|open|edit|"
    r"creat|read|generat|writ)\w*",
    re.IGNORECASE,
)
_NUMBER = r"(?<![\d.,\-/:])(?P<{}>1[5-9]\d\d|20\d\d)"
_ANY_YEAR = re.compile(r"(?<!\d)(?:1[5-9]\d\d|20\d\d)(?!\d)")
_KOREAN_YEAR = re.compile(
    _NUMBER.format("year") + r"\s?(?:년도|학년도|회계연도|년)(?P<rest>[^\n]{0,8})"
)
_OPEN_ENDED = re.compile(
    r"^\s?(?:에?\s?(?:이후|이전|이래|전후|초반|중반|후반)|부터|까지|대|간|동안|생|~|-|–)"
)
_AT = re.compile(r"^에(?!\s?(?:발행|발간|작성|공표|공포|개정|제정|시행|출판|발표|게시|나온|등록))")
_ENGLISH_YEAR = re.compile(
    r"(?:\b(?P<lead>published|issued|released|dated|revised|written|updated|enacted|in|of|for|from"
    r"|year|fy|edition)\s(?:in\s|on\s)?)?"
    + _NUMBER.format("year")
    + r"(?![\d년\-–~/:%]|[.,]\d|s\b|\s?(?:-|–|~|to|and|or|through)\s?\d)"
    r"(?:\s(?P<follow>annual|fiscal|edition|version|report|reports|guideline|guidelines|manual"
    r"|standard|standards|law|act|statistics|survey|minutes|memo|specification|paper|papers"
    r"|document|documents|yearbook|budget|plan|white))?",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s?[,.?!)]|\s(?:on|about|by|in|for|and|with|that|which)\b", re.IGNORECASE)
_LOOSE = re.compile(
    r"\b(?:since|after|before|until|till|by|between|through|from\s\d{4}\s(?:to|until|through)"
    r"|not|except|excluding|without|than|earlier|later|iso|iec|ks|ieee|astm|no\.?|rfc)\s"
    r"(?:the\s)?(?:in\s|from\s|of\s)?(?:year\s)?$",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"말고|제외|아닌|빼고|\b(?:not|except|excluding|without|other than)\b", re.I)
_PERIOD = re.compile(
    r"이후|이전|이래|부터|까지|~|\d{3}0(?:s|년대)|\b(?:since|after|before|until|till|between|than)\b",
    re.I,
)
_EVENT = re.compile(
    r"\b(?:who|whom|whose|when|where|born|died|won|married|founded|directed|starred|played)\b"
    r"|누가|누구|언제|어디|태어난|출생|사망|우승|[?？]\s*$|(?:은|는|나요|인가|는가)\s*$",
    re.IGNORECASE,
)
_SCOPED = re.compile(
    r"\b(?:reports?|documents?|papers?|files?|manuals?|laws?|acts?|statistics|standards?|minutes"
    r"|published|issued|regulations?)\b|보고서|문서|자료|통계|매뉴얼|법령|회의록|지침"
    r"|규정|기준|예산|매출|실적|현황|동향|개정",
    re.IGNORECASE,
)
_LAW = r"(?<![문방용공기화수요어])법"
"""법 as a law, not as the end of 문법, 방법, 용법 and their like."""
_KOREAN_PLACES = "|".join(sorted((n for n in COUNTRY_NAMES if not n.isascii()), key=len)[::-1])
_ENGLISH_PLACES = "|".join(sorted((n for n in COUNTRY_NAMES if n.isascii()), key=len)[::-1])
_OF_COUNTRY = (
    r"(?:law|laws|legislation|regulations?|standards?|guidelines?|documents?|reports?|market|policy"
    r"|policies|statistics|act|acts|cases?|rules?|requirements?|news)"
)
_COUNTRY = re.compile(
    rf"(?<![가-힣])(?P<ko>{_KOREAN_PLACES})(?:의|에서|내|은|는)?(?=(?:\s(?:[가-힣]+\s){{0,2}}?)?[가-힣]*(?:{_LAW}|법률|법령|기준|규정|"
    r"표준|자료|문서|보고서|정책|제도|통계|시장|사례|규제|뉴스|기사|지침))"
    rf"|\b(?:in|from)\s(?:the\s)?(?P<place>{_ENGLISH_PLACES}|us)\b"
    rf"|\b(?P<kind>{_ENGLISH_PLACES}|us)\s(?:\w+\s){{0,2}}?{_OF_COUNTRY}\b",
    re.IGNORECASE,
)


def hard_filters(text: str) -> HardFilters:
    """What the text states as the kind of document it wants; empty where it states nothing."""
    return HardFilters(file_format=_formats(text), year=_year(text), country=_countries(text))


def scopes_documents(text: str) -> bool:
    """Whether a year or a country in the text may be one of the documents that are wanted:
    not where it asks what happened, leaves something out, or names an open period."""
    if _about_an_event(text) or _NEGATED.search(text):
        return False
    return len(set(_ANY_YEAR.findall(text))) < 2 and _PERIOD.search(text) is None


def _about_an_event(text: str) -> bool:
    """Whether the text asks what happened, so that its year and place are of the event."""
    return _EVENT.search(text) is not None and _SCOPED.search(text) is None


def _formats(text: str) -> list[str]:
    if _ABOUT_FORMATS.search(text):
        return []
    found: dict[str, None] = {}
    for match in _FORMAT.finditer(text):
        if _NEGATED.search(text[match.start() : match.end() + 8]):
            continue
        name = next(filter(None, match.groupdict().values())).casefold()
        found.update(dict.fromkeys(_FORMATS[name]))
    return list(found)[:8]


def _year(text: str) -> int | None:
    """The one year that scopes the query; several years are a comparison or a range."""
    if len(set(_ANY_YEAR.findall(text))) != 1:
        return None
    event = _about_an_event(text)
    year, loose = None, False
    for match in _KOREAN_YEAR.finditer(text):
        rest = match["rest"]
        loose |= bool(_OPEN_ENDED.match(rest) or _AT.match(rest) or _NEGATED.search(rest) or event)
        loose |= text[: match.start()].rstrip().endswith(("~", "-", "–"))
        year = int(match["year"])
    for match in _ENGLISH_YEAR.finditer(text):
        before = text[max(0, match.start() - 24) : match.start("year")]
        edge = match.start("year") == 0 or match.end() == len(text.rstrip(" .?!"))
        counted = (match["lead"] or "").casefold() in {"of", "for", "from"} and not match["follow"]
        said = edge or match["follow"] or (match["lead"] and not counted)
        said = said or (counted and _ENDS.match(text, match.end()) is not None)
        loose |= not said or event or _LOOSE.search(before) is not None
        year = int(match["year"])
    return None if loose else year


def _countries(text: str) -> list[str]:
    if _about_an_event(text):
        return []
    found: dict[str, None] = {}
    for match in _COUNTRY.finditer(text):
        name = next(filter(None, match.groupdict().values()))
        if name.casefold() == "us" and name != "US":
            continue
        if match["place"] and not _SCOPED.search(text):
            continue
        if not _NEGATED.search(text[max(0, match.start() - 12) : match.end() + 6]):
            found[COUNTRY_NAMES.get(name.casefold(), name)] = None
    return list(found)[:8]
