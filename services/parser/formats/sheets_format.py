"""Numbers as a spreadsheet shows them: a compact renderer of number format codes.

Follows ECMA-376 part 1, 18.8.31: sections by sign or condition, digits, thousands, scaling,
percent, exponents, fractions, literals, dates, elapsed time. Colours, padding and locales are
left out; names of months and days are English, or Korean where the code asks for `aaa`.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

MAX_CODE = 255
LOCAL_DATES = {14: "yyyy-mm-dd", 22: "yyyy-mm-dd h:mm"}
"""Built-in formats that show a date as the reader's system would; ISO is the same for all."""
_SECTION = re.compile(r';(?=(?:[^"]*"[^"]*")*[^"]*$)')
_TOKEN = re.compile(
    r'"(?P<text>[^"]*)"|\\(?P<escaped>.)|_(?:.)|\*(?:.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<ampm>AM/PM|A/P|오전/오후)|(?P<exponent>E[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+(?:\.0+)?|a{3,4}|e+)|(?P<digits>[0#?]+)|(?P<sign>[.,%/@])"
    r"|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[0-9.]+)")
_EPOCH_1900 = datetime(1899, 12, 30)
_EPOCH_1904 = datetime(1904, 1, 1)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_KOREAN_DAYS = "월화수목금토일"
_TESTS = {
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "=": lambda a, b: a == b,
}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str


def shown(value: float, code: str, *, epoch_1904: bool = False) -> str:
    """`value` as its format code shows it; a code that cannot be followed shows it plainly."""
    if not code or code.lower() == "general" or len(code) > MAX_CODE:
        return plain(value)
    try:
        section, minus = _choose(code, value)
        tokens = _tokens(section)
        if any(t.kind in {"date", "ampm", "elapsed"} for t in tokens):
            return _date(value, tokens, epoch_1904)
        text = _number(Decimal(repr(abs(value) if minus is not None else value)), tokens)
    except (ValueError, OverflowError, ArithmeticError, InvalidOperation):
        return plain(value)
    return (minus or "") + text.strip() if text.strip() else plain(value)


