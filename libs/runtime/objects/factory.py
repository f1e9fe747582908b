"""Chooses the object store by the scheme of its URL."""

from pathlib import Path

from libs.runtime.objects.port import ObjectStore
from libs.runtime.objects.s3_place import FORM, S3Keys, S3Place

CHOICES = f"file:<path> or {FORM}"


def open_objects(url: str, keys: S3Keys | None = None) -> ObjectStore:
    """`file:<path>` or `s3://<bucket>?…` with its `keys`; no I/O yet.

    Anything else is a `ValueError` that names the choices.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "file" and rest:
        from libs.runtime.objects.file import FileObjectStore

        return FileObjectStore(Path(rest.removeprefix("//")))
    if scheme == "s3":
        from libs.runtime.objects.s3 import S3ObjectStore

        return S3ObjectStore(S3Place.of(url), keys)
    raise ValueError(f"no object store for {scheme!r}: use {CHOICES}")


def prepare_objects(url: str, keys: S3Keys | None = None) -> None:
    """Make what the store needs before its first use, a bucket; blocks.

    Raises `WorldFault(STORE_AWAY)` when it cannot be reached.
    """
    if url.startswith("s3:"):
        from libs.runtime.objects.s3_client import prepare

        prepare(S3Place.of(url), keys)
