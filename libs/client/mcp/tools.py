"""What each tool does. Every tool is a few calls of the HTTP interface, so keys, namespaces and
limits hold here as they do there."""

import asyncio
import base64
import binascii
import tempfile
import time
from pathlib import Path
from typing import Literal

from libs.client.asynchronous import AsyncClient
from libs.client.mcp.shown import Answer, filled, outlined
from libs.client.watch import ENDED
from libs.contracts.api.ingest import IngestOptions
from libs.contracts.api.reading import GrepRequest
from libs.contracts.api.search import SearchRequest, VerifyRequest
from libs.contracts.tokens import safe_file_name

MAX_FILE_BYTES = 4 * 1024 * 1024
"""Of a file that comes inside a tool call; larger ones are uploaded over HTTP."""
MAX_WAIT_SECONDS = 25.0
MAX_CHUNK_CHARS = 20_000
POLL_SECONDS = 0.25


async def search(
    client: AsyncClient,
    query: str,
    mode: Literal["classic", "agentic"] = "classic",
    top_k: int = 5,
    token_budget: int = 4000,
    document_ids: list[str] | None = None,
    collections: list[str] | None = None,
    file_formats: list[str] | None = None,
    year: int | None = None,
    continue_run: str | None = None,
) -> Answer:
    """Find evidence for a question in the published documents. Start here.

    `classic` (one search, some 50 ms) suits a fact or a phrase. `agentic` (a plan of several
    searches, up to a second) suits comparisons and questions whose answer joins several documents;
    give `continue_run` the `run_id` of an earlier answer to go on without repeating its evidence.
    Either costs about `token_budget` tokens of your context at most, a piece some 300: lower
    `top_k` to spend less. Each piece of evidence can be cited by document_id, revision, chunk_id
    and content_hash. Narrow with document_ids, collections, file_formats (pdf, docx, …) or year
    only when the question does.
    `status` abstained means that nothing fits: do not guess.
    """
    if continue_run and mode != "agentic":
        raise ValueError("continue_run goes on from an agentic search: give mode agentic with it")
    filters = {
        "document_ids": document_ids or [],
        "collections": collections or [],
        "file_formats": file_formats or [],
        "year": year,
    }
    body = {"query": query, "mode": mode, "top_k": top_k, "filters": filters,
            "budget": {"tokens": token_budget}, "continue": continue_run}  # fmt: skip
    answer = await client.search(SearchRequest.model_validate(body))
    shown = answer.model_dump(
        mode="json", exclude={"evidence_text": True, "answer_text": True, "budget": {"steps"}}
    )
    shown["status_reason"] = shown["status_reason"].replace("budget.tokens", "token_budget")
    shown["evidence"] = [filled(piece) for piece in shown["evidence"]]
    return filled(shown)


async def list_documents(
    client: AsyncClient, collection: str | None = None, cursor: str | None = None, limit: int = 20
) -> Answer:
    """List the documents that can be searched, with id, file name, metadata and active revision.

    Use it to learn what there is, or to find a document's id by its file name; to find content,
    use search. About 80 tokens a document. `next_cursor`, where there is one, leads to the
    next page.
    """
    limit = min(max(limit, 1), 50)
    page = await client.documents(collection=collection, cursor=cursor, limit=limit)
    keep = {"document_id", "file_name", "collection", "state", "active_revision", "metadata"}
    items = [
        item.model_dump(mode="json", include=keep, exclude_defaults=True) for item in page.items
    ]
    return {"documents": items, "next_cursor": page.next_cursor}


async def get_outline(
    client: AsyncClient, document_id: str, path: list[str] | None = None, depth: int = 2
) -> Answer:
    """Read a document's table of contents, or that of one section, to decide what to read.

    `path` is a heading path as search and this tool give it, outermost title first; leave it
    out for the whole document. `depth` levels of sections are shown (about 40 tokens each);
    `truncated` says that there are deeper ones.
    """
    view = await client.section(document_id, path or [], depth=min(max(depth, 0), 16))
    return {
        "document_id": document_id,
        "revision": view.revision,
        "file_name": view.file_name,
        "truncated": view.truncated,
        **outlined(view.section),
    }


async def read_chunks(
    client: AsyncClient,
    document_id: str,
    path: list[str] | None = None,
    chunk_ids: list[str] | None = None,
    revision: int | None = None,
    after: int = -1,
    limit: int = 5,
) -> Answer:
    """Read the text of a section, or of chunks whose ids you have, in document order.

    Use it after search, grep_chunks or get_outline, to read what stands around a hit. About
    300 tokens a chunk; at most 20 at a time. Give `next_after` as `after` for the next ones.
    Tables come as HTML. Each chunk has what is needed to cite and verify it; `not_found` names
    ids that this revision does not hold.
    """
    view = await client.section(
        document_id,
        path or [],
        depth=0,
        chunks=min(max(limit, 1), 20),
        after=after,
        chunk_ids=(chunk_ids or [])[:50],
        revision=revision,
    )
    chunks = [
        {
            "chunk_id": chunk.chunk_id,
            "type": chunk.type,
            "section_path": chunk.path,
            "page_numbers": chunk.metadata.page_numbers,
            "content_hash": chunk.metadata.content_hash,
            "content": (chunk.metadata.html or chunk.content)[:MAX_CHUNK_CHARS],
        }
        for chunk in view.chunks
    ]
    found = {chunk["chunk_id"] for chunk in chunks}
    missing = [one for one in chunk_ids or [] if one not in found and view.next_after is None]
    return {
        "document_id": document_id,
        "revision": view.revision,
        "source_file_name": view.file_name,
        "chunks": chunks,
        "next_after": view.next_after,
        **({"not_found": missing} if missing and after < 0 else {}),
    }


