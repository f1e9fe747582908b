"""Chooses the search index by the scheme of its URL."""

from pathlib import Path

from libs.runtime.index.port import SearchIndex


def open_index(url: str, *, writer: bool) -> SearchIndex:
    """`file:<path>` is the local index in that folder; anything else is a `ValueError`.

    `writer` is true in the one process that writes it.
    """
    scheme, _, path = url.partition(":")
    if scheme == "file" and path:
        from libs.runtime.index.tantivy_index import TantivyIndex

        return TantivyIndex(Path(path.removeprefix("//")), writer=writer)
    raise ValueError(f"GROUNDWIRE_INDEX_URL is {url!r}: use file:<path>")
