"""Korean words without their particles and endings: pure.

A particle is taken off only where the syllable before it allows it: 은, 이, 을, 과 follow a
final consonant, 는, 가, 를, 와 a vowel. What stays has two syllables or more. Nouns whose
last syllable reads like a particle (`결과`, `제도`) are listed.
"""

import re

HANGUL = re.compile(r"[가-힣]")
_SYLLABLES = ord("가")
_FINALS = 28
_RIEUL = 8

_AFTER_ANY = (
    "에서는", "에서도", "에서의", "에게서", "이라는", "이라고", "으로써", "으로서", "에서", "에게",
    "한테", "부터", "까지", "처럼", "보다", "만큼", "마다", "조차", "마저", "에는", "에도", "에의",
    "들의", "들은", "들을", "들이", "의", "에", "도", "만",
)  # fmt: skip
_AFTER_CONSONANT = ("으로는", "으로", "이나", "이란", "과의", "과는", "은", "이", "을", "과")
_AFTER_VOWEL = ("라는", "라고", "와의", "와는", "로는", "로", "나", "란", "는", "가", "를", "와")
_NOUNS = (
    "결과", "효과", "성과", "초과", "통과", "경과", "부과", "학과", "교과", "안과", "치과", "내과",
    "외과", "사과", "정의", "회의", "동의", "합의", "결의", "논의", "문의", "심의", "협의", "고의",
    "유의", "주의", "강의", "건의", "의의", "명의", "질의", "제도", "속도", "온도", "강도", "습도",
    "농도", "밀도", "빈도", "각도", "정도", "용도", "한도", "년도", "연도", "지도", "보도", "태도",
    "인도", "철도", "수도", "의도", "시도", "구도", "고도", "난이도", "정확도", "신뢰도", "중요도",
    "도로", "통로", "피로", "경로", "근로", "과로", "회로", "진로", "선로", "불만", "대만", "비만",
    "마을", "가을", "노을", "바이러스", "어린이", "여성과", "권한", "제한", "기한", "시한", "상한",
    "하한", "무한", "유한", "북한", "남한", "기능", "모두", "국가", "증가", "추가", "허가", "휴가",
    "평가", "원가", "대가", "물가", "전문가", "유가", "주가", "화가", "작가", "음악가", "투자가",
    "하나", "누나", "지나", "바나나", "방화", "신고", "사고", "경고", "보고", "재고", "공고",
    "광고", "권고", "창고", "참고", "최고", "원고", "피고", "해고", "대한", "관한", "의한", "위한",
)  # fmt: skip
_NO_NOUNS = ("사업주의", "건축주의", "선주의", "화주의", "차주의")
"""Words whose last two syllables read like a listed noun but are a stem's and a particle."""
_ENDING = re.compile(
    r"(?:하려면|되려면|하는가|되는가|했는가|되었는가|합니까|됩니까|했습니까|되었습니까|하나요|되나요|했나요"
    r"|되었나요|인가요|입니까|할까요|될까요|한가요|이에요|예요|인지요|하였던|하였을|하여야|해야|해서|했던"
    r"|했을|했나|했다|한다|된다|하여|하면|되면|하고|되고|하며|되며|하는|되는|하기|되기|하게|되어|되었던"
    r"|되었을|된|한|할|될|인가|인지|이며|이고|이다|이야)$"
)


def _final(syllable: str) -> int:
    """The number of the syllable's final consonant, 0 for none."""
    return (ord(syllable) - _SYLLABLES) % _FINALS


def _listed(word: str) -> bool:
    return word.endswith(_NOUNS) and not word.endswith(_NO_NOUNS)


def bare(word: str) -> str:
    """The word without its ending or particle; itself where it has none, or is no Hangul."""
    if not word or not HANGUL.match(word[-1]):
        return word
    if not _listed(word):
        ending = _ENDING.search(word)
        if ending and ending.start() >= 2:
            return bare(word[: ending.start()])
    return _without_particle(word)


def _without_particle(word: str) -> str:
    if _listed(word):
        return word
    for particle in sorted(
        (p for p in (*_AFTER_ANY, *_AFTER_CONSONANT, *_AFTER_VOWEL) if word.endswith(p)),
        key=len,
        reverse=True,
    ):
        stem = word[: -len(particle)]
        if len(stem) >= 2 and _fits(stem[-1], particle):
            return stem
    return word


def _fits(before: str, particle: str) -> bool:
    if not HANGUL.match(before) or particle in _AFTER_ANY:
        return True
    final = _final(before)
    if particle in _AFTER_CONSONANT:
        return final != 0
    return final == 0 or (particle.startswith("로") and final == _RIEUL)


def inflected(word: str) -> bool:
    """Whether the word carries a particle or ending."""
    return bare(word) != word
