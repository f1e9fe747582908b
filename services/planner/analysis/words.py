"""The words of a query: what it is made of, in which language, and which of them tell."""

import re
from functools import lru_cache

from libs.contracts.query.analysis import Language
from services.planner.analysis.korean import HANGUL, bare

_WORD = re.compile(r"[A-Za-z]\+\+|[A-Za-z]#|\w+(?:[-.·_/]\w+)*")
_KANA = re.compile(r"[\u3041-\u30ff]")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u0e00-\u0fff]")
_MEANT = re.compile(r"[A-Za-z0-9\u00c0-\u1fff\u3041-\u30ff\u3400-\u9fff가-힣]")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FRENCH = _set("le la les des du une est que qui dans pour sur avec quel quelle où")
_GERMAN = _set("der die das und ist wie wer wo nicht ein eine für von mit welche über")
STOP = _set(
    "a about all an and any are as at be been but by can could did do does explain find for "
    "from get give had has have how i if in into is it its list many me most much my no not "
    "of on or our please regarding search shall show should since so some tell than that the "
    "their them then there these they this those to was we were what when where which while "
    "who whom whose why will with would you your between after before until during"
)
KOREAN_STOP = _set(
    "그 그것 그거 이것 이거 저것 저거 거 것 수 때 등 및 또는 그리고 하지만 대한 대해 대하여 "
    "관한 관해 관하여 위한 위해 위하여 따른 따라 의한 의해 무엇 뭐 뭔 뭐야 뭔가 뭔가요 무슨 "
    "어떤 어떻게 어디 어디서 어느 언제 누구 누가 왜 몇 얼마 얼마나 있는 있나 있나요 있는가 "
    "있다 있는지 없는 없나요 어떤가 어떤가요 무엇인가 무엇인가요 무엇인지 누구인가 "
    "누구인가요 어디인가 어디인가요 언제인가 언제인가요 알려줘 알려주세요 알려 줘 주세요 "
    "찾아줘 찾아주세요 찾아 보여줘 보여주세요 보여 설명 설명해줘 설명해주세요 해줘 하는 되는 "
    "된 한 할 하고 모두 모든 전부 전체 목록 리스트 이후 이전 부터 까지 하나요 되나요 인가요 "
    "입니까 하는가 요 좀 가장 같은 다른 사람 누군가 만든 이름 나열해줘 뭐지 뭡니까"
)


def meant(text: str) -> bool:
    """Whether the text holds a letter, syllable or digit (single jamo are none)."""
    return _MEANT.search(text) is not None


def words_of(text: str) -> list[str]:
    """The words in order; what is joined without a space (`ISO-9001`) is one."""
    return _WORD.findall(text)


@lru_cache(maxsize=4096)
def _content(word: str) -> str:
    if len(word) > 64:
        return ""
    if HANGUL.search(word):
        if word in KOREAN_STOP:
            return ""
        stem = bare(word)
        return "" if stem in KOREAN_STOP or not meant(stem) else stem
    lower = word.casefold()
    if lower in STOP or not meant(word):
        return ""
    return word if any(c.isupper() or c.isdigit() for c in word) else lower


def content_words(text: str) -> list[str]:
    """The words that tell, each once, in order: Korean ones without particles and endings,
    English ones without stop words; single letters and numbers below ten only stay beside
    nothing else."""
    kept = [w for w in dict.fromkeys(map(_content, words_of(text))) if w]
    return [w for w in kept if len(w) > 1 or HANGUL.search(w) or _HAN.search(w)] or kept


def language_of(text: str) -> Language:
    """The language by script, French and German by their commonest words; English else."""
    if len(HANGUL.findall(text)) * 4 >= len(_LATIN.findall(text)) and HANGUL.search(text):
        return "ko"
    if _KANA.search(text):
        return "ja"
    if len(_HAN.findall(text)) > len(_LATIN.findall(text)):
        return "zh"
    words = [w.casefold() for w in words_of(text)]
    french, german = (sum(w in known for w in words) for known in (_FRENCH, _GERMAN))
    english = sum(w in STOP for w in words)
    if max(french, german) >= 2 and max(french, german) > english:
        return "fr" if french >= german else "de"
    return "en"


def other_script(text: str) -> bool:
    """Whether the text is in neither Korean nor English, by script or commonest words."""
    return language_of(text) not in ("ko", "en") or _OTHER_SCRIPT.search(text) is not None
