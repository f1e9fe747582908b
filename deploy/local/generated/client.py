"""The synchronous client, derived from the asynchronous one word by word."""

import re
from pathlib import Path

MODULES = {
    Path("libs/client/asynchronous.py"): Path("libs/client/synchronous.py"),
    Path("libs/client/parts_async.py"): Path("libs/client/parts_sync.py"),
    Path("libs/client/stored_async.py"): Path("libs/client/stored_sync.py"),
}
NOTICE = ": written from `{name}` by `make fix`, never by hand."

_CHANGES = (
    (r"\bthe asynchronous client\b", "the synchronous client"),
    (r"\bThe asynchronous client\b", "The synchronous client"),
    (r"\b(parts|stored)_async\b", r"\1_sync"),
    (r"^import asyncio\nimport contextlib$", "import contextlib\nimport time"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bawait ", ""),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bAsync(?=[A-Z])", ""),
    (r"\baclosing\b", "closing"),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\ba(close|read|iter_lines)\(", r"\1("),
)


def render(root: Path) -> dict[Path, str]:
    """The modules' texts."""
    return {target: _derived(root / source) for source, target in MODULES.items()}


def _derived(source: Path) -> str:
    text = source.read_text(encoding="utf-8")
    for pattern, replacement in _CHANGES:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return re.sub(r'\."""', f'{NOTICE.format(name=source.name)}"""', text, count=1)
