"""What is stored of a revision, as it is stored."""

import httpx

from libs.client.calls import Call, as_model, given, space
from libs.contracts.artefacts.chunk import Chunks
from libs.contracts.artefacts.diagnostics import Diagnostics


def chunks(namespace: str, document_id: str, revision: int | None) -> Call[Chunks]:
    """Every retrievable piece, in order."""
    place = space(namespace, "documents", document_id, "chunks")
    return Call("GET", place, as_model(Chunks), given(revision=revision))


def diagnostics(namespace: str, document_id: str, revision: int | None) -> Call[Diagnostics]:
    """What was noticed while the document was parsed."""
    place = space(namespace, "documents", document_id, "diagnostics")
    return Call("GET", place, as_model(Diagnostics), given(revision=revision))


def source(namespace: str, document_id: str, revision: int | None) -> Call[bytes]:
    """The file as it was sent."""
    place = space(namespace, "documents", document_id, "source")
    return Call("GET", place, _bytes, given(revision=revision))


def asset(namespace: str, document_id: str, path: str, revision: int | None) -> Call[bytes]:
    """An image or table, by its name inside the revision."""
    parts = path.removeprefix("assets/").split("/")
    place = space(namespace, "documents", document_id, "assets", *parts)
    return Call("GET", place, _bytes, given(revision=revision))


def _bytes(response: httpx.Response) -> bytes:
    return response.content
