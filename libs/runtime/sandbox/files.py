"""Files that a child reads."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from libs.contracts.faults import Code, WorldFault


def sha256_of(path: Path) -> str:
    """The sha256 of the file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(files: Iterable[tuple[Path, str]]) -> None:
    """Raise `WorldFault(STORE_AWAY)` unless every file has the sha256 beside it."""
    for path, expected in files:
        if sha256_of(path) != expected:
            raise WorldFault(Code.STORE_AWAY, "an object does not match its sha256")
