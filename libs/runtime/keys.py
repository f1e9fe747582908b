"""Where things lie in the object store: the one place that builds keys."""

from libs.contracts.events.base import JobEvent
from libs.contracts.tokens import safe_file_name

MESSAGES = "messages"
"""Folder of an attempt for bodies of messages that are too large for the bus."""


def revision_prefix(namespace: str, document_id: str, revision: int) -> str:
    """`<namespace>/<document>/<revision>/`."""
    return f"{namespace}/{document_id}/{revision}/"


def revision_key(namespace: str, document_id: str, revision: int, name: str) -> str:
    """A winner's key inside its revision."""
    return revision_prefix(namespace, document_id, revision) + name


def document_prefix(namespace: str, document_id: str) -> str:
    """`<namespace>/<document>/`."""
    return f"{namespace}/{document_id}/"


def answers_prefix(namespace: str, document_id: str) -> str:
    """What models answered about a document: erased with it, kept from revision to revision."""
    return document_prefix(namespace, document_id) + ".models/"


def source_key(namespace: str, document_id: str, revision: int, file_name: str) -> str:
    """The uploaded file. A revision belongs to one job, so no two uploads share it."""
    return revision_key(namespace, document_id, revision, f"source/{safe_file_name(file_name)}")


def jobs_prefix(namespace: str, document_id: str, revision: int) -> str:
    """What attempts wrote for a revision and no flip has named yet."""
    return revision_prefix(namespace, document_id, revision) + ".jobs/"


def attempt_key(event: JobEvent, name: str) -> str:
    """An artefact of one attempt of a job: it can harm nothing until it wins."""
    prefix = jobs_prefix(event.namespace, event.document_id, event.revision)
    return f"{prefix}{event.job_id}/{event.attempt}/{name}"


def message_key(message_id: str) -> str:
    """The body of a message over the server's payload limit."""
    return f".messages/{message_id.replace(':', '/')}"


def document_key(namespace: str, document_id: str) -> str:
    """Identity and winners of a document, from which the catalog can be rebuilt."""
    return document_prefix(namespace, document_id) + "document.json"


def corpus_key(namespace: str, name: str) -> str:
    """A file about the namespace as a whole."""
    return f"{namespace}/corpus/{name}"
