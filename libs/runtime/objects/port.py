"""The object store port: sources and artefacts, the truth of the corpus."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class ObjectInfo:
    """A stored object; `sha256` is of its bytes, `size` in bytes."""

    key: str
    size: int
    sha256: str
    media_type: str | None = None


class ObjectStore(Protocol):
    """Keys are `/`-separated relative paths.

    Every method MUST refuse a key with an empty, `.` or `..` part, a leading `/`, a
    backslash or a control character with `ValueError`, before any I/O. A write MUST be
    atomic: a reader sees the whole object or none, and a killed writer leaves nothing
    visible. A store that is away MUST raise `WorldFault(STORE_AWAY)`. Concurrent writers
    of one key: the last whole write wins.
    """

    async def put(
        self,
        key: str,
        data: bytes | AsyncIterator[bytes],
        *,
        media_type: str | None = None,
        max_bytes: int | None = None,
        durable: bool = False,
    ) -> ObjectInfo:
        """Store `data`, replacing any object there. Streams are never held in memory.

        More than `max_bytes` MUST raise `DocumentFault(TOO_LARGE)` and store nothing.
        With `durable` the object MUST survive a power loss once this returns.
        """
        ...

    async def get(self, key: str) -> bytes:
        """The whole object; `KeyError` when absent."""
        ...

    def stream(self, key: str, start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """Bytes `start` to `end` (exclusive) in pieces; `KeyError` at first use when absent."""
        ...

    async def stat(self, key: str) -> ObjectInfo | None:
        """What is stored under `key`, or None."""
        ...

    def walk(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        """Objects whose key starts with the path `prefix` (ending in `/`, or empty), by key."""
        ...

    async def copy(self, source: str, target: str) -> ObjectInfo:
        """Make `target` the same object as `source`; `KeyError` when that is absent."""
        ...

    async def delete(self, keys: Iterable[str]) -> None:
        """Remove these; absent ones are not an error."""
        ...

    async def delete_prefix(self, prefix: str, *, keep: str | None = None) -> int:
        """Remove all below the path `prefix`, which MUST end in `/`; returns how many. What
        lies below `prefix` in a folder of the name `keep` stays."""
        ...

    def local(self, key: str) -> AbstractAsyncContextManager[Path]:
        """The object as a file to read, for a child process; MUST NOT be written to."""
        ...

    async def close(self) -> None:
        """Release connections; the store MUST NOT be used afterwards."""
        ...
