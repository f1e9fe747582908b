"""What upload events may name: pure rules from an event to a place in the inbox.

Two spellings mean the same object: bucket `inbox` with key `<namespace>/<path>`, and any
bucket with key `inbox/<namespace>/<path>`. An event on a namespace's own subject may leave
the namespace out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus, urlsplit

import orjson

from libs.contracts.events.upstream import SourceLocation
from libs.contracts.faults import CallerFault, Code
from libs.contracts.tokens import document_id_for

INBOX = "inbox"
CREATED = ("s3:ObjectCreated:", "ObjectCreated:")


@dataclass(frozen=True)
class Place:
    """An object in the inbox. `key` is what the event calls it, `path` where the inbox has it:
    `<namespace>/…`."""

    namespace: str
    bucket: str
    key: str
    path: str
    etag: str | None = None

    @property
    def file_name(self) -> str:
        """The last part of the key."""
        return self.path.rpartition("/")[2]

    @property
    def document_id(self) -> str:
        """The document that this object is, when the event names none (decision 10)."""
        return document_id_for(self.bucket, self.key)

    def identity(self, version: str, document_id: str, options: Mapping[str, Any]) -> str:
        """What makes two events the same request: object, version (its etag, else its
        sha256), document and options."""
        shown = orjson.dumps(options, option=orjson.OPT_SORT_KEYS).decode()
        return "\x1f".join(("object", self.bucket, self.key, version, document_id, shown))


def requested_place(
    namespace: str, source: SourceLocation, roots: Mapping[str, Sequence[str]]
) -> Place:
    """The object that `ingest.requested.<namespace>` names.

    Raises 403 for a place that is not below the namespace's roots.
    """
    key = source.key
    if source.bucket == INBOX and not key.startswith(f"{namespace}/"):
        key = f"{namespace}/{key}"
    place = f"{source.bucket}/{key}"
    given = roots.get(namespace, roots.get("*", ()))
    allowed = [root.replace("{namespace}", namespace) for root in given]
    path = _inbox_path(source.bucket, key)
    if not _plain(key) or path is None or not any(place.startswith(root) for root in allowed):
        raise CallerFault(
            Code.FORBIDDEN,
            f"namespace {namespace} may not read this bucket and key: put the file below "
            f"{' or '.join(allowed) or 'a root that is allowed to it'}",
            403,
        )
    return Place(namespace, source.bucket, key, path, source.etag or None)


def notified_place(record: Mapping[str, Any], corpus_bucket: str | None) -> Place | None:
    """The object of one S3 notification record; None for what is no new object.

    Raises 422 for a record of another shape, 403 for an object outside of the inbox.
    """
    if not str(record.get("eventName", "")).startswith(CREATED):
        return None
    try:
        bucket = str(record["s3"]["bucket"]["name"])
        entry = record["s3"]["object"]
        key = unquote_plus(str(entry["key"]), errors="strict")
    except (KeyError, TypeError, UnicodeDecodeError):
        raise CallerFault(
            Code.INVALID, "the record has no s3.bucket.name and s3.object.key", 422
        ) from None
    if key.endswith("/"):
        return None
    path = _inbox_path(bucket, key)
    if not _plain(key) or path is None or "/" not in path or bucket == corpus_bucket:
        raise CallerFault(
            Code.FORBIDDEN,
            "only objects below inbox/<namespace>/ are taken from notifications",
            403,
        )
    etag = str(entry.get("eTag") or "") or None
    return Place(path.partition("/")[0], bucket, key, path, etag)


def corpus_bucket_of(objects_url: str) -> str | None:
    """The bucket that holds the corpus itself, whose notifications are never taken."""
    parts = urlsplit(objects_url)
    return parts.netloc.rpartition("@")[2] or None if parts.scheme == "s3" else None


def _inbox_path(bucket: str, key: str) -> str | None:
    if bucket == INBOX:
        return key
    return key.removeprefix(f"{INBOX}/") if key.startswith(f"{INBOX}/") else None


def _plain(key: str) -> bool:
    """Whether the key is an ordinary path: no empty, `.` or `..` part, no control character."""
    parts = key.split("/")
    return not any(p in ("", ".", "..") for p in parts) and not any(
        ord(c) < 32 or c == "\\" for c in key
    )
