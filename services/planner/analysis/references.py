"""What a query names exactly: quoted phrases, laws, articles and codes. Pure."""

import re

from libs.contracts.query.analysis import MAX_TERMS

MAX_CHARS = 128

_QUOTED = re.compile(
    r"\"([^\"\n]{2,256})\"|“([^“”\n]{2,256})”|‘([^‘’\n]{2,256})’|(?<!\w)'([^'\n]{2,256})'(?![A-Za-z])"
    r"|「([^「」\n]{2,256})」|『([^『』\n]{2,256})』|《([^《》\n]{2,256})》|〈([^〈〉\n]{2,256})〉"
)
_AFTER_NAME = r"(?=$|[\s.,?!)」』·]|은|는|이|가|을|를|의|에|과|와|도|로|상|제?\d)"
_LONG_LAW = re.compile(
    r"(?:[가-힣]{2,12}\s){1,4}(?:등에\s)?(?:관한|위한)\s(?:[가-힣]{2,10}\s?)?(?:법률|특별법|규칙|규정|조례)"
    r"(?:\s?시행(?:령|규칙))?"
)
_LAW = re.compile(r"[가-힣]{1,20}(?:법률|특별법|기본법|법)(?:\s?시행(?:령|규칙))?" + _AFTER_NAME)
_NO_LAW = (
    "방법", "용법", "문법", "기법", "해법", "수법", "작법", "어법", "화법", "요법", "비법", "공법",
    "마법", "입법", "사법", "합법", "불법", "위법", "작성법", "조리법", "계산법", "대처법",
    "운전법", "측정법", "분석법", "검사법", "활용법", "관리법", "예방법칙", "학습법", "공부법",
)  # fmt: skip
_ACT = re.compile(
    r"\b(?:[A-Z][\w’'-]{0,40}\s){1,6}(?:Act|Directive|Regulation|Code)\b(?:\s(?:of\s)?\d{4})?"
)
_ARTICLE = re.compile(
    r"제?\s?(\d{1,4})\s?조(?!\s?[원개각가-힣]{0,1}원)(?:\s?의\s?(\d{1,3}))?(?![가-힣]*달러)"
)
_SECTION = re.compile(
    r"\b(?:Article|Section|Clause|Annex|Chapter)\s\d{1,4}(?:\.\d{1,3})*(?:\([a-z0-9]\))*|§\s?\d[\d.]*",
    re.I,
)
_CODE = re.compile(
    r"\b(?:(?:ISO|IEC|KS|KOSHA|IEEE|ASTM|EN|DIN|JIS|RFC|UL|NFPA|OSHA|CVE)(?:/[A-Z]{2,5})?[\s-]?(?:[A-Z]\s?)?\d[\w.:-]*"
    r"|[A-Z]{1,6}-\d[\w-]*|v\d+(?:\.\d+)+)"
)


def phrases(text: str) -> list[str]:
    """What stands in quotation marks, in order, each once, clipped to 128 characters."""
    found = (next(filter(None, m.groups())).strip() for m in _QUOTED.finditer(text))
    return list(dict.fromkeys(p[:MAX_CHARS].strip() for p in found if len(p) >= 2))[:MAX_TERMS]


def without_phrases(text: str) -> str:
    """The text with its quoted phrases left out."""
    return _QUOTED.sub(" ", text)


def articles(text: str) -> list[str]:
    """Articles in the form that laws write them: `12조 의2` is `제12조의2`."""
    found = [f"제{m[1]}조" + (f"의{m[2]}" if m[2] else "") for m in _ARTICLE.finditer(text)]
    return list(dict.fromkeys(found + [" ".join(m[0].split()) for m in _SECTION.finditer(text)]))


def laws(text: str) -> list[str]:
    """Names of laws, decrees and rules, as they stand in the text."""
    long = [m[0] for m in _LONG_LAW.finditer(text)]
    rest = _LONG_LAW.sub(" ", text)
    short = [m[0] for m in _LAW.finditer(rest) if _is_law(m[0])]
    acts = [m[0].removeprefix("The ") for m in _ACT.finditer(text)]
    return list(dict.fromkeys([*long, *short, *acts]))


def _is_law(name: str) -> bool:
    head = re.sub(r"\s?시행(?:령|규칙)$", "", name)
    return len(head) >= 2 and not head.endswith(_NO_LAW)


def codes(text: str) -> list[str]:
    """Standards, part numbers and versions."""
    return list(dict.fromkeys(m[0].rstrip(".:-") for m in _CODE.finditer(text)))


def must_terms(text: str) -> list[str]:
    """What evidence for the text has to name: laws, articles, codes, at most eight."""
    found = [*laws(text), *articles(text), *codes(text)]
    return list(dict.fromkeys(term[:MAX_CHARS] for term in found))[:MAX_TERMS]