def builtin_code(number: int) -> str:
    """The code of a built-in number format; `General` for a number that names none."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    return LOCAL_DATES.get(number) or str(BUILTIN_FORMATS.get(number, "General"))


def plain(value: float) -> str:
    """A number without a format: whole numbers without a point, others to 15 digits."""
    if isinstance(value, int) or (value == int(value) if abs(value) < 1e15 else False):
        return str(int(value))
    return f"{value:.15g}"


def _choose(code: str, value: float) -> tuple[str, str | None]:
    """The section for `value`, and its sign where the section does not write one itself."""
    sections = _SECTION.split(code)[:4]
    for section in sections[:2]:
        for bracket in re.findall(r"\[([^\]]*)\]", section):
            if (condition := _CONDITION.fullmatch(bracket.strip())) is not None:
                if _TESTS[condition[1]](value, float(condition[2])):
                    return section, "-" if value < 0 else None
                break
    if len(sections) >= 2 and value < 0:
        return sections[1], ""
    if len(sections) >= 3 and value == 0:
        return sections[2], None
    return sections[0], "-" if value < 0 else None


@lru_cache(maxsize=512)
def _tokens(section: str) -> tuple[_Token, ...]:
    tokens: list[_Token] = []
    for found in _TOKEN.finditer(section):
        kind = found.lastgroup
        if kind in {"text", "escaped", "other"}:
            tokens.append(_Token("literal", found[kind]))
        elif kind == "bracket":
            inner = found["bracket"]
            if re.fullmatch(r"h+|m+|s+", inner, re.IGNORECASE):
                tokens.append(_Token("elapsed", inner.lower()))
            elif inner.startswith("$"):
                tokens.append(_Token("literal", inner[1:].partition("-")[0]))
        elif kind is not None:
            tokens.append(_Token(kind, found[kind]))
    return tuple(tokens)


def _number(value: Decimal, tokens: tuple[_Token, ...]) -> str:
    signs = [t.text for t in tokens if t.kind == "sign"]
    if any(t.kind == "general" for t in tokens) or not any(t.kind == "digits" for t in tokens):
        middle = plain(float(value)) if any(t.kind == "general" for t in tokens) else ""
        return "".join(
            middle
            if t.kind == "general"
            else t.text
            if t.kind == "literal" or t.text == "%"
            else ""
            for t in tokens
        )
    if "/" in signs:
        return _fraction(value, tokens)
    for _ in range(signs.count("%")):
        value *= 100
    point = next((i for i, t in enumerate(tokens) if t.text == "." and t.kind == "sign"), None)
    exponent = next((i for i, t in enumerate(tokens) if t.kind == "exponent"), None)
    end = exponent if exponent is not None else len(tokens)
    whole = range(point if point is not None else end)
    decimals = range(point + 1, end) if point is not None else range(0)
    digits = [i for i in whole if tokens[i].kind == "digits"]
    last = max([*digits, *(i for i in decimals if tokens[i].kind == "digits")], default=-1)
    trailing = 0
    for i in range(last + 1, len(tokens)):
        if tokens[i].text != ",":
            break
        trailing += 1
    value = value.scaleb(-3 * trailing)
    grouped = any(tokens[i].text == "," for i in whole if digits and digits[0] < i < digits[-1] + 1)
    power = 0
    if exponent is not None and value:
        power = value.adjusted() - (sum(len(tokens[i].text) for i in digits) - 1 if digits else 0)
        value = value.scaleb(-power)
    places = sum(len(tokens[i].text) for i in decimals if tokens[i].kind == "digits")
    value = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    integer, _, fraction = f"{value:f}".lstrip("-").partition(".")
    return _written(tokens, integer, fraction, digits, decimals, grouped, power)


def _written(
    tokens: tuple[_Token, ...],
    integer: str,
    fraction: str,
    digits: list[int],
    decimals: range,
    grouped: bool,
    power: int,
) -> str:
    """Digits put into their placeholders from the point outwards, literals where they stand."""
    minimum = sum(t.text.count("0") for i, t in enumerate(tokens) if i in digits)
    integer = integer.lstrip("0").rjust(minimum, "0")
    needed = sum(tokens[i].text.count("0") for i in decimals if tokens[i].kind == "digits")
    fraction = fraction[:needed] + fraction[needed:].rstrip("0")
    split: dict[int, str] = {}
    for i in reversed(digits):
        size = len(tokens[i].text) if i != digits[0] else len(integer)
        split[i] = integer[max(0, len(integer) - size) :] if size else ""
        integer = integer[: max(0, len(integer) - size)]
    if grouped and split:
        joined = "".join(split[i] for i in digits)
        split = dict.fromkeys(digits, "")
        split[digits[0]] = f"{int(joined):,}" if joined else ""
    out: list[str] = []
    in_exponent = False
    for i, token in enumerate(tokens):
        if i in split and not in_exponent:
            out.append(split[i])
        elif token.kind == "exponent":
            in_exponent = True
            sign = "-" if power < 0 else "+" if token.text[1] == "+" else ""
            width = sum(len(t.text) for t in tokens[i + 1 :] if t.kind == "digits")
            out.append(f"E{sign}{abs(power):0{width}d}")
        elif token.kind == "digits":
            if not in_exponent:
                out.append(fraction[: len(token.text)])
                fraction = fraction[len(token.text) :]
        elif token.text == "." and token.kind == "sign":
            out.append("." if fraction else "")
        elif token.kind == "literal" or token.text == "%":
            out.append(token.text)
    return "".join(out)


def _fraction(value: Decimal, tokens: tuple[_Token, ...]) -> str:
    slash = next(i for i, t in enumerate(tokens) if t.text == "/")
    below = "".join(t.text for t in tokens[slash + 1 :] if t.kind in {"digits", "literal"}).strip()
    mixed = sum(1 for t in tokens[:slash] if t.kind == "digits") > 1
    whole, rest = divmod(abs(value), 1) if mixed else (Decimal(0), abs(value))
    limit = int(below) if below.isdecimal() else 10 ** max(1, min(len(below), 4)) - 1
    part = Fraction(rest).limit_denominator(max(1, limit))
    if part == 1 and mixed:
        whole, part = whole + 1, Fraction(0)
    if not part:
        return str(int(whole))
    text = f"{part.numerator}/{part.denominator}"
    return f"{int(whole)} {text}" if whole else text


def _date(value: float, tokens: tuple[_Token, ...], epoch_1904: bool) -> str:
    seconds = round(value * 86_400, 3)
    epoch = _EPOCH_1904 if epoch_1904 else _EPOCH_1900
    if value < 0 or value > 2_958_466:
        raise ValueError("outside the limits for dates")
    shift = 1 if not epoch_1904 and 0 < value < 60 else 0
    exact = any(t.kind == "date" and "." in t.text for t in tokens)
    moment = epoch + timedelta(seconds=seconds if exact else round(seconds), days=shift)
    twelve = any(t.kind == "ampm" for t in tokens)
    out: list[str] = []
    for i, token in enumerate(tokens):
        text = token.text.lower()
        if token.kind == "date":
            out.append(_date_part(moment, text, twelve, _is_minute(tokens, i)))
        elif token.kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[text[0]]
            out.append(f"{int(seconds // unit):0{len(text)}d}")
        elif token.kind == "ampm":
            names = token.text.split("/") if token.text != "A/P" else ["A", "P"]
            out.append(names[moment.hour >= 12])
        elif token.kind == "literal" or token.text in {"/", ".", ","}:
            out.append(token.text)
    return "".join(out)


def _is_minute(tokens: tuple[_Token, ...], at: int) -> bool:
    """Whether the `m` at this place is minutes: next to hours before it or seconds after it."""
    times = [i for i, t in enumerate(tokens) if t.kind in {"date", "elapsed"}]
    here = times.index(at)
    before = tokens[times[here - 1]].text.lower() if here else ""
    after = tokens[times[here + 1]].text.lower() if here + 1 < len(times) else ""
    return len(tokens[at].text) <= 2 and (before.startswith("h") or after.startswith("s"))


def _date_part(moment: datetime, code: str, twelve: bool, minute: bool) -> str:
    size = len(code)
    match code[0]:
        case "y" | "e":
            return f"{moment.year % 100:02d}" if code[0] == "y" and size <= 2 else str(moment.year)
        case "m" if minute:
            return f"{moment.minute:0{size}d}"
        case "m":
            month = _MONTHS[moment.month - 1]
            named = {3: month[:3], 4: month, 5: month[0]}
            return named.get(size, f"{moment.month:0{min(size, 2)}d}")
        case "d":
            day = _DAYS[moment.weekday()]
            return {3: day[:3], 4: day}.get(size, f"{moment.day:0{min(size, 2)}d}")
        case "a":
            return _KOREAN_DAYS[moment.weekday()] + ("요일" if size == 4 else "")
        case "h":
            hour = (moment.hour + 11) % 12 + 1 if twelve else moment.hour
            return f"{hour:0{min(size, 2)}d}"
        case _:
            places = len(code.partition(".")[2])
            text = f"{moment.second:0{min(len(code.partition('.')[0]), 2)}d}"
            return f"{text}.{moment.microsecond:06d}"[: len(text) + 1 + places] if places else text
