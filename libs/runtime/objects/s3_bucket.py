"""The blocking half of the S3 adapter: what runs in worker threads.

The port wants an object's sha256 and media type, and S3 has no place for the first and
always something in that of the second: both are kept as the object's own metadata, so that
they change with it as one.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, unquote

from libs.contracts.faults import Code, WorldFault
from libs.runtime.objects.keys import is_key
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.objects.s3_client import INTERNALS, connect
from libs.runtime.objects.s3_faults import answers, refused
from libs.runtime.objects.s3_order import in_key_order
from libs.runtime.objects.s3_place import S3Keys, S3Place

if TYPE_CHECKING:
    from minio import Minio
    from minio.datatypes import Object
    from urllib3.response import BaseHTTPResponse

Headers: TypeAlias = dict[str, str | list[str] | tuple[str]]
"""As the library wants them."""

PIECE = 1 << 20
"""Bytes read at once."""

_ATTEMPTS = 5
_BATCH = 1000  # the most that S3 deletes in one request
_SHA256 = "x-amz-meta-sha256"
_MEDIA_TYPE = "x-amz-meta-media-type"
_NOT_IN_XML = ("\ufffe", "\uffff")


def metadata_of(sha256: str, media_type: str | None) -> Headers:
    """The headers under which an object is stored."""
    plain = media_type is not None and media_type.isascii() and media_type.isprintable()
    headers: Headers = {
        "Content-Type": media_type.strip() if media_type and plain else "application/octet-stream",
        _SHA256: sha256,
    }
    if media_type is not None:
        headers[_MEDIA_TYPE] = quote(media_type)
    return headers


def with_md5(headers: Headers, data: bytes) -> Headers:
    """`headers` for a body that the server must check."""
    digest = hashlib.md5(data, usedforsecurity=False).digest()
    return {**headers, "Content-MD5": base64.b64encode(digest).decode()}


class S3Bucket:
    """One bucket, for so many threads at once.

    An absent object is `KeyError`, a store that is away `WorldFault(STORE_AWAY)`. What the
    library keeps private is used where it offers no other way: bodies and parts with
    headers of our own.
    """

    def __init__(self, place: S3Place, keys: S3Keys | None, connections: int) -> None:
        self.name = place.bucket
        # here, for the library cannot be imported by several threads at once
        self.client: Minio = connect(place, keys, connections)
        self._place = place
        self._seen = False

    def put(self, key: str, data: bytes, media_type: str | None) -> ObjectInfo:
        """Store `data` in one request."""
        sha256 = hashlib.sha256(data).hexdigest()
        headers = with_md5(metadata_of(sha256, media_type), data)
        with answers():
            self.client._put_object(self.name, key, data, headers)
        return ObjectInfo(key, len(data), sha256, media_type)

    def get(self, key: str) -> bytes:
        """The whole object."""
        response = self.open(key, 0, None)
        try:
            with answers(key):
                return response.read()
        finally:
            release(response)

    def open(self, key: str, start: int, end: int | None) -> "BaseHTTPResponse":
        """A response that gives bytes `start` to `end`, which is more than `start`.

        `EOFError` when the object ends before `start`.
        """
        from minio.error import S3Error

        with answers(key):
            try:
                return self.client.get_object(
                    self.name, key, offset=start, length=0 if end is None else end - start
                )
            except S3Error as error:
                if error.code == "InvalidRange":
                    raise EOFError from None
                raise

    def read_on(self, response: "BaseHTTPResponse") -> bytes:
        """The next piece; empty at the end."""
        with answers():
            return response.read(PIECE)

    def stat(self, key: str) -> ObjectInfo | None:
        """What is stored under `key`; the sha256 is counted where it was not noted."""
        found = self._head(key)
        return None if found is None else self._info(key, found)

    def has(self, key: str) -> bool:
        """Whether there is an object under `key`."""
        return self._head(key) is not None

    def copy(self, source: str, target: str) -> ObjectInfo:
        """Make `target` the object that `source` is at one moment, within the server."""
        from minio.commonconfig import REPLACE, CopySource
        from minio.error import S3Error

        for _ in range(_ATTEMPTS):
            found = self._head(source)
            if found is None:
                raise KeyError(source)
            info = self._info(source, found)
            if source == target:
                return info
            try:
                with answers(source):
                    try:
                        self.client.copy_object(
                            self.name,
                            target,
                            CopySource(self.name, source, match_etag=found.etag),
                            metadata=metadata_of(info.sha256, info.media_type),
                            metadata_directive=REPLACE,
                        )
                    except S3Error as error:
                        if error.code != "PreconditionFailed":
                            raise
                        continue  # it was replaced meanwhile
            except KeyError:
                continue
            return ObjectInfo(target, info.size, info.sha256, info.media_type)
        raise WorldFault(Code.STORE_AWAY, "an object is replaced again and again: not copied")

    def keys(self, prefix: str) -> Iterator[str]:
        """The keys below `prefix` in order, lazily; to be read by `take`."""
        listed = self.client.list_objects(self.name, prefix=prefix or None, recursive=True)
        named = (entry.object_name for entry in listed)
        keys = (key for key in named if key and _is_ours(key))
        return in_key_order(keys, prefix) if self._place.tree_order else keys

    def take(self, keys: Iterator[str], count: int = _BATCH) -> list[str]:
        """The next keys of a listing; none at its end."""
        with answers():
            return list(islice(keys, count))

    def remove(self, keys: Iterable[str]) -> None:
        """Remove these; absent ones are not an error."""
        bulk: list[str] = []
        single: list[str] = []
        for key in keys:
            (single if any(sign in key for sign in _NOT_IN_XML) else bulk).append(key)
        with answers():
            for key in single:
                self.client.remove_object(self.name, key)
            for start in range(0, len(bulk), _BATCH):
                self._remove_together(bulk[start : start + _BATCH])

    def _remove_together(self, keys: list[str]) -> None:
        """One request; made again when its answer breaks off, which no library does for a POST."""
        from minio.deleteobjects import DeleteObject
        from urllib3.exceptions import HTTPError

        for last in (False, True):
            try:
                errors = self.client.remove_objects(self.name, map(DeleteObject, keys))
                codes = {error.code for error in errors} - {"NoSuchKey"}
                break
            except (HTTPError, OSError):
                if last:
                    raise
        if codes:
            raise refused(str(codes.pop()))

    def link(self, method: str, key: str, seconds: float) -> str:
        """A URL that allows `method` on `key` for so long; no I/O."""
        with answers():
            return self.client.get_presigned_url(
                method, self.name, key, expires=timedelta(seconds=seconds)
            )

    def _head(self, key: str) -> "Object | None":
        try:
            with answers(key):
                found = self.client.stat_object(self.name, key)
        except KeyError:
            self._require_bucket()
            return None
        self._seen = True
        return found

    def _require_bucket(self) -> None:
        """Absence told by HEAD names no reason: once, make sure that it is not the bucket."""
        if not self._seen:
            with answers():
                if not self.client.bucket_exists(self.name):
                    raise refused("NoSuchBucket")
            self._seen = True

    def _info(self, key: str, found: "Object") -> ObjectInfo:
        noted: Any = found.metadata or {}
        media_type = noted.get(_MEDIA_TYPE)
        return ObjectInfo(
            key,
            found.size or 0,
            noted.get(_SHA256) or self._counted(key),
            None if media_type is None else unquote(media_type),
        )

    def _counted(self, key: str) -> str:
        """The sha256 of an object that another program stored."""
        digest = hashlib.sha256()
        response = self.open(key, 0, None)
        try:
            while piece := self.read_on(response):
                digest.update(piece)
        finally:
            release(response)
        return digest.hexdigest()


def release(response: "BaseHTTPResponse") -> None:
    """Give the connection back, or close it where something was left to read."""
    response.close()
    response.release_conn()


def _is_ours(key: str) -> bool:
    return is_key(key) and not key.startswith(f"{INTERNALS}/")
