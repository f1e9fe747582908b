"""From chunks to what the search index is given."""

from collections.abc import Callable, Iterable, Iterator

from libs.contracts.artefacts.chunk import REFERENCE, Chunk, canonical_text
from libs.contracts.entries import Entry
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
        if chunk.metadata.entry is not None:
            found.append(_of_entry(chunk, chunk.metadata.entry, tokenize))
            continue
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


def _of_entry(chunk: Chunk, entry: Entry, tokenize: Tokenize) -> IndexDocument:
    """An entry weighs keywords and name twice, its text once: what is repeated is what BM25F
    (Robertson, Zaragoza and Taylor, CIKM 2004) calls a field's weight. Names of siblings, which
    its chunk's content may hold, are not searched."""
    text = "\n".join((*entry.texts(), entry.category))
    head = tokenize("\n".join((entry.name, *entry.all_keywords())))
    return IndexDocument(
        chunk_id=chunk.chunk_id,
        order=chunk.order,
        type=chunk.type,
        content_tokens=[*head, *head, *tokenize("\n".join((entry.path, text)))],
        path_tokens=tokenize("\n".join((entry.path, entry.category))),
        term_text="\n".join((entry.name, entry.path, *entry.all_keywords())),
    )


def _extracted(summary: str, text: str) -> bool:
    """Whether the summary only repeats the text: its words must not count twice."""
    return canonical_text(summary).removesuffix("…").strip() in canonical_text(text)
