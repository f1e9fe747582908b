"""Does a citation still say what it said? Pure: the catalog's answers in, the verdict out."""

import unicodedata

from libs.contracts.api.search import VerifyAnswer, VerifyRequest
from libs.contracts.artefacts.chunk import REFERENCE, Chunk
from libs.runtime.catalog.documents import DocumentRecord

ERASED = frozenset({"erasing", "erased"})


def canonical_quote(text: str) -> str:
    """`text` as quotations are compared: NFC, references out, white space collapsed."""
    return " ".join(unicodedata.normalize("NFC", REFERENCE.sub(" ", text)).split())


def bare_hash(content_hash: str) -> str:
    """The hexadecimal digits of `sha256:…`, or of digits alone."""
    return content_hash.removeprefix("sha256:").lower()


def verdict(
    request: VerifyRequest, document: DocumentRecord, *, kept: bool, cited: Chunk | None
) -> VerifyAnswer:
    """What has become of the citation.

    `kept` says whether the cited revision's data is still there; `cited` is its chunk, None
    when it has none such. A text that differs is a `mismatch`, whichever revision is active;
    a revision that is gone cannot be compared and is only `superseded`.
    """
    active = document.active_revision
    if document.state in ERASED:
        return VerifyAnswer(status="erased", detail="the document was erased")
    if not kept and request.revision > document.highest_published:
        return _mismatch("no such revision was ever published", active)
    if kept:
        difference = _difference(request, cited)
        if difference is not None:
            return _mismatch(difference, active)
    if request.revision != active:
        detail = f"revision {active} is the active one"
        if not kept:
            detail += "; the cited one is not kept any more, so its text was not compared"
        return VerifyAnswer(status="superseded", detail=detail, active_revision=active)
    return VerifyAnswer(status="verified", active_revision=active)


def _difference(request: VerifyRequest, cited: Chunk | None) -> str | None:
    if cited is None:
        return "the revision has no chunk with this id"
    if bare_hash(request.content_hash) != bare_hash(cited.metadata.content_hash):
        return "the content hash differs from the chunk's"
    if request.quote is not None and not quotes(cited, request.quote):
        return "the quote is not in the chunk"
    return None


def quotes(chunk: Chunk, quote: str) -> bool:
    """Whether the chunk holds the quote, but for white space and reference marks."""
    wanted = canonical_quote(quote)
    return bool(wanted) and wanted in canonical_quote(chunk.content)


def _mismatch(detail: str, active: int | None) -> VerifyAnswer:
    return VerifyAnswer(status="mismatch", detail=detail, active_revision=active)
