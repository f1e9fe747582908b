"""What operators do with documents that are published."""

from typing import Literal
from urllib.parse import quote

from libs.client.calls import Call, as_model, given, space
from libs.contracts.api.documents import Accepted, Pauses
from libs.contracts.artefacts.manifest import Manifest

Kind = Literal["stages", "namespaces"]


def manifest(namespace: str, document_id: str, revision: int | None) -> Call[Manifest]:
    """What a revision is made of, and by which engine."""
    path = space(namespace, "documents", document_id, "manifest")
    return Call("GET", path, as_model(Manifest), given(revision=revision))


def reprocess(namespace: str, document_id: str, engine: str | None) -> Call[Accepted]:
    """Make a document again from its kept source."""
    path = space(namespace, "documents", document_id, "reprocess")
    return Call("POST", path, as_model(Accepted), json=given(engine=engine))


def pauses() -> Call[Pauses]:
    """What is paused."""
    return Call("GET", "/v1/pauses", as_model(Pauses))


def set_paused(kind: Kind, name: str, paused: bool) -> Call[Pauses]:
    """Pause a stage or a namespace, or let it go on."""
    path = f"/v1/pauses/{kind}/{quote(name, safe='')}"
    return Call("PUT" if paused else "DELETE", path, as_model(Pauses))
