"""The language of a text by its script, and for Latin script by its commonest words: pure."""

import re
from collections import Counter

UNKNOWN = "und"
SAMPLE = 50_000
MIN_LETTERS = 12
MIN_SHARE = 0.06
CJK_WEIGHT = 2.5
"""A Hangul or Han character says as much as so many Latin letters."""

_SCRIPTS = (
    ("hangul", "\uac00", "\ud7a3"),
    ("hangul", "\u1100", "\u11ff"),
    ("kana", "\u3041", "\u30ff"),
    ("han", "\u4e00", "\u9fff"),
    ("han", "\u3400", "\u4dbf"),
    ("cyrillic", "\u0400", "\u04ff"),
    ("greek", "\u0370", "\u03ff"),
    ("arabic", "\u0600", "\u06ff"),
    ("hebrew", "\u0590", "\u05ff"),
    ("thai", "\u0e00", "\u0e7f"),
    ("devanagari", "\u0900", "\u097f"),
)
_BY_SCRIPT = {
    "greek": "el", "arabic": "ar", "hebrew": "he", "thai": "th", "devanagari": "hi",
}  # fmt: skip
_STOP_WORDS = {
    "en": "the of and to in is that for it as was with be by on not this are or from at which",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch",
    "fr": "de la le et les des en un une du dans est que pour qui par sur au ne pas plus ce avec",
    "es": "de la que el en los del se las por un para con no una su al es lo como más",
    "it": "di il la che in un per del una con non sono della dei le si da gli nel alla",
    "pt": "de que do da em um para com não uma os no se na por mais as dos como",
    "nl": "de het een van en in is dat op te zijn met voor niet aan er om ook als bij",
    "sv": "och att det som en på är av för med den till inte om ett har de jag",
    "pl": "na do się nie to jest że jak przez od dla po oraz który są",
    "tr": "ve bir bu da için ile de olarak daha olan gibi ne en çok kadar sonra",
    "id": "yang dan di untuk dengan dari ini pada tidak adalah dalam itu ke akan atau",
    "vi": "và của là có trong được cho không một các người này với những đã",
}
_WORDS_OF = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """ISO 639-1 of the language most of `text` is in; `und` where that cannot be said."""
    sample = text[:SAMPLE]
    letters = _letters(sample)
    if sum(letters.values()) < MIN_LETTERS and not letters.keys() & {"hangul", "kana", "han"}:
        return UNKNOWN
    east = {s: letters[s] * CJK_WEIGHT for s in ("hangul", "kana", "han")}
    weights = {**letters, "east": sum(east.values())}
    for script in east:
        weights.pop(script, None)
    script = max(weights, key=lambda s: weights[s])
    if not weights[script]:
        return UNKNOWN
    if script == "east":
        return _east_asian(east)
    if script == "cyrillic":
        return "uk" if re.search("[іїєґІЇЄҐ]", sample) else "ru"
    if script == "latin":
        return _latin(sample)
    return _BY_SCRIPT[script]


def _letters(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if (
            character.isascii()
            or "\u00c0" <= character <= "\u024f"
            or "\u1e00" <= character <= "\u1eff"
        ):
            if character.isalpha():
                counts["latin"] += count
            continue
        for script, first, last in _SCRIPTS:
            if first <= character <= last:
                counts[script] += count
                break
    return counts


def _east_asian(weights: dict[str, float]) -> str:
    """Korean by its Hangul even among many Hanja; Japanese by a little kana; else Chinese."""
    total = sum(weights.values())
    if weights["hangul"] >= max(total * 0.3, weights["kana"]):
        return "ko"
    return "ja" if weights["kana"] > total * 0.05 else "zh"


def _latin(text: str) -> str:
    words = [w.lower() for w in _WORD.findall(text)]
    counts = Counter(words)
    hits = {
        language: sum(counts[w] for w in stop_words) for language, stop_words in _WORDS_OF.items()
    }
    best = max(hits, key=lambda language: hits[language])
    different = sum(word in counts for word in _WORDS_OF[best])
    enough = different >= 2 and hits[best] >= len(words) * MIN_SHARE
    return best if enough else UNKNOWN
