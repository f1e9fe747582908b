"""From chunks to what the search index is given."""

from collections.abc import Callable, Iterable, Iterator

from libs.contracts.artefacts.chunk import REFERENCE, Chunk, canonical_text
from libs.runtime.chunkfile import slices
from libs.runtime.index.port import IndexDocument

Tokenize = Callable[[str], list[str]]

SLICE = 500
"""Documents that the index is given at once: another revision waits for so many at most."""


def index_slices(
    chunks: Iterable[Chunk], *, title: str, file_name: str, tokenize: Tokenize
) -> Iterator[list[IndexDocument]]:
    """What `index_documents` makes, a slice at a time, each made when it is asked for."""
    for some in slices(chunks, SLICE):
        yield index_documents(some, title=title, file_name=file_name, tokenize=tokenize)


def index_documents(
    chunks: Iterable[Chunk], *, title: str, file_name: str, tokenize: Tokenize
) -> list[IndexDocument]:
    """One index document a chunk, in order.

    Content tokens are of document title, headings, content, and a summary that says more
    than the content; path tokens of file name and headings. References are left out.
    """
    heads: dict[tuple[str, ...], tuple[list[str], list[str]]] = {}
    found: list[IndexDocument] = []
    for chunk in chunks:
        path = tuple(chunk.path)
        if path not in heads:
            titled = path if path[:1] == (title,) else (title, *path)
            heads[path] = (tokenize("\n".join(titled)), tokenize("\n".join((file_name, *path))))
        content_head, path_tokens = heads[path]
        text = REFERENCE.sub(" ", chunk.content)
        summary = chunk.metadata.summary
        extra = [] if _extracted(summary, text) else tokenize(summary)
        found.append(
            IndexDocument(
                chunk_id=chunk.chunk_id,
                order=chunk.order,
                type=chunk.type,
                content_tokens=[*content_head, *tokenize(text), *extra],
                path_tokens=path_tokens,
                term_text="\n".join((" > ".join(path), text)),
            )
        )
    return found


def _extracted(summary: str, text: str) -> bool:
    """Whether the summary only repeats the text: its words must not count twice."""
    return canonical_text(summary).removesuffix("…").strip() in canonical_text(text)
