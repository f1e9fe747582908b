"""From chunks to what the search index is given."""

from collections.abc import Callable, Iterable

from libs.contracts.artefacts.chunk import REFERENCE, Chunk, canonical_text
from libs.runtime.index.port import IndexDocument

Tokenize = Callable[[str], list[str]]


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
