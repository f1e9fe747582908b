"""What a turn asks about the things that it names: the words beside names and times. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.planner.agentic.rules import is_question
from services.planner.analysis.words import content_words
from services.planner.conversation.mentions import Mention

MAX_WORDS = 8
_TIME = re.compile(
    r"(?:(?:19|20)\d\d(?:년도?|학년도|회계연도)?|fy(?:19|20)?\d\d|q[1-4]|[1-4]분기|[상하]반기|\d{1,2}월"
    r"|재작년|작년|지난해|전년도?|금년도?|올해|내년도?|year|month|quarter|last|next)",
    re.IGNORECASE,
)
_LINK = frozenset(
    (
        "그럼", "그러면", "그렇다면", "또", "또한", "추가로", "반면", "반면에", "그런데", "그중",
        "이어서", "더", "자세히", "계속", "나머지", "also", "more", "else", "again", "same", "too",
        "now", "ok", "okay", "further", "continue", "go",
    )
)  # fmt: skip
_PARTICLE = r"(?:에서는|에서|에는|에도|의|은|는|이|가|을|를|에|과|와|도|만|으로|로)?"
_LEAVES_OUT = re.compile(
    r"(?:은|는|도|에는|에도)(?:요)?\s*[?？]?\s*$|^(?:and|or|what\s+about|how\s+about|but)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"알려|찾아|보여|설명|비교|요약|정리|\b(?:tell|show|find|list|give|explain|describe|compare|summar\w+)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Asked:
    """`words` that say what is asked, and the `times` (years, quarters) of which it is asked."""

    words: tuple[str, ...] = ()
    times: tuple[str, ...] = ()


def asked_in(text: str, named: Sequence[Mention]) -> Asked:
    """What a text asks, without the names in it and without words that only link turns."""
    for mention in named:
        text = re.sub(re.escape(mention.text) + _PARTICLE, " ", text)
    words = [word for word in content_words(text) if word.casefold() not in _LINK]
    times = tuple(word for word in words if _TIME.fullmatch(word))
    return Asked(tuple(word for word in words if word not in times)[:MAX_WORDS], times)


def is_request(text: str) -> bool:
    """Whether a turn asks for something; a greeting or a remark does not."""
    return is_question(text) or _REQUEST.search(text) is not None


def leaves_out(text: str) -> bool:
    """Whether a text of names alone is put as a question whose rest was said before: "and
    Germany?", "국민연금공단은?"; bare names are a query of their own."""
    return _LEAVES_OUT.search(" ".join(text.split())) is not None
