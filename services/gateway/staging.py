"""Where a file lies between its arrival and the job that is made for it.

Its bytes must be known before there is a revision: equal bytes make none. The name of a
staged file begins with the time of its arrival, so that leftovers can be swept.
"""

from libs.contracts.tokens import new_id

PREFIX = ".uploads/"
KIND = "upl"


def new_upload_id() -> str:
    """A fresh upload id, which sorts by time."""
    return new_id(KIND)


def staging_prefix(namespace: str) -> str:
    """Below this lie the staged files of a namespace; no document id starts with a dot."""
    return f"{namespace}/{PREFIX}"


def staging_key(namespace: str, upload_id: str) -> str:
    """Where the upload is staged."""
    return staging_prefix(namespace) + upload_id


def arrived_at(key: str) -> float | None:
    """Seconds since 1970 at which a staged file arrived; None for a foreign name."""
    name = key.rpartition("/")[2]
    stamp = name.removeprefix(f"{KIND}-")[:11]
    try:
        return int(stamp, 16) / 1000 if name.startswith(f"{KIND}-") else None
    except ValueError:
        return None
