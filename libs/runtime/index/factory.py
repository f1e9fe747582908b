"""Chooses the search index by the scheme of its URL."""

from pathlib import Path

from libs.runtime.index.opensearch_client import FORM
from libs.runtime.index.port import SearchIndex


def open_index(url: str, *, writer: bool, password: str | None = None) -> SearchIndex:
    """`file:<path>` is the local index in that folder, `opensearch://…` one on a cluster, with
    the `password` of its user; anything else is a `ValueError`.

    `writer` is true in the one process that writes a local index.
    """
    scheme, _, path = url.partition(":")
    if scheme == "file" and path:
        from libs.runtime.index.tantivy_index import TantivyIndex

        return TantivyIndex(Path(path.removeprefix("//")), writer=writer)
    if scheme == "opensearch":
        from libs.runtime.index.opensearch_index import OpenSearchIndex

        return OpenSearchIndex(url, password)
    raise ValueError(f"no search index for {scheme!r}: use file:<path> or {FORM}")


async def prepare_index(url: str, password: str | None = None) -> None:
    """Make what the index needs before its first use; idempotent.

    Raises `WorldFault(STORE_AWAY)` when it cannot be reached.
    """
    if url.startswith("opensearch:"):
        from libs.runtime.index.opensearch_index import OpenSearchIndex

        index = OpenSearchIndex(url, password)
        try:
            await index.prepare()
        finally:
            await index.close()
