"""Paths of the HTTP interface, as they stand in answers."""

from urllib.parse import quote


def namespace_path(namespace: str) -> str:
    """`/v1/namespaces/{ns}`."""
    return f"/v1/namespaces/{quote(namespace, safe='')}"


def document_path(namespace: str, document_id: str) -> str:
    """A document."""
    return f"{namespace_path(namespace)}/documents/{quote(document_id, safe='')}"


def job_path(namespace: str, job_id: str) -> str:
    """A job."""
    return f"{namespace_path(namespace)}/jobs/{quote(job_id, safe='')}"


def erasure_path(namespace: str, erasure_id: str) -> str:
    """An erasure's receipt."""
    return f"{namespace_path(namespace)}/erasures/{quote(erasure_id, safe='')}"


def job_links(namespace: str, document_id: str, job_id: str) -> dict[str, str]:
    """Where to follow a job and find its document."""
    job = job_path(namespace, job_id)
    return {
        "document": document_path(namespace, document_id),
        "job": job,
        "events": f"{job}/events",
        "cancel": f"{job}/cancel",
    }
