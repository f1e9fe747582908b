"""The web page's colours can be read, in light and in dark."""

import re
from pathlib import Path

import pytest

STYLE = Path("services/gateway/web/app.css").read_text()
SCHEMES = dict(
    zip(("light", "dark"), re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL), strict=True)
)
TEXT = 4.5
PART = 3.0
"""Least contrasts of text and of parts that are used: WCAG 2.2, 1.4.3 and 1.4.11."""


def colours(scheme: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", SCHEMES[scheme]))


def luminance(colour: str) -> float:
    """Relative luminance of `#rgb` or `#rrggbb`, as WCAG 2.2 defines it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_measure_of_contrast_is_the_standards() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ground", ["paper", "panel"])
def test_text_and_what_is_used_stand_out(scheme: str, ground: str) -> None:
    has = colours(scheme)
    for ink in ("ink", "soft", "accent", "good", "bad"):
        assert contrast(has[ink], has[ground]) >= TEXT, ink
    assert contrast(has["edge"], has[ground]) >= PART
    assert contrast(has["on-accent"], has["accent"]) >= TEXT
    assert contrast(has["ink"], has["mark"]) >= TEXT