async def grep_chunks(
    client: AsyncClient,
    pattern: str,
    regex: bool = False,
    ignore_case: bool = True,
    document_ids: list[str] | None = None,
    section_path: list[str] | None = None,
    cursor: str | None = None,
    limit: int = 20,
) -> Answer:
    """Find every place where an exact text, or an RE2 pattern, stands.

    Use it for numbers, codes, names and quotations, and to be sure that something is nowhere;
    search is better for meaning. Reads up to 32 MB of text a call: give document_ids where you
    know them, and `next_cursor` as `cursor` to go on. About 60 tokens a hit. RE2 has no back
    references and no look-around.
    """
    answer = await client.grep(
        GrepRequest(
            pattern=pattern,
            syntax="re2" if regex else "literal",
            ignore_case=ignore_case,
            document_ids=document_ids or [],
            section_path=section_path or [],
            cursor=cursor,
            limit=min(max(limit, 1), 50),
        )
    )
    hits = [
        {
            "document_id": hit.document_id,
            "revision": hit.revision,
            "chunk_id": hit.chunk_id,
            "source_file_name": hit.source_file_name,
            "section_path": hit.section_path,
            "page_numbers": hit.page_numbers,
            "content_hash": hit.content_hash,
            "match_count": hit.match_count,
            "excerpts": [match.excerpt for match in hit.matches[:3]],
        }
        for hit in answer.hits
    ]
    return {"hits": hits, "stop_reason": answer.stop_reason, "next_cursor": answer.next_cursor}


async def ingest_url_or_file(
    client: AsyncClient,
    file_name: str,
    text: str | None = None,
    content_base64: str | None = None,
    url: str | None = None,
    document_id: str | None = None,
    collection: str = "default",
) -> Answer:
    """Add a document, or a new revision of one (give its document_id), to the search.

    Give exactly one of `text` (Markdown, plain text, HTML, CSV: named by `file_name`),
    `content_base64` (any supported file up to 4 MB) and `url` (only hosts that the operator
    allows; off by default). Needs a key of role writer. Answers at once with a `job_id`: follow
    it with get_job_status until `published`; a page takes well under a second.
    """
    if sum(given is not None for given in (text, content_base64, url)) != 1:
        raise ValueError("give exactly one of text, content_base64 and url")
    options = IngestOptions(collection=collection)
    if url is not None:
        accepted = await client.ingest_url(
            url, file_name=file_name, document_id=document_id, options=options
        )
        return accepted.model_dump(mode="json")
    if text is not None:
        data = text.encode()
    else:
        try:
            data = base64.b64decode(content_base64 or "", validate=True)
        except binascii.Error:
            raise ValueError("content_base64 is not base64") from None
    if len(data) > MAX_FILE_BYTES:
        raise ValueError("the file is over 4 MB: upload it with POST /documents instead")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        accepted = await client.ingest(
            path, file_name=safe_file_name(file_name), document_id=document_id, options=options
        )
    return accepted.model_dump(mode="json")


async def get_job_status(client: AsyncClient, job_id: str, wait_seconds: float = 10.0) -> Answer:
    """See how far an ingest is, waiting up to `wait_seconds` (25 at most) for it to end.

    `state` published means that the document can be searched; failed brings an `error` whose
    code and detail say what to change; `who` document means that the file itself is at fault.
    """
    until = time.monotonic() + min(max(wait_seconds, 0.0), MAX_WAIT_SECONDS)
    view = await client.job(job_id)
    while view.state not in ENDED and time.monotonic() < until:
        await asyncio.sleep(POLL_SECONDS)
        view = await client.job(job_id)
    return view.model_dump(mode="json", exclude_none=True)


async def verify_citation(
    client: AsyncClient,
    document_id: str,
    revision: int,
    chunk_id: str,
    content_hash: str,
    quote: str | None = None,
) -> Answer:
    """Check a citation before you rely on it or hand it on: cheap, a few milliseconds.

    `verified`: the active revision still says this (and holds the quote); `superseded`: there is
    a newer revision, search again; `erased`: the document is gone; `mismatch`: it never said so.
    """
    answer = await client.verify(
        VerifyRequest(
            document_id=document_id, revision=revision, chunk_id=chunk_id,
            content_hash=content_hash, quote=quote,
        )
    )  # fmt: skip
    return answer.model_dump(mode="json", exclude_none=True)


TOOLS = (
    search,
    list_documents,
    get_outline,
    read_chunks,
    grep_chunks,
    ingest_url_or_file,
    get_job_status,
    verify_citation,
)
