"""The synchronous client, derived from the asynchronous one word by word."""

import re
from pathlib import Path

SOURCE = Path("libs/client/asynchronous.py")
TARGET = Path("libs/client/synchronous.py")
NOTICE = (
    '"""The synchronous client: written from `asynchronous.py` by `make fix`, never by hand."""'
)

_CHANGES = (
    (r'^"""The asynchronous client\."""', NOTICE),
    (r"^import asyncio\nimport contextlib$", "import contextlib\nimport time"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bawait ", ""),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bAsync(Iterator|Generator|BaseTransport)\b", r"\1"),
    (r"\bAsync(Client|Fetching|Operating|Reading)\b", r"\1"),
    (r"\baclosing\b", "closing"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\ba(close|read|iter_lines)\(", r"\1("),
)


def render(root: Path) -> dict[Path, str]:
    """The module's text."""
    text = (root / SOURCE).read_text(encoding="utf-8")
    for pattern, replacement in _CHANGES:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return {TARGET: text}
