"""The chunks and sections of revisions, as search hydrates and parity counts them."""

from collections.abc import Callable, Iterable
from typing import Protocol

from libs.contracts.artefacts.chunk import Chunk
from libs.contracts.artefacts.nav import NavSection
from libs.runtime.index.port import Digest


class ChunkStore(Protocol):
    """Rows are invisible to search until their revision is flipped to."""

    async def stage(
        self,
        revn: int,
        chunks: Iterable[Chunk],
        root: NavSection,
        moved: Callable[[], None] | None = None,
    ) -> None:
        """Make the revision's chunk and section rows exactly these; idempotent.

        `chunks` may be iterated more than once and MUST NOT be held whole when there are
        many. Large revisions are written in several transactions, `moved` being called
        before each (what it raises ends the staging); a later call for the revision takes
        it over from one that is still writing, which raises `TakenOverFault`. Raises
        `StaleFault` when the revision is not (or no longer) to be written: erased, ended,
        or published with other chunks.
        """
        ...

    async def digest(self, revn: int) -> Digest:
        """Count and digest of the revision's chunk ids."""
        ...

    async def fetch(self, keys: list[tuple[int, int]]) -> dict[tuple[int, int], Chunk]:
        """Chunks by (revn, order); absent ones are left out."""
        ...

    async def find(self, revn: int, chunk_id: str) -> Chunk | None:
        """A chunk of a revision by its id."""
        ...

    async def named(self, keys: list[tuple[int, str]]) -> dict[tuple[int, str], Chunk]:
        """Chunks by (revn, chunk id); absent ones are left out."""
        ...

    async def whole(self, revns: list[int], limit: int) -> list[tuple[int, Chunk]]:
        """The first `limit` chunks of these revisions, by (revn, order)."""
        ...

    async def texts(self, revn: int) -> list[tuple[str, str, str]]:
        """(chunk id, hash, text to embed: path and content) in order. The hash is of that
        very text: the key of its cached vector."""
        ...

    async def sections(self, revn: int) -> NavSection | None:
        """The section tree as staged; None when there is none."""
        ...

    async def cached_vectors(
        self, namespace: str, model: str, hashes: list[str]
    ) -> dict[str, bytes]:
        """Float32 vectors by the hashes that `texts` gives."""
        ...

    async def cache_vectors(self, namespace: str, model: str, vectors: dict[str, bytes]) -> None:
        """Remember vectors by the hashes that `texts` gives; existing ones stay."""
        ...

    async def remove(self, revns: list[int]) -> int:
        """Remove the rows of these revisions; returns how many chunks went."""
        ...

    async def sweep_vectors(self, namespace: str) -> int:
        """Remove cached vectors whose hash is in no revision of the namespace; how many."""
        ...
