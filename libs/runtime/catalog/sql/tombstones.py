"""What is left of an erased document: its id, its numbering, and the erasure."""

from typing import Any

EMPTY: dict[str, Any] = {
    "file_name": "",
    "collection": "default",
    "active_revision": None,
    "highest_published": 0,
    "metadata": "{}",
    "metadata_at": None,
    "inferred": "{}",
}
"""Columns of `document` that hold what its owner said."""

EMPTY_JOB: dict[str, Any] = {
    "file_name": "",
    "media_type": None,
    "options": "{}",
    "source": None,
    "error": None,
    "timings": "{}",
    "announced_subject": None,
    "announced_body": None,
    "traceparent": None,
    "identity": None,
}
"""Columns of `job` that hold what its owner said, or what was said of it."""
