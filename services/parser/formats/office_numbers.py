"""Numbers of headings and list items as Word counts and writes them (ECMA-376 part 1, 17.9)."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MAX_VALUE = 1_000_000
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PLACE = re.compile(r"%([1-9])")
_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_KOREAN_DIGITS = "영일이삼사오육칠팔구"
_HANJA_DIGITS = "〇一二三四五六七八九"


_SIGNS = {
    "\uf0b7": "•", "\uf0a7": "▪", "\uf0a8": "◻", "\uf06c": "●", "\uf06e": "■", "\uf06f": "□",
    "\uf071": "❑", "\uf075": "◆", "\uf076": "❖", "\uf09f": "•", "\uf0a1": "○", "\uf0d8": "➢",
    "\uf0e0": "→", "\uf0e8": "➔", "\uf0fc": "✓", "\uf0fe": "☑", "\uf02d": "-", "\uf02a": "*",
    "o": "○", "": "•", "·": "•",
}  # fmt: skip
"""Signs of the fonts Symbol, Wingdings and Courier New that Word draws bullets with."""


def korean_number(value: int, form: str) -> str | None:
    """A counter in one of Word's Korean number formats, or None for any other format.

    Formats as in ECMA-376 17.18.59 (ST_NumberFormat): ganada, chosung, koreanDigital,
    koreanDigital2, koreanCounting; and decimalEnclosedCircle, which Korean documents use.
    """
    if form == "ganada" and value > 0:
        return _GANADA[(value - 1) % len(_GANADA)]
    if form == "chosung" and value > 0:
        return _CHOSUNG[(value - 1) % len(_CHOSUNG)]
    if form == "koreanDigital":
        return "".join(_KOREAN_DIGITS[int(d)] for d in str(value))
    if form == "koreanDigital2":
        return "".join(_HANJA_DIGITS[int(d)] for d in str(value))
    if form == "koreanCounting" and 0 < value < 10_000:
        return _counted(value, _KOREAN_DIGITS, "십백천")
    if form.startswith("decimalEnclosedCircle") and 0 < value <= 20:
        return chr(ord("①") + value - 1)
    return None


def _counted(value: int, digits: str, units: str) -> str:
    text = ""
    for place, figure in enumerate(reversed(str(value))):
        number = int(figure)
        if number:
            unit = units[place - 1] if place else ""
            text = ("" if number == 1 and unit else digits[number]) + unit + text
    return text


@dataclass
class Numbering:
    """The counters of one document. `level` finds the `w:lvl` of a numbering and its level,
    `root` is the `w:numbering` element or None, `plain` writes the formats that are not Korean.

    Numberings that share an abstract numbering share its counters; one that overrides a start
    begins there when it is first used. A level that was skipped counts as begun.
    """

    root: Any
    level: Callable[[int, int], Any]
    plain: Callable[[int, str | None], str]
    _counters: dict[str, dict[int, int]] = field(default_factory=dict)
    _abstracts: dict[int, str] = field(default_factory=dict)
    _used: set[tuple[int, int]] = field(default_factory=set)

    def advance(self, numbering: int, level: int) -> str:
        """The number of the next paragraph at this level, as its pattern writes it."""
        counters = self._counters.setdefault(self._abstract(numbering), {})
        override = None
        if (numbering, level) not in self._used:
            self._used.add((numbering, level))
            override = self._start_override(numbering, level)
        for above in range(level):
            counters.setdefault(above, self._start(numbering, above))
        if override is not None:
            counters[level] = override
        else:
            counters[level] = counters.get(level, self._start(numbering, level) - 1) + 1
        for below in [at for at in counters if at > level]:
            if _value(self.level(numbering, below), "lvlRestart") != "0":
                del counters[below]
        return self._written(numbering, level, counters)

    def shows(self, numbering: int, level: int) -> bool:
        """Whether the level writes a number rather than a sign or nothing."""
        found = self.level(numbering, level)
        return (
            self._form(found) not in {None, "bullet", "none"}
            and _PLACE.search(_value(found, "lvlText") or "") is not None
        )

    def bullet(self, numbering: int, level: int) -> str:
        """The sign of a list without numbers, as its font draws it; empty where it has none."""
        found = self.level(numbering, level)
        sign = (_value(found, "lvlText") or "").strip()
        if self._form(found) != "bullet" or not sign:
            return ""
        return "".join(_SIGNS.get(c, "•" if "\ue000" <= c <= "\uf8ff" else c) for c in sign)

    def _written(self, numbering: int, level: int, counters: dict[int, int]) -> str:
        found = self.level(numbering, level)
        legal = found is not None and found.find(f"{_W}isLgl") is not None

        def number(place: re.Match[str]) -> str:
            at = int(place[1]) - 1
            value = counters.get(at, self._start(numbering, at))
            if legal:
                return str(value)
            form = self._form(self.level(numbering, at)) or "decimal"
            return korean_number(value, form) or self.plain(value, form)

        return _PLACE.sub(number, _value(found, "lvlText") or "").strip()

    def _form(self, level: Any) -> str | None:
        """The number format; of alternatives for other readers, the first."""
        if level is None:
            return None
        own = _value(level, "numFmt")
        if own is None:
            own = next((str(f.get(f"{_W}val")) for f in level.iter(f"{_W}numFmt")), None)
        return own

    def _start(self, numbering: int, level: int) -> int:
        return _number(_value(self.level(numbering, level), "start"), 1)

    def _start_override(self, numbering: int, level: int) -> int | None:
        for number in self._numbers(numbering):
            for override in number.iter(f"{_W}lvlOverride"):
                if override.get(f"{_W}ilvl") == str(level):
                    value = _value(override, "startOverride")
                    return None if value is None else _number(value, 1)
        return None

    def _abstract(self, numbering: int) -> str:
        if numbering not in self._abstracts:
            found = next(iter(self._numbers(numbering)), None)
            name = _value(found, "abstractNumId")
            self._abstracts[numbering] = f"of-{numbering}" if name is None else name
        return self._abstracts[numbering]

    def _numbers(self, numbering: int) -> list[Any]:
        if self.root is None:
            return []
        return [n for n in self.root.iter(f"{_W}num") if n.get(f"{_W}numId") == str(numbering)]


def _value(element: Any, name: str) -> str | None:
    """The `w:val` of a child element, None where there is none."""
    found = element.find(f"{_W}{name}") if element is not None else None
    value = found.get(f"{_W}val") if found is not None else None
    return None if value is None else str(value)


def _number(text: str | None, default: int) -> int:
    if text is None or not text.isdecimal() or len(text) > 7:
        return default
    return min(int(text), MAX_VALUE)
