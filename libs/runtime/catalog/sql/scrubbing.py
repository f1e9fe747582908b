"""Takes every mention of some ids out of plain JSON data."""

import re
from collections.abc import Iterable
from typing import Any

ERASED = "erased"


def mention_of(ids: Iterable[str]) -> re.Pattern[str]:
    """Finds any of these ids (at least one) where it stands as a token of its own."""
    longest_first = sorted(ids, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")


def scrubbed(value: Any, mention: re.Pattern[str]) -> Any:
    """The value with each mention replaced, in keys too; lists keep their length."""
    if isinstance(value, str):
        return mention.sub(ERASED, value)
    if isinstance(value, list):
        return [scrubbed(item, mention) for item in value]
    if isinstance(value, dict):
        return {scrubbed(key, mention): scrubbed(item, mention) for key, item in value.items()}
    return value
